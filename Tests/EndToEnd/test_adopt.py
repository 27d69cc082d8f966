"""Processes that run already become apps, live as such, and are let go."""

import os
import signal
import subprocess
import sys

import programs
from adoption import found, reaped
from container import wait_for
from driver import call, connect
from restoration import add_step, rescue

REFUSED = 2

BOMB = """
import os, signal
made = 0
while made < 300:
    if os.fork() == 0:
        made = 300 if made % 3 else made + 200
    made += 1
signal.pause()
"""


def quick(daemon):
    """Lets apps sleep as soon as they are in the background."""
    settings = daemon.configuration / "lifed.toml"
    settings.write_text(settings.read_text() + "[timeouts]\nbackground = '0s'\n")
    daemon.lifectl("reload")


def test_a_program_that_runs_becomes_an_app(daemon, start):
    pid = start(programs.FAMILY)
    wait_for(lambda: len(daemon.kernel.tree(pid)) == 5)
    assert daemon.lifectl("adopt", str(pid), "--id", "family", "--name", "A family").stdout.startswith(
        f"family is active (pid {pid})"
    )
    app = daemon.lifectl.app("family")
    assert (app["state"], app["reason"], app["name"], app["adHoc"]) == ("active", "adopt", "A family", True)
    assert app["containment"] == ("cgroup" if daemon.containment == "cgroup" else "descent")
    assert "it was running, and was adopted" in daemon.lifectl("explain", "family").stdout
    details = daemon.lifectl.json("status", "family")["details"]
    assert details["adopted"] and len(details["processes"]) == 5
    assert "  adopted  yes\n" in daemon.lifectl("status", "family").stdout
    assert {found(daemon, process["pid"]) for process in details["processes"]} == {"family"}
    daemon.lifectl("suspend", "family")
    assert daemon.kernel.is_stopped(pid)
    daemon.lifectl("focus", "family")
    assert not daemon.kernel.is_stopped(pid)
    tree = [stat.pid for stat in daemon.kernel.tree(pid)]
    daemon.lifectl("terminate", "family")
    assert not any(daemon.kernel.exists(each) for each in tree)
    assert "family" not in daemon.lifectl.apps()


def test_it_takes_part_in_the_life_of_the_others(daemon, start):
    quick(daemon)
    other = daemon.lifectl.start("other", *programs.BUSY)
    pid = start(programs.BUSY)
    daemon.lifectl("adopt", str(pid), "--background")
    (identifier,) = set(daemon.lifectl.apps()) - {"other"}
    assert identifier == "dash" or identifier == "sh" or identifier == "bash"
    daemon.lifectl.wait_for_state(identifier, "suspended")
    assert daemon.kernel.is_stopped(pid) and daemon.lifectl.state("other") == "active"
    daemon.lifectl("focus", identifier)
    daemon.lifectl.wait_for_state("other", "suspended")
    assert daemon.kernel.gains_time(pid) and daemon.kernel.is_stopped(other)
    os.kill(pid, signal.SIGKILL)
    reaped(start)
    wait_for(lambda: reaped(start) or identifier not in daemon.lifectl.apps())


def test_the_end_of_one_is_told_as_of_any_other(daemon, start):
    pipe = subprocess.Popen(["sh", "-c", "read -r line; exit 3"], stdin=subprocess.PIPE, start_new_session=True)
    start.processes.append(pipe)
    daemon.lifectl("adopt", str(pipe.pid), "--id", "ending")
    pipe.stdin.close()
    wait_for(lambda: reaped(start) or "ending" not in daemon.lifectl.apps())
    with connect(str(daemon.socket)) as connection:
        events = call(connection, "org.lifed.History", {"id": "ending"})["parameters"]["events"]
    (end,) = [event for event in events if event["kind"] == "exited"]
    # Linux 6.15 tells how a child of another process has ended.
    assert end.get("exitCode") in (3, None) and end["reason"] == "crash"


def test_its_siblings_in_the_shell_are_left_alone(daemon, start):
    """A pipeline is one process group; only the process that was named is the app."""
    shell = start(["sh", "-c", "sleep infinity & echo $!; exec sleep infinity"], stdout=subprocess.PIPE)
    job = int(start.processes[-1].stdout.readline())
    daemon.lifectl("adopt", str(job), "--id", "job")
    daemon.lifectl("suspend", "job")
    assert daemon.kernel.stat(job).state == "T" and daemon.kernel.stat(shell).state != "T"
    daemon.lifectl("kill", "job")
    assert daemon.kernel.exists(shell)


def test_one_that_was_stopped_is_continued(daemon, start):
    pid = start(programs.FAMILY)
    wait_for(lambda: len(daemon.kernel.tree(pid)) == 5)
    os.kill(pid, signal.SIGSTOP)
    daemon.lifectl("adopt", str(pid), "--id", "stopped")
    wait_for(lambda: not any(stat.state == "T" for stat in daemon.kernel.tree(pid)))


def test_a_bomb_is_held_that_goes_off_meanwhile(daemon, start):
    pid = start([sys.executable, "-c", BOMB])
    daemon.lifectl("adopt", str(pid), "--id", "bomb")
    daemon.lifectl("suspend", "bomb")
    stopped = daemon.kernel.tree(pid)
    assert all(stat.state == "T" for stat in stopped)
    assert {stat.pid for stat in daemon.kernel.tree(pid)} == {stat.pid for stat in stopped}
    daemon.lifectl("kill", "bomb")
    assert not any(daemon.kernel.exists(stat.pid) for stat in stopped)


