"""Apps that start without a request: with the daemon, and after they have ended by themselves."""

import os
import re
import signal

import pytest

import programs
from container import wait_for
from listeners import Listeners


@pytest.fixture
def listeners(direct, tmp_path):
    return Listeners(direct, tmp_path / "notes")


def manifest(direct, identifier, command, extra=""):
    words = ", ".join("'''" + word + "'''" for word in command)
    (direct.configuration / "apps.d" / f"{identifier}.toml").write_text(f"command = [{words}]\n{extra}\n")


def details(direct, identifier):
    return direct.lifectl.json("status", identifier)["details"]


def wait_for_another_process(direct, identifier, pid):
    wait_for(lambda: direct.lifectl.app(identifier).get("pid") not in (None, pid), what=f"another {identifier}")
    return direct.lifectl.pid(identifier)


def die_like_a_crash(direct):
    """Ends the daemon as a crash of its own would, and starts the next."""
    direct.process.kill()
    direct.process.wait()
    direct.start()


def test_a_crash_is_followed_by_a_start_where_it_was(direct):
    manifest(direct, "kiosk", programs.IDLE, 'restart = "always"')
    direct.lifectl("reload")
    direct.lifectl("launch", "kiosk")
    pid = direct.lifectl.pid("kiosk")
    os.kill(pid, signal.SIGSEGV)
    wait_for_another_process(direct, "kiosk", pid)
    direct.lifectl.wait_for_state("kiosk", "active")
    app = direct.lifectl.app("kiosk")
    assert app["reason"] == "restart"
    assert app["lastExit"]["signal"] == signal.SIGSEGV
    direct.lifectl("terminate", "kiosk")
    assert direct.lifectl.state("kiosk") == "notRunning"


def test_one_that_keeps_ending_waits_and_terminate_calls_it_off(direct):
    manifest(direct, "loop", ["false"], 'restart = "on-failure"')
    direct.lifectl("reload")
    direct.lifectl("launch", "--background", "loop", check=False)
    # Waits of four seconds and more are long enough to be seen.
    wait_for(lambda: details(direct, "loop")["failures"] >= 4 and details(direct, "loop").get("restartAtUSec"))
    assert re.search(r"restart +at .*ended \d times in a row", direct.lifectl("status", "loop").stdout)
    assert "it ends soon after each launch" in direct.log.read_text()
    direct.lifectl("terminate", "loop")
    assert details(direct, "loop").get("restartAtUSec") is None


def test_the_waiting_survives_the_daemon(direct):
    manifest(direct, "loop", ["false"], 'restart = "on-failure"')
    direct.lifectl("reload")
    direct.lifectl("launch", "--background", "loop", check=False)
    wait_for(lambda: details(direct, "loop")["failures"] >= 4)
    die_like_a_crash(direct)
    failures = details(direct, "loop")["failures"]
    assert failures >= 4
    wait_for(lambda: details(direct, "loop")["failures"] > failures)


def test_previous_comes_forward(direct):
    manifest(direct, "maps", programs.IDLE)
    manifest(direct, "mail", programs.IDLE, 'onExit = "previous"')
    direct.lifectl("reload")
    direct.lifectl("launch", "maps")
    direct.lifectl("launch", "mail")
    os.kill(direct.lifectl.pid("mail"), signal.SIGSEGV)
    direct.lifectl.wait_for_state("maps", "active")
    assert direct.lifectl.app("maps")["reason"] == "previous"


def test_launch_with_the_daemon(direct, listeners):
    direct.stop()
    manifest(direct, "a", listeners.command(), 'launchAtStart = "foreground"')
    manifest(direct, "b", listeners.command(), 'launchAtStart = "foreground"')
    manifest(direct, "c", listeners.command(), 'launchAtStart = "background"')
    direct.start()
    direct.lifectl.wait_for_state("b", "active")
    for each in "ac":
        direct.lifectl.wait_for_state(each, "suspended")
    for each in "abc":
        assert "will-finish-launching state=inactive reason=boot" in listeners.told(each)
    problems = direct.lifectl.json("status")["status"]["problems"]
    assert [problem["file"].rsplit("/")[-1] for problem in problems] == ["a.toml"]
    assert problems[0]["line"] == 2
    # The restart of a daemon is no start.
    direct.lifectl("terminate", "b")
    die_like_a_crash(direct)
    assert direct.lifectl.state("b") == "notRunning"
    assert direct.lifectl.state("a") == "suspended"


