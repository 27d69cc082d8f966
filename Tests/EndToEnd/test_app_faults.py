"""System calls for apps that fail: the one request is refused with the reason, the daemon says so and lives, and the next works."""

import os
import signal

import pytest

import programs
from container import wait_for
from faults import assert_well, fault
from restoration import group_of

FAILED, LAUNCH_FAILED = 71, 11


@pytest.fixture(params=["auto", "keeper"])
def contained(request, direct):
    """A daemon with control groups, where it can have some, and one without."""
    (direct.configuration / "lifed.toml").write_text(f"containment = '{request.param}'\n[timeouts]\nbackground = '0s'\n")
    direct.stop()
    direct.start()
    return direct


def run(daemon, identifier, command=programs.IDLE):
    return daemon.lifectl("run", "--id", identifier, "--", *command, check=False)


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
    wait_for(lambda: "cannot launch app: " in contained.logged and words in contained.logged)
    assert "app" not in contained.lifectl.apps()
    assert contained.lifectl.pid("neighbour") == neighbour
    wait_for(lambda: contained.kernel.descriptors(contained.process.pid) <= before)
    assert_well(contained)


@pytest.mark.parametrize("error", ["ENOSYS", "EPERM", "E2BIG", "EINVAL"])
def test_where_clone3_is_refused_an_app_is_forked_and_moved_into_its_group(contained, error):
    with fault(contained.process.pid, f"clone3:error={error}") as count:
        assert run(contained, "app", programs.FAMILY).returncode == 0
        wait_for(count)
    pid = contained.lifectl.pid("app")
    wait_for(lambda: len(contained.kernel.tree(pid)) == 5)
    if contained.lifectl.app("app")["containment"] == "cgroup":
        members = (group_of(contained, "app") / "cgroup.procs").read_text().split()
        assert sorted(map(int, members)) == sorted(each.pid for each in contained.kernel.tree(pid))
    contained.lifectl("suspend", "app")
    assert contained.kernel.is_stopped(pid)
    contained.lifectl("kill", "app")
    wait_for(lambda: not contained.kernel.exists(pid))
    assert_well(contained)


def test_an_app_that_is_forked_and_cannot_be_held_is_refused(contained):
    before = contained.kernel.descriptors(contained.process.pid)
    with fault(contained.process.pid, "clone3:error=ENOSYS", "pidfd_open:error=EMFILE") as count:
        result = run(contained, "app")
        wait_for(lambda: count() >= 2)
    assert result.returncode == LAUNCH_FAILED, result.stderr
    assert "Too many open files" in result.stderr
    wait_for(lambda: contained.kernel.descriptors(contained.process.pid) <= before)
    wait_for(lambda: not contained.kernel.zombies(contained.process.pid))
    assert_well(contained)


def test_a_launch_without_a_channel_is_one_without_the_library(direct):
    # The first is the app's channel, the second the gate that the child waits at.
    with fault(direct.process.pid, "socketpair:error=ENFILE:when=1") as count:
        assert run(direct, "app").returncode == 0
        wait_for(lambda: count() == 1)
    assert direct.lifectl.app("app")["connected"] is False
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
    group = group_of(direct, "app")
    with fault(direct.process.pid, call, paths=[group / "cgroup.procs"]) as count:
        result = direct.lifectl("suspend", "app", check=False)
        wait_for(count)
        assert result.returncode == FAILED, result.stderr
        assert direct.lifectl.app("app")["pid"] == pid
    direct.lifectl.wait_for_state("app", "suspended")
    assert direct.kernel.is_stopped(pid)
    direct.lifectl("focus", "app")
    assert_well(direct)


@pytest.mark.parametrize("call", ["openat:error=EMFILE", "pread64:error=EIO"])
def test_without_a_group_either(direct, call):
    (direct.configuration / "lifed.toml").write_text("containment = 'keeper'\n")
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
    is_frozen = contained.lifectl.app("app")["containment"] == "cgroup"
    with fault(contained.process.pid, "kill,pidfd_send_signal:error=EPERM") as count:
        result = contained.lifectl("suspend", "app", check=False)
        wait_for(count)
    if is_frozen:
        # The daemon of a user may freeze its groups, whatever runs in them.
        assert result.returncode == 0
        assert f"frozen: this daemon may not signal process {pid}" in contained.lifectl("explain", "app").stdout
        contained.lifectl("focus", "app")
        assert "frozen" not in contained.lifectl("explain", "app").stdout
        return
    assert result.returncode == FAILED
    assert f"{pid} (sleep" in result.stderr
    assert f"{pid} (sleep" in contained.logged
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
