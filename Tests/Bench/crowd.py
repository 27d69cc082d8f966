"""The same with few apps and with many, all suspended: what the apps cost that are not concerned."""

import contextlib

from managers import Lifed
from pairs import Pair
from results import Row
from stage import Stage


class Crowd(Stage):
    """A daemon for each number of apps; the first number is what the others are compared with."""

    def rows(self):
        members = [Member(self, count) for count in reversed(self.settings.crowds)]
        with contextlib.ExitStack() as stack:
            for each in members:
                stack.callback(each.lifed.stop)
                each.start()
            yield from self.compare(members)

    def compare(self, members):
        def turns(operation):
            return self.turns({each.name: lambda each=each: operation(each) for each in members})

        done = "the client has its answer, the one app is seen stopped in /proc, the other has run"
        switched = turns(lambda each: each.pair.switch(each.lifed.switch)[0])[0]
        yield Row("a switch among many apps", done, "µs", switched)
        launched, ended = turns(lambda each: each.run_once())
        yield Row("a launch among many apps", "main of the app has begun", "µs", launched)
        yield Row("an end among many apps", "the client has the answer that it was reaped", "µs", ended)


class Member:
    def __init__(self, stage, count):
        self.stage = stage
        self.name = f"{count:,} apps"
        self.lifed = Lifed(stage.settings.products, stage.directory / f"crowd-{count}", stage.stopwatch)
        self.crowd = [stage.add(self.lifed, f"crowd-{count}-{number}") for number in range(count)]
        self.pair = Pair(stage, self.lifed, f"crowd-{count}-pair")
        self.short = stage.add(self.lifed, f"crowd-{count}-short")

    def start(self):
        self.lifed.start()
        for app in self.crowd:
            self.lifed.launch(app, background=True)
        for app in self.crowd:
            self.lifed.until_suspended(app)
        self.pair.start()

    def run_once(self):
        launched = self.stage.launch(self.lifed, self.short)
        return launched, self.lifed.terminate(self.short).duration
