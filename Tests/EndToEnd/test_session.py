"""The installed service with a real logind: what is in the foreground follows the session, and the machine waits for the apps."""

import programs
import pytest
from container import wait_for
from test_machine import inhibitors, sleepy  # noqa: F401

pytestmark = pytest.mark.usefixtures("lifed")


def follow(container, lifed, logind):
    """A session on the seat, and the service knowing of it: it is told of a lock as soon as it follows."""
    session = logind.open_session("kiosk")
    lifed.lifectl("run", "--id", "clock", "--", *programs.IDLE)
    wait_for(lambda: session in follows(lifed), what="the service follows the session")
    return session


def follows(lifed):
    """The sessions that the service's journal names."""
    entries = lifed.container.run(["journalctl", "-u", "lifed.service", "-o", "cat"]).stdout.splitlines()
    return [entry.split()[-1] for entry in entries if entry.startswith("lifed follows session ")]


def test_what_is_in_front_leaves_with_the_session_and_returns(container, lifed, logind):  # noqa: F811
    session = follow(container, lifed, logind)
    container.run(["loginctl", "lock-session", session])
    lifed.lifectl.wait_for_state("clock", "suspended")
    assert not lifed.lifectl.app("clock")["foreground"]
    container.run(["loginctl", "unlock-session", session])
    lifed.lifectl.wait_for_state("clock", "active")


def test_a_restarted_service_knows_that_the_session_is_locked(container, lifed, logind):  # noqa: F811
    session = follow(container, lifed, logind)
    container.run(["loginctl", "lock-session", session])
    lifed.lifectl.wait_for_state("clock", "suspended")
    before = len(follows(lifed))
    container.run(["systemctl", "restart", "lifed.service"])
    wait_for(lambda: len(follows(lifed)) > before)
    assert lifed.lifectl.state("clock") == "suspended"
    container.run(["loginctl", "unlock-session", session])
    lifed.lifectl.wait_for_state("clock", "active")


def locked_hint(logind, session, locked):
    """What a screen locker says of the session, as a command."""
    path = logind.call("GetSession", "s", session).split('"')[1]
    name = "org.freedesktop.login1"
    return ["busctl", "call", name, path, f"{name}.Session", "SetLockedHint", "b", str(locked).lower()]


@pytest.mark.parametrize("locked", [True, False], ids=["locked", "unlocked"])
def test_what_happens_to_the_session_while_the_service_is_restarted_counts(
    container, lifed, logind, locked  # noqa: F811
):
    session = follow(container, lifed, logind)
    states = {True: "suspended", False: "active"}
    if not locked:
        container.run(["loginctl", "lock-session", session])
        container.run(locked_hint(logind, session, True))
    lifed.lifectl.wait_for_state("clock", states[not locked])
    # The old one has ended when this runs, and the new one is not there yet.
    lifed.drop_in(f"[Service]\nExecStartPre=+/usr/bin/{' '.join(locked_hint(logind, session, locked))}\n")
    container.run(["systemctl", "restart", "lifed.service"])
    lifed.lifectl.wait_for_state("clock", states[locked])


def test_the_machine_waits_until_the_apps_sleep(container, lifed, sleepy):  # noqa: F811
    lifed.lifectl("run", "--id", "sleeper", "--", *programs.IDLE)
    wait_for(lambda: "lifed" in inhibitors(container))
    container.run(["systemctl", "suspend", "--no-block"])
    # It wakes at once, for its sleep does nothing; but not before the app was suspended.
    way = ["inactive", "background", "suspended", "background", "inactive", "active"]
    wait_for(lambda: transitions(lifed) == way, timeout=60, what=f"{way}")


def transitions(lifed):
    """The states that the app got to after it was active for the first time."""
    entries = lifed.container.run(["journalctl", "-u", "lifed.service", "-o", "cat"]).stdout.splitlines()
    states = [entry.split("→")[1].split()[0] for entry in entries if entry.startswith("sleeper: ")]
    return states[states.index("active") + 1 :] if "active" in states else []
