"""A daemon without systemd that is killed and started again: it goes on where the other was."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import kernel
import programs
from container import wait_for
from driver import call, connect
from restoration import add_step, configure, group_of, kill, manifest, start_again, state_file

# Writes down each SIGTERM that it gets, and goes on.
COUNTS_TERMS = ["sh", "-c", 'trap "echo term >>$0" TERM; : >>$0; while :; do sleep 0.05; done']
# The main process ends when the file $0 is there, with a helper left.
HANDS_OVER = ["sh", "-c", "sleep infinity & while [ ! -e $0 ]; do sleep 0.01; done; exit 7"]


def view(daemon):
    return {
        name: {key: app.get(key) for key in ("pid", "state", "target", "reason", "foreground", "adHoc", "lastExit", "containment")}
        for name, app in daemon.lifectl.apps().items()
    }


def without_times(view):
    return json.loads(re.sub(r'"timeUSec": \d+', '"timeUSec": 0', json.dumps(view)))


def test_everything_is_as_it_was(mortal):
    manifest(mortal, "gone", ["sh", "-c", "exit 3"])
    manifest(mortal, "unused", programs.IDLE)
    mortal.lifectl("launch", "gone", check=False)
    mortal.lifectl.wait_for_state("gone", "notRunning")
    mortal.lifectl.start("back", *programs.FAMILY)
    mortal.lifectl.start("front", *programs.FAMILY)
    mortal.lifectl.wait_for_state("back", "suspended")
    mortal.lifectl("interrupt", "begin", "--name", "call")
    mortal.lifectl.wait_for_state("front", "inactive")
    before = view(mortal)
    start_again(mortal)
    mortal.lifectl.wait_for_state("back", "suspended")
    assert without_times(view(mortal)) == without_times(before)
    assert mortal.kernel.is_stopped(before["back"]["pid"])
    assert not mortal.kernel.is_stopped(before["front"]["pid"])
    mortal.lifectl("interrupt", "end", "--name", "call")
    mortal.lifectl.wait_for_state("front", "active")
    mortal.lifectl("focus", "back")
    assert mortal.lifectl.state("back") == "active"
    assert not any(each.state == "T" for each in mortal.kernel.tree(before["back"]["pid"]))


def test_a_continuation_from_elsewhere_does_not_make_a_restored_app_run(mortal):
    """It is no child any more, so nothing tells of the continuation: it is frozen besides."""
    pid = mortal.lifectl.start("app", *programs.BUSY)
    group = group_of(mortal, "app")
    mortal.lifectl("suspend", "app")
    start_again(mortal)
    mortal.lifectl.wait_for_state("app", "suspended")
    wait_for(lambda: "frozen 1" in (group / "cgroup.events").read_text(), what="the app is frozen")
    assert "frozen: it is not a child of this daemon" in mortal.lifectl("explain", "app").stdout
    before = mortal.kernel.ticks(pid)
    os.kill(pid, signal.SIGCONT)
    wait_for(lambda: mortal.kernel.stat(pid).state == "S", what="the app is continued, and frozen")
    # It would take every tick that this takes.
    for _ in range(5):
        assert mortal.lifectl.state("app") == "suspended"
        assert mortal.kernel.stat(pid).state == "S"
    assert mortal.kernel.ticks(pid) == before
    mortal.lifectl("focus", "app")
    wait_for(lambda: mortal.kernel.ticks(pid) > before, what="the app runs")


@pytest.mark.parametrize("mortal", ["keeper"], indirect=True)
@pytest.mark.parametrize("program", [programs.BUSY, ["sh", "-c", "sh -c 'while :; do :; done' & exec sleep infinity"]])
def test_a_continuation_from_elsewhere_is_noticed_without_a_control_group(mortal, program):
    """The keeper tells of the main process, which is continued last: only its parent hears of a child."""
    pid = mortal.lifectl.start("app", *program)
    mortal.lifectl("suspend", "app")
    start_again(mortal)
    mortal.lifectl.wait_for_state("app", "suspended")
    for number in range(1, 4):
        for each in reversed(mortal.kernel.tree(pid)):
            os.kill(each.pid, signal.SIGCONT)
        # Nothing asks for the app meanwhile.
        wait_for(lambda: mortal.logged.count("lifed stops it again") >= number, timeout=1, what="it is noticed")
        wait_for(lambda: mortal.kernel.is_stopped(pid), what="the app is stopped again")
    assert mortal.lifectl.state("app") == "suspended"
    mortal.lifectl("focus", "app")
    before = mortal.kernel.ticks(pid)
    wait_for(lambda: mortal.kernel.ticks(pid) > before, what="the app runs")


@pytest.mark.parametrize("mortal", ["keeper"], indirect=True)
@pytest.mark.skipif(not kernel.reports_switches(), reason="kernel.perf_event_paranoid keeps the switches of a process from this user")
def test_a_monitor_is_told_of_an_app_that_sleeps_again_after_a_continuation_from_elsewhere(mortal):
    """No client asks, and the app uses no processor time that a clock's tick would see."""
    pid = mortal.lifectl.start("app", *programs.IDLE)
    mortal.lifectl("suspend", "app")
    start_again(mortal)
    mortal.lifectl.wait_for_state("app", "suspended")
    for number in range(1, 21):
        os.kill(pid, signal.SIGCONT)
        wait_for(lambda: mortal.logged.count("lifed stops it again") == number, what="it is noticed")
        # A continuation before the daemon has seen it stopped is undone without a word.
        wait_for(lambda: mortal.kernel.is_stopped(pid), what="the app is stopped again")
        mortal.lifectl.wait_for_state("app", "suspended")


