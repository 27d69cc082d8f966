"""The kernel's own view of processes, read from a proc file system."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from container import wait_for


def reports_switches():
    """True if the kernel tells this user when it gives a processor to a process of theirs."""
    limit = Path("/proc/sys/kernel/perf_event_paranoid")
    return limit.exists() and (os.geteuid() == 0 or int(limit.read_text()) <= 2)


@dataclass
class Stat:
    pid: int
    name: str
    state: str
    parent: int
    ticks: int
    started: int


class Kernel:
    def __init__(self, proc="/proc"):
        self.proc = Path(proc)

    def stat(self, pid):
        """What /proc/PID/stat says, or None when there is no such process."""
        try:
            text = (self.proc / str(pid) / "stat").read_text(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            return None
        # A name may hold spaces and parentheses: the fields after it begin behind the last one.
        head, _, tail = text.rpartition(")")
        fields = tail.split()
        ticks = int(fields[11]) + int(fields[12])
        return Stat(pid, head.partition("(")[2], fields[0], int(fields[1]), ticks, int(fields[19]))

    def all(self):
        pids = [int(name) for name in os.listdir(self.proc) if name.isdigit()]
        return [stat for stat in map(self.stat, pids) if stat]

    def tree(self, root):
        """A process and all of its descendants."""
        processes = self.all()
        found = [stat for stat in processes if stat.pid == root]
        for stat in found:
            found += [child for child in processes if child.parent == stat.pid]
        return found

    def is_stopped(self, pid):
        """True if every process of a tree is stopped; an empty tree is not.

        A shell waits uninterruptibly in vfork(2), and takes no step, until its child has executed a program. A child that is
        stopped before that holds its parent in this state.
        """
        tree = [stat for stat in self.tree(pid) if stat.state not in "ZX"]
        holders = {stat.parent for stat in tree if stat.state == "T"}
        return bool(tree) and all(stat.state == "T" or (stat.state == "D" and stat.pid in holders) for stat in tree)

    def exists(self, pid):
        stat = self.stat(pid)
        return stat is not None and stat.state not in "ZX"

    def zombies(self, parent):
        return [stat for stat in self.all() if stat.parent == parent and stat.state == "Z"]

    def ticks(self, pid):
        """Processor time of a tree, in clock ticks."""
        return sum(stat.ticks for stat in self.tree(pid))

    def descriptors(self, pid):
        """The number of descriptors."""
        return len(os.listdir(self.proc / str(pid) / "fd"))

    def descriptor(self, pid, number):
        """What a descriptor of a process refers to."""
        return os.readlink(self.proc / str(pid) / "fd" / str(number))

    def own_memory(self, pid):
        """The pages of a process, in kB, that are no file's: what it has allocated."""
        for line in (self.proc / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Anonymous:"):
                return int(line.split()[1])
        raise AssertionError("no Anonymous")

    def wakeups(self, pid):
        """The number of times that a process has gone to sleep and been woken."""
        for line in (self.proc / str(pid) / "status").read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches:"):
                return int(line.split()[1])
        raise AssertionError("no voluntary_ctxt_switches")

    def wait_until_quiet(self, pid, seconds=3, timeout=15):
        """Waits until a process is not woken for some seconds. The length is what is measured: nothing happens in it."""

        def is_quiet():
            before = self.wakeups(pid)
            time.sleep(seconds)
            return self.wakeups(pid) == before

        # libsystemd wakes once for a timer that was disarmed.
        wait_for(is_quiet, timeout=timeout, what=f"{seconds} seconds without a wake-up")

    def gains_time(self, pid, within=60):
        """True if a tree gets processor time; the limit only bounds a failure."""
        before = self.ticks(pid)
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            if self.ticks(pid) > before:
                return True
            time.sleep(0.02)
        return False
