"""A suspended app keeps its connection to the display server: a real sway, and clients that it sends events to."""

import contextlib
import os
import sys
from pathlib import Path

import pytest

from container import wait_for
from faults import killed_at

# sway disconnects a client that does not read after some 343 changes of the focus to and from its window.
EVENTS = 800
PIDFD_GETFD = 438
HERE = Path(__file__).parent


@pytest.fixture
def windows(quick, sway):
    """Opens windows of apps."""

    def open_window(*identifiers):
        pids = []
        for identifier in identifiers:
            variables = [f"{name}={value}" for name, value in sway.environment.items()]
            pids.append(quick.lifectl.start(identifier, "env", *variables, "foot", "sleep", "infinity"))
            wait_for(lambda: pids[-1] in sway.windows(), what=f"a window of {identifier}")
        return pids

    return open_window


def change_focus(sway, pids, events):
    """Moves the focus to each of two windows, so many times. The events of one command arrive together."""
    for _ in range(events):
        sway("; ".join(f"[pid={pid}] focus" for pid in pids))


def reasons(daemon, app):
    """The reasons of an app's resumptions, the oldest first."""
    history = daemon.lifectl.json("explain", app, "--last=200")["history"]
    events = [entry["event"] for entry in history if entry["event"]]
    return [event["reason"] for event in events if event["from"] == "suspended" and event["to"]]


def lives(daemon, app, pid):
    """True if an app has its window after it was resumed: a client finds its connection lost only when it runs."""
    daemon.lifectl("focus", app)
    try:
        wait_for(lambda: daemon.lifectl.state(app) != "active", timeout=2)
    except AssertionError:
        return daemon.lifectl.app(app)["pid"] == pid
    return False


def test_suspended_client_of_sway_survives_a_thousand_events(quick, sway, windows):
    one, two = windows("one", "two")
    quick.lifectl.wait_for_state("one", "suspended")
    change_focus(sway, (one, two), EVENTS)
    quick.lifectl.wait_for_state("one", "suspended")
    assert lives(quick, "one", one)
    assert "unread" in reasons(quick, "one")


def test_explanation_names_unread_events_while_they_are_read(quick, sway, windows):
    one, two = windows("one", "two")
    quick.lifectl.wait_for_state("one", "suspended")
    seen = ""
    for _ in range(EVENTS):
        change_focus(sway, (one, two), 1)
        if quick.lifectl.state("one") == "background":
            seen = quick.lifectl("explain", "one").stdout
            break
    assert "it had many events of the display server to read" in seen


def test_restored_daemon_keeps_a_suspended_client_connected(quick, sway, windows):
    one, two = windows("one", "two")
    quick.lifectl.wait_for_state("one", "suspended")
    quick.process.kill()
    quick.process.wait()
    # More than half of what the connection holds.
    change_focus(sway, (one, two), 200)
    quick.start()
    wait_for(lambda: "unread" in reasons(quick, "one"), what="one is resumed to read")
    change_focus(sway, (one, two), EVENTS)
    assert lives(quick, "one", one)


@pytest.mark.parametrize(("call", "number"), [("pwrite64", 1), ("kill,pidfd_send_signal", 1), ("pwrite64", 2)])
def test_client_stays_connected_though_the_daemon_is_killed_as_it_resumes_it_to_read(quick, sway, windows, call, number):
    one, two = windows("one", "two")
    quick.lifectl.wait_for_state("one", "suspended")
    with killed_at(quick, call, number=number):
        # More than half of what the connection holds.
        change_focus(sway, (one, two), 200)
    wait_for(lambda: "unread" in reasons(quick, "one"), what="one is resumed to read")
    quick.lifectl.wait_for_state("one", "suspended")
    change_focus(sway, (one, two), EVENTS)
    assert lives(quick, "one", one)
    assert {app: entry["pid"] for app, entry in quick.lifectl.apps().items()} == {"one": one, "two": two}


def test_nothing_wakes_the_daemon_while_the_display_is_quiet(quick, sway, windows):
    windows("one", "two", "three")
    for app in ("one", "two"):
        quick.lifectl.wait_for_state(app, "suspended")
    quick.kernel.wait_until_quiet(quick.process.pid)


def test_duplicates_are_closed_when_the_app_runs_and_when_it_ends(quick, sway, windows):
    def inodes(pid):
        targets = set()
        for path in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                targets.add(os.readlink(path))
        return {target for target in targets if target.startswith("socket:")}

    def has_duplicate(pid):
        return bool(inodes(quick.process.pid) & inodes(pid))

    one, two = windows("one", "two")
    wait_for(lambda: has_duplicate(one), what="a duplicate of the socket of one")
    assert not has_duplicate(two)
    quick.lifectl("focus", "one")
    wait_for(lambda: has_duplicate(two), what="a duplicate of the socket of two")
    assert not has_duplicate(one)
    quick.lifectl("focus", "two")
    wait_for(lambda: has_duplicate(one), what="a duplicate of the socket of one")
    # A process of a suspended app that is killed: the compositor must see the end of its connection.
    os.kill(one, 9)
    wait_for(lambda: one not in sway.windows(), what="the window has gone")


def test_unread_events_are_seen_at_each_occasion_where_sockets_cannot_be_duplicated(quick, sway, windows):
    # As Yama does with apps that the daemon has not launched.
    quick.stop()
    quick.start(wrapper=[sys.executable, HERE / "without_call.py", str(PIDFD_GETFD)])
    one, two = windows("one", "two")
    quick.lifectl.wait_for_state("one", "suspended")
    problem = "cannot watch the display connections of suspended apps: pidfd_getfd: "
    wait_for(lambda: quick.logged.count(problem) == 1, what="the problem in the log")
    for turn in range(EVENTS // 200):
        # More than half of what the connection holds, and less than all of it.
        change_focus(sway, (one, two), 200)
        assert quick.lifectl.state("one") in ("suspended", "background")
        wait_for(lambda: len(reasons(quick, "one")) > turn, what="one is resumed to read")
        quick.lifectl.wait_for_state("one", "suspended")
    assert lives(quick, "one", one)
    assert set(reasons(quick, "one")) == {"unread", "focus"}
    assert quick.logged.count(problem) == 1


def test_nothing_wakes_a_daemon_that_cannot_duplicate_sockets(quick, sway, windows):
    quick.stop()
    quick.start(wrapper=[sys.executable, HERE / "without_call.py", str(PIDFD_GETFD)])
    one, two = windows("one", "two")
    quick.lifectl.wait_for_state("one", "suspended")

    def wakeups_of_events():
        before = quick.kernel.wakeups(quick.process.pid)
        change_focus(sway, (one, two), 20)
        return quick.kernel.wakeups(quick.process.pid) - before

    wait_for(lambda: wakeups_of_events() == 0, timeout=15, what="events of the display without a wake-up")
