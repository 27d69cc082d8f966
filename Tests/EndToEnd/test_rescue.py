"""A daemon that is restarted, dies, or cannot come back: what becomes of the apps."""

import json
import os
import re
import signal

import pytest

import programs
from container import wait_for
from message_ids import identifiers
from restoration import change_format, kill, rescue, state_file

PROGRAM = "/usr/local/bin/lifed"
ASIDE = PROGRAM + ".aside"


@pytest.fixture
def lifed(service):
    service.configure('[timeouts]\nbackground = "0s"\n')
    service.start()
    return service


@pytest.fixture
def no_program(container):
    """Takes the daemon's program away, and brings it back when the test is over."""
    yield lambda: container.run(["mv", PROGRAM, ASIDE])
    container.run(["sh", "-c", f"if [ -e {ASIDE} ]; then mv {ASIDE} {PROGRAM}; fi"])


def kill_daemon(service):
    service.systemctl("kill", "--kill-who=main", "--signal=KILL", "lifed.service")


def tree(service, pid):
    return [stat.pid for stat in service.kernel.tree(pid)]


def group_of(service, pid):
    return "/sys/fs/cgroup" + service.container.run(["sed", "-n", "s/^0:://p", f"/proc/{pid}/cgroup"]).stdout.strip()


def rescues(container, since):
    """The entries of the rescue since a cursor of the journal."""
    container.run(["journalctl", "--sync"])
    # A match together with a cursor finds nothing in systemd 252.
    found = container.run(["journalctl", "-o", "json", f"--after-cursor={since}"]).stdout
    entries = [json.loads(line) for line in found.splitlines()]
    return [entry for entry in entries if entry.get("MESSAGE_ID") == identifiers()["rescued"]]


def cursor(container):
    # Not every moment has an entry of its own.
    container.run(["logger", "a test begins"])
    container.run(["journalctl", "--sync"])
    return json.loads(container.run(["journalctl", "-n", "1", "-o", "json"]).stdout)["__CURSOR"]


# Restart and stop


@pytest.mark.parametrize("verb", ["restart", "try-restart"])
def test_a_restart_leaves_the_apps(lifed, verb):
    app = lifed.lifectl.start("app", *programs.FAMILY)
    before = lifed.pid
    processes = tree(lifed, app)
    lifed.systemctl(verb, "lifed.service")
    assert lifed.pid != before
    assert lifed.show("Result") == "success"
    assert all(lifed.kernel.exists(pid) for pid in processes)


def test_reload_or_restart_reloads(lifed):
    before = lifed.pid
    lifed.manifest("org.example.new", programs.IDLE)
    lifed.systemctl("reload-or-restart", "lifed.service")
    wait_for(lambda: "org.example.new" in lifed.lifectl.apps())
    assert lifed.pid == before


def test_a_restart_of_the_socket_leaves_the_apps(lifed):
    app = lifed.lifectl.start("app", *programs.IDLE)
    before = lifed.pid
    lifed.systemctl("restart", "lifed.socket")
    wait_for(lambda: lifed.show("ActiveState") == "active" and lifed.pid != before)
    assert lifed.kernel.exists(app)


def test_a_restart_of_a_daemon_that_hangs_leaves_the_apps(service):
    service.drop_in("[Service]\nTimeoutStopSec=500ms\n")
    service.start()
    app = service.lifectl.start("app", *programs.IDLE)
    before = service.pid
    service.container.run(["kill", "-STOP", str(before)])
    service.systemctl("restart", "lifed.service")
    assert service.pid != before
    assert service.kernel.exists(app)


def test_a_stop_of_a_daemon_that_hangs_leaves_nothing(service):
    service.drop_in("[Service]\nTimeoutStopSec=500ms\n")
    service.start()
    app = service.lifectl.start("app", *programs.STUBBORN)
    runaway = service.lifectl.start("runaway", *programs.RUNAWAY)
    processes = tree(service, app) + tree(service, runaway)
    service.container.run(["kill", "-STOP", str(service.pid)])
    service.systemctl("stop", "lifed.service")
    assert not any(service.kernel.exists(pid) for pid in processes)
    assert service.members() == []


def test_a_stop_leaves_nothing_in_a_group_whose_name_begins_with_a_dot(lifed):
    group = f"/sys/fs/cgroup{lifed.show('ControlGroup')}/.hidden"
    lifed.container.run(["mkdir", group])
    hidden = lifed.container.popen(["sh", "-c", f"echo $$ >{group}/cgroup.procs; exec sleep infinity"])
    try:
        wait_for(lambda: lifed.container.run(["cat", f"{group}/cgroup.procs"]).stdout)
        lifed.systemctl("stop", "lifed.service")
        assert lifed.members() == []
        assert hidden.wait(timeout=60) != 0
    finally:
        hidden.kill()
        hidden.wait()


