"""Sound servers with a silent speaker: PulseAudio, and PipeWire as a user's session starts it."""

import json
import os
import subprocess

from container import wait_for


class SoundServer:
    """Programs that are started one after the other, and together answer what PulseAudio's clients ask."""

    PROGRAMS = []

    def __init__(self, directory):
        self.runtime = directory / "sound"
        self.log = directory / "sound-log"
        self.processes = []

    @property
    def environment(self):
        """What a client of it needs."""
        return {"PULSE_SERVER": f"unix:{self.socket}", "HOME": str(self.runtime)}

    def _spawn(self, *command, **variables):
        with open(self.log, "ab") as log:
            self.processes.append(
                subprocess.Popen(
                    command, env={**os.environ, **self.environment, **variables},
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                )
            )

    def start(self):
        self.runtime.mkdir(mode=0o700, exist_ok=True)
        self._start()
        self._wait_for(lambda: self.pactl("info").returncode == 0, "an answer")
        # A stream that finds none waits for one, and that is not playing.
        self._wait_for(lambda: self.pactl("list", "short", "sinks").stdout, "a speaker")

    def _wait_for(self, condition, what):
        def is_so():
            ended = [process.args[0] for process in self.processes if process.poll() is not None]
            assert not ended, f"{ended}: {self.log.read_text(errors='replace')}"
            return condition()

        wait_for(is_so, what=f"{what} of the sound server; its log: {self.log}")

    def pactl(self, *arguments):
        return subprocess.run(
            ["pactl", *arguments], env={**os.environ, **self.environment}, capture_output=True, text=True, timeout=20)

    def hears(self, pid):
        """True if a stream is there whose property, or whose client's, names the process."""
        names = ("application.process.id", "pipewire.sec.pid")
        owners = {
            str(client["index"])
            for client in json.loads(self.pactl("-f", "json", "list", "clients").stdout)
            if str(pid) in map(client["properties"].get, names)
        }
        return any(stream["client"] in owners for stream in json.loads(self.pactl("-f", "json", "list", "sink-inputs").stdout))

    def stop(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        self.processes = []


class PulseAudio(SoundServer):
    PROGRAMS = ["pulseaudio"]

    @property
    def socket(self):
        return self.runtime / "native"

    @property
    def environment(self):
        return {**super().environment, "PULSE_RUNTIME_PATH": str(self.runtime)}

    def _start(self):
        modules = ["module-null-sink", f"module-native-protocol-unix auth-anonymous=1 socket={self.socket}"]
        self._spawn(
            "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
            *(f"--load={module}" for module in modules))


class PipeWire(SoundServer):
    """As Debian sets it up: wireplumber connects streams with speakers, pipewire-pulse speaks PulseAudio's protocol."""

    PROGRAMS = ["pipewire", "wireplumber", "pipewire-pulse", "pw-play", "dbus-daemon"]

    @property
    def socket(self):
        return self.runtime / "pulse" / "native"

    @property
    def environment(self):
        return {
            **super().environment, "XDG_RUNTIME_DIR": str(self.runtime), "XDG_CONFIG_HOME": str(self.runtime / "config"),
            "XDG_STATE_HOME": str(self.runtime / "state"), "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.runtime}/bus",
        }

    def _start(self):
        # The files of a killed server could be taken for the next server's.
        for left in (self.runtime / "bus", self.runtime / "pipewire-0", self.socket):
            left.unlink(missing_ok=True)
        self._spawn("dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address=unix:path={self.runtime}/bus")
        self._wait_for((self.runtime / "bus").exists, "a bus")
        self._spawn("pipewire")
        self._wait_for((self.runtime / "pipewire-0").exists, "PipeWire")
        self._spawn("wireplumber")
        self._spawn("pipewire-pulse")
