"""The measured apps, and the clock: times are nanoseconds of CLOCK_MONOTONIC."""

import ctypes
import json
import mmap
import os
import time
from typing import NamedTuple

PATIENCE = 60  # seconds; bounds a failure
PAUSE = 5e-6  # seconds; a busy loop would keep a processor from the processes that are measured


class Lap(NamedTuple):
    began: int
    ended: int

    @property
    def duration(self):
        return self.ended - self.began


class Notes(ctypes.Structure):
    """What an app notes about itself: see app.c."""

    _fields_ = [(name, ctypes.c_int64) for name in ("pid", "started", "continued")]


class App:
    def __init__(self, program, directory, name):
        self.name = name
        notes = directory / f"{name}.notes"
        notes.write_bytes(bytes(ctypes.sizeof(Notes)))
        with open(notes, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), ctypes.sizeof(Notes))
        self.notes = Notes.from_buffer(self._memory)
        self.command = [str(program), str(notes)]
        self._stat = None

    def open_stat(self):
        """Keeps /proc/PID/stat open, so that a look at it is one system call."""
        if self._stat is not None:
            os.close(self._stat)
        self._stat = os.open(f"/proc/{self.notes.pid}/stat", os.O_RDONLY)

    def until_stopped(self):
        return until(lambda: b") T" in os.pread(self._stat, 512, 0), f"{self.name} has stopped")

    def until_reaped(self):
        def is_reaped():
            try:
                os.pread(self._stat, 1, 0)
            except ProcessLookupError:
                return True

        return until(is_reaped, f"{self.name} has been reaped")

    def until_noted(self, note):
        until(lambda: getattr(self.notes, note), f"{self.name} has {note}")
        return getattr(self.notes, note)


def until(condition, what, pause=PAUSE):
    """Returns the time at which the condition was seen to hold."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {PATIENCE} s: {what}")
        time.sleep(pause)
    return time.monotonic_ns()


def ask(connection, request, end):
    """Sends a request, and returns the reply up to its end."""
    began = time.monotonic_ns()
    connection.send(request)
    reply = connection.recv(1 << 20)
    while not reply.endswith(end):
        received = connection.recv(1 << 20)
        if not received:
            raise ConnectionResetError(f"no reply to {request}")
        reply += received
    return reply.removesuffix(end), Lap(began, time.monotonic_ns())


def call(connection, method, **parameters):
    """Makes a Varlink call of org.lifed."""
    request = json.dumps({"method": f"org.lifed.{method}", "parameters": parameters}).encode() + b"\0"
    text, lap = ask(connection, request, b"\0")
    reply = json.loads(text)
    if "error" in reply:
        raise AssertionError(f"{method} {parameters}: {reply}")
    return lap


def run(commands, variables):
    """Runs one program after the other."""
    environment = {**os.environ, **variables}
    null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1)]
    began = time.monotonic_ns()
    for command in commands:
        pid = os.posix_spawnp(command[0], command, environment, file_actions=null)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status != 0:
            raise AssertionError(f"{command}: status {status}")
    return Lap(began, time.monotonic_ns())
