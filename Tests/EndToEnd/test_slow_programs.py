"""Programs on a file system that does not answer, as sshfs does with a connection that is lost."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import programs
from container import wait_for

HERE = Path(__file__).parent
TIMED_OUT = 75


@pytest.fixture
def silent_files(desktop, tmp_path):
    """A directory whose file system does not answer."""
    if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
        pytest.skip("mounting a file system needs root and /dev/fuse")
    directory = tmp_path / "silent"
    directory.mkdir()
    server = subprocess.Popen([sys.executable, str(HERE / "slow_files.py"), str(directory), "true"])
    try:
        wait_for(lambda: str(directory) in Path("/proc/self/mounts").read_text(), what="the file system")
        # It has no open request then.
        assert os.path.exists(directory / "file")
        server.send_signal(signal.SIGSTOP)
        yield directory
    finally:
        # The kernel fails the requests of a server that is gone.
        server.kill()
        server.wait()
        subprocess.run(["umount", "--lazy", directory], stderr=subprocess.DEVNULL)


def manifest(directory):
    return f"command = ['{directory}/program']\n"


def manifest_with_search_path(directory):
    return f"command = ['program']\nenvironment = {{ PATH = '{directory}' }}\n"


@pytest.mark.parametrize("text", [manifest, manifest_with_search_path])
def test_a_program_that_cannot_be_looked_up_blocks_nothing_but_its_app(desktop, silent_files, text):
    desktop.lifectl.start("other", *programs.IDLE)
    (desktop.configuration / "apps.d" / "app.toml").write_text(text(silent_files))
    assert desktop.lifectl("reload", timeout=20, check=False).returncode == 0
    result = desktop.lifectl("launch", "app", "--timeout", "1", timeout=20, check=False)
    assert result.returncode == TIMED_OUT
    desktop.lifectl("focus", "other", timeout=20)
    assert desktop.lifectl.state("other") == "active"


def test_the_programs_of_desktop_entries_are_not_looked_up(desktop, silent_files):
    desktop.entry("app.desktop", f"TryExec={silent_files}/program", exec=f"{silent_files}/program")
    assert "app" in {app["id"] for app in desktop.lifectl.json("list", "--available", timeout=20)["apps"]}
    result = desktop.lifectl("launch", "app", "--timeout", "1", timeout=20, check=False)
    assert result.returncode == TIMED_OUT
    desktop.lifectl("list", timeout=20)