ANSWERS = [
    ("List", {}, lambda reply: reply["apps"][0]),
    ("Describe", {"id": "app"}, lambda reply: reply["details"]["app"]),
    ("Explain", {"id": "app"}, lambda reply: reply["explanation"]["details"]["app"]),
    ("FindApp", {}, lambda reply: reply["app"]),
    ("Monitor", {}, lambda reply: reply["apps"][0]),
    ("Suspend", {"id": "app"}, lambda reply: reply["app"]),
]


@pytest.mark.parametrize("mortal", ["keeper"], indirect=True)
@pytest.mark.parametrize(("method", "parameters", "app"), ANSWERS, ids=[method for method, *_ in ANSWERS])
def test_an_app_that_sleeps_after_a_continuation_from_elsewhere_is_stopped_before_an_answer(mortal, method, parameters, app):
    pid = mortal.lifectl.start("app", *programs.IDLE)
    mortal.lifectl("suspend", "app")
    start_again(mortal)
    mortal.lifectl.wait_for_state("app", "suspended")
    with connect(str(mortal.socket)) as connection:
        for _ in range(20):
            os.kill(pid, signal.SIGCONT)
            # The daemon stops it again by itself if it uses the processor at a tick.
            wait_for(lambda: mortal.kernel.stat(pid).state in "ST", what="the app sleeps, or is stopped again")
            parameters = {"pid": pid} if method == "FindApp" else parameters
            if method == "Monitor":
                with connect(str(mortal.socket)) as monitor:
                    told = app(call(monitor, "org.lifed.Monitor", {}, more=True)["parameters"])
                    # The next transition begins in this state.
                    assert told["state"] == "suspended"
            else:
                told = app(call(connection, f"org.lifed.{method}", parameters)["parameters"])
            after = mortal.kernel.stat(pid).state
            assert told["target"] == "suspended"
            # The signal is sent; a monitor is told of no transition, since the app is suspended again at once.
            # Without control groups, the keeper tells of it after the answer.
            is_told = mortal.containment != "keeper"
            assert after == "T" or told["state"] == "background" or method == "Monitor" or not is_told, (told, after)
            wait_for(lambda: mortal.kernel.stat(pid).state == "T", what="the app is stopped")


def test_it_can_be_killed_again_and_again(mortal):
    pids = {name: mortal.lifectl.start(name, *programs.FAMILY) for name in ("one", "two")}
    for number in range(10):
        start_again(mortal)
        mortal.lifectl("focus", ("one", "two")[number % 2])
    assert {name: mortal.lifectl.pid(name) for name in pids} == pids


