"""Memory runs short in a booted system: the installed service ends what is suspended, and its journal says why."""

import json

from container import wait_for
from message_ids import identifiers

SETTINGS = '[timeouts]\nbackground = "0s"\n'
# The minimum is above the memory of any machine, so that the least pressure is critical, whichever process waits.
STRICT = SETTINGS + '[memory]\nwarning = 1\nwindow = "500ms"\nminimumAvailable = "1048576G"\n'


def configure(lifed, text):
    lifed.configure(text)
    lifed.lifectl("reload")


def reclaims(lifed):
    """The journal's entries about apps that were ended for their memory, by now and in this order."""
    matches = [f"MESSAGE_ID={identifiers()['reclaimed']}", f"_PID={lifed.pid}"]
    output = lifed.container.run(["journalctl", "-o", "json", *matches], check=False).stdout
    return [json.loads(line) for line in output.splitlines()]


def test_suspended_apps_are_ended_in_order_and_the_journal_explains_each(lifed, service_listeners, hog):
    configure(lifed, SETTINGS)
    names = ["one", "two", "front"]
    for name in names:
        service_listeners.manifest(name)
        lifed.lifectl("launch", name)
        service_listeners.wait_until_told(name, "did-become-active")
    for name in names[:-1]:
        lifed.lifectl.wait_for_state(name, "suspended")
    told = {name: service_listeners.told(name) for name in names[:-1]}
    configure(lifed, STRICT)
    hog()
    for name in names[:-1]:
        lifed.lifectl.wait_for_state(name, "notRunning")
    service_listeners.wait_until_told("front", "memory-warning")
    assert lifed.lifectl.state("front") == "active"
    assert {name: service_listeners.told(name) for name in told} == told
    found = wait_for(lambda: len(reclaims(lifed)) == 2 and reclaims(lifed), what="both are explained")
    assert [entry["LIFED_APP"] for entry in found] == ["one", "two"]
    assert [entry["LIFED_ORDER"].split() for entry in found] == [["one", "two"], ["two"]]
    for entry in found:
        assert "tasks waited for memory" in entry["LIFED_PRESSURE"]
        assert int(entry["LIFED_FREED_BYTES"]) >= 0
