"""What apps are handed, and told of the machine, with the installed programs."""

import json
import os

import pytest

from container import wait_for
from listeners import Listeners, problems


@pytest.fixture
def listeners(direct, tmp_path):
    return Listeners(direct, tmp_path / "notes")


def verbs(listeners, app):
    return [text.split()[0] for text in listeners.told(app)]


def told(listeners, app, verb):
    return [text for text in listeners.told(app) if text.split()[0] == verb]


OPENER = 'schemes = ["example"]'


def test_a_url_launches_the_app_that_opens_it(direct, listeners):
    listeners.manifest("reader", "answer=open-url:handled=yes", extra=OPENER)
    reply = direct.lifectl.json("open", "example:page?a=1%20b")
    assert (reply["app"]["id"], reply["outcome"]) == ("reader", "handled")
    listeners.wait_until_told("reader", "did-become-active")
    assert [each for each in verbs(listeners, "reader") if each != "welcome"] == [
        "will-finish-launching", "did-finish-launching", "open-url", "did-become-active",
    ]
    assert told(listeners, "reader", "did-finish-launching") == [
        "did-finish-launching state=inactive reason=url url=example:page%3Fa%3D1%2520b"
    ]
    assert told(listeners, "reader", "open-url") == ["open-url state=inactive url=example:page%3Fa%3D1%2520b"]


def test_a_url_wakes_the_app_and_brings_it_to_the_front(direct, listeners):
    listeners.manifest("reader", "answer=open-url:handled=yes", extra=OPENER)
    direct.lifectl("launch", "reader")
    listeners.wait_until_told("reader", "did-become-active")
    listeners.run("other")
    direct.lifectl.wait_for_state("reader", "suspended")
    direct.lifectl("open", "example:2")
    listeners.wait_until_told("reader", "did-become-active", 2)
    assert verbs(listeners, "reader")[-3:] == ["will-enter-foreground", "open-url", "did-become-active"]
    direct.lifectl("open", "example:3")
    assert told(listeners, "reader", "open-url")[-1] == "open-url state=active url=example:3"
    assert problems(listeners.notes()) == []


def test_no_to_both_launch_callbacks_is_not_handled(direct, listeners):
    no = ["answer=will-finish-launching:handled=no", "answer=did-finish-launching:handled=no"]
    listeners.manifest("reader", *no, "answer=open-url:handled=yes", extra=OPENER)
    result = direct.lifectl("open", "example:1", check=False)
    assert result.returncode == 5
    assert "cannot open example:1: reader declined it" in result.stderr
    assert told(listeners, "reader", "open-url") == []
    direct.lifectl("open", "example:2")


def test_who_declines_or_is_silent_has_not_handled_it(direct, listeners):
    (direct.configuration / "lifed.toml").write_text('[timeouts]\ncallback = "100ms"\n')
    listeners.manifest("plain", extra=OPENER)
    assert direct.lifectl("open", "example:1", check=False).returncode == 5
    listeners.manifest("silent", "silent=open-url")
    result = direct.lifectl("open", "--app", "silent", "example:1", check=False)
    assert (result.returncode, "in time" in result.stderr) == (7, True)
    listeners.wait_until_told("silent", "did-become-active")


def test_none_and_more_than_one(direct, listeners):
    assert direct.lifectl("open", "example:1", check=False).returncode == 66
    for name in ("one", "two"):
        listeners.manifest(name, "answer=open-url:handled=yes", extra=OPENER)
    result = direct.lifectl("open", "example:1", check=False)
    assert result.returncode == 10
    assert "one, two" in result.stderr and "--app" in result.stderr
    assert direct.lifectl.json("open", "--app", "two", "example:1")["app"]["id"] == "two"
    (direct.configuration / "lifed.toml").write_text('[defaults]\nexample = "one"\n')
    direct.lifectl("reload")
    assert direct.lifectl.json("open", "example:1")["app"]["id"] == "one"


def test_a_file_by_its_type(direct, listeners, tmp_path):
    if not os.path.exists("/usr/share/mime/globs2"):
        pytest.skip("this machine has no MIME database")
    listeners.manifest("viewer", "answer=open-url:handled=yes", extra='mimeTypes = ["image/*"]')
    listeners.manifest("editor", "answer=open-url:handled=yes", extra='mimeTypes = ["text/plain"]')
    picture, text = tmp_path / "a picture%.png", tmp_path / "x.py"
    picture.touch()
    text.touch()
    assert direct.lifectl.json("open", str(picture))["app"]["id"] == "viewer"
    assert "a%2520picture%2525.png type=image/png" in told(listeners, "viewer", "open-url")[0]
    assert direct.lifectl.json("open", str(text))["app"]["id"] == "editor"
    assert direct.lifectl("open", str(tmp_path / "missing.png"), check=False).returncode == 66


def write_arguments(direct, name, tmp_path, *codes):
    """A program without the library that writes its arguments down."""
    script = tmp_path / f"{name}.sh"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{tmp_path}/{name}.arguments\nexec sleep infinity\n')
    script.chmod(0o755)
    words = ", ".join(f'"{word}"' for word in (str(script), "--", *codes))
    (direct.configuration / "apps.d" / f"{name}.toml").write_text(f"command = [{words}]\n{OPENER}\n")
    direct.lifectl("reload")
    arguments = tmp_path / f"{name}.arguments"
    return lambda: wait_for(lambda: arguments.exists() and arguments.read_text()).split("\n")[:-1]


