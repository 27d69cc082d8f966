"""Programs on a file system that does not answer, as sshfs does with a connection that is lost."""

import os
import signal

import pytest

import programs
import slow_files

TIMED_OUT = 75


@pytest.fixture
def silent_files(desktop, tmp_path):
    """A directory whose file system does not answer."""
    directory = tmp_path / "silent"
    with slow_files.served(directory) as server:
        # It has no open request then.
        assert os.path.exists(directory / "file")
        server.send_signal(signal.SIGSTOP)
        yield directory


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
