"""The daemon as a service: stop, restart, watchdog, socket activation, reload."""

import json
import subprocess

import programs
from container import wait_for


def test_stopping_leaves_nothing_behind(lifed):
    tree = []
    for name, command in (("idle", programs.IDLE), ("family", programs.FAMILY), ("busy", programs.BUSY)):
        pid = lifed.lifectl.start(name, *command)
        tree += [stat.pid for stat in lifed.kernel.tree(pid)]
    lifed.lifectl("suspend", "family")
    lifed.systemctl("stop", "lifed.service")
    assert lifed.show("Result") == "success"
    assert not any(lifed.kernel.exists(pid) for pid in tree)
    assert lifed.members() == []


def test_apps_are_ended_in_parallel(lifed):
    for number in range(4):
        lifed.lifectl.start(f"stubborn{number}", *programs.STUBBORN)
    # One after the other would take 20 s, which is more than TimeoutStopSec= allows.
    lifed.systemctl("stop", "lifed.service")
    assert lifed.show("Result") == "success"
    assert lifed.members() == []


def test_an_app_has_the_time_for_its_end_that_its_manifest_gives_it(service):
    service.drop_in("[Service]\nTimeoutStopSec=2s\n")
    slow = "trap 'sleep 4; touch /run/saved; exit' TERM; while :; do sleep 0.1; done"
    service.manifest("slow", ["sh", "-c", slow], 'terminationTimeout = "60s"\n')
    service.start()
    service.container.run(["rm", "-f", "/run/saved"])
    service.lifectl("launch", "slow")
    service.systemctl("stop", "lifed.service")
    assert service.show("Result") == "success"
    service.container.run(["test", "-e", "/run/saved"])


def test_a_restart_serves_again(lifed):
    before = lifed.pid
    lifed.lifectl.start("app", *programs.IDLE)
    lifed.systemctl("restart", "lifed.service")
    assert lifed.pid != before
    assert lifed.lifectl.state("app") == "active"
    lifed.lifectl.start("other", *programs.IDLE)
    assert lifed.lifectl.state("other") == "active"


def test_a_person_who_is_not_in_the_group_can_run_a_daemon_of_their_own(container):
    script = """
        place=$(mktemp -d)
        lifed --runtime-directory=$place/run --state-directory=$place/state --config-directory=$place/configuration &
        until lifectl list --socket $place/run/control; do kill -0 $! || exit; sleep 0.1; done
        kill $! && wait $!
    """
    container.run(["runuser", "-u", "stranger", "--", "sh", "-c", script])


def test_the_manager_is_told_how_it_is(lifed):
    assert lifed.show("StatusText") != ""


def test_a_daemon_that_hangs_is_restarted(service):
    service.drop_in("[Service]\nWatchdogSec=1s\n")
    service.start()
    before = service.pid
    service.container.run(["kill", "-STOP", str(before)])
    wait_for(lambda: service.pid not in (0, before) and service.show("ActiveState") == "active", timeout=60)
    assert int(service.show("NRestarts")) >= 1
    assert service.lifectl.apps() is not None


def test_a_daemon_that_lives_is_left_alone(service):
    service.drop_in("[Service]\nWatchdogSec=500ms\n")
    service.start()
    before = service.pid
    at_start = int(service.show("WatchdogTimestampMonotonic"))
    wait_for(lambda: int(service.show("WatchdogTimestampMonotonic")) > at_start + 2_000_000, timeout=30)
    assert service.pid == before


def test_the_first_client_starts_the_service(service):
    service.systemctl("start", "lifed.socket")
    assert service.show("ActiveState") == "inactive"
    assert service.lifectl.json("list")["apps"] == []
    assert service.show("ActiveState") == "active"


def test_the_socket_survives_a_stop_of_the_service(lifed):
    lifed.systemctl("stop", "lifed.service")
    assert lifed.show("ActiveState") == "inactive"
    lifed.lifectl("list")
    assert lifed.show("ActiveState") == "active"


def test_reload_reads_new_manifests_and_leaves_apps_alone(lifed):
    pid = lifed.lifectl.start("running", *programs.IDLE)
    lifed.manifest("org.example.new", programs.IDLE)
    lifed.lifectl("reload")
    assert "org.example.new" in lifed.lifectl.apps()
    lifed.manifest("org.example.newer", programs.IDLE)
    lifed.systemctl("reload", "lifed.service")
    wait_for(lambda: "org.example.newer" in lifed.lifectl.apps())
    assert lifed.lifectl.pid("running") == pid


def test_a_mistake_is_reported_with_file_and_line_and_hurts_nobody_else(lifed):
    lifed.manifest("org.example.good", programs.IDLE)
    lifed.container.write("/etc/lifed/apps.d/bad.toml", 'id = "org.example.bad"\ncommand = 7\n')
    problems = lifed.lifectl.json("reload", check=False)["problems"]
    bad = [problem for problem in problems if problem["file"].endswith("bad.toml")]
    assert bad and bad[0]["line"] == 2
    assert "org.example.good" in lifed.lifectl.apps()
    check = lifed.container.run(["lifed", "--check"], check=False)
    assert check.returncode != 0
    assert "bad.toml" in check.stdout + check.stderr


def test_monitor_begins_with_the_present_and_goes_on_with_changes(lifed):
    lifed.lifectl.start("watched", *programs.IDLE)
    monitor = lifed.container.popen(["lifectl", "monitor", "--json"], stdout=subprocess.PIPE)
    try:
        first = json.loads(monitor.stdout.readline())
        assert [app["id"] for app in first["apps"]] == ["watched"]
        lifed.lifectl("suspend", "watched")
        numbers = [first["number"]]
        while True:
            change = json.loads(monitor.stdout.readline())
            numbers.append(change["number"])
            if change["transition"]["to"] == "suspended":
                break
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    finally:
        monitor.kill()
        monitor.wait()
        monitor.stdout.close()