def test_it_is_taken_over_by_the_next_daemon(daemon, start):
    pid = start(programs.FAMILY)
    wait_for(lambda: len(daemon.kernel.tree(pid)) == 5)
    daemon.lifectl("adopt", str(pid), "--id", "family")
    for command in ("suspend", "focus", "suspend"):
        daemon.lifectl(command, "family")
        daemon.process.kill()
        daemon.process.wait()
        daemon.start()
        app = daemon.lifectl.app("family")
        assert (app["state"], app["pid"]) == ("active" if command == "focus" else "suspended", pid)
        wait_for(lambda: daemon.kernel.is_stopped(pid) == (command != "focus"))  # noqa: B023
        assert daemon.lifectl.json("status", "family")["details"]["adopted"]
    # The shell that it was started from is none of its processes.
    assert daemon.kernel.stat(os.getpid()).state != "T"
    daemon.process.kill()
    daemon.process.wait()
    os.killpg(pid, signal.SIGKILL)
    for process in start.processes:
        process.wait()
    daemon.start()
    wait_for(lambda: "family" not in daemon.lifectl.apps())


def test_it_outlives_the_daemon_that_cannot_read_its_definition(daemon, start):
    pid = start(programs.IDLE)
    daemon.lifectl("adopt", str(pid), "--id", "idle")
    daemon.lifectl("suspend", "idle")
    daemon.process.kill()
    daemon.process.wait()
    add_step(daemon, "definition idle manifest=command")
    daemon.start()
    assert daemon.lifectl.app("idle")["state"] == "suspended"
    assert daemon.stop() == 0
    assert daemon.kernel.exists(pid) and not daemon.kernel.is_stopped(pid)
    daemon.start()


def test_one_whose_parent_has_ended_stays_a_member(daemon, start, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Neither the session nor the process group is its own.
    script = f"sh -c 'sleep infinity & echo $!; read -r line <{pipe}' & exec sleep infinity"
    main = start(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=False)
    helper = int(start.processes[-1].stdout.readline())
    try:
        wait_for(lambda: daemon.kernel.stat(main).name == "sleep")
        daemon.lifectl("adopt", str(main), "--id", "app")
        parent = daemon.kernel.stat(helper).parent
        pipe.write_text("end\n")
        wait_for(lambda: daemon.kernel.stat(helper).parent != parent)
        assert found(daemon, helper) == "app"
        daemon.lifectl("suspend", "app")
        assert daemon.kernel.stat(helper).state == "T"
        daemon.process.kill()
        daemon.process.wait()
        daemon.start()
        daemon.lifectl("focus", "app")
        wait_for(lambda: daemon.kernel.stat(helper).state != "T")
        daemon.lifectl("kill", "app")
        assert not daemon.kernel.exists(helper)
    finally:
        if daemon.kernel.exists(helper):
            os.kill(helper, signal.SIGKILL)


def test_the_rescue_lets_it_run(daemon, start):
    pid = start(programs.FAMILY)
    wait_for(lambda: len(daemon.kernel.tree(pid)) == 5)
    daemon.lifectl("adopt", str(pid), "--id", "family")
    daemon.lifectl("suspend", "family")
    daemon.process.kill()
    daemon.process.wait()
    rescue(daemon)
    assert not any(stat.state == "T" for stat in daemon.kernel.tree(pid))
    daemon.start()


def test_what_was_there_before_the_daemon_is_there_after_it(daemon, start):
    pid = start(programs.FAMILY)
    wait_for(lambda: len(daemon.kernel.tree(pid)) == 5)
    places = [(stat.pid, group_of(stat.pid)) for stat in daemon.kernel.tree(pid)]
    daemon.lifectl("adopt", str(pid), "--id", "family")
    daemon.lifectl("suspend", "family")
    launched = daemon.lifectl.start("launched", *programs.IDLE)
    assert daemon.stop() == 0
    assert not daemon.kernel.exists(launched)
    assert [(stat.pid, group_of(stat.pid)) for stat in daemon.kernel.tree(pid)] == places
    assert not any(stat.state == "T" for stat in daemon.kernel.tree(pid))
    daemon.start()


def test_one_that_was_adopted_can_be_let_go(daemon, start):
    pid = start(programs.FAMILY)
    wait_for(lambda: len(daemon.kernel.tree(pid)) == 5)
    places = [(stat.pid, group_of(stat.pid)) for stat in daemon.kernel.tree(pid)]
    nice = os.getpriority(os.PRIO_PROCESS, pid)
    for state in ("focus", "suspend"):
        daemon.lifectl("adopt", str(pid), "--id", "family")
        daemon.lifectl(state, "family")
        assert daemon.lifectl("release", "family").stdout == "family is released, and runs on\n"
        assert "family" not in daemon.lifectl.apps() and found(daemon, pid) is None
        assert [(stat.pid, group_of(stat.pid)) for stat in daemon.kernel.tree(pid)] == places
        assert not any(stat.state == "T" for stat in daemon.kernel.tree(pid))
        assert os.getpriority(os.PRIO_PROCESS, pid) == nice
    daemon.lifectl.start("launched", *programs.IDLE)
    assert daemon.lifectl("release", "launched", check=False).returncode == REFUSED


def group_of(pid):
    with open(f"/proc/{pid}/cgroup") as file:
        return file.read()
