"""Signals from other programs that wait for a suspended app, and end it as soon as it runs."""

import os
import signal

import pytest

import programs
from container import wait_for

ENDED = "ended by a signal from outside while suspended"

# Notes each SIGTERM; the argument says what it does then.
HANDLER = """
import os, signal, sys, time
def act(*_):
    with open(sys.argv[1], "a") as file: file.write("TERM\\n")
    exec(sys.argv[2])
signal.signal(signal.SIGTERM, act)
open(sys.argv[1], "w").close()
while True: signal.pause()
"""


def suspend(direct, *command, extra=""):
    """Launches and suspends an app with a manifest; returns its process."""
    words = ", ".join(f"'''{word}'''" for word in command)
    (direct.configuration / "apps.d/app.toml").write_text(f'command = [{words}]\ncallbacks = "none"\n{extra}')
    direct.lifectl("reload")
    direct.lifectl("launch", "app")
    pid = direct.lifectl.pid("app")
    yield pid
    direct.lifectl("suspend", "app")
    assert direct.kernel.is_stopped(pid)
    yield pid


def handler(direct, notes, action, extra=""):
    steps = suspend(direct, "python3", "-c", HANDLER, str(notes), action, extra=extra)
    next(steps)
    wait_for(notes.exists, what="the handler")
    return next(steps)


def sleeper(direct, pid):
    return next((process.pid for process in direct.kernel.tree(pid)[1:] if process.name == "sleep"), None)


def last_exit(direct):
    direct.lifectl.wait_for_state("app", "notRunning")
    app = direct.lifectl.app("app")
    return app["lastExit"]["state"], app["lastExit"]["reason"]


def waits(pid, number=signal.SIGTERM):
    with open(f"/proc/{pid}/status") as status:
        return any(int(line.split()[1], 16) >> number - 1 & 1 for line in status if line.startswith("ShdPnd:"))


def test_a_signal_by_lifectl_waits_until_the_app_is_resumed(direct):
    *_, pid = suspend(direct, *programs.IDLE)
    direct.lifectl("kill", "--signal", "TERM", "app")
    for look in (["list"], ["status", "app"], ["explain", "app"]):
        direct.lifectl(*look)
    assert waits(pid) and direct.lifectl.state("app") == "suspended"


@pytest.mark.parametrize("look", [["list"], ["status", "app"], ["explain", "app"]], ids=lambda look: look[0])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_an_app_that_is_looked_at_acts_upon_the_signal(direct, look, number):
    *_, pid = suspend(direct, *programs.IDLE)
    os.kill(pid, number)
    assert waits(pid, number) and direct.kernel.is_stopped(pid)
    direct.lifectl(*look)
    assert last_exit(direct) == ("suspended", "signalled")
    assert ENDED in direct.lifectl("explain", "app").stdout


def test_focus_of_an_app_that_a_signal_ends_is_refused(direct):
    *_, pid = suspend(direct, *programs.IDLE)
    os.kill(pid, signal.SIGTERM)
    answer = direct.lifectl("focus", "app", check=False)
    assert answer.returncode != 0 and ENDED in answer.stderr
    assert last_exit(direct) == ("suspended", "signalled")
    events = direct.lifectl.json("explain", "app")["history"]
    steps = [event["event"]["to"] for event in events if event["event"]["kind"] == "transition"]
    assert steps[-2:] == ["background", "notRunning"]


def test_focus_of_an_app_that_saves_first_is_refused_too(direct, tmp_path):
    pid = handler(direct, tmp_path / "notes", "time.sleep(1); os._exit(0)")
    os.kill(pid, signal.SIGTERM)
    answer = direct.lifectl("focus", "app", check=False)
    assert answer.returncode != 0 and ENDED in answer.stderr
    assert last_exit(direct) == ("suspended", "signalled")
    assert (tmp_path / "notes").read_text() == "TERM\n"


def test_focus_of_an_app_that_outlives_the_signal_succeeds(direct, tmp_path):
    pid = handler(direct, tmp_path / "notes", "pass", 'terminationTimeout = "1s"\n')
    os.kill(pid, signal.SIGTERM)
    direct.lifectl("focus", "app")
    app = direct.lifectl.app("app")
    assert (app["state"], app["pid"]) == ("active", pid)
    assert (tmp_path / "notes").read_text() == "TERM\n"


def test_an_app_that_outlives_the_signal_is_suspended_again(direct, tmp_path):
    pid = handler(direct, tmp_path / "notes", "pass", 'terminationTimeout = "1s"\n')
    for count in (1, 2):
        os.kill(pid, signal.SIGTERM)
        assert "it got a signal from outside" in direct.lifectl("explain", "app").stdout
        direct.lifectl.wait_for_state("app", "suspended")
        assert direct.kernel.is_stopped(pid)
        assert (tmp_path / "notes").read_text() == "TERM\n" * count


def test_an_ignored_signal_continues_nothing(direct):
    steps = suspend(direct, "sh", "-c", "trap '' TERM USR1; while :; do sleep infinity; done")
    pid = next(steps)
    wait_for(lambda: sleeper(direct, pid), what="the trap")
    next(steps)
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGWINCH):
        os.kill(pid, number)
    for look in (["list"], ["status", "app"], ["explain", "app"]):
        direct.lifectl(*look)
        assert direct.lifectl.state("app") == "suspended"
    assert direct.kernel.is_stopped(pid)


def test_a_handler_of_another_signal_continues_nothing(direct, tmp_path):
    script = f"import os, signal; signal.signal(signal.SIGALRM, lambda *_: 0); open('{tmp_path}/ready', 'w')\nwhile True: signal.pause()"
    steps = suspend(direct, "python3", "-c", script)
    next(steps)
    wait_for((tmp_path / "ready").exists)
    pid = next(steps)
    os.kill(pid, signal.SIGALRM)
    direct.lifectl("status", "app")
    assert direct.lifectl.state("app") == "suspended" and waits(pid, signal.SIGALRM)


def test_a_signal_for_a_process_below_the_main_one_is_found_before_a_resume(direct):
    steps = suspend(direct, "sh", "-c", "sleep infinity; exit 3")
    pid = next(steps)
    child = wait_for(lambda: sleeper(direct, pid), what="the child")
    next(steps)
    os.kill(child, signal.SIGTERM)
    answer = direct.lifectl("focus", "app", check=False)
    assert answer.returncode != 0 and ENDED in answer.stderr


def test_an_app_that_a_signal_ends_is_not_restarted_as_a_failure(direct):
    *_, pid = suspend(direct, *programs.IDLE, extra='restart = "on-failure"\n')
    os.kill(pid, signal.SIGTERM)
    direct.lifectl("list")
    assert last_exit(direct) == ("suspended", "signalled")
