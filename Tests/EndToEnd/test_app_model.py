"""An app that speaks the protocol well, badly or not at all, at random: it hears what it may hear, in order, and no
mistake of its own harms another app. LIFED_EXAMPLES=N tries N histories instead of the few that are always the same."""

import contextlib
import os
import socket
import tempfile
import time
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import event, settings
from hypothesis.stateful import initialize, invariant

import programs
from container import wait_for
from direct import DirectDaemon
from driver import call, connect
from examples import COUNT, SETTINGS
from far_end import FarEnd, listen
from histories import History, action

ROOT = Path(__file__).resolve().parents[2]
# No app misses a deadline here: the test waits for each answer.
CONFIGURATION = """
[timeouts]
willResignActive = "1h"
didEnterBackground = "1h"
launch = "1h"
callback = "1h"
task = "1h"
background = "0s"
"""
MISTAKES = [
    b"\n", b" \n", b"What? is=this\n", b"done\n", b"done seq=x\n", b"done seq=-1\n", b"begin-task id=1\n", b"\xff\xfe\x00\n",
    b"hello protocol=1\n", b"frobnicate\n", b"end-task id=99999999999999999999\n", b"a" * 9000 + b"\n",
    b"begin-task id=1 name=%zz\n", b"done seq=1 seq=1\n",
]
# The line that half a line begins.
HALF = 9
# No mistakes, and without any effect.
HARMLESS = [b"done seq=999999\n", b"end-task id=777\n", b"end-activity id=778\n", b"done seq=999999 unknown=field\n"]


