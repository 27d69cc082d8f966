"""What is compared: lifed, the kernel's own calls, a probe, and the supervisors that this machine has.

Each gets its fastest request. An app is added before the start. `switch` asks as a client that stays connected;
`switch_commands` and `list_commands` are for a shell. A manager that cannot do something lacks the method.
"""

import contextlib
import ctypes
import os
import shlex
import shutil
import signal
import socket
import subprocess
import time
import xmlrpc.client
from pathlib import Path

from apps import Lap, ask, call, until
from container import wait_for
from direct import DirectDaemon
from driver import connect

QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}


def connected(path):
    """A connection, once somebody listens."""
    with contextlib.suppress(ConnectionError, FileNotFoundError):
        connection = connect(str(path))
        connection.settimeout(None)
        return connection


class Manager:
    needs = ()  # the programs without which it is left out
    has_foreground = False  # true if a launch or a switch takes the foreground from another app
    variables = {}  # what its programs need in the environment

    def __init__(self, directory):
        self.directory = directory
        directory.mkdir()

    @classmethod
    def reason_to_leave_out(cls):
        return next((f"no {each}" for each in cls.needs if not shutil.which(each)), None)

    def add(self, app):
        pass

    def start(self):
        pass


class Lifed(Manager):
    """A daemon of its own, with a manifest for each app. Nothing happens in it but what is asked for."""

    has_foreground = True

    def __init__(self, directory, name, products):
        super().__init__(directory)
        self.name = name
        self.daemon = DirectDaemon(products, directory)
        self.variables = {"LIFED_SOCKET": str(self.daemon.socket)}
        self._lifectl = str(products / "lifectl")
        self._connection = None
        (self.daemon.configuration / "lifed.toml").write_text('[timeouts]\nbackground = "0s"\n')

    def add(self, app):
        manifest = f'command = {app.command}\ncallbacks = "none"\n'
        (self.daemon.configuration / "apps.d" / f"{app.name}.toml").write_text(manifest)

    def start(self):
        """Returns when the daemon has answered."""
        self.daemon.spawn()
        until(self._connect, "lifed answers", pause=0.0005)
        call(self._connection, "GetStatus")

    def _connect(self):
        assert self.daemon.process.poll() is None, self.daemon.logged
        self._connection = connected(self.daemon.socket)
        return self._connection

    def restart(self):
        """Lasts until the next daemon has answered. The apps stay."""
        began = time.monotonic_ns()
        self._connection.close()
        self.daemon.process.send_signal(signal.SIGUSR2)
        # With a timeout, Python would look every 50 ms.
        self.daemon.process.wait()
        self.start()
        return Lap(began, time.monotonic_ns())

    def launch(self, app, background=False):
        return call(self._connection, "Launch", id=app.name, background=background)

    def suspend(self, app):
        return call(self._connection, "Suspend", id=app.name)

    def switch(self, to, away):
        return call(self._connection, "Focus", id=to.name)

    def end(self, app):
        return call(self._connection, "Terminate", id=app.name)

    def switch_commands(self, to, away):
        return [[self._lifectl, "focus", to.name]]

    def list_commands(self, app):
        return [[self._lifectl, "list"]]

    def stop(self):
        self._connection.close()
        self.daemon.stop()


class Probe(Manager):
    """The program of Probe.swift."""

    name = "probe"
    needs = ("swiftc",)
    has_foreground = True

    def start(self):
        self._connection, other = socket.socketpair()
        with open(self.directory / "log", "wb") as log:
            program = self.directory.parent / "probe-program"
            self._process = subprocess.Popen([program], stdin=other, stderr=log, cwd=self.directory)
        other.close()

    def launch(self, app):
        program, notes = app.command
        return call(self._connection, "Launch", id=app.name, program=program, notes=notes)

    def switch(self, to, away):
        return call(self._connection, "Focus", id=to.name)

    def stop(self):
        self._connection.close()
        self._process.wait()


