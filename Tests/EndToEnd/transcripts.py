"""Reads the transcripts of the protocol in docs/apps/transcripts, and replays one."""

import os
import re
import select
import socket
import subprocess
import sys
from pathlib import Path

from far_end import listen

PAGES = Path(__file__).parents[2] / "docs/apps/transcripts"
NAMES = ["foreground.md", "deliveries.md", "limits.md", "crashes.md", "reconnection.md"]
SPEAKER = str(Path(__file__).with_name("speaker.py"))
PATIENCE = 60


def read():
    """Returns each transcript's lines by its title: those of the block after a heading."""
    found, title = {}, None
    text = "\n".join((PAGES / name).read_text() for name in NAMES)
    for block in re.finditer(r"^#+ (?P<title>[^\n]+)$|^```transcript\n(?P<lines>.*?)^```$", text, re.M | re.S):
        if block["title"]:
            title = block["title"]
        else:
            assert title not in found, f"two transcripts under {title}"
            found[title] = block["lines"].splitlines()
    return found


class App:
    """One app of a transcript: a process of its own, whose words come from the page."""

    def __init__(self, directory, name):
        self.name = name
        self.address = directory / f"speaker-{name}"
        self.listener = listen(self.address)
        self.process = None
        self.heard = b""
        # Each number of a callback on the page, with the one that the daemon has given it.
        self.numbers = {}

    def start(self):
        if self.process:
            self.process.close()
        self.process, _ = self.listener.accept()
        self.process.settimeout(PATIENCE)
        self.heard = b""
        self.numbers = {}

    def order(self, kind, words):
        self.process.sendall(f"{kind} {self._with_numbers(words)}\n".encode("ascii"))

    def hear(self):
        while b"\n" not in self.heard:
            chunk = self.process.recv(65536)
            assert chunk, f"{self.name} has ended"
            self.heard += chunk
        line, self.heard = self.heard.split(b"\n", 1)
        return line.decode("ascii")

    def is_quiet(self):
        if self.heard or not self.process or not select.select([self.process], [], [], 0)[0]:
            return not self.heard
        # A process that has ended says nothing, either.
        return not self.process.recv(1, socket.MSG_PEEK)

    def close(self):
        self.listener.close()
        if self.process:
            self.process.close()

    def _with_numbers(self, words):
        return re.sub(r"\b(seq|resume)=([1-9]\d*)", lambda field: f"{field[1]}={self.numbers[field[2]]}", words)

    def agrees(self, expected, line):
        """A line is as on the page, but for numbers of callbacks and for {A-B}, which is a number from A to B."""
        verb, *fields = expected.split(" ")
        found_verb, *found = line.split(" ")
        return verb == found_verb and len(fields) == len(found) and all(map(self._field_agrees, fields, found))

    def _field_agrees(self, expected, found):
        key, value = expected.split("=", 1)
        if not found.startswith(f"{key}="):
            return False
        found = found.removeprefix(f"{key}=")
        if key == "seq":
            is_greater = int(found) > max(self.numbers.values(), default=0)
            return self.numbers.setdefault(value, int(found) if is_greater else None) == int(found)
        if span := re.fullmatch(r"\{(\d+)-(\d+)\}", value):
            return found.isdigit() and int(span[1]) <= int(found) <= int(span[2])
        return found == value


class Replay:
    def __init__(self, daemon, directory):
        self.daemon = daemon
        self.directory = directory
        self.apps = {}
        self.commands = []

    def run(self, lines):
        try:
            self._prepare(lines)
            for number, line in enumerate(lines, 1):
                try:
                    self._replay(line)
                except Exception as error:
                    raise AssertionError(f"line {number}, {line!r}: {error}") from error
            assert not self.commands, "a command's exit code is missing"
            # What the daemon answers to the last line comes before what it answers now.
            self.daemon.lifectl("list")
            for app in self.apps.values():
                assert app.is_quiet(), f"{app.name} has heard more: {app.hear()}"
        finally:
            for command in self.commands:
                command.kill()
                command.communicate()
            for app in self.apps.values():
                app.close()

    def _prepare(self, lines):
        manifests, settings = {}, ""
        for line in lines:
            if found := re.match(r"([a-z]+)(?:[<>!]|\.toml:) ?(.*)", line):
                name, text = found[1], found[2]
                if line.startswith("lifed.toml: "):
                    settings += text + "\n"
                elif name != "lifed":
                    manifests.setdefault(name, "")
                    if line.startswith(f"{name}.toml: "):
                        manifests[name] += text + "\n"
        for name, text in manifests.items():
            app = self.apps[name] = App(self.directory, name)
            command = ", ".join(f"'{word}'" for word in [sys.executable, SPEAKER, str(app.address)])
            (self.daemon.configuration / f"apps.d/{name}.toml").write_text(f"command = [{command}]\n{text}")
        # The machine's memory is nothing that a transcript decides.
        (self.daemon.configuration / "lifed.toml").write_text(f"{settings}[memory]\nwarning = 100\n")
        self.daemon.lifectl("reload")

    def _replay(self, line):
        if line.startswith("$ "):
            return self._begin(line[2:].split())
        if line.startswith("= "):
            return self._end(int(line[2:]))
        name, mark, words = re.fullmatch(r"([a-z]+)(\.toml:|:|<|>|!) ?(.*)", line).groups()
        if mark == ".toml:":
            return None
        if name == "lifed":
            return self._treat_daemon(words)
        app = self.apps[name]
        if mark == ":":
            return self.daemon.lifectl.wait_for_state(name, words)
        if mark == ">":
            return app.order(mark, words)
        if mark == "<":
            heard = app.hear()
            assert heard.startswith("< ") and app.agrees(words, heard[2:]), f"heard {heard!r}"
            return None
        return self._treat(app, words)

    def _begin(self, words):
        assert words[0] == "lifectl"
        environment = {**os.environ, "LIFED_SOCKET": str(self.daemon.socket)}
        self.commands.append(subprocess.Popen(
            [self.daemon.products / "lifectl", *words[1:]],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))

    def _end(self, status):
        command = self.commands.pop(0)
        _, said = command.communicate(timeout=PATIENCE)
        assert command.returncode == status, f"exit code {command.returncode}: {said}"

    def _treat_daemon(self, words):
        if words == "is killed":
            self.daemon.process.kill()
            self.daemon.process.wait()
        elif words == "starts":
            self.daemon.start()
        else:
            raise AssertionError("it cannot do that")

    @staticmethod
    def _treat(app, words):
        if words == "starts":
            app.start()
        elif words == "loses its channel":
            heard = app.hear()
            assert heard == "! loses its channel", f"heard {heard!r}"
        elif words in ("closes", "connects", "crashes", "exits"):
            app.order("!", words)
        else:
            raise AssertionError("it cannot do that")
