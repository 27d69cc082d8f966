"""The checks of words and messages find each kind of mistake, and nothing in a text without one."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORDS = ROOT / "scripts/words"
MESSAGES = ROOT / "scripts/messages"
TEXT = {
    "docs/page.md": "# A page\n\nThe daemon suspends a [background app](other.md#the-states).\n\n```text\nA - B\n```\n",
    "docs/other.md": "# Other\n\n## The states\n\nSee [the page](page.md).\n",
    "docs/man/lifed.8": ".Sh NAME\n.Nm lifed ,\n.Nm lifed-check\n.Nd a daemon\n.Xr lifed 8\n.Xr lifed-check 8\n",
    "Sources/App.swift": (
        "/// A state of an app.\n///\n/// What follows is not a summary.\nlet state = 1\n"
        "/// Ends the app.\nfunc end() {}\n/// `lifectl end`\nstatic func run() {}\n"
    ),
}


@pytest.fixture
def check(tmp_path):
    """Checks the texts, some of them replaced or added."""

    def check(changes={}, allowed=""):
        for name, text in {**TEXT, **changes, "scripts/words.allowed": allowed}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        result = subprocess.run([WORDS, "--root", tmp_path], capture_output=True, text=True, timeout=60)
        assert result.returncode == (1 if result.stderr else 0), result.stderr
        return result.stderr.splitlines()

    return check


def test_a_text_without_a_mistake_is_accepted(check):
    assert check() == []


MISTAKES = [
    ("docs/other.md", "# Other\n\nAn app in front.\n\n## The states\n", 'docs/other.md:3: "in front": write "foreground"'),
    ("docs/other.md", "# Other\n\nIn front, an app draws.\n\n## The states\n", '"In front": write "foreground"'),
    ("docs/other.md", "# Other\n\nOut of sight, it rests.\n\n## The states\n", '"Out of sight": write "background"'),
    ("Sources/App.swift", "let frontLimit = 1\n", '"frontLimit": write "foreground"'),
    ("Sources/App.swift", "// Nobody waits.\n", '"Nobody": name the subject'),
    ("Sources/App.swift", "// It ends. What is left ends, too.\n", '". What is": name the subject'),
    ("Sources/App.swift", "let a = 1\n/// Whether it runs.\nlet b = 2\n", "begin a summary with a noun"),
    ("Sources/App.swift", "let a = 1\n/// The state.\n///\n/// It is new.\n@inline(never)\nprivate func b() {}\n", "a function"),
    ("systemd/unit", "# See docs/gone.md.\n", "systemd/unit:1: there is no file docs/gone.md"),
    ("docs/page.md", "[a](gone.md)\n", "docs/page.md:1: there is no file docs/gone.md"),
    ("docs/page.md", "[a](other.md#gone)\n", "docs/other.md has no heading #gone"),
    ("docs/page.md", "[a](#gone)\n", "docs/page.md has no heading #gone"),
    ("docs/page.md", "See `test_gone.py`.\n", "docs/page.md:1: there is no test test_gone.py"),
    ("docs/page.md", "Text.\n\n```sh\ntrue\n```\n", "docs/page.md:3: no test runs this block"),
    ("docs/page.md", "Text.\n\n```\ntrue\n```\n", "docs/page.md:3: the block names no language"),
    ("docs/page.md", "<!-- blocks: Tests/gone.py -->\n", "there is no test Tests/gone.py"),
    ("docs/page.md", "<!-- blocks: docs/man/lifed.8 -->\n", "docs/man/lifed.8 does not read this document"),
    ("docs/man/lifed.8", ".Xr lifed.gone 5\n", "docs/man/lifed.8:1: there is no page lifed.gone(5)"),
]


@pytest.mark.parametrize(("name", "text", "message"), MISTAKES)
def test_a_mistake_is_found(check, name, text, message):
    found = check({name: text})
    assert len(found) == 1 and message in found[0], found


@pytest.mark.parametrize(
    "text", ["<!-- blocks: Tests/test_page.py -->\n```sh\ntrue\n```\n", "<!-- not run: it draws -->\n\n```sh\ntrue\n```\n"]
)
@pytest.mark.parametrize("test", ["page.md", 'ROOT / "docs" / name', 'f"docs/{name}.md"'])
def test_a_block_that_runs_or_is_marked_is_accepted(check, text, test):
    assert check({"docs/page.md": text, "docs/other.md": "", "Tests/test_page.py": test}) == []


def test_an_exception_covers_its_place_only(check):
    text = {"Sources/App.swift": "let frontLimit = 1\n// in front\n"}
    assert len(check(text, "Sources/*.swift\tfrontLimit\ta reason\n")) == 1
    assert len(check(text, "Sources/*.swift\tfront\\w+\ta reason\nSources/*\tin front\ta reason\n")) == 0
    assert check({"Sources/App.swift": ""}, "Sources/*\tin front\ta reason\n") == ["words.allowed:1: nothing needs this entry"]


@pytest.mark.parametrize(
    ("subject", "problem"),
    [
        ("core: keep one queue", None),
        ("core, docs: keep one queue", None),
        ("keep one queue", "expected area: summary"),
        ("core: keeps one queue", "expected the imperative"),
        ("core: added a queue", "expected the imperative"),
        ("core: keep one queue.", "no full stop"),
        ("core: keep " + "o" * 72, "83 characters; at most 72"),
    ],
)
def test_the_subject_of_a_commit(check, tmp_path, subject, problem):
    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", tmp_path, *identity, *arguments], check=True, capture_output=True)

    check()
    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "begun")
    git("checkout", "-b", "work")
    git("commit", "--allow-empty", "-m", subject)
    found = check()
    assert (problem in found[0] if found else None) == (True if problem else None), found


def test_the_lists_have_every_message_of_the_sources():
    result = subprocess.run([MESSAGES, "--check"], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr


LOG = "Sources/LifecycleDaemon/Log.swift"
LIFECTL = "Sources/lifectl/Save.swift"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (LOG, 'log.write(.warning, "the disk is \\(state)")', "CAUSE; REMEDY: the disk is {state}"),
        (LOG, 'let text = "cannot read \\(file): \\(error)"', "CAUSE; REMEDY: cannot read {file}: {error}"),
        (LOG, 'throw DaemonError(.start, "the socket is gone")', "expected cannot VERB OBJECT: the socket is gone"),
        (LOG, 'x(reason: "it ran", remedy: "Start it again")', "without a capital letter: Start it again"),
        (LOG, 'x(reason: "it ran " + "away.", remedy: "")', "expected no full stop: it ran away."),
        (LOG, 'let text = """\n    could not \\\n    do it\n    """', "an error begins with cannot: could not do it"),
        (LIFECTL, 'Failure(.failed, "disk full", "it is full")', "expected cannot VERB OBJECT: disk full"),
        (LIFECTL, 'Failure(.failed, "cannot save it: no", "x")', "no cause behind the action: cannot save it: no"),
        (LIFECTL, 'Failure(.failed, action, "it is full.")', "expected no full stop: it is full."),
        ("systemd/stop", 'echo "the daemon is $state" >&2', "CAUSE; REMEDY: the daemon is {state}"),
        ("scripts/build", 'sys.exit(f"no {tool} here")', "CAUSE; REMEDY: no {tool} here"),
    ],
)
def test_a_message_without_its_form_is_found(tmp_path, name, text, message):
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text(f"{text}\n")
    result = subprocess.run([MESSAGES, "--root", tmp_path], capture_output=True, text=True, timeout=60)
    assert result.stderr.splitlines()[0].endswith(message) and result.returncode == 1, result.stderr


def test_a_new_message_and_an_old_one_are_found(tmp_path):
    path = tmp_path / LOG
    path.parent.mkdir(parents=True)
    path.write_text('// "no text"\nlet a = "one \\(say("two words")) here"\n')
    assert subprocess.run([MESSAGES, "--root", tmp_path], timeout=60).returncode == 0
    assert "  text   one {say} here\n  text   two words\n" in (tmp_path / "Tests/Messages/daemon.txt").read_text()
    path.write_text('let a = "one \\(say("three words")) here"\n')
    result = subprocess.run([MESSAGES, "--check", "--root", tmp_path], capture_output=True, text=True, timeout=60)
    assert result.returncode == 1
    assert [line.strip() for line in result.stderr.splitlines()[1:]] == ["new: text   three words", "old: text   two words"]
