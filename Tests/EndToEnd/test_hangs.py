"""The watch reports and ends a run of the Swift tests that hangs, and leaves other runs alone."""

import shutil
import subprocess

import hangs


def test_a_run_that_hangs_is_told_and_ended(tmp_path, capfd):
    runner = tmp_path / f"other{hangs.RUNNER}"
    shutil.copy(shutil.which("sleep"), runner)
    events = tmp_path / "events"
    events.write_text("begun\n")
    with hangs.Watch(events, patience=0.2) as watch:
        assert subprocess.run([runner, "1000"]).returncode == -9
    assert watch.has_hung
    assert f"{runner} 1000" in capfd.readouterr().err


def test_a_run_that_goes_on_is_left_alone(tmp_path):
    runner = tmp_path / f"other{hangs.RUNNER}"
    shutil.copy(shutil.which("bash"), runner)
    events = tmp_path / "events"
    # Longer than the patience, with events that are closer together.
    program = f"for i in {{1..15}}; do echo >> {events}; sleep 0.1; done; exit 3"
    with hangs.Watch(events, patience=1) as watch:
        assert subprocess.run([runner, "-c", program]).returncode == 3
    assert not watch.has_hung
