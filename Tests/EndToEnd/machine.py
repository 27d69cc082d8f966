"""The sources of events in a program of their own, and the logind that they listen to."""

import os
import subprocess
import threading
from pathlib import Path

from container import wait_for

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = ".build/debug/MachineFixture"


def run_here(arguments, user=None, environment=None, **options):
    """Starts a program on this machine, as Container.popen does inside of a container."""
    return subprocess.Popen(arguments, env={**os.environ, **(environment or {})}, text=True, **options)


class Listener:
    """A running MachineFixture, and the lines that it has printed."""

    def __init__(self, start, source, *arguments, **options):
        self.lines = []
        command = [f"{source}/{FIXTURE}", *arguments]
        self.process = start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.wait_for("started")

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def wait_for(self, *wanted, timeout=60):
        """Waits until these lines have been printed, in this order and nothing between, and forgets them."""
        try:
            wait_for(lambda: len(self.lines) >= len(wanted), timeout)
        except AssertionError:
            raise AssertionError(f"not within {timeout} s: {wanted}, but {self.lines}") from None
        seen = [self.lines.pop(0) for _ in wanted]
        for line, start in zip(seen, wanted):
            assert line.startswith(start), (seen, wanted)
        return seen[-1]

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def stop(self):
        # Killing would end the command that entered the container, and not what it started there.
        self.process.stdin.close()
        self.process.wait(timeout=60)


class Logind:
    def __init__(self, container):
        self.container = container
        self.units = []
        container.run(["systemctl", "start", "dbus", "systemd-logind"])

    def restart(self):
        """Starts logind anew, with its present configuration, as often as a test likes."""
        self.container.run(["systemctl", "daemon-reload"])
        self.container.run(["systemctl", "reset-failed", "systemd-logind"], check=False)
        self.container.run(["systemctl", "restart", "systemd-logind"])

    def open_session(self, unit, user="member", session_class="user", seat="seat0"):
        """Logs a user in through PAM, as a display manager would, and returns the session's identifier."""
        before = set(self.sessions())
        variables = f"XDG_SEAT={seat} XDG_SESSION_TYPE=wayland XDG_SESSION_CLASS={session_class}"
        command = ["systemd-run", "--quiet", "--collect", "--unit", unit, "-p", "PAMName=login", "-p", f"User={user}"]
        self.container.run([*command, "-p", f"Environment={variables}", "sleep", "infinity"])
        self.units.append(unit)
        session = wait_for(lambda: next(iter(set(self.sessions()) - before), None))
        wait_for(lambda: self.state(session) in ("active", "online"))
        return session

    def state(self, session):
        result = self.container.run(["loginctl", "show-session", "-P", "State", session], check=False)
        return result.stdout.strip()

    def sessions(self):
        lines = self.container.run(["loginctl", "list-sessions", "--no-legend"]).stdout.splitlines()
        return [line.split()[0] for line in lines if line.strip()]

    def close_session(self, unit):
        self.container.run(["systemctl", "stop", unit], check=False)

    def call(self, member, *arguments, path="/org/freedesktop/login1", interface="Manager"):
        name = "org.freedesktop.login1"
        command = ["busctl", "call", name, path, f"{name}.{interface}", member, *arguments]
        return self.container.run(command).stdout

    def close(self):
        for unit in self.units:
            self.close_session(unit)
        wait_for(lambda: not self.sessions())
