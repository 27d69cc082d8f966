"""stopwatch.c as Python calls it. Times are CLOCK_MONOTONIC in nanoseconds."""

import ctypes
import json
import os
import time

# What bounds a failure, not a measurement.
PATIENCE = 60_000_000_000


class Lap(ctypes.Structure):
    _fields_ = [("began", ctypes.c_int64), ("ended", ctypes.c_int64)]

    @property
    def duration(self):
        return self.ended - self.began


class Stopwatch:
    def __init__(self, library):
        self.library = ctypes.CDLL(str(library))
        for function in (self.library.until_stopped, self.library.until_gone, self.library.until_noted):
            function.restype = ctypes.c_int64
        self.library.ask.restype = ctypes.c_size_t
        self.library.tell.restype = ctypes.c_bool
        self.library.be_punctual()
        self._reply = ctypes.create_string_buffer(1 << 20)

    def ask(self, connection, request, end=b"\0"):
        """Sends bytes and returns the answer's, which has an end of its own, and how long that took."""
        lap = Lap()
        length = self.library.ask(
            connection.fileno(), request, ctypes.c_size_t(len(request)), end, ctypes.c_size_t(len(end)), self._reply,
            ctypes.c_size_t(len(self._reply)), ctypes.byref(lap),
        )
        if not length:
            raise ConnectionResetError(f"no answer to {request}")
        return ctypes.string_at(self._reply, length - len(end)), lap

    def tell(self, orders):
        """Writes letters to fifos, and returns how long that took."""
        lap = Lap()
        fifos, letters = zip(*orders)
        if not self.library.tell(
            (ctypes.c_int * len(fifos))(*fifos), b"".join(letters), ctypes.c_size_t(len(fifos)), ctypes.byref(lap)
        ):
            raise ConnectionResetError(f"a supervisor has gone before it was told {letters}")
        return lap

    def call(self, connection, method, **parameters):
        """A Varlink call: the parameters of its answer, and how long that took."""
        request = json.dumps({"method": f"org.lifed.{method}", "parameters": parameters}).encode() + b"\0"
        text, lap = self.ask(connection, request)
        reply = json.loads(text)
        if "error" in reply:
            raise AssertionError(f"{method} {parameters}: {reply}")
        return reply["parameters"], lap

    def run(self, *commands, environment=None):
        """Runs one program after the other, and returns how long it took until all had ended."""
        null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1)]
        began = time.monotonic_ns()
        for command in commands:
            pid = os.posix_spawnp(command[0], command, environment or os.environ, file_actions=null)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if status != 0:
                raise AssertionError(f"{command}: status {status}")
        return Lap(began, time.monotonic_ns())

    def switch_by_kill(self, to, away):
        lap = Lap()
        self.library.switch_by_kill(to.pid, away.pid, ctypes.byref(lap))
        return lap

    def until_stopped(self, app):
        return self._checked(self.library.until_stopped(app.stat, self._deadline()), f"{app.name} is stopped")

    def until_gone(self, app):
        return self._checked(self.library.until_gone(app.stat, self._deadline()), f"{app.name} is reaped")

    def until_noted(self, app, note):
        address = ctypes.byref(app.notes, getattr(type(app.notes), note).offset)
        return self._checked(self.library.until_noted(address, self._deadline()), f"{app.name} has {note}")

    @staticmethod
    def _deadline():
        return ctypes.c_int64(time.monotonic_ns() + PATIENCE)

    @staticmethod
    def _checked(moment, what):
        if moment == 0:
            raise TimeoutError(f"not within {PATIENCE / 1e9:.0f} s: {what}")
        return moment
