"""The daemon's memory and descriptors over time."""

import os
import statistics
import time


class Measurements:
    """Samples of the steady part of a soak, in which one daemon lives all the time."""

    # An app that the daemon has started itself has a channel, which a restored one has not, and what goes with it:
    # kB for each descriptor more.
    memory_of_a_descriptor = 2
    # kB beyond that, and descriptors, by which the last quarter may exceed the second: less than a page an app, and some
    # clients.
    memory_slack = 512
    descriptor_slack = 64

    def __init__(self):
        self.samples = []

    def take(self, pid):
        self.samples.append((time.monotonic(), own_memory(pid), len(os.listdir(f"/proc/{pid}/fd"))))

    def judge(self, ledger):
        if len(self.samples) < 40:
            return
        memory, descriptors = (self.median(3, column) - self.median(1, column) for column in (1, 2))
        explained = max(0, descriptors) * self.memory_of_a_descriptor
        if memory - explained > self.memory_slack:
            ledger.problem("growth", f"memory: {memory:.0f} kB from the second quarter to the last; {explained:.0f} explained")
        if descriptors > self.descriptor_slack:
            ledger.problem("growth", f"descriptors: {descriptors:.0f} from the second quarter to the last")

    def median(self, quarter, column):
        return statistics.median(each[column] for each in self.quarter(quarter))

    def quarter(self, number):
        size = len(self.samples) // 4
        return self.samples[number * size : (number + 1) * size]

    def rows(self):
        if len(self.samples) < 4:
            return []
        # The memory for every new app is no growth.
        steady = self.samples[len(self.samples) // 4 :]
        times = [each[0] / 60 for each in steady]
        rows = []
        for column, name in ((1, "daemon's own memory (kB)"), (2, "daemon's descriptors")):
            values = [each[column] for each in steady]
            medians = [f"{self.median(number, column):.0f}" for number in range(4)]
            slope = statistics.linear_regression(times, values).slope
            rows.append((f"{name}, median by quarter", " ".join(medians)))
            rows.append((f"{name}, least and most", f"{min(values)} {max(values)}"))
            rows.append((f"{name}, slope a minute", f"{slope:+.2f}"))
        return rows


def own_memory(pid):
    """The pages of a process that are no file's, in kB: those of its program come and go as the kernel likes."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Anonymous:"))


def print_table(rows):
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")
