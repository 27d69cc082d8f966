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

import programs
from container import wait_for
from listeners import Listeners, problems
from test_samples import COLD_START, COME_BACK, LEAVE, Sample

# Writes down each SIGTERM that it gets, and goes on.
COUNTS_TERMS = ["sh", "-c", 'trap "echo term >>$0" TERM; while :; do sleep 0.05; done']
# The main process ends when the file $0 is there, with a helper left.
HANDS_OVER = ["sh", "-c", "sleep infinity & while [ ! -e $0 ]; do sleep 0.01; done; exit 7"]


@pytest.fixture(params=["auto", "processGroup"])
def daemon(request, direct):
    direct.containment = request.param
    configure(direct)
    yield direct
    if direct.process.poll() is not None:
        direct.start()


def configure(daemon, text="", timeouts="background = '0s'"):
    (daemon.configuration / "lifed.toml").write_text(
        f"containment = '{daemon.containment}'\n{text}\n[timeouts]\n{timeouts}\n"
    )
    daemon.stop()
    daemon.start()


def kill(daemon):
    daemon.process.kill()
    daemon.process.wait()


def start_again(daemon, between=lambda: None):
    kill(daemon)
    between()
    daemon.start()


def manifest(daemon, identifier, command, extra=""):
    words = ", ".join("'''" + word + "'''" for word in command)
    (daemon.configuration / f"apps.d/{identifier}.toml").write_text(f"command = [{words}]\n{extra}\n")
    daemon.lifectl("reload")


def log(daemon):
    return daemon.log.read_text(errors="replace")


def stat(daemon, pid):
    return daemon.kernel.stat(pid).state


def state_file(daemon):
    return daemon.runtime / "state"


def view(daemon):
    return {
        name: {key: app.get(key) for key in ("pid", "state", "target", "reason", "inFront", "adHoc", "lastExit", "containment")}
        for name, app in daemon.lifectl.apps().items()
    }


# What is kept


def without_times(view):
    return json.loads(re.sub(r'"time": \d+', '"time": 0', json.dumps(view)))


def test_everything_is_as_it_was(daemon):
    manifest(daemon, "gone", ["sh", "-c", "exit 3"])
    manifest(daemon, "unused", programs.IDLE)
    daemon.lifectl("launch", "gone", check=False)
    daemon.lifectl.wait_for_state("gone", "notRunning")
    daemon.lifectl.start("back", *programs.FAMILY)
    daemon.lifectl.start("front", *programs.FAMILY)
    daemon.lifectl.wait_for_state("back", "suspended")
    daemon.lifectl("interrupt", "begin", "--name", "call")
    daemon.lifectl.wait_for_state("front", "inactive")
    before = view(daemon)
    start_again(daemon)
    daemon.lifectl.wait_for_state("back", "suspended")
    assert without_times(view(daemon)) == without_times(before)
    assert daemon.kernel.is_stopped(before["back"]["pid"])
    assert not daemon.kernel.is_stopped(before["front"]["pid"])
    daemon.lifectl("interrupt", "end", "--name", "call")
    daemon.lifectl.wait_for_state("front", "active")
    daemon.lifectl("focus", "back")
    assert daemon.lifectl.state("back") == "active"
    assert not any(each.state == "T" for each in daemon.kernel.tree(before["back"]["pid"]))


def test_it_can_be_killed_again_and_again(daemon):
    pids = {name: daemon.lifectl.start(name, *programs.FAMILY) for name in ("one", "two")}
    for number in range(10):
        start_again(daemon)
        daemon.lifectl("focus", ("one", "two")[number % 2])
    assert {name: daemon.lifectl.pid(name) for name in pids} == pids


