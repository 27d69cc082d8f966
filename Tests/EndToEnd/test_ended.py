"""What answers say of apps that have ended."""

from takeover import manifest


def lane(daemon, app):
    lanes = daemon.lifectl.json("timeline", "--from", "daemon")["lanes"]
    return next(each for each in lanes if each["app"] == app)


def test_exit_with_an_error_is_explained_by_its_status(direct):
    manifest(direct, "app", ["sh", "-c", "exit 3"])
    direct.lifectl("launch", "app", check=False)
    direct.lifectl.wait_for_state("app", "notRunning")
    text = direct.lifectl("explain", "app").stdout
    assert "it exited with status 3" in text
    assert "or was ended by a signal" not in text
    app = lane(direct, "app")
    assert [mark["note"] for mark in app["marks"]] == ["it exited with status 3"]
