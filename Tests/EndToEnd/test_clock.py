"""Significant time changes, from the machine's clock to the apps."""

import os
import time

import pytest

from container import wait_for
from listeners import Listeners
from test_machine import logind  # noqa: F401

NOTES = "/run/lifed-test/notes"


@pytest.fixture
def clock(container, lifed, logind):  # noqa: F811
    """An app of the installed service; the verbs that it has been told, and a machine in UTC."""
    container.run(["install", "-d", "-m", "777", os.path.dirname(NOTES)])
    container.run(["ln", "-sf", "/usr/share/zoneinfo/Etc/UTC", "/etc/localtime"])
    lifed.manifest("clock", ["python3", "/lifed-source/Tests/EndToEnd/listener.py", NOTES])
    lifed.lifectl("reload")
    lifed.lifectl("launch", "clock")

    def told():
        notes = container.run(["cat", NOTES], check=False).stdout.splitlines()
        return [words[3] for words in map(str.split, notes) if words[2:3] == ["told"]]

    wait_for(lambda: "did-become-active" in told())
    yield told
    container.run(["ln", "-sf", "/usr/share/zoneinfo/Etc/UTC", "/etc/localtime"])
    container.run(["rm", "-rf", os.path.dirname(NOTES)])


def test_another_time_zone_is_told_to_the_apps(container, clock):
    container.run(["ln", "-sf", "/usr/share/zoneinfo/Asia/Tokyo", "/etc/localtime"])
    wait_for(lambda: clock().count("significant-time-change") == 1, what="the change is told")


def test_a_time_zone_that_timedatectl_sets_is_told_to_the_apps(container, clock):
    result = container.run(["timedatectl", "set-timezone", "Asia/Tokyo"], check=False)
    if result.returncode != 0:
        pytest.skip(f"timedated does not work in this container: {result.stderr.strip()}")
    wait_for(lambda: clock().count("significant-time-change") == 1, what="the change is told")


def test_a_clock_that_is_set_is_told_to_the_apps(direct, tmp_path):
    if not os.environ.get("LIFED_SET_CLOCK"):
        pytest.skip("the machine's clock is everybody's: LIFED_SET_CLOCK=1 lets this test step it by a second and back")
    listeners = Listeners(direct, tmp_path / "notes")
    listeners.run("clock")
    try:
        step(1)
    except PermissionError as reason:
        pytest.skip(f"this machine's clock cannot be set: {reason}")
    try:
        listeners.wait_until_told("clock", "significant-time-change")
    finally:
        step(-1)
    listeners.wait_until_told("clock", "significant-time-change", 2)


def step(seconds):
    time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME) + seconds)
