"""An app that is asked to end: its main process first, or the program that it wraps, and the others when that has ended."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from container import wait_for
from restoration import configure, kill, manifest, start_again, state_file
from test_restoration import ask_to_end

SAVER = [sys.executable, str(Path(__file__).with_name("saver.py"))]
# Long enough that a test which needs it fails.
PATIENT = "background = '0s'\ntermination = '10min'"
BWRAP = ["bwrap", "--die-with-parent", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"]


class Log:
    def __init__(self, path):
        self.path = path

    def saver(self, how):
        return [*SAVER, str(self.path), how]

    @property
    def lines(self):
        return self.path.read_text().splitlines() if self.path.exists() else []

    def wait_for(self, text):
        wait_for(lambda: text in self.lines, what=f"the program says {text}")

    @property
    def end(self):
        """What was said after everything was ready."""
        return self.lines[self.lines.index("ready") + 1 :]


@pytest.fixture
def log(tmp_path):
    return Log(tmp_path / "said")


def words(command):
    return " ".join(f"'{word}'" for word in command)


def launch(daemon, log, command, extra=""):
    manifest(daemon, "app", command, extra)
    daemon.lifectl("launch", "app")
    log.wait_for("ready")


def last_exit(daemon):
    exit = daemon.lifectl.app("app")["lastExit"]
    return exit["reason"], exit.get("exitCode")


def terminate(daemon):
    daemon.lifectl("terminate", "app")
    assert "after its termination timeout" not in daemon.logged


@pytest.fixture(params=["running", "suspended"])
def end(request):
    """Ends the app of a state."""

    def end(daemon):
        if request.param == "suspended":
            daemon.lifectl("suspend", "app")
        terminate(daemon)

    return end


# MARK: The main process


def test_program_saves_with_the_help_of_its_child(mortal, log, end):
    configure(mortal, timeouts=PATIENT)
    launch(mortal, log, log.saver("helped"))
    end(mortal)
    assert log.end == ["asked", "saved", "helper asked"]
    assert last_exit(mortal) == ("terminate", 0)


def test_stop_mode_all_asks_every_process_at_once(mortal, log, end):
    configure(mortal, timeouts=PATIENT)
    launch(mortal, log, log.saver("together"), "stopMode = 'all'")
    end(mortal)
    assert sorted(log.end) == ["asked", "helper asked", "saved"]
    assert last_exit(mortal) == ("terminate", 0)


def test_app_of_a_last_process_is_asked_in_the_same_order(mortal, log, end):
    configure(mortal, timeouts=PATIENT)
    launch(mortal, log, log.saver("helped"), "exitPolicy = 'last'")
    end(mortal)
    assert log.end == ["asked", "saved", "helper asked"]


def test_helper_that_does_not_end_is_killed_when_the_time_of_both_is_over(mortal, log):
    configure(mortal, timeouts="termination = '3s'")
    launch(mortal, log, log.saver("outlived"))
    pids = [each.pid for each in mortal.kernel.tree(mortal.lifectl.pid("app"))]
    waiting = ask_to_end(mortal, "app")
    log.wait_for("helper asked")
    explanation = mortal.lifectl.json("explain", "app")["explanation"]
    (killed,) = [each["timeUSec"] for each in explanation["prospects"] if each["kind"] == "kill"]
    assert abs(killed - explanation["details"]["app"]["sinceUSec"] - 3_000_000) < 10_000
    assert waiting.wait() == 0
    assert log.end == ["asked", "saved", "helper asked"]
    assert not any(mortal.kernel.exists(pid) for pid in pids)


def test_restart_lets_the_program_save_first(mortal, log):
    configure(mortal, timeouts=PATIENT)
    launch(mortal, log, log.saver("helped"))
    first = mortal.lifectl.pid("app")
    mortal.lifectl("restart", "app")
    wait_for(lambda: log.lines.count("ready") == 2)
    assert log.end[:3] == ["asked", "saved", "helper asked"]
    assert mortal.lifectl.pid("app") != first


def test_end_of_the_daemon_lets_programs_save_first(mortal, log, tmp_path):
    configure(mortal, timeouts=PATIENT)
    launch(mortal, log, log.saver("helped"))
    other = Log(tmp_path / "other")
    manifest(mortal, "other", other.saver("helped"))
    mortal.lifectl("launch", "other")
    other.wait_for("ready")
    mortal.lifectl.wait_for_state("app", "suspended")
    assert mortal.stop() == 0
    assert log.end == other.end == ["asked", "saved", "helper asked"]
    mortal.start()


def test_adopted_program_saves_with_the_help_of_its_child(mortal, log, start, end):
    configure(mortal, timeouts=PATIENT)
    pid = start(log.saver("helped"))
    log.wait_for("ready")
    mortal.lifectl("adopt", "--id", "app", str(pid))
    end(mortal)
    assert log.end == ["asked", "saved", "helper asked"]


# MARK: Wrappers


def wrapped(name, program, tmp_path):
    """A command that runs a program below a wrapper."""
    shell = words(program)
    if name == "bwrap":
        return [*BWRAP, *program]
    if name == "bwrap with processes of its own":
        return [*BWRAP, "--unshare-pid", *program]
    if name == "bwrap and sh":
        return [*BWRAP, "--unshare-pid", "sh", "-c", f"{shell}; true"]
    if name == "env":
        return ["env", "A=b", *program]
    if name == "script":
        script = tmp_path / "script"
        script.write_text(f"#!/bin/bash\n{shell}\nexit 0\n")
        script.chmod(0o755)
        return ["sh", "-c", f"{script}; true"]
    commands = {
        "sh": f"{shell}; true",
        "sh that waits": f"{shell} & wait; true",
        "sh with a helper": f"sleep 1000 & {shell}; true",
        "sh that handles SIGTERM": f"trap : TERM; {shell}; true",
        "sh with a pipeline": f"{shell} | cat; true",
    }
    return [shutil.which("bash" if "handles" in name else "sh"), "-c", commands[name]]


WRAPPERS = [
    "bwrap", "bwrap with processes of its own", "bwrap and sh", "env", "script", "sh", "sh that waits", "sh with a helper",
    "sh that handles SIGTERM", "sh with a pipeline",
]  # fmt: skip


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_program_below_a_wrapper_saves_first(mortal, log, tmp_path, end, wrapper):
    if "bwrap" in wrapper and subprocess.run([*BWRAP, "--unshare-pid", "true"], capture_output=True).returncode != 0:
        pytest.skip("bwrap does not work here")
    configure(mortal, timeouts=PATIENT)
    launch(mortal, log, wrapped(wrapper, log.saver("alone"), tmp_path))
    end(mortal)
    assert log.end == ["asked", "saved"]


def test_shell_that_handles_the_signal_keeps_its_helper_for_it(mortal, log, end):
    configure(mortal, timeouts=PATIENT)
    path = log.path
    script = f"""
    sleep 1000 & helper=$!
    trap 'read -r pid name state rest </proc/$helper/stat; [ $state = Z ] || echo saved >>{path}; exit 0' TERM
    echo ready >>{path}
    while :; do wait; done
    """
    launch(mortal, log, ["sh", "-c", script])
    end(mortal)
    assert log.end == ["saved"]
    assert last_exit(mortal) == ("terminate", 0)


def test_shell_that_runs_one_program_after_the_other_ends_at_once(mortal, log, end):
    configure(mortal, timeouts=PATIENT)
    launch(mortal, log, ["sh", "-c", f"echo ready >{log.path}; while :; do sleep 0.01; done"])
    end(mortal)


# MARK: Restarts of the daemon


@pytest.mark.parametrize("wrapper", ["none", "sh"])
def test_next_daemon_asks_the_others_when_the_first_has_ended(mortal, log, tmp_path, wrapper):
    configure(mortal, timeouts=PATIENT)
    program = log.saver("outlived")
    launch(mortal, log, program if wrapper == "none" else wrapped("sh", program, tmp_path))
    main = mortal.lifectl.pid("app")
    tree = [each.pid for each in mortal.kernel.tree(main)]
    waiting = ask_to_end(mortal, "app")
    log.wait_for("asked")
    wait_for(lambda: "asked-to-end=1" in state_file(mortal).read_text())
    start_again(mortal)
    waiting.wait()
    log.wait_for("helper asked")
    assert log.end == ["asked", "saved", "helper asked"]
    mortal.lifectl("kill", "app")
    assert not any(mortal.kernel.exists(pid) for pid in tree)


def test_next_daemon_asks_the_others_if_the_first_has_ended_meanwhile(mortal, log):
    configure(mortal, timeouts=PATIENT)
    launch(mortal, log, log.saver("helped"))
    waiting = ask_to_end(mortal, "app")
    log.wait_for("asked")
    wait_for(lambda: "asked-to-end=1" in state_file(mortal).read_text())
    kill(mortal)
    waiting.wait()
    log.wait_for("saved")
    mortal.start()
    mortal.lifectl.wait_for_state("app", "notRunning")
    assert log.end == ["asked", "saved", "helper asked"]
