"""Statements about the life cycle that no other test shows from outside: see Tests/conformance.md."""

import os
import pathlib
import signal

import pytest

import programs
from container import wait_for
from listeners import Listeners


@pytest.fixture
def listeners(direct, tmp_path):
    return Listeners(direct, tmp_path / "notes")


def launch(direct, listeners, *names):
    for name in names:
        listeners.manifest(name)
        direct.lifectl("launch", name)
        listeners.wait_until_told(name, "did-become-active")


def verbs(listeners, app):
    return [text.split()[0] for text in listeners.told(app) if not text.startswith("welcome")]


def test_launching_what_is_suspended_brings_it_back(direct, listeners):
    launch(direct, listeners, "clock", "maps")
    direct.lifectl.wait_for_state("clock", "suspended")
    pid = direct.lifectl.pid("clock")
    direct.lifectl("launch", "clock")
    app = direct.lifectl.app("clock")
    assert (app["state"], app["pid"], app["reason"]) == ("active", pid, "launch")
    assert verbs(listeners, "clock").count("did-finish-launching") == 1


def test_an_app_that_is_interrupted_goes_on_running(direct):
    pid = direct.lifectl.start("game", *programs.BUSY)
    direct.lifectl("interrupt", "begin")
    assert direct.lifectl.state("game") == "inactive"
    assert direct.kernel.gains_time(pid)


def test_a_suspended_app_keeps_its_memory_and_what_it_was_doing(direct, tmp_path):
    script = f"import os, signal; kept = os.urandom(8).hex(); signal.signal(10, lambda *_: open('{tmp_path}/kept', 'a').write(kept + '\\n'))\nwhile True: signal.pause()"
    pid = direct.lifectl.start("keeper", "python3", "-c", script)
    wait_for(lambda: catches(pid, signal.SIGUSR1), what="the app's handler")
    os.kill(pid, signal.SIGUSR1)
    wait_for(lambda: (tmp_path / "kept").exists() and (tmp_path / "kept").read_text().count("\n") == 1)
    direct.lifectl("suspend", "keeper")
    os.kill(pid, signal.SIGUSR1)
    assert direct.kernel.is_stopped(pid)
    assert (tmp_path / "kept").read_text().count("\n") == 1
    direct.lifectl("focus", "keeper")
    wait_for(lambda: (tmp_path / "kept").read_text().count("\n") == 2)
    assert direct.lifectl.pid("keeper") == pid
    assert len(set((tmp_path / "kept").read_text().split())) == 1


def catches(pid, number):
    with open(f"/proc/{pid}/status") as status:
        caught = next(line.split()[1] for line in status if line.startswith("SigCgt:"))
    return int(caught, 16) >> (number - 1) & 1


def test_a_stop_of_the_daemon_asks_every_app_by_its_state(direct, listeners):
    launch(direct, listeners, "asleep", "front")
    direct.lifectl.wait_for_state("asleep", "suspended")
    assert direct.stop() == 0
    assert verbs(listeners, "asleep")[-2:] == ["did-enter-background", "will-terminate"]
    assert verbs(listeners, "front")[-3:] == ["did-become-active", "will-resign-active", "will-terminate"]


def test_a_crash_is_restored_and_what_a_person_ended_is_not(direct, listeners):
    launch(direct, listeners, "clock")
    os.kill(direct.lifectl.pid("clock"), signal.SIGSEGV)
    direct.lifectl.wait_for_state("clock", "notRunning")
    for restores, count in ((True, 2), (False, 3)):
        direct.lifectl("launch", "clock")
        listeners.wait_until_told("clock", "did-become-active", count)
        launches = [text for text in listeners.told("clock") if text.startswith("will-finish-launching")]
        assert ("restore=1" in launches[-1].split()) == restores
        direct.lifectl("terminate", "clock")


