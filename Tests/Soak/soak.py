#!/usr/bin/env python3
"""A real daemon with many real apps, for a long time, while everything happens that can happen to it.

In the first third of the time the daemon is killed again and again; after that one daemon lives, and is measured.
The exit status is 0 only when nothing was found wrong.
"""

import argparse
import contextlib
import os
import random
import signal
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "EndToEnd"))

import guardian
from checker import Checker
from clients import Shell, Talker
from container import wait_for
from crowd import CONFIGURATION, write_manifests
from driver import call, connect
from measurements import Measurements, print_table
from harm import Hostile, Stranger
from keeper import Keeper, Killer
from ledger import Ledger
from monitor import Monitor
from scene import Scene


class Soak:
    def __init__(self, arguments, directory):
        self.seconds = arguments.minutes * 60
        self.random = random.Random(arguments.seed)
        self.ledger = Ledger()
        self.keeper = Keeper(arguments.products, directory, self.ledger)
        self.foreground_limit = self.random.choice((1, 1, 2, 3))
        self.apps = write_manifests(self.keeper.daemon.configuration / "apps.d", directory / "notes", arguments.apps)
        # The apps that never answer are waited for at the end of each part.
        patience = 20 if self.seconds >= 300 else 8
        configuration = CONFIGURATION.format(front=self.foreground_limit, patience=patience)
        (self.keeper.daemon.configuration / "lifed.toml").write_text(configuration)
        self.scene = Scene(self.keeper.daemon.state)
        self.checker = Checker(self.keeper, Scene(self.keeper.daemon.state), self.apps, self.foreground_limit, self.ledger)
        self.measurements = Measurements()
        self.clients = []
        self.killer = None

    def seed(self):
        return self.random.randrange(1 << 32)

    def run(self):
        self.keeper.start()
        wait_for(lambda: self.keeper.daemon.lifectl("status", check=False).returncode == 0, what="the daemon's answer")
        self.launch_all()
        self.busy(self.seconds / 3, kills=True)
        self.busy(self.seconds * 2 / 3, kills=False)
        self.keeper.stop()
        self.look_for_leftovers()
        self.measurements.judge(self.ledger)

    def launch_all(self):
        with connect(self.keeper.address) as connection:
            for app in self.apps:
                call(connection, "org.lifed.Launch", {"id": app, "background": True})

    def busy(self, seconds, kills):
        """All clients work; then all stop, and everything has to come to rest."""
        names = list(self.apps)
        self.clients = [Talker(f"talker {n}", self.seed(), self.keeper, names, self.ledger, self.checker) for n in range(4)]
        self.clients += [Shell("shell", self.seed(), self.keeper, names, self.ledger)]
        self.clients += [Hostile(f"hostile {n}", self.seed(), self.keeper, self.ledger) for n in range(2)]
        self.clients += [Stranger("stranger", self.seed(), self.keeper, self.scene, self.ledger, self.checker)]
        self.clients += [Monitor("monitor", self.keeper, self.foreground_limit, self.ledger)]
        for each in self.clients:
            each.start()
        if kills:
            self.killer = Killer(self.keeper, self.seed(), longest=10 if self.seconds >= 300 else 3)
            self.killer.start()
        self.watch(seconds, measures=not kills)
        if kills:
            self.killer.stop()
        self.calm()

    def watch(self, seconds, measures):
        over = time.monotonic() + seconds
        while time.monotonic() < over:
            self.keeper.check()
            self.check_threads()
            try:
                self.checker.look()
            except (ConnectionError, FileNotFoundError, TimeoutError):
                self.ledger.count("looks while the daemon was away")
            if measures:
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    self.measurements.take(self.keeper.pid)
            time.sleep(1 if self.seconds >= 300 else 0.2)

    def check_threads(self):
        for each in self.clients:
            if not each.is_alive():
                self.ledger.problem("a client of the soak itself has failed", each.name)

    def calm(self):
        for each in self.clients:
            if not each.stop():
                self.ledger.problem("a client waits in vain", each.name)
        with connect(self.keeper.address) as connection:
            for name in ("call", "alert"):
                call(connection, "org.lifed.EndInterruption", {"name": name})
            call(connection, "org.lifed.Simulate", {"event": "unlock"})
        try:
            wait_for(self.checker.at_rest, timeout=90, what="every app where it should be")
        except AssertionError:
            restless = [app for app in self.checker.list().values() if app["state"] != app["target"]]
            self.ledger.problem("no rest", restless)
        self.checker.strict()

    def look_for_leftovers(self):
        for app, processes in self.scene.mine().items():
            self.ledger.problem("processes are left after the shutdown", (app, processes))

    def clean_up(self):
        """After a failure: nothing of it may stay behind."""
        for each in self.clients:
            each.over.set()
        if self.killer and self.killer.is_alive():
            self.killer.over.set()
            self.killer.join()
        guardian.end_everything(self.keeper.directory)

    def report(self):
        rows = [("time (s)", f"{time.monotonic() - self.ledger.began:.0f}"), ("apps", len(self.apps))]
        rows += [("foreground slots", self.foreground_limit), ("kills of the daemon", self.keeper.kills)]
        rows += sorted((name, str(value)) for name, value in self.ledger.counts.items())
        rows += sorted((name, f"{value:.2f}") for name, value in self.ledger.longest.items())
        print_table(rows + self.measurements.rows() + [("problems", len(self.ledger.problems))])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--apps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--products", type=Path, default=ROOT / ".build" / os.environ.get("LIFED_BUILD", "release"))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit("interrupted"))
    watch = guardian.watch("soak")
    directory = watch.directory
    soak = Soak(arguments, directory)
    try:
        soak.run()
    finally:
        soak.clean_up()
        soak.report()
        if soak.ledger.problems:
            print(f"the daemon's log and everything else: {directory}")
            watch.keep()
    return 1 if soak.ledger.problems else 0


if __name__ == "__main__":
    sys.exit(main())
