"""The apps that are measured, as they note it themselves: see notes.h."""

import ctypes
import mmap
import os


class Notes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("started", "continued", "processes", "active")]


class App:
    """One app of any manager. It has to be started once before its process can be asked for."""

    def __init__(self, program, directory, name, processes=1):
        self.name = name
        self.processes = processes
        path = directory / f"{name}.notes"
        path.write_bytes(bytes(ctypes.sizeof(Notes)))
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), ctypes.sizeof(Notes))
        self.notes = Notes.from_buffer(self._memory)
        self.command = self.command_with(program, path)
        self.pid = None
        self.stat = None

    def command_with(self, program, notes):
        return [str(program), str(notes), str(self.processes)]

    def expect(self):
        """Forgets what was noted, before the launch of the app."""
        self.notes.started = self.notes.continued = self.notes.processes = 0

    def is_running_as(self, pid):
        """Its /proc/PID/stat stays open: reading it again costs less than finding it again."""
        if self.stat is not None:
            os.close(self.stat)
        self.pid = pid
        self.stat = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)


class Listener(App):
    """An app that links the client library."""

    def command_with(self, program, notes):
        return [str(program), str(notes)]
