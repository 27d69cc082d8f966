"""Adopted trees with processes of several users: the daemon reaches only those of the user who controls the app."""

import os
import shutil
import signal
import subprocess

import pytest

import programs
from container import wait_for
from restoration import group_of, manifest, start_again

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")

OWNER = 65534


def family(user):
    """A shell of a user with a child of root's and a child of its own."""
    return ["sh", "-c", f"sleep 5001 & exec {as_user(user)} sh -c 'sleep 5002 & wait; wait'"]


def as_user(user):
    return f"setpriv --reuid={user} --regid={user} --clear-groups"


def commands(kernel, root):
    """The processes of a tree by their command lines."""
    found = {}
    for stat in kernel.tree(root):
        try:
            text = (kernel.proc / str(stat.pid) / "cmdline").read_bytes()
        except OSError:
            continue
        found[text.rstrip(b"\0").replace(b"\0", b" ").decode()] = stat.pid
    return found


@pytest.fixture
def shell(mortal, start):
    """The shell, its child of root's, and its own."""
    pid = start(family(OWNER))
    wait_for(lambda: {"sleep 5001", "sleep 5002"} <= set(commands(mortal.kernel, pid)))
    found = commands(mortal.kernel, pid)
    yield pid, found["sleep 5001"], found["sleep 5002"]
    for each in (found["sleep 5001"], found["sleep 5002"]):
        if mortal.kernel.exists(each):
            os.kill(each, signal.SIGKILL)


def states(daemon, *pids):
    """One letter each: T stopped, S able to run, whether it does at this moment or not, - gone."""
    letters = "".join(stat.state if stat else "-" for stat in map(daemon.kernel.stat, pids))
    return letters.replace("R", "S").replace("D", "S")


def unheld(daemon, app):
    return daemon.lifectl.json("explain", app)["explanation"]["details"]["uncontrolledProcesses"]


def test_a_process_of_root_in_a_users_tree_is_left_alone_and_named(mortal, shell):
    pid, roots, own = shell
    mortal.lifectl("adopt", str(pid), "--id", "shell")
    for _ in range(2):
        mortal.lifectl("suspend", "shell")
        assert states(mortal, pid, roots, own) == "TST"
        # The next round is that of a daemon which succeeds one that was killed.
        start_again(mortal)
        assert mortal.lifectl.state("shell") == "suspended"
        mortal.lifectl("focus", "shell")
        assert states(mortal, pid, roots, own) == "SSS"
    found = unheld(mortal, "shell")
    assert [(each["pid"], each["user"], each["cause"]) for each in found] == [
        (roots, "root", "it does not run as the user of the app; stop it as that user or as root")
    ]
    for command in ("explain", "status"):
        assert f"{roots} (sleep 5001) of user root" in mortal.lifectl(command, "shell").stdout
    mortal.lifectl("kill", "shell")
    wait_for(lambda: not mortal.kernel.exists(own))
    assert states(mortal, roots) == "S"
    assert "shell" not in mortal.lifectl.apps()


@pytest.mark.parametrize("looks_first", [False, True])
@pytest.mark.parametrize("method", ["freezer", "both"])
def test_a_process_of_another_user_is_not_frozen_with_the_tree(mortal, shell, method, looks_first):
    pid, roots, own = shell
    manifest(mortal, "shell", programs.IDLE, f'suspendMethod = "{method}"')
    before = place(mortal, roots)
    mortal.lifectl("adopt", str(pid), "--id", "shell")
    if looks_first:
        assert len(unheld(mortal, "shell")) == 1
    mortal.lifectl("suspend", "shell")
    assert place(mortal, roots) == before and states(mortal, roots) == "S"
    if "app-shell" in place(mortal, pid):
        assert is_frozen(mortal, pid) and is_frozen(mortal, own)
    else:
        assert states(mortal, pid, own) == "TT"
    # What the daemon does by itself afterwards must not thaw it.
    start_again(mortal)
    mortal.lifectl("explain", "shell")
    assert "app-shell" not in place(mortal, pid) or is_frozen(mortal, pid)
    assert states(mortal, roots) == "S"
    mortal.lifectl("terminate", "shell")
    assert not mortal.kernel.exists(own) and mortal.kernel.exists(roots)


