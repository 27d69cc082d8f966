"""Programs that serve several apps, and were started by one of them: they stay when that app is suspended or ends."""

import os
import shutil
import subprocess
import sys

import pytest

import programs
from container import wait_for
from restoration import configure, start_again

pytestmark = pytest.mark.skipif(not shutil.which("dbus-daemon"), reason="there is no dbus-daemon")

# Starts a session bus as libdbus does, and stays.
STARTS_BUS = "dbus-daemon --session --fork --nopidfile --print-address=1 --print-pid=1 >{0}.new && mv {0}.new {0}; exec sleep infinity"


class Bus:
    def __init__(self, path):
        self.path = path

    def wait(self):
        wait_for(self.path.exists, what="the bus has told its address")
        self.address, pid = self.path.read_text().split()
        self.pid = int(pid)

    def answers(self):
        command = ["dbus-send", f"--bus={self.address}", "--print-reply", "--reply-timeout=20000"]
        method = ["--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.ListNames"]
        return subprocess.run([*command, *method], capture_output=True, timeout=60).returncode == 0


@pytest.fixture
def bus(mortal, tmp_path):
    configure(mortal)
    bus = Bus(tmp_path / "bus")
    mortal.lifectl("run", "--id", "first", "--", "sh", "-c", STARTS_BUS.format(bus.path))
    bus.wait()
    return bus


def helpers(daemon):
    return {each["process"]["pid"]: each.get("app") for each in daemon.lifectl.json("list", "--helpers")["helpers"]}


def test_bus_that_an_app_has_started_serves_the_next(mortal, bus, tmp_path):
    # The next app comes to the foreground, the first is suspended, and the bus answers the next.
    done = tmp_path / "done"
    script = f"dbus-send --bus={bus.address} --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames"
    mortal.lifectl("run", "--id", "next", "--", "sh", "-c", f"sleep 0.2; {script} && touch {done}; exec sleep infinity")
    mortal.lifectl.wait_for_state("first", "suspended")
    assert not mortal.kernel.is_stopped(bus.pid)
    wait_for(done.exists, what="the next app has had an answer of the bus")
    assert bus.pid in helpers(mortal)
    assert "dbus-daemon" in mortal.lifectl("list", "--helpers").stdout
    if mortal.containment == "auto" and "control group for each app" in mortal.logged:
        assert helpers(mortal)[bus.pid] == "first"
    pids = [each["pid"] for each in mortal.lifectl.json("status", "first")["details"]["processes"]]
    assert bus.pid not in pids


def test_bus_is_listed_before_anything_looks_at_its_app(mortal, bus):
    assert bus.pid in helpers(mortal)


@pytest.mark.parametrize("verb", ["terminate", "kill"])
def test_bus_stays_when_its_app_ends(mortal, bus, verb):
    mortal.lifectl(verb, "first")
    mortal.lifectl.wait_for_state("first", "notRunning")
    assert bus.answers()
    assert bus.pid in helpers(mortal)


def test_bus_is_a_helper_of_the_next_daemon_too(mortal, bus):
    mortal.lifectl.start("next", *programs.IDLE)
    mortal.lifectl.wait_for_state("first", "suspended")
    mortal.lifectl("reexec")
    mortal.lifectl("focus", "first")
    mortal.lifectl("suspend", "first")
    assert bus.answers()
    assert bus.pid in helpers(mortal)
    if mortal.containment == "auto" and "control group for each app" in mortal.logged:
        start_again(mortal)
        assert bus.pid in helpers(mortal)
        assert bus.answers()


def test_bus_ends_with_the_daemon(mortal, bus):
    mortal.lifectl("suspend", "first")
    assert mortal.stop() == 0
    wait_for(lambda: not mortal.kernel.exists(bus.pid) or mortal.kernel.stat(bus.pid).state == "Z")
    mortal.start()


def test_process_that_has_not_left_its_parent_is_the_apps(mortal, tmp_path):
    configure(mortal)
    bus = Bus(tmp_path / "bus")
    script = f"dbus-daemon --session --nofork --nopidfile --print-address=1 --print-pid=1 >{bus.path}.new & sleep 0.3; mv {bus.path}.new {bus.path}; wait"
    mortal.lifectl("run", "--id", "first", "--", "sh", "-c", script)
    bus.wait()
    mortal.lifectl("suspend", "first")
    assert mortal.kernel.is_stopped(bus.pid)
    assert helpers(mortal) == {}


