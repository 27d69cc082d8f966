"""What plays stays awake, where it may: real sound servers with a silent speaker, and real streams."""

import os
import signal
import wave

import pytest

from container import wait_for
from screens import followers, need
from sounds import PipeWire, PulseAudio

UNAVAILABLE = 69


@pytest.fixture(params=[PulseAudio, PipeWire], ids=["pulseaudio", "pipewire"])
def sound(request, tmp_path):
    need(*request.param.PROGRAMS, "pactl", "pacat")
    server = request.param(tmp_path)
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def follow(direct, sound, tmp_path):
    """Starts followers."""
    with followers(direct, "sound", tmp_path, sound.environment) as start:
        yield start


@pytest.fixture
def player(direct, sound):
    """Makes apps that play, and starts them in the foreground."""

    def launch(identifier, *keys, program="pacat /dev/zero"):
        variables = "\n".join(f'{name} = "{value}"' for name, value in sound.environment.items())
        command = f'command = ["sh", "-c", "{program} & wait; exec sleep infinity"]'
        text = "\n".join([command, *keys, "[environment]", variables, ""])
        (direct.configuration / "apps.d" / f"{identifier}.toml").write_text(text)
        direct.suspend_soon()
        direct.lifectl("launch", identifier)
        pid = wait_for(lambda: playing_process(direct, identifier, program.split()[0]))
        wait_for(lambda: sound.hears(pid), what=f"a stream of {program}")
        return pid

    return launch


def playing_process(direct, identifier, program):
    processes = direct.lifectl.json("status", identifier)["details"]["processes"]
    return next((each["pid"] for each in processes if each["command"].startswith(program)), None)


def test_what_plays_and_may_stays_awake_until_it_is_silent(direct, sound, player, follow):
    playing = player("radio", 'backgroundModes = ["audio"]')
    follow()
    player("game")
    direct.lifectl("home")
    direct.lifectl.wait_for_state("game", "suspended")
    assert direct.lifectl.state("radio") == "background"
    assert "it plays sound, until that ends" in direct.lifectl("explain", "radio").stdout
    refusal = direct.lifectl("suspend", "radio", check=False)
    assert refusal.returncode == 2 and "it plays" in refusal.stderr
    os.kill(playing, signal.SIGKILL)
    direct.lifectl.wait_for_state("radio", "suspended")


@pytest.mark.parametrize("sound", [PipeWire], indirect=True, ids=["pipewire"])
def test_what_plays_in_pipewires_own_protocol_is_known_by_its_client(direct, sound, player, follow, tmp_path):
    silence = tmp_path / "silence.wav"
    with wave.open(str(silence), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        # Longer than any test takes.
        file.writeframes(bytes(2 * 8000 * 600))
    playing = player("radio", 'backgroundModes = ["audio"]', program=f"pw-play {silence}")
    follow()
    direct.lifectl("home")
    wait_for(lambda: "it plays" in direct.lifectl("explain", "radio").stdout)
    assert direct.lifectl.state("radio") == "background"
    os.kill(playing, signal.SIGKILL)
    direct.lifectl.wait_for_state("radio", "suspended")


def test_what_may_not_is_said_and_the_person_decides(direct, sound, player, follow):
    player("game")
    follower = follow()
    follower.wait_for("game plays sound, and is suspended all the same")
    direct.suspend_soon('playing = "keep"')
    direct.lifectl("home")
    wait_for(lambda: "it plays" in direct.lifectl("explain", "game").stdout)
    direct.suspend_soon('playing = "ignore"')
    direct.lifectl.wait_for_state("game", "suspended")


def test_a_dry_run_changes_nothing(direct, sound, player, follow):
    player("radio", 'backgroundModes = ["audio"]')
    follow("--dry-run").wait_for("would report what plays sound: radio")
    direct.lifectl("home")
    direct.lifectl.wait_for_state("radio", "suspended")


def test_the_sound_server_may_be_started_again(direct, sound, player, follow):
    player("before", 'backgroundModes = ["audio"]')
    follower = follow()
    # lifed-desktop ends with a sound server that it has not heard.
    direct.lifectl("home")
    wait_for(lambda: "it plays" in direct.lifectl("explain", "before").stdout)
    sound.stop()
    follower.wait_for("the sound server has gone")
    sound.start()
    follower.wait_for("the sound server is there again")
    player("radio", 'backgroundModes = ["audio"]')
    direct.lifectl("home")
    wait_for(lambda: "it plays" in direct.lifectl("explain", "radio").stdout)


def test_where_there_is_no_sound_server_that_is_said(direct):
    need("pactl")
    command = [str(direct.products / "lifed-desktop"), "--source", "sound"]
    result = direct.run(["env", "PULSE_SERVER=unix:/nowhere", *command], check=False)
    assert result.returncode == UNAVAILABLE and "cannot follow sound: " in result.stderr
