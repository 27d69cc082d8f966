"""Changes between a daemon that was killed and the next daemon: configuration, and what the rescue has done."""

import os
import signal

import pytest

import programs
from container import wait_for
from restoration import configure, is_greeted, kill, manifest, rescue, start_again
from test_samples import Sample


def test_a_manifest_that_was_removed_meanwhile(mortal):
    manifest(mortal, "app", programs.IDLE)
    mortal.lifectl("launch", "app")
    pid = mortal.lifectl.pid("app")
    start_again(mortal, lambda: (mortal.configuration / "apps.d/app.toml").unlink())
    assert mortal.lifectl.pid("app") == pid
    assert mortal.lifectl.state("app") == "active"
    mortal.lifectl("terminate", "app")
    assert not mortal.kernel.exists(pid)
    assert "app" not in mortal.lifectl.apps()


def test_a_configuration_that_was_broken_meanwhile(mortal):
    manifest(mortal, "app", programs.IDLE)
    mortal.lifectl("launch", "app")
    pid = mortal.lifectl.pid("app")

    def spoil():
        (mortal.configuration / "lifed.toml").write_text("this = = is no TOML")
        (mortal.configuration / "apps.d/app.toml").write_text("neither is this")

    start_again(mortal, spoil)
    assert mortal.lifectl.pid("app") == pid
    mortal.lifectl("suspend", "app")
    assert mortal.kernel.stat(pid).state == "T"


POLICY = """
name = 'My app'
suspend = 'never'
stopSignal = 'SIGINT'
"""


@pytest.mark.parametrize("is_reloaded", [True, False], ids=["reload", "no-reload"])
@pytest.mark.parametrize("change", ["removed", "typo"])
def test_an_app_keeps_the_policy_of_a_manifest_that_has_gone(mortal, tmp_path, change, is_reloaded):
    signals = mortal.runtime / "signals"
    script = 'trap "echo INT >>$0; exit" INT; trap "echo TERM >>$0; exit" TERM; while :; do sleep 0.05; done'
    manifest(mortal, "app", ["sh", "-c", script, str(signals)])
    mortal.lifectl("launch", "app")
    # The latest manifest counts.
    manifest(mortal, "app", ["sh", "-c", script, str(signals)], POLICY)
    Sample(mortal, "swift", tmp_path).launch()
    for name in ("app", "sample"):
        path = mortal.configuration / f"apps.d/{name}.toml"
        if change == "removed":
            path.unlink()
        else:
            path.write_text(path.read_text() + "suspend = 'nevr'\n")
    if is_reloaded:
        mortal.lifectl("reload", check=False)
    start_again(mortal)
    wait_for(lambda: is_greeted(mortal, "sample"), what="the app is connected again")
    status = mortal.lifectl("status", "app").stdout
    assert "My app" in status and str(mortal.configuration / "apps.d/app.toml") in status
    assert mortal.lifectl.state("app") == "background"
    mortal.lifectl("terminate", "app")
    assert signals.read_text() == "INT\n"
    assert "app" not in mortal.lifectl.apps()


def test_fewer_places_than_before(mortal):
    configure(mortal, "foregroundLimit = 2")
    for name in ("one", "two"):
        mortal.lifectl.start(name, *programs.IDLE)
    assert all(app["state"] == "active" for app in mortal.lifectl.apps().values())
    text = (mortal.configuration / "lifed.toml").read_text()
    start_again(mortal, lambda: (mortal.configuration / "lifed.toml").write_text(text.replace("foregroundLimit = 2", "")))
    mortal.lifectl.wait_for_state("one", "suspended")
    assert mortal.lifectl.state("two") == "active"


def test_what_the_rescue_has_continued_is_stopped_again(mortal):
    pid = mortal.lifectl.start("app", *programs.FAMILY)
    mortal.lifectl("suspend", "app")

    def run_it():
        rescue(mortal)
        wait_for(lambda: not any(each.state == "T" for each in mortal.kernel.tree(pid)))

    start_again(mortal, run_it)
    wait_for(lambda: mortal.kernel.is_stopped(pid))
    assert mortal.lifectl.state("app") == "suspended"
    mortal.lifectl("focus", "app")
    assert not any(each.state == "T" for each in mortal.kernel.tree(pid))


@pytest.mark.parametrize("how", ["restart", "rescue"])
def test_a_process_that_another_program_has_continued_again_is_continued(mortal, how):
    pid = mortal.lifectl.start("app", *programs.FAMILY)
    wait_for(lambda: len(mortal.kernel.tree(pid)) == 5)
    child = next(each.pid for each in mortal.kernel.tree(pid) if each.name == "sleep")
    os.kill(child, signal.SIGSTOP)
    wait_for(lambda: mortal.kernel.stat(child).state == "T")
    mortal.lifectl("suspend", "app")
    mortal.lifectl("focus", "app")
    assert mortal.kernel.stat(child).state == "T"
    os.kill(child, signal.SIGCONT)
    wait_for(lambda: mortal.kernel.stat(child).state == "S")
    mortal.lifectl("suspend", "app")
    assert mortal.kernel.is_stopped(pid)
    if how == "restart":
        start_again(mortal)
        mortal.lifectl("focus", "app")
    else:
        kill(mortal)
        rescue(mortal)
    wait_for(lambda: not any(each.state == "T" for each in mortal.kernel.tree(pid)), what="all processes run")
