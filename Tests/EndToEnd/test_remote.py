"""lifectl on another machine through a real ssh: a daemon here, and one where ssh leads."""

import json
import os
import shutil

import pytest

from direct import DirectDaemon
from listeners import Listeners
from sshd import Sshd

INFO = json.dumps({"title": "it's $(here) \\ \"there\"\n*", "page": 4})
PATH = "/usr/sbin:/usr/local/sbin:" + os.environ["PATH"]


@pytest.fixture
def kitchen(direct, tmp_path, monkeypatch):
    """Another daemon, which can be reached by "ssh kitchen" alone."""
    if not shutil.which("ssh") or not shutil.which("sshd", path=PATH):
        pytest.skip("there is no OpenSSH, client and server: scripts/deps test installs both")
    daemon = DirectDaemon(direct.products, tmp_path / "kitchen")
    daemon.start()
    sshd = Sshd("kitchen", tmp_path / "sshd", direct.products / "lifectl", daemon.socket)
    sshd.client_program(tmp_path / "client")
    monkeypatch.setenv("PATH", f"{tmp_path}/client:{os.environ['PATH']}")
    sshd.start()
    daemon.address = f"{sshd.user}@{sshd.name}"
    yield daemon
    sshd.stop()
    daemon.stop()


def activities(listeners):
    return [text for text in listeners.told("reader") if text.startswith("continue-activity ")]


def test_an_activity_is_handed_from_one_machine_to_another(direct, kitchen, tmp_path):
    here, there = Listeners(direct, tmp_path / "here"), Listeners(kitchen, tmp_path / "there")
    for listeners in (here, there):
        listeners.manifest("reader", "answer=continue-activity:handled=yes")
    direct.lifectl("handoff", "reader", "--activity", "org.example.read", "--info", '{"page": 1}')
    arguments = ["reader", "--activity", "org.example.read", "--info", INFO]
    reply = direct.lifectl.json("--host", kitchen.address, "handoff", *arguments)
    assert (reply["app"]["id"], reply["outcome"]) == ("reader", "handled")
    there.wait_until_told("reader", "did-become-active")
    assert kitchen.lifectl.state("reader") == "active"
    assert len(activities(here)) == 1
    kitchen.lifectl("handoff", *arguments)
    # Two shells and ssh between have not changed a byte of it.
    first, second = (text.split("info=")[1] for text in activities(there))
    assert first == second


def test_what_is_said_there_and_how_it_ends_comes_back(direct, kitchen):
    kitchen.lifectl.start("clock", "sleep", "infinity")
    assert [app["id"] for app in direct.lifectl.json("list", "--host", kitchen.address)["apps"]] == ["clock"]
    assert direct.lifectl.apps() == {}
    result = direct.lifectl("--host", kitchen.address, "focus", "nobody", check=False)
    assert (result.returncode, "nobody" in result.stderr) == (66, True)


def test_a_machine_that_does_not_answer_is_no_success(direct, kitchen):
    assert direct.lifectl("--host", "cellar.invalid", "list", check=False).returncode == 255
