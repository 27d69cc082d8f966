"""The extension for GNOME Shell says which windows there are: in a real shell, without a screen, with real windows."""

import os
import signal
import subprocess

import pytest

from container import wait_for


@pytest.fixture
def windows(gnome):
    """Opens windows, each of a terminal of its own, and returns their processes."""
    started = []

    def open_windows(count):
        for _ in range(count):
            process = subprocess.Popen(
                ["foot", "sleep", "infinity"], env={**os.environ, **gnome.environment}, stderr=subprocess.DEVNULL)
            started.append(process)
            wait_for(lambda: gnome.focused() == process.pid, what="the focus at the new window")
        return [process.pid for process in started[-count:]]

    yield open_windows
    for process in started:
        process.kill()
        process.wait()
    assert not gnome.complaints(), gnome.logged


@pytest.fixture
def changes(gnome, tmp_path):
    """Records the signal of the extension, and returns a function that returns the number of signals so far."""
    output = tmp_path / "signals"
    match = "type='signal',interface='org.lifed.Windows1'"
    with open(output, "wb") as file:
        monitor = subprocess.Popen(
            ["busctl", f"--address=unix:path={gnome.runtime / 'bus'}", "--json=short", "monitor", f"--match={match}"],
            stdout=file, stderr=subprocess.DEVNULL)

    def count():
        return sum('"Changed"' in line for line in output.read_text().splitlines())

    # A signal of the test's own shows that the monitor listens.
    def listens():
        subprocess.run(
            ["busctl", f"--address=unix:path={gnome.runtime / 'bus'}", "emit", "/test", "org.lifed.Windows1", "Probe"], check=True)
        return '"Probe"' in output.read_text()

    wait_for(listens)
    yield count
    monitor.kill()
    monitor.wait()


def visibilities(gnome, *pids):
    windows = gnome.windows()
    return [windows[pid]["visibility"] for pid in pids]


def test_windows_are_listed_with_process_app_and_title(gnome, windows):
    one, two = windows(2)
    listed = gnome.windows()
    assert set(listed) == {one, two}
    assert [listed[pid]["app"] for pid in (one, two)] == ["foot", "foot"]
    assert all(listed[pid]["title"] for pid in (one, two))
    assert [listed[pid]["visibility"] for pid in (one, two)] == ["visible"] * 2


def test_focus_is_that_of_the_shell(gnome, windows):
    one, two = windows(2)
    for pid in (one, two, one):
        gnome.focus(pid)
        wait_for(lambda: gnome.focused() == pid)
    for pid in (one, two):
        gnome.to_window(pid, "w.minimize()")
    wait_for(lambda: gnome.focus_and_windows()[0] == 0)


def test_minimised_window_is_not_visible(gnome, windows, changes):
    (one,) = windows(1)
    before = changes()
    gnome.to_window(one, "w.minimize()")
    wait_for(lambda: changes() > before)
    assert visibilities(gnome, one) == ["minimized"]
    gnome.focus(one)
    wait_for(lambda: visibilities(gnome, one) == ["visible"])


def test_window_on_another_workspace_is_not_visible(gnome, windows, changes):
    one, two = windows(2)
    before = changes()
    gnome.to_window(two, "w.change_workspace_by_index(1, false)")
    wait_for(lambda: changes() > before)
    wait_for(lambda: visibilities(gnome, one, two) == ["visible", "workspace"])
    gnome.switch_workspace(1)
    wait_for(lambda: visibilities(gnome, one, two) == ["workspace", "visible"])
    gnome.to_window(one, "w.stick()")
    wait_for(lambda: visibilities(gnome, one, two) == ["visible"] * 2)


@pytest.mark.parametrize("fill", ["w.maximize(imports.gi.Meta.MaximizeFlags.BOTH)", "w.make_fullscreen()"])
def test_window_below_a_window_that_fills_the_screen_is_not_visible(gnome, windows, changes, fill):
    one, two = windows(2)
    before = changes()
    gnome.to_window(two, fill)
    wait_for(lambda: visibilities(gnome, one, two) == ["covered", "visible"])
    wait_for(lambda: changes() > before)
    gnome.focus(one)
    wait_for(lambda: visibilities(gnome, one, two) == ["visible"] * 2)


def test_no_window_is_visible_while_the_screen_is_locked(gnome, windows):
    (one,) = windows(1)
    gnome.eval("Main.sessionMode.pushMode('unlock-dialog')")
    wait_for(lambda: gnome.focus_and_windows()[0] == -1)
    assert visibilities(gnome, one) == ["hidden"]
    gnome.eval("Main.sessionMode.popMode('unlock-dialog')")
    wait_for(lambda: visibilities(gnome, one) == ["visible"])
    wait_for(lambda: gnome.focused() == one)


def test_pointer_that_enters_a_window_is_signalled(gnome, windows, changes):
    one, two = windows(2)
    gnome.to_window(one, "w.move_frame(true, 0, 100)")
    gnome.to_window(two, "w.move_frame(true, 700, 100)")
    gnome.point_at_nothing()
    wait_for(lambda: not any(window["pointed"] for window in gnome.windows().values()))
    for pid in (one, two, one):
        before = changes()
        gnome.point_at(pid)
        wait_for(lambda: changes() > before)
        wait_for(lambda: [p for p, window in gnome.windows().items() if window["pointed"]] == [pid])
    before = changes()
    gnome.point_at_nothing()
    wait_for(lambda: changes() > before)


def test_window_that_opens_under_the_pointer_has_it(gnome, windows):
    gnome.move_pointer(640, 400)
    (one,) = windows(1)
    wait_for(lambda: gnome.windows()[one]["pointed"])


def test_nothing_is_signalled_while_the_pointer_moves_within_a_window(gnome, windows, changes):
    (one,) = windows(1)
    x, y, _, _ = gnome.frame(one)
    gnome.point_at(one)
    wait_for(lambda: gnome.windows()[one]["pointed"])
    before = changes()
    for step in range(5):
        gnome.move_pointer(x + 100 + 20 * step, y + 100)
    gnome.point_at_nothing()
    wait_for(lambda: changes() > before)
    assert changes() == before + 1


def test_nothing_is_signalled_while_only_a_title_changes(gnome, windows, changes):
    gnome.point_at_nothing()
    child = subprocess.Popen(
        ["foot", "sh", "-c", "while printf '\\033]0;%s\\007' $((i += 1)); do sleep 0.01; done"],
        env={**os.environ, **gnome.environment}, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: gnome.focused() == child.pid)
        title = gnome.windows()[child.pid]["title"]
        before = changes()
        wait_for(lambda: gnome.windows()[child.pid]["title"] != title)
        gnome.point_at(child.pid)
        wait_for(lambda: changes() > before)
        assert changes() == before + 1
    finally:
        child.kill()
        child.wait()


def test_disabled_extension_leaves_the_bus_and_comes_back(gnome, windows):
    (one,) = windows(1)
    for _ in range(2):
        gnome.set_extension(False)
        gnome.set_extension(True)
    wait_for(lambda: gnome.focused() == one)
    (two,) = windows(1)
    assert set(gnome.windows()) == {one, two}


def test_shell_shows_a_dialog_for_a_stopped_window_under_the_pointer(gnome, windows):
    """The reason why the extension says where the pointer is."""
    (one,) = windows(1)
    gnome.point_at_nothing()
    os.kill(one, signal.SIGSTOP)
    gnome.point_at(one)
    wait_for(lambda: gnome.dialogs() == 1)
    os.kill(one, signal.SIGCONT)
    wait_for(lambda: gnome.dialogs() == 0)
