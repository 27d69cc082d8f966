"""What must be so at every moment, held against what the daemon says and what the kernel shows."""

import threading
import time

from driver import call, connect
from scene import is_frozen

# Ends by request, or by the daemon's own settings.
WANTED_ENDS = {"terminate", "kill", "shutdown", "reclaimed"}
# The longest time that a wrong state may last on a busy machine. A state that lasts longer stays wrong.
PATIENCE = 30


class Checker:
    def __init__(self, keeper, scene, apps, foreground_limit, ledger):
        self.keeper = keeper
        self.scene = scene
        self.apps = apps
        self.foreground_limit = foreground_limit
        self.ledger = ledger
        self.lock = threading.Lock()
        self.suspects = {}
        self.exits = {}
        self.disturbed = {}

    def disturb(self, app):
        """Another program stops and continues the app, which the daemon may not notice."""
        self.disturbed[app] = time.monotonic()

    def list(self):
        with connect(self.keeper.address) as connection:
            reply = call(connection, "org.lifed.List", {})
        apps = reply["parameters"]["apps"]
        self.take_list(apps)
        return {app["id"]: app for app in apps}

    def take_list(self, apps):
        """An answer to List holds for one moment."""
        active = [app["id"] for app in apps if app["state"] == "active"]
        if len(active) > self.foreground_limit:
            self.ledger.problem("too many active apps", active)
        lost = self.apps.keys() - {app["id"] for app in apps}
        if lost:
            self.ledger.problem("apps are not known any more", sorted(lost))
        for app in apps:
            self.take_exit(app)

    def take_exit(self, app):
        exit = app.get("lastExit")
        with self.lock:
            known = self.exits.get(app["id"])
            self.exits[app["id"]] = exit
        if not exit or known and close(known["timeUSec"], exit["timeUSec"]) or app["id"] not in self.apps:
            return
        allowed = WANTED_ENDS | self.apps[app["id"]].ends
        if exit["reason"] not in allowed and not self.ledger.was_harmed(app["id"], known["timeUSec"] / 1e6 if known else 0):
            self.ledger.problem("an app ended without a request", app)

    # What takes a look at the kernel: it is true only if the daemon says the same before and after.

    def look(self):
        before = self.list()
        processes = self.scene.look()
        trees = {}
        for process in processes:
            if process.app and process.state not in "ZX":
                trees.setdefault(process.app, []).append(process)
        after = self.list()
        found = set()
        for app, tree in trees.items():
            found |= self.look_at(app, tree, before.get(app), after.get(app))
        for app, description in after.items():
            if description["state"] in ("active", "background", "suspended") and same(before.get(app), description):
                if app not in trees:
                    found.add(("an app that runs has no process", app, description["sinceUSec"] // 1_000_000))
        for process in processes:
            if process.state == "Z" and process.parent == self.keeper.pid:
                found.add(("a zombie of the daemon", process.pid, process.start))
        self.judge(found)
        self.ledger.count("looks")

    def look_at(self, app, tree, before, after):
        if not same(before, after) and (before or after):
            return set()
        state = after["state"] if after else "notRunning"
        detail = [(each.pid, each.name, each.state) for each in tree]
        if state == "suspended":
            held = all(each.state == "T" for each in tree) or all(each.state == "T" or is_frozen(each.pid) for each in tree)
            if not held and not self.is_disturbed(app, after):
                return {("suspended and not stopped", app, after["sinceUSec"] // 1_000_000)}
        elif state == "notRunning":
            return {("a process of an app that does not run", app, each.key) for each in tree}
        elif any(each.state == "T" for each in tree) and app not in self.disturbed:
            stopped = [each.key for each in tree if each.state == "T"]
            return {("a stopped process of an app that runs", app, state, str(detail), *stopped)}
        return set()

    def is_disturbed(self, app, description):
        """True if another program has stopped or continued it since it was suspended."""
        when = self.disturbed.get(app)
        return when is not None and time.time() - description["sinceUSec"] / 1e6 > time.monotonic() - when

    def judge(self, found):
        """A finding that lasts too long is a problem, and is told once."""
        now = time.monotonic()
        self.suspects = {each: self.suspects.get(each, now) for each in found}
        for suspect, since in self.suspects.items():
            if since is not None:
                self.ledger.measure(f"longest seen: {suspect[0]} (s)", now - since)
            if since is not None and now - since > PATIENCE:
                self.suspects[suspect] = None
                self.ledger.problem(suspect[0], suspect[1:])
        for app, when in list(self.disturbed.items()):
            if now - when > PATIENCE:
                self.disturbed.pop(app, None)

    def confirm_suspended(self, app):
        """The answer was that every process is stopped, so it has to be so now, unless the app is elsewhere by now."""
        tree = self.scene.mine().get(app["id"], [])
        running = [each for each in tree if each.state not in "Tt" and not is_frozen(each.pid)]
        if not running or app["id"] in self.disturbed:
            return
        with connect(self.keeper.address) as connection:
            reply = call(connection, "org.lifed.Describe", {"id": app["id"]})
        now = (reply.get("parameters") or {}).get("details", {}).get("app")
        if same(app, now):
            self.ledger.count("suspended and found running (a stranger's SIGCONT, or a fork)")
            self.suspects.setdefault(("suspended and not stopped", app["id"], app["sinceUSec"] // 1_000_000), time.monotonic())

    # When no client does anything any more.

    def at_rest(self):
        """Every app, once all of them are where they are to be; nothing before that."""
        apps = self.list()
        return apps if all(map(is_at_rest, apps.values())) else None

    def strict(self):
        """Nothing changes any more, so nothing needs patience."""
        self.disturbed.clear()
        self.suspects.clear()
        deadline = time.monotonic() + PATIENCE
        self.look()
        while self.suspects and time.monotonic() < deadline:
            time.sleep(0.2)
            self.look()
        for suspect in self.suspects:
            self.ledger.problem("at rest: " + suspect[0], suspect[1:])


def same(one, other):
    """True if an app has been in the same state of the same launch all the time."""
    keys = ("state", "pid", "reason")
    return bool(one and other) and close(one["sinceUSec"], other["sinceUSec"]) and all(one.get(key) == other.get(key) for key in keys)


def close(one, other):
    """True if two times are the same: the daemon finds each anew, from two clocks."""
    return abs(one - other) < 1000


def is_at_rest(app):
    holders = ("task", "player", "returner", "crasher", "leaver")
    if app["id"].startswith(holders) and app["state"] in ("background", "notRunning"):
        return True
    return app["state"] == app["target"]
