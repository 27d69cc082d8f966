"""Random calls, signals from outside and kills of the daemon, with awkward programs: lifed and the kernel agree.

LIFED_CHAOS_ROUNDS is how many rounds there are, LIFED_SEED repeats a choice of actions (their timing is the machine's).
"""

import collections
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from container import wait_for
from driver import call, connect
from ways import WAYS, running

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(__file__).with_name("awkward.c")
# The short form; 500 rounds are the long one.
ROUNDS = int(os.environ.get("LIFED_CHAOS_ROUNDS", "10"))
# Bounds a disagreement only.
PATIENCE = 30
MOST_DISAGREEMENTS = 10
CONFIGURATION = """
helpers = []
[timeouts]
background = "100ms"
termination = "500ms"
[memory]
reserve = 0
"""
# Their first process ends at once, and they run on.
LAST = {"titled", "generations", "daemon", "daemons"}
KINDS = {
    "forks", "titled", "churns", "generations", "groups", "stubborn", "crashes", "daemon", "daemons", "quits", "leaves", "sheds",
    "hides", "vfork", "again", "parts", "rest",
}
CALLS = {"Launch": 30, "Focus": 25, "Suspend": 20, "Resume": 15, "Terminate": 8, "Reexecute": 3}
OUTSIDE = {signal.SIGCONT: 5, signal.SIGKILL: 3, signal.SIGSTOP: 2}


def is_running(state):
    return state not in ("suspended", "notRunning")


