"""A call on the session bus to a suspended app is answered: real buses, a real service, and usual callers."""

import subprocess
import time
from pathlib import Path

import pytest

from buses import DBusBroker, DBusDaemon
from container import wait_for
from desktop import Desktop
from screens import need

CALLEE = Path(__file__).with_name("callee.py")
NAME = "org.example.Test"
OBJECT = ("/org/example/Test", "org.example.Test")
# Without the reserve of memory, which the daemon looks at for ten seconds after an app was in the foreground.
CONFIGURATION = """
[timeouts]
background = "300ms"
[memory]
reserve = 0
"""


@pytest.fixture(params=[DBusDaemon, DBusBroker])
def bus(request, tmp_path):
    need("busctl", "gdbus", "dbus-daemon", "dbus-broker-launch")
    if subprocess.run(["/usr/bin/python3", "-c", "import gi"], capture_output=True).returncode != 0:
        pytest.skip("not installed: python3-gi")
    bus = request.param(tmp_path)
    bus.start()
    yield bus
    bus.stop()


@pytest.fixture
def user(bus, direct, tmp_path):
    """A user's daemon on that bus, whose apps are suspended after a moment in the background."""
    direct.stop()
    daemon = Desktop(direct.products, tmp_path / "desktop")
    daemon.variables["DBUS_SESSION_BUS_ADDRESS"] = bus.address
    daemon.start()
    (daemon.configuration / "lifed.toml").write_text(CONFIGURATION)
    daemon.lifectl("reload")
    yield daemon
    daemon.stop()


@pytest.fixture
def service(bus, user, tmp_path):
    """Starts a service as a background app, and waits until it is suspended."""

    def start(app="service", name=NAME, wait=True):
        log = tmp_path / f"{app}-calls"
        address = f"DBUS_SESSION_BUS_ADDRESS={bus.address}"
        user.lifectl.start(app, "env", address, "/usr/bin/python3", str(CALLEE), name, str(log))
        wait_for(lambda: log.exists() and "ready" in log.read_text(), what=f"{name} is owned")
        user.lifectl("background", app)
        if wait:
            user.lifectl.wait_for_state(app, "suspended")
        return log

    return start


def unique_name(bus, name=NAME):
    return bus.busctl("call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetNameOwner", "s", name).stdout.split('"')[1]


def test_call_to_a_suspended_app_is_answered_within_a_second(bus, user, service):
    service()
    for name in (NAME, unique_name(bus)):
        user.lifectl.wait_for_state("service", "suspended")
        began = time.monotonic()
        reply = bus.busctl("--timeout=5", "call", name, *OBJECT, "Echo", "s", "hello")
        assert reply.stdout == 's "hello"\n', reply.stderr
        assert time.monotonic() - began < 1
    user.lifectl.wait_for_state("service", "suspended")
    began = time.monotonic()
    reply = subprocess.run(
        ["gdbus", "call", "--address", bus.address, "--dest", NAME, "--object-path", OBJECT[0], "--method",
         f"{NAME}.Echo", "hello"], capture_output=True, text=True, timeout=60)
    assert reply.stdout == "('hello',)\n", reply.stderr
    assert time.monotonic() - began < 1


def test_app_runs_until_it_has_answered(bus, user, service):
    service()
    caller = subprocess.Popen(
        ["busctl", f"--address={bus.address}", "call", NAME, *OBJECT, "Slow", "u", "2000"], stdout=subprocess.PIPE, text=True)
    user.lifectl.wait_for_state("service", "background")
    explanation = user.lifectl("explain", "service").stdout
    assert "busctl waits for its reply on the message bus" in explanation
    assert caller.communicate(timeout=20)[0] == 's "slow"\n'
    user.lifectl.wait_for_state("service", "suspended")


def test_call_that_was_read_before_the_suspension_is_answered(bus, user, service):
    (user.configuration / "lifed.toml").write_text('[timeouts]\nbackground = "2s"\n')
    user.lifectl("reload")
    service(wait=False)
    wait_for(lambda: sockets(user, bus) == 2, what="a monitor")
    # The app reads the call in its background time, and has not answered when that expires.
    reply = bus.busctl("--timeout=10", "call", NAME, *OBJECT, "Slow", "u", "4000")
    assert reply.stdout == 's "slow"\n', reply.stderr


def test_call_without_a_reply_arrives(bus, user, service):
    log = service()
    bus.busctl("call", "--expect-reply=no", NAME, *OBJECT, "Note")
    wait_for(lambda: "Note" in log.read_text(), timeout=5, what="the call arrives")
    user.lifectl.wait_for_state("service", "suspended")


def test_call_while_the_daemon_was_away_arrives(bus, user, service):
    log = service()
    user.process.kill()
    user.process.wait()
    bus.busctl("call", "--expect-reply=no", NAME, *OBJECT, "Note")
    user.start()
    wait_for(lambda: "Note" in log.read_text(), timeout=10, what="the call arrives")


def test_app_that_is_suspended_at_once_misses_no_call(bus, user, service):
    log = service(wait=False)
    user.lifectl("suspend", "--now", "service")
    bus.busctl("call", "--expect-reply=no", NAME, *OBJECT, "Note")
    wait_for(lambda: "Note" in log.read_text(), timeout=5, what="the call arrives")


def test_calls_to_others_resume_nothing(bus, user, service):
    service()
    service("other", "org.example.Other")
    for _ in range(50):
        bus.busctl("--timeout=5", "call", "org.example.Other", *OBJECT, "Echo", "s", "hello")
    history = user.lifectl.json("explain", "service", "--last=200")["history"]
    assert not [entry for entry in history if entry["event"] and entry["event"]["reason"] == "called"]


def test_monitor_exists_only_while_an_app_on_the_bus_is_suspended(bus, user, service):
    def connections():
        return sum(line.split()[2] == "lifed" for line in bus.busctl("list").stdout.splitlines() if line.startswith(":"))

    service()
    # A monitor has no name. The daemon's other connection has one.
    wait_for(lambda: connections() == 1, what="one connection with a name")
    assert sockets(user, bus) == 2
    user.lifectl("focus", "service")
    wait_for(lambda: sockets(user, bus) == 1, what="the monitor has gone")


def sockets(user, bus):
    """The daemon's connections to the bus, as ss(8) lists them by their inode."""
    lines = subprocess.run(["ss", "-xpH"], capture_output=True, text=True, check=True).stdout.splitlines()
    peers = [line.split()[7] for line in lines if str(bus.path) in line]
    mine = [line.split()[5] for line in lines if f"pid={user.process.pid}," in line]
    return len(set(peers) & set(mine))


def test_idle_bus_wakes_nothing(bus, user, service):
    service()
    user.kernel.wait_until_quiet(user.process.pid)
