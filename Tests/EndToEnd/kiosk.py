"""The kiosk of the recipes: one app of the user `kiosk`, which is launched again when it is killed."""

import contextlib

from container import wait_for

# It draws something, and a container has no display.
BROWSER = "/usr/bin/firefox-esr"


@contextlib.contextmanager
def stand_ins(container, *programs, command="sleep infinity"):
    """Programs of the pages that do nothing, or run a command."""
    for program in programs:
        container.write(program, f"#!/bin/sh\nexec {command}\n", mode=0o755)
    yield
    container.run(["rm", *programs])


@contextlib.contextmanager
def removed_kiosk(container, service):
    """Removes what the commands of a page set up."""
    try:
        yield
    finally:
        service.systemctl("disable", "lifed.socket", "lifed.service", check=False)
        service.reset()
        container.run(["userdel", "--force", "--remove", "kiosk"], check=False)


def assert_comes_back(container, service):
    """Kills the browser, and waits for the next one. Returns the pid of the first."""
    service.lifectl.wait_for_state("browser", "active")
    pid = service.lifectl.pid("browser")
    container.run(["kill", "-KILL", str(pid)])
    wait_for(lambda: service.lifectl.pid("browser") not in (None, pid), what="the browser is launched again")
    service.lifectl.wait_for_state("browser", "active")
