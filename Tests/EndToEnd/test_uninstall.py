"""What "make uninstall" does, and what it shares with the removal of a package: the end of every daemon and of its apps."""

import os
import subprocess

import pytest

import programs
from container import wait_for
from lifectl import Lifectl
from service import Service
from sessions import session

BUILD = os.environ.get("LIFED_BUILD", "release")
STOP_ALL = "/usr/local/lib/lifed/stop-all"
PROGRAM = "/usr/local/bin/lifed"
# A program whose end takes as long as a test wants.
SLOW = """
trap 'touch /tmp/asked; until [ -e /tmp/may-end ]; do sleep 0.1; done; touch /tmp/saved; exit' TERM
while :; do sleep 0.1; done
"""


def polite(place):
    """A program that leaves a file when it is asked to end, which one that is killed does not."""
    return ["sh", "-c", f"trap 'touch {place}; exit' TERM; while :; do sleep 0.1; done"]


@pytest.fixture
def machine(bare_machine):
    """A machine with a user."""
    bare_machine.add_user("kim")
    return bare_machine


@pytest.fixture
def service(machine):
    """The service, which has just been installed and runs."""
    install(machine)
    service = Service(machine)
    service.systemctl("enable", "--now", "lifed.service", "lifed.socket")
    return service


@pytest.fixture
def kim(service):
    """The same user's own manager, in which a daemon runs."""
    with session(service.container, "kim") as kim:
        kim.lifectl = Lifectl(lambda command, **options: kim(*command, **options))
        yield kim


def make(machine, target, **options):
    return machine.run(make_arguments(target), timeout=300, **options)


def make_arguments(target):
    return ["make", "-C", "/lifed-source", target, f"BUILD={BUILD}"]


def install(machine):
    make(machine, "install")


def user_show(kim, name):
    return kim("systemctl", "--user", "show", "-P", name, "lifed.service").stdout.strip()


def kill_daemon(systemctl):
    systemctl("kill", "--kill-who=main", "--signal=KILL", "lifed.service")


def words(service, pid):
    return (service.kernel.proc / str(pid) / "cmdline").read_text().split("\0")


def is_there(machine, path):
    return machine.run(["test", "-e", path], check=False).returncode == 0


def test_nothing_is_left_but_what_it_says(machine):
    before = machine.files()
    install(machine)
    service = Service(machine)
    assert "liblifecycle" in machine.run(["ldconfig", "-p"]).stdout
    service.systemctl("enable", "--now", "lifed.service", "lifed.socket")
    service.lifectl.start("app", *programs.IDLE)
    said = make(machine, "uninstall").stdout.splitlines()[-2:]
    assert any("/etc/lifed" in line and "/var/lib/lifed" in line and "the group lifed" in line for line in said), said
    kept = ("/etc/lifed", "/var/lib/lifed")
    left = [path for path in machine.files() - before if not path.startswith(kept)]
    # Directories that others use as well may stay.
    assert [path for path in left if not machine.path(path).is_dir()] == []
    assert [path for path in left if "life" in path] == []
    assert sorted(before - machine.files()) == []
    assert not is_there(machine, "/run/lifed")
    assert "liblifecycle" not in machine.run(["ldconfig", "-p"]).stdout
    assert "LIFED_APP" not in machine.run(["journalctl", "--dump-catalog"]).stdout


def test_manifests_of_others_stay(service):
    manifest = "/usr/local/lib/lifed/apps.d/of-a-vendor.toml"
    service.container.write(manifest, 'command = ["true"]\n')
    make(service.container, "uninstall")
    assert is_there(service.container, manifest)
    assert service.container.run(["ls", "/usr/local/lib/lifed"]).stdout.split() == ["apps.d"]


def test_no_unit_stays_enabled_for_all_users(service):
    machine = service.container
    links = ["find", "/etc/systemd/user", "-name", "lifed*"]
    machine.run(["systemctl", "--global", "preset", "lifed.socket", "lifed-desktop.service"])
    assert machine.run(links).stdout
    make(machine, "uninstall")
    assert machine.run(links).stdout == ""


