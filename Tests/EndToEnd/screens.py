"""Screens without a monitor: headless compositors, and an X server with a window manager."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from container import wait_for
from wayland import Compositor, ForeignToplevels, PlasmaWindows

ROOT = Path(__file__).resolve().parents[2]

# sway does not run as root.
NOBODY = 65534


def need(*programs):
    # scripts/pictures has no pytest.
    import pytest

    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


@contextlib.contextmanager
def running(screen):
    """Starts a screen, and stops it in the end."""
    try:
        screen.start()
        yield screen
    finally:
        screen.stop()


class Sway:
    """A headless sway, of an ordinary user where the tests are root's."""

    CONFIGURATION = """
        output HEADLESS-1 resolution 1280x800
        default_border none
        focus_on_window_activation none
        xwayland disable
    """

    def __init__(self, directory):
        self.runtime = Path(tempfile.mkdtemp(prefix="lifed-sway-"))
        self.log = directory / "sway-log"
        self.configuration = self.runtime / "config"
        self.configuration.write_text(self.CONFIGURATION)
        if os.geteuid() == 0:
            os.chown(self.runtime, NOBODY, NOBODY)
        self.process = None

    def start(self):
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.runtime),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "WLR_BACKENDS": "headless",
            "WLR_LIBINPUT_NO_DEVICES": "1",
            "WLR_RENDERER": "pixman",
        }
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["sway", "-c", self.configuration],
                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **user,
            )
        wait_for(self._answers, what=f"an answer of sway; its log: {self.log}")

    def _answers(self):
        assert self.process.poll() is None, self.log.read_text(errors="replace")
        return self.socket.exists() and self.display and self._command("-t", "get_version").returncode == 0

    @property
    def socket(self):
        return self.runtime / f"sway-ipc.{NOBODY if os.geteuid() == 0 else os.geteuid()}.{self.process.pid}.sock"

    @property
    def display(self):
        """The newest one's socket for its clients: one that was killed leaves its own behind."""
        sockets = [path for path in self.runtime.glob("wayland-*") if path.suffix != ".lock"]
        return max(sockets, key=lambda path: path.stat().st_mtime_ns, default=None)

    def _command(self, *arguments):
        return subprocess.run(["swaymsg", "-s", self.socket, *arguments], capture_output=True, text=True, timeout=20)

    def __call__(self, command):
        result = self._command("--", command)
        assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"

    def windows(self):
        """The windows that there are, by their process."""
        found = {}

        def visit(node):
            if node.get("pid") is not None:
                found[node["pid"]] = node
            for child in node["nodes"] + node["floating_nodes"]:
                visit(child)

        visit(json.loads(self._command("-r", "-t", "get_tree").stdout))
        return found

    @property
    def environment(self):
        """What a client of it needs."""
        return {"XDG_RUNTIME_DIR": str(self.runtime), "WAYLAND_DISPLAY": str(self.display)}

    def focus(self, pid):
        self(f"[pid={pid}] focus")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.runtime, ignore_errors=True)


class Headless:
    """A compositor without an IPC of its own, for the user of the tests."""

    def __init__(self, directory):
        # A short path: that of a socket has 107 bytes at most.
        self.runtime = Path(tempfile.mkdtemp(prefix="lifed-screen-"))
        self.log = directory / "compositor-log"
        self.process = None

    command = None
    variables = {}
    display = "wayland-9"

    def start(self):
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.runtime), "XDG_RUNTIME_DIR": str(self.runtime),
            "LANG": "C.UTF-8", **self.variables,
        }
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        wait_for(self._answers, what=f"a compositor; its log: {self.log}")

    def _answers(self):
        assert self.process.poll() is None, self.log.read_text(errors="replace")
        if not (self.runtime / self.display).exists():
            return False
        with contextlib.suppress(OSError, KeyError), contextlib.closing(self.probe()):
            return True
        return False

    def probe(self):
        return self.panel()

    @property
    def environment(self):
        """What a client of it needs."""
        return {
            "XDG_RUNTIME_DIR": str(self.runtime), "WAYLAND_DISPLAY": self.display, "GDK_BACKEND": "wayland",
            "GSK_RENDERER": "cairo", "XDG_DATA_HOME": str(self.runtime), "XDG_CONFIG_HOME": str(self.runtime),
        }

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process:
            self.kill()
        shutil.rmtree(self.runtime, ignore_errors=True)


class Phoc(Headless):
    """A headless phoc."""

    variables = {"WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"}
    display = "wayland-0"
    command = ["phoc"]

    def panel(self):
        return ForeignToplevels(self.runtime, self.display)


