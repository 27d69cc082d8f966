"""Starts connected apps, and reads what they have written down."""

import sys
from dataclasses import dataclass
from pathlib import Path

from container import wait_for
from far_end import NEXT

LISTENER = str(Path(__file__).with_name("listener.py"))


@dataclass
class Note:
    time: int
    app: str
    kind: str
    text: str


class Listeners:
    def __init__(self, daemon, log):
        self.daemon = daemon
        self.log = log

    def command(self, *options):
        return [sys.executable, LISTENER, str(self.log), *options]

    def manifest(self, identifier, *options, extra=""):
        words = ", ".join("'''" + word + "'''" for word in self.command(*options))
        path = self.daemon.configuration / "apps.d" / f"{identifier}.toml"
        path.write_text(f'command = [{words}]\n{extra}\n')
        self.daemon.lifectl("reload")

    def run(self, identifier, *options):
        """Starts one and waits until it has been told that it is active."""
        self.daemon.lifectl("run", "--id", identifier, "--", *self.command(*options))
        self.wait_until_told(identifier, "did-become-active")

    def notes(self, app=None):
        if not self.log.exists():
            return []
        # The last line may be one that is being written.
        lines = self.log.read_text().splitlines(keepends=True)
        found = [line.split(maxsplit=3) for line in lines if line.endswith("\n")]
        notes = [Note(int(time), name, kind, rest[0].strip() if rest else "") for time, name, kind, *rest in found]
        return [note for note in notes if app in (None, note.app)]

    def told(self, app):
        return [note.text for note in self.notes(app) if note.kind == "told"]

    def wait_until_told(self, app, verb, count=1):
        wait_for(lambda: sum(text.split()[0] == verb for text in self.told(app)) >= count, what=f"{app}: {verb}")


class ServiceListeners(Listeners):
    """The same in the container, as apps of the installed service."""

    directory = "/run/lifed-test"

    def __init__(self, service):
        super().__init__(service, service.container.path(f"{self.directory}/notes"))

    def command(self, *options):
        return ["python3", "/lifed-source/Tests/EndToEnd/listener.py", f"{self.directory}/notes", *options]

    def manifest(self, identifier, *options, extra=""):
        self.daemon.manifest(identifier, self.command(*options), extra)
        self.daemon.lifectl("reload")


def problems(notes, limit=1):
    """The mistakes of a history, as the apps saw it: too many active at once, or callbacks out of order."""
    last, active, found = {}, set(), []
    for note in sorted(notes, key=lambda note: note.time):
        verb = note.text.split()[0] if note.text else ""
        if note.kind == "begins":
            last.pop(note.app, None)
        if note.kind in ("begins", "crashes") or verb == "will-terminate":
            active.discard(note.app)
        if note.kind == "told" and verb in NEXT:
            if verb not in NEXT[last.get(note.app)]:
                found.append(f"{note}: after {last.get(note.app)}")
            last[note.app] = verb
        if note.kind == "told" and verb == "did-become-active":
            active.add(note.app)
        if note.kind == "answers" and verb == "will-resign-active":
            active.discard(note.app)
        if len(active) > limit:
            found.append(f"{note}: active are {sorted(active)}")
    return found
