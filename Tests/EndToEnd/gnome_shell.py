"""A GNOME Shell without a screen, with the extension."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from container import wait_for
from screens import NOBODY

REPOSITORY = Path(__file__).resolve().parents[2]
UUID = "lifed@org.lifed"

SETTINGS = """
[org/gnome/shell]
enabled-extensions=[{extensions}]
welcome-dialog-last-shown-version='99'

[org/gnome/desktop/interface]
enable-animations=false

[org/gnome/desktop/background]
picture-options='none'

[org/gnome/mutter]
check-alive-timeout=uint32 {check_alive}
dynamic-workspaces=false

[org/gnome/desktop/wm/preferences]
num-workspaces=2
"""

# The buses let the tests' root in beside their owner.
BUS = """
<busconfig>
  <type>session</type>
  <listen>unix:path={path}</listen>
  <standard_session_servicedirs/>
  <policy context="default">
    <allow user="*"/>
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


class GnomeShell:
    """A headless gnome-shell, of an ordinary user where the tests are root's."""

    def __init__(self, directory, extensions=(UUID,), check_alive=5000):
        self.runtime = Path(tempfile.mkdtemp(prefix="lifed-gnome-"))
        self.log = directory / "gnome-shell-log"
        self.processes = []
        settings = self.runtime / "config/glib-2.0/settings/keyfile"
        settings.parent.mkdir(parents=True)
        names = ", ".join(f"'{name}'" for name in extensions)
        settings.write_text(SETTINGS.format(extensions=names, check_alive=check_alive))
        extension = self.runtime / "data/gnome-shell/extensions" / UUID
        subprocess.run([REPOSITORY / "scripts/build-gnome-extension", extension], check=True)
        if os.geteuid() == 0:
            for path in [self.runtime, *self.runtime.rglob("*")]:
                os.chown(path, NOBODY, NOBODY)

    def start(self):
        for name in ("system", "bus"):
            (self.runtime / f"{name}.conf").write_text(BUS.format(path=self.runtime / name))
            self._spawn("dbus-daemon", f"--config-file={self.runtime / name}.conf", "--nofork", "--nopidfile")
            wait_for((self.runtime / name).exists, what=f"the bus {name}; its log: {self.log}")
        self._spawn("/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "logind")
        self.start_shell()

    def start_shell(self):
        self._spawn(
            "gnome-shell", "--headless", "--wayland", "--no-x11", "--virtual-monitor", "1280x720", "--unsafe-mode")
        self.shell = self.processes[-1]
        wait_for(self._is_up, what=f"an answer of gnome-shell; its log: {self.log}")
        self.eval("Main.overview.hide()")
        self.eval(
            "globalThis.testPointer = imports.gi.Clutter.get_default_backend().get_default_seat()"
            ".create_virtual_device(imports.gi.Clutter.InputDeviceType.POINTER_DEVICE)")
        wait_for(lambda: self.eval("Main.overview.visible") is False)

    def _spawn(self, *command):
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.runtime),
            "XDG_CONFIG_HOME": str(self.runtime / "config"),
            "XDG_DATA_HOME": str(self.runtime / "data"),
            "XDG_CURRENT_DESKTOP": "GNOME",
            "GSETTINGS_BACKEND": "keyfile",
            **self.environment,
        }
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        with open(self.log, "ab") as log:
            # Each is a session, so that stop() ends what it has started, too.
            self.processes.append(subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **user))

    def _is_up(self):
        assert self.shell.poll() is None, self.logged
        if self._busctl("status", "org.gnome.Shell", check=False).returncode != 0:
            return False
        with contextlib.suppress(AssertionError):
            return self.eval("Main.layoutManager._startingUp") is False

    @property
    def logged(self):
        return self.log.read_text(errors="replace")

    def complaints(self):
        """What the log says of the extension: nothing if it works. The shell has errors of its own."""
        return [line for line in self.logged.splitlines() if UUID in line or "lifed: " in line]

    @property
    def environment(self):
        """What a client of it needs."""
        return {
            "XDG_RUNTIME_DIR": str(self.runtime),
            "WAYLAND_DISPLAY": "wayland-0",
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.runtime / 'bus'}",
            "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.runtime / 'system'}",
            # Clients start no accessibility bus.
            "NO_AT_BRIDGE": "1",
            "GTK_A11Y": "none",
        }

    def _busctl(self, *arguments, check=True):
        result = subprocess.run(
            ["busctl", f"--address=unix:path={self.runtime / 'bus'}", "--json=short", *arguments],
            capture_output=True, text=True, timeout=30)
        assert not check or result.returncode == 0, f"{arguments}: {result.stderr}\n{self.logged}"
        return result

    def call(self, name, path, interface, method, *arguments):
        output = self._busctl("call", name, path, interface, method, *arguments).stdout
        return json.loads(output)["data"] if output.strip() else []

    def eval(self, code):
        """Runs JavaScript in the shell, and returns the value of its last expression."""
        succeeded, value = self.call("org.gnome.Shell", "/org/gnome/Shell", "org.gnome.Shell", "Eval", "s", code)
        assert succeeded, f"{code}: {value}"
        return json.loads(value) if value else None

    # What the extension says.

    def has_extension(self):
        """The extension's name is on the bus."""
        return self._busctl("status", "org.lifed.Windows1", check=False).returncode == 0

    def focus_and_windows(self):
        """The number of the focused window, and the windows as the extension lists them, by process."""
        names = ("number", "process", "app", "visibility", "pointed", "title")
        focus, windows = self.call("org.lifed.Windows1", "/org/lifed/Windows1", "org.lifed.Windows1", "List")
        return focus, {window[1]: dict(zip(names, window)) for window in windows}

    def windows(self):
        return self.focus_and_windows()[1]

    def focused(self):
        """The process of the focused window; None if no window has the focus."""
        focus, windows = self.focus_and_windows()
        return next((process for process, window in windows.items() if window["number"] == focus), None)

    def set_extension(self, is_enabled):
        self.eval(f"Main.extensionManager.{'enable' if is_enabled else 'disable'}Extension('{UUID}')")
        wait_for(lambda: self.has_extension() == is_enabled)

    # What a user does.

    def to_window(self, pid, code):
        """Runs JavaScript with the window of a process in `w`."""
        return self.eval(
            f"for (const a of global.get_window_actors()) {{ const w = a.meta_window; if (w.get_pid() === {pid}) {{ {code} }} }}")

    def focus(self, pid):
        self.to_window(pid, "Main.activateWindow(w)")

    def switch_workspace(self, number):
        self.eval(f"global.workspace_manager.get_workspace_by_index({number}).activate(global.get_current_time())")

    def frame(self, pid):
        """The place of the window of a process: x, y, width, height."""
        code = "global.get_window_actors().map(a => a.meta_window).filter(w => w.get_pid() === %d).map(w => " \
            "{ const r = w.get_frame_rect(); return [r.x, r.y, r.width, r.height]; })[0]"
        return self.eval(code % pid)

    def move_pointer(self, x, y):
        """Moves the pointer step by step from close by, as a hand does."""
        for step in range(10, -1, -1):
            self.eval(
                f"testPointer.notify_absolute_motion(imports.gi.GLib.get_monotonic_time(), {x - step}, {y})")

    def point_at(self, pid):
        x, y, width, height = self.frame(pid)
        self.move_pointer(x + width // 2, y + height // 2)

    def point_at_nothing(self):
        self.move_pointer(640, 5)

    def dialogs(self):
        """The number of "not responding" dialogs."""
        return self.eval(
            "function count(a) { return (a.has_style_class_name?.('close-dialog') ? 1 : 0)"
            " + a.get_children().reduce((sum, child) => sum + count(child), 0); } count(global.stage)")

    def count_dialogs(self, pid):
        """Counts the "not responding" dialogs of the window of a process from now on; `dialogs_of` has the number."""
        self.to_window(
            pid,
            f"(globalThis.dialogsOf ??= {{}})[{pid}] = 0; a.connect('actor-added', (_, child) => "
            f"{{ if (child._dialog) globalThis.dialogsOf[{pid}]++; }});")

    def dialogs_of(self, pid):
        return self.eval(f"globalThis.dialogsOf[{pid}]")

    def screenshot(self, path):
        inside = self.runtime / "screenshot.png"
        self.call(
            "org.gnome.Shell", "/org/gnome/Shell/Screenshot", "org.gnome.Shell.Screenshot", "Screenshot", "bbs",
            "true", "false", str(inside))
        shutil.copy(inside, path)

    def kill_shell(self):
        self.shell.send_signal(signal.SIGKILL)
        self.shell.wait()

    def stop(self):
        for process in reversed(self.processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(self.runtime, ignore_errors=True)
