"""Which app a process belongs to."""

import json
import os
import subprocess

import pytest

import programs
from adoption import found
from container import wait_for
from driver import call, connect
from puppet import Puppet

NO_SUCH_APP = 66


def test_every_process_of_an_app_is_found(daemon):
    first = daemon.lifectl.start("first", *programs.FAMILY)
    second = daemon.lifectl.start("second", *programs.RUNAWAY)
    wait_for(lambda: len(daemon.kernel.tree(first)) == 5)
    wait_for(lambda: len(daemon.lifectl.json("status", "second")["details"]["processes"]) == 4)
    for identifier in ("first", "second"):
        for process in daemon.lifectl.json("status", identifier)["details"]["processes"]:
            assert found(daemon, process["pid"]) == identifier
    assert "  app  second\n" in daemon.lifectl("status", "--pid", str(second)).stdout
    assert daemon.lifectl.json("status", "--pid", str(first))["details"]["app"]["id"] == "first"


def test_a_process_of_nobody_is_nobodys(daemon):
    daemon.lifectl.start("app", *programs.IDLE)
    ended = subprocess.Popen(["true"])
    ended.wait()
    for pid in (1, os.getpid(), daemon.process.pid, ended.pid, 2**31 - 1):
        assert found(daemon, pid) is None
    result = daemon.lifectl("status", "--pid", str(os.getpid()), check=False)
    assert result.returncode == NO_SUCH_APP and "belongs to no app" in result.stderr
    error = json.loads(daemon.lifectl("status", "--pid", "1", "--json", check=False).stdout)
    assert error["error"] == "org.lifed.lifectl.NoSuchApp"


@pytest.mark.parametrize("pid", [0, -1, 2**31, 2**63 - 1, "1", None, 1.5, True])
def test_what_is_no_process_number_is_refused(direct, pid):
    with connect(str(direct.socket)) as connection:
        error = call(connection, "org.lifed.FindApp", {"pid": pid})
    assert error["error"] == "org.varlink.service.InvalidParameter"


def test_an_app_finds_itself_alone(daemon, tmp_path):
    puppet = Puppet(daemon, "puppet", tmp_path / "puppet")
    daemon.lifectl("reload")
    daemon.lifectl("launch", "puppet")
    other = daemon.lifectl.start("other", *programs.IDLE)
    assert puppet.lifectl(f"status --pid {daemon.lifectl.pid('puppet')}").returncode == 0
    assert "  app  puppet\n" in puppet.lifectl("status --pid $$").stdout
    assert puppet.lifectl(f"status --pid {other}").returncode == NO_SUCH_APP
