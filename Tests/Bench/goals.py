"""What the measurements are to reach, and whether they do."""

from dataclasses import dataclass

from rows import SWITCH


@dataclass
class Goal:
    """The median of an alternative is at most so many times that of another; without another, so many units."""

    row: str
    alternative: str
    base: str | None
    limit: float

    def document(self, rows):
        """The ratio or the number that was reached; nothing if it was not measured."""
        row = rows.get(self.row)
        medians = {each["name"]: each["median"] for each in row["alternatives"]} if row else {}
        if self.alternative not in medians or self.base and not medians.get(self.base):
            return None
        reached = medians[self.alternative] / (medians[self.base] if self.base else 1)
        unit = f"× {self.base}" if self.base else row["unit"]
        name = f"{self.row}, {self.alternative}"
        return {"name": name, "reached": reached, "limit": self.limit, "unit": unit, "met": reached <= self.limit}


CONNECTED, PROGRAMS, QUESTION = "switch between two connected apps", "switch between two apps, programs", "a question, programs"
GOALS = [
    Goal(SWITCH, "lifed", "probe", 1.25),
    Goal(SWITCH, "lifed", "runit", 1),
    Goal(SWITCH, "lifed", "s6", 1),
    Goal(CONNECTED, "lifed", "baseline", 3),
    Goal(PROGRAMS, "lifectl focus", "sv cont, sv pause", 0.8),
    Goal(QUESTION, "lifectl list", "sv status", 1.8),
    Goal(QUESTION, "lifectl status --json", "sv status", 1.8),
    Goal("launch", "lifed", "baseline", 1.5),
    Goal("launch", "lifed", "s6", 1),
    Goal("terminate an app that ends at once", "lifed", "baseline", 2),
    Goal("memory with 0 suspended apps", "lifed", None, 6 << 10),
    Goal("restart with 1,000 suspended apps", "lifed", None, 100_000),
]
AMONG_MANY = {"a switch among many apps": 1.1, "a launch among many apps": 1.2, "an end among many apps": 1.2}
# In kB.
MEMORY_OF_AN_APP = 2


def reached(rows):
    """The goals that were measured, as documents."""
    rows = {row["name"]: row for row in rows}
    goals = [*GOALS, *among_many(rows)]
    documents = [goal.document(rows) for goal in goals] + [memory_of_an_app(rows)]
    return [each for each in documents if each]


def among_many(rows):
    for name, limit in AMONG_MANY.items():
        if name in rows:
            *crowds, base = [each["name"] for each in rows[name]["alternatives"]]
            yield from (Goal(name, crowd, base, limit) for crowd in crowds)


def memory_of_an_app(rows):
    """The difference of the daemon's own memory between the two largest numbers of apps. How much of the code is in memory says
    nothing about an app."""
    sizes = {}
    for name, row in rows.items():
        if name.startswith("own memory with "):
            sizes[int(name.split()[3].replace(",", ""))] = row["alternatives"][0]["median"]
    if len(sizes) < 2:
        return None
    few, many = sorted(sizes)[-2:]
    size = (sizes[many] - sizes[few]) / (many - few)
    return {
        "name": f"memory of each app from {few:,} to {many:,}", "reached": size, "limit": MEMORY_OF_AN_APP,
        "unit": "kB", "met": size <= MEMORY_OF_AN_APP,
    }