def launches(listeners, identifier):
    return [text for text in listeners.told(identifier) if text.startswith("will-finish-launching")]


def test_a_crash_is_remembered_beyond_the_end_of_the_daemon(direct, listeners):
    listeners.manifest("clock")
    direct.lifectl("launch", "clock")
    listeners.wait_until_told("clock", "did-become-active")
    os.kill(direct.lifectl.pid("clock"), signal.SIGSEGV)
    direct.lifectl.wait_for_state("clock", "notRunning")
    before = direct.lifectl.app("clock")["lastExit"]
    direct.stop()
    direct.start()
    after = direct.lifectl.app("clock")["lastExit"]
    assert abs(after.pop("timeUSec") - before.pop("timeUSec")) < 1_000_000
    assert after == before
    direct.lifectl("launch", "clock")
    listeners.wait_until_told("clock", "did-become-active", 2)
    assert launches(listeners, "clock")[1:] == ["will-finish-launching state=inactive reason=launch restore=1"]
    # What a user has ended since is not restored.
    direct.lifectl("terminate", "clock")
    direct.stop()
    direct.start()
    direct.lifectl("launch", "clock")
    listeners.wait_until_told("clock", "did-become-active", 3)
    assert launches(listeners, "clock")[2:] == ["will-finish-launching state=inactive reason=launch"]


def test_an_app_without_the_library_finds_its_launch_in_the_environment(direct, tmp_path):
    copy = tmp_path / "environment"
    script = f"env | grep ^LIFECYCLE_ > {copy}.new; mv {copy}.new {copy}; exec sleep infinity"
    manifest(direct, "plain", ["sh", "-c", script], 'restart = "always"')
    direct.lifectl("reload")
    direct.lifectl("launch", "plain")
    wait_for(copy.exists)
    first = dict(line.split("=", 1) for line in copy.read_text().splitlines())
    assert first["LIFECYCLE_LAUNCH_REASON"] == "launch"
    assert not {"LIFECYCLE_RESTORE", "LIFECYCLE_PREVIOUS_STATE"} & first.keys()
    copy.unlink()
    os.kill(direct.lifectl.pid("plain"), signal.SIGSEGV)
    wait_for(copy.exists)
    second = dict(line.split("=", 1) for line in copy.read_text().splitlines())
    assert second["LIFECYCLE_LAUNCH_REASON"] == "restart"
    assert second["LIFECYCLE_RESTORE"] == "1"
    assert second["LIFECYCLE_PREVIOUS_STATE"] == "active"
    assert second["LIFECYCLE_PREVIOUS_REASON"] == "crash"
    assert abs(int(second["LIFECYCLE_PREVIOUS_TIME"]) - direct.lifectl.app("plain")["lastExit"]["timeUSec"] / 1e6) < 2


def test_wake_for_work_out_of_sight(direct, listeners):
    listeners.manifest("mail", "answer=perform-task:result=new-data")
    answer = direct.lifectl("wake", "mail", "--for", "fetch", "--payload", "inbox")
    assert answer.stdout == "mail has done fetch, and has new data\n"
    direct.lifectl.wait_for_state("mail", "suspended")
    direct.lifectl("wake", "mail", "--for", "fetch")
    direct.lifectl.wait_for_state("mail", "suspended")
    told = [text for text in listeners.told("mail") if not text.startswith("welcome")]
    assert told == [
        "will-finish-launching state=inactive reason=wake",
        "did-finish-launching state=background reason=wake",
        "perform-task state=background kind=fetch payload=inbox",
        "perform-task state=background kind=fetch",
    ]


def test_what_became_of_the_work_is_what_lifectl_exits_with(direct, listeners):
    listeners.manifest("mail", "answer=perform-task:result=failed")
    assert direct.lifectl("wake", "mail", "--for", "fetch", check=False).returncode == 5
    assert direct.lifectl("wake", "nobody", "--for", "fetch", check=False).returncode == 66
    assert direct.lifectl("wake", "mail", "--for", "Two words", check=False).returncode == 64


def test_one_that_does_not_listen_is_only_woken(direct):
    manifest(direct, "plain", programs.IDLE, 'callbacks = "none"')
    direct.lifectl("reload")
    assert "it was not told of fetch" in direct.lifectl("wake", "plain", "--for", "fetch").stdout
    assert direct.lifectl.state("plain") == "background"
    assert details(direct, "plain")["backgroundUntilUSec"]
    direct.lifectl("suspend", "plain")
    assert direct.lifectl.state("plain") == "suspended"
