"""Random commands, right and wrong ones, through lifectl and over the socket: the daemon does what a small model says.

LIFED_EXAMPLES=N tries N histories instead of the few that are always the same.
"""

import contextlib
import os
import signal
import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis.stateful import initialize, invariant

import programs
from container import wait_for
from direct import DirectDaemon
from driver import call, connect
from examples import SETTINGS
from histories import History, action
from model import (
    DONE, FAILED, INTERRUPTED, INVALID_APP, LAUNCH_FAILED, NO_SUCH_APP, NO_SUCH_INTERRUPTION, NOT_RUNNING, REFUSED, USAGE, Model,
)

ROOT = Path(__file__).resolve().parents[2]
DECLARED = ["clock", "maps", "notes", "player"]
AD_HOC = ["tool", "game"]
APPS = st.sampled_from([*DECLARED, *AD_HOC, "nobody"])
# The two ways to ask for the same.
WAYS = st.sampled_from(["lifectl", "varlink"])
METHODS = {
    "launch": "Launch", "focus": "Focus", "suspend": "Suspend", "resume": "Resume", "terminate": "Terminate", "kill": "Kill",
}
STATUSES = {
    "NoSuchApp": NO_SUCH_APP, "InvalidApp": INVALID_APP, "NotRunning": NOT_RUNNING, "Refused": REFUSED,
    "LaunchFailed": LAUNCH_FAILED, "Failed": FAILED, "Interrupted": INTERRUPTED, "NoSuchInterruption": NO_SUCH_INTERRUPTION,
}


