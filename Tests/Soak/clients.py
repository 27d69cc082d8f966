"""Clients of a soak that know what they want, and judge the answers."""

import json
import os
import random
import subprocess
import threading
import time

from driver import call, connect
from judge import Judge

WISHES = {
    "Focus": 30, "Launch": 22, "Suspend": 10, "Resume": 8, "Terminate": 5, "Kill": 3, "Restart": 3, "Home": 4, "Wake": 3,
    "BeginInterruption": 2, "EndInterruption": 4, "Describe": 5, "List": 2, "GetStatus": 3, "Run": 3, "Open": 1,
    "ContinueActivity": 2, "SimulateMemoryPressure": 1, "Simulate": 1, "Reload": 0.5, "Mistake": 2,
}
ABOUT_ONE = ("Focus", "Launch", "Suspend", "Resume", "Terminate", "Kill", "Restart", "Wake", "Describe", "ContinueActivity")
MISTAKES = [
    ("Focus", {"id": "no.such.app"}), ("Focus", {}), ("Launch", {"id": "../../etc"}), ("Launch", {"id": 7}),
    ("Run", {"command": []}), ("Run", {"command": ["/nonexistent"], "id": "missing"}), ("Suspend", {"id": ""}),
    ("Simulate", {"event": "earthquake"}), ("Frobnicate", {}), ("BeginInterruption", {"name": "x" * 65}),
]
ADHOC = [f"adhoc-{number}" for number in range(5)]


class Client(threading.Thread):
    """Does one thing after the other until it is told to stop; a daemon that goes away is come back to."""

    def __init__(self, name, seed):
        super().__init__(daemon=True, name=name)
        self.random = random.Random(seed)
        self.over = threading.Event()

    def run(self):
        while not self.over.is_set():
            try:
                self.work()
            except (ConnectionError, FileNotFoundError):
                self.over.wait(0.02)

    def stop(self):
        self.over.set()
        self.join(timeout=90)
        return not self.is_alive()


class Talker(Client):
    """A persistent connection over which random things are asked for, right and wrong ones."""

    def __init__(self, name, seed, keeper, apps, ledger, checker):
        super().__init__(name, seed)
        self.keeper = keeper
        self.apps = apps
        self.ledger = ledger
        self.judge = Judge(ledger, checker)

    def work(self):
        with connect(self.keeper.address) as connection:
            self.ledger.count("connections")
            while not self.over.wait(self.random.uniform(0, 0.1)):
                method, parameters = self.request()
                began = time.monotonic()
                try:
                    reply = call(connection, f"org.lifed.{method}", parameters)
                except TimeoutError:
                    self.ledger.problem("a request was not answered in a minute", f"{method} {parameters}")
                    return
                except ConnectionError:
                    self.ledger.count("requests cut off by the daemon's death")
                    raise
                self.ledger.count("requests answered")
                self.ledger.measure("longest answer (s)", time.monotonic() - began)
                self.judge.reply(method, parameters, reply)
                if method == "Simulate":
                    call(connection, "org.lifed.Simulate", {"event": "unlock"})

    def request(self):
        method = self.random.choices(list(WISHES), list(WISHES.values()))[0]
        app = self.random.choice(self.apps + ADHOC)
        if method == "Mistake":
            return self.random.choice(MISTAKES)
        if "Interruption" in method:
            return method, {"name": self.random.choice(("call", "alert"))}
        if method == "Run":
            return method, {"command": ["sleep", "infinity"], "id": self.random.choice(ADHOC)}
        if method == "Open":
            return method, {"url": "https://example.org/", "id": app}
        if method == "SimulateMemoryPressure":
            return method, {"level": self.random.choice(("warning", "warning", "critical"))}
        if method == "Simulate":
            return method, {"event": "lock"}
        if method not in ABOUT_ONE:
            return method, {}
        parameters = {"id": app}
        if method == "Launch" and self.random.random() < 0.3:
            parameters["background"] = True
        if method == "Wake":
            parameters["kind"] = "fetch"
        if method == "ContinueActivity":
            parameters["type"] = "org.example.read"
        return method, parameters


class Shell(Client):
    """A user at a terminal, or a script: one lifectl after the other."""

    statuses = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 66, 69, 73, 75}

    def __init__(self, name, seed, keeper, apps, ledger):
        super().__init__(name, seed)
        self.keeper = keeper
        self.apps = apps
        self.ledger = ledger

    def work(self):
        app = self.random.choice(self.apps)
        arguments = self.random.choice((
            ["focus", app], ["launch", app], ["suspend", app], ["resume", app], ["list", "--json"],
            ["status", app, "--json"], ["status"], ["home"], ["interrupt", "end"], ["terminate", app],
        ))
        program = str(self.keeper.daemon.products / "lifectl")
        environment = {**os.environ, "LIFED_SOCKET": self.keeper.address}
        result = subprocess.run(
            [program, *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90
        )
        self.ledger.count("lifectl commands")
        lines = len(result.stderr.splitlines())
        if result.returncode not in self.statuses or lines != (result.returncode != 0):
            self.ledger.problem("lifectl", f"{arguments}: status {result.returncode}, {result.stderr!r}")
        if result.returncode == 0 and "--json" in arguments:
            json.loads(result.stdout)
        self.over.wait(self.random.uniform(0, 0.3))
