"""Focus follows sway: a real one, without a screen, with real windows."""

import os
import signal
import subprocess

import pytest

from container import wait_for
from screens import followers

UNAVAILABLE = 69


@pytest.fixture
def follow(quick, sway, tmp_path):
    """Starts followers."""
    with followers(quick, "sway", tmp_path, {"SWAYSOCK": str(sway.socket), "XDG_RUNTIME_DIR": str(sway.runtime)}) as start:
        yield start


@pytest.fixture
def windows(quick, sway):
    """Opens windows: apps, each a terminal of its own."""

    def open_window(*identifiers, workspace=None):
        pids = []
        for identifier in identifiers:
            if workspace:
                sway(f"workspace {workspace}")
            variables = [f"{name}={value}" for name, value in sway.environment.items()]
            pid = quick.lifectl.start(identifier, "env", *variables, "foot", "sleep", "infinity")
            wait_for(lambda: pid in sway.windows(), what=f"a window of {identifier}")
            pids.append(pid)
        return pids

    return open_window


def wait_until_visible(quick, identifier):
    """Waits until the follower has told the daemon of a window of the app."""
    wait_for(lambda: "is visible" in quick.lifectl("explain", identifier).stdout, what=f"{identifier} is visible")


def test_what_has_the_focus_is_in_front(quick, sway, windows, follow):
    one, two, three = windows("one", "two", "three")
    follow()
    for pid, identifier in [(one, "one"), (three, "three"), (two, "two"), (one, "one")]:
        sway.focus(pid)
        quick.lifectl.wait_for_state(identifier, "active")


def test_what_is_on_the_screen_does_not_sleep_until_its_workspace_is_left(quick, sway, windows, follow):
    windows("one", "two", workspace=1)
    (three,) = windows("three", workspace=2)
    follow()
    quick.lifectl.wait_for_state("three", "active")
    for identifier in ("one", "two"):
        quick.lifectl.wait_for_state(identifier, "suspended")
    sway("workspace 1")
    quick.lifectl.wait_for_state("two", "active")
    quick.lifectl.wait_for_state("one", "background")
    quick.lifectl.wait_for_state("three", "suspended")
    explanation = quick.lifectl("explain", "one").stdout
    assert "a window of it is visible, until that ends" in explanation
    refusal = quick.lifectl("suspend", "one", check=False)
    assert refusal.returncode == 2 and "a window of it is visible" in refusal.stderr
    sway.focus(three)
    quick.lifectl.wait_for_state("three", "active")
    quick.lifectl.wait_for_state("one", "suspended")


def test_nothing_is_kept_awake_where_that_is_not_wanted(quick, sway, windows, follow):
    quick.suspend_soon('visible = "ignore"')
    windows("one", "two")
    follower = follow()
    quick.lifectl.wait_for_state("one", "suspended")
    follower.wait_for('one is visible, and is suspended all the same: lifed.toml says visible = "ignore"')


def test_a_window_that_closes_and_an_empty_workspace(quick, sway, windows, follow):
    one, two = windows("one", "two")
    follow()
    quick.lifectl.wait_for_state("two", "active")
    sway(f"[pid={two}] kill")
    quick.lifectl.wait_for_state("one", "active")
    sway("workspace 7")
    quick.lifectl.wait_for_state("one", "suspended")
    assert quick.lifectl.json("status")["status"]["foreground"] == []
    sway("workspace 1")
    quick.lifectl.wait_for_state("one", "active")


def test_home_comes_where_there_is_nothing(quick, sway, windows, follow):
    (quick.configuration / "apps.d" / "home.toml").write_text('command = ["sleep", "infinity"]\n')
    quick.suspend_soon('homeApp = "home"')
    windows("one")
    follow()
    quick.lifectl.wait_for_state("one", "active")
    sway("workspace 7")
    quick.lifectl.wait_for_state("home", "active")


def test_after_a_burst_the_last_counts(quick, sway, windows, follow):
    pids = dict(zip(("one", "two", "three"), windows("one", "two", "three")))
    follow()
    order = [list(pids)[number % 3] for number in range(50)]
    sway("; ".join(f"[pid={pids[identifier]}] focus" for identifier in order))
    quick.lifectl.wait_for_state(order[-1], "active")
    # Nothing of what was before comes after it.
    for identifier in [*order[:5], "three"]:
        sway.focus(pids[identifier])
    quick.lifectl.wait_for_state("three", "active")


