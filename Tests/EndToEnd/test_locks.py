"""A process that waits for a file lock of a suspended app gets it: flock(1), lockf(3), and locks of open file descriptions."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from container import wait_for
from faults import killed_at
from screens import need

HERE = Path(__file__).resolve().parent

# Takes a lock, writes that it has it, and gives it back after a time, as the arguments say.
PROGRAM = """
import fcntl, struct, sys, time
kind, path, held = sys.argv[1:]
file = open(path, "r+")
def lock(type):
    whole = struct.pack("hhqqi4x", type, 0, 0, 0, 0)
    if kind == "flock":
        fcntl.flock(file, fcntl.LOCK_UN if type == fcntl.F_UNLCK else fcntl.LOCK_EX)
    elif kind == "posix":
        fcntl.lockf(file, fcntl.LOCK_UN if type == fcntl.F_UNLCK else fcntl.LOCK_EX)
    else:
        fcntl.fcntl(file, 38, whole)
lock(fcntl.F_WRLCK)
print("locked", flush=True)
if held == "forever":
    time.sleep(1000000)
# Time in which the program runs.
for _ in range(int(held)):
    time.sleep(0.1)
lock(fcntl.F_UNLCK)
time.sleep(1000000)
"""


@pytest.fixture
def quick(quick, tmp_path):
    """A daemon that suspends apps after a moment, with the programs of the tests."""
    need("flock")
    (tmp_path / "locked").touch()
    (tmp_path / "program.py").write_text(PROGRAM)
    return quick


@pytest.fixture
def hold(quick, tmp_path):
    """Starts an app that holds a lock, and sends it to the background."""

    def start(app, kind, held="forever", wait=True):
        output = tmp_path / f"{app}-output"
        command = f"exec {sys.executable} {tmp_path}/program.py {kind} {tmp_path}/locked {held} >{output}"
        quick.lifectl.start(app, "sh", "-c", command)
        wait_for(lambda: output.exists() and "locked" in output.read_text(), what=f"{app} has the lock")
        quick.lifectl("background", app)
        if wait:
            quick.lifectl.wait_for_state(app, "suspended")

    return start


@pytest.fixture
def wait_on(tmp_path):
    """Starts processes that wait for the lock."""
    started = []

    def start(kind):
        command = [sys.executable, str(tmp_path / "program.py"), kind, str(tmp_path / "locked"), "forever"]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize("kind", ["flock", "posix", "description"])
def test_suspended_app_is_resumed_for_a_process_that_waits_for_its_lock(quick, hold, wait_on, kind):
    hold("holder", kind, held=10)
    waiter = wait_on(kind)
    quick.lifectl.wait_for_state("holder", "background", timeout=10)
    assert waiter.stdout.readline() == "locked\n"
    quick.lifectl.wait_for_state("holder", "suspended")


# The record of the resumption, SIGCONT, and the record of the new state.
@pytest.mark.parametrize(("call", "number"), [("pwrite64", 1), ("kill,pidfd_send_signal", 1), ("pwrite64", 2), ("pwrite64", 3)])
def test_process_gets_the_lock_though_the_daemon_is_killed_as_it_resumes_the_app(quick, hold, wait_on, call, number):
    hold("holder", "flock", held=10)
    with killed_at(quick, call, number=number):
        waiter = wait_on("flock")
    assert waiter.stdout.readline() == "locked\n"
    quick.lifectl.wait_for_state("holder", "suspended")
    assert set(quick.lifectl.apps()) == {"holder"}


def test_app_is_not_suspended_while_a_process_waits_for_its_lock(quick, hold, tmp_path):
    hold("holder", "flock", wait=False)
    waiter = subprocess.Popen(["flock", tmp_path / "locked", "true"])
    try:
        wait_for(lambda: "flock waits for a file lock that it holds" in quick.lifectl("explain", "holder").stdout)
        result = quick.lifectl("suspend", "holder", check=False)
        assert result.returncode and "waits for a file lock" in result.stderr, result.stderr
    finally:
        waiter.kill()
        waiter.wait()
    quick.lifectl.wait_for_state("holder", "suspended")


def test_two_suspended_apps_do_not_keep_each_other_running(quick, hold, tmp_path):
    hold("holder", "flock", wait=False)
    quick.lifectl.start("waiter", "flock", str(tmp_path / "locked"), "true")
    # The holder runs for as long as the waiter is in the foreground.
    wait_for(lambda: "flock waits for a file lock that it holds" in quick.lifectl("explain", "holder").stdout)
    result = quick.lifectl("suspend", "holder", check=False)
    assert result.returncode and "waits for a file lock" in result.stderr, result.stderr
    quick.lifectl("background", "waiter")
    quick.lifectl.wait_for_state("waiter", "suspended")
    quick.lifectl.wait_for_state("holder", "suspended")
    quick.lifectl("focus", "waiter")
    quick.lifectl.wait_for_state("holder", "background", timeout=10)


def test_lock_that_nobody_waits_for_wakes_nothing(quick, hold):
    hold("holder", "flock")
    quick.kernel.wait_until_quiet(quick.process.pid)
    assert quick.lifectl.state("holder") == "suspended"


def test_file_that_is_opened_without_end_wakes_the_daemon_a_few_times_a_second(quick, hold, wait_on, tmp_path):
    hold("holder", "flock", held=10)
    opener = subprocess.Popen([sys.executable, "-c", f"while True: open({str(tmp_path / 'locked')!r}).close()"])
    try:
        first = quick.kernel.wakeups(quick.process.pid)
        wait_for(lambda: quick.kernel.wakeups(quick.process.pid) > first, what="the first wake-up")
        before = quick.kernel.wakeups(quick.process.pid)
        time.sleep(3)
        assert quick.kernel.wakeups(quick.process.pid) - before < 60
        # A process that waits for the lock is still seen.
        waiter = wait_on("flock")
        assert waiter.stdout.readline() == "locked\n"
    finally:
        opener.kill()
        opener.wait()


@pytest.fixture
def slow_files(tmp_path):
    """A directory at which an app can mount a file system of its own."""
    if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
        pytest.skip("mounting a file system needs root and /dev/fuse")
    directory = tmp_path / "slow"
    directory.mkdir()
    yield directory
    subprocess.run(["umount", "--lazy", directory], stderr=subprocess.DEVNULL)


def test_lock_on_a_file_system_that_does_not_answer_blocks_nothing(quick, slow_files, tmp_path):
    """A suspended app serves the file system on which it holds a lock, as sshfs does with a connection that is lost."""
    output = tmp_path / "output"
    command = f"{sys.executable} {tmp_path}/program.py flock {slow_files}/file forever >{output}"
    quick.lifectl.start("slow", sys.executable, str(HERE / "slow_files.py"), str(slow_files), "sh", "-c", command)
    wait_for(lambda: output.exists() and "locked" in output.read_text(), what="the app has the lock")
    quick.lifectl("background", "slow")
    quick.lifectl.wait_for_state("slow", "suspended")
    quick.lifectl("explain", "slow", timeout=10)
    quick.lifectl("focus", "slow", timeout=10)
    assert quick.lifectl.state("slow") == "active"


def test_a_pipe_and_a_socket_between_apps_are_explained(quick, tmp_path):
    """Nothing resumes the other end; the explanations of both name it."""
    address = str(tmp_path / "socket")
    serve = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); s.accept()[0].recv(1)"
    call = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(1)"
    quick.lifectl("run", "--id", "server", "--background", "--", sys.executable, "-c", serve, address)
    wait_for((tmp_path / "socket").exists)
    quick.lifectl("run", "--id", "caller", "--background", "--", sys.executable, "-c", call, address)
    wait_for(lambda: connected(quick, "server") == ["caller"])
    with subprocess.Popen(["sleep", "infinity"], stdin=subprocess.PIPE) as reader:
        writer = subprocess.Popen(["sleep", "infinity"], stdout=reader.stdin)
        try:
            for name, process in (("reader", reader), ("writer", writer)):
                quick.lifectl("adopt", str(process.pid), "--id", name, "--background")
            assert connected(quick, "writer") == ["reader"]
            assert "a pipe or a socket, so one can wait for the other: writer\n" in quick.lifectl("explain", "reader").stdout
            assert connected(quick, "caller") == ["server"]
        finally:
            for process in (writer, reader):
                process.kill()
                process.wait()


def connected(daemon, app):
    return daemon.lifectl.json("explain", app)["explanation"]["connectedApps"]
