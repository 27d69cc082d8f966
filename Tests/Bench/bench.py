#!/usr/bin/env python3
"""Measures lifed beside other supervisors and the kernel's own calls, in turns on the same machine, as Markdown.

A time says more about the machine than about lifed; the ratio of two times that were taken in turns holds elsewhere.
"""

import argparse
import contextlib
import ctypes
import gc
import itertools
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "Tests" / "EndToEnd"))

import guardian
from apps import App, run
from kernel import Kernel
from managers import Kill, Lifed, Probe, Runit, S6, Supervisord, Systemd

REST = 0.003  # seconds before each operation, in which the operation before comes to its end
SHORT_LIVED = 128  # apps that are launched and ended in turn, because runsv sleeps for a second after a short life
CROWD = 1000
IDLE = 10  # seconds in which wake-ups are counted
SWIFT_FLAGS = ["-O", "-swift-version", "6", "-strict-memory-safety", "-parse-as-library"]

SWITCH, SHELL, LIST = "switch, persistent client", "switch, from a shell", "list, from a shell"
LAUNCH, END = "launch", "end"
# The goals: lifed as a multiple of another, at most.
GOALS = {(row, other): 1 for row in (SHELL, LAUNCH, END) for other in ("runit", "s6", "supervisord", "systemd")}
GOALS |= {(SWITCH, "probe"): 1.25, (SWITCH, "runit"): 1, (SWITCH, "s6"): 1}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="orders the turns")
    builds = "where lifed and lifectl are; once more to measure another build in the same run"
    parser.add_argument("--products", action="append", metavar="[NAME=]DIRECTORY", help=builds)
    settings = parser.parse_args()
    default = ROOT / ".build" / os.environ.get("LIFED_BUILD", "release")
    words = [each.rpartition("=") for each in settings.products or [f"lifed={default}"]]
    settings.products = {name or "lifed": Path(directory).absolute() for name, _, directory in words}
    return settings


class Pair:
    """Two apps of a manager, of which one runs and one is stopped."""

    def __init__(self, bench, manager):
        self.manager = manager
        self.away, self.to = bench.add(manager), bench.add(manager)

    def start(self):
        for app in (self.to, self.away):
            launch(self.manager, app)
        if not self.manager.has_foreground:
            os.kill(self.to.notes.pid, signal.SIGSTOP)
        self.to.until_stopped()

    def switch(self):
        return self._measure(self.manager.switch)

    def switch_from_shell(self):
        return self._measure(lambda to, away: run(self.manager.switch_commands(to, away), self.manager.variables))

    def list_from_shell(self):
        return run(self.manager.list_commands(self.to), self.manager.variables).duration

    def _measure(self, operate):
        """Until the answer has come, one app has stopped, and the other has run."""
        to, away = self.to, self.away
        to.notes.continued = 0
        lap = operate(to, away)
        stopped, ran = away.until_stopped(), to.until_noted("continued")
        self.to, self.away = away, to
        return max(lap.ended, stopped, ran) - lap.began


def launch(manager, app):
    """Until main of the app began."""
    app.notes.started = 0
    lap = manager.launch(app)
    started = app.until_noted("started")
    app.open_stat()
    return started - lap.began