def test_an_app_that_ended_meanwhile_is_reported(daemon):
    manifest(daemon, "app", ["sh", "-c", "while [ ! -e $0 ]; do sleep 0.01; done; exit 7", str(daemon.runtime / "go")])
    daemon.lifectl("launch", "app")
    pid = daemon.lifectl.pid("app")

    def end():
        (daemon.runtime / "go").touch()
        wait_for(lambda: not daemon.kernel.exists(pid))

    start_again(daemon, end)
    app = daemon.lifectl.app("app")
    assert app["state"] == "notRunning"
    assert app["lastExit"]["reason"] == "crash"
    # Only a parent, or whoever had a pidfd all the time, hears the status.
    assert app["lastExit"].get("code") in (7, None)


@pytest.mark.parametrize("policy", ["main", "last"])
def test_a_main_process_that_ended_meanwhile_and_left_a_helper(daemon, policy):
    manifest(daemon, "app", [*HANDS_OVER, str(daemon.runtime / "go")], f"exitPolicy = '{policy}'")
    daemon.lifectl("launch", "app")
    pid = daemon.lifectl.pid("app")
    wait_for(lambda: any(each.name == "sleep" and each.parent == pid for each in daemon.kernel.tree(pid)))
    helper = next(each.pid for each in daemon.kernel.tree(pid) if each.name == "sleep")

    def end():
        (daemon.runtime / "go").touch()
        wait_for(lambda: not daemon.kernel.exists(pid))

    start_again(daemon, end)
    if policy == "main":
        daemon.lifectl.wait_for_state("app", "notRunning")
        wait_for(lambda: not daemon.kernel.exists(helper))
    else:
        assert daemon.lifectl.state("app") == "active"
        daemon.lifectl("suspend", "app")
        assert stat(daemon, helper) == "T"
        daemon.lifectl("focus", "app")
        os.kill(helper, signal.SIGKILL)
        daemon.lifectl.wait_for_state("app", "notRunning")


def test_ad_hoc_apps_that_were_never_launched_are_not_kept(daemon):
    daemon.lifectl.start("app", *programs.IDLE)
    text = state_file(daemon).read_text()
    start_again(daemon, lambda: state_file(daemon).write_text(text + "definition id=lost argument=true\n"))
    assert set(daemon.lifectl.apps()) == {"app"}


# Deadlines and callbacks


def test_a_background_time_that_passed_meanwhile_is_over(daemon):
    configure(daemon, timeouts="background = '300ms'")
    pid = daemon.lifectl.start("app", *programs.IDLE)
    daemon.lifectl.start("other", *programs.IDLE)
    start_again(daemon)
    daemon.lifectl.wait_for_state("app", "suspended")
    assert stat(daemon, pid) == "T"


def ask_to_end(daemon, identifier):
    """Asks, and does not wait for the answer."""
    environment = {**os.environ, "LIFED_SOCKET": str(daemon.socket)}
    command = [str(daemon.products / "lifectl"), "terminate", identifier]
    return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)


def test_who_is_asked_to_end_is_not_asked_twice(daemon, tmp_path):
    configure(daemon, timeouts="willTerminate = '2s'")
    terms = tmp_path / "terms"
    manifest(daemon, "app", [*COUNTS_TERMS, str(terms)])
    daemon.lifectl("launch", "app")
    pid = daemon.lifectl.pid("app")
    waiting = ask_to_end(daemon, "app")
    wait_for(lambda: terms.exists() and terms.read_text())
    # It is written down when it has been done: a daemon that is killed in between cannot know.
    wait_for(lambda: "asked-to-end=1" in state_file(daemon).read_text())
    start_again(daemon)
    waiting.wait()
    assert daemon.lifectl.state("app") == "terminating"
    daemon.lifectl.wait_for_state("app", "notRunning")
    assert not daemon.kernel.exists(pid)
    assert terms.read_text() == "term\n"
    assert daemon.lifectl.app("app")["lastExit"]["reason"] == "terminate"


