"""The ways to run a daemon, each with the processes of its apps as the kernel alone knows them.

Each app has a limit on file locks of its own (RLIMIT_LOCKS), which Linux has not heeded since 2.4. Whatever a process does to
its parents, session, environment, descriptors and name, it hands that limit on, and the kernel shows it to everybody.
"""

import contextlib
import os
import pwd
import random
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from container import _cgroup, wait_for
from direct import DirectDaemon

USER = "nobody"
NOT_OF_A_SESSION = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")


@dataclass
class Way:
    is_of_user: bool
    has_groups: bool


WAYS = {"user": Way(True, False), "user-with-groups": Way(True, True), "system": Way(False, True)}


@dataclass(frozen=True)
class Marked:
    """A process with a mark, and what the kernel says of it."""

    pid: int
    started: int
    mark: int
    name: str
    state: str
    parent: int

    def __str__(self):
        return f"{self.pid} ({self.name}) {self.state}, child of {self.parent}"


class Marks:
    """The marks of one daemon: that of itself and of what it starts, and those of its apps."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.base = random.SystemRandom().randrange(1 << 40) << 16
        self.names = {}

    @property
    def daemon(self):
        return self.base + 0xFFFF

    def of(self, identifier):
        return self.names.setdefault(identifier, self.base + 1 + len(self.names))

    @staticmethod
    def command(mark):
        return ["prlimit", f"--locks={mark}:{mark}"]

    def read(self, pid):
        """The mark of a process that lives, or None if it has none of this daemon's."""
        try:
            lines = (self.kernel.proc / str(pid) / "limits").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            return None
        # The file is empty when the process has ended.
        value = next((line.split()[3] for line in lines if line.startswith("Max file locks")), "")
        mark = int(value) if value.isdigit() else 0
        return mark if self.base < mark <= self.daemon else None

    def all(self):
        """Every process with a mark that lives, those included that were made meanwhile.

        A process that forks and ends while others are looked at would never be found in the list of all.
        """
        last = self._last_pid()
        found = self._living(int(name) for name in os.listdir(self.kernel.proc) if name.isdigit())
        for _ in range(200):
            before, last = last, self._last_pid()
            if last == before:
                break
            # The numbers begin again when they have reached their limit.
            found += self._living(range(before + 1, last + 1)) if last > before else self.all()
        return list({each.pid: each for each in found}.values())

    def _last_pid(self):
        return int((self.kernel.proc / "loadavg").read_text().split()[-1])

    def _living(self, pids):
        found = []
        for pid in pids:
            mark = self.read(pid)
            stat = mark and self.kernel.stat(pid)
            if stat and stat.state not in "ZX":
                found.append(Marked(pid, stat.started, mark, stat.name, stat.state, stat.parent))
        return found

    def signal(self, process, number):
        """Signals a process, unless it has ended."""
        with contextlib.suppress(ProcessLookupError):
            descriptor = os.pidfd_open(process.pid)
            try:
                if self.kernel.stat(process.pid).started == process.started:
                    signal.pidfd_send_signal(descriptor, number)
            except AttributeError:
                pass  # It has ended, and was the child of somebody who has heard of it.
            finally:
                os.close(descriptor)

    def kill_all(self, is_wanted=lambda process: True):
        """Ends them; those that fork meanwhile, too."""

        def ends():
            left = [process for process in self.all() if is_wanted(process)]
            for process in left:
                self.signal(process, signal.SIGKILL)
            return not left

        wait_for(ends, what="the end of every process with a mark")