def test_no_unit_of_a_user_stays_enabled_or_loaded(machine):
    """The installer of the archive, for a user alone."""
    units = ["lifed.service", "lifed.socket", "lifed-desktop.service"]
    machine.run(["env", f"BUILD={BUILD}", "/lifed-source/scripts/dist", "/tmp/dist", "1"], timeout=300)
    machine.run(["sh", "-c", "mkdir /tmp/lifed && tar -xzf /tmp/dist/*.tar.gz -C /tmp/lifed --strip-components=1"])
    machine.run(["/tmp/lifed/install.sh", "--user"], user="kim", environment={"HOME": "/home/kim"})
    # A failed unit stays loaded.
    machine.write(
        "/run/systemd/user/lifed-desktop.service.d/fail.conf",
        "[Unit]\nConditionEnvironment=\n[Service]\nExecStart=\nExecStart=false\nRestart=no\n")
    with session(machine, "kim") as kim:
        kim("systemctl", "--user", "enable", *units)
        kim("systemctl", "--user", "start", "lifed-desktop.service")
        wait_for(lambda: kim("systemctl", "--user", "is-failed", units[-1], check=False).stdout == "failed\n")
        kim("/tmp/lifed/install.sh", "--user", "--uninstall")
        assert kim("systemctl", "--user", "show", "-P", "LoadState", *units).stdout.split() == ["not-found"] * len(units)
        assert kim("find", "/home/kim/.config/systemd", "-name", "lifed*").stdout == ""


@pytest.mark.parametrize("has_bus", [True, False])
def test_all_daemons_end_with_their_apps(service, has_bus):
    machine = service.container
    if not has_bus:
        machine.run(["rm", "-f", "/usr/lib/systemd/user/dbus.socket", "/usr/lib/systemd/user/dbus.service"])
    with session(machine, "kim") as kim:
        # An enabled unit stays loaded until the manager reads its units again.
        kim("systemctl", "--user", "enable", "lifed.service", "lifed.socket")
        theirs = Lifectl(lambda command, **options: kim(*command, **options))
        awake = [lifectl.start("awake", *programs.FAMILY, background=True) for lifectl in (service.lifectl, theirs)]
        asleep = [lifectl.start("asleep", *programs.FAMILY) for lifectl in (service.lifectl, theirs)]
        for lifectl in (service.lifectl, theirs):
            lifectl("resume", "awake")
            lifectl("suspend", "asleep")
        processes = [stat.pid for pid in awake + asleep for stat in service.kernel.tree(pid)]
        daemons = [service.pid, int(user_show(kim, "MainPID"))]
        assert all(service.kernel.exists(pid) for pid in processes + daemons)
        make(machine, "uninstall")
        assert not any(service.kernel.exists(pid) for pid in processes + daemons)
        assert service.show("LoadState") == "not-found"
        wait_for(lambda: user_show(kim, "LoadState") == "not-found", what="the user's manager has read its units again")


def fail(systemctl, show):
    """A daemon that cannot be started again, and whose apps were not rescued."""
    kill_daemon(systemctl)
    wait_for(lambda: show("ActiveState") == "failed")
    wait_for(lambda: systemctl("show", "-P", "ActiveState", "lifed-rescue.service").stdout.strip() == "inactive")


