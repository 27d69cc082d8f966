"""Several processes of one app: the channel belongs to the main process, or to the process that had it."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from container import wait_for
from far_end import listen

MEMBER = str(Path(__file__).with_name("member.py"))
HELLO = "hello protocol=1"


class Member:
    """A process of an app, in the hands of the test."""

    def __init__(self, family):
        self.family = family
        connection, _ = family.listener.accept()
        connection.settimeout(20)
        self.orders = family.stack.enter_context(connection.makefile("rw"))
        connection.close()
        self.pid = int(self.orders.readline())

    def order(self, order):
        print(order, file=self.orders, flush=True)
        return self.orders.readline().rstrip("\n")

    def child(self, kind="child"):
        self.order(kind)
        return Member(self.family)

    def ask(self, line):
        self.order(f"says {line}")
        return self.order("hears")

    def connect(self, line=HELLO):
        """Returns the answer on a new connection."""
        self.order(f"connects {self.family.daemon.runtime / 'channel'}")
        return self.ask(line)

    def inherit(self, line=HELLO):
        """Returns the answer on the channel of the launch."""
        self.order("inherits")
        return self.ask(line)


class Family:
    def __init__(self, daemon, listener, stack):
        self.daemon = daemon
        self.listener = listener
        self.stack = stack
        self.command = [sys.executable, MEMBER, listener.getsockname()]

    def outside(self):
        """Starts a process that the daemon has not launched."""
        process = subprocess.Popen(self.command, start_new_session=True, stdin=subprocess.DEVNULL)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return Member(self)

    def launched(self, identifier="clock"):
        self.daemon.lifectl("run", "--id", identifier, "--", *self.command)
        return Member(self)

    def adopt(self, main):
        self.daemon.lifectl("adopt", str(main.pid), "--id", "clock")

    def restart(self):
        self.daemon.process.kill()
        self.daemon.process.wait()
        self.daemon.start()


@pytest.fixture
def family(direct, tmp_path):
    with contextlib.ExitStack() as stack:
        yield Family(direct, stack.enter_context(listen(tmp_path / "family")), stack)


def is_welcome(answer):
    return answer.startswith("welcome protocol=1 app-id=")


def test_adopted_app_is_connected_by_its_main_process(family):
    main = family.outside()
    helper = main.child()
    assert helper.connect() == "unmanaged"
    assert main.connect() == "unmanaged"
    family.adopt(main)
    assert is_welcome(main.order("hears"))


def test_adopted_app_without_a_connected_main_process_is_connected_by_the_first_that_came(family):
    """The second one has a descriptor with a lower number."""
    descriptors = Path(f"/proc/{family.daemon.process.pid}/fd")
    stranger, main = family.outside(), family.outside()
    first, second = main.child(), main.child()
    assert stranger.connect() == "unmanaged"
    before = len(os.listdir(descriptors))
    assert first.connect() == "unmanaged"
    stranger.order("closes")
    # The connection and its pidfd, of each.
    wait_for(lambda: len(os.listdir(descriptors)) == before, what="the end of the connection")
    assert second.connect() == "unmanaged"
    family.adopt(main)
    assert is_welcome(first.order("hears"))


def test_second_process_of_a_connected_app_is_unmanaged(family):
    main = family.outside()
    assert main.connect() == "unmanaged"
    family.adopt(main)
    assert is_welcome(main.order("hears"))
    assert main.child().connect() == "unmanaged"


@pytest.mark.parametrize("restarts", [1, 2])
def test_helper_does_not_take_the_channel_of_a_process_that_reconnects(family, restarts):
    main = family.outside()
    assert main.connect() == "unmanaged"
    family.adopt(main)
    assert is_welcome(main.order("hears"))
    helper = main.child()
    for _ in range(restarts):
        family.restart()
    assert helper.connect() == "unmanaged"
    assert is_welcome(main.connect(f"{HELLO} resume=0"))
    assert family.daemon.lifectl.app("clock")["connected"]


def test_process_that_resumes_the_channel_of_another_is_welcome(family):
    main = family.launched()
    assert is_welcome(main.inherit())
    helper = main.child()
    family.restart()
    assert is_welcome(helper.connect(f"{HELLO} resume=0"))


def test_helper_takes_the_channel_of_a_process_that_has_ended(family):
    main = family.launched()
    former, helper = main.child(), main.child()
    assert is_welcome(former.inherit())
    family.daemon.process.kill()
    family.daemon.process.wait()
    os.kill(former.pid, signal.SIGKILL)
    family.daemon.start()
    assert is_welcome(helper.connect())


def test_program_in_a_session_of_its_own_does_not_speak_for_a_launched_app(family):
    """As a program in a terminal that leaves its channel to its children."""
    main = family.launched("terminal")
    stranger, app = main.child("child-in-session"), main.child()
    assert stranger.inherit() == "unmanaged"
    assert not family.daemon.lifectl.app("terminal")["connected"]
    assert is_welcome(app.inherit())
    assert family.daemon.lifectl.app("terminal")["connected"]


def test_program_in_a_session_of_its_own_does_not_connect_for_a_launched_app(family):
    stranger = family.launched("terminal").child("child-in-session")
    family.restart()
    assert stranger.connect() == "unmanaged"
    assert not family.daemon.lifectl.app("terminal")["connected"]


@pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/dev/fuse"), reason="mounting a file system needs root and FUSE")
@pytest.mark.parametrize("method", ["signal", "freezer"])
def test_app_that_waits_for_a_file_system_of_its_own_is_suspended_and_resumed(daemon, tmp_path, method):
    directory = tmp_path / "files"
    directory.mkdir()
    program = [sys.executable, str(Path(__file__).with_name("files_of_its_own.py")), str(directory)]
    manifest = daemon.configuration / "apps.d/files.toml"
    manifest.write_text(f"command = {program}\nsuspendMethod = '{method}'\n")
    daemon.lifectl("reload")
    daemon.lifectl("launch", "files", "--background")
    wait_for(Path(f"{directory}.asked").exists, what="a process that waits for the file system")
    daemon.lifectl("suspend", "files", "--now", check=False)
    daemon.lifectl.wait_for_state("files", "suspended")
    processes = daemon.lifectl.json("status", "files")["details"]["processes"]
    assert sorted(process["state"] for process in processes) == ["D", "T"]
    daemon.lifectl("resume", "files")
    assert daemon.lifectl.state("files") == "background"
    daemon.lifectl("terminate", "files")
    assert daemon.lifectl.state("files") == "notRunning"


def test_command_lines_of_a_hundred_processes_are_read(direct):
    """A child reads each of them."""
    script = "n=0; while [ $n -lt 120 ]; do sleep infinity & n=$((n + 1)); done; wait"
    direct.lifectl.start("crowd", "sh", "-c", script)

    def commands():
        return [process["command"] for process in direct.lifectl.json("status", "crowd")["details"]["processes"]]

    wait_for(lambda: len(commands()) == 121)
    wait_for(lambda: commands().count("sleep infinity") == 99)
    assert commands().count("sleep") == 21