def test_an_app_that_does_not_come_back_goes_on_as_one_without_the_library(direct, tmp_path):
    daemon = direct
    daemon.containment = "auto"
    configure(daemon, timeouts="didEnterBackground = '20s'\nbackground = '0s'")
    listeners = Listeners(daemon, tmp_path / "notes")
    listeners.manifest("app", "silent=did-enter-background")
    daemon.lifectl("launch", "app")
    listeners.wait_until_told("app", "did-become-active")
    daemon.lifectl("home", check=False)
    listeners.wait_until_told("app", "did-enter-background")
    start_again(daemon)
    # It has lost its channel and does not know the way back; nobody can tell whether it would have answered.
    daemon.lifectl.wait_for_state("app", "suspended", timeout=60)
    assert daemon.lifectl.app("app")["linked"] is False


@pytest.fixture(params=["swift", "c"])
def sample(request, daemon, tmp_path):
    return Sample(daemon, request.param, tmp_path)


def test_a_library_comes_back(sample):
    daemon = sample.direct
    sample.launch()
    for _ in range(3):
        start_again(daemon)
        wait_for(lambda: returned(daemon, "sample"))
        assert daemon.lifectl.app("sample")["linked"] is True
    sample.leave()
    sample.expect(COLD_START, LEAVE)
    start_again(daemon)
    daemon.lifectl.wait_for_state("sample", "suspended")
    daemon.lifectl("focus", "sample")
    sample.expect(COLD_START, LEAVE, COME_BACK)


def returned(daemon, identifier):
    """Whether the app's channel of this daemon has been greeted."""
    lines = [line for line in state_file(daemon).read_text().splitlines() if line.startswith(f"channel id={identifier} ")]
    return lines and "version=1" in lines[-1]


def test_a_library_is_waited_for_though_the_daemon_was_away_for_long(sample):
    daemon = sample.direct
    sample.launch()
    pid = daemon.lifectl.pid("sample")

    def wait():
        # The library tries again after 0.1, 0.2, 0.4 ... s; let it get to long pauses.
        before = daemon.kernel.wakeups(pid)
        wait_for(lambda: daemon.kernel.wakeups(pid) >= before + 5, timeout=120)

    start_again(daemon, wait)
    wait_for(lambda: returned(daemon, "sample"), timeout=120)
    sample.leave()
    sample.expect(COLD_START, LEAVE)


# What has changed meanwhile


def test_a_manifest_that_was_removed_meanwhile(daemon):
    manifest(daemon, "app", programs.IDLE)
    daemon.lifectl("launch", "app")
    pid = daemon.lifectl.pid("app")
    start_again(daemon, lambda: (daemon.configuration / "apps.d/app.toml").unlink())
    assert daemon.lifectl.pid("app") == pid
    assert daemon.lifectl.state("app") == "active"
    daemon.lifectl("terminate", "app")
    assert not daemon.kernel.exists(pid)
    assert "app" not in daemon.lifectl.apps()


def test_a_configuration_that_was_broken_meanwhile(daemon):
    manifest(daemon, "app", programs.IDLE)
    daemon.lifectl("launch", "app")
    pid = daemon.lifectl.pid("app")

    def spoil():
        (daemon.configuration / "lifed.toml").write_text("this = = is no TOML")
        (daemon.configuration / "apps.d/app.toml").write_text("neither is this")

    start_again(daemon, spoil)
    assert daemon.lifectl.pid("app") == pid
    daemon.lifectl("suspend", "app")
    assert stat(daemon, pid) == "T"


def test_fewer_places_than_before(daemon):
    configure(daemon, "frontLimit = 2")
    for name in ("one", "two"):
        daemon.lifectl.start(name, *programs.IDLE)
    assert all(app["state"] == "active" for app in daemon.lifectl.apps().values())
    text = (daemon.configuration / "lifed.toml").read_text()
    start_again(daemon, lambda: (daemon.configuration / "lifed.toml").write_text(text.replace("frontLimit = 2", "")))
    daemon.lifectl.wait_for_state("one", "suspended")
    assert daemon.lifectl.state("two") == "active"


