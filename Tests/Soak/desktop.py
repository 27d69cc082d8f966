#!/usr/bin/env python3
"""A session of real programs with windows under a headless sway, in which random input moves the focus.

Every second or so, one of these happens: another window gets the focus, another workspace is shown, the pointer crosses the screen, or
the output changes its mode. It fails if a program ends, if sway drops a client, or if the app of a visible window stays suspended. At
the end it prints the processor time of each app with its time in the states, and the wake-ups of the daemon and the follower.
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
from screens import Follower, Sway

TEXT = Path(__file__).resolve()
PICTURE = ROOT / "docs" / "images"

# The programs, with more than one window of a kind where that is usual. Those that are not installed are left out.
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
    "files": ["pcmanfm", str(ROOT)],
    "documents": ["evince"],
    "archives": ["xarchiver"],
    "monitor": ["gnome-system-monitor"],
    "disks": ["baobab"],
    "browser": ["firefox-esr", "--no-remote", "--new-instance", "about:support"],
}
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


class Session:
    def __init__(self, arguments, directory):
        self.arguments = arguments
        self.random = random.Random(arguments.seed)
        self.directory = directory
        self.daemon = DirectDaemon(arguments.products, directory)
        self.sway = Sway(directory)
        self.pids, self.bus, self.follower = {}, None, None
        self.problems = []
        self.states = collections.defaultdict(collections.Counter)
        self.events = collections.Counter()

    def run(self):
        self.daemon.start()
        (self.daemon.configuration / "lifed.toml").write_text(f'visible = "{self.arguments.visible}"\n')
        self.daemon.lifectl("reload")
        self.sway.start()
        self.start_bus()
        self.launch()
        source = {"SWAYSOCK": str(self.sway.socket), "XDG_RUNTIME_DIR": str(self.sway.runtime)}
        self.follower = Follower(self.daemon, "sway", environment=source, log=self.directory / "follower")
        # The programs have started: what they use from now on is what counts.
        time.sleep(10)
        before = {name: processor_seconds(self.processes(name)) for name in self.pids}
        idle = {"lifed": wake_ups(self.daemon.process.pid), "follower": wake_ups(self.follower.process.pid)}
        start = time.monotonic()
        while time.monotonic() < start + self.arguments.minutes * 60 and not self.problems:
            self.act()
            time.sleep(self.random.uniform(0.3, 1.7))
            self.check()
        self.report(before, idle, time.monotonic() - start)

    def start_bus(self):
        command = ["dbus-daemon", "--session", "--nofork", "--print-address=1", f"--address=unix:path={self.directory}/bus"]
        self.bus = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.bus.stdout.readline().strip()

    def launch(self):
        home = self.directory / "home"
        home.mkdir()
        variables = {
            **self.sway.environment, "DBUS_SESSION_BUS_ADDRESS": self.address, "HOME": home, "GDK_BACKEND": "wayland",
            "QT_QPA_PLATFORM": "wayland", "MOZ_ENABLE_WAYLAND": "1", "GSETTINGS_BACKEND": "memory", "LIBGL_ALWAYS_SOFTWARE": "1",
            "GTK_A11Y": "none", "NO_AT_BRIDGE": "1", "GSK_RENDERER": "cairo",
        }
        words = [f"{name}={value}" for name, value in variables.items()]
        for number, (name, command) in enumerate(PROGRAMS.items()):
            if subprocess.run(["which", command[0]], capture_output=True).returncode:
                print(f"{command[0]} is not installed")
                continue
            self.sway(f"workspace {number // 3 + 1}")
            known = set(self.sway.windows())
            self.daemon.lifectl.start(name, "env", *words, *command)
            try:
                wait_for(lambda: set(self.sway.windows()) - known, timeout=60, what=f"a window of {name}")
            except AssertionError:
                print(f"{name} shows no window")
                self.daemon.lifectl("kill", name, check=False)
                continue
            self.pids[name] = (set(self.sway.windows()) - known).pop()
        print(f"{len(self.pids)} programs: {', '.join(self.pids)}")

    def processes(self, name):
        details = self.daemon.lifectl.json("status", name)["details"]
        return [process["pid"] for process in details["processes"]]

    # Input

    def act(self):
        action = self.random.choices(["focus", "workspace", "pointer", "mode"], [5, 3, 3, 1])[0]
        self.events[action] += 1
        if action == "focus":
            self.sway.focus(self.pids[self.random.choice(list(self.pids))])
        elif action == "workspace":
            self.sway(f"workspace {self.random.randint(1, (len(self.pids) + 2) // 3)}")
        elif action == "pointer":
            steps = [f"seat - cursor set {self.random.randrange(1280)} {self.random.randrange(800)}" for _ in range(60)]
            self.sway("; ".join(steps))
        else:
            self.sway(f"output HEADLESS-1 resolution {self.random.choice(['1280x800', '1024x768', '1600x900'])}")

    # Promises

    def check(self):
        windows = self.sway.windows()
        apps = self.daemon.lifectl.apps()
        for name, pid in self.pids.items():
            state = apps.get(name, {}).get("state", "notRunning")
            self.states[name][state] += 1
            if state in ("notRunning", "terminating"):
                self.problems.append(f"{name} has ended: {apps.get(name)}")
            elif pid not in windows:
                self.problems.append(f"sway has lost the window of {name}")
        if self.arguments.visible == "keep":
            self.check_visible()

    def check_visible(self):
        """A window that is seen again is resumed at once; two looks leave the daemon the time for it."""

        def stopped():
            windows, apps = self.sway.windows(), self.daemon.lifectl.apps()
            return [name for name, pid in self.pids.items() if windows.get(pid, {}).get("visible") and apps[name]["state"] == "suspended"]

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
        self.sway.stop()
        self.daemon.stop()
        if self.bus:
            self.bus.kill()
            self.bus.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--visible", choices=["keep", "ignore"], default="keep", help="the key of lifed.toml")
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