class Channel(History):
    @initialize(greets=st.sampled_from([True, True, True, False]))
    def begin(self, greets):
        self.stack = contextlib.ExitStack()
        directory = Path(self.stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        self.daemon = DirectDaemon(ROOT / ".build" / os.environ.get("LIFED_BUILD", "release"), directory / "daemon")
        (self.daemon.configuration / "lifed.toml").write_text(CONFIGURATION)
        listener = self.stack.enter_context(listen(directory / "relay"))
        words = ", ".join("'''" + word + "'''" for word in FarEnd.command(directory / "relay"))
        (self.daemon.configuration / "apps.d/app.toml").write_text(
            f'command = [{words}]\ncallbacks = "required"\nbackgroundModes = ["audio"]\n'
        )
        self.daemon.start()
        self.stack.callback(self.daemon.stop)
        self.connection = self.stack.enter_context(connect(str(self.daemon.socket)))
        self.daemon.lifectl.start("other", *programs.IDLE, background=True)
        # Answered when the app is active, which is up to this test.
        self.waiting = self.stack.enter_context(connect(str(self.daemon.socket)))
        self.waiting.sendall(b'{"method": "org.lifed.Launch", "parameters": {"id": "app"}}\0')
        self.far = FarEnd.accept(listener)
        self.stack.callback(self.far.close)
        self.in_front = True
        self.holds = {}
        self.half = False
        if greets:
            self.far.hello()
            self.wait_for_silence()

    def teardown(self):
        if hasattr(self, "stack"):
            with contextlib.suppress(Exception):
                self.daemon.lifectl("kill", "app", check=False)
            self.stack.close()

    @property
    def has_launched(self):
        """Before that, an app that has to listen and has lost its channel is waited for until its launch is overdue."""
        launching = (None, "will-finish-launching", "did-finish-launching")
        return self.far.last not in launching or (self.far.last == launching[-1] and not self.far.outstanding)

    def details(self):
        return call(self.connection, "org.lifed.Describe", {"id": "app"})["parameters"]["details"]

    @property
    def can_speak(self):
        """True if it could, were it a process: a stopped process cannot, and a process continues its half line."""
        self.far.take()
        return not self.half and not self.far.closed and self.details()["app"]["state"] != "suspended"

    def want(self, app):
        """Asks for an app in the foreground without waiting for it."""
        with connect(str(self.daemon.socket)) as connection:
            connection.sendall(b'{"method": "org.lifed.Launch", "parameters": {"id": "%s"}}\0' % app.encode())
            wait_for(lambda: self.daemon.lifectl.app(app)["target"] == "active", what=f"{app} is wanted in the foreground")
        self.in_front = app == "app"

    def wait_for_silence(self):
        """Until it is the app's turn to say something."""
        def is_silent():
            self.far.take()
            return self.far.outstanding or self.far.closed or not self.details().get("pendingCallback")

        wait_for(is_silent, what="the app's turn")

    @action(app=st.sampled_from(["app", "other"]), behaves=st.booleans())
    def focus(self, app, behaves):
        self.want(app)
        if behaves:
            self.behave()

    # What it can say depends on what it was told. That is asked for here rather than in preconditions, so
    # that the histories are the same whatever the machine is busy with.

    @action(times=st.integers(1, 4))
    def answer(self, times):
        for _ in range(times):
            if self.can_speak and not self.far.greeted:
                self.far.hello()
            elif self.can_speak and self.far.outstanding:
                event(f"answers {self.far.last}")
                self.far.done()
            self.wait_for_silence()

    @action(data=st.sampled_from(HARMLESS + MISTAKES), count=st.sampled_from([1, 1, 1, 1, 16]))
    def talk_nonsense(self, data, count):
        if not self.can_speak or not self.far.welcomes:
            return
        if count == 16 and not self.has_launched:
            return
        for _ in range(count):
            self.far.send(data)
        if count == 16 and data not in HARMLESS:
            # A closed channel is the worst that comes of it.
            wait_for(lambda: self.far.take() or self.far.closed, what="the end of the channel")
            assert self.far.goodbye in ("too-many-mistakes", None)

    @action(number=st.integers(1, 3), mode=st.sampled_from([None, "audio", "location"]))
    def begin_or_end_a_hold(self, number, mode):
        if not self.can_speak or not self.far.welcomes:
            return
        if number in self.holds:
            kind = "activity" if self.holds.pop(number) else "task"
            return self.far.send(f"end-{kind} id={number}\n".encode())
        expected = "mode-not-declared" if mode == "location" else "granted"
        event(f"hold {expected}")
        line = f"begin-activity id={number} mode={mode}" if mode else f"begin-task id={number} name=upload"
        if self.ask(number, line.encode() + b"\n", expected) and expected == "granted":
            self.holds[number] = mode

    def ask(self, number, line, expected):
        """Says a line that is answered under a number, or its end; returns whether there is still a channel."""
        before = len(self.far.answers.get(number, []))
        self.far.send(line)
        wait_for(
            lambda: self.far.take() or self.far.closed or len(self.far.answers.get(number, [])) > before, what=f"{line}")
        if not self.far.closed:
            assert self.far.answers[number][before:] == [expected], (line, self.holds)
        return not self.far.closed

    @action()
    def say_half_a_line(self):
        """And the other half the next time. Together they ask for what is refused, and so change nothing."""
        if not self.half and self.can_speak and self.far.welcomes:
            self.half = True
            self.far.send(b"begin-activity id=%d mode=" % HALF)
        elif self.half:
            self.half = False
            self.ask(HALF, b"location\n", "mode-not-declared")

    @action()
    def hang_up(self):
        """While it holds something, or else there would be little to see of most histories."""
        if self.holds and self.can_speak and self.has_launched:
            event("hangs up")
            self.far.channel.shutdown(socket.SHUT_RDWR)
            wait_for(lambda: self.far.take() or self.far.closed, what="the end of the channel")

    def behave(self):
        """Answers everything until the app is where it is to be."""
        if self.half:
            self.say_half_a_line()
        self.far.take()
        if not self.far.greeted and not self.far.closed:
            self.far.hello()
        wait_for(self.is_settled, what="where the app is to be")

    @action()
    def come_to_rest(self):
        self.behave()

    def is_settled(self):
        self.far.take()
        if self.far.outstanding and not self.far.closed:
            self.far.done()
        details = self.details()
        expected = "active" if self.in_front else "background" if self.holds else "suspended"
        if self.far.closed:
            # Without its channel it is an app like any other, and has lost what held it.
            expected = "active" if self.in_front else "suspended"
        if details["app"]["state"] != expected or details.get("pendingCallback"):
            return False
        if not self.far.closed:
            assert not self.in_front or self.far.last == "did-become-active"
            assert {each["number"] for each in details["assertions"]} == set(self.holds)
        event(f"settles {expected}{' without a channel' if self.far.closed else ''}")
        return True

    @invariant()
    def the_daemon_is_well(self):
        if not hasattr(self, "far"):
            return
        self.far.take()
        began = time.monotonic()
        apps = self.daemon.lifectl.apps()
        assert time.monotonic() - began < 30
        assert [app["state"] for app in apps.values()].count("active") <= 1
        assert self.daemon.process.poll() is None


TestChannel = Channel.TestCase
TestChannel.settings = settings(SETTINGS, max_examples=int(COUNT or 30))
