"""What befalls a daemon and its apps from outside: signals of strangers, and clients that misbehave."""

import contextlib
import json
import os
import signal
import socket

from clients import Client

ENDING = [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1]


class Stranger(Client):
    """Sends signals to the apps' processes. It continues the processes that it stops."""

    def __init__(self, name, seed, keeper, scene, ledger, checker):
        super().__init__(name, seed)
        self.keeper = keeper
        self.scene = scene
        self.ledger = ledger
        self.checker = checker

    def work(self):
        while not self.over.wait(self.random.uniform(0.1, 1.5)):
            trees = self.scene.mine()
            if trees:
                app = self.random.choice(sorted(trees))
                self.harm(app, trees[app])

    def harm(self, app, processes):
        # Noticed or not is the daemon's business only for a process that it has started itself: see docs/guide/limits.md.
        mains = [each for each in processes if each.parent == self.keeper.pid and each.name != "lifed"]
        kind = self.random.random()
        if kind < 0.4 and mains:
            self.ledger.count("foreign SIGCONT")
            self.send(signal.SIGCONT, app, mains[0])
        elif kind < 0.6 and mains:
            self.ledger.count("foreign SIGSTOP")
            self.ledger.harmed(app)
            self.checker.disturb(app)
            self.send(signal.SIGSTOP, app, mains[0])
            self.over.wait(self.random.uniform(0, 0.8))
            self.send(signal.SIGCONT, app, mains[0])
            self.checker.disturb(app)
            self.ledger.harmed(app)
        elif kind >= 0.6:
            self.ledger.count("apps' processes killed")
            self.ledger.harmed(app)
            self.send(self.random.choice(ENDING), app, self.random.choice(processes))

    def send(self, number, app, process):
        with contextlib.suppress(ProcessLookupError):
            descriptor = os.pidfd_open(process.pid)
            try:
                # The number may be another's by now; the descriptor's cannot become one.
                if any(each.key == process.key for each in self.scene.mine().get(app, [])):
                    signal.pidfd_send_signal(descriptor, number)
            finally:
                os.close(descriptor)


LIST = json.dumps({"method": "org.lifed.List"}).encode() + b"\0"
MONITOR = json.dumps({"method": "org.lifed.Monitor", "more": True}).encode() + b"\0"
RUBBISH = [
    b"\x00\xff\xfe garbage \x80\0", b"\0\0\0\0", b"{}\0", b"[]\0", b'{"method": 7}\0', b"GET / HTTP/1.1\r\n\r\n",
    b'{"method": "org.lifed.Focus", "parameters": []}\0', b'{"method": "org.lifed.List", "par', b"x" * 100_000,
    b'{"method": "org.lifed.List", "parameters": ' + b"[" * 10_000 + b"\0",
]


class Hostile(Client):
    """Reads nothing, sends rubbish or half a message, comes and goes."""

    def __init__(self, name, seed, keeper, ledger):
        super().__init__(name, seed)
        self.keeper = keeper
        self.ledger = ledger

    def work(self):
        action = self.random.choice((self.leave, self.rubbish, self.half, self.deaf, self.flood, self.crowd, self.impatient))
        self.ledger.count("hostile clients")
        # Being cut off is what they deserve.
        with contextlib.suppress(BrokenPipeError, TimeoutError):
            action()
        self.over.wait(self.random.uniform(0, 0.5))

    @contextlib.contextmanager
    def connected(self):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(2)
            client.connect(self.keeper.address)
            yield client

    def leave(self):
        with self.connected():
            pass

    def rubbish(self):
        with self.connected() as client:
            client.sendall(self.random.choice(RUBBISH))

    def half(self):
        with self.connected() as client:
            client.sendall(LIST[: self.random.randrange(1, len(LIST))])
            self.over.wait(self.random.uniform(0, 3))

    def deaf(self):
        """Subscribes, and never reads."""
        with self.connected() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            client.sendall(MONITOR)
            self.over.wait(self.random.uniform(0, 10))

    def flood(self):
        """Asks for more than it will ever read."""
        with self.connected() as client:
            client.sendall(LIST * 200)

    def crowd(self):
        with contextlib.ExitStack() as stack:
            for _ in range(30):
                stack.enter_context(self.connected())

    def impatient(self):
        """Asks for what takes time, and does not wait for it."""
        with self.connected() as client:
            client.sendall(json.dumps({"method": "org.lifed.Home"}).encode() + b"\0")
            client.shutdown(socket.SHUT_WR)
