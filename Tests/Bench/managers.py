"""The managers that are compared: lifed and the baseline, asked for the same over a stream socket that stays open."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "EndToEnd"))

from apps import Listener
from direct import DirectDaemon
from driver import connect

# Nothing is to happen but what is asked for.
CONFIGURATION = '[timeouts]\nbackground = "0s"\n'


class Baseline:
    """The program of baseline.c. What it was asked to start ends with it."""

    name = "baseline"

    def __init__(self, program, stopwatch):
        self._stopwatch = stopwatch
        self._connection, other = socket.socketpair()
        self._process = subprocess.Popen([str(program)], stdin=other)
        other.close()

    def add(self, app):
        """The baseline knows no definitions."""

    def launch(self, app):
        return self._ask("listen" if isinstance(app, Listener) else "launch", *app.command)

    def switch(self, to, away):
        return self._ask("switch", to.pid, away.pid)[1]

    def focus(self, to, away):
        return self._ask("focus", to.pid, away.pid)[1]

    def suspend(self, app):
        return self._ask("suspend", app.pid)[1]

    def resume(self, app):
        return self._ask("resume", app.pid)[1]

    def terminate(self, app):
        return self._ask("terminate", app.pid)[1]

    def _ask(self, *words):
        answer, lap = self._stopwatch.ask(self._connection, " ".join(map(str, words)).encode() + b"\0")
        return int(answer), lap

    def stop(self):
        self._connection.close()
        self._process.wait(timeout=60)


class Lifed:
    """A daemon of its own, with a manifest for each app."""

    name = "lifed"
    commands = "lifectl focus"

    def __init__(self, products, directory, stopwatch):
        self.daemon = DirectDaemon(products, directory)
        self._stopwatch = stopwatch
        self._connection = None
        self._launched = set()
        self.containment = None
        (self.daemon.configuration / "lifed.toml").write_text(CONFIGURATION)

    def add(self, app):
        """Before the start: writes the app's manifest."""
        words = ", ".join(f"'{word}'" for word in app.command)
        callbacks = "required" if isinstance(app, Listener) else "none"
        manifest = f'command = [{words}]\ncallbacks = "{callbacks}"\n'
        (self.daemon.configuration / "apps.d" / f"{app.name}.toml").write_text(manifest)

    def start(self, wrapper=()):
        """Starts the daemon, or a command that runs it, and returns when it has answered."""
        command = [*wrapper, *self.daemon.arguments()]
        with open(self.daemon.log, "ab") as log:
            self.daemon.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log)
        deadline = time.monotonic() + 60
        while True:
            try:
                self._connection = connect(str(self.daemon.socket))
                self._connection.settimeout(None)
                return self.call("GetStatus")
            except (ConnectionError, FileNotFoundError):
                if self.daemon.process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(self.daemon.log.read_text(errors="replace")) from None
                time.sleep(0.0005)

    def hand_over(self):
        """Ends the daemon alone: its apps stay for the next one."""
        self._connection.close()
        self.daemon.process.send_signal(signal.SIGUSR2)
        # With a limit of time it would look every 50 ms, which is as long as what is measured.
        self.daemon.process.wait()

    def launch(self, app, background=False):
        reply, lap = self.call("Launch", id=app.name, background=background)
        pid = reply["app"]["pid"]
        self._launched.add(pid)
        self.containment = reply["app"]["containment"]
        return pid, lap

    def focus(self, to, away):
        return self.call("Focus", id=to.name)[1]

    switch = focus

    def switch_commands(self, to, away):
        return [self.command("focus", to.name)]

    def command(self, *words):
        """A call of lifectl as a key binding has it: without options for the daemon."""
        os.environ["LIFED_SOCKET"] = str(self.daemon.socket)
        return [str(self.daemon.products / "lifectl"), *words]

    def until_suspended(self, app):
        """Returns when it has been seen stopped; a call that waits for that, so that no client polls."""
        self.call("Suspend", id=app.name)

    def suspend(self, app):
        return self.call("Suspend", id=app.name)[1]

    def resume(self, app):
        return self.call("Resume", id=app.name)[1]

    def terminate(self, app):
        self._launched.discard(app.pid)
        return self.call("Terminate", id=app.name)[1]

    def call(self, method, **parameters):
        return self._stopwatch.call(self._connection, method, **parameters)

    def stop(self):
        """The apps end with the daemon; those of one that has failed are ended here."""
        if self._connection:
            self._connection.close()
        if self.daemon.process and self.daemon.stop() != 0:
            for pid in self._launched:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
