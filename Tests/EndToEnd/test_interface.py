"""The code that is generated from the interfaces is that of the interfaces in the repository, and the documents agree with it."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_generated_code_is_not_stale():
    subprocess.run([ROOT / "scripts/generate-api", "--check"], check=True)


def streaming_methods():
    """The methods of both interfaces that the daemon answers only with more."""
    for name in ("Lifed", "Metrics"):
        code = (ROOT / f"Sources/ControlAPI/Generated/{name}Methods.swift").read_text()
        yield from re.findall(r'"(\w+)"', re.search(r"streamingMethods: \[(.*)\]", code)[1])


@pytest.mark.parametrize(
    ("page", "statement", "name"),
    [
        ("docs/integrate/varlink/README.md", r"^- \*\*`more`\.\*\*(.*?) need `more`", r"`(\w+)`"),
        ("docs/man/org.lifed.7", r"\.It\n((?:(?!\.It).)*?)\nneed\n\.Li \\\(dqmore", r"(?<![.\w])[A-Z]\w+"),
    ],
)
def test_the_documents_name_the_streaming_methods(page, statement, name):
    found = re.search(statement, (ROOT / page).read_text(), re.M | re.S)
    assert re.findall(name, found[1]) == list(streaming_methods())
