"""Whatever becomes of a soak, SIGKILL included, nothing of it stays: a process of its own sees to that."""

import contextlib
import os
import re
import signal
import time
from pathlib import Path

from container import wait_for
from scene import Scene

# How long a daemon has to end its apps by itself.
PATIENCE = 60


def watch(directory):
    """Starts a guardian, which acts as soon as this process is gone. To be called before there are threads.

    A descriptor that nobody else inherits tells it: the kernel closes it with the last of this process.
    """
    reading, writing = os.pipe()
    if os.fork() > 0:
        os.close(reading)
        return
    os.close(writing)
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    # Whoever reads what the soak prints waits for the end of everybody who could print there.
    null = os.open("/dev/null", os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    os.read(reading, 1)
    try:
        end_everything(directory)
    finally:
        os._exit(0)


def end_everything(directory):
    """Has the daemon end its apps; what it does not end, or has left behind when it was killed, is ended here."""
    signal_all(daemons(directory), signal.SIGTERM)
    with contextlib.suppress(AssertionError):
        wait_for(lambda: not daemons(directory), timeout=PATIENCE)
    scene = Scene(directory / "daemon" / "state")
    while left := daemons(directory) + [each.pid for tree in scene.mine().values() for each in tree]:
        signal_all(left, signal.SIGKILL)
        time.sleep(0.05)
    for cgroup in cgroups(directory):
        remove(cgroup)


def daemons(directory):
    """The daemon, and children of it that have not become their programs yet."""
    mark = f"--state-directory={directory / 'daemon'}/".encode()
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if mark in command_line(pid)]


def command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def signal_all(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def cgroups(directory):
    """Where the apps had their cgroups, by the daemon's own word and the kernel's."""
    with contextlib.suppress(FileNotFoundError):
        log = (directory / "daemon" / "log").read_text(errors="replace")
        return {Path(path) for path in re.findall(r"every app gets a control group of its own in (/\S+)", log)}
    return set()


def remove(cgroup):
    """Removes a cgroup with those below it. The kernel may need a moment after the end of the last process."""
    for path in sorted((each for each in cgroup.rglob("*") if each.is_dir()), reverse=True) + [cgroup]:
        with contextlib.suppress(FileNotFoundError, AssertionError):
            wait_for(lambda path=path: is_removed(path), timeout=10)


def is_removed(path):
    try:
        path.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
