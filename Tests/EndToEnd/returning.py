#!/usr/bin/env python3
"""An app on the bare channel that goes back to a daemon which was killed, and answers some callbacks only when it is told to.

    returning.py LOG [VERB]...

It writes down each line in full, with the monotonic time in microseconds and its id, and answers all but the VERBs. SIGUSR1 has it
answer those, too, and SIGTERM is written down and ignored.
"""

import contextlib
import os
import signal
import socket
import sys
import time


class Returning:
    def __init__(self, log, *silent):
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.silent = set(silent)
        self.sequence = 0
        self.owed = []
        self.channel = socket.socket(fileno=int(os.environ["LIFECYCLE_FD"]))
        signal.signal(signal.SIGTERM, lambda *_: self.note("told will-terminate"))
        signal.signal(signal.SIGUSR1, lambda *_: self.answer_owed())

    def note(self, text):
        os.write(self.log, f"{time.monotonic_ns() // 1000} {os.environ['LIFECYCLE_APP_ID']} {text}\n".encode())

    def send(self, line):
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.channel.sendall(line.encode() + b"\n")

    def run(self):
        self.send("hello protocol=1")
        while True:
            with contextlib.suppress(ConnectionResetError):
                for line in self.channel.makefile():
                    self.take(line.split())
            self.come_back()

    def come_back(self):
        while True:
            self.channel = socket.socket(socket.AF_UNIX)
            try:
                self.channel.connect(os.environ["LIFECYCLE_SOCKET"])
                break
            except (ConnectionError, FileNotFoundError):
                time.sleep(0.01)
        self.send(f"hello protocol=1 resume={self.sequence}")

    def take(self, words):
        fields = dict(word.split("=", 1) for word in words[1:])
        self.note("told " + " ".join(words))
        if "seq" not in fields:
            return
        self.sequence = max(self.sequence, int(fields["seq"]))
        self.owed.append(fields["seq"])
        if words[0] not in self.silent:
            self.answer_owed()

    def answer_owed(self):
        for sequence in self.owed:
            self.send(f"done seq={sequence}")
        self.owed = []


if __name__ == "__main__":
    Returning(*sys.argv[1:]).run()
