"""The messages about values that are refused name the values that are accepted."""

import pytest

import programs

USAGE = 64


@pytest.mark.parametrize(
    "words, limit",
    [
        (["wake", "app", "--for", "Bad Kind"], "--for takes 1 to 64 of a-z, 0-9 and -, not 'Bad Kind'"),
        (["wake", "app", "--for", "fetch", "--payload", "x" * 9000], "it goes to the app in a line of 7168 bytes at most"),
        (["handoff", "app", "--activity", "a.b", "--info", f'"{"x" * 9000}"'], "in a line of 7168 bytes at most"),
        (["open", "zz:a b"], "a URL has no spaces and control characters; write %20 for a space"),
        (["open", "zz:" + "x" * 9000, "--app", "app"], "in a line of 7168 bytes at most"),
        (["interrupt", "begin", "--name", "a b"], "--name takes 1 to 64 bytes without spaces and control characters"),
        (["interrupt", "--name", "x" * 65, "--", "true"], "--name takes 1 to 64 bytes without"),
        (["adopt", "1", "--name", "x" * 257], "--name takes 1 to 256 characters without control characters"),
        (["scene", "open", "app", "--info", "x" * 4097], "--info takes a text of 4096 bytes at most"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value)[:30],
)
def test_a_refused_value_is_told_its_limit(direct, words, limit):
    direct.lifectl.start("app", *programs.IDLE)
    result = direct.lifectl(*words, check=False)
    assert result.returncode == USAGE and limit in result.stderr, result.stderr
