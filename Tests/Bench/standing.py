"""What lifed costs while nothing is asked of it, and how long a restart takes: with so many apps, all suspended."""

import time

from apps import App
from container import wait_for
from managers import Lifed
from results import Row, Series

# A daemon that has just done something may have something left to do; how long it takes is no measurement.
LOOK = 0.25


class Standing:
    """A daemon of its own for each number of apps. There is no baseline but the one without apps."""

    def __init__(self, settings, directory, stopwatch):
        self.settings = settings
        self.directory = directory
        self.stopwatch = stopwatch

    def rows(self):
        for count in self.settings.apps:
            yield from self.rows_with(count)

    def rows_with(self, count):
        directory = self.directory / f"standing-{count}"
        lifed = Lifed(self.settings.products, directory, self.stopwatch)
        apps = [App(self.settings.compiled / "app", directory, f"app-{number}") for number in range(count)]
        for app in apps:
            lifed.add(app)
        try:
            lifed.start()
            for app in apps:
                lifed.launch(app, background=True)
            self.wait_for_rest(lifed, apps)
            pid = lifed.daemon.process.pid
            suspended = f"{count:,} suspended apps"
            yield Row(f"memory with {suspended}", "PSS of the daemon", "kB", [Series("lifed", [proportional_size(pid)])])
            own = proportional_size(pid, "Pss_Anon")
            yield Row(f"own memory with {suspended}", "anonymous PSS of the daemon", "kB", [Series("lifed", [own])])
            yield self.idle(lifed, suspended)
            if self.settings.restarts:
                yield self.restart(lifed, apps, suspended)
        finally:
            lifed.stop()

    def wait_for_rest(self, lifed, apps):
        # The reply to a List would be in the memory that is measured.
        for app in apps:
            lifed.until_suspended(app)
        kernel, pid = lifed.daemon.kernel, lifed.daemon.process.pid

        def quiet():
            before = kernel.wakeups(pid)
            time.sleep(LOOK)
            return kernel.wakeups(pid) == before

        wait_for(quiet, what="a quiet daemon")

    def idle(self, lifed, suspended):
        kernel, pid, seconds = lifed.daemon.kernel, lifed.daemon.process.pid, self.settings.idle
        before = kernel.wakeups(pid)
        time.sleep(seconds)
        wakeups = kernel.wakeups(pid) - before
        done = f"voluntary switches in {seconds:g} s"
        return Row(f"wake-ups with {suspended}", done, "", [Series("lifed", [wakeups])])

    def restart(self, lifed, apps, suspended):
        measurements = []
        for _ in range(self.settings.restarts):
            began = time.monotonic_ns()
            lifed.hand_over()
            lifed.start()
            measurements.append((time.monotonic_ns() - began) / 1000)
            self.wait_for_rest(lifed, apps)
        done = "from SIGUSR2 until the daemon after it has answered"
        return Row(f"restart with {suspended}", done, "µs", [Series("lifed", measurements)])


def proportional_size(pid, kind="Pss"):
    """The proportional set size in kB: pages that others have, too, count in part. Of the code, the kernel drops and maps pages."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(f"{kind}:"))
