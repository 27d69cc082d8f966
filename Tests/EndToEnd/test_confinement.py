"""A program that a client has run gets no more than the client has."""

import os
import shutil

import pytest

import programs
from takeover import manifest

NO_CHOWN = ~1


def status(pid):
    with open(f"/proc/{pid}/status") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def limits(pid):
    with open(f"/proc/{pid}/limits") as file:
        return {line[:26].strip(): tuple(line[26:].split()[:2]) for line in file}


def run_as(daemon, *wrapper):
    command = [*wrapper, str(daemon.products / "lifectl"), "run", "--id", "app", "--background", "--", *programs.IDLE]
    daemon.run(command)
    return daemon.lifectl.pid("app")


def test_an_app_has_no_higher_limits_than_the_client_that_ran_it(direct):
    usual = limits(os.getpid())
    pid = run_as(direct, "prlimit", "--nofile=123:456", "--cpu=1000:2000", "--nproc=3000:4000")
    found = limits(pid)
    assert found["Max open files"] == ("123", "456")
    assert found["Max cpu time"] == ("1000", "2000")
    assert found["Max processes"] == ("3000", "4000")
    changed = {"Max open files", "Max cpu time", "Max processes"}
    assert {name: value for name, value in found.items() if name not in changed} == {
        name: value for name, value in usual.items() if name not in changed
    }


@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv")
def test_an_app_of_a_client_without_new_privileges_gains_none_either(direct):
    assert status(run_as(direct, "setpriv", "--no-new-privs"))["NoNewPrivs"] == "1"


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_an_app_keeps_to_the_bounding_set_of_its_client(direct):
    usual = int(status(direct.process.pid)["CapBnd"], 16)
    pid = run_as(direct, "setpriv", "--bounding-set=-chown")
    found = status(pid)
    assert int(found["CapBnd"], 16) == usual & NO_CHOWN and int(found["CapPrm"], 16) & ~NO_CHOWN == 0
    assert found["NoNewPrivs"] == "0"


def test_a_manifest_forbids_new_privileges(direct):
    manifest(direct, "app", programs.IDLE, "noNewPrivileges = true")
    direct.lifectl("launch", "app")
    assert status(direct.lifectl.pid("app"))["NoNewPrivs"] == "1"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("capabilities, bits", [("[]", 0), ("['CAP_CHOWN', 'CAP_KILL']", 1 << 0 | 1 << 5)])
def test_a_manifest_bounds_capabilities(direct, capabilities, bits):
    manifest(direct, "app", programs.IDLE, f"capabilities = {capabilities}")
    direct.lifectl("launch", "app")
    found = status(direct.lifectl.pid("app"))
    assert (int(found["CapBnd"], 16), int(found["CapPrm"], 16)) == (bits, bits)
    assert found["NoNewPrivs"] == "0"


def test_an_app_of_an_unconfined_client_is_as_before(direct):
    found = status(run_as(direct))
    daemons = status(direct.process.pid)
    assert (found["NoNewPrivs"], found["CapBnd"]) == (daemons["NoNewPrivs"], daemons["CapBnd"])
