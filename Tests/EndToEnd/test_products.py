"""The programs link no library that is larger than they are."""

import os
import subprocess
from pathlib import Path

import pytest

BUILD = os.environ.get("LIFED_BUILD", "release")
PRODUCTS = Path(__file__).resolve().parents[2] / ".build" / BUILD


@pytest.mark.parametrize("program", ["lifed", "lifectl"])
@pytest.mark.parametrize("module", ["FoundationEssentials", "_RegexParser"])
def test_program_links_no_large_library(program, module):
    # Symbols have the name of their module, after its length.
    assert f"{len(module)}{module}".encode() not in (PRODUCTS / program).read_bytes()


@pytest.mark.parametrize("program", ["lifed", "lifectl"])
def test_program_does_not_link_the_libraries_of_screens(program):
    linked = subprocess.run(["readelf", "-d", PRODUCTS / program], capture_output=True, text=True, check=True).stdout
    assert "libwayland" not in linked and "libxcb" not in linked
