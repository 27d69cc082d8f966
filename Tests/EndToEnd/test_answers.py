"""lifectl answers: why, what next, what happened, what is missing, and how often."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree
from pathlib import Path

import pytest

import programs
from container import wait_for
from driver import connect
from terminal import Terminal

NO_SUCH_APP, USAGE, UNAVAILABLE, NOT_PERMITTED = 66, 64, 69, 77


@pytest.fixture
def patient(direct):
    """A daemon that gives apps a minute in the background, so that there is something to look at."""
    (direct.configuration / "lifed.toml").write_text("[timeouts]\nbackground = '60s'\n")
    direct.lifectl("reload")
    return direct


def two_apps(daemon):
    daemon.lifectl.start("one", *programs.IDLE)
    daemon.lifectl.start("two", *programs.IDLE)


def lines(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_explain_says_what_holds_an_app_and_what_comes_when(patient):
    two_apps(patient)
    answer = patient.lifectl.json("explain", "one")
    explanation = answer["explanation"]
    assert explanation["next"] == "suspended"
    assert [each["kind"] for each in explanation["conditions"]] == ["backgroundTime"]
    prospect = explanation["prospects"][0]
    assert (prospect["kind"], prospect["to"], prospect["reason"]) == ("transition", "suspended", "idle")
    assert prospect["timeUSec"] == explanation["conditions"][0]["untilUSec"]
    assert 0 < prospect["timeUSec"] / 1e6 - time.time() <= 60
    assert [entry["event"]["to"] for entry in answer["history"]] == ["inactive", "active", "inactive", "background"]
    text = patient.lifectl("explain", "one").stdout
    assert text.startswith("one runs in the background (background)\n")
    for words in ("another app came to the foreground", "background time to finish its work", "background → suspended"):
        assert words in text


def test_what_is_foretold_comes_true(direct):
    (direct.configuration / "lifed.toml").write_text("[timeouts]\nbackground = '1s'\n")
    direct.lifectl("reload")
    two_apps(direct)
    foretold = direct.lifectl.json("explain", "one")["explanation"]["prospects"]
    direct.lifectl.wait_for_state("one", "suspended")
    # An app that was asked too late to say so is at rest already.
    for prospect in foretold[:1]:
        assert 0 <= direct.lifectl.app("one")["sinceUSec"] - prospect["timeUSec"] < 1_000_000
    rest = direct.lifectl.json("explain", "one")["explanation"]
    assert rest["conditions"] == [] and rest["prospects"] == []
    assert "none: the app stays suspended until a request" in direct.lifectl("explain", "one").stdout


def test_explain_of_nobody_is_no_success(direct):
    result = direct.lifectl("explain", "nobody", check=False)
    assert result.returncode == NO_SUCH_APP and "nobody" in result.stderr


def test_the_log_comes_from_the_daemon_where_there_is_no_journal(patient):
    two_apps(patient)
    every = lines(patient.lifectl("log", "--json"))
    assert {entry["app"] for entry in every} == {"one", "two"}
    own = lines(patient.lifectl("log", "two", "--json"))
    assert [entry["event"]["to"] for entry in own] == ["inactive", "active"]
    assert all(entry["event"]["reason"] == "launch" for entry in own)
    assert lines(patient.lifectl("log", "-n", "1", "--json"))[0] == every[-1]
    assert patient.lifectl("log", "--since", "@4000000000").stdout == ""
    assert len(lines(patient.lifectl("log", "--since", "1h", "--json"))) == len(every)
    assert "two: inactive → active (launch)\n" in patient.lifectl("log").stdout
    someday = patient.lifectl("log", "--since", "someday", check=False)
    assert someday.returncode == USAGE and "--since takes a time (12:30" in someday.stderr


def test_the_log_goes_on(direct):
    direct.lifectl.start("one", *programs.IDLE)
    command = [str(direct.products / "lifectl"), "log", "-f", "--json", "--socket", str(direct.socket)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as follower:
        try:
            assert json.loads(follower.stdout.readline())["event"]["to"] == "inactive"
            assert json.loads(follower.stdout.readline())["event"]["to"] == "active"
            direct.lifectl("suspend", "one")
            seen = [json.loads(follower.stdout.readline())["event"]["to"] for _ in range(3)]
            assert seen == ["inactive", "background", "suspended"]
        finally:
            follower.terminate()


def test_the_log_goes_on_with_events_that_are_no_transitions(direct, tmp_path):
    command = [str(direct.products / "lifectl"), "log", "-f", "--json", "--socket", str(direct.socket)]
    output = tmp_path / "followed"
    with open(output, "w") as file, subprocess.Popen(command, stdout=file) as follower:
        try:
            wait_for(lambda: direct.lifectl.json("status")["status"]["clients"] == 3, what="a subscription")
            direct.lifectl("run", "--id", "none", "--", "nosuchprogram", check=False)
            direct.lifectl("run", "--id", "three", "--", "sh", "-c", "exit 3", check=False)
            kinds = ["launchFailed", "transition", "transition", "exited", "transition"]
            wait_for(lambda: [json.loads(line)["event"]["kind"] for line in output.read_text().splitlines()] == kinds)
        finally:
            follower.terminate()


def test_how_an_app_ended_is_remembered(direct):
    os.kill(direct.lifectl.start("crasher", *programs.IDLE), signal.SIGSEGV)
    direct.lifectl.wait_for_state("crasher", "notRunning")
    events = [entry["event"] for entry in lines(direct.lifectl("log", "crasher", "--json"))]
    assert [(event["signal"], event["reason"]) for event in events if event["kind"] == "exited"] == [(11, "crash")]
    assert "crasher was ended by SIGSEGV (crash)" in direct.lifectl("log").stdout


def test_the_daemon_remembers_only_so_much(direct):
    direct.lifectl.start("one", *programs.IDLE)
    with connect(str(direct.socket)) as connection:
        stream = connection.makefile("rwb")
        for _ in range(200):
            for method in ("Suspend", "Focus"):
                say(stream, f"org.lifed.{method}", {"id": "one"})
        reply = say(stream, "org.lifed.History", {})["parameters"]
    events = reply["events"]
    assert len(events) == 1024
    assert reply["sinceUSec"] == events[0]["timeUSec"]
    assert events == sorted(events, key=lambda event: event["timeUSec"])
    assert all(left["to"] == right["from"] for left, right in zip(events, events[1:]))


def say(stream, method, parameters=None, more=False):
    """Calls a method; returns the reply, or with more all of them."""
    message = {"method": method, "parameters": parameters or {}, **({"more": True} if more else {})}
    stream.write(json.dumps(message).encode() + b"\0")
    stream.flush()
    replies = []
    while True:
        received = b""
        while not received.endswith(b"\0"):
            received += stream.read(1)
        replies.append(json.loads(received[:-1]))
        if not replies[-1].get("continues"):
            return replies if more else replies[0]


def test_figures_are_told_as_systemds_services_tell_theirs(direct):
    two_apps(direct)
    direct.lifectl("kill", "one")
    with connect(str(direct.socket)) as connection:
        stream = connection.makefile("rwb")
        families = [reply["parameters"] for reply in say(stream, "io.systemd.Metrics.Describe", more=True)]
        metrics = [reply["parameters"] for reply in say(stream, "io.systemd.Metrics.List", more=True)]
        assert say(stream, "io.systemd.Metrics.List")["error"] == "org.varlink.service.ExpectedMore"
    assert {metric["name"] for metric in metrics} <= {family["name"] for family in families}
    found = {(metric["name"], json.dumps(metric.get("fields")), metric.get("object")): metric["value"] for metric in metrics}
    assert found["org.lifed.apps", '{"state": "active"}', None] == 1
    assert found["org.lifed.app_state", "null", "two"] == "active"
    assert found["org.lifed.ends_total", '{"reason": "kill"}', None] == 1
    assert found["org.lifed.transitions_total", '{"to": "active"}', None] == 2


def test_figures_for_prometheus(direct):
    two_apps(direct)
    text = direct.lifectl("stats", "--openmetrics").stdout
    assert 'lifed_transitions_total{to="active"} 2\n' in text
    assert 'lifed_app_state{app="two",lifed_app_state="active"} 1\n' in text
    assert text.endswith("# EOF\n") and text.count("# TYPE ") == text.count("# HELP ")


def test_figures_of_what_happened(patient):
    two_apps(patient)
    for app in ("one", "two", "one"):
        patient.lifectl("focus", app)
    patient.lifectl("kill", "two")
    measurements = patient.lifectl.json("stats")
    apps = {app["app"]: app for app in measurements["apps"]}
    assert (apps["one"]["launches"], apps["one"]["activations"]) == (1, 3)
    assert apps["one"]["times"]["active"] > 0
    assert measurements["ends"] == {"kill": 1}
    assert measurements["switches"]["count"] == 3 and measurements["launches"]["count"] == 2
    assert 0 <= measurements["switches"]["medianUSec"] <= measurements["switches"]["longestUSec"]
    text = patient.lifectl("stats").stdout
    assert "switch to an app that runs" in text and "1 kill" in text


def test_a_timeline_for_the_terminal_and_for_a_report(patient, tmp_path):
    two_apps(patient)
    patient.lifectl("kill", "one")
    lanes = {lane["app"]: lane for lane in patient.lifectl.json("timeline")["lanes"]}
    assert lanes["two"]["spans"][-1]["state"] == "active"
    assert [mark["kind"] for mark in lanes["one"]["marks"]] == ["killed"]
    text = patient.lifectl("timeline", "--since", "1s").stdout
    assert "█" in text and "two" in text
    picture = tmp_path / "timeline.svg"
    patient.lifectl("timeline", "--svg", str(picture))
    root = xml.etree.ElementTree.parse(picture).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert any(element.text == "two" for element in root.iter("{http://www.w3.org/2000/svg}text"))
    for path, remedy in (("/nonexistent/x.svg", "make its directory"), (str(tmp_path), "name a file in the directory")):
        result = patient.lifectl("timeline", "--svg", path, check=False)
        assert result.returncode == 74 and f"; {remedy}" in result.stderr, result.stderr
    assert patient.lifectl("timeline", "--svg", "/dev/stdout").stdout.startswith("<svg")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")
def test_a_picture_for_which_there_is_no_room_leaves_the_one_before(patient, tmp_path):
    for number in range(8):
        patient.lifectl.start(f"app-{number}", *programs.IDLE)
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", small], check=True)
    try:
        picture = small / "timeline.svg"
        picture.write_text("the one before")
        (small / "full").write_bytes(bytes(4096))
        result = patient.lifectl("timeline", "--svg", str(picture), check=False)
        assert result.returncode == 74 and "No space left on device" in result.stderr
        assert picture.read_text() == "the one before"
    finally:
        subprocess.run(["umount", small], check=True)


@pytest.mark.parametrize("command", ["log", "timeline", "stats", "explain one", "top -n 1"])
def test_that_nobody_answers_is_said_where_there_is_nothing_else_to_show(direct, command):
    direct.stop()
    words = command.split()
    # The journal of a machine with lifed may have entries, but none from then.
    future = ["--since", "@4000000000"] if words[0] in ("log", "timeline", "stats") else []
    result = direct.lifectl(*words, *future, check=False)
    assert result.returncode == UNAVAILABLE and result.stdout == ""
    assert "lifed is not running (no program listens at" in result.stderr


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_a_journal_that_shows_a_person_their_own_entries_alone_is_not_taken_for_an_empty_one(direct, tmp_path):
    """As journalctl does it on a machine with a journal on the disk, where every user has a file of their own."""
    if any(not os.stat(parent).st_mode & 0o001 for parent in direct.products.parents):
        pytest.skip(f"nobody may not enter {direct.products}")
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        journalctl = Path(place) / "journalctl"
        journalctl.write_text(
            "#!/bin/sh\ncase $* in *--follow*) exec sleep infinity ;; *json*) ;;\n"
            "*) echo 'Hint: You are currently not seeing messages from other users and the system.' >&2 ;;\nesac\n")
        journalctl.chmod(0o755)
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", f"PATH={place}:/usr/bin:/bin"]
        command = [*nobody, str(direct.products / "lifectl"), "log", "--socket", "/nowhere", "--from", "journal"]
        own = direct.run(command, check=False)
        assert (own.returncode, own.stdout, own.stderr) == (0, "", "")
        for option in [[], ["--follow"]]:
            result = direct.run([*command[:-4], "--system", *command[-2:], *option], check=False)
            assert result.returncode == NOT_PERMITTED and "cannot read the journal: not permitted" in result.stderr


def test_the_doctor_says_what_is_missing_and_what_that_costs(direct):
    findings = {each["subject"]: each for each in direct.lifectl.json("doctor")["findings"]}
    assert findings["daemon"]["verdict"] == "ok"
    assert findings["journal"]["verdict"] == "degraded" and "1024" in findings["journal"]["cost"]
    groups = direct.lifectl.start("one", *programs.IDLE) and direct.lifectl.app("one")["containment"]
    assert (findings["control groups"]["verdict"] == "ok") == (groups == "cgroup")
    assert all(each.get("cost") for each in findings.values() if each["verdict"] != "ok")
    assert direct.lifectl("doctor").returncode == 0


def test_the_doctor_names_the_setting_that_forgoes_control_groups(direct):
    direct.stop()
    (direct.configuration / "lifed.toml").write_text('containment = "keeper"\n')
    direct.start()
    findings = {each["subject"]: each for each in direct.lifectl.json("doctor")["findings"]}
    assert 'lifed.toml has containment = "keeper"' in str(findings["control groups"])


def test_without_a_daemon_the_doctor_says_so_first(direct):
    direct.stop()
    result = direct.lifectl("doctor", check=False)
    assert result.returncode == 1
    assert result.stdout.startswith("failed    daemon ")


def test_top_shows_what_apps_use(direct):
    direct.lifectl.start("busy", *programs.BUSY)
    direct.lifectl.start("idle", *programs.IDLE)
    direct.lifectl("suspend", "busy")
    direct.lifectl("resume", "busy")
    sample = direct.lifectl.json("top", "-n", "1", "--interval", "0.5")
    rows = {row["app"]["id"]: row for row in sample["rows"]}
    assert rows["busy"]["load"] > rows["idle"]["load"]
    assert rows["busy"]["memoryBytes"] > 0
    assert [each["kind"] for each in rows["busy"]["conditions"]] == ["resumeRequest"]
    assert "resumed by request" in direct.lifectl("top", "-n", "1", "--interval", "0.1").stdout


def test_keys_of_top_act_upon_the_chosen_app(patient):
    two_apps(patient)
    with Terminal(patient, "top", "--interval", "0.2") as top:
        top.wait_for("> ")
        # two is active and so the first; one is below.
        top.press(b"\x1b[B")
        top.press(b"s")
        patient.lifectl.wait_for_state("one", "suspended")
        top.wait_for("one is suspended")
        top.press(b"f")
        patient.lifectl.wait_for_state("one", "active")
        top.press(b"q")
        assert top.status() == 0
    assert top.output.endswith("\x1b[?1049l")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_top_as_it_ends_any_program(direct, number):
    with Terminal(direct, "top") as top:
        top.wait_for("choose")
        top.process.send_signal(number)
        assert top.status() == -number
    assert top.output.endswith("\x1b[?1049l")


@pytest.mark.parametrize("words", [["monitor"], ["status", "--follow"], ["log", "--follow"]])
def test_who_follows_a_quiet_daemon_is_told_that_no_app_changed(direct, words):
    result = direct.lifectl(*words, "--timeout", "0.5", check=False)
    assert result.returncode == 75
    assert result.stderr.endswith(": no app changed within 0.5 s; allow more time with --timeout\n")


def test_who_waits_in_a_terminal_is_told_for_what(direct):
    # On a busy machine, the first lines may come late, or without an explanation.
    (direct.configuration / "lifed.toml").write_text("[timeouts]\ntermination = '60s'\n")
    direct.lifectl("reload")
    direct.lifectl.start("stubborn", *programs.STUBBORN)
    with Terminal(direct, "terminate", "stubborn") as terminal:
        terminal.wait_for(r"\rstubborn \(\d+ s\): it was asked to end, and processes of it are left")
        direct.lifectl("kill", "stubborn", check=False)
        assert terminal.status() == 0
    # The line is gone when the result is there.
    assert "\r\x1b[Kstubborn is " in terminal.output
