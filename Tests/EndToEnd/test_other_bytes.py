"""Command lines and environments that are not UTF-8, as names of files may be on Linux."""

import pytest

from container import wait_for

LAUNCH_FAILED = 11
INVALID_DATA = 65
NO_SUCH_APP = 66

# Two words that are equal once their bytes are replaced.
WORDS = ["caf\udce9", "caf\udcea"]
SHOW = ["sh", "-c", 'printf "%s " "$@" | od -An -tx1', "sh"]


def test_a_command_that_interrupts_gets_its_arguments_as_they_are(direct):
    result = direct.lifectl("interrupt", "--", *SHOW, *WORDS)
    assert result.stdout.split() == "63 61 66 e9 20 63 61 66 ea 20".split()


@pytest.mark.parametrize(
    "words, which",
    [
        (["timeline", "--svg", WORDS[0]], 3),
        (["wake", "app", "--for", "fetch", "--payload", WORDS[0]], 6),
        (["handoff", "app", f"--activity={WORDS[0]}"], 3),
        (["interrupt", "begin", "--name", WORDS[0]], 4),
        (["kill", "app", "--signal", WORDS[0]], 4),
        (["status", WORDS[0]], 2),
        (["open", "--app", WORDS[0], "file:///a"], 3),
        (["interrupt", "--name", WORDS[0], "--", "true"], 3),
        ([WORDS[0]], 1),
    ],
)
def test_words_that_are_not_utf_8_are_not_changed(direct, tmp_path, monkeypatch, words, which):
    monkeypatch.chdir(tmp_path)
    result = direct.lifectl(*words, check=False)
    assert result.returncode == INVALID_DATA and f": the argument {which} is not UTF-8; " in result.stderr, result.stderr
    assert not list(tmp_path.glob("caf*"))


def test_a_file_whose_name_is_not_utf_8_is_opened(direct, tmp_path):
    file = tmp_path / WORDS[0]
    file.touch()
    result = direct.lifectl("open", str(file), check=False)
    assert result.returncode == NO_SUCH_APP, result.stderr


@pytest.mark.parametrize(
    "words, which",
    [
        (["--id", "app", "--", "touch", WORDS[0]], "argument 6"),
        (["--id", "app", "--setenv", f"A={WORDS[0]}", "--", "true"], "argument 5"),
        (["--id", "app", "--setenv", "OTHER", "--", "true"], "variable OTHER"),
    ],
)
def test_a_command_whose_words_are_not_utf_8_is_not_run(direct, monkeypatch, words, which):
    monkeypatch.setenv("OTHER", WORDS[0])
    result = direct.lifectl("run", *words, check=False)
    assert result.returncode == INVALID_DATA and f": the {which} is not UTF-8; " in result.stderr, result.stderr
    assert direct.lifectl.apps() == {}


def test_a_command_does_not_run_in_another_directory(direct, monkeypatch, tmp_path):
    directory = tmp_path / WORDS[0]
    directory.mkdir()
    monkeypatch.chdir(directory)
    result = direct.lifectl("run", "--id", "app", "--", "sleep", "infinity", check=False)
    assert result.returncode == LAUNCH_FAILED and "working directory " in result.stderr, result.stderr


def test_other_variables_that_are_not_utf_8_are_left_out(direct, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_OTHER", WORDS[0])
    monkeypatch.setenv("XDG_TEXT", "text")
    script = f"env >{tmp_path}/part; mv {tmp_path}/part {tmp_path}/environment; exec sleep infinity"
    direct.lifectl.start("app", "sh", "-c", script)
    wait_for((tmp_path / "environment").exists)
    text = (tmp_path / "environment").read_bytes()
    assert b"XDG_TEXT=text\n" in text and b"XDG_OTHER" not in text


def test_a_command_line_for_another_machine_must_be_utf_8(direct):
    result = direct.lifectl("--host", "nowhere.invalid", "run", "--", "touch", WORDS[0], check=False)
    assert result.returncode == INVALID_DATA and ": the argument 6 is not UTF-8; " in result.stderr, result.stderr
