"""Connected apps on their channel are told of their life, in order, and what they answer counts."""

import os
import random
import signal
import threading
import time

import pytest
import varlink

import programs
from container import wait_for
from listeners import Listeners, problems

COLD_START = [
    "will-finish-launching state=inactive reason=launch",
    "did-finish-launching state=inactive reason=launch",
    "did-become-active state=active",
]


@pytest.fixture
def listeners(direct, tmp_path):
    return Listeners(direct, tmp_path / "notes")


def configure(direct, text):
    (direct.configuration / "lifed.toml").write_text(text)
    direct.lifectl("reload")


def without_welcome(told):
    return [text for text in told if not text.startswith("welcome")]


def test_a_whole_life(direct, listeners):
    listeners.run("clock")
    direct.lifectl("home")
    direct.lifectl.wait_for_state("clock", "suspended")
    direct.lifectl("focus", "clock")
    listeners.wait_until_told("clock", "did-become-active", 2)
    direct.lifectl("interrupt", "begin")
    direct.lifectl("interrupt", "end")
    listeners.wait_until_told("clock", "did-become-active", 3)
    direct.lifectl("terminate", "clock")
    assert without_welcome(listeners.told("clock")) == COLD_START + [
        "will-resign-active state=active",
        "did-enter-background state=background",
        "will-enter-foreground state=background",
        "did-become-active state=active",
        "will-resign-active state=active",
        "did-become-active state=active",
        "will-resign-active state=active",
        "will-terminate",
    ]


def test_a_connected_app_is_restarted(direct, listeners):
    listeners.manifest("clock")
    direct.lifectl("launch", "clock")
    listeners.wait_until_told("clock", "did-become-active")
    before = direct.lifectl.pid("clock")
    app = direct.lifectl.json("restart", "clock")["app"]
    assert app["state"] == "active" and app["pid"] != before
    listeners.wait_until_told("clock", "did-become-active", 2)
    told = without_welcome(listeners.told("clock"))
    assert told[3:5] == ["will-resign-active state=active", "will-terminate"]


def test_a_task_that_begins_as_the_last_one_ends_is_waited_for(direct, listeners):
    configure(direct, "[timeouts]\ntask = '5s'\n")
    listeners.run("clock", "task=first", "obeys")
    direct.lifectl("home")
    wait_for(lambda: any(note.kind == "answers" and note.text == "did-enter-background" for note in listeners.notes("clock")))
    os.kill(direct.lifectl.pid("clock"), signal.SIGUSR2)
    # A suspended app is not told.
    listeners.wait_until_told("clock", "expire-task")
    direct.lifectl.wait_for_state("clock", "suspended")
    assert direct.lifectl.json("status", "clock")["details"]["assertions"] == []


def test_launch_to_the_background(direct, listeners):
    listeners.manifest("clock")
    direct.lifectl("launch", "--background", "clock")
    direct.lifectl.wait_for_state("clock", "suspended")
    assert without_welcome(listeners.told("clock")) == [
        "will-finish-launching state=inactive reason=launch",
        "did-finish-launching state=background reason=launch",
    ]


def test_terminate_when_suspended_is_the_first_thing_it_hears(direct, listeners):
    listeners.run("clock")
    direct.lifectl("home")
    direct.lifectl.wait_for_state("clock", "suspended")
    direct.lifectl("terminate", "clock")
    assert listeners.told("clock")[-2:] == ["did-enter-background state=background", "will-terminate"]


def test_an_interruption_answered_with_another_app(direct, listeners):
    listeners.run("clock")
    listeners.manifest("phone")
    direct.lifectl("interrupt", "begin", "--name", "call")
    direct.lifectl("interrupt", "end", "--name", "call", "--answer", "phone")
    direct.lifectl.wait_for_state("clock", "suspended")
    assert listeners.told("clock")[-2:] == ["will-resign-active state=active", "did-enter-background state=background"]