# A daemon that dies


def test_apps_outlive_the_daemon(lifed):
    app = lifed.lifectl.start("app", *programs.FAMILY)
    processes = tree(lifed, app)
    before = lifed.pid
    kill_daemon(lifed)
    wait_for(lambda: lifed.pid not in (0, before) and lifed.show("ActiveState") == "active")
    assert all(lifed.kernel.exists(pid) for pid in processes)


def test_a_daemon_that_is_asked_by_hand_to_hand_over_comes_back(lifed):
    before = lifed.pid
    lifed.container.run(["kill", "-USR2", str(before)])
    wait_for(lambda: lifed.pid not in (0, before) and lifed.show("ActiveState") == "active")


def test_a_stop_after_a_crash_ends_the_apps_of_the_first(lifed):
    app = lifed.lifectl.start("app", *programs.IDLE)
    before = lifed.pid
    kill_daemon(lifed)
    wait_for(lambda: lifed.pid not in (0, before) and lifed.show("ActiveState") == "active")
    lifed.systemctl("stop", "lifed.service")
    assert not lifed.kernel.exists(app)
    assert lifed.members() == []


def test_a_bad_configuration_does_not_keep_it_from_coming_back(lifed):
    lifed.configure("this is = = no TOML \x01")
    before = lifed.pid
    kill_daemon(lifed)
    wait_for(lambda: lifed.pid not in (0, before) and lifed.show("ActiveState") == "active")


# A daemon that cannot come back


def start_suspended(lifed):
    """Apps that are stopped or frozen, with all of their processes."""
    lifed.manifest("org.example.frozen", programs.FAMILY, 'suspendMethod = "freezer"')
    lifed.manifest("org.example.both", programs.FAMILY, 'suspendMethod = "both"')
    lifed.lifectl("reload")
    mains = {}
    for name in ["org.example.frozen", "org.example.both", "stopped"]:
        if name == "stopped":
            lifed.lifectl.start(name, *programs.FAMILY)
        else:
            lifed.lifectl("launch", name)
        mains[name] = lifed.lifectl.pid(name)
        # The next launch suspends it at once, with the processes that it has by then.
        wait_for(lambda main=mains[name]: len(tree(lifed, main)) == 5, what=f"{name} has its processes")
    for name in mains:
        lifed.lifectl("suspend", name)
    return mains


def assert_all_run(lifed, mains):
    for main in mains.values():
        processes = tree(lifed, main)
        assert len(processes) == 5
        assert all(lifed.kernel.stat(pid).state in "SR" for pid in processes)
        group = group_of(lifed, main)
        assert lifed.container.run(["grep", "frozen", f"{group}/cgroup.events"]).stdout.split() == ["frozen", "0"]


def assert_all_suspended(lifed, mains):
    for name, main in mains.items():
        assert lifed.lifectl.apps()[name]["state"] == "suspended", name
        assert len(tree(lifed, main)) == 5
        group = group_of(lifed, main)
        is_frozen = lifed.container.run(["grep", "frozen", f"{group}/cgroup.events"]).stdout.split() == ["frozen", "1"]
        assert is_frozen or {lifed.kernel.stat(pid).state for pid in tree(lifed, main)} == {"T"}, name


def test_without_its_program_all_apps_run_again_and_the_journal_says_why(lifed, no_program):
    mains = start_suspended(lifed)
    assert lifed.kernel.is_stopped(mains["stopped"])
    began = cursor(lifed.container)
    no_program()
    kill_daemon(lifed)
    entry = wait_for(lambda: rescues(lifed.container, began), timeout=30, what="the rescue's entry")[0]
    assert_all_run(lifed, mains)
    # The signal that stops what is frozen, too, has not always reached it by the time that it is thawed.
    assert 5 <= int(re.search(r"(\d+) stopped processes", entry["MESSAGE"]).group(1)) <= 10
    assert "2 frozen groups" in entry["MESSAGE"]
    assert "cannot execute" in entry["MESSAGE"]
    assert entry["LIFED_UNIT"] == "lifed.service"
    assert lifed.show("ActiveState") == "failed"
    assert lifed.container.run(["systemctl", "show", "-P", "Result", "lifed-rescue.service"]).stdout.strip() == "success"


