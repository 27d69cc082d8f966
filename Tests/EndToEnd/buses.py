"""Session buses of a test's own: dbus-daemon, and dbus-broker without systemd."""

import os
import socket
import subprocess
import threading

from container import wait_for

CONFIGURATION = "/usr/share/dbus-1/session.conf"


class SessionBus:
    def __init__(self, directory, variables=()):
        self.variables = dict(variables)
        self.directory = directory / "bus"
        self.directory.mkdir()
        self.path = self.directory / "socket"
        self.process = None

    @property
    def address(self):
        return f"unix:path={self.path}"

    def busctl(self, *arguments, timeout=20):
        return subprocess.run(
            ["busctl", f"--address={self.address}", *arguments], capture_output=True, text=True, timeout=timeout)

    def start(self):
        self.launch()
        wait_for(lambda: self.path.exists() and self.busctl("list").returncode == 0, what="a bus")

    def stop(self):
        self.process.kill()
        self.process.wait()


class DBusDaemon(SessionBus):
    def launch(self):
        self.process = subprocess.Popen(
            ["dbus-daemon", f"--config-file={CONFIGURATION}", f"--address={self.address}", "--nofork", "--nopidfile"],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **self.variables})


class DBusBroker(SessionBus):
    """A dbus-broker that gets its socket as from systemd, and a journal that forgets."""

    def launch(self):
        (self.directory / "journal").mkdir()
        self.journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.journal.bind(str(self.directory / "journal" / "socket"))
        threading.Thread(target=self._forget, daemon=True).start()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(self.path))
        listener.listen()
        script = (
            f"mount --make-rprivate / && mount --bind {self.directory} /run/systemd && exec 3<&{listener.fileno()} &&"
            f" export LISTEN_FDS=1 LISTEN_PID=$$ && exec dbus-broker-launch --scope user --config-file {CONFIGURATION}"
        )
        self.process = subprocess.Popen(
            ["unshare", "-m", "bash", "-c", script], pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "DBUS_SESSION_BUS_ADDRESS": self.address, "XDG_RUNTIME_DIR": str(self.directory)})
        listener.close()

    def _forget(self):
        while self.journal.recv(65536):
            pass

    def stop(self):
        # The launcher ends the broker.
        self.process.terminate()
        self.process.wait()
