"""The daemon as an ordinary process: no systemd, no root, directories of its own."""

import os
import signal
import subprocess

from container import wait_for
from kernel import Kernel
from lifectl import Lifectl


class DirectDaemon:
    def __init__(self, products, directory):
        self.products = products
        self.runtime = directory / "run"
        self.state = directory / "state"
        self.configuration = directory / "configuration"
        self.log = directory / "log"
        for each in (self.runtime, self.state, self.configuration / "apps.d"):
            each.mkdir(parents=True)
        self.process = None
        self.kernel = Kernel()
        self.lifectl = Lifectl(self.run, str(products / "lifectl"))

    @property
    def socket(self):
        return self.runtime / "control"

    @property
    def logged(self):
        return self.log.read_text(errors="replace")

    def arguments(self):
        return [
            str(self.products / "lifed"),
            f"--runtime-directory={self.runtime}",
            f"--state-directory={self.state}",
            f"--config-directory={self.configuration}",
            "--log-target=console",
        ]

    def start(self, wrapper=()):
        """Starts the daemon, or a command that turns into it, and waits until it answers."""
        self.spawn(wrapper)
        wait_for(self._answers, what=f"an answer of the daemon; its log: {self.log}")

    def spawn(self, wrapper=()):
        arguments = [*wrapper, *self.arguments()]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _answers(self):
        assert self.process.poll() is None, self.log.read_text(errors="replace")
        return self.socket.exists() and self.lifectl("status", check=False).returncode == 0

    def suspend_soon(self, text=""):
        """Configures the daemon, so that it suspends apps after a moment in the background.

        It keeps no reserve of memory, which it would look at for ten seconds after an app was in the foreground.
        """
        timeouts = '[timeouts]\nbackground = "300ms"\n[memory]\nreserve = 0\n'
        (self.configuration / "lifed.toml").write_text(f"{text}\n{timeouts}")
        assert self.lifectl.json("reload")["problems"] == []

    def stop(self):
        """Asks it to end and returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    def run(self, arguments, check=True, timeout=60):
        environment = {**os.environ, "LIFED_SOCKET": str(self.socket)}
        result = subprocess.run(
            arguments, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout
        )
        if check and result.returncode != 0:
            raise AssertionError(f"{arguments}: status {result.returncode}\n{result.stdout}{result.stderr}")
        return result
