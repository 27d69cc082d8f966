"""A user's own systemd, with a daemon of theirs."""

import contextlib
import subprocess


@contextlib.contextmanager
def session(container, user):
    """The user's own systemd with the daemon in it; runs commands there."""
    number = container.run(["id", "-u", user]).stdout.strip()
    runtime = f"/run/user/{number}"
    variables = {
        "XDG_RUNTIME_DIR": runtime,
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path={runtime}/bus",
        "HOME": f"/home/{user}",
    }

    def run(*command, **options):
        return container.run(list(command), user=user, environment={**variables, **options.pop("extra", {})}, **options)

    def popen(*command):
        return container.popen(
            list(command), user=user, environment=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    run.popen = popen
    container.run(["systemctl", "start", f"user@{number}.service"])
    try:
        run("systemctl", "--user", "start", "lifed.service")
        run.socket = f"{runtime}/lifed/control"
        yield run
        # It may have been removed meanwhile.
        run("systemctl", "--user", "stop", "lifed.service", check=False)
    finally:
        container.run(["systemctl", "stop", f"user@{number}.service"])