class WayDaemon(DirectDaemon):
    """A daemon that runs in one of the ways, with directories that its user may enter."""

    def __init__(self, products, directory, way):
        super().__init__(products, directory)
        self.way = way
        self.marks = Marks(self.kernel)
        self.home = directory / "home"
        self.home.mkdir()
        self.user = pwd.getpwnam(USER) if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
        self.group = None
        # The programs run as this user: some refuse to be root.
        self.as_user = []
        if os.geteuid() == 0:
            self.as_user = ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups"]
        if way.has_groups:
            self.make_group()
        self.give(directory if way.is_of_user else self.home)

    def give(self, directory):
        """Hands a directory over to the user."""
        if os.geteuid() == 0:
            for path in (directory, *directory.rglob("*")):
                shutil.chown(path, self.user.pw_uid, self.user.pw_gid)

    def make_group(self):
        self.group = _cgroup() / f"lifed-way-{self.marks.base:x}"
        self.group.mkdir()
        if self.way.is_of_user:
            for path in (self.group, *(self.group / f"cgroup.{name}" for name in ("procs", "threads", "subtree_control"))):
                shutil.chown(path, self.user.pw_uid, self.user.pw_gid)
            os.setxattr(self.group, "user.delegate", b"1")

    def remove_group(self):
        if self.group:
            for directory, _, _ in os.walk(self.group, topdown=False):
                wait_for(lambda: not os.path.exists(directory) or not _rmdir(directory), what=f"{directory} is empty")

    def arguments(self):
        return super().arguments() + (["--user"] if self.way.is_of_user else [])

    def spawn(self, wrapper=()):
        enter = ["sh", "-c", 'echo 0 >"$0" && exec "$@"', str(self.group / "cgroup.procs")] if self.group else []
        user = self.as_user if self.way.is_of_user else []
        arguments = [*enter, *self.marks.command(self.marks.daemon), *user, *wrapper, *self.arguments()]
        environment = {name: value for name, value in os.environ.items() if name not in NOT_OF_A_SESSION}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                arguments, env={**environment, "HOME": str(self.home)}, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def kill(self):
        self.process.kill()
        self.process.wait()

    def manifest(self, identifier, command, extra="", as_user=False):
        """An app whose processes have its mark from the first instruction of the program on.

        With `as_user`, the system's daemon runs it as the user, too.
        """
        words = [*self.marks.command(self.marks.of(identifier)), *map(str, command)]
        user = f"user = '{self.user.pw_name}'\nworkingDirectory = '/'\n" if as_user and not self.way.is_of_user else ""
        (self.configuration / f"apps.d/{identifier}.toml").write_text(f"command = {words}\n{user}{extra}\n")

    def of(self, app):
        """The processes of an app, as `lifectl list` shows it. The first one may not have got to its mark."""
        mark = self.marks.of(app["id"])
        return [
            each for each in self.marks.all()
            if each.mark == mark or (each.mark == self.marks.daemon and each.pid == app.get("pid"))
        ]

    def is_still(self, process):
        """True if a process is stopped or frozen, or waits in vfork(2) for one that is."""
        return process.state == "T" or process.state == "D" and self._holds(process) or self.is_frozen(process)

    def _holds(self, process):
        children = self.kernel.proc / str(process.pid) / "task" / str(process.pid) / "children"
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            stats = [self.kernel.stat(pid) for pid in children.read_text().split()]
            return any(stat and stat.state == "T" for stat in stats)

    def is_frozen(self, process):
        if not self.group:
            return False
        with contextlib.suppress(OSError):
            lines = (self.kernel.proc / str(process.pid) / "cgroup").read_text().splitlines()
            name = next(each[3:] for each in lines if each.startswith("0::"))
            # Its last directories: a hierarchy may be mounted as a whole, or in part.
            directory = self.group / name.partition(f"/{self.group.name}")[2].lstrip("/")
            return "frozen 1" in (directory / "cgroup.events").read_text()


def _rmdir(directory):
    with contextlib.suppress(OSError):
        os.rmdir(directory)
    return os.path.exists(directory)


@contextlib.contextmanager
def running(products, way, configuration):
    """A daemon, of which nothing is left in the end. Skips where the machine does not have what the way needs."""
    if not shutil.which("prlimit"):
        pytest.skip("not installed: prlimit")
    if way.has_groups and os.geteuid() != 0:
        pytest.skip("handing over a control group needs root")
    if way.has_groups and not _cgroup():
        pytest.skip("there is no cgroup v2 hierarchy")
    if os.geteuid() == 0 and way.is_of_user and any(not os.stat(each).st_mode & 0o001 for each in products.resolve().parents):
        pytest.skip(f"the user may not enter {products}")
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        daemon = WayDaemon(products, Path(place) / "daemon", way)
        (daemon.configuration / "lifed.toml").write_text(configuration)
        try:
            daemon.start()
            yield daemon
        finally:
            # Shown with a failure.
            print(daemon.logged[-6000:])
            if daemon.process and daemon.process.poll() is None:
                daemon.kill()
            daemon.marks.kill_all()
            daemon.remove_group()
