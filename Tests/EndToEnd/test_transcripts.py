"""The transcripts of the protocol's page, replayed against the daemon."""

import pytest

import transcripts

TRANSCRIPTS = transcripts.read()


@pytest.fixture
def replay(direct, tmp_path):
    yield transcripts.Replay(direct, tmp_path).run
    # Apps end with a daemon that ends in order.
    if direct.process.poll() is not None:
        direct.start()


@pytest.mark.parametrize("title", TRANSCRIPTS)
def test_a_transcript_is_what_happens(replay, title):
    replay(TRANSCRIPTS[title])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("clock< did-become-active seq=3", "clock< will-resign-active seq=3"),
        ("state=active", "state=inactive"),
        ("deadline-ms={1-5000}", "deadline-ms={1-2}"),
        ("done seq=2", "done seq=1"),
        ("= 0", "= 1"),
        ("clock: active", "clock< granted id=1"),
    ],
)
def test_a_transcript_that_is_wrong_is_found(replay, monkeypatch, before, after):
    monkeypatch.setattr(transcripts, "PATIENCE", 3)
    lines = "\n".join(TRANSCRIPTS["First start"])
    assert before in lines
    with pytest.raises(AssertionError):
        replay(lines.replace(before, after).split("\n"))


def test_every_page_has_transcripts():
    assert len(TRANSCRIPTS) >= 12
    assert sorted(each.name for each in transcripts.PAGES.iterdir()) == sorted(["README.md", *transcripts.NAMES])
