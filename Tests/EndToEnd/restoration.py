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


def records(daemon):
    """The last record of each name, which is its kind and its app, of the log without a frame that was cut off."""
    found = {}
    for lines in frames(daemon):
        for line in lines:
            words = line.split(" ")
            gone = words[0] == "no"
            name = tuple(word for word in words[gone : gone + 2] if "=" not in word)
            found.pop(name, None)
            if not gone:
                found[name] = line
    return found


def frames(daemon):
    """The lines of each step."""
    text = state_file(daemon).read_bytes().rstrip(b"\0").decode()
    return [body.splitlines() for size, body in re.findall(r"^frame (\d+)\n(.*?)^end \1$", text, re.M | re.S) if len(body.encode()) == int(size)]


def add_step(daemon, *lines):
    """Adds a step to the log of a daemon that was killed."""
    data = state_file(daemon).read_bytes().rstrip(b"\0")
    body = "".join(line + "\n" for line in lines).encode()
    state_file(daemon).write_bytes(data + b"frame %d\n" % len(body) + body + b"end %d\n" % len(body))


def is_greeted(daemon, identifier):
    """True if this daemon has heard the hello of an app: the state has the version of its protocol."""
    return " version=1" in records(daemon).get(("channel", identifier), "")


def forget_announcement(daemon):
    """Takes back the last note that transitions are announced: the step of the note, and of those that it is about."""
    data = state_file(daemon).read_bytes()
    noted = data.rindex(b"\nannounced\n") + 1
    state_file(daemon).write_bytes(data[:noted] + b"forgotten\n" + data[noted + len(b"announced\n") :])


def change_format(daemon):
    """Makes the state one that a daemon with another format has written."""
    text, count = re.subn("^lifed-state [a-z]+=[^ ]+", "lifed-state format=another", state_file(daemon).read_text())
    assert count == 1
    state_file(daemon).write_text(text)


def group_of(daemon, identifier):
    """The app's cgroup, in the file system."""
    if daemon.lifectl.app(identifier)["containment"] != "cgroup":
        pytest.skip("apps have no control groups here")
    base = re.findall(r"lifed makes a control group for each app in (/\S+)", daemon.logged)[-1]
    return Path(base) / "apps" / f"app-{identifier}"
