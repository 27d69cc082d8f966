"""Of a program that is interrupted or killed nothing stays: no process, no temporary file, no cgroup."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import guardian
from container import wait_for

ROOT = Path(__file__).resolve().parents[2]
PRODUCTS = ROOT / ".build" / os.environ.get("LIFED_BUILD", "release")
ENDS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]

# It starts processes that neither parent, session nor process group finds, and that only SIGKILL ends.
PROGRAM = """
import subprocess, sys, time
import guardian

watch = guardian.watch("test")
if sys.argv[1:] == ["keep"]:
    watch.keep()
subprocess.Popen(["sh", "-c", "setsid sh -c 'trap : INT TERM HUP; kill -STOP $$' & exit"]).wait()
subprocess.Popen(["sh", "-c", "trap '' INT TERM; (exec setsid sleep infinity) & mktemp; sleep infinity"])
time.sleep(3600)
"""


def heed_interrupts():
    """A shell has what it starts in the background ignore SIGINT, these tests maybe, and so all that they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def place():
    # Not the directory of the test, whose name can be too long for that of a socket.
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)


def start(place, name, *command):
    """Starts a program, and returns its process and the directory that it has made."""
    environment = {**os.environ, "TMPDIR": str(place), "PYTHONPATH": str(Path(__file__).parent)}
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    process = subprocess.Popen(command, env=environment, preexec_fn=heed_interrupts, **quiet)
    return process, wait_for(lambda: next(place.glob(f"lifed-{name}*"), None), what=f"the directory of {name}")


@pytest.mark.parametrize("number", ENDS)
def test_nothing_stays_of_what_a_program_has_started(place, monkeypatch, number):
    monkeypatch.setattr(guardian, "PATIENCE", 1)
    program = PROGRAM.replace("watch =", "guardian.PATIENCE = 1\nwatch =")
    process, directory = start(place, "test", sys.executable, "-c", program)
    wait_for(lambda: len(guardian.guarded(directory)) >= 4 and any(directory.iterdir()))
    process.send_signal(number)
    process.wait(timeout=300)
    wait_for(lambda: not directory.exists())
    assert guardian.guarded(directory) == []


def test_what_is_to_be_looked_at_is_kept(place):
    program = PROGRAM.replace("watch =", "guardian.PATIENCE = 1\nwatch =")
    process, directory = start(place, "test", sys.executable, "-c", program, "keep")
    wait_for(lambda: len(guardian.guarded(directory)) >= 4)
    process.kill()
    process.wait(timeout=300)
    wait_for(lambda: not guardian.guarded(directory))
    assert directory.exists()


def test_whoever_kills_make_ends_what_it_runs(place):
    if not shutil.which("make"):
        pytest.skip("there is no make")
    (place / "program").write_text(PROGRAM.replace("watch =", "guardian.PATIENCE = 1\nwatch ="))
    (place / "Makefile").write_text(f"all:\n\t{sys.executable} {place}/program\n")
    process, directory = start(place, "test", "make", "-C", str(place))
    wait_for(lambda: len(guardian.guarded(directory)) >= 4)
    process.kill()
    process.wait(timeout=300)
    wait_for(lambda: not directory.exists())
    assert guardian.guarded(directory) == []


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
@pytest.mark.parametrize("number", ENDS)
def test_nothing_stays_of_a_bench(place, number):
    options = ["--rounds=1000", f"--products={PRODUCTS}"]
    process, directory = start(place, "bench", sys.executable, str(ROOT / "Tests/Bench/bench.py"), *options)
    # lifed and what it is compared with, and two apps of each.
    wait_for(lambda: len(guardian.guarded(directory)) >= 6 and guardian.daemons(directory))
    cgroups = guardian.cgroups(directory)
    process.send_signal(number)
    process.wait(timeout=300)
    wait_for(lambda: not directory.exists(), timeout=120)
    assert guardian.guarded(directory) == []
    assert not any(each.exists() for each in cgroups)


@pytest.mark.parametrize("number", ENDS)
def test_nothing_stays_of_a_demo(place, number):
    directory = None

    def processes():
        return [pid for pid in guardian.processes() if f"LIFED_DEMO={directory}/".encode() in guardian.read(pid, "environ")]

    environment = {**os.environ, "TMPDIR": str(place), "LIFED": str(PRODUCTS / "lifed"), "LIFECTL": str(PRODUCTS / "lifectl")}
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    demo = subprocess.Popen([ROOT / "Examples" / "demo"], env=environment, preexec_fn=heed_interrupts, **quiet)
    directory = wait_for(lambda: next(place.glob("lifed-demo.*"), None))
    wait_for(lambda: len(processes()) >= 3)
    demo.send_signal(number)
    demo.wait(timeout=300)
    wait_for(lambda: not directory.exists() and not processes())
