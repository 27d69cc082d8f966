"""A daemon of an ordinary user whose app has a process of another user, as sudo(8) makes one."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from container import wait_for
from direct import DirectDaemon
from restoration import manifest

USER = 65534
REFUSED, NO_SUCH_APP = 2, 66
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")


@pytest.fixture
def ordinary(direct):
    """A daemon of the user, and a program that executes another as root."""
    if any(not os.stat(parent).st_mode & 0o001 for parent in direct.products.parents):
        pytest.skip(f"the user may not enter {direct.products}")
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        become = Path(place) / "become-root"
        shutil.copy(shutil.which("setpriv"), become)
        become.chmod(0o4755)
        daemon = DirectDaemon(direct.products, Path(place) / "daemon")
        (daemon.configuration / "lifed.toml").write_text("[timeouts]\nbackground = '0s'\nsuspension = '200ms'\n")
        for path in (daemon.runtime.parent, *daemon.runtime.parent.rglob("*")):
            os.chown(path, USER, USER)
        daemon.start(wrapper=AS_USER)
        yield daemon, become
        daemon.stop()


def test_the_process_that_cannot_be_stopped_is_named(ordinary):
    daemon, become = ordinary
    script = f"{become} --reuid=0 --clear-groups sleep 4321 & exec sleep infinity"
    manifest(daemon, "app", ["sh", "-c", script])
    daemon.lifectl("launch", "app")
    pid = daemon.lifectl.pid("app")
    root = wait_for(lambda: [each.pid for each in daemon.kernel.tree(pid) if each.name == "sleep" and each.pid != pid])[0]
    wait_for(lambda: "Uid:\t0\t0\t0" in Path(f"/proc/{root}/status").read_text(), what="it runs as root")
    result = daemon.lifectl("suspend", "app", check=False)
    try:
        named = f"this daemon may not stop process {root} (sleep, state S) of user root; launch the app with the system's daemon"
        assert result.returncode != 0 and f": {named}" in result.stderr
        assert daemon.lifectl.state("app") != "suspended"
        assert f"{root} (sleep 4321) of user root: this daemon may not stop it; launch" in daemon.lifectl("explain", "app").stdout
        wait_for(lambda: f"cannot suspend app: {named}" in daemon.logged)
    finally:
        os.kill(root, 9)
    daemon.lifectl.wait_for_state("app", "suspended")


def test_root_launches_no_command_with_it(ordinary):
    daemon, _ = ordinary
    result = daemon.lifectl("run", "--id", "command", "--", "id", check=False)
    assert result.returncode == REFUSED
    assert "belongs to another user, and cannot launch apps as user 0; run lifectl as user 65534, or use" in result.stderr
    assert daemon.lifectl.apps() == {}


def test_a_directory_of_manifests_that_cannot_be_read_is_named(ordinary):
    daemon, _ = ordinary
    manifests = daemon.configuration / "apps.d"
    manifest(daemon, "app", ["sleep", "infinity"])
    manifests.chmod(0)
    daemon.lifectl("reload", check=False)
    result = daemon.lifectl("launch", "app", check=False)
    assert result.returncode == NO_SUCH_APP
    assert f"cannot launch app: not all manifests can be used: {manifests}: cannot open the directory" in result.stderr


def test_a_directory_that_it_may_not_make_is_no_reason_to_be_root(ordinary):
    daemon, become = ordinary
    place = become.parent / "run"
    command = [*AS_USER, str(daemon.products / "lifed"), "--user", f"--runtime-directory={place}"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=30)
    remedy = "change the permissions of the directories above it, or name another directory"
    assert (result.returncode, result.stderr) == (1, f"lifed: cannot create {place}: Permission denied; {remedy}\n")


AGENT = shutil.which("ssh-agent")


@pytest.mark.skipif(not AGENT or not os.stat(AGENT).st_mode & 0o2000, reason="no ssh-agent that is set-group-ID")
def test_an_agent_that_hides_its_file_goes_on_without_the_app_that_started_it(ordinary):
    daemon, become = ordinary
    script = f"(ssh-agent -D -a {daemon.state}/agent >/dev/null &); until [ -S {daemon.state}/agent ]; do sleep 0.05; done"
    manifest(daemon, "app", ["sh", "-c", f"{script}; exec sleep infinity"])
    daemon.lifectl("launch", "app")
    (agent,) = wait_for(lambda: [each["process"]["pid"] for each in daemon.lifectl.json("list", "--helpers")["helpers"]])
    daemon.lifectl("suspend", "app")
    assert not daemon.kernel.is_stopped(agent)
    daemon.lifectl("terminate", "app")
    assert Path(f"/proc/{agent}/comm").read_text() == "ssh-agent\n" and not daemon.kernel.is_stopped(agent)


# Has no parent, names itself and hides its file as ssh-agent does.
POSES = """
import ctypes, os, sys, time
if os.fork(): os._exit(0)
libc = ctypes.CDLL(None)
libc.prctl(15, b"ssh-agent", 0, 0, 0)
libc.prctl(4, 0, 0, 0, 0)
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(3600)
"""


def test_a_child_that_names_itself_as_a_helper_and_hides_its_file_is_the_apps(ordinary):
    daemon, _ = ordinary
    file = daemon.state / "pid"
    manifest(daemon, "app", ["sh", "-c", f"/usr/bin/python3 -c '{POSES}' {file}; exec sleep infinity"])
    daemon.lifectl("launch", "app")
    child = int(wait_for(lambda: file.exists() and file.read_text()))
    daemon.lifectl("suspend", "app")
    assert daemon.kernel.is_stopped(child)
    assert daemon.lifectl.json("list", "--helpers")["helpers"] == []
    daemon.lifectl("terminate", "app")
    assert not daemon.kernel.exists(child)


def test_apps_of_another_user_reach_their_socket_again(direct):
    """After a restart of the system's daemon they connect to it, whether there is a group lifed or not."""
    for directory in direct.runtime.parents:
        if not directory.stat().st_mode & 0o001:
            directory.chmod(directory.stat().st_mode | 0o001)
    assert succeeds_as_user(lambda: socket.socket(socket.AF_UNIX).connect(str(direct.runtime / "channel")))
    assert not succeeds_as_user(lambda: socket.socket(socket.AF_UNIX).connect(str(direct.runtime / "control")))
    assert not succeeds_as_user(lambda: os.listdir(direct.runtime))


def succeeds_as_user(action):
    """Whether the user may do it; in a process of its own."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(USER, USER, USER)
            os.setresuid(USER, USER, USER)
            action()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
