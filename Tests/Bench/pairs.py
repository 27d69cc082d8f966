"""Two apps that take turns in the foreground."""

import os
import signal

from apps import Listener
from managers import Lifed
from probe import Probe


class Pair:
    """Two apps of which one runs and one is stopped."""

    def __init__(self, stage, manager, name):
        self.stage = stage
        self.manager = manager
        self.away, self.to = (stage.add(manager, f"{name}-{each}") for each in ("one", "two"))

    def start(self):
        for app in (self.to, self.away):
            self.stage.launch(self.manager, app)
        if not isinstance(self.manager, (Lifed, Probe)):
            # These have only the second in the foreground, and stop the first; the others know no foreground.
            os.kill(self.to.pid, signal.SIGSTOP)
        self.stage.stopwatch.until_stopped(self.to)

    def switch(self, operate):
        """From the request until everything is so that has to be, until the answer, and until the other app has run.

        The stop is looked for after the answer only: looking takes processor time from those that are looked at.
        """
        to, away = self.to, self.away
        to.notes.continued = 0
        lap = operate(to, away)
        stopwatch = self.stage.stopwatch
        stopped, ran = stopwatch.until_stopped(away), stopwatch.until_noted(to, "continued")
        self.to, self.away = away, to
        return max(lap.ended, stopped, ran) - lap.began, lap.duration, ran - lap.began


class ListeningPair:
    """Two apps with the client library, of which one is in the foreground."""

    def __init__(self, stage, manager):
        self.stage = stage
        self.manager = manager
        names = (f"{manager.name}-listens-{each}" for each in ("one", "two"))
        self.away, self.to = (Listener(stage.settings.compiled / "listener", stage.directory, name) for name in names)
        for app in (self.away, self.to):
            manager.add(app)

    def start(self):
        for app in (self.to, self.away):
            self.stage.launch(self.manager, app)
            self.stage.stopwatch.until_noted(app, "active")
        if not isinstance(self.manager, Lifed):
            os.kill(self.to.pid, signal.SIGSTOP)
        self.stage.stopwatch.until_stopped(self.to)

    def switch(self):
        """From the request until the other app has been told; the rest of the switch is waited for, and not counted."""
        to, away = self.to, self.away
        to.notes.active = 0
        lap = self.manager.focus(to, away)
        told = self.stage.stopwatch.until_noted(to, "active")
        self.stage.stopwatch.until_stopped(away)
        self.to, self.away = away, to
        return told - lap.began