def test_an_app_that_crashes_because_of_its_state_is_launched_without_it(direct, tmp_path):
    script = tmp_path / "app"
    script.write_text(
        'cd "$LIFECYCLE_STATE_DIR" || exit\n'
        f"pwd >{tmp_path}/directory; (env | grep ^LIFECYCLE_RESTORE; echo launched) >>{tmp_path}/told\n"
        '[ "$LIFECYCLE_RESTORE" ] && [ "$(cat .lifecycle-state)" = bad ] && kill -SEGV $$\n'
        "[ -e .lifecycle-state ] || echo bad >.lifecycle-state\n"
        "exec sleep infinity\n"
    )
    (direct.configuration / "apps.d/app.toml").write_text(
        f'command = ["sh", "{script}"]\ncallbacks = "none"\nrestart = "on-failure"\n'
    )
    direct.lifectl("reload")
    direct.lifectl("launch", "app")
    wait_for(lambda: direct.kernel.stat(direct.lifectl.pid("app")).name == "sleep")
    os.kill(direct.lifectl.pid("app"), signal.SIGSEGV)
    told = "launched\nLIFECYCLE_RESTORE=1\nlaunched\nLIFECYCLE_RESTORE_FAILED=1\nlaunched\n"
    wait_for(lambda: (tmp_path / "told").read_text() == told, what="a launch without the state")
    directory = pathlib.Path((tmp_path / "directory").read_text().strip())
    wait_for(lambda: (directory / ".lifecycle-state").exists(), what="a new state")
    assert (directory / ".lifecycle-state.failed").read_text() == "bad\n"
    assert direct.lifectl.app("app")["lastExit"]["restoreFailed"]
    explained = direct.lifectl("explain", "app").stdout
    assert "it failed soon after it restored its state: this launch has not restored it" in explained
    assert "was ended by SIGSEGV (crash); its next launch does not restore its state" in direct.lifectl("log", "app").stdout
    # An end by the user is no failure.
    direct.lifectl("terminate", "app")
    direct.lifectl("launch", "app")
    wait_for(lambda: (tmp_path / "told").read_text() == told + "launched\n")
    assert not direct.lifectl.app("app")["lastExit"]["restoreFailed"]


def test_the_home_app_comes_forward_when_nothing_else_is_in_front(direct, listeners):
    listeners.manifest("home")
    (direct.configuration / "lifed.toml").write_text('homeApp = "home"\n')
    direct.lifectl("reload")
    listeners.wait_until_told("home", "did-become-active")
    launch(direct, listeners, "clock")
    direct.lifectl.wait_for_state("home", "suspended")
    os.kill(direct.lifectl.pid("clock"), signal.SIGKILL)
    listeners.wait_until_told("home", "did-become-active", 2)
    assert direct.lifectl.state("home") == "active"
    direct.lifectl("launch", "clock")
    direct.lifectl("home")
    assert direct.lifectl.state("home") == "active"


def test_a_task_of_an_app_that_comes_back_is_no_burden(direct, listeners):
    listeners.manifest("uploader", "task=upload")
    direct.lifectl("launch", "uploader")
    listeners.wait_until_told("uploader", "granted")
    direct.lifectl("home")
    listeners.wait_until_told("uploader", "did-enter-background")
    direct.lifectl("focus", "uploader")
    listeners.wait_until_told("uploader", "did-become-active", 2)
    hold = direct.lifectl.json("status", "uploader")["details"]["assertions"][0]
    assert "untilUSec" not in hold or hold["untilUSec"] is None


def test_what_an_app_keeps_is_there_at_its_next_launch(direct, tmp_path):
    script = f'cat "$LIFECYCLE_STATE_DIR/page" >>{tmp_path}/found; echo page 4 >"$LIFECYCLE_STATE_DIR/page"; exec sleep infinity'
    (direct.configuration / "apps.d" / "reader.toml").write_text(f"command = ['sh', '-c', '''{script}''']\n")
    direct.lifectl("reload")
    direct.lifectl("launch", "reader")
    wait_for(lambda: direct.kernel.stat(direct.lifectl.pid("reader")).name == "sleep")
    direct.lifectl("kill", "reader")
    direct.lifectl("launch", "reader")
    wait_for(lambda: (tmp_path / "found").read_text() == "page 4\n")
