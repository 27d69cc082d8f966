#!/usr/bin/env python3
"""An app on the bare channel that comes back to every daemon, begins tasks, and crashes in one callback of so many.

    erratic.py LOG SEED CRASHES

It writes what listener.py writes, and "begins" and "crashes", the latter with the states in which that may have been.
"""

import contextlib
import os
import random
import resource
import signal
import socket
import sys
import time

# Where an app may be while it deals with a callback.
STATES = {
    "will-finish-launching": "inactive,background", "did-finish-launching": "inactive,background", "did-become-active": "active",
    "will-resign-active": "active", "did-enter-background": "background", "will-enter-foreground": "background",
    "perform-task": "background,inactive,active", "open-url": "inactive,active",
}
RESIGNATION = "will-resign-active"


class Erratic:
    def __init__(self, log, seed, crashes):
        self.name = os.environ["LIFECYCLE_APP_ID"]
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.random = random.Random(f"{seed} {self.name} {os.getpid()}")
        self.crashes = int(crashes)
        self.answers = {}
        # What a daemon may not have read: the answers since the last callback that waited for the one before.
        self.unheard = []
        self.last = 0
        self.tasks = set()
        self.number = 0
        self.channel = socket.socket(fileno=int(os.environ["LIFECYCLE_FD"]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGTERM, self.terminate)

    def note(self, text):
        os.write(self.log, f"{time.monotonic_ns() // 1000} {self.name} {text}\n".encode())

    def terminate(self, number, frame):
        self.note("told will-terminate")
        # Some work is left now and then; meanwhile the daemon may be killed.
        time.sleep(self.random.choice((0, 0, 0, 1)))
        os._exit(0)

    def send(self, line):
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.channel.sendall(line.encode() + b"\n")

    def run(self):
        self.note("begins")
        self.send("hello protocol=1")
        while True:
            # A channel that is closed before everything was taken from it ends with a reset.
            with contextlib.suppress(ConnectionResetError):
                for line in self.channel.makefile():
                    if line.endswith("\n"):
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
        self.send(f"hello protocol=1 resume={self.last}")
        for number in sorted(self.tasks):
            self.send(f"begin-task id={number} name=again")
        for sequence in self.unheard:
            self.send(self.answers[sequence])

    def take(self, words):
        verb, fields = words[0], dict(word.split("=", 1) for word in words[1:])
        if verb in ("expire-task", "refused"):
            self.tasks.discard(int(fields["id"]))
            self.send(f"end-task id={fields['id']}")
        if verb == "goodbye":
            self.note(f"told {' '.join(words)}")
        if "seq" not in fields:
            return
        sequence = int(fields["seq"])
        if sequence in self.answers:
            self.send(self.answers[sequence])
        else:
            self.deal_with(verb, sequence, words[1:])

    def deal_with(self, verb, sequence, fields):
        self.last = sequence
        if verb != RESIGNATION:
            self.unheard = []
        self.note(" ".join(["told", verb, *(field for field in fields if field.startswith(("state=", "previous-")))]))
        time.sleep(self.random.choice((0, 0, 0.001, 0.02) * 10 + (0.5,)))
        if verb in STATES and self.random.randrange(self.crashes) == 0:
            self.note(f"crashes {STATES[verb]}")
            os.kill(os.getpid(), signal.SIGABRT)
        if self.random.randrange(20) == 0:
            self.number += 1
            self.tasks.add(self.number)
            self.send(f"begin-task id={self.number} name=work")
        elif self.tasks and self.random.randrange(2) == 0:
            self.send(f"end-task id={self.tasks.pop()}")
        handled = " handled=yes" if verb == "open-url" else " result=new-data" if verb == "perform-task" else ""
        self.note(f"answers {verb}")
        self.answers[sequence] = f"done seq={sequence}{handled}"
        self.unheard.append(sequence)
        self.send(self.answers[sequence])


if __name__ == "__main__":
    Erratic(*sys.argv[1:]).run()
