"""The code that is generated from the interfaces is that of the interfaces in the repository, and the documents agree with it."""

import re
import subprocess
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_generated_code_is_not_stale():
    subprocess.run([ROOT / "scripts/generate-api", "--check"], check=True)


@pytest.fixture
def parse():
    """Reads the members of an interface."""
    loader = SourceFileLoader("generate_api", str(ROOT / "scripts/generate-api"))
    api = module_from_spec(spec_from_loader("generate_api", loader))
    loader.exec_module(api)
    return lambda members: api.Parser("# A test.\ninterface org.example\n\n" + members).interface()[1]


def test_a_line_of_its_own_makes_a_method_one_with_several_replies(parse):
    members = parse("# Lists. Call with more.\nmethod List() -> ()\n\n# Follows.\n# [Requires 'more' flag]\nmethod Monitor() -> ()\n")
    comments = [comment for _, _, comment, _, _ in members]
    assert comments == ["Lists. Call with more.", "Follows."]
    assert [comment.requires_more for comment in comments] == [False, True]


@pytest.mark.parametrize(
    "members",
    [
        "# Follows.\nmethod Monitor() -> ()\n",
        "# Follows. [Requires 'more' flag]\nmethod MonitorAll() -> ()\n",
        "# [Requires 'more' flag]\n# Follows.\nmethod Follow() -> ()\n",
        "# Follows.\n# [Requires 'more' flag]\n# [Requires 'more' flag]\nmethod Follow() -> ()\n",
        "# Follows.\n# [requires 'more' flag]\nmethod Follow() -> ()\n",
        "# Follows.\n# [Supports 'more' flag]\nmethod Follow() -> ()\n",
        "# A type.\n# [Requires 'more' flag]\ntype Kind (one, other)\n",
    ],
)
def test_a_mistake_in_that_line_is_an_error(parse, members):
    with pytest.raises(SystemExit, match="cannot read (Monitor|Follow|Kind)"):
        parse(members)


@pytest.mark.parametrize("comment", ["", "# One.\n# Two.\n# Three.\n"])
def test_a_member_has_a_comment_of_one_or_two_lines(parse, comment):
    with pytest.raises(SystemExit, match="cannot read Kind"):
        parse(comment + "type Kind (one, other)\n")


def streaming_methods():
    """The methods of both interfaces that the daemon answers only with more."""
    for name in ("Lifed", "Metrics"):
        code = (ROOT / f"Sources/ControlAPI/Generated/{name}Methods.swift").read_text()
        yield from re.findall(r'"(\w+)"', re.search(r"streamingMethods: \[(.*)\]", code)[1])


@pytest.mark.parametrize(
    ("page", "statement", "name"),
    [
        ("docs/integrate/varlink/README.md", r"^- \*\*`more`\.\*\*(.*?) need `more`", r"`([A-Z]\w+)`"),
        ("docs/integrate/varlink/system.md", r"^\| `ExpectedMore` \|(.*?) was called without `more`", r"`([A-Z]\w+)`"),
        ("docs/man/org.lifed.7", r"\.It\n((?:(?!\.It).)*?)\nneed\n\.Li \\\(dqmore", r"(?<![.\w])[A-Z]\w+"),
    ],
)
def test_the_documents_name_the_streaming_methods(page, statement, name):
    found = re.search(statement, (ROOT / page).read_text(), re.M | re.S)
    assert re.findall(name, found[1]) == list(streaming_methods())
