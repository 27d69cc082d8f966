"""The C library as the script builds it: what it shows, what it costs, and the sample on it."""

import errno
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "Sources/LifecycleC/include/lifecycle.h"
TRANSCRIPT = "will-finish-launching inactive\ndid-finish-launching inactive\ndid-become-active active\n"

WITHOUT = """\
#include <poll.h>
#include <stdio.h>
int main(void) { puts("did-become-active active"); fflush(stdout); for (;;) poll(NULL, 0, -1); }
"""


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The C library, as if installed below a prefix of its own."""
    if not shutil.which("swiftc"):
        pytest.skip("there is no Swift toolchain")
    prefix = tmp_path_factory.mktemp("prefix")
    subprocess.run([ROOT / "scripts" / "build-liblifecycle", prefix, prefix], check=True)
    return prefix


@pytest.fixture(scope="module")
def shared(installed):
    return installed / "lib" / "liblifecycle.so.0"


def build(source, output, *flags):
    compiler = shutil.which("cc") or shutil.which("clang")
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", source, *flags, "-o", output], check=True)
    return output


def pkg_config(installed):
    if not shutil.which("pkg-config"):
        return [f"-I{installed}/include", f"-L{installed}/lib", "-llifecycle"]
    environment = os.environ | {"PKG_CONFIG_PATH": str(installed / "lib" / "pkgconfig")}
    return run("pkg-config", "--cflags", "--libs", "lifecycle", env=environment).split()


class Running:
    def __init__(self, program, last_line, **environment):
        self.process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True, env=os.environ | environment)
        self.said = ""
        while last_line not in self.said:
            line = self.process.stdout.readline()
            assert line, self.said
            self.said += line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def private_kilobytes(self):
        text = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return sum(int(size) for size in re.findall(r"^Private_(?:Clean|Dirty): +(\d+) kB", text, re.M))


@pytest.mark.parametrize("kind", ["shared", "static"])
def test_the_sample_links_with_the_installed_library(installed, tmp_path, kind):
    flags = pkg_config(installed) if kind == "shared" else [f"-I{installed}/include", installed / "lib/liblifecycle.a"]
    program = build(ROOT / "Examples/c-app/main.c", tmp_path / "app", *flags)
    with Running(program, "did-become-active", LD_LIBRARY_PATH=str(installed / "lib")) as app:
        assert app.said == TRANSCRIPT
        app.process.send_signal(signal.SIGTERM)
        assert app.process.stdout.read() == "will-terminate active\n"
        assert app.process.wait() == 0


def test_the_library_shows_what_its_header_declares(shared):
    if not shutil.which("readelf"):
        pytest.skip("there is no readelf")
    symbols = run("readelf", "-W", "--dyn-syms", shared)
    shown = re.findall(r"(?:GLOBAL|WEAK) +(?:DEFAULT|PROTECTED) +\d+ (\S+)", symbols)
    declared = re.findall(r"^\w.*?\b(lifecycle_\w+)\(", HEADER.read_text(), re.M)
    assert sorted(shown) == sorted(f"{name}@@LIFECYCLE_0.1" for name in declared)
    listed = (ROOT / "packaging/debian/liblifecycle0.symbols").read_text()
    assert sorted(re.findall(r"^ (lifecycle_\S+) ", listed, re.M)) == sorted(f"{name}@LIFECYCLE_0.1" for name in declared)
    assert not re.search(r"\bpthread_create\b", symbols), "the library starts no thread"
    assert shared.stat().st_size <= 160 << 10


def test_the_header_has_the_version_of_the_project():
    header = HEADER.read_text()
    version = re.search(r'current = "(.*)"', (ROOT / "Sources/ControlAPI/Version.swift").read_text())[1]
    numbers = re.findall(r"#define LIFECYCLE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    assert [".".join(numbers), *re.findall(r'#define LIFECYCLE_VERSION "(.*)"', header)] == [version, version]


def test_the_library_adds_little_memory(installed, tmp_path):
    source = tmp_path / "without.c"
    source.write_text(WITHOUT)
    without = build(source, tmp_path / "without")
    program = build(ROOT / "Examples/c-app/main.c", tmp_path / "with", *pkg_config(installed))
    with Running(without, "did-become-active") as bare:
        base = bare.private_kilobytes()
    with Running(program, "did-become-active", LD_LIBRARY_PATH=str(installed / "lib")) as app:
        assert app.private_kilobytes() - base <= 300


def test_installing_again_leaves_apps_the_library_that_they_run_on(tmp_path):
    build = os.environ.get("LIFED_BUILD", "release")
    install = ["make", "-C", str(ROOT), "install", f"DESTDIR={tmp_path}", f"BUILD={build}"]
    run(*install)
    with open(tmp_path / "usr/local/lib/liblifecycle.so.0", "rb") as library:
        run(*install)
        # A mapped file that is written to changes under its readers.
        assert os.fstat(library.fileno()).st_nlink == 0


FORKS = """
import ctypes, os, socket, sys

