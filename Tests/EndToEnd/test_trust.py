"""Whom lifectl and the libraries talk to, and what they tell."""

import contextlib
import os
import socket
import subprocess

import pytest

import programs
from container import wait_for
from restoration import is_greeted, kill, manifest
from test_samples import COLD_START, Sample

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")

OTHER = 65534
NOT_PERMITTED = 77


@contextlib.contextmanager
def listener_of(user, path):
    """A socket of another user: the kernel keeps who it was that began to listen."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        os.seteuid(user)
        try:
            listener.listen()
        finally:
            os.seteuid(0)
        listener.settimeout(60)
        yield listener
    path.unlink(missing_ok=True)


def everything_sent(listener):
    connection, _ = listener.accept()
    connection.settimeout(60)
    with connection:
        text = b""
        while not text.endswith(b"\0") and (chunk := connection.recv(65536)):
            text += chunk
    return text


def lifectl(products, runtime, *arguments):
    environment = {name: value for name, value in os.environ.items() if name != "LIFED_SOCKET"}
    environment |= {"XDG_RUNTIME_DIR": str(runtime), "API_TOKEN": "hunter2", "LC_TIME": "C", "DISPLAY": ":7"}
    command = [products / "lifectl", *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_lifectl_sends_nothing_to_a_daemon_of_another_user(direct, tmp_path):
    with listener_of(OTHER, tmp_path / "theirs/lifed/control") as listener:
        process = lifectl(direct.products, tmp_path / "theirs", "--user", "run", "--", "true")
        assert everything_sent(listener) == b""
        _, complaint = process.communicate(timeout=60)
        assert process.returncode == NOT_PERMITTED and f"user {OTHER}" in complaint


def test_the_desktops_program_warns_of_a_daemon_of_another_user(direct, tmp_path):
    with listener_of(OTHER, tmp_path / "theirs"), listener_of(0, tmp_path / "sway"):
        command = [direct.products / "lifed-desktop", "--socket", tmp_path / "theirs", "--source", "sway"]
        environment = {**os.environ, "SWAYSOCK": str(tmp_path / "sway")}
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
            complaint = process.stderr.readline()
            process.kill()
    assert complaint.startswith(f"lifed-desktop: warning: {tmp_path / 'theirs'} belongs to another user")


def test_lifectl_warns_where_the_socket_of_another_user_was_named(direct, tmp_path):
    path = tmp_path / "theirs/control"
    with listener_of(OTHER, path) as listener:
        process = lifectl(direct.products, tmp_path, "--socket", str(path), "run", "--", "true")
        text = everything_sent(listener)
        _, complaint = process.communicate(timeout=60)
    assert b'"org.lifed.Run"' in text and b"hunter2" not in text
    assert complaint.startswith(f"lifectl: warning: {path} belongs to user {OTHER}")


def test_a_program_gets_what_it_needs_of_the_environment_and_what_is_named(direct):
    os.environ.update({"API_TOKEN": "hunter2", "OTHER_TOKEN": "geheim", "LC_TIME": "C", "DISPLAY": ":7"})
    try:
        direct.lifectl("run", "--id", "app", "--setenv", "OTHER_TOKEN", "--setenv", "X=a=b", "--", *programs.IDLE)
    finally:
        for name in ("API_TOKEN", "OTHER_TOKEN", "LC_TIME", "DISPLAY"):
            del os.environ[name]
    with open(f"/proc/{direct.lifectl.pid('app')}/environ") as file:
        found = dict(line.split("=", 1) for line in file.read().rstrip("\0").split("\0"))
    assert "API_TOKEN" not in found
    assert (found["OTHER_TOKEN"], found["X"], found["LC_TIME"], found["DISPLAY"]) == ("geheim", "a=b", "C", ":7")
    assert found["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize("library", ["swift", "c"])
def test_a_library_does_not_come_back_to_another_user(mortal, tmp_path, library):
    sample = Sample(mortal, library, tmp_path)
    sample.launch()
    with open(f"/proc/{mortal.lifectl.pid('sample')}/environ", "rb") as file:
        variables = dict(line.split(b"=", 1) for line in file.read().rstrip(b"\0").split(b"\0"))
    path = mortal.runtime / os.path.basename(variables[b"LIFECYCLE_SOCKET"].decode())
    kill(mortal)
    with listener_of(OTHER, path) as listener:
        assert everything_sent(listener) == b""
    mortal.start()
    wait_for(lambda: is_greeted(mortal, "sample"))
    sample.expect(COLD_START)


@pytest.mark.parametrize("name", ["apps.d/theirs.toml", "apps.d", "linked.toml", "lifed.toml"])
def test_a_configuration_that_another_user_may_write_is_not_used(direct, name):
    (direct.configuration / "lifed.toml").write_text("foregroundLimit = 2\n")
    (direct.configuration / "linked.toml").write_text("command = ['true']\n")
    (direct.configuration / "apps.d/linked.toml").symlink_to(direct.configuration / "linked.toml")
    (direct.configuration / "apps.d/theirs.toml").write_text("command = ['true']\n")
    direct.lifectl("reload")
    assert set(direct.lifectl.apps()) == {"linked", "theirs"}
    os.chown(direct.configuration / name, OTHER, OTHER)
    direct.lifectl("reload", check=False)
    problems = [problem["message"] for problem in direct.lifectl.json("status")["status"]["problems"]]
    left = {"apps.d/theirs.toml": {"linked"}, "apps.d": set(), "linked.toml": {"theirs"}}.get(name, {"linked", "theirs"})
    assert set(direct.lifectl.apps()) == left
    assert problems and all(f"{direct.configuration / name} belongs to user {OTHER}" in problem for problem in problems)


def test_the_lock_stays_though_a_configuration_file_links_to_it(direct):
    (direct.configuration / "lifed.toml").symlink_to(direct.runtime / "lock")
    direct.lifectl("reload", check=False)
    rival = subprocess.run(direct.arguments(), capture_output=True, text=True, timeout=60)
    assert rival.returncode != 0 and f"another lifed (process {direct.process.pid})" in rival.stderr
    assert direct.lifectl("status").returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a PID namespace")
def test_the_lock_stays_for_a_daemon_that_does_not_see_its_holder(direct):
    (direct.configuration / "lifed.toml").symlink_to(direct.runtime / "lock")
    (direct.configuration / "apps.d/app.toml").symlink_to(direct.runtime / "lock")
    direct.lifectl("reload", check=False)
    elsewhere = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    rival = subprocess.run([*elsewhere, *direct.arguments()], capture_output=True, text=True, timeout=60)
    assert rival.returncode != 0 and f"another lifed (process {direct.process.pid})" in rival.stderr
    assert direct.lifectl("status").returncode == 0


def test_the_directory_of_another_users_app_does_not_keep_an_id_from_others(direct):
    directory = direct.state / "apps/app"
    for user in ("nobody", "daemon", "nobody"):
        manifest(direct, "app", programs.IDLE, f"user = '{user}'\nworkingDirectory = '/'")
        direct.lifectl("launch", "app")
        assert directory.owner() == user
        (directory / f"of-{user}").touch()
        direct.lifectl("terminate", "app")
    assert [file.name for file in directory.iterdir()] == ["of-nobody"]


def processes(daemon, app):
    return daemon.lifectl.json("status", app)["details"]["processes"]