class Bench:
    def __init__(self, settings, directory):
        self.settings = settings
        self.directory = directory
        self.random = random.Random(settings.seed)
        self.numbers = itertools.count(1)
        # Row to alternative to measurements in µs, and lines of a second table, about lifed alone.
        self.rows = {}
        self.alone = {}

    def add(self, manager):
        app = App(self.directory / "app", self.directory, f"app-{next(self.numbers)}")
        manager.add(app)
        return app

    def lifed(self, purpose):
        builds = enumerate(self.settings.products.items())
        return [Lifed(self.directory / f"{purpose}-{number}", *build) for number, build in builds]

    @staticmethod
    def start(managers, stack):
        for each in managers:
            each.start()
            stack.callback(each.stop)

    def turns(self, operations, rounds=None):
        """Does each operation once a round, in random order, and returns the microseconds of each."""
        taken = {name: [] for name in operations}
        for _ in range(rounds or self.settings.rounds):
            for name in self.random.sample(list(operations), len(operations)):
                time.sleep(REST)
                taken[name].append(operations[name]() / 1000)
        return taken

    def compare(self):
        managers = self.lifed("lifed")
        for kind in (Probe, Kill, Runit, S6, Supervisord, Systemd):
            if reason := kind.reason_to_leave_out():
                print(f"{kind.name} is left out: {reason}")
            else:
                managers.append(kind(self.directory / kind.__name__.lower()))
        pairs = [Pair(self, each) for each in managers]
        ending = [each for each in managers if hasattr(each, "end")]
        short = {each: [self.add(each) for _ in range(min(SHORT_LIVED, self.settings.rounds))] for each in ending}
        with contextlib.ExitStack() as stack:
            self.start(managers, stack)
            for pair in pairs:
                pair.start()
            self.compare_switches(pairs)
            self.compare_launches(short)

    def compare_switches(self, pairs):
        def row(name, operation, needed):
            able = [each for each in pairs if hasattr(each.manager, needed)]
            self.rows[name] = self.turns({each.manager.name: getattr(each, operation) for each in able})

        row(SWITCH, "switch", "switch")
        row(SHELL, "switch_from_shell", "switch_commands")
        row(LIST, "list_from_shell", "list_commands")

    def compare_launches(self, short):
        ends = {each.name: [] for each in short}

        def launch_and_end(manager):
            app = short[manager].pop(0)
            short[manager].append(app)
            launched = launch(manager, app)
            ends[manager.name].append(manager.end(app).duration / 1000)
            return launched

        operations = {each.name: lambda each=each: launch_and_end(each) for each in short}
        self.rows[LAUNCH] = self.turns(operations)
        self.rows[END] = ends

    def measure_crowd(self):
        """What lifed costs at rest, and with many suspended apps."""
        few, crowds = self.lifed("few"), self.lifed("crowd")
        pairs = {each: Pair(self, each) for each in few + crowds}
        apps = {each: [self.add(each) for _ in range(CROWD)] for each in crowds}
        with contextlib.ExitStack() as stack:
            self.start(few, stack)
            self.tell("memory without apps, kB (PSS)", few, lambda each: memory(each, "Pss"))
            self.tell("own pages of that, kB", few, lambda each: memory(each, "Pss_Anon"))
            before = [memory(each, "Pss_Anon") for each in few]
            self.start(crowds, stack)
            for each in crowds:
                for app in apps[each]:
                    each.launch(app, background=True)
                for app in apps[each]:
                    each.suspend(app)
            growth = {each: memory(each, "Pss_Anon") - empty for each, empty in zip(crowds, before)}
            self.tell("memory for each suspended app, kB (own pages)", crowds, lambda each: growth[each] / CROWD, 1)
            self.tell(f"wake-ups in {IDLE} s with {CROWD:,} suspended apps", crowds, wakeups(crowds).get)
            for pair in pairs.values():
                pair.start()
            taken = self.turns({each: pair.switch for each, pair in pairs.items()})
            ratios = {many: median(taken[many]) / median(taken[one]) for many, one in zip(crowds, few)}
            self.tell(f"switch with {CROWD:,} suspended apps, as a multiple of one without", crowds, ratios.get, 2)
            restarts = self.turns({each: lambda each=each: each.restart().duration for each in crowds}, rounds=5)
            self.tell(f"restart with {CROWD:,} suspended apps, ms", crowds, lambda each: median(restarts[each]) / 1000)

    def tell(self, name, daemons, value, digits=0):
        self.alone[name] = {each.name: f"{value(each):,.{digits}f}" for each in daemons}


def memory(lifed, kind):
    """In kB; pages that other processes have, too, count in part."""
    with open(f"/proc/{lifed.daemon.process.pid}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(f"{kind}:"))


def wakeups(daemons):
    kernel = Kernel()
    pids = {each: each.daemon.process.pid for each in daemons}
    for pid in pids.values():
        kernel.wait_until_quiet(pid)
    before = {each: kernel.wakeups(pid) for each, pid in pids.items()}
    time.sleep(IDLE)
    return {each: kernel.wakeups(pid) - before[each] for each, pid in pids.items()}


def compile_programs(directory):
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run([*compiler, "-O2", "-Wall", "-Werror", HERE / "app.c", "-o", directory / "app"], check=True)
    if swiftc := shutil.which("swiftc"):
        places = ["-module-cache-path", directory / "modules", "-o", directory / "probe-program"]
        sources = ["-import-objc-header", HERE / "probe.h", HERE / "Probe.swift"]
        subprocess.run([swiftc, *SWIFT_FLAGS, *places, *sources], check=True)


def print_table(first, columns, rows):
    """A column that is missing from a row stays empty."""
    lines = [[first, *columns], ["---"] * (len(columns) + 1)]
    lines += [[name, *(cells.get(each, "") for each in columns)] for name, cells in rows.items()]
    print("", *("| " + " | ".join(line) + " |" for line in lines), sep="\n")


def ratios(row, series, name):
    """A ratio that misses its goal is bold."""
    cells = {}
    for other, taken in series.items():
        ratio = median(series[name]) / median(taken)
        cells[other] = f"**{ratio:.2f}**" if ratio > GOALS.get((row, other), ratio) else f"{ratio:.2f}"
    return cells


def print_results(bench):
    columns = list(dict.fromkeys(name for row in bench.rows.values() for name in row))
    times = {
        row: {name: f"{median(taken):,.0f} ({min(taken):,.0f})" for name, taken in series.items()}
        for row, series in bench.rows.items()
    }
    print_table("median (minimum), µs", columns, times)
    for name in bench.settings.products:
        rows = {row: ratios(row, series, name) for row, series in bench.rows.items()}
        print_table(f"{name} as a multiple of", [each for each in columns if each != name], rows)
    print_table("lifed alone", bench.settings.products, bench.alone)


def print_machine(when):
    load = " ".join(f"{each:.2f}" for each in os.getloadavg())
    print(f"{when}: load {load} on {len(os.sched_getaffinity(0))} processors, Linux {platform.release()}", flush=True)


def main():
    settings = parse()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit("interrupted"))
    directory = guardian.watch("bench").directory
    compile_programs(directory)
    gc.disable()
    ctypes.CDLL(None).prctl(29, 1)  # PR_SET_TIMERSLACK: short sleeps end on time
    print_machine("before")
    bench = Bench(settings, directory)
    bench.compare()
    bench.measure_crowd()
    print_results(bench)
    print_machine("\nafter")
    print(f"{settings.rounds} rounds, seed {settings.seed}")


if __name__ == "__main__":
    main()
