"""The unit tests of the journal client once more, where there is a journald to talk to."""

from pathlib import Path

import pytest

BUNDLE = Path(__file__).resolve().parents[2] / ".build/debug/lifedPackageTests.xctest"


def test_against_a_real_journald(container):
    if not BUNDLE.exists():
        pytest.skip("the Swift tests are not built: swift build --build-tests")
    inside = "/lifed-source/.build/debug/lifedPackageTests.xctest"
    result = container.run([inside, "--testing-library", "swift-testing", "--filter", "JournalTests"])
    assert "anEntryReachesJournald() passed" in result.stdout + result.stderr
    assert "aStreamTakesOutput() passed" in result.stdout + result.stderr
    entries = container.run(["journalctl", "-o", "json", "LIFED_APP=org.example.test"]).stdout
    assert "a test of lifed\\nof two lines" in entries
    assert "a line" in container.run(["journalctl", "-t", "lifed-test", "-o", "cat"]).stdout