class Kill(Manager):
    """Two bare kill(2), and the program kill twice."""

    name = "kill twice"
    needs = ("kill",)

    def __init__(self, directory):
        super().__init__(directory)
        self._processes = []

    def launch(self, app):
        began = time.monotonic_ns()
        self._processes.append(subprocess.Popen(app.command, **QUIET))
        return Lap(began, time.monotonic_ns())

    def switch(self, to, away):
        to, away = to.notes.pid, away.notes.pid
        began = time.monotonic_ns()
        os.kill(to, signal.SIGCONT)
        os.kill(away, signal.SIGSTOP)
        return Lap(began, time.monotonic_ns())

    def switch_commands(self, to, away):
        return [["kill", "-CONT", str(to.notes.pid)], ["kill", "-STOP", str(away.notes.pid)]]

    def stop(self):
        for process in self._processes:
            process.kill()
            process.wait()


class ControlFifos(Manager):
    """One supervisor for each service, which reads letters from a FIFO and answers nothing."""

    def __init__(self, directory):
        super().__init__(directory)
        self._supervisors = []
        self._fifos = {}

    def add(self, app):
        service = self.directory / app.name
        service.mkdir()
        (service / "down").touch()
        (service / "run").write_text(f"#!/bin/sh\nexec {shlex.join(app.command)}\n")
        (service / "run").chmod(0o755)

    def start(self):
        for service in self.directory.iterdir():
            self._supervisors.append(subprocess.Popen([self.needs[0], str(service)], **QUIET))
            fifo = service / "supervise" / "control"
            self._fifos[service.name] = wait_for(lambda fifo=fifo: opened(fifo), what=f"{self.name} at {fifo}")

    def launch(self, app):
        return self._tell((app, b"u"))

    def switch(self, to, away):
        return self._tell((to, b"c"), (away, b"p"))

    def switch_commands(self, to, away):
        return [[*self.resume, str(self.directory / to.name)], [*self.pause, str(self.directory / away.name)]]

    def end(self, app):
        return Lap(self._tell((app, b"d")).began, app.until_reaped())

    def stop(self):
        for supervisor in self._supervisors:
            supervisor.terminate()
        for supervisor in self._supervisors:
            supervisor.wait()

    def _tell(self, *orders):
        began = time.monotonic_ns()
        for app, letter in orders:
            os.write(self._fifos[app.name], letter)
        return Lap(began, time.monotonic_ns())


def opened(fifo):
    """Its descriptor, never 0 here, once a process reads from it."""
    with contextlib.suppress(OSError):
        return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)


class Runit(ControlFifos):
    name = "runit"
    needs = ("runsv", "sv")
    resume, pause = ("sv", "cont"), ("sv", "pause")

    def list_commands(self, app):
        return [["sv", "status", str(self.directory / app.name)]]


class S6(ControlFifos):
    name = "s6"
    needs = ("s6-supervise", "s6-svc")
    resume, pause = ("s6-svc", "-c"), ("s6-svc", "-p")