def test_who_does_not_resign_delays_the_switch_by_its_time_and_no_more(direct, listeners):
    configure(direct, '[timeouts]\nwillResignActive = "500ms"\n')
    listeners.run("slow", "silent=will-resign-active")
    listeners.run("next")
    notes = listeners.notes()
    asked = next(note.time for note in notes if note.app == "slow" and "will-resign-active" in note.text)
    active = next(note.time for note in notes if note.app == "next" and "did-become-active" in note.text)
    assert active - asked >= 450_000
    direct.lifectl.wait_for_state("slow", "suspended")
    assert "cannot await will-resign-active of slow: no answer in time" in direct.log.read_text()


def test_who_does_not_answer_did_enter_background_is_ended_and_restored(direct, listeners):
    configure(direct, '[timeouts]\ndidEnterBackground = "300ms"\n')
    listeners.manifest("slow", "silent=did-enter-background")
    direct.lifectl("launch", "slow")
    listeners.wait_until_told("slow", "did-become-active")
    direct.lifectl("home")
    direct.lifectl.wait_for_state("slow", "notRunning")
    assert direct.lifectl.app("slow")["lastExit"]["reason"] == "backgroundTimeout"
    direct.lifectl("launch", "slow")
    listeners.wait_until_told("slow", "will-finish-launching", 2)
    assert listeners.told("slow")[-1].endswith("restore=1") or "restore=1" in " ".join(listeners.told("slow")[-4:])


def test_a_task_holds_the_app_until_it_ends(direct, listeners):
    configure(direct, '[timeouts]\nbackground = "0s"\n')
    listeners.run("uploader", "task=upload")
    direct.lifectl("home")
    listeners.wait_until_told("uploader", "did-enter-background")
    holds = direct.lifectl.json("status", "uploader")["details"]["assertions"]
    assert [(hold["kind"], hold["name"]) for hold in holds] == [("task", "upload")]
    assert holds[0]["untilUSec"] > holds[0]["sinceUSec"]
    assert direct.lifectl.state("uploader") == "background"
    os.kill(direct.lifectl.pid("uploader"), 10)
    direct.lifectl.wait_for_state("uploader", "suspended")


def test_a_task_that_does_not_end_ends_the_app(direct, listeners):
    configure(direct, '[timeouts]\ntask = "300ms"\ntaskExpiration = "300ms"\n')
    listeners.manifest("uploader", "task=upload")
    direct.lifectl("launch", "uploader")
    listeners.wait_until_told("uploader", "granted")
    direct.lifectl("home")
    listeners.wait_until_told("uploader", "expire-task")
    direct.lifectl.wait_for_state("uploader", "notRunning")
    assert direct.lifectl.app("uploader")["lastExit"]["reason"] == "taskTimeout"


def test_an_activity_holds_if_it_was_declared(direct, listeners):
    listeners.manifest("player", "activity=audio", extra='backgroundModes = ["audio"]')
    listeners.manifest("sneak", "activity=audio")
    direct.lifectl("launch", "sneak")
    listeners.wait_until_told("sneak", "refused")
    direct.lifectl("launch", "player")
    listeners.wait_until_told("player", "granted")
    direct.lifectl("home")
    listeners.wait_until_told("player", "did-enter-background")
    result = direct.lifectl("suspend", "player", check=False)
    assert result.returncode == 2
    assert "audio" in result.stderr


def test_an_app_that_must_answer(direct, listeners):
    configure(direct, '[timeouts]\nlaunch = "400ms"\n')
    listeners.manifest("mute", "mute", extra='callbacks = "required"')
    listeners.manifest("good", extra='callbacks = "required"')
    result = direct.lifectl("launch", "mute", check=False)
    assert result.returncode == 8
    # The command fails when the end begins, and the processes go after that.
    wait_for(lambda: direct.lifectl.app("mute").get("lastExit"))
    assert direct.lifectl.app("mute")["lastExit"]["reason"] == "launchTimeout"
    direct.lifectl("launch", "good")
    assert [text.split()[0] for text in without_welcome(listeners.told("good"))][:2] == [
        "will-finish-launching",
        "did-finish-launching",
    ]


