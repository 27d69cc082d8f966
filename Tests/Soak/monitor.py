"""A subscriber that reads every change, and holds each against the one before."""

import json

from clients import Client
from driver import connect

EDGES = {
    ("notRunning", "inactive"), ("notRunning", "background"), ("inactive", "active"), ("active", "inactive"),
    ("inactive", "background"), ("background", "inactive"), ("background", "suspended"), ("suspended", "background"),
    ("inactive", "terminating"), ("background", "terminating"), ("suspended", "terminating"), ("active", "terminating"),
    ("terminating", "notRunning"), ("active", "notRunning"), ("inactive", "notRunning"), ("background", "notRunning"),
    ("suspended", "notRunning"),
}


class Monitor(Client):
    def __init__(self, name, keeper, foreground_limit, ledger):
        super().__init__(name, 0)
        self.keeper = keeper
        self.foreground_limit = foreground_limit
        self.ledger = ledger
        self.states = {}
        self.number = None

    def work(self):
        with connect(self.keeper.address) as connection:
            connection.settimeout(0.5)
            connection.sendall(json.dumps({"method": "org.lifed.Monitor", "more": True}).encode() + b"\0")
            rest = b""
            while not self.over.is_set():
                try:
                    chunk = connection.recv(1 << 20)
                except TimeoutError:
                    continue
                if not chunk:
                    return
                *messages, rest = (rest + chunk).split(b"\0")
                for message in messages:
                    self.take(json.loads(message))

    def take(self, reply):
        if "error" in reply:
            self.ledger.count(f"monitor: {reply['error']}")
            raise ConnectionResetError
        parameters = reply["parameters"]
        if parameters.get("apps") is not None:
            self.states = {app["id"]: app["state"] for app in parameters["apps"]}
        else:
            self.change(parameters["transition"])
            if parameters["number"] != self.number + 1:
                self.ledger.problem("a gap in what a monitor is told", (self.number, parameters))
        self.number = parameters["number"]
        active = [app for app, state in self.states.items() if state == "active"]
        if len(active) > self.foreground_limit:
            self.ledger.problem("a monitor saw too many active apps", (active, parameters))

    def change(self, transition):
        self.ledger.count("transitions")
        app, start, end = transition["id"], transition["from"], transition["to"]
        if self.states.get(app, "notRunning") != start:
            self.ledger.problem("a change from another state than the last", (self.states.get(app), transition))
        if (start, end) not in EDGES:
            self.ledger.problem("a change that there is not", transition)
        self.states[app] = end