class KWin(Headless):
    """A headless KWin, which tells its windows to everyone."""

    variables = {"KWIN_WAYLAND_NO_PERMISSION_CHECKS": "1", "KWIN_COMPOSE": "Q"}

    @property
    def command(self):
        # The installed one has a capability that a container's bounding set refuses.
        program = self.runtime / "kwin_wayland"
        if not program.exists():
            shutil.copyfile(shutil.which("kwin_wayland"), program)
            program.chmod(0o755)
        size = ["--width", "1280", "--height", "800"]
        return ["dbus-run-session", program, "--virtual", "--no-lockscreen", *size, "--socket", self.display]

    def panel(self):
        return PlasmaWindows(self.runtime, self.display)


class DiscreetKWin(KWin):
    """A headless KWin, which tells its windows to programs with an entry for that, as it does on a desktop."""

    variables = {"KWIN_COMPOSE": "Q"}

    def admit(self, program):
        entry = (ROOT / "systemd" / "user" / "org.lifed.Desktop.desktop.in").read_text()
        place = self.runtime / ".local" / "share" / "applications" / "org.lifed.Desktop.desktop"
        place.parent.mkdir(parents=True)
        place.write_text(entry.replace("@bindir@/lifed-desktop", str(program)))

    def probe(self):
        return Compositor(self.runtime, self.display)


class XServer:
    """An Xvfb with openbox."""

    def __init__(self, directory, manager=("openbox",)):
        self.log = directory / "x-log"
        self.manager_command = list(manager)
        self.directory = directory
        self.number = None
        self.processes = []

    def start(self, *options):
        read, write = os.pipe()
        display = [] if self.number is None else [f":{self.number}"]
        # Without -noreset it begins anew when its last client leaves, and takes with it a client that is just connecting.
        server = ["Xvfb", *display, "-displayfd", str(write), "-noreset", "-screen", "0", "1280x800x24", "-nolisten", "tcp", *options]
        self._spawn(server, pass_fds=[write])
        os.close(write)
        with os.fdopen(read) as line:
            self.number = int(line.readline())
        self._spawn(self.manager_command)
        wait_for(lambda: "_NET_ACTIVE_WINDOW" in self.run("xprop", "-root", "_NET_SUPPORTED").stdout)

    def _spawn(self, command, **options):
        with open(self.log, "ab") as log:
            self.processes.append(
                subprocess.Popen(
                    command, env={**os.environ, **self.environment, "HOME": str(self.directory)},
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options,
                )
            )

    @property
    def environment(self):
        return {} if self.number is None else {"DISPLAY": f":{self.number}"}

    def run(self, *command):
        return subprocess.run(
            command, env={**os.environ, **self.environment}, capture_output=True, text=True, timeout=20)

    def window(self, pid):
        """The window of a process; None while it has none."""
        found = self.run("xdotool", "search", "--pid", str(pid)).stdout.split()
        known = self.windows()
        return next((int(word) for word in found if int(word) in known), None)

    def windows(self):
        words = self.run("xprop", "-root", "_NET_CLIENT_LIST").stdout.partition("#")[2].replace(",", " ").split()
        return {int(word, 16) for word in words}

    def focus(self, pid):
        self.run("xdotool", "windowactivate", str(self.window(pid)))

    def kill(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        self.processes = []

    stop = kill


class Follower:
    """`lifed-desktop` with one source, or with all of the session, while it runs."""

    def __init__(self, direct, source, *arguments, environment, log):
        self.log = log
        with open(log, "ab") as output:
            self.process = subprocess.Popen(
                [str(direct.products / "lifed-desktop"), *(["--source", source] if source else []), *arguments],
                env={**os.environ, **environment, "LIFED_SOCKET": str(direct.socket)},
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )

        # It connects to the daemon when it has found what it follows.
        self._direct = direct
        wait_for(lambda: self._is_connected() or self.process.poll() is not None, what="a follower")

    def _is_connected(self):
        return self._direct.lifectl.json("status")["status"]["clients"] >= 2

    @property
    def said(self):
        return self.log.read_text(errors="replace")

    def wait_for(self, text):
        wait_for(lambda: text in self.said or self.process.poll() is not None, what=f"{text!r} in {self.log}")
        assert text in self.said, self.said

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def followers(direct, source, directory, environment):
    """Gives a function that starts followers of a source, or of all with None, and ends them."""
    started = []

    def start(*arguments, environment=environment):
        log = directory / f"follow-{len(started)}"
        started.append(Follower(direct, source, *arguments, environment=environment, log=log))
        return started[-1]

    try:
        yield start
    finally:
        for each in started:
            each.stop()
