"""Random operations, while the daemon is killed and apps crash in the middle of their callbacks: the rules that hold all the time.

LIFED_OPERATIONS is how many, LIFED_SEED repeats a choice of operations (their timing is the machine's).
"""

import os
import random
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from container import wait_for
from driver import call, connect
from ends import Ends
from listeners import Listeners, problems

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "Soak"))

from ledger import Ledger
from monitor import Monitor

ERRATIC = str(Path(__file__).with_name("erratic.py"))
APPS = [f"app{number}" for number in range(8)]
OPERATIONS = {
    "Focus": 30, "Launch": 20, "Suspend": 6, "Resume": 4, "Terminate": 4, "Restart": 2, "Home": 4, "Wake": 4, "Open": 6,
    "BeginInterruption": 3, "EndInterruption": 6, "Simulate": 4,
}
# Nothing may be late: what has not happened in this time is lost.
CONFIGURATION = """
[timeouts]
willResignActive = "1min"
didEnterBackground = "1min"
termination = "1min"
callback = "1min"
launch = "1min"
task = "2s"
taskExpiration = "1min"
"""
REFUSALS = {
    "NoSuchApp", "NotRunning", "Refused", "Superseded", "Interrupted", "Ended", "Unanswered", "LaunchFailed", "Failed",
    "NoSuchInterruption",
}
DRIVERS = 4


class Operator(threading.Thread):
    """Asks for one thing after the other, each on a connection of its own, on which one answer comes and nothing else."""

    def __init__(self, daemon, seed, count, ledger):
        super().__init__(daemon=True)
        self.address = str(daemon.socket)
        self.random = random.Random(seed)
        self.count = count
        self.ledger = ledger

    def run(self):
        while self.count:
            try:
                with connect(self.address) as connection:
                    self.count -= 1
                    self.ask(connection, *self.request())
            except (ConnectionError, FileNotFoundError):
                self.ledger.count("cut off by the daemon's death")
                time.sleep(0.01)
            except TimeoutError:
                self.ledger.problem("no answer", self.name)

    def request(self):
        method = self.random.choices(list(OPERATIONS), list(OPERATIONS.values()))[0]
        app, name = self.random.choice(APPS), self.random.choice(("call", "alert"))
        match method:
            case "Launch": return method, {"id": app, "background": self.random.random() < 0.2}
            case "Suspend": return method, {"id": app, "now": self.random.random() < 0.5}
            case "Focus": return method, {"id": app} | ({"wait": "answered"} if self.random.random() < 0.3 else {})
            case "Open": return method, {"id": app, "url": "example:page"}
            case "Wake": return method, {"id": app, "kind": "fetch"}
            case "Home": return method, {}
            case "Simulate": return method, {"event": self.random.choice(("lock", "unlock", "unlock"))}
            case "BeginInterruption": return method, {"name": name}
            case "EndInterruption": return method, {"name": name} | ({"answer": app} if self.random.random() < 0.3 else {})
            case _: return method, {"id": app}

    def ask(self, connection, method, parameters):
        reply = call(connection, f"org.lifed.{method}", parameters)
        connection.shutdown(socket.SHUT_WR)
        if more := connection.recv(65536):
            self.ledger.problem("more than one answer", (method, parameters, reply, more))
        self.judge(method, parameters, reply)

    def judge(self, method, parameters, reply):
        self.ledger.count("answered")
        error = reply.get("error", "").removeprefix("org.lifed.")
        app = (reply.get("parameters") or {}).get("app")
        if error and error not in REFUSALS:
            self.ledger.problem("an unexpected error", (method, parameters, reply))
        if not error and method == "Focus" and app["state"] != "active":
            self.ledger.problem("a focus that is none", (parameters, app))
        if not error and method == "Suspend" and app["state"] != "suspended":
            self.ledger.problem("a suspension that is none", (parameters, app))


class Kept:
    """What the monitor needs of a daemon."""

    def __init__(self, daemon):
        self.address = str(daemon.socket)


@pytest.fixture
def listeners(direct, tmp_path):
    (direct.configuration / "lifed.toml").write_text(CONFIGURATION)
    return Listeners(direct, tmp_path / "notes")


def write_manifests(daemon, log, seed):
    for app in APPS:
        (daemon.configuration / f"apps.d/{app}.toml").write_text(
            f"command = ['{sys.executable}', '{ERRATIC}', '{log}', '{seed}', '20']\n"
            'callbacks = "required"\nschemes = ["example"]\nbackgroundModes = ["fetch"]\n'
        )
    daemon.lifectl("reload")


def false_exits(notes):
    """The crashes that the next launch tells otherwise: not in the state in which the app was, or not as a crash."""
    crashes, found = {}, []
    for note in notes:
        if note.kind == "crashes":
            crashes[note.app] = note
        elif note.text.startswith("will-finish-launching") and (crash := crashes.pop(note.app, None)):
            fields = dict(field.split("=", 1) for field in note.text.split()[1:])
            said = fields.get("previous-reason"), fields.get("previous-state")
            # An app that was asked to end meanwhile has ended for that reason.
            if said[0] != "terminate" and (said[0] != "crash" or said[1] not in crash.text.split(",")):
                found.append((crash, said))
    return found


def test_random_operations(direct, listeners):
    count = int(os.environ.get("LIFED_OPERATIONS", "1000"))
    seed = int(os.environ.get("LIFED_SEED", str(time.time_ns() % 1_000_000)))
    print(f"seed {seed}")
    chooser, ledger = random.Random(seed), Ledger()
    write_manifests(direct, listeners.log, seed)
    monitor = Monitor("monitor", Kept(direct), 1, ledger)
    operators = [Operator(direct, chooser.random(), count // DRIVERS, ledger) for _ in range(DRIVERS)]
    for thread in [monitor, *operators]:
        thread.start()
    ends = Ends(direct, APPS, ledger)
    kills = 0
    while any(operator.is_alive() for operator in operators):
        # The moment is the thing that is random here.
        operators[chooser.randrange(DRIVERS)].join(timeout=chooser.uniform(0.2, 2))
        ends.look()
        direct.process.kill()
        direct.process.wait()
        kills += 1
        direct.start()
        ends.look()
    for name in ("call", "alert"):
        direct.lifectl("interrupt", "end", "--name", name, check=False)
    # The app that comes to the foreground may crash.
    direct.lifectl("simulate", "unlock", check=False)

    def at_rest():
        apps = direct.lifectl.apps().values()
        return all(app["state"] == app["target"] for app in apps)

    wait_for(at_rest, timeout=90, what="every app where it is to be")
    assert monitor.stop()
    notes = sorted(listeners.notes(), key=lambda note: note.time)
    crashes = sum(note.kind == "crashes" for note in notes)
    print(f"{kills} kills of the daemon, {crashes} crashes of apps, {dict(ledger.counts)}")
    assert ledger.problems == []
    assert ledger.counts["answered"] > count / 2
    assert problems(notes) == []
    for crash, said in false_exits(notes):
        near = [str(note) for note in notes if note.app == crash.app and abs(note.time - crash.time) < 5_000_000]
        print(crash, said, *near[-30:], sep="\n")
    assert false_exits(notes) == []
    assert not [note for note in notes if note.text.startswith("goodbye")]
    assert kills and (crashes or count < 1000)
