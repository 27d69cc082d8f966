"""The bench measures everything that it is for; what the measurements are is not a test's business."""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SWITCH = "switch between two apps, persistent client"
COMPARED = [
    SWITCH, f"{SWITCH}: the answer", f"{SWITCH}: the wake", "switch between two apps, programs",
    "a question, programs", "switch between two connected apps", "launch",
    "terminate an app that ends at once", "suspend a tree of 3 processes",
    "a switch among many apps", "a launch among many apps", "an end among many apps",
]
SUPERVISORS = {"runit": "runsv", "s6": "s6-supervise", "supervisord": "supervisord"}
STANDING = [f"{what} with {count} suspended apps" for count in (0, 2) for what in ("memory", "own memory", "wake-ups", "restart")]


pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")


def test_a_short_bench(tmp_path):
    first = Path("/proc/1/comm").read_text() == "systemd\n" and os.geteuid() == 0
    run(tmp_path)
    check(tmp_path, [*installed(), *(["systemd"] if first else [])])


def test_a_short_bench_beside_systemd(container, tmp_path):
    """In a container of its own; that of the other tests is for saying why there can be none."""
    # With more apps than a service has descriptors by default.
    said = run(tmp_path, "--container", "--crowds=1,1024")
    check(tmp_path, [*installed(), "systemd"])
    assert "lifed held the apps by cgroup" in said


def test_where_there_can_be_no_container_the_bench_says_so(tmp_path):
    environment = {**os.environ, "PATH": str(tmp_path)}
    result = bench(tmp_path, "--container", env=environment)
    assert result.returncode == 1
    assert result.stderr.startswith("no container: ")


def test_the_bench_leaves_the_probe_out_where_there_is_no_swift_compiler(tmp_path):
    # Nor supervisors, which would only take time.
    programs = tmp_path / "programs-alone"
    programs.mkdir()
    for name in ("cc", "as", "ld", "kill"):
        (programs / name).symlink_to(shutil.which(name))
    environment = {**os.environ, "PATH": str(programs)}
    said = run(tmp_path, "--rounds=1", "--trees=", "--apps=", "--crowds=", env=environment)
    assert "probe: left out, there is no swiftc here" in said


def installed():
    return [name for name, program in SUPERVISORS.items() if shutil.which(program)]


def bench(output, *options, **keywords):
    products = ROOT / ".build" / os.environ.get("LIFED_BUILD", "release")
    short = ["--rounds=3", "--trees=3", "--apps=0,2", "--crowds=1,3", "--idle=0.1", "--restarts=1", "--seed=7"]
    places = [f"--products={products}", f"--output={output}"]
    command = [sys.executable, ROOT / "Tests/Bench/bench.py", *short, *options, *places]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, **keywords)


def run(output, *options, **keywords):
    result = bench(output, *options, **keywords)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def check(output, present):
    document = json.loads((output / "bench.json").read_text())
    rows = {row["name"]: row for row in document["rows"]}
    assert list(rows) == COMPARED + STANDING
    goals = {goal["name"]: goal for goal in document["goals"]}
    assert {"launch, lifed", f"{SWITCH}, lifed", "memory of each app from 0 to 2"} <= set(goals)
    assert all(goal["met"] == (goal["reached"] <= goal["limit"]) for goal in goals.values())
    for name in COMPARED:
        *others, base = rows[name]["alternatives"]
        assert rows[name]["done"] and others and base["ratio"] is None
        assert all(each["rounds"] == 3 and 0 < each["least"] <= each["median"] <= each["p99"] for each in (*others, base))
        assert all(each["ratio"] > 0 for each in others)
    for name in (SWITCH, "launch", "terminate an app that ends at once"):
        names = [each["name"] for each in rows[name]["alternatives"]]
        assert names[0] == "lifed" and names[-1] == "baseline"
        assert [each for each in names if each in (*SUPERVISORS, "systemd")] == present
    switched = {each["name"]: each for each in rows[SWITCH]["alternatives"]}
    assert ("probe" in switched) == bool(shutil.which("swiftc"))
    if "probe" in switched:
        assert switched["probe"].pop("ratio to the probe") is None
        assert all(each["ratio to the probe"] > 0 for name, each in switched.items() if name != "probe")
    chart = (output / "bench.svg").read_text()
    ElementTree.fromstring(chart)
    assert all(name in chart for name in COMPARED)
