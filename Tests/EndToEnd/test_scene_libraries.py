"""The samples with scenes, in Swift and in C, with a real daemon."""

import os
from pathlib import Path

import pytest

from container import wait_for

ROOT = Path(__file__).resolve().parents[2]
PRODUCTS = ROOT / ".build" / os.environ.get("LIFED_BUILD", "release")
LIBRARY = ROOT / ".build" / "liblifecycle"

SAMPLES = {"swift": PRODUCTS / "ScenesApp", "c": LIBRARY / "c-scenes"}

SHOW = ["will-enter-foreground main background", "did-become-active main foregroundActive"]
COLD_START = ["will-connect main unattached user 0", *SHOW]
LEAVE = ["will-resign-active main foregroundActive", "did-enter-background main background"]


class SceneApp:
    """A sample in one daemon, with so many scenes in the foreground."""

    def __init__(self, direct, kind, directory, limit):
        self.direct = direct
        self.lifectl = direct.lifectl
        self.output = directory / "output"
        script = f"export LD_LIBRARY_PATH={LIBRARY}/lib; exec {SAMPLES[kind]} >>{self.output}"
        manifest = f"command = ['sh', '-c', '{script}']\nscenes = true\nsceneLimit = {limit}\n"
        (direct.configuration / "apps.d" / "sample.toml").write_text(manifest)
        self.lifectl("reload")

    def lines(self, scene=None):
        """The lines about scenes, or about one of them."""
        text = self.output.read_text() if self.output.exists() else ""
        lines = [line.removeprefix("scene-") for line in text.splitlines() if line.startswith("scene-")]
        return [line for line in lines if scene in (None, line.split()[1])]

    def scenes(self):
        return {scene["id"]: scene["state"] for scene in self.lifectl.app("sample")["scenes"]}

    def wait_for_scenes(self, **expected):
        wait_for(lambda: self.scenes() == expected, what=f"{expected}, not {self.scenes()}")

    def expect(self, *stories):
        """Waits until the app has said this of main, and nothing else of it."""
        expected = [line for story in stories for line in story]
        wait_for(lambda: len(self.lines("main")) >= len(expected), what=f"{expected}, not {self.lines('main')}")
        assert self.lines("main") == expected


@pytest.fixture(params=SAMPLES)
def one(request, direct, tmp_path):
    """Either sample; the one in Swift would have more scenes, for which there are no slots."""
    return SceneApp(direct, request.param, tmp_path, limit=16)


@pytest.fixture
def three(direct, tmp_path):
    return SceneApp(direct, "swift", tmp_path, limit=3)


def launch_three(app):
    app.lifectl("launch", "sample")
    app.wait_for_scenes(main="foregroundActive", inbox="foregroundActive", draft="foregroundActive")


def test_launched_left_and_back(one):
    one.lifectl("launch", "sample")
    one.expect(COLD_START)
    one.lifectl("home")
    one.lifectl.wait_for_state("sample", "suspended")
    one.lifectl("focus", "sample")
    one.expect(COLD_START, LEAVE, SHOW)


def test_what_a_scene_shows_comes_back_after_a_reclaim(one):
    one.lifectl("launch", "sample")
    # An app that is not connected yet has not told what its scene shows.
    one.expect(COLD_START)
    one.lifectl("home")
    one.lifectl.wait_for_state("sample", "suspended")
    one.lifectl("simulate", "memory", "critical", "--all")
    wait_for(lambda: one.lifectl.state("sample") == "notRunning" or one.lines()[-1].startswith("did-disconnect"))
    one.lifectl("launch", "sample")
    wait_for(lambda: any(line == "will-connect main unattached restoration 1" for line in one.lines("main")))


def test_three_scenes_in_front_one_leaves_and_one_is_closed(three):
    launch_three(three)
    three.lifectl("scene", "background", "sample/inbox")
    three.wait_for_scenes(main="foregroundActive", inbox="background", draft="foregroundActive")
    assert three.lifectl.state("sample") == "active"
    three.lifectl("focus", "sample/inbox")
    three.wait_for_scenes(main="foregroundActive", inbox="foregroundActive", draft="foregroundActive")
    three.lifectl("scene", "close", "sample/draft")
    three.wait_for_scenes(main="foregroundActive", inbox="foregroundActive")
    assert three.lines("draft")[-1] == "did-disconnect draft unattached"
    wait_for(lambda: "did-discard-session draft" in three.output.read_text())


def test_all_are_out_of_sight_before_the_process_sleeps(three):
    launch_three(three)
    three.lifectl("home")
    three.lifectl.wait_for_state("sample", "suspended")
    for scene in ("main", "inbox", "draft"):
        assert three.lines(scene)[-2:] == [
            f"will-resign-active {scene} foregroundActive",
            f"did-enter-background {scene} background",
        ]


def test_a_scene_is_opened_with_what_it_shows(three):
    launch_three(three)
    three.lifectl("scene", "open", "sample", "--scene", "note", "--info", "41")
    assert three.lines("note") == [
        "will-connect note unattached user 41",
        "will-enter-foreground note background",
        "did-become-active note foregroundActive",
    ]
    listed = [each["scene"] for each in three.lifectl.json("scene", "list", "sample")["scenes"]]
    assert {scene["id"] for scene in listed} == {"main", "inbox", "draft", "note"}
    assert sum(scene["state"] == "foregroundActive" for scene in listed) == 3


def test_scenes_stay_as_they_are_while_the_daemon_is_gone(three):
    launch_three(three)
    three.lifectl("scene", "background", "sample/inbox")
    before, said = three.scenes(), three.lines()
    three.direct.process.kill()
    three.direct.process.wait()
    three.direct.start()
    assert three.scenes() == before
    three.lifectl("home")
    three.lifectl.wait_for_state("sample", "suspended")
    assert three.lines()[: len(said)] == said
    assert not any("will-connect" in line for line in three.lines()[len(said) :])
    assert three.lines("inbox")[-1] == "did-enter-background inbox background"


def test_terminated_scenes_are_disconnected_first(three):
    launch_three(three)
    three.lifectl("terminate", "sample")
    said = three.output.read_text().splitlines()
    assert said[-1].startswith("will-terminate")
    assert sum(line.startswith("scene-did-disconnect") for line in said) == 3