def test_bus_that_stays_in_the_process_group_of_its_app_is_not_stopped_with_it(mortal, tmp_path):
    configure(mortal)
    bus = Bus(tmp_path / "bus")
    script = f"(dbus-daemon --session --nofork --nopidfile --print-address=1 --print-pid=1 >{bus.path}.new &); until [ -s {bus.path}.new ]; do sleep 0.05; done; sleep 0.2; mv {bus.path}.new {bus.path}; exec sleep infinity"
    mortal.lifectl("run", "--id", "first", "--", "sh", "-c", script)
    bus.wait()
    mortal.lifectl("suspend", "first")
    assert not mortal.kernel.is_stopped(bus.pid)
    assert bus.answers()
    mortal.lifectl("terminate", "first")
    assert bus.answers()


def test_no_program_is_a_helper_when_the_list_is_empty(mortal, bus, tmp_path):
    mortal.lifectl("terminate", "first")
    configure(mortal, "helpers = []")
    second = Bus(tmp_path / "second")
    mortal.lifectl("run", "--id", "second", "--", "sh", "-c", STARTS_BUS.format(second.path))
    second.wait()
    mortal.lifectl("suspend", "second")
    assert mortal.kernel.is_stopped(second.pid)


# Each serves other apps, and has no parent when its command has ended. Some stay in the session and the process group of the app.
HELPERS = {
    # Its babysitter stays as long as there is a terminal.
    "dbus-launch": "dbus-launch --exit-with-session --sh-syntax <{1}",
    "ssh-agent": "(ssh-agent -D -a {0}/agent &)",
    "dirmngr": "GNUPGHOME={0} dirmngr --daemon",
    "epmd": "(epmd &)",
}


@pytest.mark.parametrize("program", HELPERS)
def test_helper_goes_on_when_the_app_that_started_it_is_suspended_or_ends(mortal, tmp_path, program):
    if not shutil.which(program):
        pytest.skip(f"not installed: {program}")
    configure(mortal)
    ours, terminal = os.openpty()
    start = HELPERS[program].format(tmp_path, os.ttyname(terminal))
    script = f"{start} >{tmp_path}/said 2>&1; exec sleep infinity"
    mortal.lifectl("run", "--id", "first", "--", "sh", "-c", script)
    wait_for(lambda: command(mortal, mortal.lifectl.pid("first")) == ["sleep", "infinity"])
    found = wait_for(lambda: [pid for pid in helpers(mortal) if names_itself(mortal, pid, program)])
    mortal.lifectl("suspend", "first")
    assert not any(mortal.kernel.is_stopped(pid) for pid in helpers(mortal))
    mortal.lifectl("terminate", "first")
    # A helper without a control group has another parent from now on.
    wait_for(lambda: set(found) <= set(helpers(mortal)), what="the helpers are listed")
    for pid in helpers(mortal):
        os.kill(pid, 9)
    os.close(ours)
    os.close(terminal)


def command(daemon, pid):
    return (daemon.kernel.proc / str(pid) / "cmdline").read_text().split("\0")[:-1]


def names_itself(daemon, pid, program):
    return os.path.basename(command(daemon, pid)[0]) == program


# Takes the name of a helper by prctl(2) and by its arguments, has no parent, and stays where its parent was.
NAMES_ITSELF = """
import ctypes, os, sys
if os.fork(): os._exit(0)
libc = ctypes.CDLL(None)
libc.prctl(15, b"ssh-agent", 0, 0, 0)
libc.prctl(4, 0, 0, 0, 0)
open(sys.argv[1], "w").write(str(os.getpid()))
while True: os.read(sys.stdin.fileno(), 1) or __import__("time").sleep(60)
"""


def test_child_that_names_itself_as_a_helper_is_the_apps(mortal, tmp_path):
    configure(mortal)
    file = tmp_path / "pid"
    script = f"{sys.executable} -c '{NAMES_ITSELF}' {file}; exec sleep infinity"
    mortal.lifectl("run", "--id", "first", "--", "bash", "-c", f"(exec -a tmux sleep infinity &); {script}")
    wait_for(lambda: file.exists() and file.read_text())
    renamed = int(file.read_text())
    assert mortal.kernel.stat(renamed).name == "ssh-agent"
    wait_for(lambda: len(mortal.lifectl.json("status", "first")["details"]["processes"]) == 3)
    mortal.lifectl("suspend", "first")
    processes = mortal.lifectl.json("status", "first")["details"]["processes"]
    assert renamed in [each["pid"] for each in processes] and ["tmux infinity"] == [
        each["command"] for each in processes if "tmux" in each["command"]]
    assert all(mortal.kernel.is_stopped(each["pid"]) for each in processes)
    mortal.lifectl("terminate", "first")
    assert not any(mortal.kernel.exists(each["pid"]) for each in processes)
    assert helpers(mortal) == {}
