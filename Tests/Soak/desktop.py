#!/usr/bin/env python3
"""A session of real programs with windows under a headless sway or GNOME Shell, in which random input moves the focus.

Every second or so, one of these happens: another window gets the focus, another workspace is shown, the pointer crosses the screen, the
output changes its mode (sway), or a window is maximised or restored (GNOME). It fails if a program ends, if the compositor drops a
client, if the app of a visible window stays suspended, or if GNOME shows a "not responding" dialog. At the end it prints the processor
time of each app with its time in the states, and the wake-ups of the daemon and the follower. Screenshots show what no check can see.
"""

import argparse
import collections
import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "EndToEnd"))

from container import wait_for
from direct import DirectDaemon
from gnome_shell import GnomeShell
from screens import Follower, Sway

TEXT = Path(__file__).resolve()

# A window of Qt 6; the module is Debian's python3-pyqt6, and the display's plugin qt6-wayland.
QT = """
from PyQt6.QtWidgets import QApplication, QTextEdit
app = QApplication(["qt"])
window = QTextEdit()
window.show()
app.exec()
"""

# The programs, with more than one window of a kind where that is usual. Programs that are not installed are left out.
PROGRAMS = {
    "terminal": ["foot", "sh", "-c", "while :; do date; sleep 1; done"],
    "busy-terminal": ["foot", "sh", "-c", "while :; do :; done"],
    "editor": ["gnome-text-editor", "--standalone", str(TEXT)],
    "second-editor": ["gedit", "--standalone", str(TEXT)],
    "notes": ["mousepad", "--disable-server", str(TEXT)],
    "calculator": ["gnome-calculator"],
    "second-calculator": ["galculator"],
    "demo": ["gtk4-demo"],
    "widgets": ["gtk4-widget-factory"],
    "clocks": ["gnome-clocks"],
    "characters": ["gnome-characters"],
    "fonts": ["gnome-font-viewer"],
    "documents": ["evince"],
    "archives": ["xarchiver"],
    "monitor": ["gnome-system-monitor"],
    "disks": ["baobab"],
    "browser": ["firefox-esr", "--no-remote", "--new-instance", "about:support"],
    "qt": ["/usr/bin/python3", "-c", QT],
    "chromium": ["chromium", "--no-sandbox", "--ozone-platform=wayland", "--no-first-run", "--password-store=basic", "about:version"],
}
# The pause between two screenshots, in seconds.
PICTURE_PAUSE = 60
TICK = os.sysconf("SC_CLK_TCK")


