"""Real programs that become daemons, set their title or have jobs: held in every state, though the daemon is killed."""

import functools
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

import sshd
from container import wait_for
from ways import WAYS, running

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = "[timeouts]\nbackground = '1h'\n"
NO_HELPERS = "helpers = []\n"
PRODUCTS = ROOT / ".build" / os.environ.get("LIFED_BUILD", "release")
LAST = "exitPolicy = 'last'"
SYSTEM = "/usr/sbin:/usr/local/sbin:"


def need(*names):
    """The first program that is there."""
    places = [*map(str, Path("/usr/lib/postgresql").glob("*/bin")), os.environ["PATH"], SYSTEM]
    found = next(filter(None, (shutil.which(name, path=":".join(places)) for name in names)), None)
    return found or pytest.skip(f"not installed: {' or '.join(names)}")


def reply(port, request=b""):
    """What a server on a port says first, or nothing if it does not say anything soon."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as client:
            client.sendall(request)
            return client.recv(100)
    except OSError:
        return b""


class Program:
    """What is run as an app, by a user that is not root."""

    extra = LAST

    def __init__(self, daemon):
        self.daemon = daemon
        self.directory = daemon.home / "program"
        self.directory.mkdir()
        self.port = sshd.free_port()
        self.command = self.prepare()
        daemon.give(self.directory)

    def file(self, name, text):
        path = self.directory / name
        path.write_text(text)
        return str(path)

    def run(self, *arguments, **environment):
        """Runs a program as the user of the app."""
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.directory), **environment}
        return subprocess.run(
            [*self.daemon.as_user, *map(str, arguments)], env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=60
        )


class Nginx(Program):
    def prepare(self):
        nginx = need("nginx")
        paths = " ".join(f"{each}_temp_path {self.directory};" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        conf = self.file("conf", (
            f"pid {self.directory}/pid; error_log {self.directory}/error; worker_processes 2; events {{}}\n"
            f"http {{ access_log off; {paths} server {{ listen 127.0.0.1:{self.port}; }} }}\n"
        ))
        return [nginx, "-p", self.directory, "-e", f"{self.directory}/error", "-c", conf]

    def answers(self):
        return reply(self.port, b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 ")


class Sshd(Program):
    def prepare(self):
        program, key = need("sshd"), self.directory / "host"
        subprocess.run([need("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        if os.geteuid() == 0:
            # Compiled in; the machine's own sshd would make it, too.
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        conf = self.file("conf", (
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {key}\nPidFile {self.directory}/pid\nUsePAM no\n"
        ))
        return [program, "-f", conf, "-E", self.directory / "log"]

    def answers(self):
        return reply(self.port).startswith(b"SSH-2.0")


class Postgresql(Program):
    def prepare(self):
        control, initdb = Path(need("pg_ctl")).resolve(), Path(need("initdb")).resolve()
        self.ready, self.data = control.with_name("pg_isready"), self.directory / "data"
        self.daemon.give(self.directory)
        assert self.run(initdb, "-D", self.data, "-U", "test", "-A", "trust", "--no-sync").returncode == 0
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        return [control, "start", "-w", "-D", self.data, "-l", self.directory / "log", "-o", options]

    def answers(self):
        return self.run(self.ready, "-h", "127.0.0.1", "-p", self.port, "-t", "1").returncode == 0


class Tmux(Program):
    def prepare(self):
        self.tmux = [need("tmux"), "-f", "/dev/null", "-S", self.directory / "socket"]
        return [*self.tmux, "new-session", "-d", "sleep", "infinity"]

    def answers(self):
        try:
            return subprocess.run(
                [*self.daemon.as_user, *map(str, self.tmux), "list-sessions"], capture_output=True, timeout=1
            ).returncode == 0
        except subprocess.TimeoutExpired:
            return False


class SshAgent(Program):
    def prepare(self):
        return [need("ssh-agent"), "-a", self.directory / "socket"]

    def answers(self):
        # SSH_AGENTC_REQUEST_IDENTITIES
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(1)
                client.connect(str(self.directory / "socket"))
                client.sendall(b"\0\0\0\1\x0b")
                return client.recv(5)[4:] == b"\x0c"
        except OSError:
            return False


class Shell(Program):
    """Each job has a group of its own, and one has a session and nobody who knows it."""

    extra = ""

    def prepare(self):
        self.ticks = self.directory / "ticks"
        job = f"while :; do echo >>{self.ticks}; sleep 0.02; done"
        script = f"set -m; sleep infinity & sleep infinity | cat & (setsid env -i sh -c '{job}' &) ; wait"
        return [need("bash"), "-c", script.replace("env -i", f"env -i PATH={os.environ['PATH']}")]

    def answers(self):
        size = lambda: self.ticks.exists() and self.ticks.stat().st_size
        before = size()
        try:
            return wait_for(lambda: size() != before, timeout=1)
        except AssertionError:
            return False


class Browser(Program):
    extra = ""

    def prepare(self):
        browser = need("firefox-esr", "firefox", "chromium")
        flags = {"chromium": ["--no-sandbox", f"--user-data-dir={self.directory}"]}
        own = flags.get(Path(browser).name, ["--no-remote", "--profile", self.directory])
        environment = [f"HOME={self.directory}", "XDG_RUNTIME_DIR=" + str(self.directory)]
        return ["env", *environment, browser, "--headless", *own, f"--remote-debugging-port={self.port}", "about:blank"]

    def answers(self):
        return reply(self.port, b"GET /json/version HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").startswith(b"HTTP/1.1 ")


PROGRAMS = [Nginx, Sshd, Postgresql, Tmux, SshAgent, Shell, Browser]


class Life:
    """The life of the app, as the kernel sees it."""

    def __init__(self, daemon, program):
        self.daemon = daemon
        self.program = program

    def processes(self):
        return self.daemon.of(self.daemon.lifectl.app("app"))

    def kill_daemon_twice(self, state):
        before = {(each.pid, each.started) for each in self.processes()}
        for _ in range(2):
            self.daemon.kill()
            self.daemon.start()
        assert self.daemon.lifectl.state("app") == state
        if state == "suspended":
            assert {(each.pid, each.started) for each in self.processes()} == before
            assert self.is_still(), [*map(str, self.processes())]
        else:
            self.goes_on()

    def is_still(self):
        processes = self.processes()
        return processes and all(map(self.daemon.is_still, processes))

    def goes_on(self):
        wait_for(self.program.answers, what="an answer of the program")
        # Between two looks each of them sleeps or runs.
        wait_for(lambda: not any(each.state == "T" for each in self.processes()), what="no process is stopped")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__.lower())
@pytest.mark.parametrize("way", WAYS)
def test_program_is_held_in_every_state_though_the_daemon_is_killed(way, program):
    with running(PRODUCTS, WAYS[way], NO_HELPERS + CONFIGURATION) as daemon:
        app = program(daemon)
        daemon.manifest("app", app.command, app.extra, as_user=True)
        daemon.manifest("other", ["sleep", "infinity"])
        daemon.lifectl("reload")
        life = Life(daemon, app)
        daemon.lifectl("launch", "app")
        life.goes_on()
        life.kill_daemon_twice("active")
        daemon.lifectl("launch", "other")
        daemon.lifectl.wait_for_state("app", "background")
        life.kill_daemon_twice("background")
        daemon.lifectl("suspend", "app", "--now")
        assert life.is_still(), [*map(str, life.processes())]
        life.kill_daemon_twice("suspended")
        daemon.lifectl("resume", "app")
        life.goes_on()
        daemon.lifectl("suspend", "app", "--now")
        life.kill_daemon_twice("suspended")
        daemon.lifectl("focus", "app")
        life.goes_on()
        daemon.lifectl("terminate", "app")
        # The daemon answers when there are none.
        assert life.processes() == []
        assert daemon.stop() == 0
        assert daemon.marks.all() == []


@pytest.mark.parametrize("program", [Tmux, SshAgent], ids=lambda program: program.__name__.lower())
@pytest.mark.parametrize("way", WAYS)
def test_helper_serves_on_while_its_app_is_suspended_and_after_its_end(way, program):
    with running(PRODUCTS, WAYS[way], CONFIGURATION) as daemon:
        app = program(daemon)
        daemon.manifest("app", ["sh", "-c", '"$@"; exec sleep infinity', "sh", *app.command], as_user=True)
        daemon.lifectl("reload")
        daemon.lifectl("launch", "app")
        wait_for(app.answers, what="the helper serves")
        main = daemon.lifectl.pid("app")
        wait_for(lambda: daemon.kernel.stat(main).name == "sleep", what="the app runs its last program")

        def members():
            return [each["pid"] for each in daemon.lifectl.json("status", "app")["details"]["processes"]]

        wait_for(lambda: members() == [main], timeout=20, what="the helper is none of the app's processes")
        daemon.lifectl("suspend", "app", "--now")
        assert daemon.kernel.stat(main).state == "T" and app.answers()
        for _ in range(2):
            daemon.kill()
            daemon.start()
        daemon.lifectl.wait_for_state("app", "suspended", timeout=20)
        assert members() == [main]
        assert daemon.kernel.stat(main).state == "T" and app.answers()
        daemon.lifectl("terminate", "app")
        assert not daemon.kernel.exists(main) and app.answers()
        assert daemon.stop() == 0
        # Without groups, a helper that has outlived its app belongs to nobody.
        assert daemon.marks.all() == [] or not daemon.way.has_groups
