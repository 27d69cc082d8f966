"""Significant time changes, from the machine's clock to the apps."""

import os
import time

import pytest

from listeners import Listeners

UTC = ["ln", "-sf", "/usr/share/zoneinfo/Etc/UTC", "/etc/localtime"]


@pytest.fixture
def told(container, logind, service_listeners):  # noqa: F811
    """Waits until an app of the installed service, on a machine in UTC, is told of a change."""
    container.run(UTC)
    service_listeners.manifest("clock")
    service_listeners.daemon.lifectl("launch", "clock")
    service_listeners.wait_until_told("clock", "did-become-active")
    yield lambda: service_listeners.wait_until_told("clock", "significant-time-change")
    container.run(UTC)


def test_another_time_zone_is_told_to_the_apps(container, told):
    container.run(["ln", "-sf", "/usr/share/zoneinfo/Asia/Tokyo", "/etc/localtime"])
    told()


def test_a_time_zone_that_timedatectl_sets_is_told_to_the_apps(container, told):
    result = container.run(["timedatectl", "set-timezone", "Asia/Tokyo"], check=False)
    if result.returncode != 0:
        pytest.skip(f"timedated does not work in this container: {result.stderr.strip()}")
    told()


def test_a_clock_that_is_set_is_told_to_the_apps(direct, tmp_path):
    if not os.environ.get("LIFED_SET_CLOCK"):
        pytest.skip("all programs share the machine's clock: LIFED_SET_CLOCK=1 lets this test step it by a second and back")
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
