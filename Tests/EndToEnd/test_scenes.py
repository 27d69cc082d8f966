"""Scenes of an app on the bare channel, with a real daemon."""

import pytest

from container import wait_for
from listeners import Listeners

APP = "notes"


@pytest.fixture
def listeners(direct, tmp_path):
    listeners = Listeners(direct, tmp_path / "log-of-apps")
    listeners.manifest(APP, extra='scenes = true\ncallbacks = "required"')
    return listeners


def scenes(lifectl):
    return {scene["id"]: scene["state"] for scene in lifectl.app(APP)["scenes"]}


def verbs(listeners):
    told = [text.split()[0] for text in listeners.told(APP)]
    return [verb.removeprefix("scene-") for verb in told if verb != "welcome"]


def test_a_whole_life(direct, listeners):
    lifectl = direct.lifectl
    lifectl("launch", APP)
    assert lifectl.state(APP) == "active"
    assert scenes(lifectl) == {"main": "foregroundActive"}
    listeners.wait_until_told(APP, "scene-did-become-active")
    lifectl("home")
    lifectl.wait_for_state(APP, "suspended")
    assert scenes(lifectl) == {"main": "suspended"}
    lifectl("focus", APP)
    lifectl("terminate", APP)
    assert verbs(listeners) == [
        "will-finish-launching",
        "did-finish-launching",
        "will-connect",
        "will-enter-foreground",
        "did-become-active",
        "will-resign-active",
        "did-enter-background",
        "will-enter-foreground",
        "did-become-active",
        "will-resign-active",
        "did-disconnect",
        "will-terminate",
    ]
    assert any("scene-will-connect" in text and "reason=user" in text for text in listeners.told(APP))


def test_opened_focused_sent_back_and_closed(direct, listeners):
    lifectl = direct.lifectl
    lifectl("scene", "open", APP)
    lifectl("scene", "open", APP, "--scene", "draft", "--info", "{}")
    assert scenes(lifectl)["draft"] == "foregroundActive"
    wrong = lifectl("focus", f"{APP}/main", "--wait", "answered", check=False)
    assert (wrong.returncode, "leave --wait out" in wrong.stderr) == (64, True), wrong.stderr
    lifectl("focus", f"{APP}/main")
    assert scenes(lifectl)["main"] == "foregroundActive"
    wait_for(lambda: scenes(lifectl)["draft"] == "background", what="draft has left")
    lifectl("scene", "background", f"{APP}/main")
    lifectl.wait_for_state(APP, "suspended")
    lifectl("scene", "close", f"{APP}/draft")
    assert set(scenes(lifectl)) == {"main"}
    refused = lifectl("scene", "close", f"{APP}/draft", check=False)
    assert refused.returncode == 66
    lifectl.wait_for_state(APP, "suspended")


def test_a_scene_of_the_systems_is_connected_out_of_sight(direct, listeners):
    lifectl = direct.lifectl
    lifectl("scene", "open", APP, "--background")
    assert scenes(lifectl)["main"] in ("background", "suspended")
    lifectl.wait_for_state(APP, "suspended")
    assert "will-enter-foreground" not in verbs(listeners)


def test_memory_is_taken_from_scenes_first(direct, listeners):
    lifectl = direct.lifectl
    lifectl("scene", "open", APP, "--scene", "page", "--info", "7")
    lifectl("home")
    lifectl.wait_for_state(APP, "suspended")
    pid = lifectl.pid(APP)
    assert "disconnected background scenes" in lifectl("simulate", "memory", "critical").stdout
    assert lifectl.pid(APP) == pid
    assert scenes(lifectl) == {"page": "unattached"}
    lifectl("focus", f"{APP}/page")
    assert any(
        text.startswith("scene-will-connect") and "reason=restoration" in text and "info=7" in text
        for text in listeners.told(APP)
    )


def test_scenes_outlive_the_daemon(direct, listeners):
    lifectl = direct.lifectl
    lifectl("scene", "open", APP)
    lifectl("scene", "open", APP, "--scene", "page", "--info", "7")
    wait_for(lambda: scenes(lifectl) == {"main": "background", "page": "foregroundActive"}, what="two scenes")
    direct.process.kill()
    direct.process.wait()
    direct.start()
    assert scenes(lifectl) == {"main": "background", "page": "foregroundActive"}
    lifectl("kill", APP)


@pytest.mark.parametrize("option", ["--scene", "--role"])
def test_an_id_that_is_none_is_told_with_what_was_expected(direct, listeners, option):
    result = direct.lifectl("scene", "open", APP, option, "a/b", check=False)
    assert result.returncode == 64
    assert f"{option} takes 1 to 64 letters" in result.stderr
