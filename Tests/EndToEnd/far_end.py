"""The app's end of a channel in the hands of a test, which may do with it what no library would."""

import os
import re
import socket
import sys
from pathlib import Path

RELAY = str(Path(__file__).with_name("relay.py"))
CALLBACKS = {
    "will-finish-launching", "did-finish-launching", "did-become-active", "will-resign-active", "did-enter-background",
    "will-enter-foreground",
}
PROTOCOL = Path(__file__).resolve().parents[2] / "docs/apps/protocol.md"


def successors():
    """The callbacks that may follow each callback, by the state diagram of the protocol's page; None before the first."""
    edges = re.findall(r"^ +(\S+) --> (\S+) : (\S+)$", PROTOCOL.read_text(), re.MULTILINE)
    edges = [edge for edge in edges if edge[2] in CALLBACKS]
    assert {callback for _, _, callback in edges} == CALLBACKS
    following = {None: {callback for source, _, callback in edges if source == "[*]"}}
    for _, target, callback in edges:
        following.setdefault(callback, set()).update(each for source, _, each in edges if source == target)
    return following


NEXT = successors()


class FarEnd:
    """Keeps what has come, and finds what must not."""

    def __init__(self, channel, app):
        self.channel = channel
        # Says what it is sent, until the app is welcome; then the test says it.
        self.app = app
        self.channel.setblocking(False)
        self.rest = b""
        self.greeted = False
        self.welcomes = 0
        self.last = None
        self.sequence = 0
        # The numbers of the unanswered callbacks, in order.
        self.outstanding = []
        self.answers = {}
        self.goodbye = None
        self.mistakes = []
        self.closed = False

    @classmethod
    def accept(cls, listener):
        connection, _ = listener.accept()
        _, descriptors, _, _ = socket.recv_fds(connection, 16, 1)
        return cls(socket.socket(fileno=descriptors[0]), connection)

    @staticmethod
    def command(address):
        return [sys.executable, RELAY, str(address)]

    def close(self):
        self.app.close()
        self.channel.close()

    def send(self, data):
        """Sends what the daemon takes; whether the channel is closed is found where it is read."""
        try:
            self.channel.send(data)
        except (BrokenPipeError, ConnectionResetError):
            self.closed = True

    def hello(self):
        self.greeted = True
        self.app.sendall(b"hello protocol=1\n")

    def done(self):
        self.send(b"done seq=%d\n" % self.outstanding.pop(0))

    def take(self):
        """Reads what is there."""
        try:
            while chunk := self.channel.recv(65536):
                *lines, self.rest = (self.rest + chunk).split(b"\n")
                for line in lines:
                    self._line(line.decode("ascii"))
            self.closed = True
        except BlockingIOError:
            pass
        except ConnectionResetError:
            self.closed = True

    def _line(self, line):
        verb, *words = line.split(" ")
        fields = dict(word.split("=", 1) for word in words)
        if verb == "mistake":
            # The one line that may come before the welcome.
            self.mistakes.append(fields["reason"])
            return
        assert self.greeted, f"told before its hello: {line}"
        assert self.goodbye is None, f"told after goodbye: {line}"
        if verb == "welcome":
            self.welcomes += 1
            assert self.welcomes == 1, line
            self.app.close()
        elif verb == "goodbye":
            self.goodbye = fields["reason"]
        elif verb in ("granted", "refused"):
            self.answers.setdefault(int(fields["id"]), []).append(fields.get("reason", "granted"))
        else:
            assert verb in CALLBACKS, line
            assert self.welcomes == 1, f"told before the welcome: {line}"
            assert not self.outstanding or verb == "will-resign-active", f"{line} before {self.last} was answered"
            assert verb in NEXT[self.last], f"{line} after {self.last}"
            assert int(fields["seq"]) > self.sequence, line
            self.last = verb
            self.sequence = int(fields["seq"])
            self.outstanding.append(self.sequence)


def listen(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    listener.settimeout(60)
    os.chmod(path, 0o600)
    return listener