def test_what_the_rescue_has_continued_is_stopped_again(daemon):
    pid = daemon.lifectl.start("app", *programs.FAMILY)
    daemon.lifectl("suspend", "app")

    def rescue():
        result = daemon.run([*daemon.arguments(), "--rescue"])
        assert result.returncode == 0, result.stderr
        wait_for(lambda: not any(each.state == "T" for each in daemon.kernel.tree(pid)))

    start_again(daemon, rescue)
    wait_for(lambda: daemon.kernel.is_stopped(pid))
    assert daemon.lifectl.state("app") == "suspended"
    daemon.lifectl("focus", "app")
    assert not any(each.state == "T" for each in daemon.kernel.tree(pid))


# A state that is not what it should be


@pytest.fixture
def stranger(daemon):
    """A process of somebody else's. It began in a clock tick before any app does: its start tells it from them."""
    process = subprocess.Popen(programs.IDLE, start_new_session=True)
    started = daemon.kernel.stat(process.pid).started
    wait_for(lambda: time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK") >= started + 1)
    yield process
    assert process.poll() is None, "a stranger was ended"
    process.kill()
    process.wait()


def test_the_numbers_of_others_harm_nobody(daemon, stranger):
    daemon.lifectl.start("app", *programs.IDLE)
    daemon.lifectl("suspend", "app")
    app = daemon.lifectl.pid("app")

    def replace():
        os.kill(app, signal.SIGKILL)
        wait_for(lambda: not daemon.kernel.exists(app))
        text = state_file(daemon).read_text()
        assert f"main={app}:" in text
        state_file(daemon).write_text(text.replace(f"main={app}:", f"main={stranger.pid}:"))

    start_again(daemon, replace)
    assert "app" not in daemon.lifectl.apps() or daemon.lifectl.state("app") == "notRunning"
    assert stat(daemon, stranger.pid) == "S"
    daemon.stop()
    daemon.start()


def test_a_state_file_of_garbage_is_said_to_be_one(daemon):
    start_again(daemon, lambda: state_file(daemon).write_bytes(os.urandom(5000)))
    assert f"apps of a lifed before are lost: {state_file(daemon)} is no state file" in log(daemon)
    daemon.lifectl.start("app", *programs.IDLE)


def test_a_state_file_that_is_cut_off_anywhere_is_no_hindrance(daemon):
    daemon.lifectl.start("one", *programs.IDLE)
    daemon.lifectl.start("two", *programs.IDLE)
    pids = {name: app["pid"] for name, app in daemon.lifectl.apps().items()}
    size = state_file(daemon).stat().st_size
    start_again(daemon, lambda: os.truncate(state_file(daemon), size - 7))
    assert {name: app["pid"] for name, app in daemon.lifectl.apps().items()} == pids


def test_a_directory_that_others_may_write_to_is_refused(daemon):
    daemon.lifectl.start("app", *programs.IDLE)
    kill(daemon)
    daemon.runtime.chmod(0o777)
    result = daemon.run(daemon.arguments(), check=False)
    assert result.returncode == 1
    assert str(daemon.runtime) in result.stderr
    daemon.runtime.chmod(0o700)
    daemon.start()
    assert daemon.lifectl.state("app") == "active"


def test_a_daemon_hands_over_when_it_is_asked_to(daemon):
    pid = daemon.lifectl.start("app", *programs.IDLE)
    daemon.process.send_signal(signal.SIGUSR2)
    assert daemon.process.wait(timeout=60) == 0
    assert daemon.kernel.exists(pid)
    daemon.start()
    assert daemon.lifectl.pid("app") == pid


def test_a_clean_stop_leaves_nothing_to_go_on_with(daemon):
    pid = daemon.lifectl.start("app", *programs.IDLE)
    assert daemon.stop() == 0
    assert not daemon.kernel.exists(pid)
    assert not state_file(daemon).exists()
    assert not (daemon.runtime / "channel").exists()


@pytest.mark.skipif(not Path("/proc/self/ns/time").exists(), reason="the kernel has no time namespaces")
def test_a_clock_that_is_another_is_not_believed(daemon):
    """Numbers of processes and instants mean nothing in another namespace."""
    pid = daemon.lifectl.start("app", *programs.IDLE)
    daemon.lifectl("suspend", "app")
    kill(daemon)
    try:
        daemon.start(["unshare", "--time", "--fork", "--monotonic", "100000", "--boottime", "100000"])
        assert "apps of a lifed before are lost" in log(daemon)
        assert daemon.lifectl.apps() == {}
        os.kill(int((daemon.runtime / "lock").read_text()), signal.SIGTERM)
        assert daemon.process.wait(timeout=60) == 0
    finally:
        os.kill(pid, signal.SIGKILL)


# A directory that is full


@pytest.fixture
def small(tmp_path):
    from direct import DirectDaemon

    products = Path(__file__).resolve().parents[2] / ".build" / os.environ.get("LIFED_BUILD", "release")
    daemon = DirectDaemon(products, tmp_path)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=0700", "lifed-test", str(daemon.runtime)]).returncode:
        pytest.skip("a file system cannot be mounted here")
    daemon.containment = "auto"
    (daemon.configuration / "lifed.toml").write_text("[timeouts]\nbackground = '0s'\n")
    daemon.start()
    yield daemon
    daemon.stop()
    subprocess.run(["umount", "--lazy", str(daemon.runtime)], check=True)


def fill(path):
    with open(path, "wb", buffering=0) as ballast, pytest.raises(OSError, match="No space left"):
        while True:
            ballast.write(bytes(4096))


def test_a_full_directory_is_said_once_and_no_request_suffers(small):
    first = small.lifectl.start("first", *programs.IDLE)
    fill(small.runtime / "ballast")
    for number in range(40):
        small.lifectl.start(f"app{number}", *programs.IDLE)
    for number in range(40):
        small.lifectl("terminate", f"app{number}")
    assert log(small).count("cannot be written: No space left on device") == 1
    second = small.lifectl.start("second", *programs.IDLE)
    (small.runtime / "ballast").unlink()
    wait_for(lambda: "is kept again" in log(small))
    start_again(small)
    assert small.lifectl.pid("first") == first
    assert small.lifectl.pid("second") == second
    assert small.lifectl.state("second") == "active"
    assert log(small).count("is kept again") == 1


# Killed again


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not there")
@pytest.mark.parametrize("call", ["write", "rename", "pidfd_open", "epoll_ctl", "kill,pidfd_send_signal"])
def test_it_may_be_killed_while_it_takes_over(daemon, tmp_path, call):
    """At each system call of a kind, one after the other, until it gets through the whole of it."""
    terms = tmp_path / "terms"
    configure(daemon, timeouts="background = '0s'\nwillTerminate = '1h'")
    manifest(daemon, "ending", [*COUNTS_TERMS, str(terms)])
    daemon.lifectl("launch", "ending")
    pids = {name: daemon.lifectl.start(name, *programs.FAMILY) for name in ("asleep", "awake")}
    daemon.lifectl.wait_for_state("asleep", "suspended")
    pids["ending"] = daemon.lifectl.pid("ending")
    waiting = ask_to_end(daemon, "ending")
    wait_for(lambda: terms.exists() and terms.read_text())
    # Whoever answers has noted what it has done before.
    daemon.lifectl("list")
    kill(daemon)
    waiting.wait()
    for number in range(1, 60):
        inject = ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}"]
        with open(daemon.log, "ab") as log:
            process = subprocess.Popen([*inject, *daemon.arguments()], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(lambda: process.poll() is not None or daemon.lifectl("status", check=False).returncode == 0)
        if process.poll() is None:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            for child in children:
                os.kill(int(child), signal.SIGKILL)
            process.wait()
            break
    daemon.start()
    assert {name: app["pid"] for name, app in daemon.lifectl.apps().items()} == pids
    daemon.lifectl.wait_for_state("asleep", "suspended")
    assert daemon.lifectl.state("awake") == "active"
    assert daemon.kernel.is_stopped(pids["asleep"])
    assert not daemon.kernel.is_stopped(pids["awake"])
    assert terms.read_text() == "term\n"
    daemon.lifectl("kill", "ending")
