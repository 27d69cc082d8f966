"""Whom lifed-desktop is to follow may take a connection and then say nothing, or nonsense, or leave again."""

import contextlib
import json
import os
import socket
import struct
import subprocess
import threading
from pathlib import Path

import pytest

import programs
from container import wait_for
from screens import Follower, need

UNAVAILABLE = 69


class Peer:
    """Listens at a path, and says to each who comes what it was given; then it leaves, or stays and is silent."""

    def __init__(self, path, says=b"", stays=True):
        self.says = says
        self.stays = stays
        self.visits = 0
        self.kept = []
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(path))
        self.socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                self.visits += 1
                with contextlib.suppress(OSError):
                    connection.sendall(self.says)
                if self.stays:
                    self.kept.append(connection)
                else:
                    connection.close()

    def close(self):
        # A close does not wake a thread in accept().
        self.socket.shutdown(socket.SHUT_RDWR)
        for each in [self.socket, *self.kept]:
            each.close()


@pytest.fixture
def peer():
    with contextlib.ExitStack() as stack:
        yield lambda *arguments, **options: stack.enter_context(contextlib.closing(Peer(*arguments, **options)))


def follow(direct, source, **environment):
    """Follows what cannot be followed; gives what was said."""
    variables = [f"{name}={value}" for name, value in environment.items()]
    result = direct.run(["env", *variables, str(direct.products / "lifed-desktop"), "--source", source], check=False)
    assert result.returncode == UNAVAILABLE, result.stderr
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.mark.parametrize(
    "says, stays, reason",
    [
        (b"", True, "sway does not answer"),
        (b"not a message of sway's", True, "sway sent a malformed message"),
        (b"i3-ipc", False, ""),
    ],
)
def test_what_never_was_sway_is_an_error(direct, peer, tmp_path, says, stays, reason):
    peer(tmp_path / "sway", says, stays)
    assert f"cannot follow sway: {reason}" in follow(direct, "sway", SWAYSOCK=tmp_path / "sway")


def test_an_x_server_that_does_not_answer_is_an_error(direct, peer):
    directory = Path("/tmp/.X11-unix")
    directory.mkdir(exist_ok=True)
    number = next(number for number in range(4000, 5000) if not (directory / f"X{number}").exists())
    try:
        peer(directory / f"X{number}")
        assert "cannot follow x11: the X server does not answer" in follow(direct, "x11", DISPLAY=f":{number}")
    finally:
        (directory / f"X{number}").unlink(missing_ok=True)


def test_a_sound_server_that_does_not_answer_is_an_error(direct, peer, tmp_path):
    need("pactl")
    peer(tmp_path / "pulse")
    said = follow(direct, "sound", PULSE_SERVER=f"unix:{tmp_path / 'pulse'}", HOME=tmp_path)
    assert "the sound server does not answer" in said


def test_the_users_daemon_is_not_waited_for_without_a_runtime_directory(direct, peer, tmp_path):
    peer(tmp_path / "sway")
    variables = ["-u", "XDG_RUNTIME_DIR", f"SWAYSOCK={tmp_path / 'sway'}"]
    command = [str(direct.products / "lifed-desktop"), "--user", "--source", "sway"]
    result = direct.run(["env", *variables, *command], check=False)
    assert result.returncode == UNAVAILABLE
    assert result.stderr.startswith("lifed-desktop: cannot call lifed: XDG_RUNTIME_DIR is not set, so "), result.stderr


@pytest.fixture
def start(direct, tmp_path):
    with contextlib.ExitStack() as stack:

        def start(**environment):
            follower = Follower(direct, "sway", environment=environment, log=tmp_path / "follow")
            stack.callback(follower.stop)
            return follower

        yield start


def test_nothing_is_said_of_what_comes_and_goes_without_a_word(direct, peer, sway, start, tmp_path):
    place = tmp_path / "place"

    def point_at(path):
        (tmp_path / "next").symlink_to(path)
        os.replace(tmp_path / "next", place)

    point_at(sway.socket)
    follower = start(SWAYSOCK=place)
    # What it sees it has told the daemon; what it has connected to is a real sway.
    wait_for(lambda: direct.lifectl.json("status")["status"]["clients"] >= 2)
    visitors = peer(tmp_path / "leaves", stays=False)
    point_at(tmp_path / "leaves")
    sway.kill()
    follower.wait_for("sway has gone")
    wait_for(lambda: visitors.visits >= 4, what="four visits")
    assert follower.said.count("sway has gone") == 1 and "there again" not in follower.said
    sway.start()
    point_at(sway.socket)
    follower.wait_for("sway is there again")
    assert follower.said.count("sway has gone") == 1


def test_a_daemon_that_does_not_answer_is_waited_for(direct, peer, sway, tmp_path):
    silent = peer(tmp_path / "silent")
    environment = {**os.environ, **sway.environment, "SWAYSOCK": str(sway.socket)}
    window = subprocess.Popen(["foot", "sleep", "infinity"], env=environment, stderr=subprocess.DEVNULL)
    with window, subprocess.Popen(
        [direct.products / "lifed-desktop", "--source", "sway", "--socket", tmp_path / "silent"], env=environment,
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    ) as follower:
        try:
            assert follower.stderr.readline() == "lifed-desktop: lifed has gone (it does not answer); waiting for it\n"
            wait_for(lambda: silent.visits >= 2, what="another try")
            assert follower.poll() is None
        finally:
            follower.kill()
            window.kill()


def sway_message(kind, value):
    payload = json.dumps(value).encode()
    return b"i3-ipc" + struct.pack("=II", len(payload), kind) + payload


def sway_request(connection):
    header = connection.recv(14, socket.MSG_WAITALL)
    length, kind = struct.unpack("=II", header[6:])
    connection.recv(length, socket.MSG_WAITALL)
    return kind


def test_a_window_that_claims_a_number_of_no_process_is_nobodys(direct, tmp_path):
    """Any program names its own process number to a compositor."""
    pid = direct.lifectl.start("app", *programs.IDLE, background=True)
    subscribe, tree, window_event = 2, 4, 0x80000003
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "sway"))
        listener.listen()
        listener.settimeout(60)
        environment = {**os.environ, "SWAYSOCK": str(tmp_path / "sway"), "LIFED_SOCKET": str(direct.socket)}
        follow = subprocess.Popen([str(direct.products / "lifed-desktop"), "--source", "sway"], env=environment)
        try:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(60)
                assert sway_request(connection) == subscribe
                connection.sendall(sway_message(subscribe, {"success": True}))
                for number in (2**31 + 5, 2**63 - 1, 0, -7, pid):
                    assert sway_request(connection) == tree
                    window = {"id": 2, "name": "w", "pid": number, "focused": True, "visible": True, "nodes": [], "focus": []}
                    root = {"id": 1, "name": "root", "focused": False, "nodes": [window], "focus": [2]}
                    connection.sendall(sway_message(tree, root) + sway_message(window_event, {"change": "focus"}))
                assert sway_request(connection) == tree
                connection.sendall(sway_message(tree, root))
                direct.lifectl.wait_for_state("app", "active")
            assert follow.poll() is None
        finally:
            follow.kill()
            follow.wait()
