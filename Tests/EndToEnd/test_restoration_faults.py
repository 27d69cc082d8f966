"""System calls that fail while a daemon restores apps: it serves or ends with a reason, and no app is lost or stays stopped."""

import contextlib
import os
import re
import signal
from pathlib import Path

import pytest

import programs
from container import wait_for
from faults import assert_well, at_start
from restoration import change_format, kill, manifest, state_file

BOOT_ID = "/proc/sys/kernel/random/boot_id"
APPS = ("front", "back", "cold")


def configure(daemon, containment):
    (daemon.configuration / "lifed.toml").write_text(f"containment = '{containment}'\n[timeouts]\nbackground = '0s'\n")


@pytest.fixture
def crowd(direct):
    """A daemon with an app in the foreground, one that is suspended, and one that is suspended by the freezer, where there is one."""
    configure(direct, "auto")
    (direct.configuration / "apps.d/cold.toml").write_text("command = ['sleep', 'infinity']\nsuspendMethod = 'freezer'\n")
    direct.stop()
    direct.start()
    direct.lifectl("launch", "cold")
    direct.lifectl.start("back", *programs.FAMILY)
    direct.lifectl.start("front", *programs.FAMILY)
    for each in ("cold", "back"):
        direct.lifectl.wait_for_state(each, "suspended")
    yield direct
    if direct.process.poll() is not None:
        direct.start()


def start_with(daemon, *injections, paths=()):
    """Kills the daemon and starts another one, of which calls fail. Returns if it serves, and the calls that strace has seen."""
    kill(daemon)
    trace = daemon.runtime.parent / "strace"
    trace.unlink(missing_ok=True)
    before = len(daemon.logged)
    daemon.spawn(at_start(trace, *injections, paths=paths))
    wait_for(lambda: daemon.process.poll() is not None or answers(daemon), what=f"an answer or an end: {daemon.log}")
    serves = daemon.process.poll() is None
    return serves, daemon.logged[before:], trace.read_text(errors="replace")


def answers(daemon):
    """True if it answers what it cannot know without a look at the processes of all apps, which may follow its first answer."""
    return daemon.socket.exists() and daemon.lifectl("list", "--timeout=60", check=False).returncode == 0


def pids(daemon):
    return {name: daemon.lifectl.pid(name) for name in APPS}


def assert_nothing_is_lost(daemon, before):
    """All apps are there, the same processes, where they should be; and those that sleep can be had back."""
    wait_for(lambda: daemon.lifectl.state("front") == "active", what="front is active")
    for each in ("cold", "back"):
        daemon.lifectl.wait_for_state(each, "suspended")
    assert pids(daemon) == before
    assert daemon.kernel.is_stopped(before["back"])
    daemon.lifectl("focus", "back")
    assert not any(each.state == "T" for each in daemon.kernel.tree(before["back"]))
    daemon.lifectl("focus", "front")
    daemon.lifectl.wait_for_state("back", "suspended")


def count(call, trace):
    return sum(line.startswith(f"{call}(") for line in trace.read_text(errors="replace").splitlines())


def sweep(daemon, call, error, paths=()):
    """Lets each of the calls fail, one in each restart."""
    before = pids(daemon)
    serves, _, _ = start_with(daemon, call, paths=paths)
    assert serves
    trace = daemon.runtime.parent / "strace"
    # The daemon postpones some of its work until it has answered.
    wait_for(lambda: count(call, trace) > 0, what=f"a call of {call}: {trace}")
    total = count(call, trace)
    for number in range(1, total + 1):
        serves, log, trace = start_with(daemon, f"{call}:error={error}:when={number}", paths=paths)
        where = f"{call} {number} of {total}: {[line for line in trace.splitlines() if 'INJECTED' in line]}\n{log}"
        print(where)
        if not serves:
            assert daemon.process.returncode > 0, where
            assert log.strip(), where
            daemon.start()
        # The call may follow the first answer, and be that of a client, whose connection ends then.
        for _ in range(3):
            answers(daemon)
        assert_nothing_is_lost(daemon, before)


def group(daemon):
    found = re.findall(r"lifed makes a control group for each app in (/\S+)", daemon.logged)
    if not found:
        pytest.skip("apps have no control groups here")
    return Path(found[-1])


def sleeps(daemon, pid):
    """True if a single process is stopped or frozen."""
    place = Path(f"/proc/{pid}/cgroup").read_text().rpartition("0::")[2].strip()
    events = [each / place.lstrip("/") / "cgroup.events" for each in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))]
    return daemon.kernel.is_stopped(pid) or any("frozen 1" in each.read_text() for each in events if each.exists())


def assert_the_frozen_one_comes_back(daemon, before):
    assert sleeps(daemon, before["cold"])
    daemon.lifectl("focus", "cold")
    assert not sleeps(daemon, before["cold"])
    daemon.lifectl("focus", "front")
    daemon.lifectl.wait_for_state("cold", "suspended")


@pytest.mark.parametrize("call", ["openat:error=EMFILE:when=1", "read:error=EIO:when=1"])
def test_a_state_that_cannot_be_read_is_left_to_another_daemon(crowd, call):
    before = pids(crowd)
    state = state_file(crowd)
    serves, log, _ = start_with(crowd, call, paths=[state])
    assert not serves
    assert crowd.process.returncode == 1
    assert f"cannot read {state}: " in log
    crowd.start()
    assert_nothing_is_lost(crowd, before)
    assert_well(crowd)


