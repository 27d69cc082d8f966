"""Service supervisors that users could use instead, as they come: each is asked in the quickest way that it has."""

import os
import shlex
import shutil
import socket
import subprocess

from container import wait_for
from service_manager import Systemd
from stopwatch import Lap


class Program:
    """The supervisor, once its programs are installed."""

    needs = ()

    @classmethod
    def reason_to_leave_out(cls):
        return None if all(map(shutil.which, cls.needs)) else "not installed here"


class ControlFifos(Program):
    """One supervisor a service, which reads single letters from a fifo and answers nothing: runit's and s6's."""

    def __init__(self, directory, stopwatch):
        self._directory = directory
        self._stopwatch = stopwatch
        self._supervisors = []
        self._fifos = {}

    def add(self, app):
        service = self._service(app)
        service.mkdir(parents=True)
        (service / "down").touch()
        run = service / "run"
        run.write_text(f"#!/bin/sh\nexec {shlex.join(app.command)}\n")
        run.chmod(0o755)

    def start(self):
        for service in self._directory.iterdir():
            self._supervisors.append(subprocess.Popen([self.supervisor, str(service)], stdin=subprocess.DEVNULL))
            fifo = service / "supervise" / "control"
            self._fifos[service.name] = wait_for(lambda fifo=fifo: opened(fifo), what=f"{self.name} at {fifo}")

    def launch(self, app):
        lap = self._tell((app, b"u"))
        self._stopwatch.until_noted(app, "started")
        return wait_for(lambda: self._pid(app), what=f"{self.name} knows the pid of {app.name}"), lap

    def switch(self, to, away):
        return self._tell((to, b"c"), (away, b"p"))

    def terminate(self, app):
        lap = self._tell((app, b"d"))
        gone = self._stopwatch.until_gone(app)
        wait_for(lambda: not self._pid(app), what=f"{self.name} says that {app.name} is down")
        return Lap(lap.began, gone)

    def stop(self):
        # Services are ended before the supervisor is; those that are paused are continued for it.
        for fifo in self._fifos.values():
            os.write(fifo, b"cdx")
            os.close(fifo)
        for supervisor in self._supervisors:
            supervisor.wait(timeout=60)

    def _service(self, app):
        return self._directory / app.name

    def _tell(self, *orders):
        return self._stopwatch.tell([(self._fifos[app.name], letter) for app, letter in orders])


def opened(fifo):
    """Its descriptor, once a process reads from it; a descriptor is never 0 here."""
    try:
        return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None


class Runit(ControlFifos):
    name = "runit"
    commands = "sv cont, sv pause"
    supervisor = "runsv"
    needs = ("runsv", "sv")

    def switch_commands(self, to, away):
        return [["sv", "cont", str(self._service(to))], ["sv", "pause", str(self._service(away))]]

    def status_command(self, app):
        return ["sv", "status", str(self._service(app))]

    def _pid(self, app):
        return int((self._service(app) / "supervise" / "pid").read_text() or 0)


class S6(ControlFifos):
    name = "s6"
    commands = "s6-svc -c, s6-svc -p"
    supervisor = "s6-supervise"
    needs = ("s6-supervise", "s6-svc", "s6-svstat")

    def switch_commands(self, to, away):
        return [["s6-svc", "-c", str(self._service(to))], ["s6-svc", "-p", str(self._service(away))]]

    def _pid(self, app):
        command = ["s6-svstat", "-o", "pid", str(self._service(app))]
        return max(0, int(subprocess.run(command, check=True, capture_output=True).stdout))


class Supervisord(Program):
    """One daemon for all, asked by XML-RPC over a connection that stays open."""

    name = "supervisord"
    commands = "supervisorctl, twice"
    needs = ("supervisord", "supervisorctl")

    def __init__(self, directory, stopwatch):
        self._configuration = directory / "supervisord.conf"
        self._socket = directory / "socket"
        self._stopwatch = stopwatch
        directory.mkdir()
        self._configuration.write_text(
            f"[supervisord]\nnodaemon=true\nlogfile={directory}/log\npidfile={directory}/pid\nchildlogdir={directory}\n"
            f"[unix_http_server]\nfile={self._socket}\n[supervisorctl]\nserverurl=unix://{self._socket}\n"
            "[rpcinterface:supervisor]\n"
            "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface\n"
        )

    def add(self, app):
        with open(self._configuration, "a", encoding="utf-8") as file:
            file.write(f"[program:{app.name}]\ncommand={shlex.join(app.command)}\n")
            file.write("autostart=false\nautorestart=false\nstartsecs=0\nstdout_logfile=NONE\nstderr_logfile=NONE\n")

    def start(self):
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        self._process = subprocess.Popen(["supervisord", "-c", str(self._configuration)], **quiet)
        self._connection = wait_for(self._connected, what="supervisord")

    def _connected(self):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(self._socket))
            return connection
        except OSError:
            connection.close()
            return None

    def launch(self, app):
        lap = self._call("startProcess", app.name, waits=False)[1]
        self._stopwatch.until_noted(app, "started")
        text = self._call("getProcessInfo", app.name)[0].decode()
        return int(text.split("<name>pid</name>")[1].split("<int>")[1].split("<")[0]), lap

    def switch(self, to, away):
        began = self._call("signalProcess", to.name, "CONT")[1].began
        return Lap(began, self._call("signalProcess", away.name, "STOP")[1].ended)

    def switch_commands(self, to, away):
        command = ["supervisorctl", "-c", str(self._configuration), "signal"]
        return [[*command, "CONT", to.name], [*command, "STOP", away.name]]

    def terminate(self, app):
        return self._call("stopProcess", app.name)[1]

    def stop(self):
        self._process.terminate()
        self._process.wait(timeout=60)

    def _call(self, method, *texts, waits=None):
        values = [f"<string>{text}</string>" for text in texts]
        values += [f"<boolean>{waits:d}</boolean>"] if waits is not None else []
        parameters = "".join(f"<param><value>{value}</value></param>" for value in values)
        body = (
            "<?xml version='1.0'?><methodCall>"
            f"<methodName>supervisor.{method}</methodName><params>{parameters}</params></methodCall>"
        )
        head = f"POST /RPC2 HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml\r\nContent-Length: {len(body)}\r\n\r\n"
        text, lap = self._stopwatch.ask(self._connection, (head + body).encode(), b"</methodResponse>\n")
        if b"<fault>" in text:
            raise AssertionError(f"{method} {texts}: {text}")
        return text, lap


def installed(directory, stopwatch):
    """The supervisors that this machine has, and of the others a line that says why not."""
    present, missing = [], []
    for kind in (Runit, S6, Supervisord, Systemd):
        reason = kind.reason_to_leave_out()
        if reason is None:
            present.append(kind(directory / kind.name, stopwatch))
        else:
            missing.append(f"{kind.name}: left out, {reason}")
    return present, missing
