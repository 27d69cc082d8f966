"""The desktop entries of this machine's packages."""

import os
import shutil
from pathlib import Path

import pytest

from desktop import refusal

SHARED = Path("/usr/share/applications")


@pytest.mark.parametrize("name", ["foot", "debian-xterm"])
def test_an_entry_of_a_package_can_be_launched(desktop, name):
    if not (SHARED / f"{name}.desktop").exists():
        pytest.skip(f"{name}.desktop is not installed")
    found = desktop.launchable()[name]
    assert found["file"] == str(SHARED / f"{name}.desktop") and found["name"]
    # There is no display, so it ends at once; that it was started is what counts.
    result = desktop.lifectl("launch", name, check=False)
    assert result.returncode in (0, 1, 73), result.stderr
    assert "desktop entry" not in result.stderr


def test_an_entry_of_a_package_that_needs_a_terminal_is_refused(desktop):
    if not (SHARED / "vim.desktop").exists():
        pytest.skip("vim.desktop is not installed")
    status, text = refusal(desktop, "launch", "vim")
    assert status == 11 and "Terminal=true" in text


def test_every_entry_of_this_machine_is_read_or_refused_with_a_reason(desktop):
    apps = desktop.launchable("--all")
    expected = {path.stem for path in SHARED.glob("*.desktop")}
    assert expected <= set(apps)
    odd = [app["problem"] for app in apps.values() if app.get("problem")]
    known = ("Terminal=true", "Hidden=true", "TryExec", "does not exist", "D-Bus", "Type is", "has no Exec")
    assert [problem for problem in odd if not any(word in problem for word in known)] == []


def test_the_systems_daemon_takes_an_entry_for_a_manifest_with_a_user(direct, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("starting apps as another user needs root")
    if not (SHARED / "foot.desktop").exists() or not shutil.which("foot"):
        pytest.skip("foot is not installed")
    assert direct.lifectl("launch", "foot", check=False).returncode == 66
    apps = direct.configuration / "apps.d"
    (apps / "foot.toml").write_text("suspend = 'never'\n")
    direct.lifectl("reload")
    assert direct.lifectl.json("list", "--available")["apps"] == []
    (apps / "foot.toml").write_text("user = 'nobody'\n")
    direct.lifectl("reload")
    assert [app["id"] for app in direct.lifectl.json("list", "--available")["apps"]] == ["foot"]
    details = direct.lifectl.json("status", "foot")["details"]
    assert (details["command"], details["user"]) == (["foot"], "nobody")
