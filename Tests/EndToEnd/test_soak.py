"""A short soak: everything that the long one does, with fewer apps."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_short_soak():
    products = ROOT / ".build" / os.environ.get("LIFED_BUILD", "release")
    command = [sys.executable, ROOT / "Tests/Soak/soak.py", "--minutes=0.4", "--apps=40", f"--products={products}"]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    print(result.stdout)
    assert result.returncode == 0, result.stdout + result.stderr
