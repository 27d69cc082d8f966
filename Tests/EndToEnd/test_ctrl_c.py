"""Ctrl-C on a terminal ends a lifectl that waits for the daemon, before and after the program that it runs."""

import contextlib
import os
import signal
from pathlib import Path

from container import wait_for
from terminal import Terminal


@contextlib.contextmanager
def continued(daemon):
    """Continues the daemon in the end: while it is stopped, it answers no call."""
    try:
        yield
    finally:
        os.kill(daemon.process.pid, signal.SIGCONT)


def interrupt(terminal):
    """Presses Ctrl-C, and waits until lifectl has ended, or blocks the signal."""
    terminal.press(b"\x03")
    wait_for(lambda: terminal.process.poll() is not None or is_pending(terminal.process.pid, signal.SIGINT))


def is_pending(pid, number):
    fields = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["ShdPnd"], 16) >> (number - 1) & 1


def is_connected(pid):
    """Whether a process has a socket. A daemon that is stopped has connections, too."""
    with contextlib.suppress(FileNotFoundError):
        return any(os.readlink(each).startswith("socket:") for each in Path(f"/proc/{pid}/fd").iterdir())
    return False


def test_ctrl_c_before_an_interruption_begins_runs_no_command(direct, tmp_path):
    os.kill(direct.process.pid, signal.SIGSTOP)
    with continued(direct), Terminal(direct, "interrupt", "--", "touch", str(tmp_path / "ran")) as terminal:
        wait_for(lambda: is_connected(terminal.process.pid), what="lifectl is connected")
        interrupt(terminal)
        os.kill(direct.process.pid, signal.SIGCONT)
        assert terminal.status() == -signal.SIGINT
    assert not (tmp_path / "ran").exists()
    wait_for(lambda: direct.lifectl.json("status")["status"]["interruptions"] == [])


def test_interruption_ends_at_the_daemon_where_it_began(direct, tmp_path):
    """The socket of the user's own daemon is gone when the command ends: that of the system does not know of the interruption."""
    own = tmp_path / "lifed/control"
    own.parent.mkdir()
    own.symlink_to(direct.socket)
    environment = ["env", "-u", "LIFED_SOCKET", f"XDG_RUNTIME_DIR={tmp_path}"]
    result = direct.run([*environment, str(direct.products / "lifectl"), "interrupt", "--", "rm", str(own)])
    assert not result.stderr
    assert direct.lifectl.json("status")["status"]["interruptions"] == []


def test_ctrl_c_after_the_editor_ends_lifectl(direct, tmp_path, monkeypatch):
    manifest = direct.configuration / "apps.d/clock.toml"
    manifest.write_text("command = ['sleep', 'infinity']\n")
    direct.lifectl("reload")
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\nkill -STOP {direct.process.pid}\necho \"name = 'Clock'\" >>\"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with continued(direct), Terminal(direct, "edit", "clock") as terminal:
        wait_for(lambda: "Clock" in manifest.read_text(), what="the edit")
        interrupt(terminal)
        os.kill(direct.process.pid, signal.SIGCONT)
        assert terminal.status() == -signal.SIGINT
