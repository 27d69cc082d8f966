"""Measurements of alternatives in turns, and what is done when the clock stops."""

import math
import statistics
from dataclasses import dataclass, field


@dataclass
class Series:
    """The measurements of one alternative."""

    alternative: str
    measurements: list[float] = field(default_factory=list)

    @property
    def median(self):
        return statistics.median(self.measurements)

    @property
    def least(self):
        """What it takes when nothing else happens: on a busy machine, it says more than the median."""
        return min(self.measurements)

    @property
    def p99(self):
        """The smallest measurement that 99 of 100 do not exceed."""
        return sorted(self.measurements)[math.ceil(len(self.measurements) * 0.99) - 1]


@dataclass
class Row:
    """One thing that is measured. The last series is what the others are compared with, if there is more than one."""

    name: str
    done: str
    unit: str
    series: list[Series]
    # The alternative, if it was measured, with which the others are compared as well.
    second: str | None = None

    def ratio(self, series, base):
        """The time as a multiple of the base: the ratio of the medians."""
        return series.median / base.median if base and series is not base and base.median else None

    def document(self):
        second = next((each for each in self.series if each.alternative == self.second), None)
        return {
            "name": self.name,
            "done": self.done,
            "unit": self.unit,
            "alternatives": [
                {
                    "name": each.alternative,
                    "rounds": len(each.measurements),
                    "least": each.least,
                    "median": each.median,
                    "p99": each.p99,
                    "ratio": self.ratio(each, self.series[-1]),
                    **({f"ratio to the {self.second}": self.ratio(each, second)} if second else {}),
                }
                for each in self.series
            ],
        }
