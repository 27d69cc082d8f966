"""Alternatives in turns: what the machine does meanwhile happens to all of them alike."""

import time

from results import Series


def take_turns(rounds, random, operations, quiet):
    """Measures each operation once a round, in an order that changes from round to round.

    In the seconds of quiet before each, what the one before has left behind comes to its end.
    An operation returns nanoseconds, or several measurements of them. Returns a list for each measurement: a series of
    microseconds for each operation, in their order.
    """
    taken = {name: [] for name in operations}
    for _ in range(rounds):
        for name in random.sample(list(operations), len(operations)):
            time.sleep(quiet)
            measurements = operations[name]()
            taken[name].append(measurements if isinstance(measurements, tuple) else (measurements,))
    columns = len(next(iter(taken.values()))[0])
    return [
        [Series(name, [measurements[column] / 1000 for measurements in every]) for name, every in taken.items()]
        for column in range(columns)
    ]
