"""Programs that wait for memory, bounded by cgroups of their own."""

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from container import wait_for

READ_AGAIN = 'dd if=/dev/zero of="$1" bs=1M count=64 2>/dev/null; while :; do cat "$1" >/dev/null; done'


@contextlib.contextmanager
def hog(tmp_path):
    """A program that waits for memory: it reads more, again and again, than its own cgroup may hold."""
    group = memory_cgroup(f"lifed-test-{os.getpid()}", 16 << 20)
    command = 'echo $$ >"$0/cgroup.procs"; exec sh -c "$1" sh "$2"'
    processes = []

    def start():
        arguments = ["sh", "-c", command, str(group), READ_AGAIN, str(tmp_path / "pages")]
        processes.append(subprocess.Popen(arguments, start_new_session=True))

    yield start
    for process in processes:
        os.killpg(process.pid, 9)
        process.wait()
    wait_for(lambda: not (group / "cgroup.procs").read_text())
    group.rmdir()


def memory_cgroup(name, limit):
    """A cgroup with a limit of memory, by whichever version of cgroups has the controller."""
    unified, legacy = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory")
    if (legacy / "memory.limit_in_bytes").exists():
        group, file = legacy / name, "memory.limit_in_bytes"
    elif "memory" in (read(unified / "cgroup.subtree_control") or ""):
        group, file = unified / name, "memory.max"
    else:
        pytest.skip("no cgroup here can limit memory")
    try:
        group.mkdir()
        (group / file).write_text(str(limit))
    except OSError as reason:
        pytest.skip(f"no cgroup here can limit memory: {reason}")
    return group


def read(path):
    return path.read_text() if path.exists() else None
