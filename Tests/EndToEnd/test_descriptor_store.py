"""What systemd keeps for a daemon that is restarted: the channels of the connected apps."""

from pathlib import Path

from container import wait_for
from listeners import LISTENER, Listeners

LOG = "/tmp/store.log"
APPS = [f"listener-{number}" for number in range(8)]


def start_listeners(service):
    service.container.run(["rm", "-f", LOG])
    for name in APPS:
        service.manifest(name, ["/usr/bin/python3", f"/lifed-source/Tests/EndToEnd/{Path(LISTENER).name}", LOG])
    service.start()
    notes = Listeners(None, service.container.path(LOG))
    for name in APPS:
        service.lifectl("launch", name)
        notes.wait_until_told(name, "did-become-active")
    return notes


def kept(service):
    return int(service.show("NFileDescriptorStore"))


def go_on(service, notes, round):
    """Every app still hears what it is told."""
    for name in APPS:
        service.lifectl("focus", name)
        notes.wait_until_told(name, "did-become-active", count=round + 1)
    assert [note for note in notes.notes() if note.text == "of channel"] == []


def test_channels_outlive_restarts_and_crashes(service):
    notes = start_listeners(service)
    pids = {name: service.lifectl.pid(name) for name in APPS}
    wait_for(lambda: kept(service) == 2 * len(APPS))
    service.systemctl("restart", "lifed.service")
    go_on(service, notes, 1)
    before = service.pid
    service.systemctl("kill", "--kill-who=main", "--signal=KILL", "lifed.service")
    wait_for(lambda: service.pid not in (0, before))
    go_on(service, notes, 2)
    assert {name: service.lifectl.pid(name) for name in APPS} == pids


def test_of_an_app_that_has_reconnected_the_channel_that_is_open_is_kept(service):
    service.container.run(["rm", "-f", LOG])
    listener = f"/lifed-source/Tests/EndToEnd/{Path(LISTENER).name}"
    service.manifest("again", ["/usr/bin/python3", listener, LOG, "reconnects"])
    service.manifest("other", ["/usr/bin/python3", listener, LOG])
    service.start()
    notes = Listeners(None, service.container.path(LOG))
    service.lifectl("launch", "again")
    notes.wait_until_told("again", "welcome", count=2)
    wait_for(lambda: kept(service) == 2)
    before = service.pid
    service.systemctl("kill", "--kill-who=main", "--signal=KILL", "lifed.service")
    wait_for(lambda: service.pid not in (0, before))
    service.lifectl("launch", "other")
    notes.wait_until_told("again", "will-resign-active")
    notes.wait_until_told("again", "did-enter-background")
    assert kept(service) == 4


def test_nothing_is_kept_of_apps_that_are_gone(service):
    start_listeners(service)
    service.systemctl("restart", "lifed.service")
    for name in APPS:
        service.lifectl("terminate", name)
    wait_for(lambda: kept(service) == 0)


def test_many_apps_launched_at_once_are_all_taken_over(service):
    service.start()
    count = 100
    script = f"for n in $(seq {count}); do lifectl run --id app-$n --background -- sleep infinity & done; wait"
    service.container.run(["sh", "-c", script])
    pids = {name: app["pid"] for name, app in service.lifectl.apps().items()}
    assert len(pids) == count
    before = service.pid
    service.systemctl("kill", "--kill-who=main", "--signal=KILL", "lifed.service")
    wait_for(lambda: service.pid not in (0, before))
    assert {name: app["pid"] for name, app in service.lifectl.apps().items()} == pids
