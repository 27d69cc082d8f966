"""A runtime directory without space: no app is launched that could not be recorded, and those that run are not affected."""

import contextlib
import json
import os
import subprocess
import threading

import pytest

import programs
from container import wait_for
from faults import assert_well
from restoration import kill, start_again

LAUNCH_FAILED, CHECK_FAILED = 11, 1


@pytest.fixture
def cramped(direct, tmp_path):
    """A daemon whose runtime directory is on a file system of 1 MiB, with an app in the foreground and a suspended one."""
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        direct.stop()
        direct.runtime = small / "run"
        direct.runtime.mkdir()
        direct.filler = small / "filler"
        direct.start()
        for each in ("back", "front"):
            direct.lifectl.start(each, *programs.FAMILY)
        direct.lifectl("suspend", "back")
        yield direct
    finally:
        direct.stop()
        wait_for(lambda: subprocess.run(["umount", str(small)], capture_output=True).returncode == 0, what="umount")


def fill(daemon):
    with contextlib.suppress(OSError), open(daemon.filler, "ab", buffering=0) as filler:
        while filler.write(b"x" * 4096) == 4096:
            pass
    assert os.statvfs(daemon.runtime).f_bavail == 0


@contextlib.contextmanager
def filled_again_and_again(daemon):
    """Takes each page as soon as it is free."""
    over = threading.Event()

    def work():
        with open(daemon.filler, "ab", buffering=0) as filler:
            while not over.is_set():
                with contextlib.suppress(OSError):
                    filler.write(b"x" * 4096)

    fill(daemon)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def launch_until_refused(daemon):
    """Launches apps that the reserved space has room for: first some with long command lines, then others."""
    for size in (8000, 0):
        result = None
        for number in range(64):
            name = f"more{size}.{number}"
            command = ["sh", "-c", "exec sleep infinity", "0" * size]
            result = daemon.lifectl("run", "--background", "--id", name, "--", *command, check=False)
            if result.returncode != 0:
                break
        assert result.returncode != 0, "every app was launched"
    return name, result


def pids(daemon):
    return {name: app["pid"] for name, app in daemon.lifectl.apps().items() if app["pid"]}


def switch(daemon, front="front", back="back"):
    """The life cycle goes on: the app behind comes to the foreground, and the one in the foreground is suspended."""
    daemon.lifectl("focus", back)
    daemon.lifectl("suspend", front)
    assert daemon.lifectl.state(back) == "active"
    assert daemon.kernel.is_stopped(daemon.lifectl.pid(front))


def test_no_app_is_launched_without_room_and_those_that_run_go_on(cramped):
    fill(cramped)
    name, result = launch_until_refused(cramped)
    assert result.returncode == LAUNCH_FAILED
    assert f"{cramped.runtime} is full; free some space" in result.stderr
    assert name not in cramped.lifectl.apps()
    assert "is full; free some space" in cramped.logged
    assert f"launches  none: {cramped.runtime} is full\n" in cramped.lifectl("status").stdout
    doctor = cramped.lifectl("doctor", "--json", check=False)
    finding = next(each for each in json.loads(doctor.stdout)["findings"] if each["subject"] == "launches")
    assert doctor.returncode == CHECK_FAILED
    assert (finding["verdict"], finding["found"]) == ("failed", f"{cramped.runtime} is full")
    before = pids(cramped)
    switch(cramped)
    with open(cramped.filler, "ab") as filler:
        filler.truncate(0)
    has_room = lambda: cramped.lifectl.json("status")["status"]["launchBlocker"] is None
    wait_for(has_room, what="the daemon has tried again")
    assert "has space again" in cramped.logged
    assert_well(cramped)
    assert pids(cramped) == before
    start_again(cramped)
    assert pids(cramped) == before


def test_a_program_is_not_adopted_without_room_and_runs_on(cramped):
    # What an app that was refused would have needed may be enough for some that are adopted.
    strangers = [subprocess.Popen(["sleep", "infinity"], start_new_session=True) for _ in range(16)]
    try:
        fill(cramped)
        launch_until_refused(cramped)
        for number, stranger in enumerate(strangers):
            name = f"stranger{number}"
            result = cramped.lifectl("adopt", str(stranger.pid), "--id", name, check=False)
            if result.returncode != 0:
                break
        assert result.returncode == LAUNCH_FAILED, "every program was adopted"
        assert " is full; " in result.stderr
        assert name not in cramped.lifectl.apps()
        assert stranger.poll() is None
        cramped.filler.unlink()
        cramped.lifectl("adopt", str(stranger.pid), "--id", name)
        assert cramped.lifectl.pid(name) == stranger.pid
    finally:
        for stranger in strangers:
            stranger.kill()
            stranger.wait()


def test_what_happens_without_room_is_known_after_a_crash(cramped):
    with filled_again_and_again(cramped):
        launch_until_refused(cramped)
        before = pids(cramped)
        switch(cramped)
        for _ in range(3):
            start_again(cramped)
            assert pids(cramped) == before
            assert cramped.lifectl.state("front") == "suspended"
            assert cramped.kernel.is_stopped(before["front"])
            assert cramped.lifectl.state("back") == "active"
            switch(cramped, "back", "front")
            switch(cramped)
        # The log is written anew in the meantime.
        for _ in range(20):
            switch(cramped, "back", "front")
            switch(cramped)
        start_again(cramped)
        assert pids(cramped) == before
        assert cramped.lifectl.state("front") == "suspended"
        switch(cramped, "back", "front")
    assert "cannot save the state" not in cramped.logged


def test_an_app_whose_record_is_too_large_costs_others_nothing(cramped):
    fill(cramped)
    before = pids(cramped)
    large = ["0" * 100_000] * 2
    result = cramped.lifectl("run", "--id", "large", "--", *programs.IDLE, *large, check=False)
    assert result.returncode == LAUNCH_FAILED
    assert " is full; " in result.stderr
    switch(cramped)
    start_again(cramped)
    assert pids(cramped) == before
    assert cramped.lifectl.state("front") == "suspended"


def test_a_daemon_starts_where_there_was_never_any_room(cramped):
    cramped.stop()
    fill(cramped)
    cramped.start()
    result = cramped.lifectl("run", "--id", "app", "--", *programs.IDLE, check=False)
    assert result.returncode == LAUNCH_FAILED
    assert " is full; " in result.stderr
    cramped.filler.unlink()
    pid = cramped.lifectl.start("app", *programs.IDLE)
    kill(cramped)
    cramped.start()
    assert cramped.lifectl.pid("app") == pid
