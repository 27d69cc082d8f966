"""Focus follows an X server: a real one, without a screen, with a window manager and real windows."""

import os
import signal
import subprocess

import pytest

from container import wait_for
from screens import XServer, followers, need, running

UNAVAILABLE = 69


@pytest.fixture(params=["openbox", "i3"])
def x11(tmp_path, request, direct):
    need("Xvfb", "xterm", "xprop", "xdotool", request.param)
    if not (direct.products / "lifed-desktop").exists():
        pytest.skip("lifed-desktop was not built: headers are missing")
    (tmp_path / "i3").write_text("# i3 config file (v4)\n")
    manager = {"openbox": ["openbox"], "i3": ["i3", "-c", str(tmp_path / "i3")]}
    with running(XServer(tmp_path, manager[request.param])) as server:
        yield server


@pytest.fixture
def follow(quick, x11, tmp_path):
    with followers(quick, "x11", tmp_path, x11.environment) as start:
        yield start


@pytest.fixture
def windows(quick, x11):
    def open_window(*identifiers):
        pids = []
        for identifier in identifiers:
            variables = [f"{name}={value}" for name, value in x11.environment.items()]
            pids.append(quick.lifectl.start(identifier, "env", *variables, "xterm", "-e", "sleep", "infinity"))
            wait_for(lambda: x11.window(pids[-1]), what=f"a window of {identifier}")
        return pids

    return open_window


def leave(x11, desktop):
    x11.run("xdotool", "set_desktop", str(desktop))
    if x11.manager_command[0] == "i3":
        x11.run("i3-msg", "workspace", str(desktop + 1))


def test_what_has_the_focus_is_in_front_and_what_closes_gives_it_back(quick, x11, windows, follow):
    one, two, three = windows("one", "two", "three")
    follow()
    for pid, identifier in [(one, "one"), (three, "three"), (two, "two"), (one, "one")]:
        x11.focus(pid)
        quick.lifectl.wait_for_state(identifier, "active")
    x11.run("xdotool", "windowkill", str(x11.window(one)))
    wait_for(lambda: any(quick.lifectl.state(identifier) == "active" for identifier in ("two", "three")))


def test_what_is_on_the_screen_does_not_sleep_until_its_desktop_is_left(quick, x11, windows, follow):
    one, _ = windows("one", "two")
    follow()
    x11.focus(one)
    quick.lifectl.wait_for_state("one", "active")
    wait_for(lambda: "is visible" in quick.lifectl("explain", "two").stdout)
    leave(x11, 1)
    for identifier in ("one", "two"):
        quick.lifectl.wait_for_state(identifier, "suspended")
    leave(x11, 0)
    wait_for(lambda: {quick.lifectl.state("one"), quick.lifectl.state("two")} == {"active", "background"})


def test_after_a_burst_the_last_counts(quick, x11, windows, follow):
    pids = dict(zip(("one", "two", "three"), windows("one", "two", "three")))
    follow()
    numbers = {identifier: str(x11.window(pid)) for identifier, pid in pids.items()}
    order = [list(pids)[number % 3] for number in range(50)]
    commands = [word for identifier in order for word in ("windowactivate", numbers[identifier])]
    x11.run("xdotool", *commands)
    # It may have been active in the midst of the burst, too: what counts is where that comes to rest.
    last = [order[-1]]
    wait_for(lambda: [each for each in pids if quick.lifectl.state(each) == "active"] == last, what="the last alone in the foreground")


def test_windows_of_nobody_are_left_alone(quick, x11, windows, follow):
    (one,) = windows("one")
    follower = follow("--dry-run")
    follower.wait_for(f"would bring one to the foreground (process {one}, ")
    stranger = subprocess.Popen(
        ["xterm", "-e", "sleep", "infinity"], env={**os.environ, **x11.environment}, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: x11.window(stranger.pid), what="a window of nobody's")
        x11.focus(stranger.pid)
        follower.wait_for(f"would ignore a window of no app (process {stranger.pid}, ")
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.parametrize("x11", ["openbox"], indirect=True)
@pytest.mark.parametrize("is_attested", [True, False])
def test_a_rule_adopts_the_process_of_a_window_only_if_the_server_attests_it(quick, x11, windows, follow, is_attested):
    """Without the X-Resource extension, a window can name the process of another program."""
    if not is_attested:
        x11.kill()
        x11.start("-extension", "X-Resource")
    (quick.configuration / "lifed.toml").write_text('[[adopt]]\nmatch = "xterm"\nid = "terminal"\n')
    quick.lifectl("reload")
    (one,) = windows("one")
    stranger = subprocess.Popen(
        ["xterm", "-e", "sleep", "infinity"], env={**os.environ, **x11.environment}, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: x11.window(stranger.pid), what="a window of nobody's")
        follow()
        x11.focus(stranger.pid)
        if is_attested:
            quick.lifectl.wait_for_state("terminal", "active")
        # The follower has looked at every window before it brings one to the foreground.
        x11.focus(one)
        quick.lifectl.wait_for_state("one", "active")
        assert ("terminal" in quick.lifectl.apps()) == is_attested
    finally:
        stranger.kill()
        stranger.wait()


def test_server_and_daemon_may_be_started_again(quick, x11, windows, follow):
    windows("one")
    follower = follow()
    quick.process.send_signal(signal.SIGKILL)
    quick.process.wait()
    follower.wait_for("lifed has gone")
    quick.start()
    follower.wait_for("lifed is there again")
    x11.kill()
    follower.wait_for("the X server has gone")
    x11.start()
    follower.wait_for("the X server is there again")
    two, three = windows("two", "three")
    x11.focus(two)
    quick.lifectl.wait_for_state("two", "active")
    x11.focus(three)
    quick.lifectl.wait_for_state("three", "active")


def test_where_there_is_no_server_that_is_said(direct):
    command = [str(direct.products / "lifed-desktop"), "--source", "x11"]
    result = direct.run(["env", "DISPLAY=:4711", *command], check=False)
    assert result.returncode == UNAVAILABLE
    assert "cannot follow x11: the X server at DISPLAY=:4711 does not answer" in result.stderr


def test_server_that_stops_for_a_moment_holds_up_nothing(quick, x11, windows, follow):
    one, two = windows("one", "two")
    follower = follow()
    x11.focus(one)
    quick.lifectl.wait_for_state("one", "active")
    server = x11.processes[0]
    server.send_signal(signal.SIGSTOP)
    try:
        quick.process.send_signal(signal.SIGKILL)
        quick.process.wait()
        follower.wait_for("lifed has gone")
        quick.start()
        follower.wait_for("lifed is there again")
    finally:
        server.send_signal(signal.SIGCONT)
    x11.focus(two)
    quick.lifectl.wait_for_state("two", "active")
