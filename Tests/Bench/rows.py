"""The rows that are compared with the baseline, each with what has to be so when the clock stops."""

import os
import signal

import supervisors
from managers import Baseline, Lifed
from pairs import ListeningPair, Pair
from probe import Probe
from results import Row
from stage import Stage

SWITCH = "switch between two apps, persistent client"
REAPED = "the client has the answer that it was reaped; where none comes, /proc says so"
# Rounds of what takes long, if that many are asked for at all.
LARGE_ROUNDS = 20


class Bench(Stage):
    """The managers, and the apps that they have from the beginning."""

    def __init__(self, settings, directory, stopwatch, random):
        super().__init__(settings, directory, stopwatch, random)
        self.lifed = Lifed(settings.products, directory / "lifed", stopwatch)
        self.baseline = Baseline(settings.compiled / "baseline", stopwatch)
        self.supervisors, self.missing = supervisors.installed(directory, stopwatch)
        reason = Probe.reason_to_leave_out()
        self.probes = [] if reason else [Probe(settings, directory / "probe", stopwatch)]
        if reason:
            self.missing.append(f"{Probe.name}: left out, {reason}")

    def run(self):
        # The baseline is the last: the others are compared with it.
        managers = [self.lifed, *self.supervisors, self.baseline]
        pairs = {each: Pair(self, each, each.name) for each in managers}
        probe_pairs = {each: Pair(self, each, each.name) for each in self.probes}
        killed = Pair(self, self.baseline, "killed")
        listening = {each.name: ListeningPair(self, each) for each in (self.lifed, self.baseline)}
        short = {each: self.add(each, f"{each.name}-short") for each in managers}
        trees = {
            size: {each: self.add(each, f"{each.name}-tree-{size}", size) for each in (self.lifed, self.baseline)}
            for size in self.settings.trees
        }
        for each in (self.lifed, *self.probes, *self.supervisors):
            each.start()
        for each in (*pairs.values(), *probe_pairs.values(), killed, *listening.values()):
            each.start()
        yield from self.switch({**probe_pairs, **pairs}, killed)
        yield self.switch_by_program(pairs, killed)
        yield self.ask_by_program(pairs)
        yield self.switch_listening(listening)
        yield from self.launch_and_terminate(short)
        for size, apps in trees.items():
            yield self.suspend_tree(size, apps)

    def stop(self):
        for each in (self.lifed, *self.probes, *self.supervisors, self.baseline):
            each.stop()

    # The rows.

    def switch(self, pairs, killed):
        operations = {each.name: lambda each=each, pair=pair: pair.switch(each.switch) for each, pair in pairs.items()}
        # lifed is the first in the table, what the others are compared with are the last.
        lifed, baseline = operations.pop(self.lifed.name), operations.pop(self.baseline.name)
        kill = {"bare kill(2)": lambda: killed.switch(self.stopwatch.switch_by_kill)}
        operations = {self.lifed.name: lifed, **operations, **kill, self.baseline.name: baseline}
        whole, answered, ran = self.turns(operations)
        done = "the client has its answer, the one app is seen stopped in /proc, the other has run"
        yield Row(SWITCH, done, "µs", whole, Probe.name)
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
            if each is not self.baseline
        }
        operations["kill -CONT, kill -STOP"] = lambda: killed.switch(kill_both)[0]
        done = "the programs have ended, the one app is seen stopped in /proc, the other has run"
        return Row("switch between two apps, programs", done, "µs", self.turns(operations)[0])

    def ask_by_program(self, pairs):
        """The last, what the others are compared with, is runit's, where it is installed."""
        asked = {"lifectl list": ["list"], "lifectl status --json": ["status", "--json"]}
        commands = {name: self.lifed.command(*words) for name, words in asked.items()}
        for manager, pair in pairs.items():
            if isinstance(manager, supervisors.Runit):
                commands["sv status"] = manager.status_command(pair.to)
        operations = {name: lambda each=each: self.stopwatch.run(each).duration for name, each in commands.items()}
        return Row("a question, programs", "the program has ended", "µs", self.turns(operations)[0])

    def switch_listening(self, pairs):
        done = "the app that comes has been told that it is active, after the other has resigned; both answer at once"
        series = self.turns({name: pair.switch for name, pair in pairs.items()})[0]
        return Row("switch between two connected apps", done, "µs", series)

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
            if manager is self.baseline:
                # Of the baseline's tree, only the first process would end by itself.
                os.killpg(app.pid, signal.SIGKILL)
            manager.terminate(app)
        done = "the client has the answer that every process was seen stopped"
        return Row(f"suspend a tree of {size:,} processes", done, "µs", series)
