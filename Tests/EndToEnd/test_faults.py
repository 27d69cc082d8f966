"""System calls for clients, the state file and the loop that fail: the daemon says so, lives where it can, and the next works."""

import contextlib
import os
import socket
import subprocess

import pytest

import programs
from container import wait_for
from faults import assert_well, fault

UNAVAILABLE, NOT_PERMITTED = 69, 77

# Clients


def test_who_is_no_client_for_want_of_memory_waits_and_the_daemon_does_not_spin(direct):
    before = direct.kernel.ticks(direct.process.pid)
    with fault(direct.process.pid, "accept4:error=ENOMEM") as count:
        assert direct.lifectl("list", "--timeout=2", check=False).returncode == 75
        assert 0 < count() < 100
    assert direct.logged.count("clients have to wait: Cannot allocate memory") == 1
    assert direct.kernel.ticks(direct.process.pid) - before < 50
    assert direct.lifectl("list").returncode == 0
    assert_well(direct)


@pytest.mark.parametrize("error", ["EMFILE", "ENFILE"])
def test_who_is_no_client_for_want_of_descriptors_waits(direct, error):
    with fault(direct.process.pid, f"accept4:error={error}") as count:
        waiting = subprocess.Popen(
            [direct.products / "lifectl", "list"], env={**os.environ, "LIFED_SOCKET": str(direct.socket)},
            stdout=subprocess.DEVNULL,
        )
        wait_for(lambda: count() >= 3)
        assert waiting.poll() is None
    assert "clients have to wait: " in direct.logged
    assert waiting.wait(timeout=60) == 0
    assert_well(direct)


def test_an_app_that_cannot_come_back_for_want_of_descriptors_waits(direct):
    with socket.socket(socket.AF_UNIX) as stranger, fault(direct.process.pid, "accept4:error=EMFILE") as count:
        stranger.connect(str(direct.runtime / "channel"))
        wait_for(count)
        before = direct.kernel.ticks(direct.process.pid)
        first = count()
        wait_for(lambda: count() > first)
        # A few tries a second, not as many as there can be.
        assert count() - first < 50
        assert direct.kernel.ticks(direct.process.pid) - before < 50
    assert_well(direct)


def test_a_client_that_cannot_be_watched_is_let_go(direct):
    with fault(direct.process.pid, "epoll_ctl:error=ENOSPC:when=1"):
        assert direct.lifectl("list", check=False).returncode == UNAVAILABLE
    assert_well(direct)


def test_a_client_that_cannot_be_answered_is_let_go(direct):
    with fault(direct.process.pid, "sendto:error=ENOBUFS:when=1") as count:
        assert direct.lifectl("list", check=False).returncode == UNAVAILABLE
        wait_for(lambda: count() == 1)
    assert_well(direct)


def test_a_client_that_cannot_be_identified_is_refused(direct):
    with fault(direct.process.pid, "pidfd_open:error=EMFILE", "getsockopt:error=EMFILE:when=3+") as count:
        result = direct.lifectl("list", check=False)
        wait_for(count)
    assert result.returncode == NOT_PERMITTED
    assert "whose process it is cannot be told" in direct.logged
    assert_well(direct)


# What survives the daemon


@pytest.mark.parametrize(("error", "words"), [("ENOSPC", "No space left on device"), ("EIO", "Input/output error")])
def test_a_state_that_cannot_be_written_is_told_and_written_later(direct, error, words):
    direct.lifectl.start("first", *programs.IDLE)
    state = direct.runtime / "state"
    # The file itself, and the one that is to take its place.
    with fault(direct.process.pid, f"write:error={error}", paths=[state, f"{state}.new"]) as count:
        pid = direct.lifectl.start("app", *programs.IDLE)
        wait_for(lambda: count() >= 2)
    wait_for(lambda: f"{state} cannot be written: {words}" in direct.logged)
    wait_for(lambda: "the state of the apps is kept again" in direct.logged)
    direct.process.kill()
    direct.process.wait()
    direct.start()
    assert direct.lifectl.pid("app") == pid
    assert_well(direct)


def test_a_full_file_system_is_told_and_the_state_written_later(direct, tmp_path):
    """The same without strace, where a file system can be mounted: its last page is taken by another file."""
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        direct.stop()
        direct.runtime = small / "run"
        direct.runtime.mkdir()
        direct.start()
        direct.lifectl.start("first", *programs.IDLE)
        with contextlib.suppress(OSError), open(small / "filler", "wb", buffering=0) as filler:
            while filler.write(b"x" * 4096) == 4096:
                pass
        for number in range(40):
            direct.lifectl.start(f"app{number}", *programs.IDLE)
            if "state cannot be written: No space left on device" in direct.logged:
                break
        assert "state cannot be written: No space left on device" in direct.logged
        assert_well(direct)
        (small / "filler").unlink()
        wait_for(lambda: "the state of the apps is kept again" in direct.logged)
        pids = {name: app["pid"] for name, app in direct.lifectl.apps().items()}
        direct.process.kill()
        direct.process.wait()
        direct.start()
        assert {name: app["pid"] for name, app in direct.lifectl.apps().items()} == pids
    finally:
        direct.stop()
        wait_for(lambda: subprocess.run(["umount", str(small)], capture_output=True).returncode == 0, what="umount")


# The loop itself


def test_a_loop_that_cannot_go_on_ends_the_daemon_and_the_next_takes_over(direct):
    """Nothing works without it; the service manager starts another one, which has lost nothing."""
    pid = direct.lifectl.start("app", *programs.IDLE)
    with fault(direct.process.pid, "epoll_wait,epoll_pwait2:error=EBADF:when=1", "epoll_pwait:error=EBADF:when=1"):
        direct.lifectl("list", check=False)
        wait_for(lambda: direct.process.poll() is not None, what="the end of the daemon")
    assert direct.process.returncode != 0
    assert "Bad file descriptor" in direct.logged
    assert direct.kernel.exists(pid)
    direct.start()
    assert direct.lifectl.pid("app") == pid
    assert_well(direct)


def test_a_call_that_is_interrupted_is_none_that_failed(direct):
    with fault(direct.process.pid, "epoll_wait,epoll_pwait2:error=EINTR:when=1+2", "sendto,recvfrom:error=EINTR:when=1+2"):
        assert_well(direct)
