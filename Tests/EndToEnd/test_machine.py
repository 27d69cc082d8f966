"""What the machine tells: the login session and sleep through a real logind, the clock, and memory."""

import datetime
import subprocess
import time
import zoneinfo
from pathlib import Path

import pytest

from container import wait_for
from kernel import Kernel
from machine import FIXTURE, ROOT, Listener, run_here
from shortage import read

# logind sees a machine that can sleep, and one whose sleep does nothing.
CAN_SLEEP = """[Service]
ProtectControlGroups=no
TemporaryFileSystem=/sys
BindPaths=/sys/fs/cgroup /run/power:/sys/power
"""
NO_SLEEP = "[Service]\nExecStart=\nExecStart=/bin/true\n"


@pytest.fixture(scope="module", autouse=True)
def fixture_program():
    if not (ROOT / FIXTURE).exists():
        pytest.skip(f'{FIXTURE} is not built: run "swift build --product MachineFixture"')


@pytest.fixture
def listen(container):
    listeners = []

    def start(*arguments, **options):
        listeners.append(Listener(container.popen, "/lifed-source", *arguments, **options))
        return listeners[-1]

    yield start
    for listener in listeners:
        listener.stop()


@pytest.fixture
def listen_here():
    """Listens without a container, to what is the whole machine's."""
    listeners = []

    def start(*arguments, **options):
        listeners.append(Listener(run_here, ROOT, *arguments, **options))
        return listeners[-1]

    yield start
    for listener in listeners:
        listener.stop()


def test_the_session_on_the_seat_is_locked_and_unlocked(container, logind, listen):
    session = logind.open_session("kiosk")
    listener = listen("session", "seat")
    listener.wait_for(f"session {session}")
    container.run(["loginctl", "lock-session", session])
    listener.wait_for("locked")
    container.run(["loginctl", "unlock-session", session])
    listener.wait_for("unlocked")
    container.run(["loginctl", "lock-sessions"])
    listener.wait_for("locked")


def test_the_words_of_a_screen_locker_count(container, logind, listen):
    session = logind.open_session("locker")
    listener = listen("session", "seat")
    listener.wait_for(f"session {session}")
    path = logind.call("GetSession", "s", session).split('"')[1]
    container.run(["loginctl", "lock-session", session])
    logind.call("SetLockedHint", "b", "true", path=path, interface="Session")
    listener.wait_for("locked")
    # The password was typed into the locker; no program has asked logind to unlock.
    logind.call("SetLockedHint", "b", "false", path=path, interface="Session")
    listener.wait_for("unlocked")


def test_another_session_in_front_is_a_switch_away_until_it_ends(container, logind, listen):
    session = logind.open_session("own")
    listener = listen("session", "seat")
    listener.wait_for(f"session {session}")
    greeter = logind.open_session("greeter", user="stranger", session_class="greeter")
    listener.wait_for("switchedAway")
    container.run(["loginctl", "activate", session])
    listener.wait_for("switchedBack")
    container.run(["loginctl", "activate", greeter])
    listener.wait_for("switchedAway")


def test_a_session_that_comes_later_is_found_and_a_greeter_is_none(logind, listen):
    listener = listen("session", "seat")
    logind.open_session("greeter", user="stranger", session_class="greeter")
    session = logind.open_session("own")
    listener.wait_for(f"session {session}")
    logind.close_session("own")
    listener.wait_for("switchedAway")
    session = logind.open_session("again")
    listener.wait_for(f"session {session}", "switchedBack")


def test_a_persons_daemon_follows_that_persons_session(container, logind, listen):
    own = logind.open_session("own", user="stranger")
    listener = listen("session", "user", user="stranger")
    listener.wait_for(f"session {own}")
    other = logind.open_session("other", user="member")
    listener.wait_for("switchedAway")
    container.run(["loginctl", "lock-session", other])
    container.run(["loginctl", "lock-session", own])
    listener.wait_for("locked")
    container.run(["loginctl", "activate", own])
    listener.wait_for("switchedBack")
    container.run(["loginctl", "unlock-session", own])
    listener.wait_for("unlocked")


