"""The daemon is killed at random moments, and started again by systemd: the apps notice nothing."""

import os
import random
import time

import pytest

from container import wait_for
from driver import Driver, call, connect
from listeners import LISTENER, Listeners, problems

KILLS = int(os.environ.get("LIFED_KILLS", "20"))
LOG = "/tmp/crash.log"


class Crowd:
    """Apps of every kind, all in the background or in front of one another."""

    def __init__(self, service):
        self.service = service
        self.began = time.time()
        service.container.run(["rm", "-f", LOG])
        self.notes = Listeners(None, service.container.path(LOG))
        self.listening = [self.add(f"listener-{n}", "delay=0.1") for n in range(20)]
        self.listening += [self.add(f"slow-{n}", "delay=0.4") for n in range(5)]
        self.listening += [self.add(f"task-{n}", "delay=0.05", "task=upload", "obeys") for n in range(5)]
        self.listening += [self.add(f"player-{n}", "activity=audio", extra='backgroundModes = ["audio"]') for n in range(5)]
        self.plain = [self.add(f"frozen-{n}", extra='suspendMethod = "freezer"', plain=True) for n in range(5)]
        self.plain += [self.add(f"plain-{n}", plain=True) for n in range(10)]

    def add(self, name, *options, extra="", plain=False):
        family = ["sh", "-c", "sleep infinity & (sleep infinity & exec setsid sleep infinity) & while :; do wait; done"]
        command = family if plain else ["/usr/bin/python3", f"/lifed-source/Tests/EndToEnd/{os.path.basename(LISTENER)}", LOG, *options]
        self.service.manifest(name, command, extra)
        return name

    @property
    def all(self):
        return self.listening + self.plain

    def start(self):
        for name in self.all:
            self.service.lifectl("launch", name)
        self.mains = {app["id"]: app["pid"] for app in self.service.lifectl.apps().values()}

    def check(self):
        # Apps that hold themselves in the background by tasks or activities stay there.
        apps = wait_for(self.at_rest, timeout=90, what="every app where it should be")
        others = [app for app in apps if app.get("pid") != self.mains[app["id"]]]
        assert others == [], self.history([app["id"] for app in others])
        assert [app["state"] for app in apps].count("active") == 1
        for app in apps:
            tree = self.service.kernel.tree(app["pid"])
            assert tree, f"{app}\n{self.history([app['id']])}"
            frozen = app["id"].startswith("frozen")
            if app["state"] == "suspended" and not frozen:
                assert {stat.state for stat in tree} == {"T"}, (app, tree)
            else:
                assert "T" not in {stat.state for stat in tree}, (app, tree)
            if frozen:
                assert self.is_frozen(app["pid"]) == (app["state"] == "suspended"), app
        assert self.overdue() == []
        wrong = problems(self.notes.notes())
        assert wrong == [], self.history([app["id"] for app in apps if any(app["id"] in each for each in wrong)])
        assert all(note.text != "will-terminate" for note in self.notes.notes() if note.kind == "told")

    def overdue(self):
        return [line for line in self.journal() if "did not answer" in line]

    def journal(self):
        command = ["journalctl", "-o", "short-monotonic", "-u", "lifed.service", f"--since=@{self.began:.0f}"]
        return self.service.container.run(command).stdout.splitlines()

    def history(self, names):
        """What the journal and the apps themselves say of some apps."""
        notes = [str(note) for note in self.notes.notes() if note.app in names]
        return "\n".join(notes[-60:] + [line for line in self.journal() if any(name in line for name in names)][-120:])

    def at_rest(self):
        holders = ("task", "player")
        apps = list(self.service.lifectl.apps().values())
        resting = [app["state"] == app["target"] or app["id"].startswith(holders) and app["state"] == "background" for app in apps]
        return apps if all(resting) and not any(map(self.awaits_answer, self.listening)) else None

    def awaits_answer(self, name):
        return self.service.lifectl.json("status", name)["details"].get("pendingCallback")

    def is_frozen(self, pid):
        group = self.service.container.run(["sed", "-n", "s/^0:://p", f"/proc/{pid}/cgroup"]).stdout.strip()
        return "frozen 1" in self.service.container.run(["cat", f"/sys/fs/cgroup{group}/cgroup.events"]).stdout


@pytest.fixture
def crowd(service):
    service.drop_in("[Unit]\nStartLimitIntervalSec=0\n")
    # The crowd is driven on purpose while the daemon comes and goes; it is to have much to do.
    # All of them answer: one that is not heard within these times has lost its answer, however slow the machine is.
    service.configure(
        '[timeouts]\nbackground = "500ms"\nwillResignActive = "10s"\ndidEnterBackground = "30s"\ntask = "1h"\n'
    )
    crowd = Crowd(service)
    service.start()
    crowd.start()
    return crowd


def kill_daemon(service, before=lambda: None):
    """Kills it, and waits until another one answers."""
    lock = service.container.path("/run/lifed/lock")
    old = lock.read_text()
    before()
    service.container.run(["kill", "-KILL", old.split()[0]])
    wait_for(lambda: lock.read_text() not in (old, ""), what="another daemon")
    with connect(service.address) as connection:
        call(connection, "org.lifed.GetStatus", {})


def run_crashes(service, crowd, count, between=lambda number: None):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    moments = random.Random(seed)
    driver = Driver(service.address, crowd.all, seed)
    driver.start()
    for number in range(count):
        between(number)
        # The moment is the thing that is random here.
        kill_daemon(service, before=lambda: time.sleep(moments.uniform(0, 0.25)))
    wait_for(lambda: driver.answered > count, what="answers to the driver")
    driver.stop()
    with connect(service.address) as connection:
        call(connection, "org.lifed.EndInterruption", {"name": "call"})
    crowd.check()
    return driver


def test_nothing_is_lost_when_the_daemon_is_killed_at_random_moments(service, crowd):
    driver = run_crashes(service, crowd, KILLS)
    print(f"{KILLS} kills, {driver.answered} requests answered, {driver.interrupted} connections interrupted")


def test_another_build_takes_over(service, crowd):
    """The program is replaced by another build, the debugging one or a stripped one, between the kills."""
    program = "/usr/local/bin/lifed"
    service.container.run(["cp", program, f"{program}.first"])
    service.container.run(["strip", "-o", f"{program}.second", program])

    def replace(number):
        other = f"{program}.{'first' if number % 2 else 'second'}"
        service.container.run(["sh", "-c", f"cp {other} {program}.new && mv {program}.new {program}"])

    try:
        run_crashes(service, crowd, max(2, KILLS // 5), between=replace)
    finally:
        service.container.run(["sh", "-c", f"mv {program}.first {program}; rm -f {program}.second"])
