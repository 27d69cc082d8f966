"""Apps that a call on the session bus starts: real dbus-daemons, which launch them as their own children."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from buses import DBusDaemon
from container import wait_for
from desktop import Desktop, WindowReporter
from screens import XServer, need, running

CALLEE = Path(__file__).with_name("callee.py")
APP = "org.example.Test"
OBJECT = ("/org/example/Test", "org.example.Test")
SETTINGS = """
[desktop]
manage = "all"
deny = [{deny}]
[timeouts]
background = "300ms"
launch = "{launch}"
[memory]
reserve = 0
"""
ENTRY = ("DBusActivatable=true",)


class ActivatedDesktop(Desktop):
    """A user's daemon on a bus that finds services in the directories of the desktop."""

    def configure(self, deny="", launch="300ms"):
        (self.configuration / "lifed.toml").write_text(SETTINGS.format(deny=deny, launch=launch))
        assert self.lifectl.json("reload")["problems"] == []

    def activatable(self, name, *command):
        """Writes the file by which the bus starts the owner of a name."""
        file = self.shared / "dbus-1" / "services" / f"{name}.service"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"[D-BUS Service]\nName={name}\nExec={' '.join(map(str, command))}\n")

    def is_stopped(self, pid):
        return self.kernel.is_stopped(pid)


@pytest.fixture
def desktop(direct, tmp_path):
    need("busctl", "dbus-daemon")
    if subprocess.run(["/usr/bin/python3", "-c", "import gi"], capture_output=True).returncode != 0:
        pytest.skip("not installed: python3-gi")
    direct.stop()
    desktop = ActivatedDesktop(direct.products, tmp_path / "desktop")
    desktop.entry(f"{APP}.desktop", *ENTRY)
    desktop.activatable(APP, "/usr/bin/python3", CALLEE, APP, tmp_path / "calls")
    desktop.activatable("org.example.Daemon", "/usr/bin/python3", CALLEE, "org.example.Daemon", tmp_path / "daemon-calls")
    variables = {name: str(desktop.variables[name]) for name in ("XDG_DATA_HOME", "XDG_DATA_DIRS")}
    desktop.bus = DBusDaemon(tmp_path, variables)
    desktop.bus.start()
    desktop.variables["DBUS_SESSION_BUS_ADDRESS"] = desktop.bus.address
    desktop.start()
    desktop.reporter = WindowReporter(desktop.socket)
    desktop.reporter.show()
    desktop.configure()
    yield desktop
    desktop.stop()
    desktop.bus.stop()


def echo(desktop, name=APP):
    reply = desktop.bus.busctl("--timeout=10", "call", name, *OBJECT, "Echo", "s", "hello")
    assert reply.stdout == 's "hello"\n', reply.stderr


def owner(desktop, name=APP):
    """The process that owns a name, without a call to it."""
    reply = desktop.bus.busctl(
        "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", name)
    return int(reply.stdout.split()[1]) if reply.returncode == 0 else None


def test_app_that_the_bus_launches_is_suspended_and_answers(desktop):
    echo(desktop)
    echo(desktop, "org.example.Daemon")
    desktop.lifectl.wait_for_state(APP, "suspended")
    app, pid = desktop.lifectl.app(APP), owner(desktop)
    assert (app["pid"], app["name"]) == (pid, APP) and desktop.is_stopped(pid)
    # Neither the bus, nor a service without an entry.
    assert set(desktop.lifectl.apps()) == {APP}
    assert not desktop.is_stopped(desktop.bus.process.pid) and not desktop.is_stopped(owner(desktop, "org.example.Daemon"))
    echo(desktop)
    desktop.lifectl.wait_for_state(APP, "suspended")
    assert owner(desktop) == pid
    desktop.lifectl("terminate", APP)
    assert desktop.lifectl.state(APP) == "notRunning"
    # The bus launches it anew.
    echo(desktop)
    desktop.lifectl.wait_for_state(APP, "suspended")
    assert desktop.lifectl.pid(APP) == owner(desktop) != pid


def test_owner_of_a_name_that_the_bus_has_not_launched_is_left_alone(desktop, tmp_path):
    log = tmp_path / "own-calls"
    command = ["/usr/bin/python3", CALLEE, APP, log]
    process = subprocess.Popen(command, env={"DBUS_SESSION_BUS_ADDRESS": desktop.bus.address})
    try:
        wait_for(lambda: log.exists() and "ready" in log.read_text(), what="the name is owned")
        # What the daemon hears of the next name comes after what it hears of this one.
        desktop.entry("org.example.Other.desktop", *ENTRY)
        desktop.activatable("org.example.Other", "/usr/bin/python3", CALLEE, "org.example.Other", tmp_path / "other-calls")
        desktop.lifectl("reload")
        echo(desktop, "org.example.Other")
        desktop.lifectl.wait_for_state("org.example.Other", "suspended")
        assert set(desktop.lifectl.apps()) == {"org.example.Other"}
    finally:
        process.kill()
        process.wait()


