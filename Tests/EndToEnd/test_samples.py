"""The sample apps, in Swift, C, Python and shell, are told the same story."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

import programs
from container import wait_for

ROOT = Path(__file__).resolve().parents[2]
PRODUCTS = ROOT / ".build" / os.environ.get("LIFED_BUILD", "release")

SAMPLES = {
    "swift": [str(PRODUCTS / "SampleApp")],
    "c": [str(ROOT / ".build" / "liblifecycle" / "c-app")],
    "python": ["python3", str(ROOT / "Examples" / "python-app" / "app.py")],
    "shell": [str(ROOT / "Examples" / "shell-app" / "app")],
}

COLD_START = ["will-finish-launching inactive", "did-finish-launching inactive", "did-become-active active"]
LEAVE = ["will-resign-active active", "did-enter-background background"]
COME_BACK = ["will-enter-foreground background", "did-become-active active"]


class Sample:
    def __init__(self, direct, kind, directory):
        self.direct = direct
        self.output = directory / "output"
        library = ROOT / ".build" / "liblifecycle" / "lib"
        script = f"export LD_LIBRARY_PATH={library}; exec {' '.join(SAMPLES[kind])} >>{self.output}"
        (direct.configuration / "apps.d" / "sample.toml").write_text(f"command = ['sh', '-c', '{script}']\n")
        direct.lifectl("reload")

    def lines(self):
        return self.output.read_text().splitlines() if self.output.exists() else []

    def expect(self, *stories):
        """Waits until the app has said this, and nothing else."""
        expected = [line for story in stories for line in story]
        wait_for(lambda: len(self.lines()) >= len(expected), what=f"{expected}, not {self.lines()}")
        assert self.lines() == expected

    def launch(self):
        self.direct.lifectl("launch", "sample")
        self.expect(COLD_START)

    def leave(self):
        self.direct.lifectl("home")
        self.direct.lifectl.wait_for_state("sample", "suspended")


@pytest.fixture(params=SAMPLES)
def sample(request, direct, tmp_path):
    program = SAMPLES[request.param][0]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not there")
    return Sample(direct, request.param, tmp_path)


def test_leave_and_come_back(sample):
    sample.launch()
    sample.leave()
    sample.direct.lifectl("focus", "sample")
    sample.expect(COLD_START, LEAVE, COME_BACK)


def test_interrupted_and_dismissed(sample):
    sample.launch()
    sample.direct.lifectl("interrupt", "begin")
    sample.expect(COLD_START, LEAVE[:1])
    sample.direct.lifectl("interrupt", "end")
    sample.expect(COLD_START, LEAVE[:1], COME_BACK[1:])


def test_interrupted_and_answered_with_another_app(sample):
    sample.launch()
    sample.direct.lifectl.start("phone", *programs.IDLE, background=True)
    sample.direct.lifectl("interrupt", "begin")
    sample.direct.lifectl("interrupt", "end", "--answer", "phone")
    sample.expect(COLD_START, LEAVE)


def test_launched_to_the_background(sample):
    sample.direct.lifectl("launch", "--background", "sample")
    sample.direct.lifectl.wait_for_state("sample", "suspended")
    sample.expect(["will-finish-launching inactive", "did-finish-launching background"])


def test_terminated_when_active(sample):
    sample.launch()
    sample.direct.lifectl("terminate", "sample")
    sample.expect(COLD_START, LEAVE[:1], ["will-terminate inactive"])
    assert sample.direct.lifectl.app("sample")["lastExit"]["exitCode"] == 0


def test_terminated_in_the_background(sample):
    sample.launch()
    sample.leave()
    sample.direct.lifectl("resume", "sample")
    sample.direct.lifectl("terminate", "sample")
    sample.expect(COLD_START, LEAVE, ["will-terminate background"])


def test_terminated_when_suspended(sample):
    sample.launch()
    sample.leave()
    sample.direct.lifectl("terminate", "sample")
    sample.expect(COLD_START, LEAVE, ["will-terminate background"])


def test_terminated_from_a_shell(sample):
    sample.launch()
    pid = sample.direct.lifectl.pid("sample")
    subprocess.run(["kill", "-TERM", str(pid)], check=True)
    wait_for(lambda: sample.direct.lifectl.state("sample") == "notRunning")
    sample.expect(COLD_START, ["will-terminate active"])
    exit = sample.direct.lifectl.app("sample")["lastExit"]
    assert (exit["exitCode"], exit["reason"]) == (0, "exit")


@pytest.mark.parametrize("kind", SAMPLES)
def test_without_lifed_it_behaves_as_if_in_front(kind):
    if shutil.which(SAMPLES[kind][0]) is None:
        pytest.skip(f"{SAMPLES[kind][0]} is not there")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LIFECYCLE_")}
    environment["LD_LIBRARY_PATH"] = str(ROOT / ".build" / "liblifecycle" / "lib")
    app = subprocess.Popen(SAMPLES[kind], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert [app.stdout.readline().strip() for _ in COLD_START] == COLD_START
        app.send_signal(signal.SIGTERM)
        assert app.stdout.readline().strip() == "will-terminate active"
        assert app.wait(timeout=60) == 0
    finally:
        app.kill()
