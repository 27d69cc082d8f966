"""An app that does what it is told, to see what an app may."""

import json
import os
import subprocess

SCRIPT = 'while read -r line <"$0/in"; do sh -c "$line" >"$0/out" 2>&1; echo $? >"$0/status"; done'
TELL = 'echo "$1" >"$0/in"; read -r status <"$0/status"; cat "$0/out"; exit "$status"'


class Puppet:
    def __init__(self, daemon, identifier, directory, extra=""):
        self.daemon = daemon
        self.identifier = identifier
        self.directory = directory
        directory.mkdir()
        for name in ("in", "status"):
            os.mkfifo(directory / name)
        words = json.dumps(["sh", "-c", SCRIPT, str(directory)])
        environment = json.dumps(str(daemon.socket))
        (daemon.configuration / f"apps.d/{identifier}.toml").write_text(
            f'id = "{identifier}"\ncommand = {words}\nsuspend = "never"\n{extra}\n'
            f"[environment]\nLIFED_SOCKET = {environment}\n"
        )

    def tell(self, line, timeout=60):
        """Has the app run a command, and returns it with its exit status and its output."""
        command = ["sh", "-c", TELL, str(self.directory), line]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout)

    def lifectl(self, arguments):
        return self.tell(f"{self.daemon.products}/lifectl {arguments}")
