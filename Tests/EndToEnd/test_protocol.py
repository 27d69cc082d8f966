"""The lines of the app protocol, said and heard by a test that holds the app's end of the channel."""

import contextlib
import os
import signal
import subprocess

import pytest

from container import wait_for
from far_end import FarEnd, listen


class App:
    """A process whose channel the test has."""

    def __init__(self, far):
        far.channel.settimeout(60)
        self.app = far.app
        self.lines = far.channel.makefile("r", newline="\n")

    def say(self, *lines):
        self.app.sendall("".join(f"{line}\n" for line in lines).encode("latin-1"))

    def hear(self):
        line = self.lines.readline()
        assert line.endswith("\n"), f"the end of the channel after {line!r}"
        line = line.rstrip("\n")
        if line.startswith("memory-warning "):
            # The machine's memory is nothing that a test decides.
            self.done(line)
            return self.hear()
        return line

    def ask(self, *lines):
        self.say(*lines)
        return self.hear()

    def hear_until(self, verb):
        """Answers callbacks until this line comes."""
        while (line := self.hear()).split()[0] != verb:
            self.done(line)
        return line

    def done(self, line):
        if sequence := fields(line).get("seq"):
            self.say(f"done seq={sequence}")

    def live_until(self, verb):
        line = self.hear_until(verb)
        self.done(line)
        return line


def fields(line):
    return dict(word.split("=", 1) for word in line.split()[1:])


@pytest.fixture
def launch(direct, tmp_path):
    """Launches an app and gives its channel, before its hello."""
    with contextlib.ExitStack() as stack:

        def launch(name):
            listener = stack.enter_context(listen(tmp_path / name))
            direct.lifectl.start(name, *FarEnd.command(tmp_path / name))
            far = FarEnd.accept(listener)
            stack.callback(far.close)
            return App(far)

        yield launch


MISTAKES = {
    "": "mistake reason=empty-line",
    " ": "mistake reason=malformed-verb",
    "\xff\xfe": "mistake reason=malformed-verb",
    "jump high=1": "mistake reason=unknown-verb verb=jump",
    "done": "mistake reason=missing-field verb=done key=seq",
    "done seq=1 ": "mistake reason=malformed-field verb=done",
    "done seq=1 seq=1": "mistake reason=duplicate-field verb=done key=seq",
    "done seq=1 handled=maybe": "mistake reason=unknown-value verb=done key=handled",
    "begin-task id=1": "mistake reason=missing-field verb=begin-task key=name",
    "begin-task id=9223372036854775808 name=x": "mistake reason=not-a-number verb=begin-task key=id",
    "begin-task id=1 name=%zz": "mistake reason=malformed-value verb=begin-task key=name",
    "begin-task id=1 name=%00": "mistake reason=unusable-text verb=begin-task key=name",
    "hello protocol=1": "mistake reason=out-of-place verb=hello",
    "jump" + "".join(f" k{number}=" for number in range(33)): "mistake reason=too-many-fields verb=jump",
    "x" * 20000: "mistake reason=too-long",
}


def test_every_malformed_line_is_answered_with_what_is_wrong(direct, launch):
    app = launch("clumsy")
    assert app.ask("hello protocol=1") == "welcome protocol=1 app-id=clumsy"
    app.live_until("did-become-active")
    for line, answer in MISTAKES.items():
        assert app.ask(line) == answer, line
    assert len(MISTAKES) == 15
    assert app.ask("begin-task id=1 name=x") == "granted id=1", "nothing has changed"
    app.say("done")
    assert app.hear() == "mistake reason=missing-field verb=done key=seq"
    assert app.hear() == "goodbye reason=too-many-mistakes"
    assert direct.lifectl.state("clumsy") == "active"


def test_a_mistake_before_hello_is_answered_too(direct, launch):
    app = launch("early")
    assert app.ask("done seq=1") == "mistake reason=out-of-place verb=done"
    assert app.ask("hello protocol=0") == "mistake reason=unknown-value verb=hello key=protocol"
    assert app.ask("hello") == "mistake reason=missing-field verb=hello key=protocol"
    assert app.ask("hello protocol=1").startswith("welcome ")


def test_granted_and_time_left_say_how_long_tasks_may_take(direct, launch):
    app = launch("clock")
    app.say("hello protocol=1")
    app.live_until("did-become-active")
    assert app.ask("time-left") == "time-left", "in the foreground the time does not run"
    assert app.ask("begin-task id=1 name=one") == "granted id=1"
    direct.lifectl("home")
    whole = int(fields(app.live_until("did-enter-background"))["background-ms"])
    asked = int(fields(app.ask("time-left"))["time-left-ms"])
    granted = fields(app.ask("begin-task id=2 name=two"))
    again = int(fields(app.ask("time-left"))["time-left-ms"])
    assert 0 < again <= int(granted["time-left-ms"]) <= asked <= whole == 30000


def test_a_woken_app_has_the_time_anew(direct, launch):
    app = launch("mail")
    app.say("hello protocol=1")
    app.live_until("did-become-active")
    direct.lifectl("home")
    app.live_until("did-enter-background")
    direct.lifectl.wait_for_state("mail", "suspended")
    waker = subprocess.Popen(
        [direct.products / "lifectl", "wake", "mail", "--for", "fetch"],
        env={**os.environ, "LIFED_SOCKET": str(direct.socket)},
    )
    task = app.hear_until("perform-task")
    left = int(fields(app.ask("time-left"))["time-left-ms"])
    assert 0 < left <= 30000
    app.done(task)
    assert waker.wait(60) == 0


def test_restoration_is_told_in_the_same_way_on_the_channel_and_in_the_environment(direct, tmp_path):
    script = tmp_path / "app"
    script.write_text(
        f'env | grep ^LIFECYCLE_RESTORE >>"{tmp_path}/said"\n'
        "echo hello protocol=1 >&3\n"
        "while read -r verb words <&3; do\n"
        f'  case $verb in will-finish-launching) echo "$words" | grep -o "restore=.*" >>"{tmp_path}/said"\n'
        f'    echo launched >>"{tmp_path}/said" ;; esac\n'
        '  case $words in seq=*) echo "done ${words%% *}" >&3 ;; esac\n'
        "done\n"
    )
    (direct.configuration / "apps.d/app.toml").write_text(f'command = ["sh", "{script}"]\n')
    direct.lifectl("reload")

    def launches(count):
        direct.lifectl("launch", "app")
        said = tmp_path / "said"
        wait_for(lambda: said.exists() and said.read_text().count("launched") == count, what=f"launch {count}")
        return said.read_text()

    assert launches(1) == "launched\n", "a first launch restores nothing"
    os.kill(direct.lifectl.pid("app"), signal.SIGKILL)
    direct.lifectl.wait_for_state("app", "notRunning")
    said = launches(2).splitlines()[1:]
    assert said[0] == "LIFECYCLE_RESTORE=1"
    assert said[1].split()[0] == "restore=1"
    direct.lifectl("terminate", "app")
    assert launches(3).splitlines()[4:] == ["launched"]
