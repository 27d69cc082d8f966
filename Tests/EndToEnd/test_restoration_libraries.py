"""Apps with a library when a daemon restores them: they find it again, or are gone on with as if they had none."""

import pytest

from container import wait_for
from listeners import Listeners
from restoration import configure, is_greeted, start_again
from test_samples import COLD_START, COME_BACK, LEAVE, Sample


def test_an_app_that_does_not_come_back_goes_on_as_one_without_the_library(direct, tmp_path):
    daemon = direct
    daemon.containment = "auto"
    configure(daemon, timeouts="didEnterBackground = '20s'\nbackground = '0s'")
    listeners = Listeners(daemon, tmp_path / "notes")
    listeners.manifest("app", "silent=did-enter-background")
    daemon.lifectl("launch", "app")
    listeners.wait_until_told("app", "did-become-active")
    daemon.lifectl("home", check=False)
    listeners.wait_until_told("app", "did-enter-background")
    start_again(daemon)
    # It has lost its channel and does not know the way back; whether it would have answered is unknown.
    daemon.lifectl.wait_for_state("app", "suspended", timeout=60)
    assert daemon.lifectl.app("app")["connected"] is False


@pytest.fixture(params=["swift", "c"])
def sample(request, mortal, tmp_path):
    return Sample(mortal, request.param, tmp_path)


def test_a_library_comes_back(sample):
    daemon = sample.direct
    sample.launch()
    for _ in range(3):
        start_again(daemon)
        wait_for(lambda: is_greeted(daemon, "sample"))
        assert daemon.lifectl.app("sample")["connected"] is True
    sample.leave()
    sample.expect(COLD_START, LEAVE)
    start_again(daemon)
    daemon.lifectl.wait_for_state("sample", "suspended")
    daemon.lifectl("focus", "sample")
    sample.expect(COLD_START, LEAVE, COME_BACK)


def test_a_library_is_waited_for_though_the_daemon_was_away_for_long(sample):
    daemon = sample.direct
    sample.launch()
    pid = daemon.lifectl.pid("sample")

    def wait():
        # The library tries again after 0.1, 0.2, 0.4 ... s; let it get to long pauses.
        before = daemon.kernel.wakeups(pid)
        wait_for(lambda: daemon.kernel.wakeups(pid) >= before + 5, timeout=120)

    start_again(daemon, wait)
    wait_for(lambda: is_greeted(daemon, "sample"), timeout=120)
    sample.leave()
    sample.expect(COLD_START, LEAVE)
