"""Programs that become daemons: they leave their session and their parent, and some overwrite their environment."""

import os
import shutil
import signal
import sys

import pytest

import programs
from container import wait_for
from driver import call, connect
from restoration import configure, manifest, start_again

# As daemon(3) does, and without the environment that carries lifed's mark.
BECOMES_DAEMON = """
import os, sys
if os.fork(): os._exit(0)
os.setsid()
if "twice" in sys.argv and os.fork(): os._exit(0)
open(sys.argv[1], "w").write(str(os.getpid()))
os.execve("/bin/sleep", ["sleep", "infinity"], {})
"""

LAST = "exitPolicy = 'last'"


def told(path):
    wait_for(lambda: path.exists() and path.read_text(), what="the daemon of the app has told its number")
    return int(path.read_text())


def members(daemon, name):
    return [each["pid"] for each in daemon.lifectl.json("status", name)["details"]["processes"]]


@pytest.mark.parametrize("forks", ["once", "twice"])
def test_program_that_becomes_a_daemon_is_held(mortal, tmp_path, forks):
    configure(mortal)
    for number in range(5):
        name, file = f"app{number}", tmp_path / f"pid{number}"
        manifest(mortal, name, [sys.executable, "-c", BECOMES_DAEMON, str(file), forks], LAST)
        mortal.lifectl("launch", name)
        pid = told(file)
        wait_for(lambda: mortal.kernel.stat(pid).name == "sleep")
        # The first process ends at the same time.
        wait_for(lambda: members(mortal, name) == [pid], what="the daemon of the app alone is left")
        mortal.lifectl("suspend", name)
        assert mortal.kernel.is_stopped(pid)
    start_again(mortal)
    for number in range(5):
        name, pid = f"app{number}", told(tmp_path / f"pid{number}")
        assert mortal.lifectl.state(name) == "suspended"
        mortal.lifectl("focus", name)
        wait_for(lambda: mortal.kernel.stat(pid).state == "S")
        mortal.lifectl("terminate", name)
        assert not mortal.kernel.exists(pid)


def test_a_daemon_of_an_app_that_ends_is_ended_with_it(mortal, tmp_path):
    configure(mortal)
    file = tmp_path / "pid"
    script = f"setsid env -i sleep infinity & echo $! >{file}; exit"
    manifest(mortal, "app", ["sh", "-c", script])
    mortal.lifectl("launch", "app")
    pid = told(file)
    wait_for(lambda: not mortal.kernel.exists(pid))
    mortal.lifectl.wait_for_state("app", "notRunning")


@pytest.mark.skipif(not shutil.which("nginx"), reason="there is no nginx")
def test_nginx_is_held_in_every_state(mortal, tmp_path):
    configure(mortal)
    conf = tmp_path / "nginx.conf"
    conf.write_text(
        f"pid {tmp_path}/nginx.pid; error_log {tmp_path}/error.log; events {{}}\n"
        f"http {{ access_log off; server {{ listen unix:{tmp_path}/socket; }} }}\n"
    )
    for round in range(3):
        manifest(mortal, "nginx", ["nginx", "-c", str(conf), "-p", str(tmp_path)], LAST)
        mortal.lifectl("launch", "nginx")
        pid = told(tmp_path / "nginx.pid")
        wait_for(lambda: len(mortal.kernel.tree(pid)) > 1)
        members = {each.pid for each in mortal.kernel.tree(pid)}
        assert {each["pid"] for each in mortal.lifectl.json("status", "nginx")["details"]["processes"]} == members
        mortal.lifectl("suspend", "nginx")
        assert mortal.kernel.is_stopped(pid)
        start_again(mortal)
        assert mortal.lifectl.state("nginx") == "suspended"
        mortal.lifectl("focus", "nginx")
        wait_for(lambda: mortal.kernel.stat(pid).state == "S")
        mortal.lifectl("terminate", "nginx")
        assert not any(mortal.kernel.exists(each) for each in members)
        assert mortal.lifectl.app("nginx")["lastExit"]["reason"] != "crash"


