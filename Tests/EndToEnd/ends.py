"""The ends of deadlines as `explain` says them: no restart of the daemon moves one."""

import contextlib

from driver import call, connect

LAUNCH = ("will-finish-launching", "did-finish-launching")
# The clock that is shown runs a little faster or slower than that of the deadlines.
SLACK = 100_000


class Ends:
    def __init__(self, daemon, apps, ledger):
        self.address = str(daemon.socket)
        self.apps = apps
        self.ledger = ledger
        self.known = {}

    def look(self):
        """Holds every deadline that runs against what was said of it before."""
        with contextlib.suppress(ConnectionError, FileNotFoundError, TimeoutError), connect(self.address) as connection:
            running = {}
            for app in self.apps:
                reply = call(connection, "org.lifed.Explain", {"id": app})
                if "error" not in reply:
                    running |= self.ends(app, reply["parameters"]["explanation"])
            for subject, end in running.items():
                if subject not in self.known:
                    continue
                self.ledger.count("deadlines seen again")
                if abs(end - self.known[subject]) > SLACK:
                    self.ledger.problem("a deadline that was moved", (subject, self.known[subject], end))
            self.known = running

    @staticmethod
    def ends(app, explanation):
        pid = explanation["details"]["app"]["pid"]
        found = {}
        for condition in explanation["conditions"]:
            end, since, names = condition.get("untilUSec"), condition.get("sinceUSec"), tuple(condition["names"])
            if end is None:
                continue
            if condition["kind"] == "callback" and names[0] in LAUNCH:
                # Both have one time together.
                found[app, pid, "launch"] = end
            elif condition["kind"] == "callback" and names[0] == "will-resign-active":
                # Behind another callback, its time begins with the answer to that.
                continue
            elif condition["kind"] == "callback":
                # What was not received is sent anew, with the whole time.
                found[app, pid, names, since // 10_000] = end
            elif condition["kind"] == "end":
                found[app, pid, "end"] = end
        return found
