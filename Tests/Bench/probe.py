"""The probe: a daemon in Swift that changes the foreground app and does nothing else."""

import socket
import subprocess

from compiled import compile_swift, swift_compiler


class Probe:
    """The program of Probe/. Its state record and its log are in its directory, and its apps end with it."""

    name = "probe"

    @staticmethod
    def reason_to_leave_out():
        return None if swift_compiler() else "there is no swiftc here"

    def __init__(self, settings, directory, stopwatch):
        self._program = settings.compiled.absolute() / "probe"
        self._directory = directory
        self._stopwatch = stopwatch
        self.process = None
        compile_swift(self._program, "Probe/probe.h", "Probe/Probe.swift", "Probe/Call.swift")

    def add(self, app):
        """The probe knows no definitions."""

    def start(self):
        self._directory.mkdir()
        self._connection, other = socket.socketpair()
        with open(self._directory / "log", "wb") as log:
            self.process = subprocess.Popen([str(self._program)], stdin=other, stderr=log, cwd=self._directory)
        other.close()

    def launch(self, app):
        program, notes, _ = app.command
        reply, lap = self._stopwatch.call(self._connection, "Launch", id=app.name, program=program, notes=notes)
        return reply["app"]["pid"], lap

    def switch(self, to, away):
        return self._stopwatch.call(self._connection, "Focus", id=to.name)[1]

    def stop(self):
        if self.process:
            self._connection.close()
            self.process.wait(timeout=60)
