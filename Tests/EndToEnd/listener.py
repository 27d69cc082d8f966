#!/usr/bin/env python3
"""An app on the bare channel, for tests: writes down what it is told, and answers as its arguments say.

    listener.py LOG [silent=VERB]... [delay=SECONDS] [task=NAME] [obeys] [activity=MODE] [mute] [garbage=COUNT]
    [reconnects]

With "obeys", it ends its task when the task expires. With "reconnects", it closes its channel when it is active for the first time, and
connects again.

Each line of the log is the monotonic time in microseconds, the app's id, and what happened. A line "told" is written
before the app does anything with it, a line "answers" before the answer is sent: an app is active from the one to the
other.
"""

import contextlib
import os
import random
import signal
import socket
import sys
import time


class Listener:
    shown = ("state=", "reason=", "restore=", "url=", "type=", "info=", "kind=", "payload=", "source=")

    def __init__(self, log, *options):
        self.name = os.environ["LIFECYCLE_APP_ID"]
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.options = [option.partition("=") for option in options]
        self.answered = {}
        self.is_reconnected = False
        self.channel = socket.socket(fileno=int(os.environ["LIFECYCLE_FD"]))
        signal.signal(signal.SIGTERM, self.terminate)

    def option(self, name, default=None):
        return next((value for key, _, value in self.options if key == name), default)

    def has(self, name, value=""):
        return any(key == name and found == value for key, _, found in self.options)

    def note(self, text):
        os.write(self.log, f"{time.monotonic_ns() // 1000} {self.name} {text}\n".encode())

    def send(self, line):
        # lifed may have closed the channel already; that is told where it is read.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.channel.sendall(line.encode() + b"\n")

    def lines(self):
        # A channel that is closed before everything was taken from it ends with a reset.
        with contextlib.suppress(ConnectionResetError):
            yield from self.channel.makefile()
        while self.has("reconnects"):
            self.channel = socket.socket(socket.AF_UNIX)
            self.channel.connect(os.environ["LIFECYCLE_SOCKET"])
            self.send(f"hello protocol=1 resume={max(map(int, self.answered))}")
            with contextlib.suppress(ConnectionResetError):
                yield from self.channel.makefile()
            time.sleep(0.1)

    def terminate(self, number, frame):
        self.note("told will-terminate")
        sys.exit(0)

    def run(self):
        if self.has("mute"):
            signal.pause()
        for _ in range(int(self.option("garbage", "0"))):
            self.send("What? is=this")
        self.send("hello protocol=1")
        for line in self.lines():
            self.take(line.split())
        self.note("end of channel")
        while True:
            signal.pause()

    def take(self, words):
        fields = dict(word.split("=", 1) for word in words[1:])
        if fields.get("seq") in self.answered:
            # A restarted daemon cannot always know what the previous daemon has said.
            self.note(f"repeated {words[0]}")
            self.send(self.answered[fields["seq"]])
            return
        self.note("told " + " ".join([words[0], *(word for word in words[1:] if word.startswith(self.shown))]))
        if words[0] == "did-become-active":
            self.begin_holds()
        if words[0] == "expire-task" and self.has("obeys"):
            self.send(f"end-task id={fields['id']}")
        if "seq" not in fields or self.has("silent", words[0]):
            return
        time.sleep(random.uniform(0, float(self.option("delay", "0"))))
        self.note(f"answers {words[0]}")
        self.answered[fields["seq"]] = f"done seq={fields['seq']}{self.answer(words[0])}"
        self.send(self.answered[fields["seq"]])
        if self.has("reconnects") and words[0] == "did-become-active" and not self.is_reconnected:
            self.is_reconnected = True
            self.channel.shutdown(socket.SHUT_RDWR)

    def answer(self, verb):
        values = [value.split(":", 1) for key, _, value in self.options if key == "answer"]
        return "".join(f" {field}" for name, field in values if name == verb)

    def begin_holds(self):
        if name := self.option("task"):
            self.send(f"begin-task id=1 name={name}")
        if mode := self.option("activity"):
            self.send(f"begin-activity id=2 mode={mode}")
        signal.signal(signal.SIGUSR1, lambda *_: self.send("end-task id=1"))
        signal.signal(signal.SIGUSR2, lambda *_: self.send("end-task id=1\nbegin-task id=3 name=next"))


if __name__ == "__main__":
    Listener(*sys.argv[1:]).run()
