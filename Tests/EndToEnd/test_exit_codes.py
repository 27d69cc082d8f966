"""Each way in which a request can fail has a number of its own, by whichever command it was made."""

import os
import signal
import subprocess

import pytest

import programs
from container import wait_for
from listeners import Listeners

DONE, OVERTAKEN, NOT_HANDLED, INTERRUPTED, UNANSWERED, ENDED, STOPPING = 0, 4, 5, 6, 7, 8, 9


@pytest.fixture
def listeners(direct, tmp_path):
    return Listeners(direct, tmp_path / "notes")


@pytest.fixture
def begin(direct):
    """Makes a request that waits, and gives what came of it when asked."""
    processes = []

    def begin(*arguments):
        environment = {**os.environ, "LIFED_SOCKET": str(direct.socket)}
        process = subprocess.Popen(
            [direct.products / "lifectl", *arguments],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        processes.append(process)

        def end():
            _, said = process.communicate(timeout=60)
            return process.returncode, said

        return end

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def waiting(direct, begin, listeners):
    """A launch that waits for an app which says nothing."""
    listeners.manifest("mute", "mute", extra='callbacks = "required"')
    end = begin("launch", "mute")
    wait_for(lambda: direct.lifectl.state("mute") == "inactive", what="mute waits for its answer")
    return end


def test_a_request_that_another_one_overtakes(direct, waiting):
    direct.lifectl.start("other", *programs.IDLE)
    status, said = waiting()
    assert (status, "displaced" in said) == (OVERTAKEN, True), said


def test_a_request_that_an_interruption_stops(direct, waiting):
    direct.lifectl("interrupt", "begin", "--name", "call")
    status, said = waiting()
    assert (status, "interruption" in said) == (INTERRUPTED, True), said


def test_a_request_that_the_end_of_the_daemon_stops(direct, waiting):
    direct.process.send_signal(signal.SIGTERM)
    status, said = waiting()
    assert (status, "stopping" in said) == (STOPPING, True), said


def test_a_request_for_an_app_that_crashes_meanwhile(direct, waiting):
    os.kill(direct.lifectl.pid("mute"), signal.SIGSEGV)
    status, said = waiting()
    assert (status, "ended before that" in said) == (ENDED, True), said


def test_unanswered_work_and_an_unanswered_url_have_one_number(direct, listeners):
    (direct.configuration / "lifed.toml").write_text('[timeouts]\ncallback = "300ms"\ntask = "300ms"\n')
    listeners.manifest("silent", "silent=perform-task", "silent=open-url", extra='callbacks = "required"')
    results = [
        direct.lifectl("wake", "silent", "--for", "fetch", check=False),
        direct.lifectl("open", "example:page", "--app", "silent", check=False),
    ]
    assert [result.returncode for result in results] == [UNANSWERED] * 2, [result.stderr for result in results]


def test_what_is_declined_and_what_fails_have_one_number(direct, listeners):
    listeners.manifest(
        "choosy", "answer=perform-task:result=failed", "answer=open-url:handled=no", extra='callbacks = "required"')
    results = [
        direct.lifectl("wake", "choosy", "--for", "fetch", check=False),
        direct.lifectl("open", "example:page", "--app", "choosy", check=False),
    ]
    assert [result.returncode for result in results] == [NOT_HANDLED] * 2, [result.stderr for result in results]


@pytest.mark.parametrize("command", ["launch", "focus"])
def test_a_launch_and_a_focus_can_wait_for_the_answer(direct, listeners, begin, command):
    listeners.manifest("clock", extra='callbacks = "required"')
    if command == "focus":
        direct.lifectl("launch", "--background", "clock")
    assert begin(command, "clock", "--wait", "answered")()[0] == DONE
    answered = [note for note in listeners.notes("clock") if (note.kind, note.text) == ("answers", "did-become-active")]
    assert len(answered) == 1


def test_an_app_that_does_not_answer_is_not_waited_for_without_end(direct, listeners):
    (direct.configuration / "lifed.toml").write_text('[timeouts]\ncallback = "300ms"\n')
    listeners.manifest("clock", "silent=did-become-active")
    result = direct.lifectl("launch", "clock", "--wait", "answered", check=False)
    assert (result.returncode, "did-become-active" in result.stderr) == (UNANSWERED, True), result.stderr
    assert direct.lifectl.state("clock") == "active"
    # The answer is still missing.
    assert direct.lifectl("focus", "clock", "--wait", "answered", check=False).returncode == UNANSWERED


def test_an_app_without_callbacks_has_nothing_to_answer(direct):
    (direct.configuration / "apps.d/plain.toml").write_text('command = ["sleep", "infinity"]\ncallbacks = "none"\n')
    direct.lifectl("reload")
    direct.lifectl("launch", "plain", "--wait", "answered")
    assert direct.lifectl.state("plain") == "active"
