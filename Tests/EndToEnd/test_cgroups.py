"""Each app has a cgroup of its own, in which everything that it starts stays."""

import contextlib
from pathlib import Path

import pytest

import programs
from container import wait_for

# Leaves its session, its parent and its environment.
ESCAPED = ["sh", "-c", "(setsid env -i /bin/sleep 98765 &) ; exec sleep infinity"]

# Starts another program and leaves.
WRAPPER = ["sh", "-c", "(setsid sleep 98764 &) ; exit 0"]


@pytest.fixture
def lifed(service):
    service.configure('[timeouts]\nbackground = "0s"\n')
    service.start()
    return service


def directory_of(lifed, pid):
    return "/sys/fs/cgroup" + lifed.container.run(["sed", "-n", "s/^0:://p", f"/proc/{pid}/cgroup"]).stdout.strip()


def members(lifed, directory):
    return [int(pid) for pid in lifed.container.run(["cat", f"{directory}/cgroup.procs"]).stdout.split()]


def pids(lifed, identifier):
    return [process["pid"] for process in lifed.lifectl.json("status", identifier)["details"]["processes"]]


def exists(lifed, directory):
    return lifed.container.run(["test", "-e", directory], check=False).returncode == 0


def test_an_app_has_a_group_of_its_own_and_the_daemon_another(lifed):
    pid = lifed.lifectl.start("own", *programs.FAMILY)
    group = directory_of(lifed, pid)
    assert group.endswith("/lifed.service/apps/app-own")
    wait_for(lambda: len(members(lifed, group)) == 5)
    assert directory_of(lifed, lifed.pid).endswith("/lifed.service/daemon")
    assert lifed.lifectl.app("own")["containment"] == "cgroup"
    assert "control group" in lifed.lifectl("status", "own").stdout
    lifed.lifectl("terminate", "own")
    wait_for(lambda: not exists(lifed, group))
    assert directory_of(lifed, lifed.lifectl.start("own", *programs.IDLE)) == group


@pytest.mark.parametrize("is_above", [False, True])
def test_app_whose_group_another_program_has_frozen_is_not_plainly_called_active(lifed, is_above):
    pid = lifed.lifectl.start("frozen", *programs.IDLE)
    group = Path(directory_of(lifed, pid))
    file = (group.parent if is_above else group) / "cgroup.freeze"
    assert not lifed.lifectl.app("frozen")["stoppedByOther"]
    lifed.container.run(["sh", "-c", f"echo 1 >{file}"])
    wait_for(lambda: lifed.lifectl.app("frozen")["stoppedByOther"], what="the freeze is told")
    assert "active, stopped" in lifed.lifectl("list").stdout
    assert ", but another program has stopped it" in lifed.lifectl("focus", "frozen").stdout
    assert "another program has frozen its control group" in lifed.lifectl("explain", "frozen").stdout
    lifed.container.run(["sh", "-c", f"echo 0 >{file}"])
    wait_for(lambda: not lifed.lifectl.app("frozen")["stoppedByOther"], what="it goes on")


def test_nothing_escapes(lifed):
    pid = lifed.lifectl.start("escaper", *ESCAPED)
    group = directory_of(lifed, pid)
    wait_for(lambda: len(members(lifed, group)) == 2)
    lifed.lifectl("suspend", "escaper")
    assert all(lifed.kernel.stat(each).state == "T" for each in pids(lifed, "escaper"))
    lifed.lifectl("resume", "escaper")
    assert all(lifed.kernel.stat(each).state != "T" for each in pids(lifed, "escaper"))
    everything = pids(lifed, "escaper")
    assert len(everything) == 2
    lifed.lifectl("terminate", "escaper")
    assert not any(lifed.kernel.exists(each) for each in everything)


@pytest.mark.parametrize("method", ["freezer", "both"])
def test_a_frozen_app_gains_no_time_and_ends_when_asked(lifed, method):
    lifed.manifest("org.example.frozen", programs.BUSY, f'suspendMethod = "{method}"')
    lifed.lifectl("reload")
    lifed.lifectl("launch", "org.example.frozen")
    pid = lifed.lifectl.pid("org.example.frozen")
    group = directory_of(lifed, pid)
    for _ in range(3):
        lifed.lifectl("suspend", "org.example.frozen")
        frozen = lifed.kernel.ticks(pid)
        assert "frozen 1" in lifed.container.run(["cat", f"{group}/cgroup.events"]).stdout
        lifed.container.run(["kill", "-CONT", str(pid)])
        assert lifed.kernel.ticks(pid) == frozen
        lifed.lifectl("focus", "org.example.frozen")
        assert lifed.kernel.gains_time(pid)
    lifed.lifectl("suspend", "org.example.frozen")
    lifed.lifectl("terminate", "org.example.frozen")
    assert not lifed.kernel.exists(pid)


