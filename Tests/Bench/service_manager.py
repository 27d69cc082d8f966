"""systemd beside the supervisors, where it is the machine's first process: an ordinary service for each app."""

import ctypes
import os
import shlex
import shutil
import subprocess
from pathlib import Path

from stopwatch import Lap

PRIVATE = Path("/run/systemd/private")
UNITS = Path("/run/systemd/system")


class Systemd:
    """Asked over a private connection that stays open, of which no message bus knows."""

    name = "systemd"
    commands = "systemctl kill, twice"

    @staticmethod
    def reason_to_leave_out():
        if Path("/proc/1/comm").read_text(encoding="utf-8") != "systemd\n" or not shutil.which("systemctl"):
            return "it is not this machine's first process (bench.py --container makes one of which it is)"
        return None if os.geteuid() == 0 else "only root may ask it"

    def __init__(self, directory, stopwatch):
        self._stopwatch = stopwatch
        self._manager = None
        self._apps = []
        # Units of several runs at the same time have different names.
        self._prefix = f"lifed-bench-{os.getpid()}"

    def add(self, app):
        self._apps.append(app)
        self._file(app).write_text(
            f"[Unit]\nDescription={app.name} of lifed's bench\nStartLimitIntervalSec=0\n"
            f"[Service]\nExecStart={shlex.join(app.command)}\nStandardOutput=null\n"
        )

    def start(self):
        self._manager = Manager(self._stopwatch.library, f"unix:path={PRIVATE}")
        self._manager.reload()

    def launch(self, app):
        lap = self._manager.run("StartUnit", self._unit(app))
        command = ["systemctl", "show", "--property=MainPID", "--value", self._unit(app)]
        return int(subprocess.run(command, check=True, capture_output=True).stdout), lap

    def switch(self, to, away):
        return self._manager.switch(self._unit(to), self._unit(away))

    def switch_commands(self, to, away):
        command = ["systemctl", "kill", "--kill-who=main"]
        return [[*command, "--signal=SIGCONT", self._unit(to)], [*command, "--signal=SIGSTOP", self._unit(away)]]

    def terminate(self, app):
        return self._manager.run("StopUnit", self._unit(app))

    def stop(self):
        for app in self._apps:
            if self._manager:
                self._manager.run("StopUnit", self._unit(app))
            self._file(app).unlink()
        if self._manager:
            self._manager.reload()

    def _unit(self, app):
        return f"{self._prefix}-{app.name}.service"

    def _file(self, app):
        return UNITS / self._unit(app)


class Manager:
    """The connection of systemd.c."""

    def __init__(self, library, address):
        library.connect_manager.restype = ctypes.c_void_p
        for function in (library.switch_units, library.run_job, library.reload_units):
            function.restype = ctypes.c_bool
        self._library = library
        self._manager = ctypes.c_void_p(library.connect_manager(address.encode()))
        if not self._manager:
            raise ConnectionRefusedError(f"nobody answers at {address}")

    def switch(self, to, away):
        return self._timed(self._library.switch_units, to, away)

    def run(self, method, unit):
        return self._timed(self._library.run_job, method, unit)

    def reload(self):
        if not self._library.reload_units(self._manager):
            raise AssertionError("systemd does not read its units")

    def _timed(self, function, *words):
        lap = Lap()
        if not function(self._manager, *(word.encode() for word in words), ctypes.byref(lap)):
            raise AssertionError(f"systemd refuses {words}")
        return lap
