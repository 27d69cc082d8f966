"""Ends the Swift tests if they hang, and tells in which processes and system calls they do.

A test waits four minutes at most for what it expects. If the stream of events has no new one for longer, no other will follow.
"""

import contextlib
import os
import signal
import sys
import threading
from pathlib import Path

import guardian

# In seconds; more than any test waits.
PATIENCE = 330

RUNNER = "PackageTests.xctest"


class Watch:
    """Sees to it that the tests that this process has started go on, or end."""

    def __init__(self, events, patience=PATIENCE):
        self.has_hung = False
        self._events = events
        self._patience = patience
        self._has_ended = threading.Event()
        self._watcher = threading.Thread(target=self._wait_for_hang)

    def __enter__(self):
        self._watcher.start()
        return self

    def __exit__(self, *_):
        self._has_ended.set()
        self._watcher.join()

    def _wait_for_hang(self):
        size = 0
        while not self._has_ended.wait(self._patience):
            last, size = size, self._events.stat().st_size if self._events.exists() else 0
            if size == last:
                self.has_hung = True
                end_tests(descendants(os.getpid()), self._patience)


def end_tests(processes, patience):
    print(f"\nno test has begun or ended for {patience} s; these processes of the tests are there:", file=sys.stderr)
    for pid in processes:
        print(description(pid), file=sys.stderr, flush=True)
    # Those of a test end with its runner.
    guardian.signal_all([pid for pid in processes if is_runner(pid)], signal.SIGKILL)


def descendants(root):
    parents = {pid: parent_of(pid) for pid in guardian.processes()}
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found[1:]


def parent_of(pid):
    fields = guardian.read(pid, "stat").rpartition(b")")[2].split()
    return int(fields[1]) if fields else None


def is_runner(pid):
    return RUNNER.encode() in guardian.read(pid, "cmdline").partition(b"\0")[0]


def description(pid):
    """A line for a process and one for each of its threads, with what the kernel tells of them."""
    command = guardian.read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace")[:200]
    lines = [f"{pid}, child of {parent_of(pid)}: {command}"]
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        lines += [f"    {state(thread)}" for thread in sorted(Path(f"/proc/{pid}/task").iterdir())]
    return "\n".join(lines)


def state(thread):
    name, letter = thread.name, "?"
    with contextlib.suppress(OSError):
        name, _, rest = (thread / "stat").read_text(errors="replace").rpartition(")")
        letter = rest.split()[0]
    details = [letter]
    for file in ("wchan", "syscall"):
        with contextlib.suppress(OSError):
            details.append((thread / file).read_text().strip())
    return f"{name}) {' '.join(details)}"
