"""When descriptors, processes or the journal run out: the one request is refused, and everything else goes on."""

import os
import resource
import signal
from pathlib import Path

import pytest

import programs
from container import wait_for
from driver import call, connect
from sessions import session

LAUNCH_FAILED = 11


@pytest.fixture
def crowded(direct):
    """A daemon whose limit of descriptors can be set."""
    pid = direct.process.pid
    usual = resource.prlimit(pid, resource.RLIMIT_NOFILE)

    def leave(count):
        highest = max(map(int, os.listdir(f"/proc/{pid}/fd")))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (highest + 1 + count, usual[1]))

    direct.leave = leave
    # The standard streams and the first descriptors of the daemon are below.
    direct.use_up = lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (5, usual[1]))
    direct.restore = lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)
    yield direct
    direct.restore()


def test_a_launch_without_descriptors_is_refused_and_leaves_nothing(crowded):
    neighbour = crowded.lifectl.start("neighbour", *programs.IDLE)
    # The files that a look at its group reads stay open.
    crowded.lifectl("suspend", "neighbour")
    pid = crowded.process.pid
    before = crowded.kernel.descriptors(pid)
    outcomes = set()
    refused_for_room = 0
    for room in range(1, 16):
        crowded.leave(room)
        result = crowded.lifectl("run", "--id", "app", "--", *programs.IDLE, check=False)
        outcomes.add(result.returncode)
        if result.returncode == 0:
            assert crowded.lifectl.app("app")["connected"] is False
            crowded.lifectl("terminate", "app")
        else:
            assert result.returncode == LAUNCH_FAILED, result.stderr
            assert "Too many open files" in result.stderr
            if "no room for another process" in result.stderr:
                assert "LimitNOFILE=" in result.stderr
                assert "end other apps" in result.stderr
                refused_for_room += 1
        crowded.restore()
        wait_for(lambda: "app" not in crowded.lifectl.apps())
        wait_for(lambda: not crowded.kernel.zombies(pid))
        # The client that looked is on its way out.
        wait_for(lambda: crowded.kernel.descriptors(pid) <= before)
    assert outcomes == {0, LAUNCH_FAILED}
    assert refused_for_room
    assert crowded.kernel.exists(neighbour)
    assert crowded.lifectl.pid("neighbour") == neighbour


def test_who_a_client_is_can_be_told_with_the_last_descriptor(crowded):
    # One for the connection itself, and none for finding out whose it is.
    crowded.leave(1)
    result = crowded.lifectl("list", check=False)
    crowded.restore()
    assert result.returncode == 0, result.stderr


def test_apps_are_suspended_and_ended_without_descriptors_to_spare(crowded):
    pids = {name: crowded.lifectl.start(name, *programs.FAMILY) for name in ("one", "two", "three")}
    wait_for(lambda: all(len(crowded.kernel.tree(pid)) == 5 for pid in pids.values()))
    # Room for one client and one file at a time.
    crowded.leave(2)
    crowded.lifectl("suspend", "one")
    crowded.lifectl("focus", "two")
    crowded.lifectl("terminate", "three")
    crowded.restore()
    assert crowded.kernel.is_stopped(pids["one"])
    assert not crowded.kernel.exists(pids["three"])
    assert crowded.lifectl.state("two") == "active"


def test_a_reload_without_descriptors_keeps_the_daemon(crowded):
    """The reload fails, and the daemon keeps every app."""
    apps = ["org.example.app", "org.example.other"]
    for name in apps:
        (crowded.configuration / f"apps.d/{name}.toml").write_text('command = ["sleep", "infinity"]\n')
    crowded.lifectl("reload")
    for room in range(1, 4):
        crowded.leave(room)
        crowded.lifectl("reload", check=False)
        crowded.restore()
    with connect(str(crowded.socket)) as connection:
        call(connection, "org.lifed.GetStatus", {})
        crowded.use_up()
        reply = call(connection, "org.lifed.Reload", {})
        crowded.process.send_signal(signal.SIGHUP)
        reason = f"cannot read {crowded.configuration}/lifed.toml: Too many open files"
        wait_for(lambda: f"cannot reload the configuration: {reason}; keeping" in crowded.logged)
        crowded.restore()
    assert reply["error"] == "org.lifed.Failed"
    assert reply["parameters"]["reason"] == reason
    assert set(crowded.lifectl.apps()) == set(apps)
    crowded.lifectl("reload")
    crowded.lifectl("launch", "org.example.app")
    assert crowded.lifectl.state("org.example.app") == "active"


