"""lifectl and a hostile daemon: no reply ends lifectl by a signal, and none reaches the terminal as a command."""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import threading
import unicodedata

import pytest

from container import wait_for
from false_daemon import ROOT, FalseDaemon

# Each is a random daemon; the first ones have the extreme numbers.
DAEMONS = int(os.environ.get("LIFED_FALSE_DAEMONS", "4"))
LIFECTL = ROOT / ".build" / os.environ.get("LIFED_BUILD", "release") / "lifectl"

COMMANDS = """
launch x | list | list --json | list --ids | list --available --all | list --helpers | status | status x | status --pid 1
status x --json | status --follow | terminate x | kill x | kill --signal HUP x | restart x | open https://example.org/ | cat x
handoff x --activity a.b | run --id x -- true | focus x | background x | home | suspend x | resume x | wake x --for fetch
explain x | explain x --json | log --from daemon | log x --from daemon --json | timeline --from daemon | timeline --svg - --from daemon
stats --from daemon | stats --openmetrics | monitor | top --count 2 | top --count 2 --json | scene list | scene list x | scene open x
scene focus x/y | scene close x/y | interrupt begin --name a | interrupt end --name a | reload | reexec | simulate lock
simulate memory critical | adopt 1 --id x | release x | doctor | edit x
"""


def commands():
    return [command.split() for line in COMMANDS.strip().splitlines() for command in line.split("|")]


def commanding(text):
    """The characters of a text that a terminal may act on."""
    return {c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")}


@pytest.mark.parametrize("wrong", [0, 40])
def test_no_reply_of_a_daemon_ends_lifectl_or_commands_the_terminal(tmp_path, wrong):
    path = tmp_path / "control"
    faults = []
    for seed in range(DAEMONS):
        daemon = FalseDaemon(path, seed, wrong)
        for command in commands():
            arguments = [LIFECTL, *command]
            result = subprocess.run(
                arguments, env={"LIFED_SOCKET": str(path), "PATH": "/usr/bin:/bin", "EDITOR": "true"}, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=60, check=False)
            text = (result.stdout + result.stderr).decode()
            if result.returncode < 0 or commanding(text):
                faults.append((seed, " ".join(command), result.returncode, commanding(text)))
        daemon.close()
        path.unlink()
    assert faults == []


def test_each_command_is_tried_with_a_false_daemon():
    page = subprocess.run([LIFECTL, "--help"], capture_output=True, text=True, check=True).stdout
    # Two spaces, the command, and its summary from the same column on.
    found = {line.split()[0] for line in page.split("Common options:")[0].splitlines() if line[:2] == "  " and line[2].islower()}
    # The next test is about this one, which does not end by itself.
    assert found - {"follow"} == {command[0] for command in commands()}


class Sway:
    """A sway whose focus goes back and forth between two windows, and which ends after a hundred looks."""

    def __init__(self, path):
        self.looks = 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        # The follower may end before.
        with contextlib.suppress(ConnectionError), self.listener.accept()[0] as client:
            self.listener.close()
            while self.looks < 100 and (header := client.recv(14, socket.MSG_WAITALL)):
                length, kind = struct.unpack("=6xII", header)
                if length:
                    client.recv(length, socket.MSG_WAITALL)
                answer = {"success": True} if kind == 2 else self._tree()
                event = [(1 << 31) | 3, {"change": "focus"}]
                for each, payload in ([kind, answer], event) if kind == 4 else ([kind, answer],):
                    text = json.dumps(payload).encode()
                    client.sendall(struct.pack("=6sII", b"i3-ipc", len(text), each) + text)

    def _tree(self):
        self.looks += 1
        windows = [
            {"id": number, "type": "con", "pid": number, "app_id": "x", "focused": self.looks % 2 == number % 2, "visible": True}
            for number in (1, os.getpid())]
        return {"id": 0, "type": "root", "nodes": windows}


@pytest.mark.parametrize("wrong", [0, 40])
def test_a_false_daemon_does_not_end_a_follower_by_a_fault(tmp_path, wrong):
    for seed in range(DAEMONS):
        daemon = FalseDaemon(tmp_path / "control", seed, wrong)
        sway = Sway(tmp_path / "sway")
        follower = subprocess.Popen(
            [LIFECTL, "follow", "sway"], env={"LIFED_SOCKET": str(tmp_path / "control"), "SWAYSOCK": str(tmp_path / "sway")},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wait_for(lambda: follower.poll() is not None or not sway.thread.is_alive())
        follower.terminate()
        said, _ = follower.communicate(timeout=60)
        assert follower.returncode in (0, -signal.SIGTERM) or 0 < follower.returncode < 128, (seed, follower.returncode, said)
        assert commanding(said) == set(), seed
        daemon.close()
        for name in ("control", "sway"):
            (tmp_path / name).unlink()


def test_a_manifest_cannot_command_the_terminal(direct):
    text = "command = ['true']\n# a\x1b[2J \x07\x9b\u202e\tb\r\n"
    (direct.configuration / "apps.d/clock.toml").write_text(text, newline="")
    # The control characters are a mistake in TOML; the file is printed all the same.
    assert direct.lifectl.json("reload", check=False)["problems"] != []
    shown = direct.lifectl("cat", "clock").stdout
    assert "\\u{1b}[2J" in shown and "\tb" in shown
    assert commanding(shown) == set()
