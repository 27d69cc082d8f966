"""Deadlines over restarts of the daemon: the time that is left is neither given anew nor taken away.

The end of a deadline is what `explain` says, and for a callback also the time of its line and its deadline-ms. No test waits for one.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import programs
from container import wait_for
from listeners import Listeners
from restoration import configure, is_greeted, start_again

RETURNING = str(Path(__file__).with_name("returning.py"))
RESTARTS = 3


class Returning(Listeners):
    def command(self, *options):
        return [sys.executable, RETURNING, str(self.log), *options]

    def told_line(self, verb):
        """The last line of this verb: when the app read it, and the time that it gave, both in microseconds."""
        note = next(each for each in reversed(self.notes("app")) if each.text.split()[0] == verb)
        fields = dict(word.split("=", 1) for word in note.text.split()[1:])
        return note.time, int(fields["deadline-ms"]) * 1000


@pytest.fixture
def apps(direct, tmp_path):
    direct.containment = "auto"
    configure(direct, timeouts="launch = '20s'\ntermination = '60s'\ncallback = '60s'")
    yield Returning(direct, tmp_path / "notes")
    direct.lifectl("kill", "app", check=False)


def kill_and_start(daemon):
    start_again(daemon)


def reexecute(daemon):
    daemon.lifectl("reexec")


def restart(daemon, how, is_connected=True):
    for _ in range(RESTARTS):
        how(daemon)
        if is_connected:
            wait_for(lambda: is_greeted(daemon, "app"))
            wait_for(lambda: daemon.lifectl.app("app")["connected"])


def end(daemon):
    """When the condition ends that keeps the app in its state, in microseconds."""
    return daemon.lifectl.json("explain", "app")["explanation"]["conditions"][0]["untilUSec"]


def ask_for(daemon, *request):
    """Does not wait for the answer, before which the daemon is killed."""
    environment = {**os.environ, "LIFED_SOCKET": str(daemon.socket)}
    subprocess.Popen(
        [str(daemon.products / "lifectl"), *request], env=environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def is_the_same(first, second, elapsed):
    """True if a deadline was not moved by the time, or the half of it, that has passed."""
    return abs(second - first) < elapsed / 2


def test_the_launch_deadline_goes_on_when_the_daemon_is_killed(apps):
    daemon = apps.daemon
    apps.manifest("app", "will-finish-launching", "did-finish-launching", extra='callbacks = "required"')
    ask_for(daemon, "launch", "app")
    apps.wait_until_told("app", "will-finish-launching")
    first, whole = apps.told_line("will-finish-launching")
    assert whole <= 20_000_000
    before = end(daemon)
    restart(daemon, kill_and_start)
    os.kill(daemon.lifectl.pid("app"), signal.SIGUSR1)
    apps.wait_until_told("app", "did-finish-launching")
    second, left = apps.told_line("did-finish-launching")
    # Both launch callbacks have one time together.
    assert left < whole
    assert is_the_same(before, end(daemon), second - first)


@pytest.mark.parametrize("how", [kill_and_start, reexecute])
def test_the_time_after_sigterm_goes_on(apps, how):
    daemon = apps.daemon
    daemon.lifectl.start("app", *programs.STUBBORN)
    began = time.monotonic()
    ask_for(daemon, "terminate", "app")
    daemon.lifectl.wait_for_state("app", "terminating")
    before = end(daemon)
    restart(daemon, how, is_connected=False)
    assert daemon.lifectl.state("app") == "terminating"
    assert is_the_same(before, end(daemon), (time.monotonic() - began) * 1_000_000)


@pytest.mark.parametrize("how", [kill_and_start, reexecute])
def test_scene_did_disconnect_is_not_cut_short(apps, how):
    daemon = apps.daemon
    apps.manifest("app", "scene-did-disconnect", extra='scenes = true\ncallbacks = "required"')
    daemon.lifectl("launch", "app")
    pid = daemon.lifectl.pid("app")
    began = time.monotonic()
    ask_for(daemon, "terminate", "app")
    apps.wait_until_told("app", "scene-did-disconnect")
    _, half = apps.told_line("scene-did-disconnect")
    assert half <= 30_000_000
    before = end(daemon)
    restart(daemon, how)
    assert "will-terminate" not in " ".join(apps.told("app"))
    assert is_the_same(before, end(daemon), (time.monotonic() - began) * 1_000_000)
    os.kill(pid, signal.SIGUSR1)
    apps.wait_until_told("app", "will-terminate")
    # SIGTERM has the rest of the termination timeout.
    assert is_the_same(before + 30_000_000, end(daemon), (time.monotonic() - began) * 1_000_000)
