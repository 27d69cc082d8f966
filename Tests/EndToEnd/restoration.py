"""Helpers for the tests of a daemon that restores apps."""

import re
from pathlib import Path

import pytest


def kill(daemon):
    daemon.process.kill()
    daemon.process.wait()


def start_again(daemon, between=lambda: None):
    kill(daemon)
    between()
    daemon.start()


def configure(daemon, text="", timeouts="background = '0s'"):
    # Control groups cannot be demanded.
    containment = "auto" if daemon.containment == "cgroup" else daemon.containment
    (daemon.configuration / "lifed.toml").write_text(
        f"containment = '{containment}'\n{text}\n[timeouts]\n{timeouts}\n"
    )
    daemon.stop()
    daemon.start()


def manifest(daemon, identifier, command, extra=""):
    words = ", ".join("'''" + word + "'''" for word in command)
    (daemon.configuration / f"apps.d/{identifier}.toml").write_text(f"command = [{words}]\n{extra}\n")
    daemon.lifectl("reload")


def rescue(daemon, check=True):
    """Runs the script by hand, as for a daemon that systemd has not started."""
    script = Path(__file__).resolve().parents[2] / "systemd/rescue"
    return daemon.run(["sh", str(script), str(daemon.runtime)], check=check)


def state_file(daemon):
    return daemon.runtime / "state"


def saved(daemon):
    """The state file without the zeros that follow what is written."""
    return state_file(daemon).read_text().rstrip("\0")


def slots_file(daemon):
    return daemon.runtime / "state.slots"


SLOTS_BEGIN, SLOT_SIZE, ANNOUNCED, CHANNEL = 1024, 1024, 5, 8


def is_greeted(daemon, identifier):
    """True if this daemon has heard the hello of an app: the state has the version of its protocol."""
    data = slots_file(daemon).read_bytes()
    for slot in range(SLOTS_BEGIN, len(data), SLOT_SIZE):
        copies = [data[each : each + SLOT_SIZE // 2] for each in (slot, slot + SLOT_SIZE // 2)]
        newest = max(copies, key=lambda copy: int.from_bytes(copy[8:16], "little"))
        version = identifier.encode() + b"\x01" + (1).to_bytes(8, "little")
        if newest[24] == CHANNEL and any(newest[:8]) and version in newest:
            return True
    return False


def forget_announcement(daemon):
    """Damages the last note that transitions are announced, so that the one before counts."""
    data = bytearray(slots_file(daemon).read_bytes())
    copies = range(SLOTS_BEGIN, len(data), SLOT_SIZE // 2)
    notes = [each for each in copies if data[each + 24] == ANNOUNCED and any(data[each : each + 8])]
    newest = max(notes, key=lambda each: int.from_bytes(data[each + 8 : each + 16], "little"))
    data[newest : newest + 8] = bytes(8)
    slots_file(daemon).write_bytes(data)


def group_of(daemon, identifier):
    """The app's cgroup, in the file system."""
    if daemon.lifectl.app(identifier)["containment"] != "cgroup":
        pytest.skip("apps have no control groups here")
    base = re.findall(r"lifed makes a control group for each app in (/\S+)", daemon.logged)[-1]
    return Path(base) / "apps" / f"app-{identifier}"
