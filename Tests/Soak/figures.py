"""The daemon's memory and descriptors over time."""

import os
import statistics
import time


class Figures:
    """Samples of the steady part of a soak, in which one daemon lives all the time."""

    # kB, and descriptors, by which the last quarter may exceed the second: less than a page an app, and some clients.
    memory_slack = 512
    descriptor_slack = 64

    def __init__(self):
        self.samples = []

    def take(self, pid):
        self.samples.append((time.monotonic(), memory(pid), len(os.listdir(f"/proc/{pid}/fd"))))

    def judge(self, ledger):
        if len(self.samples) < 40:
            return
        for column, name, slack in ((1, "memory (kB)", self.memory_slack), (2, "descriptors", self.descriptor_slack)):
            second, last = (statistics.median(each[column] for each in self.quarter(number)) for number in (1, 3))
            if last - second > slack:
                ledger.problem("growth", f"{name}: {second} in the second quarter, {last} in the last")

    def quarter(self, number):
        size = len(self.samples) // 4
        return self.samples[number * size : (number + 1) * size]

    def rows(self):
        if len(self.samples) < 4:
            return []
        # What it takes to get to know everybody is no growth.
        steady = self.samples[len(self.samples) // 4 :]
        times = [each[0] / 60 for each in steady]
        rows = []
        for column, name in ((1, "daemon's memory, PSS (kB)"), (2, "daemon's descriptors")):
            values = [each[column] for each in steady]
            medians = [f"{statistics.median(each[column] for each in self.quarter(number)):.0f}" for number in range(4)]
            slope = statistics.linear_regression(times, values).slope
            rows.append((f"{name}, median by quarter", " ".join(medians)))
            rows.append((f"{name}, least and most", f"{min(values)} {max(values)}"))
            rows.append((f"{name}, slope a minute", f"{slope:+.2f}"))
        return rows


def memory(pid):
    """Proportional set size in kB."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:"))


def print_table(rows):
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")