@pytest.mark.parametrize("number", [1, 2])
def test_a_boot_that_cannot_be_identified_is_not_taken_for_another(crowd, number):
    """Neither is a state replaced that may be of this boot, nor one saved that the next daemon takes for that of another."""
    before = pids(crowd)
    serves, log, _ = start_with(crowd, f"openat:error=ENFILE:when={number}", paths=[BOOT_ID])
    if not serves:
        assert crowd.process.returncode == 1
        assert f"cannot read {BOOT_ID}: Too many open files in system" in log
        crowd.start()
    assert_nothing_is_lost(crowd, before)
    kill(crowd)
    crowd.start()
    assert_nothing_is_lost(crowd, before)
    assert_well(crowd)


def test_apps_of_a_state_that_cannot_be_used_are_ended(crowd):
    group(crowd)
    before = pids(crowd)
    tree = crowd.kernel.tree(before["back"])
    assert sleeps(crowd, before["cold"])
    kill(crowd)
    try:
        change_format(crowd)
        crowd.start()
        assert f"cannot use {state_file(crowd)}: it was written by a version of lifed with another format" in crowd.logged
        assert not any(crowd.kernel.exists(each.pid) for each in tree)
        assert not any(crowd.kernel.exists(pid) for pid in before.values())
    finally:
        for each in [*tree, *crowd.kernel.tree(before["front"]), *crowd.kernel.tree(before["cold"])]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each.pid, signal.SIGKILL)
    assert_well(crowd)


@pytest.mark.parametrize("events", ["EPOLLPRI|EPOLLET", "EPOLLIN|EPOLLET"])
def test_an_app_whose_events_are_lost_is_seen_to_end(direct, events):
    """Of processes that are no children the daemon knows by its watches of the group and of the main process."""
    configure(direct, "auto")
    direct.stop()
    direct.start()
    group(direct)
    manifest(direct, "app", ["sh", "-c", "sleep infinity & exec sleep infinity"], "exitPolicy = 'last'")
    direct.lifectl("launch", "app")
    main = direct.lifectl.pid("app")
    wait_for(lambda: len(direct.kernel.tree(main)) == 2)
    helper = next(each.pid for each in direct.kernel.tree(main) if each.pid != main)
    serves, _, trace = start_with(direct, "epoll_ctl")
    assert serves
    calls = [line for line in trace.splitlines() if line.startswith("epoll_ctl(")]
    number = next(index for index, line in enumerate(calls, 1) if events in line and "EPOLL_CTL_ADD" in line)
    serves, _, trace = start_with(direct, f"epoll_ctl:error=ENOSPC:when={number}")
    assert serves
    failed = next(line for line in trace.splitlines() if "INJECTED" in line and events in line)
    # The end of an app makes room for the watch.
    call = failed.partition("{")[0]
    direct.lifectl.start("other", *programs.IDLE)
    direct.lifectl("terminate", "other")
    trace = direct.runtime.parent / "strace"
    wait_for(
        lambda: any(line.startswith(call) and events in line for line in trace.read_text().partition(failed)[2].splitlines()),
        what=f"{failed} is tried again: {trace}")
    os.kill(main, signal.SIGKILL)
    wait_for(lambda: direct.lifectl.app("app").get("pid") is None, what="the end of the main process is seen")
    os.kill(helper, signal.SIGKILL)
    direct.lifectl.wait_for_state("app", "notRunning")
    assert direct.logged.count("cannot watch the processes of app: No space left on device; ") == 1
    assert_well(direct)


def test_where_no_control_groups_can_be_made_those_that_are_there_hold_their_apps(crowd):
    before = pids(crowd)
    own = group(crowd) / "daemon" / "cgroup.procs"
    serves, log, _ = start_with(crowd, "write:error=ENOSPC:when=1", paths=[own])
    assert serves and "no control groups can be made" in log
    assert_nothing_is_lost(crowd, before)
    assert_the_frozen_one_comes_back(crowd, before)
    kill(crowd)
    crowd.start()
    assert_nothing_is_lost(crowd, before)
    assert_the_frozen_one_comes_back(crowd, before)
    assert_well(crowd)


def test_where_no_control_groups_are_wanted_any_more_either(crowd):
    before = pids(crowd)
    group(crowd)
    kill(crowd)
    configure(crowd, "keeper")
    for _ in range(2):
        crowd.start()
        assert_nothing_is_lost(crowd, before)
        assert_the_frozen_one_comes_back(crowd, before)
        assert crowd.lifectl.app("cold")["containment"] == "cgroup"
        kill(crowd)
    crowd.start()
    assert_well(crowd)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("pidfd_open", "EMFILE"), ("epoll_ctl", "ENOSPC"), ("write", "ENOSPC"), ("pwrite64", "ENOSPC"),
        ("fallocate", "ENOSPC"), ("renameat2", "EIO"),
    ],
)
def test_any_one_call_may_fail(crowd, call, error):
    sweep(crowd, call, error)
    assert_well(crowd)


@pytest.mark.parametrize(("call", "error"), [("openat", "EMFILE"), ("pread64", "EIO")])
def test_any_one_call_about_a_control_group_may_fail(crowd, call, error):
    apps = group(crowd) / "apps"
    files = [apps / f"app-{name}" / file for name in APPS for file in ("cgroup.procs", "cgroup.events")]
    sweep(crowd, call, error, paths=files)
    assert_well(crowd)
