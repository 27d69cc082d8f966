"""The code that is generated from the interfaces is that of the interfaces in the repository."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_generated_code_is_not_stale():
    subprocess.run([ROOT / "scripts/generate-api", "--check"], check=True)
