"""A short soak: everything that the long one does, with fewer apps."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from container import wait_for

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "Soak"))

import guardian
from scene import Scene


PRODUCTS = ROOT / ".build" / os.environ.get("LIFED_BUILD", "release")
SOAK = [sys.executable, ROOT / "Tests/Soak/soak.py", "--minutes=0.4", "--apps=40", f"--products={PRODUCTS}"]


def test_a_short_soak():
    result = subprocess.run(SOAK, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    print(result.stdout)
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_soak_that_is_killed_leaves_nothing():
    # Not the directory of the test, whose name can be too long for that of a socket.
    with tempfile.TemporaryDirectory() as place:
        environment = {**os.environ, "TMPDIR": place}
        soak = subprocess.Popen(SOAK, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        directory = wait_for(lambda: next(Path(place).glob("lifed-soak-*"), None))
        scene = Scene(directory / "daemon" / "state")
        wait_for(lambda: len(scene.mine()) >= 10)
        cgroups = guardian.cgroups(directory)
        soak.kill()
        soak.wait()
        wait_for(lambda: not scene.mine() and not guardian.daemons(directory), timeout=120)
        wait_for(lambda: not any(each.exists() for each in cgroups))
        wait_for(lambda: not directory.exists())