def test_an_app_that_ended_meanwhile_is_reported(mortal):
    manifest(mortal, "app", ["sh", "-c", "while [ ! -e $0 ]; do sleep 0.01; done; exit 7", str(mortal.runtime / "go")])
    mortal.lifectl("launch", "app")
    pid = mortal.lifectl.pid("app")

    def end():
        (mortal.runtime / "go").touch()
        wait_for(lambda: not mortal.kernel.exists(pid))

    start_again(mortal, end)
    app = mortal.lifectl.app("app")
    assert app["state"] == "notRunning"
    assert app["lastExit"]["reason"] == "crash"
    # Only a parent, or a process with a pidfd all the time, hears the status.
    assert app["lastExit"].get("code") in (7, None)


@pytest.mark.parametrize("policy", ["main", "last"])
def test_a_main_process_that_ended_meanwhile_and_left_a_helper(mortal, policy):
    manifest(mortal, "app", [*HANDS_OVER, str(mortal.runtime / "go")], f"exitPolicy = '{policy}'")
    mortal.lifectl("launch", "app")
    pid = mortal.lifectl.pid("app")
    wait_for(lambda: any(each.name == "sleep" and each.parent == pid for each in mortal.kernel.tree(pid)))
    helper = next(each.pid for each in mortal.kernel.tree(pid) if each.name == "sleep")

    def end():
        (mortal.runtime / "go").touch()
        wait_for(lambda: not mortal.kernel.exists(pid))

    start_again(mortal, end)
    if policy == "main":
        mortal.lifectl.wait_for_state("app", "notRunning")
        wait_for(lambda: not mortal.kernel.exists(helper))
    else:
        assert mortal.lifectl.state("app") == "active"
        mortal.lifectl("suspend", "app")
        assert mortal.kernel.stat(helper).state == "T"
        mortal.lifectl("focus", "app")
        os.kill(helper, signal.SIGKILL)
        mortal.lifectl.wait_for_state("app", "notRunning")


def test_ad_hoc_apps_that_were_never_launched_are_not_kept(mortal):
    mortal.lifectl.start("app", *programs.IDLE)
    start_again(mortal, lambda: add_step(mortal, 'definition lost manifest=command=["true"]'))
    assert set(mortal.lifectl.apps()) == {"app"}


def test_a_daemon_hands_over_when_it_is_asked_to(mortal):
    pid = mortal.lifectl.start("app", *programs.IDLE)
    mortal.process.send_signal(signal.SIGUSR2)
    assert mortal.process.wait(timeout=60) == 0
    assert mortal.kernel.exists(pid)
    mortal.start()
    assert mortal.lifectl.pid("app") == pid


def test_a_clean_stop_leaves_nothing_to_go_on_with(mortal):
    pid = mortal.lifectl.start("app", *programs.IDLE)
    assert mortal.stop() == 0
    assert not mortal.kernel.exists(pid)
    assert not state_file(mortal).exists()
    assert not (mortal.runtime / "channel").exists()


def test_a_background_time_that_passed_meanwhile_is_over(mortal):
    configure(mortal, timeouts="background = '300ms'")
    pid = mortal.lifectl.start("app", *programs.IDLE)
    mortal.lifectl.start("other", *programs.IDLE)
    start_again(mortal)
    mortal.lifectl.wait_for_state("app", "suspended")
    assert mortal.kernel.stat(pid).state == "T"


def ask_to_end(daemon, identifier):
    """Asks, and does not wait for the answer."""
    environment = {**os.environ, "LIFED_SOCKET": str(daemon.socket)}
    command = [str(daemon.products / "lifectl"), "terminate", identifier]
    return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)