def test_what_somebody_else_had_stopped_before_is_theirs_to_continue(lifed, no_program):
    main = lifed.lifectl.start("app", *programs.FAMILY)
    wait_for(lambda: len(tree(lifed, main)) == 5)
    theirs = next(stat.pid for stat in lifed.kernel.tree(main) if stat.name == "sleep")
    lifed.container.run(["kill", "-STOP", str(theirs)])
    wait_for(lambda: lifed.kernel.stat(theirs).state == "T")
    lifed.lifectl("suspend", "app")
    assert lifed.kernel.is_stopped(main)
    began = cursor(lifed.container)
    no_program()
    kill_daemon(lifed)
    entry = wait_for(lambda: rescues(lifed.container, began), timeout=30)[0]
    assert "4 stopped processes" in entry["MESSAGE"]
    assert [pid for pid in tree(lifed, main) if lifed.kernel.stat(pid).state == "T"] == [theirs]


def test_after_a_rescue_it_is_started_by_hand(lifed, no_program):
    mains = start_suspended(lifed)
    began = cursor(lifed.container)
    no_program()
    kill_daemon(lifed)
    wait_for(lambda: rescues(lifed.container, began), timeout=30)
    lifed.container.run(["mv", ASIDE, PROGRAM])
    lifed.systemctl("reset-failed", "lifed.service", "lifed.socket")
    lifed.systemctl("start", "lifed.service")
    assert lifed.lifectl.apps() is not None
    lifed.systemctl("stop", "lifed.service")
    assert not any(lifed.kernel.exists(main) for main in mains.values())


def test_what_a_failed_daemon_left_can_be_ended(lifed, no_program):
    mains = start_suspended(lifed)
    began = cursor(lifed.container)
    no_program()
    kill_daemon(lifed)
    wait_for(lambda: rescues(lifed.container, began), timeout=30)
    lifed.systemctl("kill", "--kill-who=all", "lifed")
    wait_for(lambda: not any(lifed.kernel.exists(main) for main in mains.values()))


def test_a_daemon_that_keeps_crashing_is_given_up(lifed):
    mains = start_suspended(lifed)
    began = cursor(lifed.container)
    lifed.drop_in("[Service]\nExecStart=\nExecStart=/bin/sh -c 'exit 7'\n")
    kill_daemon(lifed)
    entry = wait_for(lambda: rescues(lifed.container, began), timeout=30)[0]
    assert "status 7" in entry["MESSAGE"]
    assert_all_run(lifed, mains)


def test_a_daemon_that_keeps_hanging_at_its_start_is_given_up(lifed):
    mains = start_suspended(lifed)
    began = cursor(lifed.container)
    lifed.drop_in("[Unit]\nStartLimitBurst=3\n[Service]\nTimeoutStartSec=200ms\nExecStart=\nExecStart=/bin/sleep infinity\n")
    kill_daemon(lifed)
    entry = wait_for(lambda: rescues(lifed.container, began), timeout=30)[0]
    # Some releases tell the last result, and some that there were too many starts.
    assert re.search("timeout|start-limit-hit", entry["MESSAGE"])
    assert_all_run(lifed, mains)


def test_restarts_after_crashes_rescue_nothing(lifed):
    mains = start_suspended(lifed)
    lifed.container.run(["systemctl", "reset-failed", "lifed-rescue.service"])
    began = cursor(lifed.container)
    for _ in range(8):
        before = lifed.pid
        kill_daemon(lifed)
        wait_for(lambda: lifed.pid not in (0, before) and lifed.show("ActiveState") == "active")
        show = ["systemctl", "show", "-P", "ActiveState", "lifed-rescue.service"]
        wait_for(lambda: lifed.container.run(show).stdout.strip() not in ("activating", "deactivating"))
        assert_all_suspended(lifed, mains)
        # Ten starts in three minutes are too many.
        lifed.systemctl("reset-failed", "lifed.service")
    assert rescues(lifed.container, began) == []
    show = ["systemctl", "show", "-P", "Result", "lifed-rescue.service"]
    assert lifed.container.run(show).stdout.strip() == "success"


def test_a_rescue_waits_for_a_daemon_that_is_started_again(lifed):
    app = lifed.lifectl.start("app", *programs.IDLE)
    lifed.lifectl("suspend", "app")
    began = cursor(lifed.container)
    lifed.drop_in("[Service]\nRestartSec=3s\n")
    kill_daemon(lifed)
    wait_for(lambda: lifed.show("SubState") == "auto-restart")
    # As systemd does at each crash since version 254, unless the unit has RestartMode=direct.
    lifed.systemctl("start", "lifed-rescue.service")
    assert lifed.show("ActiveState") == "active"
    assert lifed.kernel.is_stopped(app)
    assert rescues(lifed.container, began) == []


