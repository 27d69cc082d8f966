"""Focus and use follow GNOME Shell: a real one, without a screen, with real windows, by its extension."""

import os
import shutil
import signal
import subprocess

import pytest

from container import wait_for
from screens import Follower, followers

UNAVAILABLE = 69


@pytest.fixture
def quick(direct):
    """Apps in the background are suspended after a moment."""
    if not (direct.products / "lifed-desktop").exists():
        pytest.skip("lifed-desktop was not built: libwayland or libxcb is missing")
    direct.suspend_soon()
    return direct


@pytest.fixture
def follow(quick, gnome, tmp_path):
    with followers(quick, "gnome", tmp_path, gnome.environment) as start:
        yield start
    assert not gnome.complaints(), gnome.logged


@pytest.fixture
def windows(quick, gnome):
    """Opens windows: apps, each a terminal of its own, one beside the other."""
    places = [20, 440, 860]

    def open_windows(*identifiers, program=("foot", "-w", "400x400", "sleep", "infinity")):
        pids = []
        for identifier, place in zip(identifiers, places):
            variables = [f"{name}={value}" for name, value in gnome.environment.items()]
            pid = quick.lifectl.start(identifier, "env", *variables, *program)
            wait_for(lambda: gnome.focused() == pid, what=f"a window of {identifier}")
            gnome.to_window(pid, f"w.move_frame(true, {place}, 100)")
            pids.append(pid)
        return pids

    return open_windows


@pytest.fixture
def stranger(gnome):
    """A window of no app."""
    process = subprocess.Popen(
        ["foot", "-w", "200x100", "sleep", "infinity"], env={**os.environ, **gnome.environment}, stderr=subprocess.DEVNULL)
    wait_for(lambda: gnome.focused() == process.pid, what="a window of no app")
    gnome.to_window(process.pid, "w.move_frame(true, 500, 550)")
    yield process
    process.kill()
    process.wait()


def test_focused_window_is_in_the_foreground(quick, gnome, windows, follow):
    one, two, three = windows("one", "two", "three")
    follow()
    for pid, identifier in [(one, "one"), (three, "three"), (two, "two"), (one, "one")]:
        gnome.focus(pid)
        quick.lifectl.wait_for_state(identifier, "active")
    os.kill(one, signal.SIGKILL)
    wait_for(lambda: "active" in (quick.lifectl.state("two"), quick.lifectl.state("three")))


def test_source_is_found_by_the_name_of_the_extension(quick, gnome, windows, tmp_path):
    (one, _) = windows("one", "two")
    follower = Follower(quick, None, environment=gnome.environment, log=tmp_path / "follow")
    try:
        gnome.focus(one)
        quick.lifectl.wait_for_state("one", "active")
        quick.lifectl.wait_for_state("two", "background")
        wait_for(lambda: "is visible" in quick.lifectl("explain", "two").stdout)
    finally:
        follower.stop()


def test_minimised_window_and_window_on_another_workspace_are_suspended(quick, gnome, windows, follow):
    one, two, three = windows("one", "two", "three")
    follow()
    quick.lifectl.wait_for_state("three", "active")
    wait_for(lambda: all("is visible" in quick.lifectl("explain", each).stdout for each in ("one", "two")))
    gnome.to_window(one, "w.minimize()")
    gnome.to_window(two, "w.change_workspace_by_index(1, false)")
    for identifier in ("one", "two"):
        quick.lifectl.wait_for_state(identifier, "suspended")
    gnome.switch_workspace(1)
    gnome.focus(two)
    quick.lifectl.wait_for_state("two", "active")
    quick.lifectl.wait_for_state("three", "suspended")
    gnome.focus(one)
    quick.lifectl.wait_for_state("one", "active")


def test_window_behind_a_maximised_window_is_suspended(quick, gnome, windows, follow):
    _, two = windows("one", "two")
    follow()
    gnome.to_window(two, "w.maximize(imports.gi.Meta.MaximizeFlags.BOTH)")
    quick.lifectl.wait_for_state("one", "suspended")
    gnome.to_window(two, "w.unmaximize(imports.gi.Meta.MaximizeFlags.BOTH)")
    quick.lifectl.wait_for_state("one", "background")


