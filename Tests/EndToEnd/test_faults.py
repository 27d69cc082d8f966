"""System calls that fail: the one request is refused with the reason, the daemon says so and lives, and the next works."""

import contextlib
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

import programs
from container import wait_for
from faults import fault

FAILED, LAUNCH_FAILED, UNAVAILABLE, NOT_PERMITTED = 1, 73, 69, 77


@pytest.fixture(params=["auto", "processGroup"])
def contained(request, direct):
    """A daemon with control groups, where it can have some, and one without."""
    (direct.configuration / "lifed.toml").write_text(f"containment = '{request.param}'\n[timeouts]\nbackground = '0s'\n")
    direct.stop()
    direct.start()
    return direct


def log(daemon):
    return daemon.log.read_text(errors="replace")


def run(daemon, identifier, command=programs.IDLE):
    return daemon.lifectl("run", "--id", identifier, "--", *command, check=False)


def group_of(daemon, identifier):
    """The app's cgroup, in the file system."""
    if daemon.lifectl.app(identifier)["containment"] != "cgroup":
        pytest.skip("apps have no control groups here")
    base = re.findall(r"every app gets a control group of its own in (/\S+)", log(daemon))[-1]
    return Path(base) / "apps" / f"app-{identifier}"


def assert_well(daemon):
    """Everything works: an app is started, suspended, brought back and ended."""
    pid = daemon.lifectl.start("well", *programs.FAMILY)
    wait_for(lambda: len(daemon.kernel.tree(pid)) == 5)
    daemon.lifectl("suspend", "well")
    assert daemon.kernel.is_stopped(pid)
    daemon.lifectl("focus", "well")
    daemon.lifectl("terminate", "well")
    assert not daemon.kernel.exists(pid)
    assert daemon.process.poll() is None
    wait_for(lambda: not daemon.kernel.zombies(daemon.process.pid))


# Starting


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("clone3:error=ENOMEM", "Cannot allocate memory"),
        ("clone3:error=EAGAIN", "Resource temporarily unavailable"),
        ("clone3:error=EBUSY", "Device or resource busy"),
        ("pipe2:error=EMFILE", "Too many open files"),
        # The client's connection and the app's channel come first.
        ("epoll_ctl:error=ENOSPC:when=3", "No space left on device"),
        # What tells the new process to go on.
        ("sendto:error=ENOBUFS:when=1", "No buffer space available"),
    ],
)
def test_a_launch_that_fails_is_refused_with_the_reason(contained, call, words):
    neighbour = contained.lifectl.start("neighbour", *programs.IDLE)
    before = contained.kernel.descriptors(contained.process.pid)
    with fault(contained.process.pid, call) as count:
        result = run(contained, "app")
        wait_for(count)
    assert result.returncode == LAUNCH_FAILED, result.stderr
    assert words in result.stderr
    assert "app could not be started" in log(contained) and words in log(contained)
    assert "app" not in contained.lifectl.apps()
    assert contained.lifectl.pid("neighbour") == neighbour
    wait_for(lambda: contained.kernel.descriptors(contained.process.pid) <= before)
    assert_well(contained)


def test_a_launch_without_a_channel_is_one_without_the_library(direct):
    # The first is the app's channel, the second the gate that the child waits at.
    with fault(direct.process.pid, "socketpair:error=ENFILE:when=1") as count:
        assert run(direct, "app").returncode == 0
        wait_for(lambda: count() == 1)
    assert direct.lifectl.app("app")["linked"] is False
    assert_well(direct)


def test_a_launch_without_a_control_group_is_refused(direct):
    direct.lifectl.start("neighbour", *programs.IDLE)
    group = group_of(direct, "neighbour").with_name("app-app")
    with fault(direct.process.pid, "mkdir:error=ENOSPC", paths=[group]) as count:
        result = run(direct, "app")
        wait_for(lambda: count() == 1)
    assert result.returncode == LAUNCH_FAILED
    assert "No space left on device" in result.stderr
    assert_well(direct)


# Stopping and ending


def test_a_group_that_does_not_freeze_is_stopped_by_signals(direct):
    (direct.configuration / "apps.d/cold.toml").write_text("command = ['sleep', 'infinity']\nsuspendMethod = 'freezer'\n")
    direct.lifectl("reload")
    direct.lifectl("launch", "cold")
    with fault(direct.process.pid, "write:error=EIO", paths=[group_of(direct, "cold") / "cgroup.freeze"]) as count:
        direct.lifectl("suspend", "cold")
        wait_for(count)
    assert direct.kernel.stat(direct.lifectl.pid("cold")).state == "T"
    direct.lifectl("focus", "cold")
    assert_well(direct)


def test_a_group_that_cannot_be_killed_at_once_is_killed_one_by_one(direct):
    pid = direct.lifectl.start("app", *programs.STUBBORN)
    tree = [each.pid for each in direct.kernel.tree(pid)]
    with fault(direct.process.pid, "write:error=EIO", paths=[group_of(direct, "app") / "cgroup.kill"]) as count:
        direct.lifectl("kill", "app")
        wait_for(count)
    assert not any(direct.kernel.exists(each) for each in tree)
    assert_well(direct)


