"""Lets system calls of a running daemon fail, from outside: strace attaches to it and puts errors in place of results."""

import contextlib
import shutil
import signal
import subprocess
import threading

import pytest

import programs
from container import wait_for


@contextlib.contextmanager
def fault(pid, *injections, paths=(), follows=False):
    """While this lasts, calls of the process fail as strace(1) is told by its option "inject".

    With paths, only those that are about the files, by their names or by descriptors. The calls of the processes that it
    starts meanwhile are left alone, unless strace follows them. Yields a function that counts how often a call has failed.
    """
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    calls = ",".join(each.partition(":")[0] for each in injections)
    about = [option for each in paths for option in ("-P", str(each))]
    inject = [option for each in injections for option in ("-e", f"inject={each}")]
    command = ["strace", *(["-f"] if follows else []), "-p", str(pid), *about, "-e", f"trace={calls}", *inject]
    tracer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    lines = []
    for line in tracer.stderr:
        lines.append(line)
        if "attached" in line or "ptrace" in line:
            break
    if not lines or "attached" not in lines[-1]:
        tracer.wait()
        pytest.skip(f"strace cannot attach: {''.join(lines)}")
    reader = Reader(tracer.stderr)
    reader.start()
    try:
        yield reader.count
    finally:
        tracer.send_signal(signal.SIGINT)
        wait_for(lambda: tracer.poll() is not None, what="the end of strace")
        reader.join()


@contextlib.contextmanager
def killed_at(daemon, *calls, number=1):
    """Kills a daemon of the tests as it enters one of the system calls for the nth time, and starts the next one."""
    with fault(daemon.process.pid, f"{','.join(calls)}:signal=KILL:when={number}"):
        yield
        wait_for(lambda: daemon.process.poll() is not None, what=f"the daemon is killed at {number}. {' or '.join(calls)}")
    daemon.start()


class Reader(threading.Thread):
    """Reads what strace says, so that it never has to wait for a reader."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.stream = stream
        self.injected = []

    def run(self):
        for line in self.stream:
            if "(INJECTED)" in line:
                self.injected.append(line)
        self.stream.close()

    def count(self):
        return len(self.injected)


def assert_well(daemon):
    """Everything works: an app is launched, suspended, brought back and ended."""
    pid = daemon.lifectl.start("well", *programs.FAMILY)
    wait_for(lambda: len(daemon.kernel.tree(pid)) == 5)
    daemon.lifectl("suspend", "well")
    assert daemon.kernel.is_stopped(pid)
    daemon.lifectl("focus", "well")
    daemon.lifectl("terminate", "well")
    assert not daemon.kernel.exists(pid)
    assert daemon.process.poll() is None
    wait_for(lambda: not daemon.kernel.zombies(daemon.process.pid))


def at_start(log, *injections, paths=()):
    """A command that turns into another one, whose calls fail from its first as strace(1) is told.

    The tracer is no parent of what it traces, and writes what has failed to a file.
    """
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    calls = ",".join(each.partition(":")[0] for each in injections)
    about = [option for each in paths for option in ("-P", str(each))]
    inject = [option for each in injections if ":" in each for option in ("-e", f"inject={each}")]
    return ["strace", "-DDD", "-o", str(log), *about, "-e", f"trace={calls}", *inject]