def test_an_app_without_callbacks_has_no_channel(direct, tmp_path):
    (direct.configuration / "apps.d" / "plain.toml").write_text(
        f'command = ["sh", "-c", "env > {tmp_path}/env; exec sleep infinity"]\ncallbacks = "none"\n'
    )
    direct.lifectl("reload")
    direct.lifectl("launch", "plain")
    wait_for(lambda: (tmp_path / "env").exists() and "LIFECYCLE_APP_ID=plain" in (tmp_path / "env").read_text())
    assert "LIFECYCLE_FD" not in (tmp_path / "env").read_text()


def test_mistakes_cost_the_channel_and_nothing_else(direct, listeners):
    direct.lifectl("run", "--id", "babbler", "--", *listeners.command("garbage=20"))
    wait_for(lambda: "end of channel" in " ".join(note.kind + " " + note.text for note in listeners.notes("babbler")))
    assert listeners.told("babbler") == ["mistake reason=malformed-verb"] * 16 + ["goodbye reason=too-many-mistakes"]
    assert direct.log.read_text().count("cannot handle a line of babbler") == 16
    app = direct.lifectl.app("babbler")
    assert (app["state"], app["connected"]) == ("active", False)
    direct.lifectl("suspend", "babbler")


def test_lines_out_of_place_are_mistakes(direct, tmp_path):
    script = tmp_path / "script"
    lines = ["done seq=1", "hello protocol=0", "hello protocol=1", "hello protocol=1", "done seq=99"]
    script.write_text("".join(f"echo '{line}' >&3\n" for line in lines) + "exec sleep infinity\n")
    direct.lifectl.start("stray", "sh", str(script))
    wait_for(lambda: direct.log.read_text().count("cannot handle a line of stray") == 3)
    assert direct.lifectl.app("stray")["connected"]


def test_a_few_mistakes_are_forgiven(direct, listeners):
    listeners.run("clumsy", "garbage=15")
    assert direct.lifectl.app("clumsy")["connected"]


def test_an_app_that_does_not_read_does_not_hold_up_anybody(direct, listeners):
    direct.lifectl.start("deaf", *programs.IDLE)
    listeners.run("clock")
    direct.lifectl("focus", "deaf")
    direct.lifectl("focus", "clock")
    listeners.wait_until_told("clock", "did-become-active", 2)


@pytest.mark.parametrize("limit", [1, 2])
def test_random_focus_changes(direct, listeners, limit):
    """Many clients want different apps in the foreground, faster than the apps can follow."""
    count = int(os.environ.get("LIFED_FOCUS_CHANGES", "4000"))
    seed = int(os.environ.get("LIFED_SEED", str(time.time_ns() % 1_000_000)))
    print(f"seed {seed}")
    configure(direct, f'foregroundLimit = {limit}\n[timeouts]\nwillResignActive = "60s"\ncallback = "60s"\ndidEnterBackground = "60s"\n')
    apps = [f"app{number}" for number in range(20)]
    for app in apps:
        listeners.run(app, "delay=0.005")
    chooser = random.Random(seed)
    choices = [[chooser.choice(apps) for _ in range(count // 4)] for _ in range(4)]
    drivers = [threading.Thread(target=drive, args=(str(direct.socket), each)) for each in choices]
    for driver in drivers:
        driver.start()
    for driver in drivers:
        driver.join()
    direct.lifectl("focus", apps[0])
    wait_for(lambda: all(direct.lifectl.state(app) == "suspended" for app in apps if not direct.lifectl.app(app)["foreground"]), timeout=60)
    assert problems(listeners.notes(), limit) == []
    assert direct.log.read_text().count("did not answer") == 0


def drive(address, choices):
    with varlink.Client.new_with_address(f"unix:{address}") as client, client.open("org.lifed") as lifed:
        for app in choices:
            try:
                lifed.Focus(app)
            except varlink.VarlinkError as error:
                assert error.error() == "org.lifed.Superseded"
