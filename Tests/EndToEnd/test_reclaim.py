"""Memory runs short: who is told, who has to go, and what is said of it afterwards."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from container import wait_for
from listeners import Listeners

# Keeps some memory of its own, which is not all zeros.
HOLDER = [sys.executable, "-c", "import signal; kept = b'x' * (32 << 20); print('ready', flush=True); signal.pause()"]


@pytest.fixture
def listeners(direct, tmp_path):
    configure(direct, '[timeouts]\nbackground = "0s"\n')
    return Listeners(direct, tmp_path / "notes")


def configure(direct, text):
    (direct.configuration / "lifed.toml").write_text(text)
    direct.lifectl("reload")


def in_a_row(direct, listeners, *names):
    """Apps that were in the foreground one after the other; the last still is, the others were suspended in that order."""
    for before, name in zip((None, *names), names):
        listeners.manifest(name)
        direct.lifectl("launch", name)
        listeners.wait_until_told(name, "did-become-active")
        if before:
            direct.lifectl.wait_for_state(before, "suspended")


def reclaimed(direct, *arguments):
    return direct.lifectl.json("simulate", "memory", "critical", *arguments)["reclaimed"]


def test_critical_ends_suspended_apps_without_notice_and_in_order(direct, listeners):
    in_a_row(direct, listeners, "one", "two", "three", "front")
    told = {name: listeners.told(name) for name in ("one", "two", "three")}
    assert reclaimed(direct) == ["one"]
    assert reclaimed(direct) == ["two"]
    assert reclaimed(direct) == ["three"]
    result = direct.lifectl("simulate", "memory", "critical", check=False)
    assert result.returncode == 2
    assert "no app may be ended" in result.stderr
    assert {name: listeners.told(name) for name in told} == told
    assert direct.lifectl.state("front") == "active"
    for name in told:
        exit = direct.lifectl.app(name)["lastExit"]
        assert (exit["state"], exit["reason"], exit["signal"]) == ("suspended", "reclaimed", signal.SIGKILL)


def test_all_at_one_call_and_who_is_never_ended(direct, listeners):
    listeners.manifest("never", extra='suspend = "never"')
    direct.lifectl("launch", "never")
    in_a_row(direct, listeners, "one", "two", "front")
    direct.lifectl("focus", "one")
    direct.lifectl.wait_for_state("front", "suspended")
    assert reclaimed(direct, "--all") == ["two", "front"]
    assert {name: app["state"] for name, app in direct.lifectl.apps().items()} == {
        "never": "background",
        "one": "active",
        "two": "notRunning",
        "front": "notRunning",
    }


def test_one_that_runs_out_of_sight_is_asked(direct, listeners):
    listeners.manifest("player", "activity=audio", extra='backgroundModes = ["audio"]')
    direct.lifectl("launch", "player")
    listeners.wait_until_told("player", "granted")
    in_a_row(direct, listeners, "front")
    listeners.wait_until_told("player", "did-enter-background")
    assert reclaimed(direct) == ["player"]
    assert listeners.told("player")[-1] == "will-terminate"
    assert direct.lifectl.app("player")["lastExit"]["reason"] == "reclaimed"


def test_the_journal_and_lifectl_explain_it(direct, listeners):
    configure(direct, '[timeouts]\nbackground = "0s"\n')
    direct.lifectl.start("holder", *HOLDER)
    output = direct.state / "output/holder"
    wait_for(lambda: output.exists() and "ready" in output.read_text().splitlines(), what="the holder has its memory")
    (direct.configuration / "apps.d/holder.toml").write_text(f"command = {HOLDER!r}\n".replace('"', "'''"))
    in_a_row(direct, listeners, "second", "front")
    direct.lifectl.wait_for_state("holder", "suspended")
    assert reclaimed(direct) == ["holder"]
    entry = wait_for(lambda: re.search("lifed has ended holder for its memory.*", direct.log.read_text())).group()
    assert "first of 2 that could be ended: holder second" in entry
    assert "LIFED_ORDER=" in entry and "LIFED_PRESSURE=" in entry
    freed = int(re.search(r"LIFED_FREED_BYTES=(\d+)", entry).group(1))
    assert 32 << 20 <= freed < 64 << 20
    assert reclaimed(direct) == ["second"]
    account = direct.lifectl.app("second")["lastExit"]["reclaim"]
    assert account["order"] == ["second"]
    assert account["freedBytes"] > 0
    assert "a client simulated" in direct.lifectl("status", "second").stdout


def test_who_was_ended_for_its_memory_is_restored(direct, listeners):
    in_a_row(direct, listeners, "one", "front")
    assert reclaimed(direct) == ["one"]
    direct.lifectl("launch", "one")
    listeners.wait_until_told("one", "will-finish-launching", 2)
    assert "will-finish-launching state=inactive reason=launch restore=1" in listeners.told("one")


def test_a_warning_goes_to_those_that_run(direct, listeners):
    in_a_row(direct, listeners, "one", "front")
    direct.lifectl("simulate", "memory", "warning")
    listeners.wait_until_told("front", "memory-warning")
    assert not any("memory-warning" in text for text in listeners.told("one"))
    # It has answered, and goes on as before.
    direct.lifectl("home")
    direct.lifectl.wait_for_state("front", "suspended")


def test_a_limit_of_suspended_apps(direct, listeners):
    configure(direct, '[timeouts]\nbackground = "0s"\n[memory]\nsuspendedLimit = 1\n')
    for name in ("one", "two", "front"):
        listeners.manifest(name)
        direct.lifectl("launch", name)
        listeners.wait_until_told(name, "did-become-active")
    direct.lifectl.wait_for_state("one", "notRunning")
    direct.lifectl.wait_for_state("two", "suspended")
    assert "suspendedLimit" in direct.lifectl.app("one")["lastExit"]["reclaim"]["cause"]


def restart_after_a_crash(direct):
    direct.process.kill()
    direct.process.wait()
    direct.start()


def test_the_next_daemon_knows_why_an_app_was_ended(direct, listeners):
    in_a_row(direct, listeners, "one", "front")
    assert reclaimed(direct) == ["one"]
    restart_after_a_crash(direct)
    assert direct.lifectl.app("one")["lastExit"]["reclaim"]["order"] == ["one"]


def test_a_round_goes_on_when_the_daemon_was_killed(direct, listeners):
    configure(direct, '[timeouts]\nbackground = "0s"\ntermination = "3s"\n')
    direct.lifectl.start("stubborn", "sh", "-c", "trap '' TERM; while :; do sleep 1; done")
    in_a_row(direct, listeners, "front")
    direct.lifectl("resume", "stubborn")
    call = subprocess.Popen(
        [direct.products / "lifectl", "simulate", "memory", "critical"],
        env={**os.environ, "LIFED_SOCKET": str(direct.socket)}, stderr=subprocess.PIPE)
    direct.lifectl.wait_for_state("stubborn", "terminating")
    restart_after_a_crash(direct)
    assert call.wait(timeout=60) == 69
    wait_for(lambda: "ended stubborn for its memory" in direct.log.read_text())
    assert direct.lifectl.state("front") == "active"


# What an app gets by its state.


def own_values(pid):
    proc = Path("/proc") / str(pid)
    nice = os.getpriority(os.PRIO_PROCESS, pid)
    return nice, int((proc / "oom_score_adj").read_text()), timer_slack(proc)


def timer_slack(proc):
    """In nanoseconds; unknown to whom the kernel does not let see it (without CAP_SYS_NICE), which lifed then is, too."""
    try:
        return int((proc / "timerslack_ns").read_text())
    except PermissionError:
        return None


def test_resources_follow_the_state_and_come_back(direct, listeners):
    in_a_row(direct, listeners, "one", "two", "front")
    pids = {name: direct.lifectl.pid(name) for name in ("one", "two", "front")}
    own = own_values(pids["front"])
    # What the daemon says that it cannot do is not to happen.
    given = re.search("resources controlled by state: ([^;]*)", direct.log.read_text()).group(1)
    behind = own[0] + (10 if "processor time by nice value" in given else 0)
    slack = 50_000_000 if "timer slack" in given else own[2]
    # The kernel is to end them in the order in which lifed would.
    wait_for(lambda: own_values(pids["two"]) == (behind, 999, slack), what=f"{own_values(pids['two'])}")
    assert own_values(pids["one"]) == (behind, 1000, slack)
    direct.lifectl("focus", "one")
    wait_for(lambda: own_values(pids["one"]) == own, what=f"{own}, not {own_values(pids['one'])}")
    wait_for(lambda: own_values(pids["front"])[1] == 998)


def test_resources_come_back_after_the_daemon_was_killed(direct, listeners):
    in_a_row(direct, listeners, "two", "one", "front")
    pids = {name: direct.lifectl.pid(name) for name in ("two", "one")}
    own = own_values(direct.lifectl.pid("front"))
    wait_for(lambda: [own_values(pid)[1] for pid in pids.values()] == [1000, 999])
    restart_after_a_crash(direct)
    assert [own_values(pid)[1] for pid in pids.values()] == [1000, 999]
    direct.lifectl("focus", "two")
    wait_for(lambda: own_values(pids["two"]) == own, what=f"{own}, not {own_values(pids['two'])}")


def test_order_of_kills_survives_a_reload_without_it(direct, listeners):
    in_a_row(direct, listeners, "two", "one", "front")
    pids = {name: direct.lifectl.pid(name) for name in ("two", "one")}
    configured = (direct.configuration / "lifed.toml").read_text()

    def scores():
        return [own_values(pid)[1] for pid in pids.values()]

    wait_for(lambda: scores() == [1000, 999])
    configure(direct, f'{configured}[resources.suspended]\noomScoreAdjustment = "own"\n')
    direct.lifectl("reload")
    wait_for(lambda: max(scores()) < 999)
    configure(direct, configured)
    direct.lifectl("reload")
    wait_for(lambda: scores() == [1000, 999], what=f"the former order, not {scores()}")


def test_nothing_is_written_where_nothing_is_configured(direct, listeners):
    text = "".join(
        f"[resources.{state}]\n" + "".join(f'{key} = "own"\n' for key in KEYS)
        for state in ("active", "inactive", "background", "suspended")
    )
    configure(direct, f'[timeouts]\nbackground = "0s"\n{text}')
    in_a_row(direct, listeners, "one", "front")
    assert own_values(direct.lifectl.pid("one")) == own_values(direct.lifectl.pid("front"))


KEYS = ("cpuWeight", "ioWeight", "memoryLow", "nice", "ioPriority", "oomScoreAdjustment", "timerSlack")


# Giving memory back while suspended.


# Reads a file of its own, whose pages can be given back without swap.
READER = """
import mmap, os, signal, sys
file = os.open(sys.argv[1], os.O_RDONLY)
pages = mmap.mmap(file, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
print(sum(pages[::4096]), flush=True)
signal.pause()
"""


def test_memory_is_given_back_while_suspended(direct, tmp_path):
    configure(direct, '[timeouts]\nbackground = "0s"\n[memory]\nreclaimWhenSuspended = true\n')
    file = tmp_path / "file"
    file.write_bytes(b"x" * (16 << 20))
    os.sync()
    pid = direct.lifectl.start("reader", sys.executable, "-c", READER, str(file))
    wait_for(lambda: shared_pages(pid) >= 16 << 20)
    direct.lifectl("suspend", "reader")
    told = "has reclaimed .* from reader.*|cannot reclaim the memory of suspended apps.*"
    found = wait_for(lambda: re.search(told, direct.log.read_text()))
    if found.group().startswith("cannot"):
        pytest.skip(found.group())
    assert int(re.search(r"LIFED_FREED_BYTES=(\d+)", found.group()).group(1)) >= 16 << 20
    assert shared_pages(pid) < 16 << 20
    direct.lifectl("focus", "reader")
    assert direct.lifectl.state("reader") == "active"


def shared_pages(pid):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[2]) * os.sysconf("SC_PAGE_SIZE")


# Real pressure, in a cgroup of its own.


def test_real_pressure_ends_suspended_apps_in_order(direct, listeners, hog):
    configure(direct, '[timeouts]\nbackground = "0s"\n')
    in_a_row(direct, listeners, "one", "two", "front")
    told = {name: listeners.told(name) for name in ("one", "two")}
    # The minimum is above the memory of any machine, so that the least pressure is critical, whichever process waits.
    configure(direct, '[timeouts]\nbackground = "0s"\n[memory]\nwarning = 1\nwindow = "500ms"\nminimumAvailable = "1048576G"\n')
    hog()
    direct.lifectl.wait_for_state("one", "notRunning")
    direct.lifectl.wait_for_state("two", "notRunning")
    assert {name: listeners.told(name) for name in told} == told
    assert direct.lifectl.state("front") == "active"
    listeners.wait_until_told("front", "memory-warning")
    # The memory that came back is told when the machine has had a moment.
    wait_for(lambda: "ended two for its memory" in direct.log.read_text())
    log = direct.log.read_text()
    assert log.index("ended one for its memory") < log.index("ended two for its memory")
    assert "tasks waited for memory" in direct.lifectl.app("one")["lastExit"]["reclaim"]["cause"]