def test_windows_of_nobody_are_left_alone(quick, sway, windows, follow):
    (one,) = windows("one")
    follow()
    quick.lifectl.wait_for_state("one", "active")
    stranger = subprocess.Popen(
        ["foot", "sleep", "infinity"], env={**os.environ, **sway.environment}, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: sway.windows().get(stranger.pid, {}).get("focused"))
        # Beside it, what is in the foreground stays there; it leaves with its workspace.
        assert quick.lifectl.state("one") == "active"
        sway("move container to workspace 2; workspace 2")
        quick.lifectl.wait_for_state("one", "suspended")
        sway.focus(one)
        quick.lifectl.wait_for_state("one", "active")
        assert stranger.poll() is None
        state = open(f"/proc/{stranger.pid}/stat", encoding="utf-8").read().rpartition(")")[2].split()[0]
        assert state != "T"
    finally:
        stranger.kill()
        stranger.wait()


def test_windows_of_nobody_become_apps_where_a_rule_says_so(quick, sway, windows, follow):
    quick.suspend_soon('[[adopt]]\nmatch = "foot"\nid = "terminal"\n')
    (one,) = windows("one")
    foreign = subprocess.Popen(["foot", "sleep", "infinity"], env={**os.environ, **sway.environment})
    try:
        follow()
        wait_for(lambda: foreign.pid in sway.windows(), what="the window of no app")
        quick.lifectl.wait_for_state("terminal", "active")
        assert quick.lifectl.app("terminal")["pid"] == foreign.pid
        sway.focus(one)
        quick.lifectl.wait_for_state("one", "active")
    finally:
        foreign.kill()
        foreign.wait()


def test_window_whose_process_is_adopted_later_is_seen_at_once(quick, sway, windows, follow):
    (one,) = windows("one")
    foreign = subprocess.Popen(["foot", "sleep", "infinity"], env={**os.environ, **sway.environment})
    try:
        follow()
        wait_for(lambda: foreign.pid in sway.windows(), what="the window of no app")
        # Both are known to the follower before the adoption.
        sway.focus(one)
        quick.lifectl.wait_for_state("one", "active")
        sway.focus(foreign.pid)
        wait_for(lambda: not quick.lifectl.json("status")["status"]["foreground"] or quick.lifectl.state("one") == "active")
        quick.lifectl("adopt", str(foreign.pid), "--id", "late", "--background")
        quick.lifectl.wait_for_state("late", "active")
        sway.focus(one)
        quick.lifectl.wait_for_state("one", "active")
        assert "a window of it is visible" in quick.lifectl("explain", "late").stdout
    finally:
        foreign.kill()
        foreign.wait()


def test_a_dry_run_changes_nothing(quick, sway, windows, follow):
    one, two = windows("one", "two")
    follower = follow("--dry-run")
    follower.wait_for(f"would bring two to the foreground (process {two}, ")
    follower.wait_for("would report what is visible: one, two")
    sway.focus(one)
    follower.wait_for(f"would bring one to the foreground (process {one}, ")
    sway("workspace 2")
    follower.wait_for("would go home")
    assert quick.lifectl.state("two") == "active"
    quick.lifectl.wait_for_state("one", "suspended")


def test_sway_may_be_started_again(quick, sway, windows, follow):
    windows("zero", "one")
    follower = follow()
    # A follower that has not heard sway ends with it.
    wait_until_visible(quick, "zero")
    sway.kill()
    follower.wait_for("sway has gone")
    sway.start()
    follower.wait_for("sway is there again")
    (two,) = windows("two")
    (three,) = windows("three")
    sway.focus(two)
    quick.lifectl.wait_for_state("two", "active")
    quick.lifectl.wait_for_state("three", "background")


def test_the_daemon_may_be_killed(quick, sway, windows, follow):
    one, two = windows("one", "two")
    follower = follow()
    quick.lifectl.wait_for_state("two", "active")
    quick.process.send_signal(signal.SIGKILL)
    quick.process.wait()
    follower.wait_for("lifed has gone")
    sway.focus(one)
    quick.start()
    follower.wait_for("lifed is there again")
    quick.lifectl.wait_for_state("one", "active")
    quick.lifectl.wait_for_state("two", "background")
    wait_until_visible(quick, "two")


def test_where_there_is_no_sway_that_is_said(direct, tmp_path):
    environment = {"XDG_RUNTIME_DIR": str(tmp_path), "SWAYSOCK": "", "PATH": os.environ["PATH"]}
    result = subprocess.run(
        [str(direct.products / "lifed-desktop"), "--source", "sway"],
        env={**environment, "LIFED_SOCKET": str(direct.socket)}, capture_output=True, text=True, timeout=60)
    assert result.returncode == UNAVAILABLE and "SWAYSOCK" in result.stderr
