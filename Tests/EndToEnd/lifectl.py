"""lifectl as the tests use it: a command that answers in JSON."""

import json

from container import wait_for


class Lifectl:
    """`run` takes an argument list and the options of Container.run."""

    def __init__(self, run, program="lifectl"):
        self._run = run
        self._program = program

    def __call__(self, *arguments, check=True, **options):
        return self._run([self._program, *arguments], check=check, **options)

    def json(self, *arguments, **options):
        # Options go before the command of "run", which takes everything after "--".
        at = arguments.index("--") if "--" in arguments else len(arguments)
        return json.loads(self(*arguments[:at], "--json", *arguments[at:], **options).stdout)

    def apps(self):
        return {app["id"]: app for app in self.json("list")["apps"]}

    def app(self, identifier):
        return self.apps()[identifier]

    def state(self, identifier):
        app = self.apps().get(identifier)
        return app["state"] if app else "notRunning"

    def pid(self, identifier):
        return self.app(identifier)["pid"]

    def start(self, identifier, *command, background=False):
        """Runs a command ad hoc and returns the pid of its first process."""
        options = ["--background"] if background else []
        self("run", "--id", identifier, *options, "--", *command)
        return self.pid(identifier)

    def wait_for_state(self, identifier, state, timeout=60):
        wait_for(lambda: self.state(identifier) == state, timeout, f"{identifier} is {state}")