def test_suspended_app_is_resumed_when_the_pointer_enters_its_window_before_a_dialog_comes(
    quick, gnome, windows, stranger, follow
):
    quick.suspend_soon('visible = "ignore"')
    one, two = windows("one", "two")
    gnome.point_at_nothing()
    follow()
    gnome.focus(two)
    quick.lifectl.wait_for_state("one", "suspended")
    assert quick.kernel.is_stopped(one)
    for pid in (one, stranger.pid):
        gnome.count_dialogs(pid)

    gnome.point_at(one)
    quick.lifectl.wait_for_state("one", "background")
    assert not quick.kernel.is_stopped(one)
    assert "the pointer is over a window of it" in quick.lifectl("explain", "one").stdout

    # The dialog of a window that stays stopped shows that one for the other would have come by now.
    os.kill(stranger.pid, signal.SIGSTOP)
    gnome.point_at(stranger.pid)
    quick.lifectl.wait_for_state("one", "suspended")
    wait_for(lambda: gnome.dialogs_of(stranger.pid) == 1)
    assert gnome.dialogs_of(one) == 0
    os.kill(stranger.pid, signal.SIGCONT)
    wait_for(lambda: gnome.dialogs() == 0)


def test_gtk_app_answers_again_after_the_pointer_has_entered_it(quick, gnome, windows, follow):
    if not shutil.which("gtk4-demo"):
        pytest.skip("not installed: gtk4-demo")
    quick.suspend_soon('visible = "ignore"')
    (one,) = windows("one", program=("gtk4-demo", "--run=entry_undo"))
    (two,) = windows("two")
    gnome.to_window(one, "w.move_frame(true, 700, 100)")
    gnome.point_at_nothing()
    follow()
    for _ in range(3):
        gnome.focus(two)
        gnome.point_at_nothing()
        quick.lifectl.wait_for_state("one", "suspended")
        gnome.point_at(one)
        quick.lifectl.wait_for_state("one", "background")
    gnome.focus(one)
    quick.lifectl.wait_for_state("one", "active")
    assert gnome.dialogs() == 0


def test_extension_may_be_disabled_and_enabled(quick, gnome, windows, follow):
    one, two = windows("one", "two")
    follower = follow()
    quick.lifectl.wait_for_state("two", "active")
    quick.lifectl.wait_for_state("one", "background")
    gnome.set_extension(False)
    quick.lifectl.wait_for_state("one", "suspended")
    assert quick.lifectl.state("two") == "active"
    gnome.set_extension(True)
    quick.lifectl.wait_for_state("one", "background")
    gnome.focus(one)
    quick.lifectl.wait_for_state("one", "active")
    assert follower.process.poll() is None


def test_locked_screen_leaves_the_foreground_and_suspends_what_was_visible(quick, gnome, windows, follow):
    windows("one", "two")
    follow()
    quick.lifectl.wait_for_state("two", "active")
    gnome.eval("Main.sessionMode.pushMode('unlock-dialog')")
    quick.lifectl.wait_for_state("one", "suspended")
    assert quick.lifectl.state("two") == "active"
    gnome.eval("Main.sessionMode.popMode('unlock-dialog')")
    quick.lifectl.wait_for_state("one", "background")


def test_follower_does_not_run_while_the_pointer_moves_within_a_window(quick, gnome, windows, follow):
    quick.suspend_soon('visible = "ignore"')
    one, two = windows("one", "two")
    follower = follow()
    gnome.point_at(one)
    wait_for(lambda: "the pointer is over a window of it" in quick.lifectl("explain", "one").stdout)

    def switches():
        text = open(f"/proc/{follower.process.pid}/status").read()
        return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("voluntary_ctxt"))

    x, y, _, _ = gnome.frame(one)
    before = switches()
    for step in range(10):
        gnome.move_pointer(x + 50 + 20 * step, y + 100)
    assert switches() == before
    gnome.point_at(two)
    wait_for(lambda: switches() > before)


def test_missing_extension_is_told_with_the_remedy(quick, gnome):
    gnome.set_extension(False)
    result = quick.run(
        ["env", *(f"{name}={value}" for name, value in gnome.environment.items()), str(quick.products / "lifed-desktop"),
         "--source", "gnome"],
        check=False)
    assert result.returncode == UNAVAILABLE
    assert "cannot follow gnome: the extension lifed@org.lifed of GNOME Shell is not enabled" in result.stderr
    assert "gnome-extensions enable lifed@org.lifed" in result.stderr
