"""Connected apps that lifed did not launch: they find its socket themselves, and have callbacks from their adoption on."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from container import wait_for

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / ".build" / "liblifecycle" / "lib"
SAMPLE = LIBRARY.parent / "c-app"

LAUNCH = ["will-finish-launching inactive", "did-finish-launching inactive", "did-become-active active"]
LEAVE = ["will-resign-active active", "did-enter-background background"]


class Outsider:
    """The sample in C, started by no daemon."""

    def __init__(self, direct, log, command=(str(SAMPLE),), runtime=None):
        runtime = runtime or direct.runtime.parent / "user"
        runtime.mkdir(exist_ok=True)
        if not (runtime / "lifed").exists():
            (runtime / "lifed").symlink_to(direct.runtime)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("LIFECYCLE_")}
        self.log = log
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                [*command], env={**environment, "XDG_RUNTIME_DIR": str(runtime), "LD_LIBRARY_PATH": str(LIBRARY)}, stdin=subprocess.DEVNULL, stdout=output,
                start_new_session=True)
        self.pid = self.process.pid

    @property
    def said(self):
        return self.log.read_text().splitlines()

    def wait_until_said(self, *lines):
        wait_for(lambda: self.said == list(lines), what=f"{lines}; it said {self.said}")

    def stop(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


@pytest.fixture
def outsider(direct, tmp_path):
    if not SAMPLE.exists():
        pytest.skip("the samples are not built: make samples")
    app = Outsider(direct, tmp_path / "said")
    yield app
    app.stop()


def connected(direct, identifier="clock"):
    return direct.lifectl.app(identifier)["connected"]


def test_app_is_told_of_its_life_from_its_adoption_on(direct, outsider):
    outsider.wait_until_said(*LAUNCH)
    direct.lifectl("adopt", str(outsider.pid), "--id", "clock", "--background")
    outsider.wait_until_said(*LAUNCH, *LEAVE)
    assert connected(direct)
    direct.lifectl.wait_for_state("clock", "suspended")
    direct.lifectl("focus", "clock")
    life = [*LAUNCH, *LEAVE, "will-enter-foreground background", "did-become-active active"]
    outsider.wait_until_said(*life)
    direct.lifectl("background", "clock")
    direct.lifectl.wait_for_state("clock", "suspended")
    # Released, it is an ordinary program again; adopted once more, it has a life again.
    direct.lifectl("release", "clock")
    life += [*LEAVE, "will-enter-foreground background", "did-become-active active"]
    outsider.wait_until_said(*life)
    direct.lifectl("adopt", str(outsider.pid), "--id", "clock", "--background")
    outsider.wait_until_said(*life, *LEAVE)
    direct.lifectl("terminate", "clock")
    outsider.wait_until_said(*life, *LEAVE, "will-terminate background")
    assert outsider.process.wait(timeout=60) == 0


def test_app_in_the_foreground_is_active_again(direct, outsider):
    outsider.wait_until_said(*LAUNCH)
    direct.lifectl("adopt", str(outsider.pid), "--id", "clock")
    outsider.wait_until_said(*LAUNCH, "will-resign-active active", "did-become-active active")
    assert direct.lifectl.state("clock") == "active"


def test_app_keeps_its_callbacks_when_the_daemon_is_killed(direct, outsider):
    outsider.wait_until_said(*LAUNCH)
    direct.lifectl("adopt", str(outsider.pid), "--id", "clock", "--background")
    outsider.wait_until_said(*LAUNCH, *LEAVE)
    direct.process.kill()
    direct.process.wait()
    direct.start()
    direct.lifectl("focus", "clock")
    outsider.wait_until_said(*LAUNCH, *LEAVE, "will-enter-foreground background", "did-become-active active")
    assert connected(direct)


def test_app_that_no_daemon_adopts_finds_the_next_daemon(direct, outsider):
    outsider.wait_until_said(*LAUNCH)
    direct.process.kill()
    direct.process.wait()
    direct.start()
    adopt = ("adopt", str(outsider.pid), "--id", "clock", "--background")
    direct.lifectl(*adopt)
    outsider.wait_until_said(*LAUNCH, *LEAVE)
    assert connected(direct)


def test_daemon_that_does_not_answer_delays_no_app(direct, tmp_path):
    direct.process.send_signal(signal.SIGSTOP)
    try:
        app = Outsider(direct, tmp_path / "said")
        app.wait_until_said(*LAUNCH)
        app.stop()
    finally:
        direct.process.send_signal(signal.SIGCONT)


def test_program_in_a_terminal_does_not_speak_for_the_terminal(direct, tmp_path):
    """It has a session of its own below the adopted process."""
    below = f"import subprocess; subprocess.Popen(['setsid', {str(SAMPLE)!r}]).wait()"
    shell = Outsider(direct, tmp_path / "said", [sys.executable, "-c", below])
    try:
        shell.wait_until_said(*LAUNCH)
        direct.lifectl("adopt", str(shell.pid), "--id", "terminal", "--background")
        direct.lifectl.wait_for_state("terminal", "suspended")
        assert shell.said == LAUNCH
        assert not connected(direct, "terminal")
    finally:
        direct.lifectl("kill", "terminal")
        shell.stop()


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bwrap is not installed")
def test_app_in_a_sandbox_that_shows_the_directory_is_connected(direct, tmp_path):
    """As `flatpak run --filesystem=xdg-run/lifed` does: other namespaces of users, processes and files."""
    runtime = tmp_path / "sandbox"
    runtime.mkdir()
    sandbox = [
        "bwrap", "--unshare-user", "--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc",
        "--tmpfs", "/run", "--bind", str(direct.runtime), "/run/user/lifed", "--setenv", "XDG_RUNTIME_DIR", "/run/user",
        str(SAMPLE),
    ]
    app = Outsider(direct, tmp_path / "said", sandbox)
    try:
        app.wait_until_said(*LAUNCH)
        direct.lifectl("adopt", str(app.pid), "--id", "clock", "--background")
        app.wait_until_said(*LAUNCH, *LEAVE)
        assert connected(direct)
    finally:
        direct.lifectl("kill", "clock")
        app.stop()


def test_connections_of_no_app_have_a_limit(direct):
    """Each process that connects keeps one descriptor of the daemon. The oldest of the process with the most make room."""
    held = []
    try:
        for _ in range(80):
            each = socket.socket(socket.AF_UNIX)
            each.settimeout(30)
            each.connect(str(direct.runtime / "channel"))
            held.append(each)
            assert each.recv(100) == b"unmanaged\n"
        assert [each.recv(100) for each in held[:16]] == [b""] * 16
        for each in held[16:]:
            each.setblocking(False)
            with pytest.raises(BlockingIOError):
                each.recv(100)
    finally:
        for each in held:
            each.close()
    wait_for(lambda: len(os.listdir(f"/proc/{direct.process.pid}/fd")) < 64)
