"""Apps go through their life, and the kernel agrees with what lifed says."""

import time

import pytest

import programs
from container import wait_for
from restoration import manifest


@pytest.fixture
def lifed(service):
    service.configure('[timeouts]\nbackground = "0s"\n')
    service.start()
    return service


def test_launch_focus_and_home(lifed):
    lifed.manifest("org.example.first", programs.IDLE)
    lifed.manifest("org.example.second", programs.IDLE)
    lifed.lifectl("reload")
    lifed.lifectl("launch", "org.example.first")
    assert lifed.lifectl.state("org.example.first") == "active"
    lifed.lifectl("launch", "org.example.second")
    assert lifed.lifectl.state("org.example.second") == "active"
    lifed.lifectl.wait_for_state("org.example.first", "suspended")
    lifed.lifectl("focus", "org.example.first")
    assert lifed.lifectl.state("org.example.first") == "active"
    lifed.lifectl("home")
    lifed.lifectl.wait_for_state("org.example.first", "suspended")
    assert not any(app["foreground"] for app in lifed.lifectl.apps().values())


def test_suspend_stops_the_whole_tree_and_resume_continues_it(lifed):
    pid = lifed.lifectl.start("family", *programs.FAMILY)
    wait_for(lambda: len(lifed.kernel.tree(pid)) == 5)
    lifed.lifectl("suspend", "family")
    assert lifed.kernel.is_stopped(pid), lifed.kernel.tree(pid)
    lifed.lifectl("resume", "family")
    wait_for(lambda: all(stat.state != "T" for stat in lifed.kernel.tree(pid)))
    assert len(lifed.kernel.tree(pid)) == 5


def test_a_process_that_left_its_session_is_stopped_too(lifed):
    before = {stat.pid for stat in lifed.kernel.all()}
    lifed.lifectl.start("runaway", *programs.RUNAWAY)

    def sleepers():
        return [stat for stat in lifed.kernel.all() if stat.name == "sleep" and stat.pid not in before]

    wait_for(lambda: len(sleepers()) == 3)
    lifed.lifectl("suspend", "runaway")
    assert all(stat.state == "T" for stat in sleepers())
    lifed.lifectl("kill", "runaway")
    wait_for(lambda: not sleepers())


def test_only_the_app_in_front_gets_processor_time(lifed):
    pids = {name: lifed.lifectl.start(name, *programs.BUSY) for name in ("one", "two")}
    for front, behind in (("one", "two"), ("two", "one"), ("one", "two")):
        lifed.lifectl("focus", front)
        lifed.lifectl.wait_for_state(behind, "suspended")
        frozen = lifed.kernel.ticks(pids[behind])
        assert lifed.kernel.gains_time(pids[front])
        assert lifed.kernel.ticks(pids[behind]) == frozen


def test_a_foreign_continue_does_not_wake_an_app_for_good(lifed):
    pid = lifed.lifectl.start("busy", *programs.BUSY)
    lifed.lifectl("suspend", "busy")
    for _ in range(5):
        lifed.container.run(["kill", "-CONT", str(pid)])
        wait_for(lambda: lifed.kernel.is_stopped(pid))
    frozen = lifed.kernel.ticks(pid)
    assert lifed.lifectl.state("busy") == "suspended"
    assert lifed.kernel.is_stopped(pid)
    assert lifed.kernel.ticks(pid) == frozen


def test_an_app_that_ignores_the_request_is_killed_after_its_grace(lifed):
    pid = lifed.lifectl.start("stubborn", *programs.STUBBORN)
    wait_for(lambda: len(lifed.kernel.tree(pid)) == 4)
    tree = [stat.pid for stat in lifed.kernel.tree(pid)]
    began = time.monotonic()
    lifed.lifectl("terminate", "stubborn")
    took = time.monotonic() - began
    # The termination timeout is 5 s, and the start of lifectl comes on top of it; how much longer it takes is the machine's affair.
    assert took >= 4.9
    assert not any(lifed.kernel.exists(each) for each in tree)


def test_an_app_that_obeys_is_gone_at_once(service):
    service.configure('[timeouts]\ntermination = "10min"\n')
    service.start()
    lifed = service
    pid = lifed.lifectl.start("obedient", *programs.IDLE)
    lifed.lifectl("terminate", "obedient")
    assert not lifed.kernel.exists(pid)


def test_a_suspended_app_can_act_on_the_request(lifed):
    script = "trap 'echo saved > /tmp/saved; exit 0' TERM; while :; do sleep 0.05; done"
    lifed.container.run(["rm", "-f", "/tmp/saved"])
    lifed.lifectl.start("saver", "sh", "-c", script)
    lifed.lifectl("suspend", "saver")
    lifed.lifectl("terminate", "saver")
    assert lifed.container.run(["cat", "/tmp/saved"]).stdout == "saved\n"


def test_an_interruption_leaves_the_app_in_front(lifed):
    lifed.lifectl.start("caller", *programs.IDLE)
    lifed.lifectl("interrupt", "begin")
    assert lifed.lifectl.state("caller") == "inactive"
    lifed.lifectl("interrupt", "end")
    lifed.lifectl.wait_for_state("caller", "active")


def test_an_app_without_the_library_has_time_in_the_background(service):
    service.start()
    pid = service.lifectl.start("worker", *programs.BUSY)
    service.lifectl("home")
    assert service.lifectl.state("worker") == "background"
    assert service.kernel.gains_time(pid)
    service.lifectl.wait_for_state("worker", "suspended")


def test_an_app_that_ends_by_itself_is_seen_to_end(lifed):
    lifed.manifest("org.example.brief", ["sh", "-c", "exit 3"])
    lifed.lifectl("reload")
    lifed.lifectl("launch", "org.example.brief", check=False)
    lifed.lifectl.wait_for_state("org.example.brief", "notRunning")
    assert lifed.lifectl.app("org.example.brief")["lastExit"]["exitCode"] == 3


@pytest.mark.parametrize("arguments", [["focus", "no.such.app"], ["launch", "no.such.app"], ["frobnicate"]])
def test_failures_are_one_line_and_a_status(lifed, arguments):
    result = lifed.lifectl(*arguments, check=False)
    assert result.returncode != 0
    assert result.stdout == ""
    if arguments[0] != "frobnicate":
        assert len(result.stderr.splitlines()) == 1


def test_each_kind_of_failure_has_its_own_status(lifed):
    no_such_app = lifed.lifectl("focus", "no.such.app", check=False).returncode
    bad_usage = lifed.lifectl("focus", check=False).returncode
    lifed.systemctl("stop", "lifed.service", "lifed.socket")
    no_daemon = lifed.lifectl("list", check=False).returncode
    assert len({0, no_such_app, bad_usage, no_daemon}) == 4


def test_the_signal_of_the_manifest_asks_an_app_to_end(direct, tmp_path):
    told = tmp_path / "told"
    ready = tmp_path / "ready"
    script = f"trap '' TERM; trap 'echo INT >{told}; exit 0' INT; touch {ready}; while :; do sleep 0.05; done"
    manifest(direct, "app", ["sh", "-c", script], "stopSignal = 'SIGINT'")
    direct.lifectl("launch", "app")
    wait_for(ready.exists)
    direct.lifectl("suspend", "app")
    direct.lifectl("terminate", "app")
    assert told.read_text() == "INT\n"
    assert direct.lifectl.app("app")["lastExit"]["exitCode"] == 0
    assert "after its termination timeout" not in direct.logged
