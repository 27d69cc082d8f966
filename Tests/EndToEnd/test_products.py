"""The programs are as small as they can be: they link no library that is larger than they are, and lifectl no runtime."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = os.environ.get("LIFED_BUILD", "release")
PRODUCTS = Path(__file__).resolve().parents[2] / ".build" / BUILD
of_a_release = pytest.mark.skipif(BUILD != "release", reason="only the release build is small")


@pytest.mark.parametrize("program", ["lifed", "lifectl"])
@pytest.mark.parametrize("module", ["FoundationEssentials", "_RegexParser"])
def test_program_links_no_large_library(program, module):
    # Symbols have the name of their module, after its length.
    assert f"{len(module)}{module}".encode() not in (PRODUCTS / program).read_bytes()


@of_a_release
def test_lifectl_has_no_swift_runtime():
    # The function that looks up conformances is in every program with the runtime, here in lifed.
    assert b"swift_conformsToProtocol" in (PRODUCTS / "lifed").read_bytes()
    assert b"swift_conformsToProtocol" not in (PRODUCTS / "lifectl").read_bytes()


# A little above what they take, in bytes; both together are to have at most 12 MB.
LIMITS = {"lifed": 9_500_000, "lifectl": 2_500_000}


@of_a_release
@pytest.mark.skipif(not shutil.which("strip"), reason="there is no strip")
@pytest.mark.parametrize("program", LIMITS)
def test_program_is_small(program, tmp_path):
    subprocess.run(["strip", "-o", tmp_path / program, PRODUCTS / program], check=True)
    assert (tmp_path / program).stat().st_size <= LIMITS[program]