def test_a_stop_between_a_crash_and_the_restart_ends_the_apps(lifed):
    for delay in ("0.01", "0.04", "0.08"):
        app = lifed.lifectl.start("app", *programs.FAMILY)
        lifed.lifectl("suspend", "app")
        crash = f"pid=$(systemctl show -P MainPID lifed.service); kill -KILL $pid; sleep {delay}"
        lifed.container.run(["sh", "-c", f"{crash}; systemctl stop lifed.socket lifed.service"])
        assert not lifed.kernel.exists(app)
        assert lifed.members() == []
        # Without the reset, systemd starts a socket five times in ten seconds.
        lifed.systemctl("reset-failed", "lifed.socket", "lifed.service", check=False)
        lifed.systemctl("start", "lifed.socket", "lifed.service")


def test_nothing_is_rescued_from_a_daemon_that_runs(lifed):
    app = lifed.lifectl.start("app", *programs.IDLE)
    lifed.lifectl("suspend", "app")
    lifed.systemctl("start", "lifed-rescue.service")
    assert lifed.kernel.stat(app).state == "T"


def test_a_persons_apps_are_rescued_too(container, no_program):
    user = "stranger"
    number = container.run(["id", "-u", user]).stdout.strip()
    runtime = f"/run/user/{number}"
    session = {"XDG_RUNTIME_DIR": runtime, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={runtime}/bus", "HOME": f"/home/{user}"}

    def run(*arguments, **options):
        return container.run(list(arguments), user=user, environment=session, **options)

    container.run(["systemctl", "start", f"user@{number}.service"])
    try:
        run("systemctl", "--user", "start", "lifed.service")
        run("lifectl", "run", "--id", "own", "--", *programs.IDLE)
        pid = json.loads(run("lifectl", "list", "--json").stdout)["apps"][0]["pid"]
        run("lifectl", "suspend", "own")
        state = lambda: container.run(["sed", "-n", "s/^State:\\t\\(.\\).*/\\1/p", f"/proc/{pid}/status"]).stdout.strip()
        assert state() == "T"
        began = cursor(container)
        no_program()
        run("systemctl", "--user", "kill", "--kill-who=main", "--signal=KILL", "lifed.service")
        wait_for(lambda: rescues(container, began), timeout=30)
        assert state() == "S"
        run("systemctl", "--user", "stop", "lifed.socket", check=False)
    finally:
        container.run(["systemctl", "stop", f"user@{number}.service"])


# Without systemd


def test_a_rescue_by_hand_is_refused_while_the_daemon_runs(direct):
    app = direct.lifectl.start("app", *programs.IDLE)
    direct.lifectl("suspend", "app")
    result = rescue(direct, check=False)
    assert result.returncode == 1
    assert f"process {direct.process.pid}" in result.stderr
    assert direct.kernel.stat(app).state == "T"


def test_a_rescue_by_hand_continues_the_apps_of_a_state_that_no_daemon_can_restore(direct):
    app = direct.lifectl.start("app", *programs.IDLE)
    direct.lifectl("suspend", "app")
    kill(direct)
    change_format(direct)
    assert rescue(direct).stdout == "continued 1 stopped processes of its apps, thawed 0 frozen groups\n"
    wait_for(lambda: direct.kernel.stat(app).state == "S")
    os.kill(app, signal.SIGKILL)


def test_a_rescue_by_hand_continues_nothing_of_a_state_of_another_boot(direct):
    app = direct.lifectl.start("app", *programs.IDLE)
    direct.lifectl("suspend", "app")
    kill(direct)
    state_file(direct).write_bytes(state_file(direct).read_bytes().replace(b" boot=", b" boot=f", 1))
    result = rescue(direct, check=False)
    assert result.returncode == 1
    assert "there is no saved state of this boot" in result.stderr
    assert direct.kernel.stat(app).state == "T"
    os.kill(app, signal.SIGKILL)


def test_a_second_daemon_is_refused_with_the_number_of_the_first(direct):
    result = direct.run(direct.arguments(), check=False)
    assert result.returncode == 1
    assert f"process {direct.process.pid}" in result.stderr


def test_a_daemon_by_hand_does_not_take_the_place_of_the_service(lifed):
    result = lifed.container.run(["lifed"], check=False)
    assert result.returncode == 1
    assert f"process {lifed.pid}" in result.stderr
    assert lifed.lifectl("list").returncode == 0
