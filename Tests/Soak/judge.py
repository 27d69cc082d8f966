"""Checks that an answer says what the interface promises."""

ABOUT_APP = {
    "NoSuchApp", "NotRunning", "Refused", "Superseded", "Interrupted", "Unanswered", "Ended", "LaunchFailed", "Failed", "Ambiguous",
}
# What may keep the apps in the foreground from being where they are to be.
FRONT = {"Superseded", "Interrupted", "Ended", "Failed"}
ERRORS = {
    "Focus": ABOUT_APP, "Launch": ABOUT_APP, "Open": ABOUT_APP, "ContinueActivity": ABOUT_APP, "Wake": ABOUT_APP,
    "Suspend": ABOUT_APP, "Resume": ABOUT_APP, "Terminate": ABOUT_APP, "Kill": ABOUT_APP,
    "Restart": ABOUT_APP,
    "Home": FRONT | {"Refused", "LaunchFailed"}, "Describe": {"NoSuchApp"},
    "Run": ABOUT_APP | {"InvalidApp"}, "BeginInterruption": FRONT | {"Refused"},
    "EndInterruption": FRONT | {"Refused", "LaunchFailed", "NoSuchInterruption"}, "SimulateMemoryPressure": {"Refused", "Failed"},
    "Simulate": FRONT, "List": set(), "GetStatus": set(), "Reload": set(), "Frobnicate": set(),
}
WRONG_CALL = {"org.varlink.service.InvalidParameter", "org.varlink.service.MethodNotFound"}
PROMISES = {
    "Focus": {"active"}, "Suspend": {"suspended"}, "Terminate": {"notRunning"}, "Kill": {"notRunning"},
    "Restart": {"active", "background", "suspended"},
    "Resume": {"active", "inactive", "background"},
}


class Judge:
    def __init__(self, ledger, checker):
        self.ledger = ledger
        self.checker = checker

    def reply(self, method, parameters, reply):
        if error := reply.get("error"):
            return self.error(method, parameters, error, reply.get("parameters") or {})
        self.ledger.count("requests fulfilled")
        app = (reply.get("parameters") or {}).get("app")
        promised = PROMISES.get(method)
        if method == "Launch" and not parameters.get("background"):
            promised = {"active"}
        if promised and (not app or app["id"] != parameters["id"] or app["state"] not in promised):
            self.ledger.problem("an answer breaks its promise", f"{method} {parameters}: {app}")
        elif method == "Suspend":
            self.checker.confirm_suspended(app)
        elif method == "List":
            self.checker.take_list(reply["parameters"]["apps"])

    def error(self, method, parameters, error, detail):
        self.ledger.count("requests refused")
        interface, _, name = error.rpartition(".")
        if error in WRONG_CALL:
            return
        if interface != "org.lifed" or name not in ERRORS[method]:
            self.ledger.problem("an unexpected error", f"{method} {parameters}: {error} {detail}")
        elif not detail.get("reason") or not detail.get("remedy"):
            self.ledger.problem("an error without a reason", f"{method} {parameters}: {error} {detail}")
