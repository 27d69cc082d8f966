"""Focus follows Wayland compositors by their protocols: real ones, without a screen, with real windows."""

import contextlib
import os
import signal
import subprocess

import pytest

from container import wait_for
from screens import DiscreetKWin, KWin, Phoc, followers, need, running
from wayland import FakeCompositor, ForeignToplevels, event, uint

UNAVAILABLE = 69


@pytest.fixture
def quick(direct):
    """Apps in the background sleep after a moment."""
    if not (direct.products / "lifed-desktop").exists():
        pytest.skip("lifed-desktop was not built: headers are missing")
    direct.suspend_soon()
    return direct


@pytest.fixture
def phoc(tmp_path):
    need("phoc", "foot")
    with running(Phoc(tmp_path)) as screen:
        yield screen


@pytest.fixture
def kwin(tmp_path):
    need("kwin_wayland", "dbus-run-session", "gtk4-demo")
    with running(KWin(tmp_path)) as screen:
        yield screen


@pytest.fixture(params=["sway", "phoc"])
def screen(request):
    """A compositor with wlroots' protocol. sway's own socket is not used."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def panel(screen):
    with contextlib.closing(ForeignToplevels(screen.runtime, screen.display)) as panel:
        yield panel


def environment_of(screen):
    """The environment of a session, in which sway is a compositor as any other."""
    return {**screen.environment, "SWAYSOCK": "", "DISPLAY": ""}


@pytest.fixture
def follow(quick, screen, tmp_path):
    with followers(quick, "wayland", tmp_path, environment_of(screen)) as start:
        yield start


def start_window(quick, screen, identifier, *command):
    variables = [f"{name}={value}" for name, value in screen.environment.items()]
    return quick.lifectl.start(identifier, "env", *variables, *command)


@pytest.fixture
def windows(quick, screen, panel):
    """Opens windows, each of an app, whose id is its app id."""

    def open_window(*identifiers):
        for identifier in identifiers:
            start_window(quick, screen, identifier, "foot", "--app-id", identifier, "sleep", "infinity")
            wait_for(lambda: identifier in panel.names(), what=f"a window of {identifier}")

    return open_window


def test_what_has_the_focus_is_in_front_and_what_closes_gives_it_back(quick, panel, windows, follow):
    windows("one", "two", "three")
    follow()
    for identifier in ("one", "three", "two", "one"):
        panel.activate(identifier)
        quick.lifectl.wait_for_state(identifier, "active")
    panel.close_window("one")
    wait_for(lambda: any(quick.lifectl.state(identifier) == "active" for identifier in ("two", "three")))


def test_what_is_covered_sleeps(quick, screen, panel, windows, follow):
    windows("one", "two")
    follow()
    panel.activate("one")
    quick.lifectl.wait_for_state("one", "active")
    if isinstance(screen, Phoc):
        # Without further ado each window is maximised: this is a compositor for phones.
        quick.lifectl.wait_for_state("two", "suspended")
        return
    wait_for(lambda: "is visible" in quick.lifectl("explain", "two").stdout)
    panel.fullscreen("one")
    quick.lifectl.wait_for_state("two", "suspended")
    panel.fullscreen("one", False)
    quick.lifectl.wait_for_state("two", "background")


def test_a_burst_ends_at_the_last(quick, panel, windows, follow):
    windows("one", "two", "three")
    follow()
    for number in range(30):
        panel.activate(("one", "two", "three")[number % 3])
    wait_for(lambda: [each for each in ("one", "two", "three") if quick.lifectl.state(each) == "active"] == ["three"])


def test_an_app_id_finds_an_instance_and_the_entry_but_adopts_nothing(quick, screen, panel, windows, follow, tmp_path):
    (quick.configuration / "lifed.toml").write_text('[[adopt]]\nmatch = "foot"\nid = "terminal"\n')
    quick.lifectl("reload")
    start_window(quick, screen, "org.example.Mail-2", "foot", "--app-id", "org.example.mail", "sleep", "infinity")
    wait_for(lambda: "org.example.mail" in panel.names())
    windows("one")
    environment = {**os.environ, **screen.environment}
    stranger = subprocess.Popen(["foot", "--app-id", "stranger", "sleep", "infinity"], env=environment)
    try:
        wait_for(lambda: "stranger" in panel.names())
        follower = follow()
        panel.activate("org.example.mail")
        quick.lifectl.wait_for_state("org.example.Mail-2", "active")
        panel.activate("stranger")
        panel.activate("one")
        quick.lifectl.wait_for_state("one", "active")
        assert set(quick.lifectl.apps()) == {"one", "org.example.Mail-2"}
        assert follower.process.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_the_source_is_found_and_waited_for(quick, screen, panel, windows, tmp_path):
    """Without a source, and through the end of the compositor and of the daemon."""
    # A follower would report the first window while the second app is launched, which supersedes the launch.
    windows("one", "two")
    with followers(quick, None, tmp_path, environment_of(screen)) as start:
        follower = start()
        panel.activate("one")
        quick.lifectl.wait_for_state("one", "active")
        quick.process.send_signal(signal.SIGKILL)
        quick.process.wait()
        follower.wait_for("lifed has gone")
        quick.start()
        follower.wait_for("lifed is there again")
        panel.activate("two")
        quick.lifectl.wait_for_state("two", "active")
        screen.kill()
        follower.wait_for("the Wayland compositor has gone")
        screen.start()
        follower.wait_for("the Wayland compositor is there again")


def test_a_source_that_tells_nothing_leads_to_the_next(quick, sway, tmp_path):
    """A socket of sway that is left over from another session."""
    environment = {**sway.environment, "SWAYSOCK": str(tmp_path / "gone"), "DISPLAY": "", "XDG_RUNTIME_DIR": str(sway.runtime)}
    sway.socket.rename(sway.runtime / "hidden")
    with followers(quick, None, tmp_path, environment) as start:
        start("--dry-run").wait_for("would report what is visible: nothing")


def test_a_compositor_without_the_protocols_is_said(quick, tmp_path):
    """The X server beside it is its Xwayland, and is not followed in its place."""
    with contextlib.closing(FakeCompositor(tmp_path / "screen")):
        result = quick.run(
            ["env", f"WAYLAND_DISPLAY={tmp_path / 'screen'}", "SWAYSOCK=", "DISPLAY=:0", str(quick.products / "lifed-desktop")],
            check=False)
    assert result.returncode == UNAVAILABLE
    assert "offers neither zwlr_foreign_toplevel_manager_v1 nor org_kde_plasma_window_management" in result.stderr
    assert "name another source" in result.stderr


def bytes_text(data):
    return uint(len(data) + 1) + data + bytes(4 - len(data) % 4)


def crowd(manager, count):
    """Many windows with texts of any bytes; some close, and are spoken of all the same."""
    sent = []
    for number in range(0xFF000000, 0xFF000000 + count):
        title = bytes(1 + (number + each) % 255 for each in range(number % 3000))
        sent += [
            event(manager, 0, uint(number)), event(number, 0, bytes_text(title)), event(number, 1, bytes_text(title[:300])),
            event(number, 4, uint(8) + uint(2) + uint(4711)), event(number, 2, uint(0)), event(number, 5),
        ]
        if number % 5 == 0:
            sent += [event(number, 6), event(number, 5), event(number, 7, uint(number))]
    return b"".join(sent)


def test_a_crowd_of_windows_with_any_texts_is_followed(quick, tmp_path):
    screen = FakeCompositor(tmp_path / "screen", "zwlr_foreign_toplevel_manager_v1", lambda manager: crowd(manager, 5000))
    with contextlib.closing(screen):
        environment = {"WAYLAND_DISPLAY": str(tmp_path / "screen")}
        with followers(quick, "wayland", tmp_path, environment) as start:
            follower = start("--dry-run")
            # The fake does not say which output it means, so no window is visible.
            follower.wait_for("would report what is visible: nothing")
            assert quick.kernel.own_memory(follower.process.pid) < 100_000


@pytest.mark.parametrize(
    "speak",
    [
        lambda _: b"\0" * 64, lambda _: b"\xff" * 64, lambda manager: event(manager, 40), lambda manager: event(manager, 0, uint(7)),
        lambda _: event(1, 0, uint(3) + uint(1) + uint(5) + b"bad!\0\0\0\0"),
    ],
    ids=["zeros", "ones", "event", "object", "error"],
)
def test_a_compositor_that_talks_nonsense_is_an_end(quick, tmp_path, speak):
    screen = FakeCompositor(tmp_path / "screen", "zwlr_foreign_toplevel_manager_v1", speak)
    with contextlib.closing(screen):
        result = quick.run(
            ["env", f"WAYLAND_DISPLAY={tmp_path / 'screen'}", str(quick.products / "lifed-desktop"), "--source", "wayland"],
            check=False)
    assert result.returncode == UNAVAILABLE and "cannot follow wayland: the" in result.stderr, result.stderr


def test_where_there_is_no_screen_that_is_said(direct):
    names = ("SWAYSOCK", "WAYLAND_DISPLAY", "DISPLAY")
    result = direct.run(
        ["env", *(f"{name}=" for name in names), str(direct.products / "lifed-desktop")], check=False)
    assert result.returncode == UNAVAILABLE
    assert "none of SWAYSOCK, WAYLAND_DISPLAY and DISPLAY is set" in result.stderr


# KWin


@pytest.fixture
def plasma(quick, kwin):
    with contextlib.closing(kwin.panel()) as panel:
        yield panel


@pytest.fixture
def plasma_windows(quick, kwin, plasma):
    def open_window(*identifiers):
        pids = []
        for identifier in identifiers:
            pids.append(start_window(quick, kwin, identifier, "gtk4-demo"))
            # KWin tells of a window before it gives it the focus.
            wait_for(lambda: plasma.is_active(pids[-1]), what=f"a window of {identifier}")
        return pids

    return open_window


def test_kwin_tells_focus_cover_minimised_windows_and_desktops(quick, kwin, plasma, plasma_windows, tmp_path):
    one, two = plasma_windows("one", "two")
    with followers(quick, None, tmp_path, environment_of(kwin)) as start:
        start()
        for pid, identifier in [(one, "one"), (two, "two"), (one, "one")]:
            plasma.activate(pid)
            quick.lifectl.wait_for_state(identifier, "active")
        quick.lifectl.wait_for_state("two", "background")
        wait_for(lambda: "is visible" in quick.lifectl("explain", "two").stdout)
        plasma.set_state(one, plasma.MAXIMIZED)
        quick.lifectl.wait_for_state("two", "suspended")
        plasma.set_state(one, plasma.MAXIMIZED, False)
        quick.lifectl.wait_for_state("two", "background")
        plasma.set_state(two, plasma.MINIMIZED)
        quick.lifectl.wait_for_state("two", "suspended")
        assert quick.lifectl.state("one") == "active"
        plasma.add_desktop()
        plasma.show_desktop(1)
        quick.lifectl.wait_for_state("one", "suspended")
        plasma.show_desktop(0)
        quick.lifectl.wait_for_state("one", "active")


@pytest.mark.parametrize("is_admitted", [True, False])
def test_kwin_tells_its_windows_to_the_installed_program(quick, is_admitted, tmp_path):
    need("kwin_wayland", "dbus-run-session", "gtk4-demo")
    screen = DiscreetKWin(tmp_path)
    if is_admitted:
        screen.admit((quick.products / "lifed-desktop").resolve())
    with running(screen), followers(quick, "wayland", tmp_path, environment_of(screen)) as start:
        follower = start("--dry-run")
        if is_admitted:
            start_window(quick, screen, "one", "gtk4-demo")
            follower.wait_for("would bring one to the foreground")
        else:
            follower.wait_for("offers neither")


def test_a_rule_adopts_no_process_by_the_word_of_kwin(quick, kwin, plasma, plasma_windows, tmp_path):
    """For an X11 window, KWin passes on what the window says."""
    (quick.configuration / "lifed.toml").write_text('[[adopt]]\nmatch = "gtk4-widget-factory"\nid = "stranger"\n')
    quick.lifectl("reload")
    (one,) = plasma_windows("one")
    stranger = subprocess.Popen(["gtk4-widget-factory"], env={**os.environ, **kwin.environment}, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: plasma.is_active(stranger.pid))
        with followers(quick, "wayland", tmp_path, environment_of(kwin)) as start:
            start()
            plasma.activate(stranger.pid)
            plasma.activate(one)
            quick.lifectl.wait_for_state("one", "active")
        assert set(quick.lifectl.apps()) == {"one"}
    finally:
        stranger.kill()
        stranger.wait()
