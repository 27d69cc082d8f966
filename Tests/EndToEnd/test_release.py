"""What the tools of the system's release make of lifed: systemd's varlinkctl and journalctl."""

import json

import pytest

import programs

SOCKET = "unix:/run/lifed/control"


@pytest.fixture
def varlinkctl(container, lifed):
    if container.run(["sh", "-c", "command -v varlinkctl"], check=False).returncode != 0:
        pytest.skip("this release has no varlinkctl")

    def run(*arguments):
        result = container.run(["varlinkctl", *arguments])
        # It says there that it could not parse a description, and succeeds.
        assert result.stderr == ""
        return result.stdout

    return run


def interfaces(varlinkctl):
    return [name for name in varlinkctl("list-interfaces", SOCKET).split() if "." in name]


def test_varlinkctl_tells_what_the_service_is(varlinkctl):
    assert "io.systemd.Metrics" in interfaces(varlinkctl)
    assert "lifed" in varlinkctl("info", SOCKET)


def test_varlinkctl_understands_every_interface(varlinkctl):
    for name in interfaces(varlinkctl):
        assert f"interface {name}" in varlinkctl("introspect", SOCKET, name)
        assert f"{name}." in varlinkctl("list-methods", SOCKET, name)


def test_varlinkctl_calls(varlinkctl, lifed):
    lifed.lifectl.start("app", *programs.IDLE)
    answers = varlinkctl("call", "--more", "--json=short", SOCKET, "io.systemd.Metrics.List", "{}")
    values = [json.loads(line.lstrip("\x1e"))["value"] for line in answers.splitlines() if line.strip("\x1e ")]
    assert values and all(isinstance(value, (int, float, str)) for value in values)


def test_journalctl_explains_a_transition(container, lifed):
    lifed.lifectl.start("app", *programs.IDLE)
    lifed.lifectl("suspend", "app")
    container.run(["journalctl", "--sync"])
    explained = container.run(["journalctl", "-x", "-u", "lifed.service", "-n", "50"]).stdout
    assert "This is normal, and nothing needs to be done" in explained