def test_the_session_that_the_environment_names_counts_if_it_is_ones_own(container, logind, listen):
    own = logind.open_session("own", user="stranger")
    second = logind.open_session("second", user="stranger")
    other = logind.open_session("other", user="member")
    for named, followed in [(own, {own}), (second, {second}), (other, {own, second}), ("999", {own, second})]:
        listener = listen("session", "user", user="stranger", environment={"XDG_SESSION_ID": named})
        assert listener.wait_for("session ").split()[1] in followed


def test_a_lock_outlives_logind(container, logind, listen):
    session = logind.open_session("kiosk")
    listener = listen("session", "seat")
    listener.wait_for(f"session {session}")
    container.run(["loginctl", "lock-session", session])
    listener.wait_for("locked")
    logind.restart()
    listener.wait_for(f"session {session}")
    container.run(["loginctl", "unlock-session", session])
    listener.wait_for("unlocked")


def test_nobody_elses_signals_are_believed(container, logind, listen):
    """Any user may send a signal straight to the daemon, in logind's words."""
    session = logind.open_session("kiosk")
    listener = listen("session", "seat")
    listener.wait_for(f"session {session}")
    names = container.run(["busctl", "list", "--unique", "--no-legend"]).stdout.splitlines()
    own = next(line.split()[0] for line in names if "MachineFixture"[:15] in line)
    forged = ["dbus-send", "--system", "--type=signal", f"--dest={own}"]
    manager = ["/org/freedesktop/login1", "org.freedesktop.login1.Manager.PrepareForSleep", "boolean:true"]
    container.run([*forged, *manager], user="stranger")
    container.run(["loginctl", "lock-session", session])
    listener.wait_for("locked")


def test_what_others_do_on_the_bus_wakes_nobody(container, logind, listen):
    session = logind.open_session("kiosk")
    listener = listen("session", "seat")
    listener.wait_for(f"session {session}")
    wait_for(lambda: "lifed" in inhibitors(container))
    pid = int(container.run(["pgrep", "-x", "MachineFixture"[:15]]).stdout)
    kernel = Kernel(container.path("/proc"))
    wait_for(lambda: kernel.stat(pid).state == "S")
    before = kernel.wakeups(pid)
    for _ in range(5):
        container.run(["busctl", "tree", "org.freedesktop.login1"])
        container.run(["systemctl", "list-units"])
    assert kernel.wakeups(pid) == before


@pytest.fixture
def sleepy(container, logind):
    """A logind that may put the machine to sleep, by a service that does nothing."""
    container.write("/run/power/state", "freeze mem\n")
    container.write("/run/systemd/system/systemd-logind.service.d/test.conf", CAN_SLEEP)
    container.write("/run/systemd/system/systemd-suspend.service.d/test.conf", NO_SLEEP)
    # Longer than any test waits: who sleeps within it was let.
    container.write("/run/systemd/logind.conf.d/test.conf", "[Login]\nInhibitDelayMaxSec=10min\n")
    logind.restart()
    name = ["org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"]
    answer = container.run(["busctl", "call", *name, "CanSuspend"]).stdout
    if "yes" not in answer:
        pytest.skip(f"logind cannot be made to believe that the machine can sleep: {answer}")
    yield logind
    container.run(["rm", "-rf", "/run/systemd/system/systemd-logind.service.d", "/run/power"])
    container.run(["rm", "-rf", "/run/systemd/system/systemd-suspend.service.d", "/run/systemd/logind.conf.d"])
    logind.restart()


def inhibitors(container):
    return container.run(["systemd-inhibit", "--list", "--no-legend"]).stdout


def test_sleep_waits_for_the_apps_and_waking_is_told(container, sleepy, listen):
    listener = listen("session", "seat")
    for _ in range(2):
        wait_for(lambda: "lifed" in inhibitors(container))
        container.run(["systemctl", "suspend", "--no-block"])
        listener.wait_for("willSleep held=true longest=600.0 seconds")
        # The machine waits: the service that suspends it has not been started.
        assert "lifed" in inhibitors(container)
        listener.say("release")
        listener.wait_for("released", "didWake")


