"""The programs in C, the baseline, the apps and the stopwatch, and the probe, which is in Swift."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLIENT_LIBRARY = HERE.parents[1] / ".build" / "liblifecycle"
FLAGS = ["-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror"]
SWIFT_FLAGS = [
    "-O", "-wmo", "-swift-version", "6", "-warnings-as-errors", "-strict-memory-safety", "-parse-as-library",
    "-import-objc-header",
]
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


def swift_compiler():
    return shutil.which("swiftc")


def compile_swift(output, header, *sources):
    """Unless the program is there and was made of the same sources by the same compiler."""
    command = [swift_compiler(), "-module-cache-path", output.parent / "modules", *SWIFT_FLAGS, header, *sources]
    made_of = hashlib.sha256(repr(command).encode())
    for source in (header, *sources):
        made_of.update((HERE / source).read_bytes())
    stamp = output.with_suffix(".sha256")
    if output.exists() and stamp.exists() and stamp.read_text() == made_of.hexdigest():
        return
    subprocess.run([*command, "-o", output], cwd=HERE, check=True)
    stamp.write_text(made_of.hexdigest())
