"""Processes of an app that leave its control group: systemd moves what asks for a scope of its own."""

import contextlib

import pytest

from container import wait_for
from restoration import configure, group_of, manifest, rescue, start_again

SCOPE = "systemd-run --scope --quiet --collect"


def numbers(service, identifier):
    return {each["pid"] for each in service.lifectl.json("status", identifier)["details"]["processes"]}


def name_of(service, pid):
    found = service.kernel.stat(pid)
    return found.name if found else None


def scoped(service, count=1):
    """The processes in scopes that systemd-run has made."""

    def found():
        text = service.container.run(
            ["sh", "-c", "cat /sys/fs/cgroup/system.slice/run-*.scope/cgroup.procs"], check=False
        ).stdout
        pids = {int(pid) for pid in text.split()}
        return pids if len(pids) == count and all(service.kernel.stat(pid).name == "sleep" for pid in pids) else None

    return wait_for(found, what="systemd has moved the process")


@pytest.fixture
def scopes(lifed):
    yield lifed
    lifed.container.run(["sh", "-c", "systemctl kill --signal=KILL 'run-*.scope'"], check=False)


def test_main_process_that_asks_for_a_scope_is_held(scopes):
    scopes.lifectl("run", "--id", "moved", "--", *SCOPE.split(), "sleep", "infinity")
    (pid,) = scoped(scopes)
    assert scopes.lifectl.pid("moved") == pid
    scopes.lifectl("suspend", "moved")
    assert scopes.kernel.stat(pid).state == "T"
    scopes.lifectl("focus", "moved")
    assert scopes.kernel.stat(pid).state in ("R", "S")
    scopes.lifectl("terminate", "moved")
    assert not scopes.kernel.exists(pid)
    assert scopes.lifectl.state("moved") != "terminating"


def test_child_that_asks_for_a_scope_is_held(scopes):
    script = f"{SCOPE} sleep infinity & {SCOPE} sh -c 'sleep infinity & wait' & exec sleep infinity"
    scopes.lifectl("run", "--id", "mixed", "--", "sh", "-c", script)
    names = {"sh", "sleep"}
    wait_for(lambda: len(numbers(scopes, "mixed")) == 4 and {name_of(scopes, pid) for pid in numbers(scopes, "mixed")} == names)
    pids = numbers(scopes, "mixed")
    scopes.lifectl("suspend", "mixed")
    assert all(scopes.kernel.stat(pid).state == "T" for pid in pids)
    scopes.systemctl("kill", "--kill-who=main", "--signal=KILL", "lifed.service")
    wait_for(lambda: scopes.lifectl("status", "mixed", check=False).returncode == 0)
    assert scopes.lifectl.state("mixed") == "suspended"
    assert numbers(scopes, "mixed") == pids
    scopes.lifectl("focus", "mixed")
    wait_for(lambda: all(scopes.kernel.stat(pid).state == "S" for pid in pids))
    scopes.lifectl("terminate", "mixed")
    assert not any(scopes.kernel.exists(pid) for pid in pids)


def test_orphan_in_a_scope_ends_with_its_app(scopes):
    script = f"sh -c '{SCOPE} sleep infinity & exit'; sleep infinity"
    scopes.lifectl("run", "--id", "orphan", "--", "sh", "-c", script)
    (pid,) = scoped(scopes)
    wait_for(lambda: pid in numbers(scopes, "orphan"))
    scopes.lifectl("suspend", "orphan")
    assert scopes.kernel.stat(pid).state == "T"
    scopes.lifectl("kill", "orphan")
    wait_for(lambda: not scopes.kernel.exists(pid))


@contextlib.contextmanager
def elsewhere(daemon):
    """A control group beside those of the apps."""
    group = group_of(daemon, "app").parents[1] / "elsewhere"
    group.mkdir()
    yield group
    daemon.stop()
    # The daemon removes what is below its own group.
    assert not group.exists()


@pytest.mark.parametrize("method", ["signal", "freezer", "both"])
def test_process_in_another_group_is_held(direct, method):
    direct.containment = "auto"
    configure(direct)
    manifest(direct, "app", ["sh", "-c", "sleep infinity & sleep infinity & wait"], f"suspendMethod = '{method}'")
    direct.lifectl("launch", "app")
    pid = direct.lifectl.pid("app")
    wait_for(lambda: len(direct.kernel.tree(pid)) == 3)
    members = [each.pid for each in direct.kernel.tree(pid)]
    with elsewhere(direct) as group:
        for moved in (members[1], pid):
            (group / "cgroup.procs").write_text(str(moved))
            direct.lifectl("suspend", "app")
            assert direct.kernel.stat(moved).state == "T"
            assert {each["pid"] for each in direct.lifectl.json("status", "app")["details"]["processes"]} == set(members)
            direct.lifectl("focus", "app")
            wait_for(lambda: all(direct.kernel.stat(each).state == "S" for each in members))
        direct.lifectl("suspend", "app")
        start_again(direct)
        assert direct.lifectl.state("app") == "suspended"
        direct.lifectl("focus", "app")
        wait_for(lambda: all(direct.kernel.stat(each).state == "S" for each in members))
        direct.lifectl("terminate", "app")
        assert not any(direct.kernel.exists(each) for each in members)


def test_rescue_continues_a_process_in_another_group(direct):
    direct.containment = "auto"
    configure(direct)
    manifest(direct, "app", ["sh", "-c", "sleep infinity & wait"])
    direct.lifectl("launch", "app")
    pid = direct.lifectl.pid("app")
    wait_for(lambda: len(direct.kernel.tree(pid)) == 2)
    with elsewhere(direct) as group:
        child = direct.kernel.tree(pid)[1].pid
        (group / "cgroup.procs").write_text(str(child))
        direct.lifectl("suspend", "app")
        direct.process.kill()
        direct.process.wait()
        rescue(direct)
        wait_for(lambda: all(direct.kernel.stat(each).state == "S" for each in (child, pid)))
        direct.start()
