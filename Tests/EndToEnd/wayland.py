"""A client of a Wayland compositor that activates, minimises and maximises the windows of others, as a panel does; and a compositor
that says what a test wants."""

import contextlib
import queue
import socket
import struct
import threading
from pathlib import Path

DISPLAY = 1


class Compositor:
    """A connection, by the wire protocol alone. Each call makes a round trip."""

    def __init__(self, runtime, display):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(str(Path(runtime) / display))
        self.last = DISPLAY
        self.globals = {}
        # What to do with the events of an object.
        self.handlers = {DISPLAY: self._display_event}
        self.registry = self.new(self._registry_event)
        self.send(DISPLAY, 1, uint(self.registry))
        self.sync()

    def close(self):
        self.socket.close()

    def new(self, handler=None):
        self.last += 1
        self.handlers[self.last] = handler or (lambda *_: None)
        return self.last

    def send(self, target, opcode, payload=b""):
        self.socket.sendall(struct.pack("=IHH", target, opcode, 8 + len(payload)) + payload)

    def bind(self, interface, version, handler=None):
        name, offered = self.globals[interface]
        target = self.new(handler)
        self.send(self.registry, 0, uint(name) + text(interface) + uint(min(version, offered)) + uint(target))
        return target

    def sync(self):
        done = []
        callback = self.new(lambda *_: done.append(True))
        self.send(DISPLAY, 0, uint(callback))
        while not done:
            self._read_event()

    def _read_event(self):
        target, opcode, size = struct.unpack("=IHH", self._read(8))
        payload = self._read(size - 8)
        handler = self.handlers.get(target)
        if handler:
            handler(target, opcode, payload)

    def _read(self, size):
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            assert piece, "the compositor has closed the connection"
            data += piece
        return data

    def _display_event(self, _, opcode, payload):
        assert opcode != 0, f"the compositor refuses a request: {payload!r}"

    def _registry_event(self, _, opcode, payload):
        if opcode == 0:
            interface, rest = read_text(payload[4:])
            self.globals[interface] = struct.unpack("=I", payload[:4])[0], struct.unpack("=I", rest)[0]


def uint(number):
    return struct.pack("=I", number)


def text(value):
    data = value.encode() + b"\0"
    return uint(len(data)) + data + bytes(-len(data) % 4)


def read_text(payload):
    (length,) = struct.unpack("=I", payload[:4])
    end = 4 + (length + 3) // 4 * 4
    return payload[4 : 4 + length].rstrip(b"\0").decode(errors="replace"), payload[end:]


class ForeignToplevels:
    """The windows of a compositor with zwlr_foreign_toplevel_manager_v1, by their app ids."""

    def __init__(self, runtime, display):
        self.compositor = Compositor(runtime, display)
        self.windows = {}
        self.seat = self.compositor.bind("wl_seat", 1)
        self.compositor.bind("zwlr_foreign_toplevel_manager_v1", 3, self._manager_event)
        self.compositor.sync()

    def close(self):
        self.compositor.close()

    def _manager_event(self, _, opcode, payload):
        if opcode == 0:
            self.compositor.handlers[struct.unpack("=I", payload)[0]] = self._window_event

    def _window_event(self, target, opcode, payload):
        if opcode == 1:
            self.windows[read_text(payload)[0]] = target
        elif opcode == 6:
            self.windows = {name: number for name, number in self.windows.items() if number != target}

    def names(self):
        self.compositor.sync()
        return set(self.windows)

    def _request(self, name, opcode, payload=b""):
        self.names()
        self.compositor.send(self.windows[name], opcode, payload)
        self.compositor.sync()

    def activate(self, name):
        self._request(name, 4, uint(self.seat))

    def minimize(self, name):
        self._request(name, 2)

    def maximize(self, name, wanted=True):
        self._request(name, 0 if wanted else 1)

    def fullscreen(self, name, wanted=True):
        # On no output in particular.
        self._request(name, 8 if wanted else 9, uint(0) if wanted else b"")

    def close_window(self, name):
        self._request(name, 5)


