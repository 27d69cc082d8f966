"""What cannot be adopted, and by whom."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import programs
from container import wait_for
from direct import DirectDaemon
from driver import call, connect
from puppet import Puppet

REFUSED = 2
NO_SUCH_PROCESS = 66
INVALID_APP = 65
OTHER_NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc"]


def test_what_nobody_wants_to_see_stopped_is_refused(direct):
    app = direct.lifectl.start("app", *programs.IDLE)
    kernel_thread = next((stat.pid for stat in direct.kernel.all() if stat.name == "kthreadd"), None)
    # Other users than root hear of these two that they belong to another user, before what they are.
    of_root = {1: "every other process", **({kernel_thread: "of the kernel"} if kernel_thread else {})}
    if os.geteuid() != 0:
        of_root = dict.fromkeys(of_root, "not yours")
    reasons = {
        **of_root,
        direct.process.pid: "it is this lifed",
        os.getpid(): "has started lifed",
        app: "belongs to this app already",
    }
    for pid, reason in reasons.items():
        result = direct.lifectl("adopt", str(pid), check=False)
        assert result.returncode == REFUSED and reason in result.stderr, result.stderr
        # What cannot be adopted, whose it is, why, and what to do.
        form = rf"lifectl: .*cannot adopt process {pid}( \(.+\) of user \w+)?: .+; .+"
        assert re.fullmatch(form, result.stderr.strip()), result.stderr
    assert set(direct.lifectl.apps()) == {"app"}
    # The shell that asks.
    script = f"LIFED_SOCKET={direct.socket} {direct.products}/lifectl adopt $$; echo $?"
    asked = subprocess.run(["setsid", "sh", "-c", script], capture_output=True, text=True, timeout=60)
    assert asked.stdout.strip() == str(REFUSED) and "has started your client" in asked.stderr


def test_one_that_has_ended_is_not_there(direct):
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    for pid in (ended.pid, 2**31 - 1):
        assert direct.lifectl("adopt", str(pid), check=False).returncode == NO_SUCH_PROCESS
    ended.wait()
    assert direct.lifectl("adopt", str(ended.pid), check=False).returncode == NO_SUCH_PROCESS


def test_an_app_of_another_daemon_is_refused(daemon, tmp_path):
    other = DirectDaemon(daemon.products, tmp_path / "other")
    other.start()
    try:
        theirs = other.lifectl.start("theirs", *programs.IDLE)
        for pid in (theirs, other.process.pid):
            result = daemon.lifectl("adopt", str(pid), check=False)
            assert result.returncode == REFUSED and "lifed" in result.stderr
    finally:
        other.stop()


@pytest.mark.parametrize(
    "parameters",
    [
        {"pid": 0},
        {"pid": "1"},
        {"id": "x"},
        {"pid": 5, "id": 7},
        {"pid": 5, "name": ""},
        {"pid": 5, "name": "a\u001b[31m"},
        {"pid": 5, "background": "yes"},
        {"pid": 5, "more": True},
    ],
)
def test_garbage_is_refused(direct, parameters):
    with connect(str(direct.socket)) as connection:
        error = call(connection, "org.lifed.Adopt", parameters)
        assert error["error"] == "org.varlink.service.InvalidParameter"
    assert direct.lifectl.apps() == {}


def test_an_id_that_is_none_or_taken_is_refused(direct, start):
    pid = start(programs.IDLE)
    direct.lifectl.start("taken", *programs.IDLE)
    for identifier in ("../x", "", "taken"):
        assert direct.lifectl("adopt", str(pid), "--id", identifier, check=False).returncode == INVALID_APP
    assert set(direct.lifectl.apps()) == {"taken"}


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_everybody_may_adopt_their_own_and_root_anybodys(direct, start):
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    theirs, ours = start([*nobody, *programs.IDLE]), start(programs.IDLE)
    wait_for(lambda: direct.kernel.stat(theirs).name == "sleep")
    assert direct.lifectl("adopt", str(theirs), "--id", "theirs").returncode == 0
    assert direct.lifectl.json("status", "theirs")["details"]["user"] == "65534"
    # A daemon of nobody's.
    own = Path(tempfile.mkdtemp(dir="/tmp"))
    os.chown(own, 65534, 65534)
    if any(not os.stat(parent).st_mode & 0o001 for parent in direct.products.parents):
        pytest.skip(f"nobody may not enter {direct.products}")
    places = [f"--{name}-directory={own / name}" for name in ("runtime", "state")]
    command = [*nobody, str(direct.products / "lifed"), *places, "--log-target=console"]
    daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        socket = own / "runtime" / "control"
        wait_for(socket.exists)
        environment = {**os.environ, "LIFED_SOCKET": str(socket)}

        def adopt(pid, *prefix):
            command = [*prefix, str(direct.products / "lifectl"), "adopt", str(pid), "--id", "app"]
            return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

        refused = adopt(ours, *nobody)
        assert refused.returncode == REFUSED and "not yours" in refused.stderr
        refused = adopt(ours)
        assert refused.returncode == REFUSED and "may not stop" in refused.stderr
        mine = start([*nobody, *programs.IDLE])
        wait_for(lambda: direct.kernel.stat(mine).name == "sleep")
        assert adopt(mine, *nobody).returncode == 0
    finally:
        daemon.terminate()
        daemon.wait(timeout=60)
        shutil.rmtree(own)
    assert direct.kernel.exists(mine) and direct.kernel.exists(ours)


@pytest.mark.skipif(subprocess.run([*OTHER_NAMESPACE, "true"], stderr=subprocess.DEVNULL).returncode != 0, reason="no process namespace can be made here")
def test_a_number_of_another_process_namespace_is_refused(direct, start):
    """The number means a process of the client's namespace, and another one, or none, to the daemon."""
    victim = start(programs.IDLE)
    app = direct.lifectl.start("app", *programs.IDLE)
    environment = {**os.environ, "LIFED_SOCKET": str(direct.socket)}
    for pid, command in ((victim, "adopt"), (app, "status --pid")):
        result = subprocess.run(
            [*OTHER_NAMESPACE, str(direct.products / "lifectl"), *command.split(), str(pid)], env=environment,
            capture_output=True, text=True, timeout=60)
        assert result.returncode == REFUSED and "you are in another process namespace; " in result.stderr, result
    assert set(direct.lifectl.apps()) == {"app"}


def test_an_app_may_not_adopt(daemon, start, tmp_path):
    puppet = Puppet(daemon, "puppet", tmp_path / "puppet")
    daemon.lifectl("reload")
    daemon.lifectl("launch", "puppet")
    pid = start(programs.IDLE)
    assert puppet.lifectl(f"adopt {pid}").returncode == 77
    # An adopted program is an app like any other.
    client = start(["sh", "-c", f"while [ ! -e {tmp_path}/go ]; do sleep 0.01; done; LIFED_SOCKET={daemon.socket} "
        f"{daemon.products}/lifectl list --json >{tmp_path}/seen.part; mv {tmp_path}/seen.part {tmp_path}/seen; sleep 60"])
    daemon.lifectl("adopt", str(client), "--id", "client")
    (tmp_path / "go").touch()
    wait_for((tmp_path / "seen").exists)
    assert [app["id"] for app in json.loads((tmp_path / "seen").read_text())["apps"]] == ["client"]