def test_a_program_without_the_library_gets_it_as_an_argument(direct, tmp_path):
    arguments = write_arguments(direct, "browser", tmp_path, "%u", "end")
    assert direct.lifectl.json("open", "example:$(reboot)'")["outcome"] == "handled"
    assert arguments() == ["--", "example:$(reboot)'", "end"]
    (direct.configuration / "lifed.toml").write_text('[timeouts]\nlaunch = "100ms"\n')
    direct.lifectl("reload")
    result = direct.lifectl("open", "example:2", check=False)
    assert (result.returncode, "is not connected" in result.stderr) == (5, True)


def test_the_place_of_an_argument_is_left_out_without_a_url_and_takes_paths(direct, tmp_path):
    arguments = write_arguments(direct, "editor", tmp_path, "%f", "end")
    direct.lifectl("launch", "editor")
    assert arguments() == ["--", "end"]
    direct.lifectl("kill", "editor")
    (tmp_path / "editor.arguments").unlink()
    (tmp_path / "a b").touch()
    direct.lifectl("open", "--app", "editor", str(tmp_path / "a b"))
    assert arguments() == ["--", str(tmp_path / "a b"), "end"]


def test_an_activity_is_taken_up(direct, listeners):
    listeners.manifest("reader", "answer=continue-activity:handled=yes")
    arguments = ["handoff", "reader", "--activity", "org.example.read", "--info"]
    assert direct.lifectl(*arguments, "{", check=False).returncode == 64
    direct.lifectl(*arguments, '{"page": 4}')
    assert told(listeners, "reader", "continue-activity") == [
        "continue-activity state=inactive type=org.example.read info=%7B%22page%22:%204%7D"
    ]


def test_a_url_that_comes_while_it_is_locked_is_opened_when_it_is_not(direct, listeners):
    listeners.manifest("reader", "answer=open-url:handled=yes", extra=OPENER)
    direct.lifectl("launch", "reader")
    direct.lifectl("simulate", "lock")
    result = direct.lifectl("open", "example:1", check=False)
    assert (result.returncode, "the session is locked" in result.stderr) == (2, True)
    direct.lifectl.wait_for_state("reader", "suspended")
    assert told(listeners, "reader", "open-url") == []
    direct.lifectl("simulate", "unlock")
    listeners.wait_until_told("reader", "open-url")


def test_locked_and_unlocked(direct, listeners):
    listeners.run("clock")
    direct.lifectl("simulate", "lock")
    assert direct.lifectl.json("status")["status"]["foregroundBlockers"] == ["locked"]
    direct.lifectl.wait_for_state("clock", "suspended")
    direct.lifectl("simulate", "unlock")
    listeners.wait_until_told("clock", "did-become-active", 2)
    assert verbs(listeners, "clock")[-6:] == [
        "protected-data-will-become-unavailable", "will-resign-active", "did-enter-background",
        "will-enter-foreground", "protected-data-did-become-available", "did-become-active",
    ]


def test_sleep_waits_for_the_apps(direct, listeners):
    listeners.run("clock", "delay=0.3")
    direct.lifectl("simulate", "sleep")
    assert direct.lifectl.state("clock") == "suspended"
    direct.lifectl("simulate", "wake")
    assert direct.lifectl.state("clock") == "active"


def test_switched_away_and_back(direct, listeners):
    listeners.run("clock")
    direct.lifectl("simulate", "switch-away")
    direct.lifectl("simulate", "switch-back")
    assert direct.lifectl.state("clock") == "active"
    assert not any(verb.startswith("protected") for verb in verbs(listeners, "clock"))


def test_a_time_change_is_told_to_who_sleeps_when_it_wakes(direct, listeners):
    listeners.run("early")
    listeners.run("late")
    direct.lifectl.wait_for_state("early", "suspended")
    for _ in range(2):
        direct.lifectl("simulate", "time-change")
    listeners.wait_until_told("late", "significant-time-change", 1)
    assert told(listeners, "early", "significant-time-change") == []
    direct.lifectl("focus", "early")
    listeners.wait_until_told("early", "significant-time-change")
    direct.lifectl("home")
    assert len(told(listeners, "early", "significant-time-change")) == 1


SSH = """#!/bin/sh
printf '%s\\n' "$@" >{log}
shift 2
exec sh -c "$1"
"""


@pytest.fixture
def other_machine(direct, tmp_path, monkeypatch):
    """An ssh that runs what it is to run in this machine's shell, and finds lifectl there."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "ssh").write_text(SSH.format(log=tmp_path / "ssh"))
    (programs / "ssh").chmod(0o755)
    (programs / "lifectl").symlink_to(direct.products / "lifectl")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return tmp_path / "ssh"


def test_any_command_on_another_machine(direct, listeners, other_machine):
    listeners.manifest("reader", "answer=continue-activity:handled=yes")
    info = json.dumps({"title": "it's $(here) \\ \"there\"\n*"})
    arguments = ["handoff", "--host", "kim@kitchen", "reader", "--activity", "org.example.read", "--info", info]
    assert direct.lifectl.json(*arguments)["outcome"] == "handled"
    assert other_machine.read_text().split("\n")[:2] == ["--", "kim@kitchen"]
    assert direct.lifectl("--host=kitchen", "focus", "nobody", check=False).returncode == 66


def test_a_host_that_ssh_would_misread_is_refused(direct, other_machine):
    for words in (["--host", "-oProxyCommand=false"], ["--host="], ["--host"]):
        assert direct.lifectl("list", *words, check=False).returncode == 64
    assert not other_machine.exists()


def test_what_an_app_is_run_with_is_left_alone(direct, other_machine):
    direct.lifectl("run", "--id", "plain", "--", "sh", "-c", "sleep infinity", "--host", "x")
    assert not other_machine.exists()
