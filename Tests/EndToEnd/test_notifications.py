"""The user learns of an app that lifed has ended: a real bus, and dunst on a headless X server."""

import json
import os
import subprocess

import pytest

from container import wait_for
from faults import killed_at
from screens import XServer, need


class Dunst:
    def __init__(self, directory):
        self.directory = directory
        self.screen = XServer(directory)
        self.processes = []

    def start(self):
        self.screen.start()
        bus = self._spawn("dbus-daemon", "--session", "--nofork", f"--address=unix:path={self.directory}/bus", "--print-address=1")
        self.address = bus.stdout.readline().decode().strip()
        self._spawn("dunst")
        wait_for(lambda: self.control("count").returncode == 0, what="dunst")

    @property
    def environment(self):
        address = {"DBUS_SESSION_BUS_ADDRESS": self.address} if hasattr(self, "address") else {}
        return {**os.environ, **self.screen.environment, **address, "HOME": str(self.directory)}

    def _spawn(self, *command):
        with open(self.directory / "notifications-log", "ab") as log:
            self.processes.append(
                subprocess.Popen(
                    command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log))
        return self.processes[-1]

    def control(self, *words):
        return subprocess.run(["dunstctl", *words], env=self.environment, capture_output=True, text=True, timeout=20)

    @property
    def displayed(self):
        return int(self.control("count", "displayed").stdout or 0)

    def close_all(self):
        """Closes the notifications, and returns them, the newest first."""
        self.control("close-all")
        wait_for(lambda: self.displayed == 0)
        entries = json.loads(self.control("history").stdout)["data"][0]
        return [(entry["summary"]["data"], entry["body"]["data"]) for entry in entries]

    def stop(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        self.screen.stop()


@pytest.fixture
def dunst(tmp_path, monkeypatch):
    need("dbus-daemon", "dunst", "dunstctl", "Xvfb", "openbox")
    session = Dunst(tmp_path)
    try:
        session.start()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", session.address)
        yield session
    finally:
        session.stop()


@pytest.fixture
def apps(dunst, desktop):
    for name in ("clock", "maps"):
        (desktop.configuration / "apps.d" / f"{name}.toml").write_text(
            f'command = ["sleep", "infinity"]\nname = "{name.title()} <b>"\n')
    (desktop.configuration / "lifed.toml").write_text("[timeouts]\nbackground = '0s'\n")
    desktop.lifectl("reload")
    for name in ("clock", "maps"):
        desktop.lifectl("launch", name)
    desktop.lifectl.wait_for_state("clock", "suspended")
    return desktop


def test_app_that_was_ended_for_its_memory_can_be_opened_again(apps, dunst):
    apps.lifectl("simulate", "memory", "critical")
    wait_for(lambda: dunst.displayed == 1)
    dunst.control("action")
    apps.lifectl.wait_for_state("clock", "active")
    assert dunst.close_all()[0] == ("Clock <b> was closed", "The machine was short of memory.")


def test_each_app_has_one_notification_and_other_ends_have_none(apps, dunst):
    for _ in range(2):
        apps.lifectl("simulate", "memory", "critical")
        wait_for(lambda: dunst.displayed == 1)
        apps.lifectl("launch", "clock", "--background")
        apps.lifectl.wait_for_state("clock", "suspended")
    apps.lifectl("terminate", "clock")
    apps.lifectl("launch", "clock")
    apps.lifectl.wait_for_state("maps", "suspended")
    apps.lifectl("simulate", "memory", "critical")
    wait_for(lambda: dunst.displayed == 2)


def test_there_are_none_if_the_user_wants_none(apps, dunst):
    (apps.configuration / "lifed.toml").write_text("[desktop]\nnotifications = false\n[timeouts]\nbackground = '0s'\n")
    apps.lifectl("reload")
    apps.lifectl("simulate", "memory", "critical")
    (apps.configuration / "lifed.toml").write_text("[timeouts]\nbackground = '0s'\n")
    apps.lifectl("reload")
    apps.lifectl("launch", "clock")
    apps.lifectl.wait_for_state("maps", "suspended")
    apps.lifectl("simulate", "memory", "critical")
    wait_for(lambda: dunst.displayed == 1)
    assert [summary for summary, _ in dunst.close_all()] == ["Maps <b> was closed"]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_daemon_that_is_killed_as_it_notifies_is_followed_by_one_that_notifies(apps, dunst, number):
    # The bus is called as soon as the app has ended.
    with killed_at(apps, "sendmsg", number=number):
        apps.lifectl("simulate", "memory", "critical", check=False)
    assert apps.lifectl.state("clock") == "notRunning" and apps.lifectl.state("maps") == "active"
    assert dunst.displayed <= 1
    dunst.close_all()
    apps.lifectl("launch", "clock", "--background")
    apps.lifectl.wait_for_state("clock", "suspended")
    apps.lifectl("simulate", "memory", "critical")
    wait_for(lambda: dunst.displayed == 1)
