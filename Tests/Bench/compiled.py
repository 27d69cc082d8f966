"""The programs in C: the floor, the app and the stopwatch."""

import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLAGS = ["-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror"]


def compile_programs(directory):
    directory.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CC", "cc").split()
    for program in ("app", "floor"):
        subprocess.run([*compiler, *FLAGS, HERE / f"{program}.c", "-o", directory / program], check=True)
    library = [HERE / "stopwatch.c", "-o", directory / "stopwatch.so"]
    subprocess.run([*compiler, *FLAGS, "-shared", "-fPIC", *library], check=True)