def test_who_never_answers_does_not_keep_the_machine_awake(container, sleepy, listen):
    container.write("/run/systemd/logind.conf.d/test.conf", "[Login]\nInhibitDelayMaxSec=1\n")
    sleepy.restart()
    listener = listen("session", "seat")
    wait_for(lambda: "lifed" in inhibitors(container))
    container.run(["systemctl", "suspend", "--no-block"])
    listener.wait_for("willSleep held=true longest=1.0 seconds", "didWake")


def test_without_a_bus_nothing_is_told_and_a_bus_that_comes_is_used(container, logind, listen):
    session = logind.open_session("kiosk")
    container.run(["systemctl", "stop", "dbus.socket", "dbus.service"])
    listener = listen("session", "seat")
    container.run(["systemctl", "start", "dbus.socket", "dbus.service"])
    # logind itself does not come back to a bus that was restarted.
    logind.restart()
    listener.wait_for(f"session {session}", timeout=60)
    container.run(["systemctl", "restart", "dbus.service"])
    logind.restart()
    listener.wait_for(f"session {session}", timeout=60)


def test_setting_the_clock_is_told(listen_here):
    """The clock is set to what it shows, which is a step of some microseconds: enough for the kernel."""
    listener = listen_here("clock")
    try:
        time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME))
    except PermissionError as reason:
        pytest.skip(f"this machine's clock cannot be set: {reason}")
    listener.wait_for("clockSet")


def test_a_new_day_is_told(listen_here):
    """A time zone in which it will be midnight soon."""
    for ahead in (3, 10, 60):
        midnight = int(time.time()) + ahead
        east = -midnight % 86400
        zone = f"NEAR-{east // 3600}:{east // 60 % 60:02}:{east % 60:02}"
        listener = listen_here("clock", environment={"TZ": zone})
        if time.time() < midnight:
            break
    listener.wait_for("midnight", timeout=ahead + 20)
    assert time.time() >= midnight


@pytest.mark.parametrize(
    ("zone", "day"),
    [("Europe/Berlin", (2024, 3, 31)), ("Europe/Berlin", (2024, 10, 27)), ("Etc/UTC", (2024, 2, 29))]
    # There is no midnight at the beginning of the first, and two at the end of the second.
    + [("America/Sao_Paulo", (2018, 11, 3)), ("America/Havana", (2024, 11, 2)), ("Pacific/Apia", (2011, 12, 29))],
)
@pytest.mark.parametrize("hour", [0, 1, 12, 23])
def test_the_next_day_begins_where_the_zone_says(zone, day, hour):
    here = zoneinfo.ZoneInfo(zone)
    instant = int(datetime.datetime(*day, hour, 30, tzinfo=here).timestamp())
    found = int(
        subprocess.run(
            [ROOT / FIXTURE, "midnight", str(instant)], env={"TZ": zone}, stdout=subprocess.PIPE, check=True
        ).stdout
    )
    before, after = (datetime.datetime.fromtimestamp(second, here) for second in (found - 1, found))
    assert found > instant
    assert (before.date(), after.date()) == (datetime.date(*day), after.date())
    assert after.date() > before.date()


def test_another_time_zone_is_told(container, listen):
    listener = listen("clock")
    container.run(["ln", "-sf", "/usr/share/zoneinfo/Asia/Tokyo", "/etc/localtime"])
    listener.wait_for("timeZone")
    container.run(["touch", "/etc/something-else"])
    container.run(["ln", "-sf", "/usr/share/zoneinfo/Asia/Tokyo", "/etc/localtime"])
    container.run(["ln", "-sf", "/usr/share/zoneinfo/Etc/UTC", "/etc/localtime"])
    listener.wait_for("timeZone")
    assert listener.lines == []


def test_memory_pressure_is_told(listen_here, hog):
    if not read(Path("/proc/pressure/memory")):
        pytest.skip("this kernel has no pressure stall information")
    listener = listen_here("memory")
    assert listener.lines == []
    hog()
    wait_for(lambda: any(line.startswith("warning: ") for line in listener.lines), timeout=60)
    assert "MiB available" in listener.lines[0]
