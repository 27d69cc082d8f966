"""The message catalogue and the identifiers in the daemon agree."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from message_ids import identifiers

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory):
    if not shutil.which("journalctl"):
        pytest.skip("journalctl is not installed")
    root = tmp_path_factory.mktemp("catalogue")
    for directory in ("usr/lib/systemd/catalog", "var/lib/systemd/catalog"):
        (root / directory).mkdir(parents=True)
    shutil.copy(ROOT / "systemd/lifed.catalog", root / "usr/lib/systemd/catalog")
    subprocess.run(["journalctl", f"--root={root}", "--update-catalog"], check=True)
    dump = subprocess.run(["journalctl", f"--root={root}", "--dump-catalog"], check=True, capture_output=True, text=True)
    return dict(re.findall(r"^-- ([0-9a-f]{32})\n(.*?)(?=^-- |\Z)", dump.stdout, re.MULTILINE | re.DOTALL))


def test_identifiers_are_128_bits_and_unique():
    values = list(identifiers().values())
    assert len(values) >= 15
    assert all(re.fullmatch("[0-9a-f]{32}", value) for value in values)
    assert len(set(values)) == len(values)


def test_every_identifier_has_a_text_and_every_text_an_identifier(catalogue):
    assert set(catalogue) == set(identifiers().values())


def test_texts_have_a_subject_and_an_explanation(catalogue):
    for identifier, text in catalogue.items():
        header, _, body = text.partition("\n\n")
        assert re.search("^Subject: .+", header, re.MULTILINE), identifier
        assert "Defined-By: lifed" in header, identifier
        assert len(body.split()) >= 8, identifier


def test_texts_use_only_fields_that_entries_have(catalogue):
    known = {"APP", "FROM", "TO", "REASON", "PID", "CALLBACK", "TASKS", "CALLBACK_USEC", "PIDS", "FILE", "LINE", "CLIENT_UID", "UNIT", "APPS", "PRESSURE", "ORDER", "FREED_BYTES", "METHOD", "OUTCOME", "FAILURES", "SCENE", "SCENES", "COUNT"}
    for identifier, text in catalogue.items():
        assert set(re.findall("@LIFED_([A-Z_]+)@", text)) <= known, identifier
        assert len(re.findall("@", text)) == 2 * len(re.findall("@LIFED_[A-Z_]+@", text)), identifier