library = ctypes.CDLL(sys.argv[1])
library.lifecycle_open.restype = ctypes.c_void_p
callbacks = (ctypes.c_size_t * 8)(64)
ours, theirs = socket.socketpair()
os.set_inheritable(theirs.fileno(), True)
status = os.fstat(theirs.fileno())
os.environ["LIFECYCLE_CHANNEL"] = f"{status.st_dev}:{status.st_ino}"
os.environ["LIFECYCLE_FD"] = str(theirs.detach())
app = ctypes.c_void_p(library.lifecycle_open(callbacks, None, 0))
ours.settimeout(30)
assert ours.recv(100).startswith(b"hello")
"""


def test_a_child_that_was_forked_leaves_its_parents_life_cycle_alone(shared):
    script = FORKS + """
child = os.fork()
if not child:
    library.lifecycle_dispatch(app)
    library.lifecycle_close(app)
    os._exit(0)
os.waitpid(child, 0)
import select
poller = select.poll()
poller.register(library.lifecycle_fd(app), select.POLLIN)
# The callbacks that were due by then.
while poller.poll(0):
    library.lifecycle_dispatch(app)
ours.sendall(b"welcome protocol=1\\nwill-finish-launching seq=1 deadline-ms=1 state=inactive reason=launch\\n")
assert poller.poll(30_000)
library.lifecycle_dispatch(app)
assert b"done seq=1" in ours.recv(100)
"""
    subprocess.run([sys.executable, "-c", script, shared], check=True, timeout=60)


def test_closing_ends_the_channel_while_a_child_that_was_forked_lives(shared):
    script = FORKS + """
import signal
child = os.fork()
if not child:
    signal.pause()
try:
    library.lifecycle_close(app)
    while ours.recv(100):
        pass
finally:
    os.kill(child, signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script, shared], check=True, timeout=60)


OPENS = """
import ctypes, errno, os, resource, select, socket, sys

library = ctypes.CDLL(sys.argv[1], use_errno=True)
library.lifecycle_open.restype = ctypes.c_void_p
callbacks = (ctypes.c_size_t * 8)(64)
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
HANDLE_SIGTERM, UNSET_ENVIRONMENT = 1, 2


def channel():
    ours, theirs = socket.socketpair()
    status = os.fstat(theirs.fileno())
    os.environ["LIFECYCLE_FD"] = str(theirs.fileno())
    os.environ["LIFECYCLE_CHANNEL"] = f"{status.st_dev}:{status.st_ino}"
    os.environ["LIFECYCLE_SOCKET"] = "/nowhere"
    ours.settimeout(30)
    return ours, theirs.detach()


def opened(flags=0):
    return library.lifecycle_open(callbacks, None, flags)


def refused(reason, flags=0):
    assert opened(flags) is None, (reason, flags)
    assert errno.errorcode[ctypes.get_errno()] == reason, (reason, flags)
    # A second attempt finds everything as it was, and the other end has received nothing.
    assert getenv(b"LIFECYCLE_FD") == str(theirs).encode() and getenv(b"LIFECYCLE_SOCKET") == b"/nowhere"
    assert not select.select([ours], [], [], 0)[0]


def handles_sigterm():
    status = open("/proc/self/status").read()
    return bool(int(status.split("SigCgt:")[1].split()[0], 16) >> 14 & 1)


def taken(flags=0):
    assert ours.recv(100).startswith(b"hello")
    left = (None, None) if flags & UNSET_ENVIRONMENT else (str(theirs).encode(), b"/nowhere")
    assert (getenv(b"LIFECYCLE_FD"), getenv(b"LIFECYCLE_SOCKET")) == left
    assert (getenv(b"LIFECYCLE_CHANNEL") is None) == bool(flags & UNSET_ENVIRONMENT)
    assert handles_sigterm() == bool(flags & HANDLE_SIGTERM)
    assert not os.get_inheritable(theirs)
"""


def test_a_life_cycle_that_is_open_is_not_opened_again_whatever_the_flags(shared):
    script = OPENS + """
for first in range(4):
    app = ctypes.c_void_p(opened(first))
    assert app
    ours, theirs = channel()
    for second in range(4):
        refused("EBUSY", second)
    library.lifecycle_close(app)
    app = ctypes.c_void_p(opened(first | UNSET_ENVIRONMENT))
    assert app
    taken(first | UNSET_ENVIRONMENT)
    library.lifecycle_close(app)
    assert not handles_sigterm()
"""
    subprocess.run([sys.executable, "-c", script, shared], check=True, timeout=60)


def test_the_process_stays_as_it_is_unless_the_flags_say_so_and_a_channel_is_found_once(shared):
    script = OPENS + """
ours, theirs = channel()
app = ctypes.c_void_p(opened())
taken()
library.lifecycle_close(app)
assert ours.recv(100) == b""
# A descriptor with the number of a closed channel belongs to the program.
own, others = socket.socketpair()
assert own.fileno() == theirs
app = ctypes.c_void_p(opened())
assert app and not library.lifecycle_is_managed(app)
assert not select.select([others], [], [], 0)[0]
"""
    subprocess.run([sys.executable, "-c", script, shared], check=True, timeout=60)


