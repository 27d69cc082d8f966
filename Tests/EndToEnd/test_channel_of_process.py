"""The C library takes the channel of its own process: no other socket with its number, and no channel of another process."""

import os
import select
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from container import wait_for

LIBRARY = Path(__file__).resolve().parents[2] / ".build" / "liblifecycle" / "lib" / "liblifecycle.so.0"

PRELUDE = """
import ctypes, errno, os, select, socket, sys

library = ctypes.CDLL(sys.argv[1], use_errno=True)
library.lifecycle_open.restype = ctypes.c_void_p
library.lifecycle_is_managed.restype = ctypes.c_bool
callbacks = (ctypes.c_size_t * 8)(64)
UNSET_ENVIRONMENT = 2


def opened(flags=0):
    return ctypes.c_void_p(library.lifecycle_open(callbacks, None, flags))


def saved(app):
    return "saved" if library.lifecycle_save_state(app, b"state", 5) == 0 else errno.errorcode[ctypes.get_errno()]


def dispatch_once(app):
    assert select.select([library.lifecycle_fd(app)], [], [], 30)[0]
    library.lifecycle_dispatch(app)
"""
TELLS = PRELUDE + """
app = opened()
print(library.lifecycle_is_managed(app), saved(app), flush=True)
"""
NOTE = "lifecycle: cannot find a channel to lifed: {}; continuing as a foreground app\n"