def test_a_member_reaches_no_process_of_root_by_adopting_its_parent(container, lifed):
    become = "setpriv --reuid=member --regid=member --init-groups"
    script = f"echo $$; sleep 5001 & exec {become} sh -c 'sleep 5002 & wait; wait'"
    process = container.popen(["setsid", "sh", "-c", script], stdout=subprocess.PIPE)
    try:
        pid = int(process.stdout.readline())
        wait_for(lambda: {"sleep 5001", "sleep 5002"} <= set(commands(lifed.kernel, pid)))
        found = commands(lifed.kernel, pid)
        roots, own = found["sleep 5001"], found["sleep 5002"]
        lifed.lifectl("adopt", str(pid), "--id", "shell", "--background", user="member")
        lifed.lifectl("suspend", "shell", user="member")
        assert states(lifed, pid, roots, own) == "TST"
        lifed.lifectl("kill", "shell", user="member")
        wait_for(lambda: not lifed.kernel.exists(own))
        assert states(lifed, roots) == "S"
        assert lifed.lifectl("adopt", str(roots), user="member", check=False).returncode == 2
    finally:
        container.run(["pkill", "-KILL", "-x", "-f", "sleep 500[12]"], check=False)
        # It stops itself when what it has entered the container for is stopped.
        process.kill()
        process.wait(timeout=60)


def place(daemon, pid):
    return (daemon.kernel.proc / str(pid) / "cgroup").read_text()


def is_frozen(daemon, pid):
    return "app-shell" in place(daemon, pid) and "frozen 1" in (group_of(daemon, "shell") / "cgroup.events").read_text()


@pytest.fixture
def privileged(tmp_path):
    """A program that runs as root for every user, as sudo does."""
    program = tmp_path / "privileged"
    shutil.copy(shutil.which("sleep"), program)
    program.chmod(0o4755)
    for directory in tmp_path.parents:
        if not directory.stat().st_mode & 0o001:
            directory.chmod(directory.stat().st_mode | 0o011)
    tmp_path.chmod(0o755)
    return program


@pytest.fixture
def adopt_then_gain(mortal, start, privileged, tmp_path):
    """Adopts a shell with a child that executes a privileged program afterwards, or does so itself."""
    gained = []

    def begin(how):
        go = tmp_path / "go"
        script = f"sleep 5003 & while [ ! -e {go} ]; do sleep 0.05; done; {how.format(privileged)}"
        pid = start(["sh", "-c", f"exec {as_user(OWNER)} sh -c '{script}'"])
        wait_for(lambda: "sleep 5003" in commands(mortal.kernel, pid))
        own = commands(mortal.kernel, pid)["sleep 5003"]
        mortal.lifectl("adopt", str(pid), "--id", "shell")
        assert unheld(mortal, "shell") == []
        go.touch()
        wait_for(lambda: f"{privileged} 5004" in commands(mortal.kernel, pid))
        gained.extend([commands(mortal.kernel, pid)[f"{privileged} 5004"], own])
        assert [(each["pid"], each["user"]) for each in unheld(mortal, "shell")] == [(gained[0], "root")]
        return pid, own, gained[0]

    yield begin
    for pid in gained:
        if mortal.kernel.exists(pid):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("how", ["suspend", "kill"])
def test_a_process_that_gains_rights_after_the_adoption_is_left_alone(mortal, adopt_then_gain, how):
    pid, own, gained = adopt_then_gain("{} 5004 & wait; wait")
    mortal.lifectl(how, "shell")
    if how == "suspend":
        assert states(mortal, pid, own, gained) == "TTS"
    else:
        wait_for(lambda: not mortal.kernel.exists(own))
        assert "shell" not in mortal.lifectl.apps()
        assert states(mortal, gained) == "S"
        assert "app-shell" not in place(mortal, gained)


@pytest.mark.parametrize("method", ["freezer", "both"])
def test_a_process_that_gains_rights_in_the_control_group_is_not_frozen(mortal, adopt_then_gain, method):
    manifest(mortal, "shell", programs.IDLE, f'suspendMethod = "{method}"')
    pid, own, gained = adopt_then_gain("{} 5004 & wait; wait")
    mortal.lifectl("suspend", "shell")
    # A process that was frozen for a moment shows the SIGSTOP afterwards.
    wait_for(lambda: states(mortal, pid, own, gained) == "TTS", what="a stopped tree, and a process that runs on")


def test_an_app_whose_main_process_gains_rights_ends_without_it(mortal, adopt_then_gain):
    pid, own, gained = adopt_then_gain("exec {} 5004")
    assert pid == gained
    mortal.lifectl("suspend", "shell")
    assert states(mortal, pid, own) == "ST"
    mortal.lifectl("kill", "shell")
    wait_for(lambda: not mortal.kernel.exists(own))
    assert states(mortal, pid) == "S"
    assert "shell" not in mortal.lifectl.apps()
