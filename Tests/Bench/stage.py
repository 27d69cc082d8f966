"""What every measurement needs: a place for its apps, the stopwatch, and an order that is drawn."""

from apps import App
from turns import take_turns


class Stage:
    def __init__(self, settings, directory, stopwatch, random):
        self.settings = settings
        self.directory = directory
        self.stopwatch = stopwatch
        self.random = random

    def app(self, name, processes=1):
        return App(self.settings.compiled / "app", self.directory, name, processes)

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
        return take_turns(rounds or self.settings.rounds, self.random, operations, self.settings.quiet / 1000)