class Channel:
    """Both ends of a channel, and the environment of an app with one of them."""

    def __init__(self, directory):
        self.daemon, self.app = socket.socketpair()
        self.daemon.settimeout(30)
        status = os.fstat(self.app.fileno())
        self.environment = {
            "PATH": os.environ["PATH"], "LIFECYCLE_FD": str(self.app.fileno()), "LIFECYCLE_STATE_DIR": str(directory),
            "LIFECYCLE_CHANNEL": f"{status.st_dev}:{status.st_ino}", "LIFECYCLE_LAUNCH": "1-1", "LIFECYCLE_VERBOSE": "1"}

    def start(self, script, descriptor=None, **changes):
        environment = {name: value for name, value in (self.environment | changes).items() if value is not None}
        return subprocess.Popen(
            [sys.executable, "-c", script, LIBRARY], env=environment,
            pass_fds=[self.app.fileno() if descriptor is None else descriptor], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def run(self, script, descriptor=None, **changes):
        with self.start(script, descriptor, **changes) as process:
            said, notes = process.communicate(timeout=60)
            assert process.returncode == 0, notes
        return said, notes

    def is_silent(self):
        return not select.select([self.daemon], [], [], 0)[0]

    def close(self):
        self.daemon.close()
        self.app.close()


@pytest.fixture
def channel(tmp_path):
    channel = Channel(tmp_path)
    yield channel
    channel.close()


def test_channel_of_the_environment_is_used(channel):
    assert channel.run(TELLS) == ("True saved\n", "")
    assert channel.daemon.recv(100) == b"hello protocol=1\n"


def test_other_socket_with_the_number_of_the_channel_is_left_alone(channel):
    ours, other = socket.socketpair()
    said = channel.run(TELLS, other.fileno(), LIFECYCLE_FD=str(other.fileno()))
    assert said == ("False ENOENT\n", NOTE.format("LIFECYCLE_FD does not name the socket in LIFECYCLE_CHANNEL"))
    assert not select.select([ours], [], [], 0)[0]
    ours.close()
    other.close()


@pytest.mark.parametrize("identity", [None, "", "0:0", "x"])
def test_channel_without_its_identity_is_left_alone(channel, identity):
    said = channel.run(TELLS, LIFECYCLE_CHANNEL=identity)
    assert said == ("False ENOENT\n", NOTE.format("LIFECYCLE_FD does not name the socket in LIFECYCLE_CHANNEL"))
    assert channel.is_silent()


def test_empty_path_of_the_socket_switches_the_channel_off(channel):
    said = channel.run(TELLS, LIFECYCLE_SOCKET="")
    assert said == ("False ENOENT\n", NOTE.format("LIFECYCLE_SOCKET is empty"))
    assert channel.is_silent()


HOLDS = PRELUDE + """
app = opened()
print("opened", flush=True)
sys.stdin.readline()
print(library.lifecycle_is_managed(app), saved(app), flush=True)
sys.stdin.readline()
"""


def test_channel_belongs_to_the_first_process_that_opens_it(channel, tmp_path):
    with channel.start(HOLDS) as first:
        assert first.stdout.readline() == "opened\n"
        assert channel.daemon.recv(100) == b"hello protocol=1\n"
        second = channel.run(TELLS + "library.lifecycle_close(app)")
        assert second == ("False ENOENT\n", NOTE.format("LIFECYCLE_FD names the channel of another process"))
        assert channel.is_silent() and not list(tmp_path.iterdir())
        first.stdin.write("\n")
        first.stdin.flush()
        assert first.stdout.readline() == "True saved\n"
        first.communicate("\n", timeout=60)
    # The claim of a process ends with it.
    assert channel.run(TELLS) == ("True saved\n", "")


def test_opening_that_failed_leaves_the_channel_to_others(channel):
    script = PRELUDE + """
import resource
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
assert not opened() and ctypes.get_errno() == errno.EMFILE
print("failed", flush=True)
sys.stdin.readline()
"""
    with channel.start(script) as first:
        assert first.stdout.readline() == "failed\n"
        assert channel.run(TELLS) == ("True saved\n", "")
        first.communicate("\n", timeout=60)


def test_process_that_lifed_does_not_manage_leaves_the_channel_to_others(channel, tmp_path):
    script = PRELUDE + """
app = opened()
dispatch_once(app)
print(library.lifecycle_is_managed(app), saved(app), flush=True)
library.lifecycle_close(app)
sys.stdin.readline()
"""
    channel.daemon.sendall(b"unmanaged\n")
    with channel.start(script) as stranger:
        assert stranger.stdout.readline() == "False ENOENT\n"
        assert channel.daemon.recv(100) == b"hello protocol=1\n"
        assert channel.is_silent(), "not shut down"
        assert channel.run(TELLS) == ("True saved\n", "")
        assert channel.daemon.recv(100) == b"hello protocol=1\n"
        _, notes = stranger.communicate("\n", timeout=60)
    assert notes == NOTE.format("lifed does not manage this process")


def test_app_without_a_channel_keeps_its_state(channel):
    without = {"LIFECYCLE_FD": None, "LIFECYCLE_CHANNEL": None, "LIFECYCLE_VERBOSE": None}
    assert channel.run(TELLS, **without) == ("False saved\n", "")


@pytest.mark.parametrize("has_channel", [True, False])
def test_directory_of_the_state_can_be_removed_from_the_environment(channel, tmp_path, has_channel):
    script = PRELUDE + """
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
app = opened(UNSET_ENVIRONMENT)
print(saved(app), getenv(b"LIFECYCLE_STATE_DIR"), flush=True)
if not os.fork():
    print(saved(app), flush=True)
    os._exit(0)
os.wait()
"""
    without = {} if has_channel else {"LIFECYCLE_FD": None, "LIFECYCLE_CHANNEL": None, "LIFECYCLE_VERBOSE": None}
    assert channel.run(script, **without) == ("saved None\nENOENT\n", "")
    assert list(tmp_path.iterdir())


def test_lifed_passes_the_identity_of_the_channel(direct, tmp_path):
    found = tmp_path / "found"
    script = f'(stat -Lc %d:%i /proc/self/fd/$LIFECYCLE_FD; echo $LIFECYCLE_CHANNEL) >{found}.part; mv {found}.part {found}; exec sleep 99'
    direct.lifectl.start("clock", "sh", "-c", script)
    wait_for(found.exists)
    own, named = found.read_text().splitlines()
    assert own == named
