"""What the threads of a soak have counted and found wrong."""

import collections
import threading
import time


class Ledger:
    """The one thing that all threads write to."""

    def __init__(self):
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.longest = {}
        self.problems = []
        self.began = time.monotonic()
        self._harmed = {}

    def count(self, name, number=1):
        with self.lock:
            self.counts[name] += number

    def measure(self, name, seconds):
        """Keeps the greatest."""
        with self.lock:
            self.longest[name] = max(seconds, self.longest.get(name, 0))

    def problem(self, kind, detail):
        """Something that must not be. The first few of a kind are told at once, with all there is to know."""
        with self.lock:
            self.counts[f"problem: {kind}"] += 1
            self.problems.append(kind)
            if self.counts[f"problem: {kind}"] <= 5:
                print(f"PROBLEM after {time.monotonic() - self.began:.1f} s: {kind}: {detail}", flush=True)

    def harmed(self, app):
        """A process of the app was sent a signal from outside: what becomes of it now is no wonder."""
        with self.lock:
            self._harmed[app] = time.time()

    def was_harmed(self, app, since):
        """True if that happened, since a time in seconds since the epoch. A stopped process acts on it much later."""
        with self.lock:
            return self._harmed.get(app, 0) >= since
