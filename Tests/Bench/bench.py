#!/usr/bin/env python3
"""Measures lifed beside a baseline, a few lines of C, in turns on the same machine.

A measurement alone says more about the machine than about lifed; a ratio of two alternating ones holds elsewhere.
"""

import argparse
import os
import random
import shutil
import signal
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from managers import ROOT
import guardian
from chart import write_chart
from compiled import compile_programs
from contained import CONTAINER, run_contained
from crowd import Crowd
from report import document, machine, print_goals, print_heading, print_machine, print_row, write_json
from rows import Bench
from standing import Standing
from stopwatch import Stopwatch

def numbers(text):
    return [int(each) for each in text.split(",") if each]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--trees", type=numbers, default=[10, 100, 1000], help="sizes of suspended process trees")
    parser.add_argument("--apps", type=numbers, default=[0, 1000, 2000], help="numbers of suspended apps")
    parser.add_argument("--crowds", type=numbers, default=[10, 2000], help="numbers of suspended apps to compare")
    parser.add_argument("--quiet", type=float, default=3, help="milliseconds before each operation")
    parser.add_argument("--idle", type=float, default=10, help="seconds in which wake-ups are counted")
    parser.add_argument("--restarts", type=int, default=5)
    seed = random.SystemRandom().randrange(1 << 32)
    parser.add_argument("--seed", type=int, default=seed, help="of the order of the turns")
    parser.add_argument("--products", type=Path, default=ROOT / ".build" / os.environ.get("LIFED_BUILD", "release"))
    parser.add_argument("--output", type=Path, default=ROOT / ".build" / "bench")
    parser.add_argument(CONTAINER, action="store_true", help="in a container of which systemd is the first process")
    settings = parser.parse_args()
    settings.compiled = settings.output / "programs"
    return settings


def run(settings, directory, notes):
    compile_programs(settings.compiled)
    stopwatch = Stopwatch(settings.compiled / "stopwatch.so")
    order = random.Random(settings.seed)
    bench = Bench(settings, directory, stopwatch, order)
    try:
        notes += bench.missing
        yield from bench.run()
        notes.append(f"lifed held the apps by {bench.lifed.containment}")
    finally:
        bench.stop()
    if settings.crowds:
        yield from Crowd(settings, directory, stopwatch, order).rows()
    yield from Standing(settings, directory, stopwatch).rows()


def main():
    settings = parse()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit("interrupted"))
    if settings.container:
        return run_contained(settings)
    if not shutil.which("kill"):
        sys.exit("there is no program named kill: install procps")
    directory = guardian.watch("bench").directory
    before = machine()
    print_machine("before", before)
    print_heading()
    rows, notes = [], []
    for row in run(settings, directory, notes):
        rows.append(row)
        print_row(row.document())
    result = document(settings, before, rows, notes)
    print(f"{'goals':<66}{'reached':>12}{'limit':>12}")
    print_goals(result["goals"])
    print_machine("after", result["after"])
    print("\n".join(result["notes"]))
    write_json(settings.output / "bench.json", result)
    write_chart(settings.output / "bench.svg", result)
    print(f"written: {settings.output / 'bench.json'}, {settings.output / 'bench.svg'}")


if __name__ == "__main__":
    sys.exit(main())
