"""lifectl in a terminal, for the tests."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

from container import wait_for


class Terminal:
    """lifectl in a terminal of 100 columns and 20 rows."""

    def __init__(self, daemon, *arguments):
        # In a session of its own, whose terminal sends the signals of keys.
        # The tests may run in the background, where a shell has them ignore Ctrl-C.
        program = ["env", "--default-signal=INT,QUIT", "setsid", "--ctty", str(daemon.products / "lifectl")]
        self.command = [*program, "--socket", str(daemon.socket), *arguments]
        self.output = ""

    def __enter__(self):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 100, 0, 0))
        environment = {**os.environ, "TERM": "xterm"}
        self.process = subprocess.Popen(self.command, stdin=slave, stdout=slave, stderr=slave, env=environment)
        os.close(slave)
        os.set_blocking(self.master, False)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.read()
        os.close(self.master)

    def read(self):
        try:
            while chunk := os.read(self.master, 65536):
                self.output += chunk.decode(errors="replace")
        except OSError:
            # Nothing more now, or for ever.
            pass
        return self.output

    def wait_for(self, pattern):
        wait_for(lambda: re.search(pattern, self.read()), what=f"{pattern!r} on the terminal")

    def press(self, key):
        os.write(self.master, key)

    def status(self):
        wait_for(lambda: self.read() and self.process.poll() is not None)
        return self.process.returncode