class Comparison(History):
    @initialize(foreground_limit=st.integers(1, 2))
    def begin(self, foreground_limit):
        self.stack = contextlib.ExitStack()
        directory = Path(self.stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        self.daemon = DirectDaemon(ROOT / ".build" / os.environ.get("LIFED_BUILD", "release"), directory / "daemon")
        (self.daemon.configuration / "lifed.toml").write_text(
            f"foregroundLimit = {foreground_limit}\n[timeouts]\nbackground = '0s'\n"
        )
        for app in DECLARED:
            extra = 'suspend = "never"\n' if app == "player" else ""
            command = programs.FAMILY if app == "maps" else programs.IDLE
            words = ", ".join("'''" + word + "'''" for word in command)
            (self.daemon.configuration / f"apps.d/{app}.toml").write_text(f"command = [{words}]\n{extra}")
        self.daemon.start()
        self.stack.callback(self.daemon.stop)
        self.connection = self.stack.enter_context(connect(str(self.daemon.socket)))
        self.model = Model(foreground_limit, frozenset(DECLARED), frozenset({"player"}))
        # A running app accepts more requests than one that is not running.
        for app in DECLARED:
            self.launch_in_background("varlink", app)

    def teardown(self):
        if hasattr(self, "stack"):
            self.stack.close()

    def compare(self, way, expected, arguments, method, parameters):
        """Asks in one way, and compares what is said with what the model says."""
        if way == "lifectl":
            result = self.daemon.lifectl(*arguments, check=False)
            assert result.returncode == expected, (arguments, result.stderr)
            assert len(result.stderr.splitlines()) == (expected != DONE)
        else:
            reply = call(self.connection, f"org.lifed.{method}", parameters)
            error = reply.get("error", "").removeprefix("org.lifed.")
            assert STATUSES.get(error, error or DONE) == expected, (method, parameters, reply)
            assert not error or reply["parameters"]["reason"] and reply["parameters"]["remedy"]

    def about(self, way, command, app, expected):
        self.compare(way, expected, [command, app], METHODS[command], {"id": app})

    @action(way=WAYS, app=APPS)
    def launch(self, way, app):
        self.about(way, "launch", app, self.model.launch(app))

    @action(way=WAYS, app=APPS)
    def launch_in_background(self, way, app):
        arguments = ["launch", "--background", app]
        self.compare(way, self.model.launch_in_background(app), arguments, "Launch", {"id": app, "background": True})

    @action(way=WAYS, app=APPS)
    def focus(self, way, app):
        self.about(way, "focus", app, self.model.focus(app))

    @action(way=WAYS, app=APPS)
    def suspend(self, way, app):
        self.about(way, "suspend", app, self.model.suspend(app))

    @action(way=WAYS, app=APPS)
    def resume(self, way, app):
        self.about(way, "resume", app, self.model.resume(app))

    @action(way=WAYS, app=APPS, command=st.sampled_from(["terminate", "kill"]))
    def end(self, way, app, command):
        self.about(way, command, app, self.model.end(app))

    @action(way=WAYS, app=st.sampled_from([*DECLARED[:2], *AD_HOC]))
    def run(self, way, app):
        command = programs.IDLE
        parameters = {"id": app, "command": command}
        self.compare(way, self.model.run(app), ["run", "--id", app, "--", *command], "Run", parameters)

    @action(way=WAYS, app=st.sampled_from(["..", "a b", "x" * 129, "ümlaut", ".hidden"]))
    def run_under_an_id_that_is_none(self, way, app):
        parameters = {"id": app, "command": programs.IDLE}
        self.compare(way, self.model.run(app, valid=False), ["run", "--id", app, "--", *programs.IDLE], "Run", parameters)

    @action(way=WAYS)
    def run_what_does_not_exist(self, way):
        parameters = {"id": "missing", "command": ["/nonexistent"]}
        expected = self.model.run("missing", exists=False)
        self.compare(way, expected, ["run", "--id", "missing", "--", "/nonexistent"], "Run", parameters)
        wait_for(lambda: "missing" not in self.daemon.lifectl.apps())

    @action(way=WAYS)
    def home(self, way):
        self.compare(way, self.model.home(), ["home"], "Home", {})

    @action(way=WAYS, name=st.sampled_from(["call", "alert"]))
    def begin_interruption(self, way, name):
        expected = self.model.begin_interruption(name)
        self.compare(way, expected, ["interrupt", "begin", "--name", name], "BeginInterruption", {"name": name})

    @action(way=WAYS, name=st.sampled_from(["call", "alert"]))
    def end_interruption(self, way, name):
        expected = self.model.end_interruption(name)
        self.compare(way, expected, ["interrupt", "end", "--name", name], "EndInterruption", {"name": name})

    @action(way=WAYS)
    def lock(self, way):
        self.compare(way, self.model.lock(), ["simulate", "lock"], "Simulate", {"event": "lock"})

    @action(way=WAYS)
    def unlock(self, way):
        self.compare(way, self.model.unlock(), ["simulate", "unlock"], "Simulate", {"event": "unlock"})

    @action(arguments=st.sampled_from([["focus"], ["frobnicate"], ["focus", "a", "b"], ["simulate", "flood"], ["run"]]))
    def use_lifectl_wrongly(self, arguments):
        self.compare("lifectl", USAGE, arguments, None, None)

    @action(
        wrong=st.sampled_from([
            ("Focus", {}, "InvalidParameter"), ("Launch", {"id": 7}, "InvalidParameter"),
            ("Simulate", {"event": "flood"}, "InvalidParameter"), ("Frobnicate", {}, "MethodNotFound"),
            ("BeginInterruption", {"name": "a b"}, "InvalidParameter"), ("Home", {"id": "clock"}, "InvalidParameter"),
            ("Run", {"command": []}, "InvalidParameter"),
        ])
    )
    def call_wrongly(self, wrong):
        method, parameters, error = wrong
        reply = call(self.connection, f"org.lifed.{method}", parameters)
        assert reply["error"] == f"org.varlink.service.{error}", (wrong, reply)

    @action(app=APPS)
    def somebody_else_kills_an_app(self, app):
        if app not in self.model.running:
            return
        os.kill(self.daemon.lifectl.pid(app), signal.SIGKILL)
        self.model.ended(app)
        wait_for(lambda: self.daemon.lifectl.state(app) == "notRunning", what=f"the end of {app}")

    @action()
    def the_daemon_is_killed_and_started_again(self):
        self.connection.close()
        self.daemon.process.kill()
        self.daemon.process.wait()
        self.daemon.start()
        self.connection = self.stack.enter_context(connect(str(self.daemon.socket)))

    @invariant()
    def all_is_as_the_model_says(self):
        if not hasattr(self, "model"):
            return
        expected = {app: self.model.state(app) for app in self.model.apps()}
        found = {}

        def agrees():
            found.clear()
            found.update({app["id"]: app["state"] for app in self.daemon.lifectl.apps().values()})
            return found == expected

        try:
            wait_for(agrees, timeout=30)
        except AssertionError:
            raise AssertionError(f"the daemon says {found}, the model {expected}") from None
        status = self.daemon.lifectl.json("status")["status"]
        assert status["foreground"] == list(filter(self.model.in_sight, self.model.front))
        assert set(status["interruptions"]) == self.model.interruptions
        assert status["foregroundBlockers"] == (["locked"] if self.model.locked else [])
        for app in self.daemon.lifectl.apps().values():
            if app["state"] != "notRunning":
                # A child that has ended while its parent is stopped is not waited for.
                tree = [each for each in self.daemon.kernel.tree(app["pid"]) if each.state != "Z"]
                # A parent in vfork(2) sleeps, uninterruptibly, until its stopped child goes on.
                allowed = set("TD") if app["state"] == "suspended" else set("RSD")
                assert tree and {each.state for each in tree} <= allowed, (app, tree)


TestComparison = Comparison.TestCase
TestComparison.settings = SETTINGS