def test_opening_that_failed_takes_nothing_and_can_be_tried_again(shared):
    script = OPENS + """
ours, theirs = channel()
os.set_inheritable(theirs, True)
lowest = os.dup(0)
os.close(lowest)
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
# Each of the descriptors that it needs is once the one that is not to be had.
for limit in range(lowest, lowest + 3):
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    refused("EMFILE")
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
refused("EINVAL", 8)
assert opened()
taken()
"""
    subprocess.run([sys.executable, "-c", script, shared], check=True, timeout=60)


TERMINATED = """
app = ctypes.c_void_p(opened(HANDLE_SIGTERM))
library.lifecycle_dispatch(app)
os.kill(os.getpid(), 15)
assert select.select([library.lifecycle_fd(app)], [], [], 30)[0]
library.lifecycle_dispatch(app)
print("goes on", flush=True)
os.kill(os.getpid(), 15)
"""


def test_sigterm_does_not_end_the_program_and_a_second_one_does(shared):
    result = subprocess.run(
        [sys.executable, "-c", OPENS + TERMINATED, shared], stdout=subprocess.PIPE, text=True, timeout=60)
    assert (result.stdout, result.returncode) == ("goes on\n", -signal.SIGTERM)


FORKING = """\
#include <lifecycle.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    static struct lifecycle_callbacks callbacks;
    callbacks.size = sizeof callbacks;
    if (!lifecycle_open(&callbacks, NULL, 0)) return 1;
    pid_t child = fork();
    if (child == 0) {
        if (!lifecycle_open(&callbacks, NULL, 0)) { perror("child"); _exit(2); }
        _exit(lifecycle_open(&callbacks, NULL, 0) ? 3 : 0);
    }
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}
"""


def test_a_forked_child_has_a_life_cycle_of_its_own(installed, tmp_path):
    source = tmp_path / "forking.c"
    source.write_text(FORKING)
    program = build(source, tmp_path / "forking", f"-I{installed}/include", installed / "lib/liblifecycle.a")
    result = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")


OPENING = """\
#include <errno.h>
#include <lifecycle.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    struct lifecycle_callbacks callbacks = {.size = sizeof callbacks};
    struct lifecycle *app = lifecycle_open(&callbacks, NULL, 0);
    if (!app) return 1;
    puts(lifecycle_save_state(app, "state", 5) == 0 ? "saved" : strerror(errno));
    lifecycle_close(app);
    return 0;
}
"""
NOBODY = 65534


@pytest.mark.parametrize("variable", ["LIFECYCLE_FD", "LIFECYCLE_SOCKET", "XDG_RUNTIME_DIR"])
def test_a_program_with_raised_privileges_follows_no_variable(installed, tmp_path, variable):
    if os.geteuid() != 0:
        pytest.skip("only root can make a set-user-ID program for another user")
    (tmp_path / "opening.c").write_text(OPENING)
    program = build(tmp_path / "opening.c", tmp_path / "opening", f"-I{installed}/include", installed / "lib/liblifecycle.a")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        state = place / "state"
        state.mkdir()
        os.chown(state, NOBODY, NOBODY)
        (place / "lifed").mkdir()
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(place / "lifed" / "channel"))
        (place / "lifed" / "channel").chmod(0o666)
        listener.listen()
        ours, theirs = socket.socketpair()
        value = {
            "LIFECYCLE_FD": str(theirs.fileno()), "LIFECYCLE_SOCKET": str(place / "lifed" / "channel"),
            "XDG_RUNTIME_DIR": str(place)}[variable]

        variables = {variable: value}
        if variable == "LIFECYCLE_FD":
            status = os.fstat(theirs.fileno())
            variables["LIFECYCLE_CHANNEL"] = f"{status.st_dev}:{status.st_ino}"

        def run_by_other_user(mode):
            copy = place / f"program-{mode:o}"
            shutil.copy(program, copy)
            copy.chmod(mode)
            result = subprocess.run(
                [copy], env={"LIFECYCLE_STATE_DIR": str(state), **variables}, pass_fds=[theirs.fileno()], user=NOBODY,
                group=NOBODY, extra_groups=[], capture_output=True, text=True, timeout=60)
            assert (result.returncode, result.stderr) == (0, "")
            return result.stdout

        def has_spoken():
            ours.setblocking(False)
            listener.setblocking(False)
            try:
                return bool(ours.recv(1000) if variable == "LIFECYCLE_FD" else listener.accept())
            except BlockingIOError:
                return False

        assert run_by_other_user(0o755) == "saved\n"
        assert has_spoken() and list(state.iterdir())
        for each in state.iterdir():
            each.unlink()
        assert run_by_other_user(0o4755) == os.strerror(errno.ENOENT) + "\n"
        assert not has_spoken() and not list(state.iterdir())
        ours.close()
        theirs.close()
        listener.close()
