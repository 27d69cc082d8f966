"""What lifed is asked for most takes no more instructions than it did."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = os.environ.get("LIFED_BUILD", "release")


@pytest.mark.alone
@pytest.mark.skipif(not shutil.which("valgrind"), reason="there is no valgrind")
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_no_more_instructions_than_the_limits_allow():
    products = ROOT / ".build" / BUILD
    command = [sys.executable, ROOT / "scripts/instructions", "--changes=100", "--check", f"--products={products}"]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(result.stdout.splitlines()) == 6


@pytest.mark.alone
@pytest.mark.skipif(BUILD != "release", reason="the limits are those of a release build")
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_no_more_steps_than_the_limits_allow():
    command = [sys.executable, ROOT / "scripts/steps", "--check", f"--products={ROOT / '.build' / BUILD}"]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    if result.stderr.startswith("cannot trace lifed: "):
        pytest.skip(result.stderr.strip())
    assert result.returncode == 0, result.stdout + result.stderr
