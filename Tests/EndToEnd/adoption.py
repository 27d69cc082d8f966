"""What the tests of adoption share."""

from driver import call, connect


def found(daemon, pid):
    """The id of the app that a process belongs to, if any."""
    with connect(str(daemon.socket)) as connection:
        app = call(connection, "org.lifed.FindApp", {"pid": pid})["parameters"].get("app")
    return app and app["id"]


def reaped(start):
    """Asks for the ends of those who have ended, as their shell would."""
    for process in start.processes:
        process.poll()
