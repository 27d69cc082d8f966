"""A client that floods the session bus: the daemon keeps its memory, answers, and still sees the calls of others."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import test_bus_calls
from test_bus_calls import NAME, OBJECT

bus, service, user = test_bus_calls.bus, test_bus_calls.service, test_bus_calls.user

FLOOD = Path(__file__).with_name("bus_flood.py")
OTHER = "org.example.Other"


def memory(daemon):
    """The resident memory of the daemon, in KiB."""
    status = (daemon.kernel.proc / str(daemon.process.pid) / "status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def flood(bus, kind, name, count):
    command = [sys.executable, str(FLOOD), str(bus.path), kind, name, str(count)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize(
    "kind, name, count",
    [
        ("calls", NAME, 200_000), ("names", "org.nobody", 3_000), ("owners", "org.flood", 600), ("churn", NAME, 1_000),
        ("huge", NAME, 8),
    ],
)
def test_flood_leaves_the_daemon_as_it_was(bus, user, service, kind, name, count):
    service()
    service("other", OTHER)
    before = memory(user)
    with flood(bus, kind, name, count) as attack:
        slowest = 0
        while attack.poll() is None:
            began = time.monotonic()
            user.lifectl("status", timeout=20)
            slowest = max(slowest, time.monotonic() - began)
            time.sleep(0.1)
        assert slowest < 5
    user.lifectl.wait_for_state("other", "suspended")
    reply = bus.busctl("--timeout=15", "call", OTHER, *OBJECT, "Echo", "s", "hello")
    assert reply.stdout == 's "hello"\n', reply.stderr
    assert memory(user) - before < 16 * 1024


def test_monitor_that_the_bus_has_disconnected_is_replaced(bus, user, service):
    """dbus-broker disconnects a monitor that does not keep pace."""
    service()
    service("other", OTHER)
    before = memory(user)
    user.process.send_signal(signal.SIGSTOP)
    try:
        with flood(bus, "calls", NAME, 200_000):
            pass
    finally:
        user.process.send_signal(signal.SIGCONT)
    user.lifectl.wait_for_state("other", "suspended")
    # dbus-daemon does not, and the daemon reads what it has missed first.
    reply = bus.busctl("--timeout=80", "call", OTHER, *OBJECT, "Echo", "s", "hello", timeout=90)
    assert reply.stdout == 's "hello"\n', reply.stderr
    assert memory(user) - before < 16 * 1024