def test_a_launch_without_room_for_a_process_is_refused(container):
    with session(container, "stranger") as run:
        run("lifectl", "run", "--id", "neighbour", "--", *programs.IDLE)
        pid = run("systemctl", "--user", "show", "-P", "MainPID", "lifed.service").stdout.strip()
        run("prlimit", f"--pid={pid}", "--nproc=1:")
        result = run("lifectl", "run", "--id", "app", "--", *programs.IDLE, check=False)
        assert result.returncode == LAUNCH_FAILED
        assert "no room for another process" in result.stderr
        run("lifectl", "suspend", "neighbour")
        run("lifectl", "focus", "neighbour")
        run("bash", "-c", f"prlimit --pid={pid} --nproc=$(ulimit -Hu):")
        run("lifectl", "run", "--id", "app", "--", *programs.IDLE)


# The pids controller of version 1, where a process can be in a group for it alone. In version 2 it would be the app's own
# group that is full.
PIDS = Path("/sys/fs/cgroup/pids")


@pytest.mark.skipif(not os.access(PIDS / "cgroup.procs", os.W_OK), reason="there is no pids controller to write to")
def test_a_launch_at_the_limit_of_processes_is_refused(direct):
    neighbour = direct.lifectl.start("neighbour", *programs.IDLE)
    small = PIDS / f"lifed-test-{os.getpid()}"
    small.mkdir()
    try:
        (small / "cgroup.procs").write_text(str(direct.process.pid))
        (small / "pids.max").write_text("1")
        result = direct.lifectl("run", "--id", "app", "--", *programs.IDLE, check=False)
        assert result.returncode == LAUNCH_FAILED
        assert "no room for another process" in result.stderr
        assert direct.lifectl.pid("neighbour") == neighbour
        (small / "pids.max").write_text("max")
        direct.lifectl.start("app", *programs.IDLE)
    finally:
        direct.stop()
        wait_for(lambda: _remove(small))


def _remove(group):
    try:
        os.rmdir(group)
    except OSError:
        return False
    return True


def test_without_a_journal_apps_live_as_before(lifed):
    neighbour = lifed.lifectl.start("neighbour", *programs.TALKER)
    units = [f"systemd-journald{suffix}" for suffix in (".socket", "-dev-log.socket", "-audit.socket", ".service")]
    sockets = ["/run/systemd/journal/socket", "/run/systemd/journal/stdout"]
    lifed.systemctl("stop", *units, check=False)
    try:
        for path in sockets:
            lifed.container.run(["mv", path, f"{path}.aside"], check=False)
        pid = lifed.lifectl.start("app", *programs.TALKER)
        lifed.lifectl("suspend", "app")
        assert lifed.kernel.stat(pid).state == "T"
        lifed.lifectl("focus", "app")
        assert lifed.kernel.exists(neighbour)
        assert lifed.kernel.exists(pid)
        lifed.lifectl("terminate", "app")
        assert not lifed.kernel.exists(pid)
    finally:
        for path in sockets:
            lifed.container.run(["rm", "-f", f"{path}.aside"], check=False)
        lifed.systemctl("start", "systemd-journald.socket", "systemd-journald-dev-log.socket", "systemd-journald.service")
    assert lifed.kernel.exists(neighbour)
    lifed.lifectl("focus", "neighbour")


def test_a_command_with_too_large_an_environment_is_refused(direct):
    """The state has it for the next daemon. A space takes three bytes there."""
    with connect(str(direct.socket)) as client:

        def run(environment):
            return call(client, "org.lifed.Run", {"command": programs.IDLE, "id": "app", "environment": environment})

        for environment in ({"ONE": "x" * 131_000, "OTHER": "x" * 131_200}, {"ONE": " " * 87_400}):
            refused = run(environment)
            assert refused["error"] == "org.lifed.Refused", refused
            assert "and may take 262144" in refused["parameters"]["reason"]
            assert direct.lifectl.apps() == {}
        assert run({"ONE": "x" * 131_000, "OTHER": "x" * 130_000})["parameters"]["app"]["state"] == "active"