def test_app_of_the_bus_is_released_by_the_user_and_by_the_settings(desktop):
    echo(desktop)
    desktop.lifectl.wait_for_state(APP, "suspended")
    pid = owner(desktop)
    desktop.configure(deny=f'"{APP}"')
    wait_for(lambda: desktop.lifectl.state(APP) == "notRunning" and not desktop.is_stopped(pid), what="it is denied")
    desktop.configure()
    desktop.lifectl.wait_for_state(APP, "suspended")
    desktop.lifectl("release", APP)
    assert not desktop.is_stopped(pid)
    desktop.lifectl("reload")
    echo(desktop)
    assert desktop.lifectl.state(APP) == "notRunning" and owner(desktop) == pid
    # The next one is managed again.
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: owner(desktop) is None, what="the name is free")
    echo(desktop)
    desktop.lifectl.wait_for_state(APP, "suspended")


def test_app_of_the_bus_is_restored_by_a_later_daemon(desktop):
    desktop.configure(launch="1h")
    echo(desktop)
    desktop.lifectl.wait_for_state(APP, "background")
    desktop.configure()
    desktop.reporter.show(APP)
    desktop.reporter.show()
    desktop.lifectl.wait_for_state(APP, "suspended")
    pid = owner(desktop)
    desktop.process.kill()
    desktop.process.wait()
    desktop.reporter.close()
    desktop.start()
    # Without a client that reports windows it runs, like all apps of the desktop.
    desktop.lifectl.wait_for_state(APP, "background")
    wait_for(lambda: not desktop.is_stopped(pid), what="it runs")
    desktop.reporter = WindowReporter(desktop.socket)
    desktop.reporter.show()
    desktop.lifectl.wait_for_state(APP, "suspended")
    assert desktop.lifectl.pid(APP) == pid
    desktop.configure(deny='"org.example.*"')
    wait_for(lambda: not desktop.is_stopped(pid), what="it is denied")


def test_app_of_the_bus_runs_again_when_the_bus_ends(desktop):
    echo(desktop)
    desktop.lifectl.wait_for_state(APP, "suspended")
    pid = owner(desktop)
    desktop.bus.process.kill()
    # GLib ends a program that loses the session bus.
    wait_for(lambda: not desktop.kernel.exists(pid), what="the app has handled the end of the bus")
    desktop.lifectl.wait_for_state(APP, "notRunning")


def test_real_program_that_the_bus_launches_is_suspended_and_shows_its_window_again(desktop, tmp_path):
    need("gnome-text-editor", "Xvfb", "openbox", "xdotool", "xprop")
    name = "org.gnome.TextEditor"
    with running(XServer(tmp_path)) as screen:
        # As dbus-update-activation-environment(1) does.
        variables = {**screen.environment, "GDK_BACKEND": "x11", "GTK_A11Y": "none", "GSK_RENDERER": "cairo"}
        pairs = [word for pair in variables.items() for word in pair]
        desktop.bus.busctl(
            "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "UpdateActivationEnvironment",
            "a{ss}", str(len(variables)), *pairs)

        def activate():
            result = desktop.bus.busctl(
                "--timeout=60", "call", name, "/org/gnome/TextEditor", "org.freedesktop.Application", "Activate",
                "a{sv}", "0", timeout=90)
            assert result.returncode == 0, result.stderr

        desktop.configure(launch="1h")
        activate()
        desktop.lifectl.wait_for_state(name, "background")
        pid = desktop.lifectl.pid(name)
        wait_for(lambda: screen.window(pid), what="its window")
        desktop.reporter.show(name)
        desktop.reporter.show()
        desktop.lifectl.wait_for_state(name, "suspended")
        assert desktop.is_stopped(pid)
        # A second launch is a call, too, which is answered.
        activate()
        desktop.reporter.call("Focus", id=name)
        assert desktop.lifectl.state(name) == "active" and desktop.lifectl.pid(name) == pid
        desktop.lifectl("terminate", name)
        wait_for(lambda: screen.window(pid) is None, what="its window is gone")
