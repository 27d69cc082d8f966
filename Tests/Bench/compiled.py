"""The programs in C: the baseline, the apps and the stopwatch."""

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLIENT_LIBRARY = HERE.parents[1] / ".build" / "liblifecycle"
FLAGS = ["-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror"]
LISTENING = ["-I", CLIENT_LIBRARY / "include", CLIENT_LIBRARY / "lib" / "liblifecycle.a"]


def compile_programs(directory):
    directory.mkdir(parents=True, exist_ok=True)
    compile_c(directory / "app", "app.c")
    compile_c(directory / "listener", "listener.c", *LISTENING)
    compile_c(directory / "baseline", "baseline.c", "told.c")
    compile_c(directory / "stopwatch.so", "stopwatch.c", "systemd.c", "-shared", "-fPIC", "-lsystemd")


def compile_c(output, *words):
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, *FLAGS, *words, "-o", output], cwd=HERE, check=True)
