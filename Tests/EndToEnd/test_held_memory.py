"""A process that holds the lock of its memory, for a server that does not answer, blocks neither the daemon nor other apps."""

import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest

import programs
import slow_files
from container import wait_for
from restoration import configure, start_again

HERE = Path(__file__).resolve().parent


@pytest.fixture
def slow_file(mortal, tmp_path):
    """A file whose server never answers a write. Its end releases those that wait, also before the daemon ends its apps."""
    directory = tmp_path / "slow"
    with slow_files.served(directory):
        yield directory / "file"


def waits(pid):
    """True if a thread of a process waits in the kernel, where no signal reaches it."""
    statuses = Path(f"/proc/{pid}/task").glob("*/stat")
    return "D" in [status.read_text().rpartition(")")[2].split()[0] for status in statuses]


@pytest.fixture(params=["process", "thread", "apart"])
def held(request, mortal, slow_file):
    """An app with a process that holds the lock of its memory: by its only thread, by another, or as a daemon of the app."""
    configure(mortal, timeouts="background = '300ms'")
    mortal.lifectl("run", "--id", "other", "--", *programs.IDLE)
    which = ["thread", "apart"] if request.param == "apart" else [request.param]
    mortal.lifectl("run", "--id", "held", "--", sys.executable, str(HERE / "held_memory.py"), str(slow_file), *which)
    waiting = wait_for(lambda: [each.pid for each in mortal.kernel.tree(mortal.process.pid) if waits(each.pid)])
    yield mortal
    # Without control groups, its app does not know a daemon whose environment cannot be read.
    for pid in waiting:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def use(daemon):
    """Uses every request that looks at the processes of apps."""
    limit = {"timeout": 20}
    daemon.lifectl("list", **limit)
    assert daemon.lifectl.json("status", "held", **limit)["details"]["processes"]
    daemon.lifectl("explain", "held", **limit)
    daemon.lifectl("suspend", "held", "--now", "--timeout=2", check=False, **limit)
    daemon.lifectl("focus", "other", **limit)
    assert daemon.lifectl.state("other") == "active"
    daemon.lifectl("focus", "held", **limit)
    daemon.lifectl("suspend", "other", **limit)
    daemon.lifectl("status", "--pid", str(os.getpid()), check=False, **limit)


def test_requests_are_answered(held):
    use(held)
    wait_for(lambda: held.lifectl.json("status", "other")["details"]["processes"][0]["command"] == " ".join(programs.IDLE))


def test_app_that_goes_to_the_background_blocks_nothing(held):
    held.lifectl("focus", "other")
    wait_for(
        lambda: "SIGSTOP has not stopped" in held.logged or held.lifectl.state("held") == "suspended",
        what="the daemon has tried to suspend the app",
    )
    held.lifectl("list", timeout=20)


def test_next_daemon_answers(held):
    start_again(held)
    use(held)
