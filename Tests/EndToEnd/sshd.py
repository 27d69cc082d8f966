"""A real sshd with a port, keys and a configuration of its own."""

import os
import pwd
import shutil
import socket
import subprocess

from container import wait_for

SERVER = """
Port {port}
ListenAddress 127.0.0.1
HostKey {directory}/host
AuthorizedKeysFile {directory}/user.pub
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
SetEnv PATH={path} LIFED_SOCKET={control}
"""

CLIENT = """
Host {name}
    HostName 127.0.0.1
    Port {port}
    IdentityFile {directory}/user
    IdentitiesOnly yes
    UserKnownHostsFile {directory}/known
    GlobalKnownHostsFile none
    StrictHostKeyChecking yes
    BatchMode yes
"""


class Sshd:
    """A login finds lifectl, and the daemon of that control socket."""

    def __init__(self, name, directory, lifectl, control):
        self.program = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])
        self.name = name
        self.user = pwd.getpwuid(os.geteuid()).pw_name
        self.directory = directory
        self.log = directory / "log"
        directory.mkdir()
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory / key], check=True)
        (directory / "bin").mkdir()
        (directory / "bin/lifectl").symlink_to(lifectl)
        self.port = free_port()
        values = {"directory": directory, "port": self.port, "name": name, "control": control}
        path = f"{directory}/bin:/usr/bin:/bin"
        (directory / "server").write_text(SERVER.format(path=path, **values))
        (directory / "client").write_text(CLIENT.format(**values))
        key = (directory / "host.pub").read_text()
        (directory / "known").write_text(f"[127.0.0.1]:{self.port} {key}")
        self.process = None

    def client_program(self, directory):
        """Puts an ssh there that has the test's configuration instead of the user's own."""
        directory.mkdir()
        real = shutil.which("ssh")
        (directory / "ssh").write_text(f'#!/bin/sh\nexec {real} -F {self.directory}/client "$@"\n')
        (directory / "ssh").chmod(0o755)

    def start(self):
        if os.geteuid() == 0:
            # Compiled in; the machine's own sshd would make it, too.
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [self.program, "-D", "-e", "-f", str(self.directory / "server")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )
        wait_for(self._listens, what="sshd listens")

    def _listens(self):
        assert self.process.poll() is None, self.log.read_text(errors="replace")
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]
