"""The measurements for users and for programs."""

import datetime
import json
import os
import platform
from pathlib import Path

from goals import reached


def machine():
    return {
        "kernel": platform.release(),
        "processors": len(os.sched_getaffinity(0)),
        "load": [round(each, 2) for each in os.getloadavg()],
        "root": os.geteuid() == 0,
        "first process": Path("/proc/1/comm").read_text(encoding="utf-8").strip(),
    }


def document(settings, before, rows, notes):
    rows = [row.document() for row in rows]
    return {
        "taken": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "seed": settings.seed,
        "before": before,
        "after": machine(),
        "rows": rows,
        "goals": reached(rows),
        "notes": notes,
    }


def write_json(path, document):
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def print_row(row):
    print(f"{row['name']}\n  until: {row['done']}", flush=True)
    for each in row["alternatives"]:
        ratio = f"{each['ratio']:9.2f} ×" if each["ratio"] is not None else ""
        if (to_probe := each.get("ratio to the probe")) is not None:
            ratio = f"{ratio:11}{to_probe:9.2f} × the probe"
        measurements = "".join(f"{each[key]:13,.1f}" for key in ("least", "median", "p99")) + f" {row['unit']:3}"
        print(f"  {each['name']:<24}{each['rounds']:6}{measurements}{ratio}", flush=True)


def print_heading():
    print(f"  {'':<24}rounds        least       median          p99       median ratio")


def print_machine(when, machine):
    load = " ".join(map(str, machine["load"]))
    print(f"{when}: load {load} on {machine['processors']} processors, Linux {machine['kernel']}")


def print_goals(goals):
    """A line for each: the number that was reached, the limit, and whether it is met."""
    for each in goals:
        result = "met" if each["met"] else "not met"
        print(f"  {each['name']:<64}{each['reached']:12,.2f}{each['limit']:12,.2f}  {each['unit']:<20}{result}")
