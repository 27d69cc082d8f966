"""What plays stays awake, where it may: a real PulseAudio with a speaker that nobody hears, and real streams."""

import os
import signal
import subprocess

import pytest

from container import wait_for
from screens import followers, need

UNAVAILABLE = 69


class SoundServer:
    def __init__(self, directory):
        self.runtime = directory / "pulse"
        self.log = directory / "pulse-log"
        self.process = None

    @property
    def environment(self):
        socket = self.runtime / "native"
        return {"PULSE_RUNTIME_PATH": str(self.runtime), "PULSE_SERVER": f"unix:{socket}", "HOME": str(self.runtime)}

    def start(self):
        self.runtime.mkdir(mode=0o700, exist_ok=True)
        command = ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no"]
        modules = ["module-null-sink", f"module-native-protocol-unix auth-anonymous=1 socket={self.runtime}/native"]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*command, *(f"--load={module}" for module in modules)],
                env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(self._answers, what=f"an answer of pulseaudio; its log: {self.log}")

    def _answers(self):
        assert self.process.poll() is None, self.log.read_text(errors="replace")
        return self.pactl("info").returncode == 0

    def pactl(self, *arguments):
        return subprocess.run(
            ["pactl", *arguments], env={**os.environ, **self.environment}, capture_output=True, text=True, timeout=20)

    def stop(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def sound(tmp_path):
    need("pulseaudio", "pactl", "pacat")
    server = SoundServer(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def follow(direct, sound, tmp_path):
    """Starts followers."""
    with followers(direct, "audio", tmp_path, sound.environment) as start:
        yield start


@pytest.fixture
def player(direct, sound):
    """Makes apps that play, and starts them in front."""

    def launch(identifier, *keys):
        variables = "\n".join(f'{name} = "{value}"' for name, value in sound.environment.items())
        command = 'command = ["sh", "-c", "pacat /dev/zero & wait; exec sleep infinity"]'
        text = "\n".join([command, *keys, "[environment]", variables, ""])
        (direct.configuration / "apps.d" / f"{identifier}.toml").write_text(text)
        reload(direct)
        direct.lifectl("launch", identifier)
        pid = wait_for(lambda: playing_process(direct, identifier))
        wait_for(lambda: f'application.process.id = "{pid}"' in sound.pactl("list", "sink-inputs").stdout)
        return pid

    return launch


def playing_process(direct, identifier):
    processes = direct.lifectl.json("status", identifier)["details"]["processes"]
    return next((each["pid"] for each in processes if each["command"].startswith("pacat")), None)


def reload(direct, text=""):
    (direct.configuration / "lifed.toml").write_text(f'{text}\n[timeouts]\nbackground = "300ms"\n')
    problems = direct.lifectl.json("reload")["problems"]
    assert problems == []


def test_what_plays_and_may_stays_awake_until_it_is_silent(direct, sound, player, follow):
    playing = player("radio", 'backgroundModes = ["audio"]')
    follow()
    player("game")
    direct.lifectl("home")
    direct.lifectl.wait_for_state("game", "suspended")
    assert direct.lifectl.state("radio") == "background"
    assert "it plays, for as long as that lasts" in direct.lifectl("explain", "radio").stdout
    refusal = direct.lifectl("suspend", "radio", check=False)
    assert refusal.returncode == 2 and "it plays" in refusal.stderr
    os.kill(playing, signal.SIGKILL)
    direct.lifectl.wait_for_state("radio", "suspended")


def test_what_may_not_is_said_and_the_person_decides(direct, sound, player, follow):
    player("game")
    follower = follow()
    follower.wait_for("game plays, and is not kept awake for that")
    reload(direct, 'playing = "keep"')
    direct.lifectl("home")
    wait_for(lambda: "it plays" in direct.lifectl("explain", "game").stdout)
    reload(direct, 'playing = "ignore"')
    direct.lifectl.wait_for_state("game", "suspended")


def test_a_dry_run_changes_nothing(direct, sound, player, follow):
    player("radio", 'backgroundModes = ["audio"]')
    follow("--dry-run").wait_for("would say what plays: radio")
    direct.lifectl("home")
    direct.lifectl.wait_for_state("radio", "suspended")


def test_the_sound_server_may_be_started_again(direct, sound, player, follow):
    follower = follow()
    sound.stop()
    follower.wait_for("the sound server has gone")
    sound.start()
    follower.wait_for("the sound server is there again")
    player("radio", 'backgroundModes = ["audio"]')
    direct.lifectl("home")
    wait_for(lambda: "it plays" in direct.lifectl("explain", "radio").stdout)


def test_where_there_is_no_sound_server_that_is_said(direct):
    need("pactl")
    command = [str(direct.products / "lifectl"), "follow", "audio"]
    result = direct.run(["env", "PULSE_SERVER=unix:/nowhere", *command], check=False)
    assert result.returncode == UNAVAILABLE and "pactl" in result.stderr