def test_a_foreign_thaw_does_not_wake_an_app_for_good(lifed):
    lifed.manifest("org.example.thawed", programs.BUSY, 'suspendMethod = "freezer"')
    lifed.lifectl("reload")
    lifed.lifectl("launch", "org.example.thawed")
    group = directory_of(lifed, lifed.lifectl.pid("org.example.thawed"))
    lifed.lifectl("suspend", "org.example.thawed")
    lifed.container.run(["sh", "-c", f"echo 0 > {group}/cgroup.freeze"])
    wait_for(lambda: "frozen 1" in lifed.container.run(["cat", f"{group}/cgroup.events"]).stdout)
    assert lifed.lifectl.state("org.example.thawed") == "suspended"


def test_a_wrapper_that_hands_over_lives_as_long_as_its_helper(lifed):
    lifed.manifest("org.example.wrapper", WRAPPER, 'exitPolicy = "last"')
    lifed.lifectl("reload")
    lifed.lifectl("launch", "org.example.wrapper")
    wait_for(lambda: lifed.lifectl.app("org.example.wrapper").get("pid") is None)
    (helper,) = pids(lifed, "org.example.wrapper")
    assert lifed.lifectl.state("org.example.wrapper") == "active"
    lifed.lifectl("suspend", "org.example.wrapper")
    lifed.lifectl("focus", "org.example.wrapper")
    lifed.container.run(["kill", str(helper)])
    lifed.lifectl.wait_for_state("org.example.wrapper", "notRunning")
    assert lifed.lifectl.app("org.example.wrapper")["lastExit"]["exitCode"] == 0


def test_without_cgroups_where_the_configuration_says_so(service):
    service.configure('containment = "keeper"\n')
    service.start()
    service.lifectl.start("grouped", *programs.IDLE)
    assert service.lifectl.app("grouped")["containment"] == "keeper"
    assert directory_of(service, service.pid).endswith("/lifed.service")


def group_of(pid):
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    root = next(fields[1] for fields in mounts if fields[2] == "cgroup2")
    group = next(line[3:] for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines() if line.startswith("0::"))
    return Path(root + group)


def test_a_daemon_run_by_hand_leaves_no_group_behind(direct):
    pid = direct.lifectl.start("own", *programs.IDLE)
    if direct.lifectl.app("own")["containment"] != "cgroup":
        pytest.skip("no control groups can be made here")
    base = group_of(pid).parent.parent
    assert (base / "daemon").exists()
    assert direct.stop() == 0
    assert not base.exists()


@pytest.fixture
def enable_a_controller(container):
    """Enables some controller for the groups in a cgroup of the container, all the way down, and returns the cgroup."""
    enabled = []

    def enable(group):
        found = next(container.cgroup.rglob(group))
        chain = [found, *found.parents]
        for each in reversed(chain[: chain.index(container.cgroup) + 2]):
            file = each / "cgroup.subtree_control"
            try:
                controller = (each / "cgroup.controllers").read_text().split()[0]
                if controller not in file.read_text().split():
                    file.write_text(f"+{controller}")
                    enabled.append((file, controller))
            except (IndexError, OSError) as reason:
                pytest.skip(f"no controller can be enabled in {each}: {reason}")
        return found

    yield enable
    for file, controller in reversed(enabled):
        with contextlib.suppress(FileNotFoundError):
            file.write_text(f"-{controller}")


def test_controllers_do_not_keep_the_service_from_coming_back(lifed, enable_a_controller):
    pid = lifed.lifectl.start("own", *programs.IDLE)
    # An app may have groups below its own, and enable controllers for them.
    inner = f"{directory_of(lifed, pid)}/inner"
    lifed.container.run(["sh", "-c", f"mkdir {inner} && echo {pid} >{inner}/cgroup.procs"])
    group = enable_a_controller("lifed.service/apps/app-own").parents[1]
    before = lifed.pid
    lifed.container.run(["kill", "-KILL", str(before)])
    wait_for(lambda: lifed.pid not in (0, before) and lifed.lifectl("status", check=False).returncode == 0)
    assert lifed.lifectl.pid("own") == pid
    assert (group / "cgroup.subtree_control").read_text().split() == []


def test_group_of_a_launched_app_is_limited_when_the_app_runs(direct):
    pid = direct.lifectl.start("own", *programs.IDLE)
    if direct.lifectl.app("own")["containment"] != "cgroup":
        pytest.skip("no control groups can be made here")
    limit = group_of(pid) / "cgroup.max.descendants"
    wait_for(lambda: limit.read_text() == "256\n", what="the limit of groups below that of the app")
