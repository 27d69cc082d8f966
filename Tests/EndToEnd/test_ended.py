"""What answers say of apps that have ended, and of the time before a restart of the daemon."""

import pytest

import programs
from restoration import manifest, start_again


def lane(daemon, app):
    lanes = daemon.lifectl.json("timeline", "--from", "daemon")
    return lanes, next(each for each in lanes["lanes"] if each["app"] == app)


def test_timeline_after_a_restart_begins_when_the_app_did(mortal):
    mortal.lifectl.start("one", *programs.IDLE)
    since = mortal.lifectl.app("one")["sinceUSec"]
    start_again(mortal)
    mortal.lifectl.start("two", *programs.IDLE)
    lanes, one = lane(mortal, "one")
    # The lanes begin ten minutes ago.
    assert lanes["startUSec"] < since - 60_000_000
    assert abs(one["spans"][0]["startUSec"] - since) < 1_000_000


def test_exit_with_an_error_is_explained_by_its_status(direct):
    manifest(direct, "app", ["sh", "-c", "exit 3"])
    direct.lifectl("launch", "app", check=False)
    direct.lifectl.wait_for_state("app", "notRunning")
    text = direct.lifectl("explain", "app").stdout
    assert "it exited with status 3" in text
    assert "or was ended by a signal" not in text
    _, app = lane(direct, "app")
    assert [mark["note"] for mark in app["marks"]] == ["it exited with status 3"]


@pytest.fixture
def forbidden(tmp_path):
    program = tmp_path / "forbidden"
    program.write_text("#!/bin/sh\nexec sleep infinity\n")
    program.chmod(0o600)
    return program


def test_failed_launch_is_explained(mortal, forbidden):
    # As long as it is no program, it is a mistake in the manifest.
    forbidden.chmod(0o755)
    manifest(mortal, "app", [str(forbidden)])
    forbidden.chmod(0o600)
    assert mortal.lifectl("launch", "app", check=False).returncode != 0
    text = mortal.lifectl("explain", "app").stdout.lower()
    assert text.count("permission denied") == 2
    assert "permission denied" in mortal.lifectl("status", "app").stdout.lower()
    forbidden.chmod(0o755)
    start_again(mortal)
    text = mortal.lifectl("explain", "app").stdout
    assert "permission denied" in text.lower()
    assert "; correct what the message names, and try again\n" in text
    mortal.lifectl("launch", "app")
    details = mortal.lifectl.json("status", "app")["details"]
    assert details.get("launchFailure") is None and not details["ended"]


def test_failed_launch_of_an_ad_hoc_app_is_explained(direct, forbidden):
    assert direct.lifectl("run", "--id", "app", "--", str(forbidden), check=False).returncode != 0
    assert "permission denied" in direct.lifectl("explain", "app").stdout.lower()
    assert direct.lifectl.json("status", "app")["details"]["launchFailure"]


def test_ad_hoc_app_that_was_ended_for_its_memory_is_known(mortal):
    mortal.lifectl.start("app", *programs.IDLE)
    mortal.lifectl.start("other", *programs.IDLE)
    mortal.lifectl.wait_for_state("app", "suspended")
    assert mortal.lifectl.json("simulate", "memory", "critical")["reclaimed"] == ["app"]
    assert "app" not in mortal.lifectl.apps()

    def check():
        details = mortal.lifectl.json("status", "app")["details"]
        assert details["ended"] and details["app"]["state"] == "notRunning"
        exit = details["app"]["lastExit"]
        assert (exit["state"], exit["reason"]) == ("suspended", "reclaimed")
        assert "simulated" in exit["reclaim"]["cause"]
        text = mortal.lifectl("explain", "app").stdout
        assert "its memory was needed: a client simulated" in text

    check()
    start_again(mortal)
    check()
    # All apps end, and so does what is kept for the next daemon that goes on with them.
    mortal.stop()
    mortal.start()
    check()
    mortal.lifectl.start("app", *programs.IDLE)
    assert not mortal.lifectl.json("status", "app")["details"]["ended"]


def test_the_last_hundred_that_ended_are_known(direct):
    for number in range(103):
        direct.lifectl("run", "--background", "--id", f"app{number}", "--", "true", check=False)
    for number in (3, 102):
        direct.lifectl.wait_for_state(f"app{number}", "notRunning")
        assert direct.lifectl.json("status", f"app{number}")["details"]["app"]["lastExit"]["exitCode"] == 0
    for number in (0, 2):
        result = direct.lifectl("status", f"app{number}", check=False)
        assert "no such app" in result.stderr