@pytest.mark.parametrize("call", ["openat:error=EMFILE", "read:error=EIO"])
def test_an_app_whose_processes_cannot_be_listed_is_not_taken_for_stopped_or_gone(direct, call):
    """A list that cannot be read is not an empty one."""
    pid = direct.lifectl.start("app", *programs.FAMILY)
    wait_for(lambda: len(direct.kernel.tree(pid)) == 5)
    with fault(direct.process.pid, call, paths=[group_of(direct, "app") / "cgroup.procs"]) as count:
        result = direct.lifectl("suspend", "app", check=False)
        wait_for(count)
        assert result.returncode == FAILED, result.stderr
        assert direct.lifectl.app("app")["pid"] == pid
    direct.lifectl.wait_for_state("app", "suspended")
    assert direct.kernel.is_stopped(pid)
    direct.lifectl("focus", "app")
    assert_well(direct)


@pytest.mark.parametrize("call", ["openat:error=EMFILE", "read:error=EIO"])
def test_without_a_group_either(direct, call):
    (direct.configuration / "lifed.toml").write_text("containment = 'processGroup'\n")
    direct.stop()
    direct.start()
    pid = direct.lifectl.start("app", *programs.IDLE)
    with fault(direct.process.pid, call, paths=[f"/proc/{pid}/stat", f"/proc/{pid}/task/{pid}/children"]) as count:
        result = direct.lifectl("suspend", "app", check=False)
        wait_for(count)
        assert result.returncode == FAILED, result.stderr
        assert "cannot be listed" in result.stderr
    direct.lifectl.wait_for_state("app", "suspended")
    assert direct.kernel.is_stopped(pid)
    assert_well(direct)


def test_an_app_that_ends_while_its_processes_cannot_be_listed_is_seen_to_end(direct):
    pid = direct.lifectl.start("app", *programs.IDLE)
    group = group_of(direct, "app")
    with fault(direct.process.pid, "openat:error=EMFILE", paths=[group / "cgroup.procs"]) as count:
        os.kill(pid, signal.SIGKILL)
        wait_for(count)
    direct.lifectl.wait_for_state("app", "notRunning")
    assert not group.exists()
    assert_well(direct)


def test_an_app_that_may_not_be_signalled_is_not_taken_for_stopped(contained):
    pid = contained.lifectl.start("app", *programs.IDLE)
    with fault(contained.process.pid, "kill,pidfd_send_signal:error=EPERM") as count:
        result = contained.lifectl("suspend", "app", check=False)
        wait_for(count)
    assert result.returncode == FAILED
    assert f"{pid} (sleep" in result.stderr
    assert f"{pid} (sleep" in log(contained)
    # The attempt goes on.
    contained.lifectl.wait_for_state("app", "suspended")
    assert contained.kernel.stat(pid).state == "T"
    assert_well(contained)


def test_an_app_that_may_not_be_signalled_is_not_taken_for_gone(contained):
    pid = contained.lifectl.start("app", *programs.IDLE)
    with fault(contained.process.pid, "kill,pidfd_send_signal:error=EPERM") as count:
        result = contained.lifectl("kill", "app", check=False)
        # Where there is a control group, its end does not depend on signals.
        assert result.returncode == (FAILED if contained.kernel.exists(pid) else 0)
        assert result.returncode == 0 or wait_for(count)
    contained.lifectl.wait_for_state("app", "notRunning")
    wait_for(lambda: not contained.kernel.exists(pid))
    assert_well(contained)


# Clients


def test_who_is_no_client_for_want_of_memory_waits_and_the_daemon_does_not_spin(direct):
    before = direct.kernel.ticks(direct.process.pid)
    with fault(direct.process.pid, "accept4:error=ENOMEM") as count:
        assert direct.lifectl("list", "--timeout=2", check=False).returncode == 75
        assert 0 < count() < 100
    assert log(direct).count("clients have to wait: Cannot allocate memory") == 1
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
    assert "clients have to wait: " in log(direct)
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
    assert "whose process it is cannot be told" in log(direct)
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
    wait_for(lambda: f"{state} cannot be written: {words}" in log(direct))
    wait_for(lambda: "the state of the apps is kept again" in log(direct))
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
            if "state cannot be written: No space left on device" in log(direct):
                break
        assert "state cannot be written: No space left on device" in log(direct)
        assert_well(direct)
        (small / "filler").unlink()
        wait_for(lambda: "the state of the apps is kept again" in log(direct))
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
    assert "Bad file descriptor" in log(direct)
    assert direct.kernel.exists(pid)
    direct.start()
    assert direct.lifectl.pid("app") == pid
    assert_well(direct)


def test_a_call_that_is_interrupted_is_none_that_failed(direct):
    with fault(direct.process.pid, "epoll_wait,epoll_pwait2:error=EINTR:when=1+2", "sendto,recvfrom:error=EINTR:when=1+2"):
        assert_well(direct)
