"""A user's own daemon with directories of desktop entries, and a client that reports the visible apps."""

import json
import socket

from container import wait_for
from direct import DirectDaemon

# Writes its arguments, one a line, where the test finds them, and stays.
SHOW = """#!/bin/sh
printf '%s\\n' "$@" >"$RESULTS/$LIFECYCLE_APP_ID.new"
pwd >"$RESULTS/$LIFECYCLE_APP_ID.directory"
mv "$RESULTS/$LIFECYCLE_APP_ID.new" "$RESULTS/$LIFECYCLE_APP_ID"
exec sleep infinity
"""


class Desktop(DirectDaemon):
    """A user's own daemon, with a data directory of their own and one of the machine's."""

    def __init__(self, products, directory):
        super().__init__(products, directory)
        self.home = directory / "home"
        self.shared = directory / "shared"
        self.results = directory / "results"
        self.variables = {
            "XDG_CONFIG_HOME": directory / "own", "XDG_CONFIG_DIRS": directory / "xdg", "XDG_CURRENT_DESKTOP": "sway",
            "XDG_DATA_HOME": self.home, "XDG_DATA_DIRS": f"{self.shared}:/usr/share", "RESULTS": self.results,
            "PATH": f"{directory / 'bin'}:/usr/bin:/bin", "LC_ALL": "de_DE.UTF-8",
        }
        for each in (self.home, self.shared, self.results, directory / "bin"):
            each.mkdir()
        program = directory / "bin" / "show-it"
        program.write_text(SHOW)
        program.chmod(0o755)

    def arguments(self):
        return [*super().arguments(), "--user"]

    def spawn(self, wrapper=()):
        super().spawn(["env", *(f"{name}={value}" for name, value in self.variables.items()), *wrapper])

    def entry(self, path, *lines, exec="show-it", where=None):
        """Writes an entry below the machine's data directory, or another one."""
        file = (where or self.shared) / "applications" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        text = ["[Desktop Entry]", "Type=Application", f"Name={file.stem}", *([f"Exec={exec}"] if exec else []), *lines]
        file.write_text("\n".join(text) + "\n")
        return file

    def choose(self, text, name="own/mimeapps.list"):
        """Writes what opens what."""
        file = self.home.parent / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def shown(self, app):
        """The arguments that an app got at its launch."""
        file = self.results / app
        wait_for(file.exists, what=f"{app} has written its arguments")
        return file.read_text().splitlines()

    def launchable(self, *options):
        return {app["id"]: app for app in self.lifectl.json("list", "--available", *options)["apps"]}


class WindowReporter:
    """Reports the visible apps as `lifed-desktop` does, until it is closed."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(path))

    def show(self, *visible):
        self.call("SetInUse", use="visible", apps=visible)

    def call(self, method, **parameters):
        self.send((method, parameters))
        assert "error" not in self.reply()

    def send(self, *calls):
        """Sends all calls at once."""
        messages = [{"method": f"org.lifed.{method}", "parameters": parameters} for method, parameters in calls]
        self.socket.sendall(b"".join(json.dumps(each).encode() + b"\0" for each in messages))

    def reply(self):
        reply = b""
        while not reply.endswith(b"\0"):
            part = self.socket.recv(1)
            assert part, "the daemon has closed the connection"
            reply += part
        return json.loads(reply[:-1])

    def close(self):
        self.socket.close()


def refusal(desktop, *arguments):
    result = desktop.lifectl(*arguments, check=False)
    assert result.returncode != 0
    return result.returncode, result.stderr