def test_who_is_asked_to_end_is_not_asked_twice(mortal, tmp_path):
    configure(mortal, timeouts="termination = '2s'")
    terms = tmp_path / "terms"
    manifest(mortal, "app", [*COUNTS_TERMS, str(terms)])
    mortal.lifectl("launch", "app")
    wait_for(terms.exists, what="the program heeds SIGTERM")
    pid = mortal.lifectl.pid("app")
    waiting = ask_to_end(mortal, "app")
    wait_for(lambda: terms.exists() and terms.read_text())
    # It is written down when it has been done: a daemon that is killed in between cannot know.
    wait_for(lambda: "asked-to-end=1" in state_file(mortal).read_text())
    start_again(mortal)
    waiting.wait()
    assert mortal.lifectl.state("app") == "terminating"
    mortal.lifectl.wait_for_state("app", "notRunning")
    assert not mortal.kernel.exists(pid)
    assert terms.read_text() == "term\n"
    assert mortal.lifectl.app("app")["lastExit"]["reason"] == "terminate"


def test_app_that_is_to_be_launched_again_and_ended_meanwhile_has_one_process(mortal, tmp_path):
    """Also when the time for its end is over before the next daemon runs."""
    configure(mortal, timeouts="termination = '1s'")
    pids = tmp_path / "pids"
    manifest(mortal, "app", ["sh", "-c", 'echo $$ >>$0; trap "" TERM; while :; do sleep 0.05; done', str(pids)])
    mortal.lifectl("launch", "app")
    wait_for(lambda: pids.exists() and pids.read_text(), what="the program ignores SIGTERM")
    pid = mortal.lifectl.pid("app")
    environment = {**os.environ, "LIFED_SOCKET": str(mortal.socket)}
    command = [str(mortal.products / "lifectl"), "restart", "app"]
    waiting = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    mortal.lifectl.wait_for_state("app", "terminating")

    def end_app():
        os.kill(pid, signal.SIGKILL)
        # The second of the termination timeout is over then.
        end = time.monotonic() + 1
        wait_for(lambda: time.monotonic() > end, what="the end of the termination timeout")

    start_again(mortal, between=end_app)
    waiting.wait()
    mortal.lifectl.wait_for_state("app", "active")
    launched = wait_for(lambda: [int(line) for line in pids.read_text().split()][1:], what="the second launch")
    assert launched == [mortal.lifectl.pid("app")]
    mortal.lifectl("terminate", "app")
    assert not any(mortal.kernel.exists(each) for each in launched)


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not there")
@pytest.mark.parametrize("call", ["write", "rename", "pidfd_open", "epoll_ctl", "kill,pidfd_send_signal"])
def test_it_may_be_killed_while_it_takes_over(mortal, tmp_path, call):
    """At each system call of a kind, one after the other, until it gets through the whole of it."""
    terms = tmp_path / "terms"
    configure(mortal, timeouts="background = '0s'\ntermination = '1h'")
    manifest(mortal, "ending", [*COUNTS_TERMS, str(terms)])
    mortal.lifectl("launch", "ending")
    wait_for(terms.exists, what="the program heeds SIGTERM")
    pids = {name: mortal.lifectl.start(name, *programs.FAMILY) for name in ("asleep", "awake")}
    mortal.lifectl.wait_for_state("asleep", "suspended")
    pids["ending"] = mortal.lifectl.pid("ending")
    waiting = ask_to_end(mortal, "ending")
    wait_for(lambda: terms.exists() and terms.read_text())
    # A daemon that answers has noted its earlier effects.
    mortal.lifectl("list")
    kill(mortal)
    waiting.wait()
    for number in range(1, 60):
        inject = ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}"]
        with open(mortal.log, "ab") as log:
            process = subprocess.Popen([*inject, *mortal.arguments()], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(lambda: process.poll() is not None or mortal.lifectl("status", check=False).returncode == 0)
        if process.poll() is None:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            for child in children:
                os.kill(int(child), signal.SIGKILL)
            process.wait()
            break
    mortal.start()
    assert {name: app["pid"] for name, app in mortal.lifectl.apps().items()} == pids
    mortal.lifectl.wait_for_state("asleep", "suspended")
    assert mortal.lifectl.state("awake") == "active"
    assert mortal.kernel.is_stopped(pids["asleep"]), mortal.kernel.tree(pids["asleep"])
    assert not mortal.kernel.is_stopped(pids["awake"])
    assert terms.read_text() == "term\n"
    mortal.lifectl("kill", "ending")
