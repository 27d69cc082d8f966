"""The apps that a desktop starts, each in an app unit of the user's systemd, managed by the user's daemon."""

import contextlib
import json
import subprocess
import threading
from pathlib import Path

import pytest

import programs
from container import wait_for
from desktop import WindowReporter
from kernel import Kernel
from lifectl import Lifectl
from sandboxes import FLATPAK_CLOCK, prepare
from sessions import session

SETTINGS = """
[desktop]
manage = "{manage}"
allow = [{allow}]
deny = [{deny}]
[timeouts]
background = "300ms"
launch = "{launch}"
"""
ENTRY = "[Desktop Entry]\nType=Application\nName={name}\nExec=sleep infinity\n{extra}"


class Desktop:
    """A user's systemd with lifed in it, and a launcher."""

    def __init__(self, container, run):
        self.container = container
        self.run = run
        self.kernel = Kernel(container.path("/proc"))
        self.lifectl = Lifectl(lambda command, **options: run(*command, **options))
        self.units = []
        self.follower = None

    def configure(self, manage="all", allow=(), deny=(), launch="300ms"):
        def quote(words):
            return ", ".join(f'"{word}"' for word in words)

        text = SETTINGS.format(manage=manage, allow=quote(allow), deny=quote(deny), launch=launch)
        self.container.write("/home/stranger/.config/lifed/lifed.toml", text, user="stranger")
        self.lifectl("reload")

    def entry(self, identifier, name, extra=""):
        path = f"/home/stranger/.local/share/applications/{identifier}.desktop"
        self.container.write(path, ENTRY.format(name=name, extra=extra), user="stranger")

    def scope(self, unit, *command):
        """Starts a program as GNOME, Plasma and Flatpak do, and returns the pid of its first process."""
        self.units.append(unit)
        words = ["systemd-run", "--user", "--scope", "--quiet", f"--unit={unit}", "--", *command]
        errors = "/tmp/scope-errors"
        self.run("sh", "-c", f'>{errors}; exec setsid "$@" >/dev/null 2>{errors} </dev/null &', "sh", *words)

        def first_process():
            failure = self.run("head", "-1", errors).stdout
            assert not failure.startswith("Failed"), f"systemd-run: {failure}"
            return next(iter(self.members(unit)), None)

        try:
            return wait_for(first_process, what=f"{unit} runs")
        except AssertionError as error:
            processes = self.run("ps", "-eo", "pid,ppid,stat,args", check=False).stdout
            raise AssertionError(f"{error}; systemd-run says {self.run('cat', errors).stdout!r}\n{processes}") from None

    def service(self, unit, *command, type="simple"):
        self.units.append(unit)
        words = ["systemd-run", "--user", "--quiet", "--no-block", f"--unit={unit}", f"--property=Type={type}"]
        self.run(*words, "--", *command)
        return wait_for(lambda: next(iter(self.members(unit)), None), what=f"{unit} runs")

    def show(self, unit, name):
        return self.run("systemctl", "--user", "show", "-P", name, unit).stdout.strip()

    def members(self, unit):
        group = self.show(unit, "ControlGroup")
        if not group:
            return []
        found = self.run("sh", "-c", f"find '/sys/fs/cgroup{group}' -name cgroup.procs -exec cat {{}} +", check=False)
        return sorted((int(pid) for pid in found.stdout.split()), key=self.start_time)

    def start_time(self, pid):
        try:
            return int(self.container.path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
        except OSError:
            return 0

    def states(self, unit):
        stats = [self.kernel.stat(pid) for pid in self.members(unit)]
        return {stat.state if stat else "gone" for stat in stats}

    def wait_for_daemon(self):
        wait_for(lambda: self.lifectl("status", check=False).returncode == 0, what="lifed answers")

    def crash(self):
        before = self.show("lifed.service", "MainPID")
        self.container.run(["kill", "-KILL", before])
        wait_for(lambda: self.show("lifed.service", "MainPID") not in ("0", before))
        self.wait_for_daemon()

    def follow(self, *visible):
        self.follower = self.follower or WindowReporter(self.container.path(self.run.socket))
        self.follower.show(*visible)

    def leave(self):
        if self.follower:
            self.follower.close()
            self.follower = None

    def end(self):
        self.leave()
        for unit in self.units:
            self.run("systemctl", "--user", "kill", "--kill-who=all", "--signal=KILL", unit, check=False)
            self.run("systemctl", "--user", "stop", unit, check=False)


@pytest.fixture
def desktop(container, service):
    if not container.path("/usr/lib/systemd/user/dbus.socket").exists():
        pytest.skip("the container has no session bus (package dbus-user-session)")
    home = ["/home/stranger/.config/lifed", "/home/stranger/.local/share/applications"]
    with session(container, "stranger") as run:
        desktop = Desktop(container, run)
        desktop.wait_for_daemon()
        desktop.configure("none")
        yield desktop
        desktop.end()
    container.run(["rm", "-rf", *home])


def test_app_of_a_scope_is_suspended_in_its_unit_and_released_intact(desktop):
    desktop.configure("listed", allow=["org.example.*"])
    desktop.follow()
    unit = "app-test-org.example.App-1234.scope"
    pid = desktop.scope(unit, *programs.FAMILY)
    other = desktop.scope("app-test-org.other.App-1234.scope", *programs.IDLE)
    group = desktop.show(unit, "ControlGroup")
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    app = desktop.lifectl.app("org.example.App")
    assert (app["containment"], app["pid"]) == ("cgroup", pid)
    assert len(desktop.members(unit)) == 5 and desktop.states(unit) == {"T"}
    assert desktop.show(unit, "ControlGroup") == group and desktop.show(unit, "FreezerState") == "running"
    assert not desktop.kernel.is_stopped(other) and "org.other.App" not in desktop.lifectl.apps()
    desktop.lifectl("focus", "org.example.App")
    assert "T" not in desktop.states(unit)
    assert unit in desktop.lifectl("status", "org.example.App").stdout
    desktop.lifectl("suspend", "org.example.App")
    assert desktop.states(unit) == {"T"}
    desktop.lifectl("release", "org.example.App")
    assert "T" not in desktop.states(unit) and len(desktop.members(unit)) == 5
    # It is not taken again by a reload.
    desktop.lifectl("reload")
    desktop.scope("app-test-org.example.Next-1.scope", *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.Next", "suspended")
    assert desktop.lifectl.state("org.example.App") == "notRunning" and "T" not in desktop.states(unit)


@pytest.mark.parametrize("end", ["restart", "crash"])
def test_released_unit_is_left_alone_by_later_daemons_until_it_starts_anew(desktop, end):
    desktop.configure("all")
    desktop.follow()
    unit = "app-org.example.App@1.service"
    desktop.service(unit, *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    desktop.lifectl("release", "org.example.App")
    for number in (1, 2):
        desktop.leave()
        if end == "restart":
            desktop.run("systemctl", "--user", "restart", "lifed.service")
            desktop.wait_for_daemon()
        else:
            desktop.crash()
        desktop.follow()
        desktop.scope(f"app-org.example.Other{number}-1.scope", *programs.IDLE)
        desktop.lifectl.wait_for_state(f"org.example.Other{number}", "suspended")
        assert "org.example.App" not in desktop.lifectl.apps() and desktop.states(unit) == {"S"}
    desktop.run("systemctl", "--user", "restart", unit)
    desktop.lifectl.wait_for_state("org.example.App", "suspended")


@contextlib.contextmanager
def killed_at(desktop, call, number):
    """Kills the daemon as it enters a system call for the nth time, and waits for the next daemon."""
    before = desktop.show("lifed.service", "MainPID")
    options = ["-p", before, "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}"]
    with desktop.container.popen(["strace", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as tracer:
        line = tracer.stdout.readline()
        if "attached" not in line:
            pytest.skip(f"strace cannot attach: {line}")
        # It must never wait for a reader.
        threading.Thread(target=tracer.stdout.read, daemon=True).start()
        try:
            yield
            wait_for(lambda: desktop.show("lifed.service", "MainPID") not in ("0", before), what="the daemon was killed")
        finally:
            # The tracer ends with the daemon, which may not have made the call.
            desktop.container.run(["kill", "-KILL", before], check=False)
    desktop.wait_for_daemon()


# The unit is found, the app is recorded, its processes are recorded, it is announced, and it is stopped.
@pytest.mark.parametrize(
    ("call", "number"),
    [*(("pwrite64", number) for number in (1, 2, 3, 5, 8)), *(("pidfd_send_signal", number) for number in (1, 4, 10))])
def test_unit_is_managed_once_though_the_daemon_is_killed_while_it_adopts_or_stops_it(desktop, call, number):
    desktop.configure("all")
    desktop.follow()
    unit = "app-org.example.App-1.scope"
    with killed_at(desktop, call, number):
        pid = desktop.scope(unit, *programs.FAMILY)
    desktop.leave()
    wait_for(lambda: desktop.lifectl.state("org.example.App") == "background", what="no client reports windows: it runs")
    wait_for(lambda: desktop.states(unit) == {"S"}, what="what was stopped is continued")
    desktop.follow()
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    assert desktop.states(unit) == {"T"}
    assert {app: entry["pid"] for app, entry in desktop.lifectl.apps().items()} == {"org.example.App": pid}
    desktop.lifectl("terminate", "org.example.App")
    wait_for(lambda: not desktop.members(unit), what="all its processes have ended")
    assert not desktop.lifectl.apps()


def test_app_is_named_and_led_by_its_entry_or_manifest(desktop):
    desktop.entry("org.example.Maps", "Maps", "X-Lifed-Suspend=never\n")
    desktop.configure("all")
    desktop.follow()
    desktop.service("app-org.example.Maps@0af.service", *programs.IDLE)
    desktop.service("app-org.example.Plain@0af.service", *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.Plain", "suspended")
    app = desktop.lifectl.app("org.example.Maps")
    assert (app["name"], app["state"], app["adHoc"]) == ("Maps", "background", False)


def test_what_the_session_depends_on_is_left_alone(desktop):
    desktop.entry("org.example.Term", "Term", "Categories=System;TerminalEmulator;\n")
    desktop.configure("all", deny=["org.example.Denied"])
    desktop.follow()
    units = [
        "app-gnome-org.gnome.Console-1.scope",
        "app-org.example.Term-1.scope",
        "app-org.example.Denied-1.scope",
        r"app-xdg\x2ddesktop\x2dportal\x2dgtk-1.scope",
    ]
    for unit in units:
        desktop.scope(unit, *programs.IDLE)
    desktop.service("app-org.example.Agent@autostart.service", *programs.IDLE)
    desktop.scope("app-org.example.App-1.scope", *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    assert set(desktop.lifectl.apps()) == {"org.example.App"}
    # A terminal that the user names is managed.
    desktop.configure("all", allow=["org.gnome.Console"], deny=["org.example.App"])
    desktop.lifectl.wait_for_state("org.gnome.Console", "suspended")
    wait_for(lambda: desktop.states("app-org.example.App-1.scope") == {"S"}, what="the denied app runs")
    assert desktop.lifectl.state("org.example.App") == "notRunning"


def test_nothing_is_suspended_without_a_follower(desktop):
    desktop.configure("all")
    unit = "app-org.example.App-1.scope"
    desktop.scope(unit, *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.App", "background")
    text = "no client reports which windows are visible"
    # At first, it has been launched just now.
    wait_for(lambda: text in desktop.lifectl("suspend", "org.example.App", check=False).stderr, what=text)
    assert "lifed-desktop" in desktop.lifectl("explain", "org.example.App").stdout
    desktop.follow()
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    # A follower that restarts finds it as it was.
    desktop.leave()
    desktop.follow()
    assert desktop.lifectl.state("org.example.App") == "suspended"
    desktop.leave()
    desktop.lifectl.wait_for_state("org.example.App", "background")
    assert desktop.states(unit) == {"S"}


def test_app_that_ended_without_a_follower_is_suspended_when_it_runs_again(desktop):
    desktop.entry("org.example.App", "App", "")
    desktop.configure("all")
    unit = "app-org.example.App-1.scope"
    desktop.scope(unit, *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.App", "background")
    desktop.run("systemctl", "--user", "kill", "--kill-who=all", "--signal=KILL", unit)
    desktop.lifectl.wait_for_state("org.example.App", "notRunning")
    desktop.follow()
    desktop.scope("app-org.example.App-2.scope", *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.App", "suspended")


def test_second_unit_of_an_id_resumes_the_app_and_joins_it(desktop):
    desktop.configure("all")
    desktop.follow()
    first, second = "app-org.example.App-1.scope", "app-org.example.App-2.scope"
    pid = desktop.scope(first, *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    # A program with a single instance asks the first one, and ends.
    desktop.run("systemd-run", "--user", "--scope", "--quiet", f"--unit={second}", "sh", "-c",
                f"until grep -q '^State:.S' /proc/{pid}/status; do sleep 0.01; done")
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    desktop.scope(second, *programs.FAMILY)
    desktop.lifectl.wait_for_state("org.example.App", "background")
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    assert desktop.states(first) == desktop.states(second) == {"T"}
    assert set(desktop.lifectl.apps()) == {"org.example.App"}
    # The app goes on as long as one of its units does.
    desktop.run("systemctl", "--user", "kill", "--kill-who=all", "--signal=KILL", first)
    wait_for(lambda: desktop.show(first, "ActiveState") != "active")
    assert desktop.lifectl.state("org.example.App") == "suspended"
    desktop.lifectl("terminate", "org.example.App")
    wait_for(lambda: desktop.show(second, "ActiveState") != "active")
    assert desktop.lifectl.state("org.example.App") == "notRunning"


def test_app_outlives_its_first_process(desktop):
    desktop.configure("all")
    desktop.follow()
    unit = "app-org.example.App-1.scope"
    pid = desktop.scope(unit, *programs.FAMILY)
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    desktop.container.run(["kill", "-KILL", str(pid)])
    wait_for(lambda: len(desktop.members(unit)) == 4)
    assert desktop.lifectl.state("org.example.App") == "suspended" and desktop.states(unit) == {"T"}
    desktop.run("systemctl", "--user", "kill", "--kill-who=all", "--signal=KILL", unit)
    desktop.lifectl.wait_for_state("org.example.App", "notRunning")


# The daemon notices a continued process by its processor time.
SLOW = "trap 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; exit 0' TERM; while :; do sleep 0.1; done"


@pytest.mark.parametrize("kind", ["scope", "service"])
def test_suspended_unit_stops_at_systemds_request(desktop, kind):
    desktop.configure("all")
    desktop.follow()
    unit = f"app-org.example.App-1.{kind}"
    getattr(desktop, kind)(unit, "sh", "-c", SLOW)
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    desktop.run("systemctl", "--user", "stop", unit, timeout=30)
    assert desktop.show(unit, "ActiveState") in ("inactive", "")
    desktop.lifectl.wait_for_state("org.example.App", "notRunning")


def test_later_daemon_restores_the_apps_and_finds_new_units(desktop):
    desktop.configure("all")
    desktop.follow()
    unit, later = "app-org.example.App-1.scope", "app-org.example.Later-1.scope"
    desktop.scope(unit, *programs.FAMILY)
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    pid = desktop.lifectl.pid("org.example.App")
    desktop.leave()
    desktop.crash()
    desktop.follow()
    assert desktop.lifectl.state("org.example.App") == "suspended"
    assert desktop.lifectl.pid("org.example.App") == pid and desktop.states(unit) == {"T"}
    desktop.scope(later, *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.Later", "suspended")
    desktop.lifectl("focus", "org.example.App")
    assert "T" not in desktop.states(unit)
    # A clean end of the daemon releases them.
    desktop.leave()
    desktop.run("systemctl", "--user", "stop", "lifed.service")
    assert desktop.states(unit) == {"S"} and desktop.states(later) == {"S"}
    desktop.run("systemctl", "--user", "start", "lifed.service")
    desktop.wait_for_daemon()
    desktop.follow()
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    desktop.lifectl.wait_for_state("org.example.Later", "suspended")


@pytest.mark.parametrize("how", ["rescue", "stop"])
def test_apps_do_not_stay_suspended_without_a_daemon(desktop, how):
    desktop.configure("all")
    desktop.follow()
    unit = r"app-org.example.A\x2dp-1.scope"
    pid = desktop.scope(unit, *programs.FAMILY)
    desktop.lifectl.wait_for_state("org.example.A-p", "suspended")
    # The others descend from no process that the state names.
    desktop.container.run(["kill", "-KILL", str(pid)])
    wait_for(lambda: len(desktop.members(unit)) == 4)
    drop_in = "/run/systemd/user/lifed.service.d/test.conf"
    text = "[Service]\nKillSignal=SIGKILL\n" if how == "stop" else "[Service]\nRestart=no\n"
    desktop.container.write(drop_in, text)
    try:
        desktop.run("systemctl", "--user", "daemon-reload")
        if how == "stop":
            desktop.run("systemctl", "--user", "stop", "lifed.service")
        else:
            desktop.run("systemctl", "--user", "kill", "--kill-who=main", "--signal=KILL", "lifed.service")
        wait_for(lambda: desktop.states(unit) == {"S"}, what="the app runs")
        assert len(desktop.members(unit)) == 4
    finally:
        desktop.container.run(["rm", "-f", drop_in])
        desktop.run("systemctl", "--user", "daemon-reload")


def test_launched_app_runs_until_it_shows_a_window(desktop):
    desktop.configure("all", launch="1h")
    desktop.follow()
    first, second = "app-org.example.App-1.scope", "app-org.example.App-2.scope"
    desktop.scope(first, *programs.IDLE)
    desktop.scope("app-org.example.Other-1.scope", *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.App", "background")
    refused = desktop.lifectl("suspend", "org.example.App", check=False)
    assert refused.returncode != 0 and "the desktop has just launched it" in refused.stderr
    desktop.follow("org.example.App")
    desktop.follow()
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    # Once more; a window that has the focus ends it, too.
    desktop.scope(second, *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.App", "background")
    desktop.lifectl("focus", "org.example.App")
    desktop.lifectl("background", "org.example.App")
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    assert desktop.lifectl.state("org.example.Other") == "background"
    desktop.configure("all")


# Makes a scope for itself, as Chromium does, and leaves a child behind; a name on the bus is free only for one scope at a time.
MOVER = """
import os, subprocess, sys, time
if not os.fork():
    time.sleep(3600)
unit = f"app-org.example.Own-{os.getpid()}.scope"
print(os.getpid(), flush=True)
sys.stdin.readline()
subprocess.run(["busctl", "--user", "call", "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                "org.freedesktop.systemd1.Manager", "StartTransientUnit", "ssa(sv)a(sa(sv))", unit, "fail",
                "1", "PIDs", "au", "1", str(os.getpid()), "0"], check=True)
time.sleep(3600)
"""


@pytest.mark.parametrize("order", ["managed before", "found later"])
def test_app_that_moves_itself_to_another_unit_stays_whole(desktop, order):
    desktop.configure("listed" if order == "managed before" else "none", allow=["launcher"])
    desktop.follow()
    # The scope has the name that GNOME would give it: that of its process.
    script = "/home/stranger/mover.py"
    desktop.container.write(script, MOVER)
    start = f"exec systemd-run --user --scope --quiet --unit=app-gnome-launcher-$$.scope -- python3 {script}"
    process = desktop.run.popen("sh", "-c", start)
    pid = int(process.stdout.readline())
    first, second = f"app-gnome-launcher-{pid}.scope", f"app-org.example.Own-{pid}.scope"
    desktop.units += [first, second]
    wait_for(lambda: len(desktop.members(first)) == 2)
    if order == "managed before":
        desktop.lifectl.wait_for_state("launcher", "suspended")
        desktop.lifectl("resume", "launcher")
    process.stdin.write("\n")
    process.stdin.flush()
    wait_for(lambda: desktop.members(second) == [pid], what="it has moved")
    if order == "found later":
        desktop.configure("all")
    wait_for(lambda: len(desktop.lifectl.apps()) == 1 and second in desktop.lifectl(
        "status", next(iter(desktop.lifectl.apps()))).stdout, what="both units are managed")
    (app,) = desktop.lifectl.apps()
    wait_for(lambda: desktop.lifectl("suspend", app, check=False).returncode == 0)
    wait_for(lambda: desktop.states(first) == desktop.states(second) == {"T"}, what="both units are stopped")
    desktop.lifectl("focus", app)
    assert desktop.states(first) == desktop.states(second) == {"S"}
    # A window of it is known by its process.
    assert json.loads(desktop.lifectl("status", "--pid", str(pid), "--json").stdout)["details"]["app"]["id"] == app
    process.kill()


def test_app_that_the_bus_starts_is_managed_if_it_has_an_entry(desktop):
    desktop.entry("org.example.App", "App", "DBusActivatable=true\n")
    desktop.configure("all")
    desktop.follow()
    desktop.service("dbus-:1.2-org.example.App@0.service", *programs.IDLE)
    desktop.service("dbus-:1.2-org.example.Daemon@0.service", *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    assert set(desktop.lifectl.apps()) == {"org.example.App"}


@pytest.fixture
def dbus_daemon(container):
    """Has dbus-daemon be the session bus, instead of dbus-broker where that is installed."""
    link, kept = "/etc/systemd/user/dbus.service", "/etc/systemd/user/dbus.service.kept"
    is_replaced = container.run(["mv", link, kept], check=False).returncode == 0
    yield
    if is_replaced:
        container.run(["mv", kept, link])


def test_app_that_dbus_daemon_starts_is_managed_in_the_unit_of_the_bus(dbus_daemon, desktop):
    if desktop.run("/usr/bin/python3", "-c", "import gi", check=False).returncode != 0:
        pytest.skip("not installed: python3-gi")
    if "dbus-daemon" not in desktop.show("dbus.service", "ExecStart"):
        pytest.skip("the session bus is no dbus-daemon")
    desktop.container.write("/home/stranger/callee.py", Path(__file__).with_name("callee.py").read_text())
    services = "/home/stranger/.local/share/dbus-1/services"
    for name in ("org.example.App", "org.example.Daemon"):
        command = f"/usr/bin/python3 /home/stranger/callee.py {name} /tmp/{name}-calls"
        text = f"[D-BUS Service]\nName={name}\nExec={command}\n"
        desktop.container.write(f"{services}/{name}.service", text, user="stranger")
    desktop.entry("org.example.App", "App", "DBusActivatable=true\n")
    desktop.run("busctl", "--user", "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ReloadConfig")
    desktop.configure("all")
    desktop.follow()

    def call(name):
        desktop.run(
            "busctl", "--user", "--timeout=20", "call", name, "/org/example/Test", "org.example.Test", "Echo", "s", "hello")

    try:
        call("org.example.Daemon")
        call("org.example.App")
        desktop.lifectl.wait_for_state("org.example.App", "suspended")
        pid = desktop.lifectl.pid("org.example.App")
        assert pid in desktop.members("dbus.service") and desktop.kernel.is_stopped(pid)
        others = [each for each in desktop.members("dbus.service") if each != pid]
        assert others and not any(desktop.kernel.is_stopped(each) for each in others)
        assert set(desktop.lifectl.apps()) == {"org.example.App"}
        call("org.example.App")
        desktop.lifectl.wait_for_state("org.example.App", "suspended")
        # The group of the bus is left as it is.
        desktop.lifectl("release", "org.example.App")
        assert not desktop.kernel.is_stopped(pid) and pid in desktop.members("dbus.service")
        desktop.lifectl("reload")
        call("org.example.App")
        assert desktop.lifectl.state("org.example.App") == "notRunning"
        assert desktop.show("dbus.service", "ActiveState") == "active"
    finally:
        desktop.run("rm", "-r", services)


def test_scope_that_gnomes_session_manager_makes_is_left_alone(desktop):
    desktop.configure("all")
    desktop.follow()
    # The session manager is known by its name, and is the parent of what it starts.
    manager = "/home/stranger/gnome-session-binary"
    agent, app = "app-gnome-org.example.Agent-1.scope", "app-gnome-org.example.App-1.scope"
    desktop.container.write(
        manager, f"#!/bin/sh\nsystemd-run --user --scope --quiet --unit={agent} sleep infinity &\nwait\n", 0o755)
    desktop.units.append(agent)
    desktop.run("sh", "-c", f"setsid {manager} >/dev/null 2>&1 </dev/null &")
    wait_for(lambda: desktop.members(agent), what="the agent runs")
    desktop.scope(app, *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    assert set(desktop.lifectl.apps()) == {"org.example.App"}
    desktop.configure("all", allow=["org.example.*"])
    desktop.lifectl.wait_for_state("org.example.Agent", "suspended")
    desktop.configure("all")
    wait_for(lambda: desktop.lifectl.state("org.example.Agent") == "notRunning", what="the agent is released")
    assert desktop.states(agent) == {"S"}


def test_unit_that_stays_activating_is_found_by_a_reload(desktop):
    desktop.follow()
    unit = "app-org.example.App@1.service"
    # KDE's launcher before KDE Frameworks 6.
    desktop.service(unit, *programs.IDLE, type="oneshot")
    desktop.configure("all")
    desktop.lifectl.wait_for_state("org.example.App", "suspended")


@pytest.fixture(scope="module")
def flatpak_clock(container, flatpak):
    prepare(container, FLATPAK_CLOCK, "flatpak")


def run_flatpak(desktop, identifier, *options):
    """Starts a Flatpak as a desktop does, and returns its unit."""
    words = ["flatpak", "run", *options, identifier]
    desktop.run("sh", "-c", 'exec setsid "$@" >/dev/null 2>&1 </dev/null &', "sh", *words)
    listed = ["systemctl", "--user", "list-units", "--no-legend", "--plain", f"app-flatpak-{identifier}-*.scope"]
    unit = wait_for(lambda: desktop.run(*listed).stdout.split()[:1], what=f"the unit of {identifier}")[0]
    desktop.units.append(unit)
    return unit


def test_flatpak_is_managed_in_the_scope_that_it_makes(desktop, flatpak):
    desktop.configure("all")
    desktop.follow()
    unit = run_flatpak(desktop, "org.test.App")
    desktop.lifectl.wait_for_state("org.test.App", "suspended")
    # The sandbox and the programs in it.
    assert len(desktop.members(unit)) >= 4 and desktop.states(unit) == {"T"}
    desktop.lifectl("focus", "org.test.App")
    assert "T" not in desktop.states(unit)
    desktop.lifectl("terminate", "org.test.App")
    wait_for(lambda: not desktop.members(unit), what="the sandbox has ended")


@pytest.mark.parametrize("permission", ["with", "without"])
def test_flatpak_has_callbacks_by_its_permission(desktop, flatpak_clock, permission):
    desktop.configure("all")
    desktop.follow()
    run_flatpak(desktop, "org.test.Clock", *(["--nofilesystem=xdg-run/lifed"] if permission == "without" else []))
    desktop.lifectl.wait_for_state("org.test.Clock", "suspended")
    assert desktop.lifectl.app("org.test.Clock")["connected"] == (permission == "with")
