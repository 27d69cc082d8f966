"""A booted systemd in a container, for tests against the real thing."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# See boot-container for why.
ISOLATION = "setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc".split()
# Where an installation puts things, but for what a package manager and the system leave behind anywhere.
PLACES = "/etc /usr /var"
ELSEWHERE = "/var/log /var/cache /var/tmp /var/lib/dpkg /var/lib/systemd /etc/group- /etc/gshadow-"
BOOT_TIMEOUT = 60
COMMAND_TIMEOUT = 60


class Unavailable(Exception):
    """This machine cannot boot a container; the text says why."""


def wait_for(predicate, timeout=60, what=None):
    """Waits until the predicate is true and returns its value. The timeout only bounds a failure."""
    deadline = time.monotonic() + timeout
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s: {what or predicate}")
        time.sleep(0.01)


def check_machine():
    if os.geteuid() != 0:
        raise Unavailable("booting a container needs root")
    for tool in ("systemd-nspawn", "setpriv", "unshare", "nsenter"):
        if not shutil.which(tool):
            raise Unavailable(f"{tool} is not installed")
    if _cgroup() is None:
        raise Unavailable("there is no cgroup v2 hierarchy")
    if "\toverlay" not in Path("/proc/filesystems").read_text() and not _loads_overlay():
        raise Unavailable("the kernel has no overlay file system")


def _cgroup():
    """The directory of this process's own cgroup (v2), if it has one."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    root = next((fields[1] for fields in mounts if fields[2] == "cgroup2"), None)
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    own = next((line[3:] for line in lines if line.startswith("0::")), None)
    return Path(root + own) if root and own else None


def _loads_overlay():
    modprobe = shutil.which("modprobe")
    return modprobe and subprocess.run([modprobe, "-q", "overlay"]).returncode == 0


def _child(parent, name):
    """The child of a process that runs a certain program, if there is one."""
    try:
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        return next((int(pid) for pid in children if Path(f"/proc/{pid}/comm").read_text() == name + "\n"), None)
    except (FileNotFoundError, ProcessLookupError):
        return None


class Container:
    def __init__(self, source):
        check_machine()
        self.source = source
        self.cgroup = _cgroup() / f"lifed-test-{uuid.uuid4().hex}"
        self.process = None
        self.supervisor = None
        self.leader = None
        self.boot_time = None

    def boot(self, log):
        started = time.monotonic()
        self.process = subprocess.Popen(
            [*ISOLATION, str(HERE / "boot-container"), str(self.source), str(self.cgroup)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.leader = self._wait(self._find_leader)
        self._wait(self._is_running)
        self.boot_time = time.monotonic() - started

    def _wait(self, predicate):
        deadline = time.monotonic() + BOOT_TIMEOUT
        while self.process.poll() is None and time.monotonic() < deadline:
            value = predicate()
            if value:
                return value
            time.sleep(0.01)
        raise Unavailable(f"the container did not boot (exit status {self.process.poll()})")

    def _find_leader(self):
        """Waits for unshare's child to become systemd-nspawn, and for that one's to become systemd."""
        self.supervisor = _child(self.process.pid, "systemd-nspawn")
        return _child(self.supervisor, "systemd")

    def _is_running(self):
        result = self.run(["systemctl", "is-system-running"], check=False)
        return result.stdout.strip() in ("running", "degraded")

    def shut_down(self):
        """Ends the container, politely at first; the mounts go with the last process."""
        if self.process is None or self.process.poll() is not None:
            return
        if self.supervisor:
            os.kill(self.supervisor, signal.SIGTERM)
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for directory, _, _ in os.walk(self.cgroup, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(directory)

    def command(self, arguments, user=None, environment=None):
        """The command line that runs something inside, as root or as another user."""
        variables = [f"{name}={value}" for name, value in {"PATH": PATH, **(environment or {})}.items()]
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"] if user else []
        return ["nsenter", "-t", str(self.leader), "-a", "env", "-i", *variables, *as_user, *map(str, arguments)]

    def run(self, arguments, check=True, timeout=COMMAND_TIMEOUT, user=None, environment=None, **options):
        if "input" not in options:
            options["stdin"] = subprocess.DEVNULL
        result = subprocess.run(
            self.command(arguments, user, environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=timeout,
            **options,
        )
        if check and result.returncode != 0:
            shown = " ".join(map(str, arguments))
            raise AssertionError(f"{shown}: status {result.returncode}\n{result.stdout}{result.stderr}")
        return result

    def popen(self, arguments, user=None, environment=None, **options):
        return subprocess.Popen(self.command(arguments, user, environment), text=True, **options)

    def path(self, inside):
        """Where a path of the container is reached from outside; sockets can be connected to through it."""
        return Path(f"/proc/{self.leader}/root{inside}")

    def write(self, inside, text, mode=0o644, user=None):
        """Writes a file, and makes its directories; `user` has them all, and root by default."""
        # By way of a command, because a path through /proc would follow the host's absolute symbolic links.
        self.run(["mkdir", "-p", str(Path(inside).parent)], user=user)
        self.run(["tee", inside], input=text, user=user)
        self.run(["chmod", f"{mode:o}", inside], user=user)

    def files(self):
        """Every file that an installation, or a daemon, could have made."""
        pruned = " -o ".join(f"-path {path}" for path in ELSEWHERE.split())
        found = self.run(["sh", "-c", f"find {PLACES} -xdev \\( {pruned} \\) -prune -o -print"], timeout=300)
        return set(found.stdout.splitlines())

    def add_user(self, name, groups=()):
        extra = ["-G", ",".join(groups)] if groups else []
        self.run(["useradd", "-m", "-U", "-s", "/bin/sh", *extra, name])
        return int(self.run(["id", "-u", name]).stdout)
