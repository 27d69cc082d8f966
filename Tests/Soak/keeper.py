"""Keeps a daemon running, as a service manager would: one that dies is started again at once."""

import random
import subprocess
import threading
import time

import guardian
from container import wait_for
from direct import DirectDaemon


class Keeper:
    def __init__(self, products, directory, ledger):
        self.directory = directory
        self.daemon = DirectDaemon(products, directory / "daemon")
        self.ledger = ledger
        self.address = str(self.daemon.socket)
        self.lock = threading.Lock()
        self.process = None
        self.kills = 0

    def start(self):
        with open(self.daemon.log, "ab") as log:
            self.process = subprocess.Popen(
                self.daemon.arguments(), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    @property
    def pid(self):
        return self.process.pid

    def restart(self, pause):
        """Kills the daemon, and starts another one after the pause."""
        with self.lock:
            self.process.kill()
            self.process.wait()
            self.kills += 1
            time.sleep(pause)
            self.start()

    def check(self):
        """Only the keeper may end it."""
        with self.lock:
            if self.process.poll() is not None:
                self.ledger.problem("the daemon ended by itself", f"status {self.process.returncode}, {self.last_words()}")
                self.start()

    def last_words(self):
        return self.daemon.log.read_text(errors="replace")[-2000:]

    def stop(self):
        """Asks it to end, and looks at what is left."""
        self.process.terminate()
        try:
            status = self.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            self.ledger.problem("the daemon does not end", self.last_words())
            self.process.kill()
            return
        if status != 0:
            self.ledger.problem("the daemon ended with a failure", f"status {status}, {self.last_words()}")
        for path in guardian.cgroups(self.directory):
            if path.exists():
                left = [str(each.relative_to(path)) for each in path.rglob("*") if each.is_dir()]
                self.ledger.problem("a cgroup is left", f"{path}: {left}")
        if (self.daemon.runtime / "state").exists():
            self.ledger.problem("the state file is left", self.daemon.runtime)


class Killer(threading.Thread):
    """Kills the daemon at random moments, as long as it is let."""

    def __init__(self, keeper, seed, longest):
        super().__init__(daemon=True, name="killer")
        self.keeper = keeper
        self.random = random.Random(seed)
        self.longest = longest
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(self.random.choice((0.02, 1, 1, 1)) * self.random.uniform(0, self.longest)):
            self.keeper.restart(self.random.choice((0, 0, 0.3)) * self.random.random())

    def stop(self):
        self.over.set()
        self.join()
        wait_for(lambda: self.keeper.daemon.lifectl("status", check=False).returncode == 0, what="the daemon's answer")
