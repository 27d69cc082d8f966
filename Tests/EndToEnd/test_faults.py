"""System calls for clients, the state file and the loop that fail: the daemon says so, lives where it can, and the next works."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

import programs
from container import wait_for
from faults import assert_well, at_start, fault
from restoration import manifest

UNAVAILABLE, LAUNCH_FAILED, NOT_PERMITTED = 69, 11, 77

# Clients and users


def test_who_is_no_client_for_want_of_memory_waits_and_the_daemon_does_not_spin(direct):
    before = direct.kernel.ticks(direct.process.pid)
    with fault(direct.process.pid, "accept4:error=ENOMEM") as count:
        assert direct.lifectl("list", "--timeout=2", check=False).returncode == 75
        assert 0 < count() < 100
    assert direct.logged.count("cannot accept clients: Cannot allocate memory") == 1
    assert direct.kernel.ticks(direct.process.pid) - before < 50
    assert direct.lifectl("list").returncode == 0
    assert_well(direct)


@pytest.mark.parametrize("error", ["EMFILE", "ENFILE"])
def test_who_is_no_client_for_want_of_descriptors_waits(direct, error):
    with fault(direct.process.pid, f"accept4:error={error}") as count:
        waiting = subprocess.Popen(
            [direct.products / "lifectl", "list"], env={**os.environ, "LIFED_SOCKET": str(direct.socket)},
            stdout=subprocess.DEVNULL,
        )
        wait_for(lambda: count() >= 3)
        assert waiting.poll() is None
    assert "cannot accept clients: " in direct.logged
    assert waiting.wait(timeout=60) == 0
    assert_well(direct)


def test_an_app_that_cannot_come_back_for_want_of_descriptors_waits(direct):
    with socket.socket(socket.AF_UNIX) as stranger, fault(direct.process.pid, "accept4:error=EMFILE") as count:
        stranger.connect(str(direct.runtime / "channel"))
        wait_for(count)
        before = direct.kernel.ticks(direct.process.pid)
        first = count()
        wait_for(lambda: count() > first)
        # A few tries a second, not as many as there can be.
        assert count() - first < 50
        assert direct.kernel.ticks(direct.process.pid) - before < 50
    assert_well(direct)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can launch apps as another user")
def test_a_launch_does_not_wait_for_the_name_service(direct):
    manifest(direct, "theirs", programs.IDLE, 'user = "nobody"\nworkingDirectory = "/"')
    with fault(direct.process.pid, "openat:error=EIO", paths=["/etc/passwd", "/etc/group", "/etc/nsswitch.conf"]) as count:
        direct.lifectl("launch", "theirs")
        assert not count()
    status = Path(f"/proc/{direct.lifectl.pid('theirs')}/status").read_text()
    assert "Uid:\t65534\t65534\t65534" in status
    manifest(direct, "theirs", programs.IDLE, 'user = "no-such-user"')
    direct.lifectl("terminate", "theirs")
    result = direct.lifectl("launch", "theirs", check=False)
    assert result.returncode == LAUNCH_FAILED and "there is no user no-such-user" in result.stderr


def test_a_client_that_cannot_be_watched_is_let_go(direct):
    with fault(direct.process.pid, "epoll_ctl:error=ENOSPC:when=1"):
        assert direct.lifectl("list", check=False).returncode == UNAVAILABLE
    assert_well(direct)


def test_a_client_that_cannot_be_answered_is_let_go(direct):
    with fault(direct.process.pid, "sendto:error=ENOBUFS:when=1") as count:
        assert direct.lifectl("list", check=False).returncode == UNAVAILABLE
        wait_for(lambda: count() == 1)
    assert_well(direct)


def test_a_client_that_cannot_be_identified_is_refused(direct):
    with fault(direct.process.pid, "pidfd_open:error=EMFILE", "getsockopt:error=EMFILE:when=3+") as count:
        result = direct.lifectl("list", check=False)
        wait_for(count)
    assert result.returncode == NOT_PERMITTED
    assert "the app of the process is unknown" in direct.logged
    assert_well(direct)


# Configuration


@pytest.fixture
def described(direct):
    """A daemon with two manifests, and the directory and the files that a load reads."""
    manifests = [direct.configuration / f"apps.d/{name}.toml" for name in ("one", "two")]
    for each in manifests:
        each.write_text('command = ["sleep", "infinity"]\n')
    direct.lifectl("reload")
    direct.files = {"directory": manifests[0].parent, "manifest": manifests[1]}
    return direct


CANNOT_BE_READ = [
    ("directory", "openat:error=ENFILE"), ("directory", "getdents64:error=ENOMEM"), ("manifest", "openat:error=EMFILE"),
    ("manifest", "read:error=ENOMEM"),
]


@pytest.mark.parametrize(("name", "call"), CANNOT_BE_READ)
def test_a_configuration_that_cannot_be_read_for_now_takes_no_app_away(described, name, call):
    file = described.files[name]
    with fault(described.process.pid, call, paths=[file]) as count:
        result = described.lifectl("reload", check=False)
    # What strace has written was read by now.
    assert count() == 1
    assert result.returncode != 0
    assert f"cannot read {file}: " in result.stderr
    assert set(described.lifectl.apps()) == {"one", "two"}
    assert described.lifectl.json("reload")["problems"] == []
    assert_well(described)


@pytest.mark.parametrize(("name", "call"), CANNOT_BE_READ)
def test_a_daemon_that_cannot_read_its_configuration_for_now_leaves_the_apps_to_another(described, name, call):
    described.lifectl("launch", "two")
    pid = described.lifectl.pid("two")
    described.process.kill()
    described.process.wait()
    described.spawn(at_start(described.runtime.parent / "strace", f"{call}:when=1", paths=[described.files[name]]))
    assert described.process.wait(timeout=60) == 1
    assert f"cannot read {described.files[name]}: " in described.logged
    described.start()
    assert described.lifectl.pid("two") == pid
    assert set(described.lifectl.apps()) == {"one", "two"}


def test_a_manifest_on_a_defective_disk_is_a_problem_of_its_own(described):
    file = described.files["manifest"]
    with fault(described.process.pid, "read:error=EIO", paths=[file]) as count:
        (problem,) = described.lifectl.json("reload", check=False)["problems"]
    assert count() == 1
    assert problem["file"] == str(file)
    assert problem["message"] == "cannot read the file: Input/output error; ignoring it"
    assert set(described.lifectl.apps()) == {"one"}
    assert described.lifectl.json("reload")["problems"] == []
    assert set(described.lifectl.apps()) == {"one", "two"}
    assert_well(described)


# Processes

# Its second thread has started a program, which only the list of the threads leads to.
THREADED = """
import signal, subprocess, threading
threading.Thread(target=lambda: (subprocess.Popen(["sleep", "infinity"], start_new_session=True), signal.pause())).start()
signal.pause()
"""


def test_a_list_of_threads_that_breaks_off_is_not_taken_for_all(direct):
    (direct.configuration / "lifed.toml").write_text("containment = 'keeper'\n")
    direct.stop()
    direct.start()
    pid = direct.lifectl.start("app", "python3", "-c", THREADED)
    wait_for(lambda: [each.name for each in direct.kernel.tree(pid)][1:] == ["sleep"])
    with fault(direct.process.pid, "getdents64:error=EIO", paths=[f"/proc/{pid}/task"]) as count:
        direct.lifectl("suspend", "app", "--timeout=2", check=False)
        assert count()
        assert direct.lifectl.state("app") != "suspended"
    direct.lifectl.wait_for_state("app", "suspended")
    assert direct.kernel.is_stopped(pid)
    assert_well(direct)


# What survives the daemon


@pytest.mark.parametrize(("error", "words"), [("ENOSPC", "No space left on device"), ("EIO", "Input/output error")])
def test_a_state_that_cannot_be_written_is_told_and_written_later(direct, error, words):
    direct.lifectl.start("first", *programs.IDLE)
    state = direct.runtime / "state"
    # The file itself, and the one that is to take its place.
    with fault(direct.process.pid, f"pwrite64:error={error}", paths=[state, f"{state}.new"]) as count:
        result = direct.lifectl("run", "--id", "app", "--", *programs.IDLE, check=False)
        wait_for(lambda: count() >= 2)
        assert result.returncode == LAUNCH_FAILED
        assert (words if error == "EIO" else f"{direct.runtime} is full") in result.stderr
        assert "app" not in direct.lifectl.apps()
        direct.lifectl("suspend", "first")
    wait_for(lambda: f"in {state}: {words}" in direct.logged)
    wait_for(lambda: "lifed saves the state of the apps again" in direct.logged)
    pid = direct.lifectl.start("app", *programs.IDLE)
    direct.process.kill()
    direct.process.wait()
    direct.start()
    assert direct.lifectl.pid("app") == pid
    assert direct.lifectl.state("first") == "suspended"
    assert_well(direct)


# The loop itself


def test_a_loop_that_cannot_go_on_ends_the_daemon_and_the_next_takes_over(direct):
    """Nothing works without it; the service manager starts another one, which has lost nothing."""
    pid = direct.lifectl.start("app", *programs.IDLE)
    with fault(direct.process.pid, "epoll_wait,epoll_pwait2:error=EBADF:when=1", "epoll_pwait:error=EBADF:when=1"):
        direct.lifectl("list", check=False)
        wait_for(lambda: direct.process.poll() is not None, what="the end of the daemon")
    assert direct.process.returncode != 0
    assert "Bad file descriptor" in direct.logged
    assert direct.kernel.exists(pid)
    direct.start()
    assert direct.lifectl.pid("app") == pid
    assert_well(direct)


def test_a_call_that_is_interrupted_is_none_that_failed(direct):
    with fault(direct.process.pid, "epoll_wait,epoll_pwait2:error=EINTR:when=1+2", "sendto,recvfrom:error=EINTR:when=1+2"):
        assert_well(direct)
