"""What answers say of apps that have ended, and of the time before a restart of the daemon."""

import programs
from takeover import manifest, start_again


def lane(daemon, app):
    lanes = daemon.lifectl.json("timeline", "--from", "daemon")
    return lanes, next(each for each in lanes["lanes"] if each["app"] == app)


def test_timeline_after_a_restart_begins_when_the_app_did(mortal):
    mortal.lifectl.start("one", *programs.IDLE)
    since = mortal.lifectl.app("one")["since"]
    start_again(mortal)
    mortal.lifectl.start("two", *programs.IDLE)
    lanes, one = lane(mortal, "one")
    # The lanes begin ten minutes ago.
    assert lanes["start"] < since - 60_000_000
    assert abs(one["spans"][0]["start"] - since) < 1_000_000


def test_exit_with_an_error_is_explained_by_its_status(direct):
    manifest(direct, "app", ["sh", "-c", "exit 3"])
    direct.lifectl("launch", "app", check=False)
    direct.lifectl.wait_for_state("app", "notRunning")
    text = direct.lifectl("explain", "app").stdout
    assert "it exited with status 3" in text
    assert "or was ended by a signal" not in text
    _, app = lane(direct, "app")
    assert [mark["note"] for mark in app["marks"]] == ["it exited with status 3"]