def processor_seconds(pids):
    """The processor time of processes; of one that has ended, nothing."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / TICK


def wake_ups(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)


class SwayScreen:
    """Three windows on each workspace."""

    source = "sway"
    actions = {"focus": 5, "workspace": 3, "pointer": 3, "mode": 1}

    def __init__(self, directory, random):
        self.sway, self.random, self.workspaces = Sway(directory), random, 1
        self.start, self.stop, self.focus = self.sway.start, self.sway.stop, self.sway.focus

    @property
    def environment(self):
        return self.sway.environment

    @property
    def follower_environment(self):
        return {"SWAYSOCK": str(self.sway.socket), "XDG_RUNTIME_DIR": str(self.sway.runtime)}

    def place(self, number):
        self.workspaces = number // 3 + 1
        self.sway(f"workspace {self.workspaces}")

    def windows(self):
        """The visibility of the window of each process."""
        return {pid: bool(window.get("visible")) for pid, window in self.sway.windows().items()}

    def workspace(self):
        self.sway(f"workspace {self.random.randint(1, self.workspaces)}")

    def pointer(self):
        steps = [f"seat - cursor set {self.random.randrange(1280)} {self.random.randrange(800)}" for _ in range(60)]
        self.sway("; ".join(steps))

    def mode(self):
        self.sway(f"output HEADLESS-1 resolution {self.random.choice(['1280x800', '1024x768', '1600x900'])}")

    def screenshot(self, path):
        subprocess.run(["grim", path], env={**os.environ, **self.sway.environment}, check=True, timeout=30)

    def complaint(self):
        return None


class GnomeScreen:
    """Half of the windows on each of two workspaces."""

    source = "gnome"
    actions = {"focus": 5, "workspace": 2, "pointer": 4, "size": 2}

    def __init__(self, directory, random):
        self.shell, self.random = GnomeShell(directory), random
        self.stop, self.focus = self.shell.stop, self.shell.focus

    def start(self):
        self.shell.start()
        wait_for(self.shell.has_extension, what="the extension")

    @property
    def environment(self):
        return self.shell.environment

    @property
    def follower_environment(self):
        return self.shell.environment

    def place(self, number):
        self.shell.switch_workspace(number % 2)

    def windows(self):
        return {pid: window["visibility"] == "visible" for pid, window in self.shell.windows().items()}

    def workspace(self):
        self.shell.switch_workspace(self.random.randrange(2))

    def pointer(self):
        self.shell.move_pointer(self.random.randrange(20, 1280), self.random.randrange(40, 720))

    def size(self):
        """Maximises the window with the focus, which covers the others then, or restores its size."""
        if pid := self.shell.focused():
            self.shell.to_window(pid, "if (w.get_maximized()) w.unmaximize(3); else w.maximize(3);")

    def screenshot(self, path):
        self.shell.screenshot(path)

    def complaint(self):
        return "GNOME shows a dialog" if self.shell.dialogs() else None


class Session:
    def __init__(self, arguments, directory):
        self.arguments = arguments
        self.random = random.Random(arguments.seed)
        self.directory = directory
        self.daemon = DirectDaemon(arguments.products, directory)
        self.screen = {"sway": SwayScreen, "gnome": GnomeScreen}[arguments.screen](directory, self.random)
        self.pids, self.bus, self.follower = {}, None, None
        self.problems = []
        self.states = collections.defaultdict(collections.Counter)
        self.events = collections.Counter()

    def run(self):
        self.start_bus()
        self.daemon.start(["env", f"DBUS_SESSION_BUS_ADDRESS={self.address}"])
        (self.daemon.configuration / "lifed.toml").write_text(f'visible = "{self.arguments.visible}"\n')
        self.daemon.lifectl("reload")
        self.screen.start()
        self.launch()
        self.follower = Follower(
            self.daemon, self.screen.source, environment=self.screen.follower_environment, log=self.directory / "follower")
        # The programs have started: what they use from now on is what counts.
        time.sleep(10)
        before = {name: processor_seconds(self.processes(name)) for name in self.pids}
        idle = {"lifed": wake_ups(self.daemon.process.pid), "follower": wake_ups(self.follower.process.pid)}
        start = time.monotonic()
        pictures = 0
        while time.monotonic() < start + self.arguments.minutes * 60 and not self.problems:
            self.act()
            time.sleep(self.random.uniform(0.3, 1.7))
            self.check()
            if self.arguments.pictures and (self.problems or time.monotonic() > start + pictures * PICTURE_PAUSE):
                pictures += 1
                self.screen.screenshot(self.arguments.pictures / f"{self.arguments.screen}-{pictures:02}.png")
        self.report(before, idle, time.monotonic() - start)

    def start_bus(self):
        command = ["dbus-daemon", "--session", "--nofork", "--print-address=1", f"--address=unix:path={self.directory}/bus"]
        self.bus = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.bus.stdout.readline().strip()

    def launch(self):
        home, runtime = self.directory / "home", self.directory / "runtime"
        home.mkdir()
        # Firefox refuses a runtime directory of another user, such as that of the compositor where the tests are root's.
        runtime.mkdir(mode=0o700)
        display = Path(self.screen.environment["XDG_RUNTIME_DIR"]) / self.screen.environment["WAYLAND_DISPLAY"]
        variables = {
            **self.screen.environment, "XDG_RUNTIME_DIR": runtime, "WAYLAND_DISPLAY": display, "DBUS_SESSION_BUS_ADDRESS": self.address, "HOME": home, "GDK_BACKEND": "wayland",
            "QT_QPA_PLATFORM": "wayland", "MOZ_ENABLE_WAYLAND": "1", "GSETTINGS_BACKEND": "memory", "LIBGL_ALWAYS_SOFTWARE": "1",
            "GTK_A11Y": "none", "NO_AT_BRIDGE": "1", "GSK_RENDERER": "cairo",
        }
        words = [f"{name}={value}" for name, value in variables.items()]
        for number, (name, command) in enumerate(PROGRAMS.items()):
            if subprocess.run(["which", command[0]], capture_output=True).returncode:
                print(f"{command[0]} is not installed")
                continue
            self.screen.place(number)
            known = set(self.screen.windows())
            self.daemon.lifectl("run", "--id", name, "--", "env", *words, *command)
            try:
                wait_for(lambda: set(self.screen.windows()) - known, timeout=30, what=f"a window of {name}")
            except AssertionError:
                details = self.daemon.lifectl.json("status", name)["details"]
                print(f"{name} shows no window: {details.get('lastExit') or details['processes']}")
                self.daemon.lifectl("kill", name, check=False)
                continue
            self.pids[name] = (set(self.screen.windows()) - known).pop()
        print(f"{len(self.pids)} programs: {', '.join(self.pids)}")

    def processes(self, name):
        details = self.daemon.lifectl.json("status", name)["details"]
        return [process["pid"] for process in details["processes"]]

    # Input

    def act(self):
        kinds = list(self.screen.actions)
        action = self.random.choices(kinds, self.screen.actions.values())[0]
        self.events[action] += 1
        if action == "focus":
            self.screen.focus(self.pids[self.random.choice(list(self.pids))])
        else:
            getattr(self.screen, action)()

    # Promises

    def check(self):
        windows = self.screen.windows()
        apps = self.daemon.lifectl.apps()
        if complaint := self.screen.complaint():
            self.problems.append(complaint)
        for name, pid in self.pids.items():
            state = apps.get(name, {}).get("state", "notRunning")
            self.states[name][state] += 1
            if state in ("notRunning", "terminating"):
                self.problems.append(f"{name} has ended: {apps.get(name)}")
            elif pid not in windows:
                self.problems.append(f"the compositor has lost the window of {name}")
        if self.arguments.visible == "keep":
            self.check_visible()

    def check_visible(self):
        """A window that is seen again is resumed at once; two looks leave the daemon the time for it."""

        def stopped():
            windows, apps = self.screen.windows(), self.daemon.lifectl.apps()
            return [name for name, pid in self.pids.items() if windows.get(pid) and apps[name]["state"] == "suspended"]

        if stopped():
            try:
                wait_for(lambda: not stopped(), timeout=2)
            except AssertionError:
                self.problems.append(f"suspended, and visible: {stopped()}")

    def report(self, before, idle, seconds):
        print(f"{seconds:.0f} s, {sum(self.events.values())} events: {dict(self.events)}")
        print(f"{'app':20} {'CPU s':>8}   share of looks in each state")
        for name in self.pids:
            used = processor_seconds(self.processes(name)) - before[name]
            looks = sum(self.states[name].values())
            shares = ", ".join(f"{state} {100 * count / looks:.0f} %" for state, count in self.states[name].most_common())
            print(f"{name:20} {used:8.1f}   {shares}")
        for name, process in (("lifed", self.daemon.process), ("follower", self.follower.process)):
            count = wake_ups(process.pid) - idle[name]
            print(f"{name}: {count / seconds:.1f} context switches/s, {processor_seconds([process.pid]):.1f} s of processor time")

    def stop(self):
        if self.follower:
            self.follower.stop()
        self.screen.stop()
        self.daemon.stop()
        if self.bus:
            self.bus.kill()
            self.bus.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--screen", choices=["sway", "gnome"], default="sway")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--visible", choices=["keep", "ignore"], default="keep", help="the key of lifed.toml")
    parser.add_argument("--pictures", type=Path, help="a directory for a screenshot a minute")
    parser.add_argument("--products", type=Path, default=ROOT / ".build" / "release")
    arguments = parser.parse_args()
    print(f"--seed {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="lifed-desktop-", ignore_cleanup_errors=True) as name:
        directory = Path(name)
        directory.chmod(0o755)
        session = Session(arguments, directory)
        try:
            session.run()
        finally:
            session.stop()
    for problem in session.problems:
        print(problem)
    sys.exit(bool(session.problems))


if __name__ == "__main__":
    main()