class Chaos:
    def __init__(self, daemon, seed):
        self.daemon = daemon
        self.marks = daemon.marks
        self.random = random.Random(seed)
        self.apps = sorted(KINDS)
        self.connections = []
        # Those that the test itself has stopped. They stay so when a suspended app is resumed, like the stopped job of a shell.
        self.stopped = set()
        self.actions = collections.deque(maxlen=60)
        self.counts = collections.Counter()
        self.disagreements = []

    def note(self, text):
        self.actions.append(f"{time.monotonic():.3f} {text}")

    # Actions

    def play(self, number):
        self.note(f"round {number}")
        for _ in range(self.random.randint(2, 6)):
            self.act()
            self.nap(0.05)
        if self.random.random() < 0.5:
            for _ in range(self.random.randint(1, 4)):
                self.kill_daemon()
                self.nap(0.3)
            wait_for(self.daemon._answers, what="an answer of the daemon")
        elif self.random.random() < 0.2:
            self.kill_keeper()
        self.audit(number)
        if self.random.random() < 0.04:
            self.stop(number)
            self.daemon.start()
            self.launch_all()

    def launch_all(self):
        for app in self.apps:
            self.ask("Launch", app)

    def nap(self, most):
        """The moment is the thing that is random here."""
        time.sleep(self.random.choice((0, self.random.uniform(0, most))))

    def act(self):
        if self.random.random() < 0.75:
            self.ask(self.random.choices(list(CALLS), list(CALLS.values()))[0], self.random.choice(self.apps))
        else:
            self.signal_from_outside()

    def ask(self, method, app):
        """Sends a call. The answer is awaited by nobody, since the daemon may be killed meanwhile."""
        parameters = {} if method == "Reexecute" else {"id": app}
        if method == "Suspend":
            parameters["now"] = self.random.random() < 0.5
        if method == "Launch":
            parameters["background"] = self.random.random() < 0.3
        self.note(f"{method} {parameters}")
        self.counts["calls"] += 1
        with contextlib.suppress(ConnectionError, FileNotFoundError):
            connection = connect(str(self.daemon.socket))
            self.connections.append(connection)
            request = {"method": f"org.lifed.{method}", "parameters": parameters}
            connection.sendall(json.dumps(request).encode() + b"\0")

    def signal_from_outside(self):
        """Signals a process of an app, or all of them, or only its first one.

        When a process is continued, the kernel tells its parent alone. One whose parent is of the app is therefore continued
        with the others only, and before the oldest, which is a child of whoever holds the app.
        """
        number = self.random.choices(list(OUTSIDE), list(OUTSIDE.values()))[0]
        processes = [each for each in self.marks.all() if each.mark != self.marks.daemon]
        if number == signal.SIGCONT:
            # A process that waits in vfork(2) is never stopped, so that nobody is told when it is continued.
            processes = [each for each in processes if each.mark != self.marks.of("vfork")]
        if not processes:
            return
        mark = self.random.choice(processes).mark
        members = [each for each in processes if each.mark == mark]
        members.sort(key=lambda each: (each.started, each.pid), reverse=True)
        if self.random.random() < 0.4:
            chosen = members
        elif number == signal.SIGCONT:
            chosen = members[-1:]
        else:
            chosen = [self.random.choice(members)]
        for process in chosen:
            if number == signal.SIGSTOP:
                self.stopped.add((process.pid, process.started))
            self.marks.signal(process, number)
        self.note(f"{number.name} {self.name(mark)} {[each.pid for each in chosen]}")
        self.counts[number.name] += 1

    def kill_daemon(self):
        self.note("the daemon is killed")
        self.counts["kills"] += 1
        self.daemon.kill()
        if self.random.random() < 0.3:
            self.signal_from_outside()
        self.nap(0.1)
        self.daemon.spawn()

    def kill_keeper(self):
        """Kills what holds an app together where there are no control groups. The daemon is there, and sees it."""
        keepers = [each for each in self.marks.all() if each.name == "lifed-keeper"]
        if keepers:
            keeper = self.random.choice(keepers)
            self.note(f"the keeper {keeper.pid} is killed")
            self.counts["keepers"] += 1
            self.marks.signal(keeper, signal.SIGKILL)

    def stop(self, number):
        """Lets the daemon end, and everything with it."""
        self.note("the daemon is to end")
        self.counts["stops"] += 1
        self.close()
        status = self.daemon.stop()
        if status != 0:
            self.disagree(number, f"the daemon has ended with status {status}", [])
        self.expect(number, self.left)
        self.marks.kill_all()

    def left(self):
        processes = self.marks.all()
        return [("left after lifed has ended", processes)] if processes else []

    def close(self):
        for connection in self.connections:
            connection.close()
        self.connections = []

    # The audit

    def name(self, mark):
        return next((name for name, each in self.marks.names.items() if each == mark), "the daemon")

    def listed(self):
        with connect(str(self.daemon.socket)) as connection:
            apps = call(connection, "org.lifed.List", {})["parameters"]["apps"]
        return {app["id"]: app for app in apps}

    def audit(self, number):
        self.expect(number, self.look)
        self.close()
        for process in self.marks.all():
            key = process.pid, process.started
            if key in self.stopped and is_running(self.daemon.lifectl.state(self.name(process.mark))):
                self.marks.signal(process, signal.SIGCONT)
                self.stopped.remove(key)

    def expect(self, number, find):
        """Waits until there is no disagreement, or for PATIENCE."""
        deadline = time.monotonic() + PATIENCE
        while found := find():
            if time.monotonic() > deadline:
                for text, processes in found:
                    self.disagree(number, text, processes)
                return
            time.sleep(0.02)

    def look(self):
        """Compares what lifed says with what the kernel does. What changes meanwhile says nothing."""
        try:
            apps, first, second = self.listed(), self.marks.all(), self.marks.all()
            if self.shown(apps) != self.shown(self.listed()):
                return [("never at rest", [])]
        except (ConnectionError, FileNotFoundError):
            # It executes its program again.
            return [("no answer of the daemon", [])]
        return [each for name in self.apps for each in self.compare(name, apps.get(name), first, second)]

    @staticmethod
    def shown(apps):
        return {name: (app["state"], app.get("pid")) for name, app in apps.items()}

    def compare(self, name, app, *looks):
        state, pid = (app["state"], app.get("pid")) if app else ("notRunning", None)
        mark = self.marks.of(name)
        # The first process may not have got to its mark.
        first, second = ([each for each in look if each.mark == mark or each.pid == pid] for look in looks)
        if state == "notRunning":
            return [(f"{name} is not running, yet there are", second)] if second else []
        if not second:
            return [(f"{name} is {state}, yet there is no process", [])]
        if state == "suspended":
            # A process that runs, and was made behind the first look, is found by the second.
            run = [each for each in {*first, *second} if not self.daemon.is_still(each)]
            return [(f"{name} is suspended, yet these run", run)] if run else []
        still = [
            each for each in second
            if (each.pid, each.started) not in self.stopped and (each.state == "T" or self.daemon.is_frozen(each))
        ]
        return [(f"{name} is {state}, yet these are stopped", still)] if still else []

    def description(self, process):
        return f"    {process}{', frozen' if self.daemon.is_frozen(process) else ''}"

    def disagree(self, number, text, processes):
        self.disagreements.append(f"round {number}: {text}")
        print(f"round {number}: {text}", *map(self.description, processes[:12]), sep="\n")
        print("  what was done:", *(f"    {each}" for each in list(self.actions)[-60:]), sep="\n")
        names = {self.name(each.mark) for each in processes}
        lines = [line for line in self.daemon.logged.splitlines() if any(f"{name}:" in line for name in names)]
        print("  what lifed said:", *(f"    {each}" for each in lines[-12:]), sep="\n")
        # The others go on from a state in which the two agree.
        numbers = {each.mark for each in processes}
        self.marks.kill_all(lambda each: each.mark in numbers and each.mark != self.marks.daemon)


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
@pytest.mark.parametrize("way", WAYS)
def test_lifed_and_the_kernel_agree(way):
    seed = int(os.environ.get("LIFED_SEED", str(time.time_ns() % 1_000_000)))
    print(f"seed {seed}")
    with running(ROOT / ".build" / os.environ.get("LIFED_BUILD", "release"), WAYS[way], CONFIGURATION) as daemon:
        program = daemon.home / "awkward"
        subprocess.run(["cc", "-O1", "-o", program, SOURCE], check=True)
        chaos = Chaos(daemon, seed)
        for number, kind in enumerate(chaos.apps):
            # With the system's daemon, every other app is of another user.
            daemon.manifest(kind, [program, kind], "exitPolicy = 'last'" if kind in LAST else "", as_user=number % 2)
        daemon.lifectl("reload")
        daemon.lifectl("launch", "rest")
        assert (daemon.lifectl.app("rest")["containment"] == "cgroup") == daemon.way.has_groups
        chaos.launch_all()
        number = 0
        while number < ROUNDS and len(chaos.disagreements) < MOST_DISAGREEMENTS:
            chaos.play(number)
            number += 1
        chaos.stop(number)
        print(f"{number} rounds, {dict(chaos.counts)}")
        assert chaos.disagreements == []
