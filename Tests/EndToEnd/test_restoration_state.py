"""A state file that is not what it should be, or is where others may write: a restarted daemon says so, and harms no other process."""

import os
import signal
import subprocess
import time

import pytest

import programs
from container import wait_for
from restoration import add_step, change_format, forget_announcement, frames, kill, manifest, records, rescue, start_again, state_file

OTHER_CLOCK = "unshare --time --fork --monotonic 100000 --boottime 100000".split()


@pytest.fixture
def stranger(mortal):
    """A process of another program. It began in a clock tick before any app does: its start tells it from them."""
    process = subprocess.Popen(programs.IDLE, start_new_session=True)
    started = mortal.kernel.stat(process.pid).started
    wait_for(lambda: time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK") >= started + 1)
    yield process
    assert process.poll() is None, "a stranger was ended"
    process.kill()
    process.wait()


def test_the_numbers_of_others_harm_nobody(mortal, stranger):
    mortal.lifectl.start("app", *programs.IDLE)
    mortal.lifectl("suspend", "app")
    app = mortal.lifectl.pid("app")

    def replace():
        os.kill(app, signal.SIGKILL)
        wait_for(lambda: not mortal.kernel.exists(app))
        text = state_file(mortal).read_text()
        assert f"main={app}:" in text
        state_file(mortal).write_text(text.replace(f"main={app}:", f"main={stranger.pid}:"))

    start_again(mortal, replace)
    assert "app" not in mortal.lifectl.apps() or mortal.lifectl.state("app") == "notRunning"
    assert mortal.kernel.stat(stranger.pid).state == "S"
    mortal.stop()
    mortal.start()


def test_a_state_file_of_garbage_is_said_to_be_one(mortal):
    start_again(mortal, lambda: state_file(mortal).write_bytes(os.urandom(5000)))
    assert f"cannot restore the apps: cannot use {state_file(mortal)}: it is not a state file" in mortal.logged
    mortal.lifectl.start("app", *programs.IDLE)


def test_a_step_that_is_cut_off_anywhere_is_the_step_before(mortal):
    """A daemon is killed while it writes: what it has done so far is known, and the step has not happened."""
    mortal.lifectl.start("one", *programs.IDLE)
    mortal.lifectl.start("two", *programs.IDLE)
    pids = {name: app["pid"] for name, app in mortal.lifectl.apps().items()}
    for cut in (1, 9, 25, 40):
        kill(mortal)
        data = state_file(mortal).read_bytes().rstrip(b"\0")
        add_step(mortal, "no app one", "no launch one", "launch two token=")
        whole = state_file(mortal).read_bytes()
        assert len(whole) > len(data) + cut
        state_file(mortal).write_bytes(whole[:-cut] + bytes(4096))
        mortal.start()
        assert {name: app["pid"] for name, app in mortal.lifectl.apps().items()} == pids


def test_a_state_that_is_damaged_anywhere_is_no_hindrance(mortal):
    """What is before the damage is restored, and everything can be ended."""
    for name in ("one", "two"):
        mortal.lifectl.start(name, *programs.IDLE)
    for part in range(1, 10):
        kill(mortal)
        data = bytearray(state_file(mortal).read_bytes().rstrip(b"\0"))
        position = data.index(b"\n") + part * (len(data) - data.index(b"\n")) // 10
        data[position : position + 16] = os.urandom(16)
        state_file(mortal).write_bytes(data)
        mortal.start()
        mortal.lifectl("status")


def test_the_log_says_what_the_daemon_knows(mortal):
    mortal.lifectl.start("app", *programs.IDLE)
    mortal.lifectl("suspend", "app")
    assert " state=suspended reason=suspend " in records(mortal)["app", "app"]
    assert f" main={mortal.lifectl.pid('app')}:" in records(mortal)["launch", "app"]
    mortal.lifectl("terminate", "app")
    wait_for(lambda: ("app", "app") not in records(mortal))
    assert [kind for kind, *app in records(mortal) if app == ["app"] and kind != "transition"] == ["ended"]


def test_a_log_of_many_steps_stays_small(mortal):
    for name in ("one", "two"):
        mortal.lifectl.start(name, *programs.IDLE)
    sizes = []
    for _ in range(100):
        for name in ("one", "two"):
            mortal.lifectl("focus", name)
        sizes.append(len(frames(mortal)))
    assert any(after < before for before, after in zip(sizes, sizes[1:])), "it was written anew"
    pids = {name: mortal.lifectl.pid(name) for name in ("one", "two")}
    start_again(mortal)
    assert {name: mortal.lifectl.pid(name) for name in ("one", "two")} == pids


@pytest.fixture
def suspended(mortal):
    """The main process of an app with a family, all of whose processes are stopped."""
    pid = mortal.lifectl.start("app", *programs.FAMILY)
    wait_for(lambda: len(mortal.kernel.tree(pid)) == 5)
    mortal.lifectl("suspend", "app")
    tree = mortal.kernel.tree(pid)
    yield pid
    for each in tree:
        if mortal.kernel.exists(each.pid):
            os.kill(each.pid, signal.SIGKILL)


def runs(daemon, pid):
    return not any(each.state == "T" for each in daemon.kernel.tree(pid))


def test_apps_of_another_format_are_asked_to_end_and_what_starts_by_itself_starts_again(mortal, start):
    """An upgrade that changes the format: a suspended app, one that ignores SIGTERM, one of the start and an adopted one."""
    saver = ["sh", "-c", f"trap 'echo asked >{mortal.runtime}/asked; exit' TERM; while :; do sleep 0.1; done"]
    manifest(mortal, "boot", programs.FAMILY, "launchAtStart = 'foreground'")
    mortal.lifectl("launch", "boot")
    boot = mortal.lifectl.pid("boot")
    stubborn = mortal.lifectl.start("stubborn", *programs.STUBBORN)
    suspended = mortal.lifectl.start("suspended", *saver)
    adopted = start(programs.IDLE)
    mortal.lifectl("adopt", str(adopted), "--id=adopted")
    for each in ("suspended", "adopted"):
        mortal.lifectl("suspend", each)
    trees = [each.pid for pid in (boot, stubborn, suspended) for each in mortal.kernel.tree(pid)]
    assert mortal.kernel.is_stopped(suspended) and mortal.kernel.is_stopped(adopted)
    start_again(mortal, lambda: change_format(mortal))
    assert (mortal.runtime / "asked").read_text() == "asked\n"
    assert not any(mortal.kernel.exists(each) for each in trees)
    assert mortal.kernel.stat(adopted).state == "S"
    told = f"cannot restore the apps: cannot use {state_file(mortal)}: it was written by a version of lifed with another format"
    assert mortal.logged.count(told) == 1
    assert set(mortal.lifectl.apps()) == {"boot"} and mortal.lifectl.pid("boot") != boot
    mortal.lifectl.start("new", *programs.IDLE)
    start_again(mortal)
    assert set(mortal.lifectl.apps()) == {"boot", "new"}


@pytest.mark.parametrize(("found", "written"), [("lifed-state ", "lifed-stbte "), (" pid:[", " pid:[9")])
def test_apps_of_a_state_that_cannot_be_used_are_ended(mortal, suspended, found, written):
    def damage():
        text = state_file(mortal).read_text()
        assert found in text
        state_file(mortal).write_text(text.replace(found, written, 1))

    start_again(mortal, damage)
    assert f"cannot restore the apps: cannot use {state_file(mortal)}" in mortal.logged
    # The numbers of processes in another namespace mean nothing; control groups and keepers are known without them.
    assert not mortal.kernel.exists(suspended)


def cut_text(daemon):
    """What remains is the header."""
    os.truncate(state_file(daemon), state_file(daemon).read_bytes().index(b"\n") + 1)


def remove_text(daemon):
    state_file(daemon).unlink()


@pytest.mark.parametrize("damage", [cut_text, remove_text])
def test_apps_whose_records_are_lost_run_again(mortal, suspended, damage):
    start_again(mortal, lambda: damage(mortal))
    wait_for(lambda: runs(mortal, suspended), what="the app runs again")
    assert "lifed has continued 5 processes of apps that it does not restore" in mortal.logged
    assert "cannot restore every app: the saved state is incomplete" in mortal.logged


@pytest.mark.parametrize("mortal", ["keeper"], indirect=True)
def test_a_rescue_without_a_saved_state_continues_what_is_below_keepers(mortal, suspended):
    kill(mortal)
    remove_text(mortal)
    assert rescue(mortal).stdout == "continued 5 stopped processes of its apps, thawed 0 frozen groups\n"
    wait_for(lambda: runs(mortal, suspended), what="the app runs again")


def test_a_directory_that_others_may_write_to_is_refused(mortal):
    mortal.lifectl.start("app", *programs.IDLE)
    kill(mortal)
    mortal.runtime.chmod(0o777)
    result = mortal.run(mortal.arguments(), check=False)
    assert result.returncode == 1
    assert str(mortal.runtime) in result.stderr
    mortal.runtime.chmod(0o700)
    mortal.start()
    assert mortal.lifectl.state("app") == "active"


@pytest.mark.skipif(subprocess.run([*OTHER_CLOCK, "true"], stderr=subprocess.DEVNULL).returncode != 0, reason="no time namespace can be made here")
def test_a_clock_that_is_another_is_not_believed(mortal):
    """Numbers of processes and instants mean nothing in another namespace."""
    pid = mortal.lifectl.start("app", *programs.IDLE)
    mortal.lifectl("suspend", "app")
    kill(mortal)
    mortal.start(OTHER_CLOCK)
    assert "cannot restore the apps" in mortal.logged
    assert mortal.lifectl.apps() == {} and not mortal.kernel.exists(pid)
    os.kill(int((mortal.runtime / "lock").read_text().split()[0]), signal.SIGTERM)
    assert mortal.process.wait(timeout=60) == 0


def test_a_transition_that_was_not_announced_is_announced_by_the_next_daemon(mortal):
    """What a daemon leaves that is killed between the reply and the journal: a log without the note of the announcement."""
    mortal.lifectl.start("app", *programs.IDLE)
    mortal.lifectl("suspend", "app")
    kill(mortal)
    forget_announcement(mortal)
    told = "app: background → suspended (suspend) "
    count = mortal.logged.count(told)
    mortal.start()
    wait_for(lambda: mortal.logged.count(told) == count + 1, what="the next daemon announces the transition")
    start_again(mortal)
    assert mortal.logged.count(told) == count + 1


def test_an_end_that_was_not_announced_is_told_by_the_next_daemon(mortal):
    manifest(mortal, "app", programs.IDLE)
    mortal.lifectl("launch", "app")
    mortal.lifectl("kill", "app")
    kill(mortal)
    forget_announcement(mortal)
    told = ["app was ended by SIGKILL", "app: terminating → notRunning (kill)"]
    count = [mortal.logged.count(each) for each in told]
    mortal.start()
    wait_for(
        lambda: [mortal.logged.count(each) for each in told] == [each + 1 for each in count],
        what="the next daemon tells the end and the transition")