class Supervisord(Manager):
    """One daemon, asked by XML-RPC over a connection that stays open."""

    name = "supervisord"
    needs = ("supervisord", "supervisorctl")

    def __init__(self, directory):
        super().__init__(directory)
        self._configuration = directory / "supervisord.conf"
        self._socket = directory / "socket"
        self._configuration.write_text(
            f"[supervisord]\nnodaemon=true\nlogfile={directory}/log\npidfile={directory}/pid\nchildlogdir={directory}\n"
            f"[unix_http_server]\nfile={self._socket}\n[supervisorctl]\nserverurl=unix://{self._socket}\n"
            "[rpcinterface:supervisor]\n"
            "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface\n"
        )

    def add(self, app):
        with open(self._configuration, "a", encoding="utf-8") as file:
            file.write(f"[program:{app.name}]\ncommand={shlex.join(app.command)}\nstartsecs=0\nstopwaitsecs=1\n")
            file.write("autostart=false\nautorestart=false\nstdout_logfile=NONE\nstderr_logfile=NONE\n")

    def start(self):
        self._process = subprocess.Popen(["supervisord", "-c", str(self._configuration)], **QUIET)
        self._connection = wait_for(lambda: connected(self._socket), what="supervisord")

    def launch(self, app):
        return self._call("startProcess", app, False)

    def switch(self, to, away):
        began = self._call("signalProcess", to, "CONT").began
        return Lap(began, self._call("signalProcess", away, "STOP").ended)

    def switch_commands(self, to, away):
        command = ["supervisorctl", "-c", str(self._configuration), "signal"]
        return [[*command, "CONT", to.name], [*command, "STOP", away.name]]

    def end(self, app):
        return self._call("stopProcess", app)

    def stop(self):
        self._process.terminate()
        self._process.wait()

    def _call(self, method, app, *values):
        body = xmlrpc.client.dumps((app.name, *values), f"supervisor.{method}")
        head = f"POST /RPC2 HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        text, lap = ask(self._connection, (head + body).encode(), b"</methodResponse>\n")
        if b"<fault>" in text:
            raise AssertionError(f"{method} {app.name} {values}: {text}")
        return lap


class Systemd(Manager):
    """An ordinary service for each app, asked over systemd's private socket, past the message bus."""

    name = "systemd"
    needs = ("systemctl",)

    def __init__(self, directory):
        super().__init__(directory)
        self._library = ctypes.CDLL("libsystemd.so.0")
        self._bus = ctypes.c_void_p()
        self._files = {}

    @classmethod
    def reason_to_leave_out(cls):
        if Path("/proc/1/comm").read_text() != "systemd\n" or os.geteuid() != 0:
            return "not the first process, or not root"
        return super().reason_to_leave_out()

    def add(self, app):
        file = self._files[app] = Path(f"/run/systemd/system/lifed-bench-{os.getpid()}-{app.name}.service")
        file.write_text(
            f"[Unit]\nStartLimitIntervalSec=0\n[Service]\nExecStart={shlex.join(app.command)}\nStandardOutput=null\n"
        )

    def start(self):
        self._library.sd_bus_new(ctypes.byref(self._bus))
        self._library.sd_bus_set_address(self._bus, b"unix:path=/run/systemd/private")
        self._library.sd_bus_start(self._bus)
        subprocess.run(["systemctl", "daemon-reload"], check=True)

    def launch(self, app):
        return self._call(b"StartUnit", b"ss", app, b"replace")

    def switch(self, to, away):
        began = self._call(b"KillUnit", b"ssi", to, b"main", ctypes.c_int(signal.SIGCONT)).began
        return Lap(began, self._call(b"KillUnit", b"ssi", away, b"main", ctypes.c_int(signal.SIGSTOP)).ended)

    def switch_commands(self, to, away):
        command = ["systemctl", "kill", "--kill-who=main"]
        return [[*command, "-sCONT", self._files[to].name], [*command, "-sSTOP", self._files[away].name]]

    def end(self, app):
        return Lap(self._call(b"StopUnit", b"ss", app, b"replace").began, app.until_reaped())

    def stop(self):
        subprocess.run(["systemctl", "stop", *(each.name for each in self._files.values())], check=True)
        for each in self._files.values():
            each.unlink()

    def _call(self, method, types, app, *values):
        place = (None, b"/org/freedesktop/systemd1", b"org.freedesktop.systemd1.Manager", method, None, None, types)
        name = self._files[app].name.encode()
        began = time.monotonic_ns()
        result = self._library.sd_bus_call_method(self._bus, *place, name, *values)
        lap = Lap(began, time.monotonic_ns())
        if result < 0:
            raise OSError(-result, f"{method.decode()} {app.name}: {os.strerror(-result)}")
        return lap