def test_a_stranger_is_not_taken_for_a_process_of_the_app_that_ends(mortal, tmp_path):
    # The daemon was there before the other app, whose end does not claim it.
    configure(mortal)
    file = tmp_path / "pid"
    script = f"{sys.executable} -c '{BECOMES_DAEMON}' {file}; exec sleep infinity"
    mortal.lifectl("run", "--id", "maker", "--", "sh", "-c", script)
    pid = told(file)
    other = mortal.lifectl.start("other", "sleep", "infinity")
    os.kill(other, signal.SIGKILL)
    mortal.lifectl.wait_for_state("other", "notRunning")
    assert mortal.kernel.exists(pid)
    os.kill(pid, signal.SIGKILL)


# Leaves its session and its parent when it is told to, and calls the daemon with an environment of its own.
ESCAPES = """
import os, sys, time
go, then, calls, socket, out = sys.argv[1:]
if os.fork():
    while True:
        time.sleep(60)
os.setsid()
while not os.path.exists(go):
    time.sleep(0.01)
parent = os.getpid()
if os.fork():
    os._exit(0)
os.setsid()
while os.getppid() == parent:
    time.sleep(0.001)
call = f"touch {go}.done; while [ ! -e {then} ]; do sleep 0.01; done\\n"
call += f"({calls}) >{out}.part 2>&1; mv {out}.part {out}"
os.execve("/bin/sh", ["sh", "-c", call], {"LIFED_SOCKET": socket, "PATH": os.environ["PATH"]})
"""


def calls(daemon, *commands):
    """A shell's commands that call the daemon and tell the exit statuses."""
    return "; ".join(f"{daemon.products}/lifectl {command}; echo $?" for command in commands)


@pytest.mark.parametrize("mortal", ["keeper"], indirect=True)
def test_a_process_that_has_left_all_behind_has_the_rights_of_its_app_after_a_restart(mortal, tmp_path):
    configure(mortal)
    go, then, out = tmp_path / "go", tmp_path / "then", tmp_path / "out"
    mortal.lifectl.start("other", "sleep", "infinity")
    words = [str(each) for each in (go, then, calls(mortal, "explain other", "list --json"), mortal.socket, out)]
    mortal.lifectl.start("app", sys.executable, "-c", ESCAPES, *words)
    start_again(mortal)
    go.touch()
    wait_for(go.with_suffix(".done").exists, what="the child has lost its parent")
    then.touch()
    wait_for(out.exists, what="the answers of the daemon")
    answers = out.read_text().splitlines()
    assert "77" in answers, answers
    assert '"app"' in out.read_text() and '"other"' not in out.read_text()


@pytest.mark.parametrize("mortal", ["keeper"], indirect=True)
def test_an_orphan_of_a_released_app_has_the_rights_of_its_user(mortal, start, tmp_path):
    configure(mortal)
    go, then, out = tmp_path / "go", tmp_path / "then", tmp_path / "out"
    pid = start([sys.executable, "-c", ESCAPES, *map(str, (go, then, calls(mortal, "list"), mortal.socket, out))])
    mortal.lifectl("adopt", str(pid), "--id", "app")
    mortal.lifectl("release", "app")
    go.touch()
    then.touch()
    wait_for(out.exists, what="the answer of the daemon")
    assert out.read_text().splitlines()[-1] == "0"


@pytest.mark.parametrize("mortal", ["keeper"], indirect=True)
def test_the_end_of_an_app_whose_keeper_is_killed_is_noticed_whatever_is_asked_meanwhile(mortal):
    with connect(str(mortal.socket)) as connection:
        for number in range(40):
            name = f"app{number}"
            pid = mortal.lifectl.start(name, *programs.IDLE)
            os.kill(mortal.kernel.stat(pid).parent, signal.SIGKILL)
            call(connection, "org.lifed.Suspend", {"id": name, "now": True})
            wait_for(lambda: name not in mortal.lifectl.apps(), what="the app has ended")
            assert not mortal.kernel.exists(pid)
    assert "its lifed-keeper was killed" in mortal.lifectl("explain", "app0").stdout
