"""What is compared with the floor, each with what has to be so when the clock stops."""

import os
import shutil
import signal

import supervisors
from apps import App, Listener
from managers import Floor, Lifed
from results import Row
from turns import take_turns

SWITCH = "switch between two apps, persistent client"
REAPED = "the client has the answer that it was reaped; where none comes, /proc says so"
# Rounds of what takes long, if that many are asked for at all.
LARGE_ROUNDS = 20


class Bench:
    """The managers, and the apps that they have from the beginning."""

    def __init__(self, settings, directory, stopwatch, random):
        self.settings = settings
        self.directory = directory
        self.stopwatch = stopwatch
        self.random = random
        self.lifed = Lifed(settings.products, directory / "lifed", stopwatch)
        self.floor = Floor(settings.compiled / "floor", stopwatch)
        self.supervisors, self.missing = supervisors.installed(directory, stopwatch)

    def app(self, name, processes=1):
        return App(self.settings.compiled / "app", self.directory, name, processes)

    def run(self):
        # The floor is the last: the others are compared with it.
        managers = [self.lifed, *self.supervisors, self.floor]
        pairs = {each: Pair(self, each, each.name) for each in managers}
        killed = Pair(self, self.floor, "killed")
        listening = {each.name: ListeningPair(self, each) for each in (self.lifed, self.floor)}
        short = {each: self.add(each, f"{each.name}-short") for each in managers}
        trees = {
            size: {each: self.add(each, f"{each.name}-tree-{size}", size) for each in (self.lifed, self.floor)}
            for size in self.settings.trees
        }
        for each in (self.lifed, *self.supervisors):
            each.start()
        for each in (*pairs.values(), killed, *listening.values()):
            each.start()
        yield from self.switch(pairs, killed)
        yield self.switch_by_program(pairs, killed)
        yield self.switch_listening(listening)
        yield from self.launch_and_terminate(short)
        for size, apps in trees.items():
            yield self.suspend_tree(size, apps)

    def stop(self):
        for each in (self.lifed, *self.supervisors, self.floor):
            each.stop()

    def add(self, manager, name, processes=1):
        app = self.app(name, processes)
        manager.add(app)
        return app

    def launch(self, manager, app):
        """Returns how long it took until main began, once the whole tree is there."""
        app.expect()
        pid, lap = manager.launch(app)
        started = self.stopwatch.until_noted(app, "started")
        self.stopwatch.until_noted(app, "processes")
        app.is_running_as(pid)
        return started - lap.began

    def turns(self, operations, rounds=None):
        return take_turns(rounds or self.settings.rounds, self.random, operations)

    # The rows.

    def switch(self, pairs, killed):
        operations = {each.name: lambda each=each, pair=pair: pair.switch(each.switch) for each, pair in pairs.items()}
        floor = operations.pop(self.floor.name)
        operations["bare kill(2)"] = lambda: killed.switch(self.stopwatch.switch_by_kill)
        operations[self.floor.name] = floor
        whole, answered, ran = self.turns(operations)
        done = "the client has its answer, the one app is seen stopped in /proc, the other has run"
        yield Row(SWITCH, done, "µs", whole)
        answer = "the client has its answer; what answers nothing has been written to"
        yield Row(f"{SWITCH}: the answer", answer, "µs", answered)
        yield Row(f"{SWITCH}: the wake", "the app that was stopped has run", "µs", ran)

    def switch_by_program(self, pairs, killed):
        def by_programs(manager):
            return lambda to, away: self.stopwatch.run(*manager.switch_commands(to, away))

        def kill_both(to, away):
            return self.stopwatch.run(["kill", "-CONT", str(to.pid)], ["kill", "-STOP", str(away.pid)])

        operations = {
            each.commands: lambda each=each, pair=pair: pair.switch(by_programs(each))[0]
            for each, pair in pairs.items()
            if each is not self.floor
        }
        operations["kill -CONT, kill -STOP"] = lambda: killed.switch(kill_both)[0]
        done = "the programs have ended, the one app is seen stopped in /proc, the other has run"
        return Row("switch between two apps, programs", done, "µs", self.turns(operations)[0])

    def switch_listening(self, pairs):
        done = "the app that comes has been told that it is active, after the other has resigned; both answer at once"
        series = self.turns({name: pair.switch for name, pair in pairs.items()})[0]
        return Row("switch between two apps that listen", done, "µs", series)

    def launch_and_terminate(self, apps):
        def run_once(manager):
            launched = self.launch(manager, apps[manager])
            return launched, manager.terminate(apps[manager]).duration

        launched, ended = self.turns({each.name: lambda each=each: run_once(each) for each in apps})
        yield Row("launch", "main of the app has begun", "µs", launched)
        yield Row("terminate an app that ends at once", REAPED, "µs", ended)

    def suspend_tree(self, size, apps):
        for manager, app in apps.items():
            self.launch(manager, app)

        def suspend(manager, app):
            lap = manager.suspend(app)
            manager.resume(app)
            return lap.duration

        operations = {each.name: lambda each=each, app=app: suspend(each, app) for each, app in apps.items()}
        rounds = min(self.settings.rounds, max(LARGE_ROUNDS, self.settings.rounds * 20 // size))
        series = self.turns(operations, rounds)[0]
        for manager, app in apps.items():
            if manager is self.floor:
                # Of the floor's tree, only the first process would end by itself.
                os.killpg(app.pid, signal.SIGKILL)
            manager.terminate(app)
        done = "the client has the answer that every process was seen stopped"
        return Row(f"suspend a tree of {size:,} processes", done, "µs", series)


class Pair:
    """Two apps of which one runs and one is stopped."""

    def __init__(self, bench, manager, name):
        self.bench = bench
        self.manager = manager
        self.away, self.to = (bench.add(manager, f"{name}-{each}") for each in ("one", "two"))

    def start(self):
        for app in (self.to, self.away):
            self.bench.launch(self.manager, app)
        if self.manager is not self.bench.lifed:
            # lifed has only the second in front, and stops the first; the others know no front.
            os.kill(self.to.pid, signal.SIGSTOP)
        self.bench.stopwatch.until_stopped(self.to)

    def switch(self, operate):
        """From the request until everything is so that has to be, until the answer, and until the other app has run.

        The stop is looked for after the answer only: looking takes processor time from those that are looked at.
        """
        to, away = self.to, self.away
        to.notes.continued = 0
        lap = operate(to, away)
        stopwatch = self.bench.stopwatch
        stopped, ran = stopwatch.until_stopped(away), stopwatch.until_noted(to, "continued")
        self.to, self.away = away, to
        return max(lap.ended, stopped, ran) - lap.began, lap.duration, ran - lap.began


class ListeningPair:
    """Two apps with the client library, of which one is in front."""

    def __init__(self, bench, manager):
        self.bench = bench
        self.manager = manager
        names = (f"{manager.name}-listens-{each}" for each in ("one", "two"))
        self.away, self.to = (Listener(bench.settings.compiled / "listener", bench.directory, name) for name in names)
        for app in (self.away, self.to):
            manager.add(app)

    def start(self):
        for app in (self.to, self.away):
            self.bench.launch(self.manager, app)
            self.bench.stopwatch.until_noted(app, "active")
        if self.manager is self.bench.floor:
            os.kill(self.to.pid, signal.SIGSTOP)
        self.bench.stopwatch.until_stopped(self.to)

    def switch(self):
        """From the request until the other app has been told; the rest of the switch is waited for, and not counted."""
        to, away = self.to, self.away
        to.notes.active = 0
        lap = self.manager.focus(to, away)
        told = self.bench.stopwatch.until_noted(to, "active")
        self.bench.stopwatch.until_stopped(away)
        self.to, self.away = away, to
        return told - lap.began