class PlasmaWindows:
    """The windows of KWin, by their processes, and its virtual desktops."""

    ACTIVE, MINIMIZED, MAXIMIZED, FULLSCREEN = 1, 2, 4, 8

    def __init__(self, runtime, display):
        self.compositor = Compositor(runtime, display)
        self.windows = {}
        self.states = {}
        self.desktops = []
        self.management = self.compositor.bind("org_kde_plasma_window_management", 16, self._management_event)
        self.desktop_management = self.compositor.bind(
            "org_kde_plasma_virtual_desktop_management", 2, self._desktop_event)
        self.compositor.sync()

    def close(self):
        self.compositor.close()

    def _management_event(self, _, opcode, payload):
        if opcode == 4:
            window = self.compositor.new(self._window_event)
            self.compositor.send(self.management, 2, uint(window) + text(read_text(payload[4:])[0]))

    def _window_event(self, target, opcode, payload):
        if opcode == 2:
            (self.states[target],) = struct.unpack("=I", payload)
        elif opcode == 10:
            self.windows[struct.unpack("=I", payload)[0]] = target
        elif opcode == 5:
            self.windows = {pid: number for pid, number in self.windows.items() if number != target}

    def _desktop_event(self, _, opcode, payload):
        if opcode == 0:
            identifier, rest = read_text(payload)
            self.desktops.insert(struct.unpack("=I", rest)[0], identifier)

    def processes(self):
        # The windows are told on request.
        self.compositor.sync()
        self.compositor.sync()
        return set(self.windows)

    def is_active(self, pid):
        self.processes()
        return bool(self.states.get(self.windows.get(pid), 0) & self.ACTIVE)

    def set_state(self, pid, flags, wanted=True):
        self.processes()
        self.compositor.send(self.windows[pid], 0, uint(flags) + uint(flags if wanted else 0))
        self.compositor.sync()

    def activate(self, pid):
        self.set_state(pid, self.ACTIVE)

    def add_desktop(self):
        self.compositor.send(self.desktop_management, 1, text("another") + uint(len(self.desktops)))
        self.compositor.sync()

    def show_desktop(self, number):
        desktop = self.compositor.new()
        self.compositor.send(self.desktop_management, 0, uint(desktop) + text(self.desktops[number]))
        self.compositor.send(desktop, 0)
        self.compositor.sync()


class FakeCompositor:
    """A compositor at a path, for one client at a time: it offers an interface, or none, and says what it was given when that is bound."""

    def __init__(self, path, interface=None, events=b""):
        self.interface = interface
        self.events = events
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                with connection, contextlib.suppress(OSError):
                    self._converse(connection)

    @staticmethod
    def _read(connection, requests):
        with contextlib.suppress(OSError):
            while header := connection.recv(8, socket.MSG_WAITALL):
                target, opcode, size = struct.unpack("=IHH", header)
                requests.put((target, opcode, connection.recv(size - 8, socket.MSG_WAITALL) if size > 8 else b""))
        requests.put(None)

    def _converse(self, connection):
        registry = None
        # It reads while it sends.
        requests = queue.Queue()
        threading.Thread(target=self._read, args=(connection, requests), daemon=True).start()
        while request := requests.get():
            target, opcode, payload = request
            if (target, opcode) == (DISPLAY, 0):
                connection.sendall(event(struct.unpack("=I", payload)[0], 0, uint(0)))
            elif (target, opcode) == (DISPLAY, 1):
                (registry,) = struct.unpack("=I", payload)
                if self.interface:
                    connection.sendall(event(registry, 0, uint(1) + text(self.interface) + uint(3)))
            elif (target, opcode) == (registry, 0):
                (manager,) = struct.unpack("=I", payload[-4:])
                connection.sendall(self.events(manager))

    def close(self):
        # A close does not wake a thread in accept().
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def event(target, opcode, payload=b""):
    return struct.pack("=IHH", target, opcode, 8 + len(payload)) + payload