def test_nothing_sleeps_on_behind_daemons_that_had_failed(service, kim):
    machine = service.container
    machine.write("/run/systemd/system/lifed-rescue.service.d/none.conf", "[Service]\nExecStart=\nExecStart=true\n")
    machine.write("/run/systemd/user/lifed-rescue.service.d/none.conf", "[Service]\nExecStart=\nExecStart=true\n")
    service.manifest("frozen", polite("/tmp/frozen"), 'suspendMethod = "freezer"')
    service.systemctl("daemon-reload")
    kim("systemctl", "--user", "daemon-reload")
    service.lifectl("reload")
    service.lifectl("launch", "frozen")
    mains = [service.lifectl.pid("frozen")]
    for place, lifectl in (("/tmp/system", service.lifectl), ("/tmp/kim", kim.lifectl)):
        mains.append(lifectl.start("asleep", *polite(place)))
        mains.append(lifectl.start("stubborn", *programs.STUBBORN))
        lifectl("suspend", "asleep")
    service.lifectl("suspend", "frozen")
    processes = [stat.pid for pid in mains for stat in service.kernel.tree(pid)]
    machine.run(["rm", PROGRAM])
    fail(service.systemctl, service.show)
    fail(lambda *arguments: kim("systemctl", "--user", *arguments), lambda name: user_show(kim, name))
    assert all(service.kernel.exists(pid) for pid in processes)
    make(machine, "uninstall")
    assert not any(service.kernel.exists(pid) for pid in processes)
    assert all(is_there(machine, place) for place in ("/tmp/frozen", "/tmp/system", "/tmp/kim"))
    assert "lifed" not in service.systemctl("list-units", "--all", "--failed", "--plain").stdout


def test_nothing_sleeps_on_behind_a_daemon_that_is_about_to_be_started_again(service):
    service.drop_in("[Service]\nRestartSec=1h\n")
    asleep = service.lifectl.start("asleep", *programs.FAMILY)
    service.lifectl("suspend", "asleep")
    kill_daemon(service.systemctl)
    wait_for(lambda: service.show("SubState") == "auto-restart")
    make(service.container, "uninstall")
    assert not service.kernel.exists(asleep)


# The end of what users have


@pytest.fixture
def slow(service, kim):
    """A user's app that takes its time to end."""
    manifest = f"command = ['sh', '-c', '''{SLOW}''']\nterminationTimeout = '1h'\n"
    service.container.write("/home/kim/.config/lifed/apps.d/slow.toml", manifest)
    service.container.run(["chown", "-R", "kim:kim", "/home/kim/.config"])
    kim.lifectl("reload")
    kim.lifectl("launch", "slow")
    yield kim.lifectl.pid("slow")
    service.container.run(["touch", "/tmp/may-end"])


def test_an_app_has_the_time_that_its_manifest_gives_it(service, slow):
    machine = service.container
    removal = machine.popen(make_arguments("uninstall"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: is_there(machine, "/tmp/asked"))
        # The system's, which had nothing to end, does not wait for a user's, and the program waits for both.
        wait_for(lambda: service.show("ActiveState") == "inactive")
        # The test must not last that long, so it reads the limit where it is kept.
        limits = [words(service, stat.pid) for stat in service.kernel.all() if stat.name == "timeout"]
        assert any("600" in limit for limit in limits), limits
        assert removal.poll() is None and service.kernel.exists(slow) and is_there(machine, PROGRAM)
        machine.run(["touch", "/tmp/may-end"])
        assert removal.wait(timeout=120) == 0
        assert is_there(machine, "/tmp/saved") and not service.kernel.exists(slow)
    finally:
        removal.kill()
        removal.wait()


def test_it_does_not_wait_for_ever_for_what_people_have(service, kim, slow):
    daemon = int(user_show(kim, "MainPID"))
    result = service.container.run([STOP_ALL, "1"])
    assert "they still run after 1 seconds" in result.stderr
    assert not is_there(service.container, "/tmp/saved")
    assert not service.kernel.exists(slow) and not service.kernel.exists(daemon)
    assert user_show(kim, "ActiveState") != "active"


def test_a_manager_that_does_not_answer_holds_nothing_up(service, kim):
    machine = service.container
    number = machine.run(["id", "-u", "kim"]).stdout.strip()
    manager = machine.run(["systemctl", "show", "-P", "MainPID", f"user@{number}.service"]).stdout.strip()
    machine.run(["kill", "-STOP", manager])
    try:
        result = machine.run([STOP_ALL], timeout=120)
        assert f"cannot stop lifed of user {number}: systemd does not answer" in result.stderr
        assert service.show("ActiveState") == "inactive"
    finally:
        machine.run(["kill", "-CONT", manager])
