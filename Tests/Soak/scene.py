"""The kernel's view of a soak: every process that the daemon's apps have started, whatever its parent is by now."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Process:
    pid: int
    start: int
    parent: int
    name: str
    state: str
    app: str | None

    @property
    def key(self):
        return self.pid, self.start


class Scene:
    """Knows the apps' processes by what the daemon put into their environment."""

    # A process that has not yet become its program has another environment; later looks find it.
    looks = 20

    def __init__(self, state_directory):
        self.mark = f"LIFECYCLE_STATE_DIR={state_directory}/apps/".encode()
        self.apps = {}
        self.seen = {}

    def look(self):
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit() and (process := self._read(int(name))):
                found.append(process)
        present = {process.key for process in found}
        # Copies, because several clients look at the same time.
        self.apps = {key: app for key, app in list(self.apps.items()) if key in present}
        self.seen = {key: count for key, count in list(self.seen.items()) if key in present}
        return found

    def mine(self):
        """The apps' processes by the apps' ids."""
        result = {}
        for process in self.look():
            if process.app and process.state not in "ZX":
                result.setdefault(process.app, []).append(process)
        return result

    def _read(self, pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                text = file.read()
            head, _, tail = text.rpartition(")")
            fields = tail.split()
            key = pid, int(fields[19])
            return Process(pid, key[1], int(fields[1]), head.partition("(")[2], fields[0], self._app(key))
        except (FileNotFoundError, ProcessLookupError):
            return None

    def _app(self, key):
        if key in self.apps:
            return self.apps[key]
        self.seen[key] = self.seen.get(key, 0) + 1
        if self.seen[key] > self.looks:
            return None
        try:
            with open(f"/proc/{key[0]}/environ", "rb") as file:
                variables = file.read().split(b"\0")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            return None
        if any(each.startswith(self.mark) for each in variables):
            self.apps[key] = next(each[17:].decode() for each in variables if each.startswith(b"LIFECYCLE_APP_ID="))
        return self.apps.get(key)


def is_frozen(pid):
    """True if a process is in a frozen cgroup (version 2)."""
    try:
        with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
            name = next(line[3:].strip() for line in file if line.startswith("0::"))
        with open(f"{_root()}{name}/cgroup.events", encoding="utf-8") as file:
            return "frozen 1" in file.read()
    except (OSError, StopIteration):
        return False


def _root():
    with open("/proc/mounts", encoding="utf-8") as mounts:
        return next((line.split()[1] for line in mounts if line.split()[2] == "cgroup2"), "")
