"""Ends everything that a program has started, even if SIGKILL ends the program: a process of its own sees to that.

Everything that the program starts has a variable with the program's directory in its environment, wherever it goes and
whatever its parent is. When the program has ended, the guardian ends all of these, and removes their cgroups and the
directory.
"""

import contextlib
import ctypes
import os
import re
import shutil
import signal
import tempfile
import time
from pathlib import Path

from container import wait_for

# The time that programs have to clean up after themselves, in seconds.
PATIENCE = 60

# The directories of all the programs to which a process belongs: one guarded program may start another.
VARIABLE = "LIFED_GUARDED"

PR_SET_PDEATHSIG = 1


class Watch:
    """What a program has of its guardian: a directory, and a word to say."""

    def __init__(self, directory, descriptor):
        self.directory = directory
        self._descriptor = descriptor

    def keep(self):
        """The directory is to stay."""
        os.write(self._descriptor, b"k")


def watch(name, for_temporary_files=True):
    """Makes a directory and starts a guardian. To be called before there are threads, and before anything is started.

    Temporary files of the program and of what it starts go into the directory, unless something else is said.
    A descriptor that no other process inherits tells the guardian of the end: the kernel closes it with the last of this process.
    """
    end_with_make()
    directory = Path(tempfile.mkdtemp(prefix=f"lifed-{name}-"))
    reading, writing = os.pipe()
    session = os.getsid(0)
    if os.fork() == 0:
        os.close(writing)
        guard(directory, reading, session)
    os.close(reading)
    os.environ[VARIABLE] = ":".join(filter(None, (os.environ.get(VARIABLE), str(directory))))
    if for_temporary_files:
        os.environ["TMPDIR"] = tempfile.tempdir = str(directory)
    return Watch(directory, writing)


def end_with_make():
    """A kill of make is for its children as well. No other end counts: a shell may go and leave a program behind."""
    parent = os.getppid()
    with contextlib.suppress(FileNotFoundError):
        if Path(f"/proc/{parent}/comm").read_text() != "make\n":
            return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def guard(directory, descriptor, session):
    os.setsid()
    # The signal for the end of make is not inherited; those that a user sends to everything are not for a guardian.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # A reader of the program's output waits for the end of every process that could print there.
    null = os.open("/dev/null", os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    try:
        is_kept = False
        while os.read(descriptor, 1):
            is_kept = True
        end_everything(directory, session)
        if not is_kept:
            shutil.rmtree(directory, ignore_errors=True)
    finally:
        os._exit(0)


def end_everything(directory, session=None):
    """Ends all that the program has started and that is still there, those that can clean up behind themselves first.

    With the session of the program, what it has itself started there is interrupted as at a terminal, and waited for.
    """
    places = cgroups(directory)
    if session is not None:
        end(lambda: [pid for pid in guarded(directory) if session_of(pid) == session], signal.SIGINT)
    # A daemon ends its apps.
    end(lambda: daemons(directory), signal.SIGTERM)
    while left := guarded(directory):
        signal_all(left, signal.SIGKILL)
        time.sleep(0.05)
    for place in places:
        remove(place)


def end(find, number):
    """Sends a signal, and waits for a while."""
    signal_all(find(), number)
    with contextlib.suppress(AssertionError):
        wait_for(lambda: not find(), timeout=PATIENCE)


def guarded(directory):
    """The processes that the program of a directory has started, and their descendants."""
    return [pid for pid in processes() if is_marked(pid, str(directory).encode()) and not is_dead(pid)]


def daemons(directory):
    """Those of them that are lifed, and children of it that have not become their programs yet."""
    return [pid for pid in guarded(directory) if read(pid, "comm") == b"lifed\n"]


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def is_marked(pid, directory):
    """A user who looks around in the directory is not meant."""
    variables = [each.partition(b"=") for each in read(pid, "environ").split(b"\0") if directory in each]
    return any(name not in (b"PWD", b"OLDPWD", b"_") for name, _, _ in variables)


def is_dead(pid):
    return read(pid, "stat").rpartition(b")")[2].split()[:1] in ([], [b"Z"], [b"X"])


def session_of(pid):
    with contextlib.suppress(ProcessLookupError):
        return os.getsid(pid)


def read(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""


def signal_all(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def cgroups(directory):
    """Where daemons have made the cgroups of their apps, by their own word."""
    logs = [path.read_text(errors="replace") for path in directory.rglob("log") if path.is_file()]
    pattern = r"lifed makes a control group for each app in (/\S+)"
    return {Path(path) for log in logs for path in re.findall(pattern, log)}


def remove(cgroup):
    """Removes a cgroup with those below it. The kernel may need a moment after the end of the last process."""
    for path in sorted((each for each in cgroup.rglob("*") if each.is_dir()), reverse=True) + [cgroup]:
        with contextlib.suppress(FileNotFoundError, AssertionError):
            wait_for(lambda path=path: is_removed(path), timeout=10)


def is_removed(path):
    try:
        path.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
