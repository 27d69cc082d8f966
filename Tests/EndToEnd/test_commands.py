"""Verbs for several apps, for the background, for signals and interruptions, and the options of verbs that change something."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading

import pytest

import programs
from container import wait_for
from driver import call, connect

SIGNALLED = [sys.executable, "-c", """
import signal, sys, time
signal.signal(signal.SIGUSR1, lambda *_: open(sys.argv[1], "a").write("USR1\\n"))
open(sys.argv[1], "a").write("ready\\n")
while True: time.sleep(60)
"""]
REFUSED, NOT_RUNNING, LAUNCH_FAILED, USAGE, INVALID_DATA, NO_SUCH_APP = 2, 3, 11, 64, 65, 66


def interruptions(daemon):
    return daemon.lifectl.json("status")["status"]["interruptions"]


def lines(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def begin(direct):
    """Starts lifectl in a process group of its own, as a shell does."""
    processes = []

    def begin(*arguments):
        environment = {**os.environ, "LIFED_SOCKET": str(direct.socket)}
        process = subprocess.Popen(
            [direct.products / "lifectl", *arguments], env=environment, process_group=0,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        processes.append(process)
        return process

    yield begin
    for process in processes:
        # Its command holds the pipes as well.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


# Several apps.


def test_several_apps_change_at_once(direct):
    for name in ("one", "two", "three"):
        direct.lifectl.start(name, *programs.IDLE)
    assert [each["app"]["id"] for each in lines(direct.lifectl("suspend", "two", "one", "--json"))] == ["two", "one"]
    assert (direct.lifectl.state("one"), direct.lifectl.state("three")) == ("suspended", "active")
    result = direct.lifectl("terminate", "one", "nobody", "two", check=False)
    assert result.returncode == NO_SUCH_APP
    assert result.stdout == "one is not running\ntwo is not running\n"
    assert result.stderr.startswith("lifectl: cannot terminate nobody: ") and result.stderr.count("\n") == 1


def test_a_failure_among_several_is_an_object_in_its_place(direct):
    direct.lifectl.start("one", *programs.IDLE)
    first, second = lines(direct.lifectl("resume", "nobody", "one", "--json", check=False))
    assert (first["error"], first["parameters"]["id"]) == ("org.lifed.NoSuchApp", "nobody")
    assert second["app"]["id"] == "one"


def test_several_apps_are_launched_in_order(direct):
    for name in ("a", "b"):
        (direct.configuration / f"apps.d/{name}.toml").write_text("command = ['sleep', 'infinity']\n")
    direct.lifectl("reload")
    direct.lifectl("launch", "b", "a")
    assert (direct.lifectl.state("a"), direct.lifectl.app("b")["foreground"]) == ("active", False)


# The background.


def test_an_app_is_sent_to_the_background(daemon):
    daemon.lifectl.start("one", *programs.IDLE)
    reply = daemon.lifectl.json("background", "one")["app"]
    assert (reply["state"], reply["foreground"], reply["reason"]) == ("background", False, "sentBack")
    daemon.lifectl("terminate", "one")
    result = daemon.lifectl("background", "one", check=False)
    assert result.returncode in (NOT_RUNNING, NO_SUCH_APP)
    assert result.stderr.startswith("lifectl: cannot send one to the background: ")


def test_the_home_app_follows_an_app_in_the_background(direct):
    (direct.configuration / "apps.d/home.toml").write_text("command = ['sleep', 'infinity']\n")
    (direct.configuration / "lifed.toml").write_text("homeApp = 'home'\n")
    direct.lifectl("reload")
    direct.lifectl.start("one", *programs.IDLE)
    direct.lifectl("background", "one")
    direct.lifectl.wait_for_state("home", "active")
    result = direct.lifectl("background", "home", check=False)
    assert result.returncode == REFUSED and "no other app is in the foreground" in result.stderr


# Restart.


def test_an_app_is_restarted_where_it_was(direct):
    for name in ("front", "back"):
        (direct.configuration / f"apps.d/{name}.toml").write_text("command = ['sleep', 'infinity']\n")
    direct.lifectl("reload")
    direct.lifectl("launch", "back", "front")
    before = {name: direct.lifectl.pid(name) for name in ("front", "back")}
    direct.lifectl("restart", "front", "back")
    apps = direct.lifectl.apps()
    assert all(apps[name]["pid"] not in (None, before[name]) for name in before)
    assert (apps["front"]["foreground"], apps["back"]["foreground"]) == (True, False)
    direct.lifectl("terminate", "front")
    assert direct.lifectl.json("restart", "front")["app"]["state"] == "active"


def test_an_app_that_cannot_be_launched_again_is_said_to_have_ended(direct, tmp_path):
    program = tmp_path / "program"
    program.symlink_to("/bin/sleep")
    (direct.configuration / "apps.d/app.toml").write_text(f"command = ['{program}', 'infinity']\n")
    direct.lifectl("reload")
    direct.lifectl("launch", "app")
    program.unlink()
    result = direct.lifectl("restart", "app", check=False)
    assert result.returncode == LAUNCH_FAILED
    assert result.stderr.startswith(f"lifectl: cannot restart app: it has ended, and cannot be launched again: {program}: ")
    assert direct.lifectl.state("app") == "notRunning"
    program.symlink_to("/bin/sleep")
    assert direct.lifectl("restart", "app").stdout.startswith("app is active")


def test_the_launch_of_a_restart_is_known_while_the_app_ends(direct):
    # The app takes some time to end, in which the daemon has both requests already.
    script = "trap 'sleep 0.2; exit' TERM; while :; do sleep infinity & wait; done"
    (direct.configuration / "apps.d/app.toml").write_text(f'command = ["sh", "-c", "{script}"]\n')
    direct.lifectl("reload")
    direct.lifectl("launch", "app")
    before = direct.lifectl.pid("app")
    restarted = []

    def restart():
        with connect(str(direct.socket)) as connection:
            restarted.append(call(connection, "org.lifed.Restart", {"id": "app"})["parameters"]["app"])

    client = threading.Thread(target=restart)
    client.start()
    wait_for(lambda: direct.lifectl.state("app") == "terminating")
    assert direct.lifectl.app("app")["target"] == "active"
    client.join()
    assert restarted[0]["state"] == "active" and restarted[0]["pid"] != before


def test_an_app_without_a_manifest_is_not_ended_for_a_restart(direct):
    pid = direct.lifectl.start("tool", *programs.IDLE)
    result = direct.lifectl("restart", "tool", check=False)
    assert result.returncode == REFUSED and "it has no manifest" in result.stderr
    assert direct.lifectl.pid("tool") == pid
    assert direct.lifectl("restart", "nobody", check=False).returncode == NO_SUCH_APP


# Signals.


def test_a_signal_reaches_the_app_and_waits_while_it_is_suspended(daemon, tmp_path):
    notes = tmp_path / "notes"
    daemon.lifectl.start("app", *SIGNALLED, str(notes))
    wait_for(lambda: notes.exists() and notes.read_text() == "ready\n")
    assert daemon.lifectl.json("kill", "app", "--signal", "USR1")["app"]["state"] == "active"
    wait_for(lambda: notes.read_text() == "ready\nUSR1\n")
    daemon.lifectl("suspend", "app")
    daemon.lifectl("kill", "--signal=sigusr1", "app")
    assert daemon.lifectl.state("app") == "suspended"
    assert notes.read_text() == "ready\nUSR1\n"
    daemon.lifectl("resume", "app")
    wait_for(lambda: notes.read_text() == "ready\nUSR1\nUSR1\n")


def test_signals_that_stop_are_refused_and_kill_is_kill(direct):
    direct.lifectl.start("app", *programs.IDLE)
    for name in ("STOP", "CONT", "TSTP", "TTIN", "22"):
        result = direct.lifectl("kill", "--signal", name, "app", check=False)
        assert result.returncode == REFUSED and "lifectl suspend" in result.stderr, name
    assert direct.lifectl.state("app") == "active"
    assert direct.lifectl("kill", "--signal", "9", "app").stdout == "app is not running\n"
    assert direct.lifectl("kill", "--signal", "HUP", "nobody", check=False).returncode == NO_SUCH_APP


# Interruptions.


def test_an_interruption_lasts_as_long_as_its_command(direct, begin):
    direct.lifectl.start("app", *programs.IDLE)
    process = begin("interrupt", "--", "sh", "-c", "read line; exit 3")
    process.wait(timeout=60)
    assert process.returncode == 3 and interruptions(direct) == []
    process = begin("interrupt", "--name", "call", "--", "sleep", "infinity")
    wait_for(lambda: interruptions(direct) == ["call"])
    direct.lifectl.wait_for_state("app", "inactive")
    # Ctrl-C goes to the whole group.
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) == 128 + signal.SIGINT
    assert interruptions(direct) == []
    direct.lifectl.wait_for_state("app", "active")


def test_an_interruption_ends_with_its_command_where_the_end_of_children_is_ignored(direct):
    ignoring = [sys.executable, "-c", "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"]
    command = [*ignoring, str(direct.products / "lifectl"), "interrupt", "--", "sh", "-c", "exit 3"]
    assert direct.run(command, check=False).returncode == 3
    assert interruptions(direct) == []


def test_an_interruption_of_a_killed_lifectl_ends(direct, begin):
    process = begin("interrupt", "--name", "call", "--", "sleep", "infinity")
    wait_for(lambda: interruptions(direct) == ["call"])
    os.kill(process.pid, signal.SIGKILL)
    wait_for(lambda: interruptions(direct) == [])


def kill_and_start(daemon):
    daemon.process.kill()
    daemon.process.wait()
    daemon.start()


@pytest.mark.parametrize("restart", [lambda daemon: daemon.lifectl("reexec"), kill_and_start], ids=["reexec", "kill"])
def test_an_interruption_ends_with_its_client_when_the_daemon_is_restarted(direct, begin, restart):
    direct.lifectl("interrupt", "begin", "--name", "alarm")
    begin("interrupt", "--name", "call", "--", "sleep", "infinity")
    wait_for(lambda: interruptions(direct) == ["alarm", "call"])
    restart(direct)
    # The client is gone with its connection; the other interruption lasts until it is ended by its name.
    wait_for(lambda: interruptions(direct) == ["alarm"])
    with connect(str(direct.socket)) as client:
        call(client, "org.lifed.BeginInterruption", {"name": "call", "whileConnected": True})
        assert interruptions(direct) == ["alarm", "call"]
    wait_for(lambda: interruptions(direct) == ["alarm"])


def test_two_commands_have_interruptions_of_their_own(direct, begin):
    one, two = (begin("interrupt", "--", "sleep", "infinity") for _ in range(2))
    wait_for(lambda: len(interruptions(direct)) == 2)
    # A signal that is sent to lifectl alone reaches the command.
    one.terminate()
    assert one.wait(timeout=60) == 128 + signal.SIGTERM
    assert len(interruptions(direct)) == 1
    two.send_signal(signal.SIGINT)
    assert two.wait(timeout=60) == 128 + signal.SIGINT
    assert interruptions(direct) == []


def test_a_failed_launch_is_told_by_the_request_that_launches_and_by_no_other(direct):
    (direct.configuration / "apps.d" / "broken.toml").write_text('command = ["/nonexistent"]\n')
    direct.lifectl("reload")
    direct.lifectl("interrupt", "begin")
    for request in (["run", "--", "/nonexistent"], ["launch", "broken"]):
        assert direct.lifectl(*request, check=False).returncode == LAUNCH_FAILED
    assert direct.lifectl("interrupt", "end").stdout == "the interruption has ended\n"
    direct.lifectl("interrupt", "begin")
    result = direct.lifectl("interrupt", "end", "--answer", "broken", check=False)
    assert result.returncode == LAUNCH_FAILED
    assert result.stderr.startswith("lifectl: cannot answer the interruption with broken: /nonexistent: ")
    assert direct.lifectl.json("status")["status"]["interruptions"] == []


def test_an_interruption_ends_with_no_client_but_its_own(direct, begin):
    direct.lifectl("interrupt", "begin", "--name", "call")
    shared = [begin("interrupt", "--name", name, "--", "sleep", "infinity") for name in ("call", "alarm", "alarm")]
    clients = 1 + len(shared)
    wait_for(lambda: direct.lifectl.json("status")["status"]["clients"] == clients)
    assert interruptions(direct) == ["call", "alarm"]
    for process, left in zip(shared, (["call", "alarm"], ["call", "alarm"], ["call"])):
        process.kill()
        clients -= 1
        wait_for(lambda: direct.lifectl.json("status")["status"]["clients"] == clients)
        assert interruptions(direct) == left


def test_an_interruption_outlasts_the_first_of_its_commands(direct, begin):
    direct.lifectl.start("app", *programs.IDLE)
    one, two = (begin("interrupt", "--name", "call", "--", "sleep", "infinity") for _ in range(2))
    wait_for(lambda: direct.lifectl.json("status")["status"]["clients"] == 3)
    one.terminate()
    assert one.wait(timeout=60) == 128 + signal.SIGTERM
    assert interruptions(direct) == ["call"] and direct.lifectl.state("app") == "inactive"
    two.terminate()
    assert two.wait(timeout=60) == 128 + signal.SIGTERM
    assert interruptions(direct) == []
    direct.lifectl.wait_for_state("app", "active")


def test_an_interruption_that_was_begun_outlasts_commands(direct, begin):
    direct.lifectl("interrupt", "begin", "--name", "call")
    direct.lifectl("interrupt", "--name", "call", "--", "true")
    assert interruptions(direct) == ["call"]
    direct.lifectl("interrupt", "end", "--name", "call")
    # It may begin after the command, too.
    process = begin("interrupt", "--name", "call", "--", "sleep", "infinity")
    wait_for(lambda: interruptions(direct) == ["call"])
    direct.lifectl("interrupt", "begin", "--name", "call")
    process.terminate()
    process.wait(timeout=60)
    assert interruptions(direct) == ["call"]
    kill_and_start(direct)
    assert interruptions(direct) == ["call"]
    direct.lifectl("interrupt", "end", "--name", "call")
    assert interruptions(direct) == []


def test_a_command_that_cannot_start_ends_its_interruption(direct):
    result = direct.lifectl("interrupt", "--", "/nonexistent/ring", check=False)
    assert result.returncode == LAUNCH_FAILED
    assert result.stderr.startswith("lifectl: cannot run /nonexistent/ring: No such file or directory; ")
    assert interruptions(direct) == []


# The options.


def test_quiet_prints_nothing_but_failures(direct):
    direct.lifectl.start("app", *programs.IDLE)
    for words in (["suspend", "app"], ["focus", "app", "--json"], ["home"], ["interrupt", "begin"], ["interrupt", "end"]):
        assert direct.lifectl(*words, "--quiet").stdout == "", words
    result = direct.lifectl("suspend", "nobody", "-q", check=False)
    assert (result.returncode, result.stdout) == (NO_SUCH_APP, "") and "nobody" in result.stderr


def test_a_request_without_a_wait_is_made_and_its_refusal_is_not_known(direct):
    direct.lifectl.start("stubborn", *programs.STUBBORN)
    result = direct.lifectl("terminate", "stubborn", "--no-wait", "--timeout", "2")
    assert result.stdout == ""
    wait_for(lambda: direct.lifectl.state("stubborn") != "active")
    direct.lifectl("kill", "stubborn", "--no-wait")
    wait_for(lambda: direct.lifectl.state("stubborn") == "notRunning")
    assert direct.lifectl("focus", "nobody", "--no-wait").returncode == 0


def test_an_app_is_restarted_without_a_wait(direct):
    (direct.configuration / "apps.d/app.toml").write_text("command = ['sleep', 'infinity']\n")
    direct.lifectl("reload")
    direct.lifectl("launch", "app")
    before = direct.lifectl.pid("app")
    direct.lifectl("restart", "app", "--no-wait")
    wait_for(lambda: direct.lifectl.app("app")["pid"] not in (None, before) and direct.lifectl.state("app") == "active")


# Failures.


@pytest.mark.parametrize(
    ("words", "status", "error"),
    [
        (["focus", "nobody"], NO_SUCH_APP, "org.lifed.NoSuchApp"),
        (["frobnicate"], USAGE, "org.lifed.lifectl.Usage"),
        (["focus"], USAGE, "org.lifed.lifectl.Usage"),
        (["status", "--pid", "1"], NO_SUCH_APP, "org.lifed.lifectl.NoSuchApp"),
        (["list", "--socket", "/nowhere"], 69, "org.lifed.lifectl.Unavailable"),
        (["open", "/nowhere"], NO_SUCH_APP, "org.lifed.lifectl.NoSuchApp"),
        (["cat", "nobody"], NO_SUCH_APP, "org.lifed.lifectl.NoSuchApp"),
        (["restart", "tool"], REFUSED, "org.lifed.Refused"),
        (["kill", "tool", "--signal", "STOP"], REFUSED, "org.lifed.Refused"),
    ],
)
def test_a_failure_is_one_object_and_one_line(direct, words, status, error):
    direct.lifectl.start("tool", *programs.IDLE)
    result = direct.lifectl(*words, "--json", check=False)
    assert result.returncode == status
    failure = json.loads(result.stdout)
    assert set(failure) == {"error", "message", "parameters"} and failure["error"] == error
    assert result.stderr == f"lifectl: {failure['message']}\n"
    assert failure["message"].startswith("cannot ") and "; " in failure["message"]
    assert {"reason", "remedy"} <= set(failure["parameters"]) <= {"id", "reason", "remedy"}
    assert failure["message"].endswith(f"{failure['parameters']['reason']}; {failure['parameters']['remedy']}")


def test_one_fault_has_one_status_in_every_verb(direct):
    direct.lifectl.start("tool", *programs.IDLE)
    for verb in ("launch", "focus", "background", "suspend", "resume", "terminate", "kill", "restart", "status", "explain", "cat",
                 "edit", "release", "log"):
        assert direct.lifectl(verb, "nobody", check=False).returncode == NO_SUCH_APP, verb
    # An app that is gone has entries, and one with a manifest may have none yet.
    direct.lifectl("terminate", "tool")
    (direct.configuration / "apps.d/new.toml").write_text("command = ['true']\n")
    direct.lifectl("reload")
    assert "tool: " in direct.lifectl("log", "tool").stdout and direct.lifectl("log", "new").stdout == ""
    # 2^22 is the limit of the kernel.
    for words in (["adopt", "9999999"], ["status", "--pid", "9999999"]):
        assert direct.lifectl(*words, check=False).returncode == NO_SUCH_APP, words
    verbs = [["list"], ["focus", "a"], ["kill", "a", "b"], ["cat", "a"], ["interrupt", "--", "true"], ["restart", "a"], ["reload"]]
    for words in verbs:
        result = direct.lifectl("--socket", "/nowhere", *words, check=False)
        assert result.returncode == 69 and "lifed is not running" in result.stderr, words


def test_reload_with_mistakes_prints_them_and_fails(direct):
    manifest = direct.configuration / "apps.d/app.toml"
    manifest.write_text("command = 1\n")
    for options in ([], ["-q"]):
        result = direct.lifectl("reload", *options, check=False)
        assert result.returncode == INVALID_DATA and f"{manifest}:1: cannot use command: " in result.stdout, result
    assert len(direct.lifectl.json("reload", check=False)["problems"]) == 1
    assert direct.lifectl("reload", "--no-wait").stdout == ""
    manifest.write_text("command = ['true']\n")
    assert direct.lifectl("reload", "-q").stdout == ""


@pytest.mark.parametrize("words", [["monitor"], ["status", "--follow"], ["log", "-f", "--from", "daemon"]])
def test_command_that_follows_ends_with_the_reader_of_its_output(direct, words):
    direct.lifectl.start("one", *programs.IDLE)
    environment = {**os.environ, "LIFED_SOCKET": str(direct.socket)}
    command = [str(direct.products / "lifectl"), *words]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=60) == 0


def test_status_line_follows_the_apps_and_ends_with_the_daemon(direct):
    """For the bars of desktops: a line at once, and one after each change that shows."""
    direct.lifectl.start("one", "sleep", "infinity")
    environment = {**os.environ, "LIFED_SOCKET": str(direct.socket)}
    words = [str(direct.products / "lifectl"), "status", "--follow"]
    with subprocess.Popen([*words, "--format", "waybar"], env=environment, stdout=subprocess.PIPE, text=True) as bar:
        assert json.loads(bar.stdout.readline())["text"] == "one"
        direct.lifectl("home")
        assert json.loads(bar.stdout.readline()) == {
            "text": "one", "alt": "inactive", "tooltip": "one: inactive", "class": "inactive"}
        assert json.loads(bar.stdout.readline())["text"] == "no foreground app  1 in the background"
        direct.stop()
        assert bar.wait(timeout=60) == 69
    assert subprocess.run([*words[:-1], "--format", "text"], env=environment, capture_output=True).returncode == 64
