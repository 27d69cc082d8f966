#!/usr/bin/python3
"""Runs on a whole machine, as root, and tells the results on the second serial port: what containers cannot show.

Each check is a function whose name begins with "check_". A line a check: its result, its name, and what was seen.
"""

import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup/system.slice/lifed.service/apps")
CONFIGURATION = Path("/etc/lifed/lifed.toml")
# An emulated machine is twenty times slower than a real one.
PATIENCE = 300
HOLDER = "import signal, sys; kept = bytearray(int(sys.argv[1]) << 20); kept[::4096] = b'x' * len(kept[::4096]); signal.pause()"


class Skip(Exception):
    pass


def run(*command, check=True):
    result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    if check and result.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: status {result.returncode}: {result.stdout}{result.stderr}")
    return result


def lifectl(*arguments, check=True):
    return run("lifectl", *arguments, check=check)


def status(name):
    return json.loads(lifectl("status", "--json", name).stdout)["details"]


def state(name):
    return status(name)["app"]["state"]


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"not within {PATIENCE} s: {what}"
        time.sleep(0.2)


def start(name, *command):
    lifectl("run", "--id", name, "--", *command)
    wait_for(lambda: state(name) == "active", f"{name} is active")


def suspend(name):
    lifectl("suspend", name)
    wait_for(lambda: state(name) == "suspended", f"{name} is suspended")


def configure(text):
    CONFIGURATION.write_text(text)
    lifectl("reload")


def attribute(name, file):
    return (GROUPS / f"app-{name}" / file).read_text().strip()


def memory(name):
    return int(attribute(name, "memory.current")) >> 20


def process_state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]


def journal(*arguments):
    # It fails where no entry matches.
    return run("journalctl", "--no-pager", "-o", "cat", *arguments, check=False).stdout


def check_service_and_kernel():
    assert run("systemctl", "is-active", "lifed").stdout.strip() == "active"
    return f"kernel {os.uname().release}, {run('systemctl', '--version').stdout.splitlines()[0]}"


def check_controllers():
    enabled = (GROUPS / "cgroup.subtree_control").read_text().split()
    assert {"cpu", "io", "memory", "pids"} <= set(enabled), enabled
    return " ".join(enabled)


def check_weights_follow_the_state():
    start("weighted", "sleep", "infinity")
    before = attribute("weighted", "cpu.weight"), attribute("weighted", "io.weight")
    suspend("weighted")
    after = attribute("weighted", "cpu.weight"), attribute("weighted", "io.weight")
    lifectl("kill", "weighted")
    assert before[0] == "100" and after == ("20", "default 20"), (before, after)
    return f"cpu.weight {before[0]} active, {after[0]} suspended"


def check_an_app_that_forks_without_end_is_limited():
    configure("[limits]\nprocesses = 200\n")
    start("bystander", "sleep", "infinity")
    lifectl("run", "--id", "bomb", "--", "sh", "-c", "bomb() { bomb | bomb & }; bomb; sleep infinity")
    try:
        wait_for(lambda: int(attribute("bomb", "pids.current")) >= 199, "the limit is reached")
        most = max(int(attribute("bomb", "pids.peak" if (GROUPS / "app-bomb/pids.peak").exists() else "pids.current")) for _ in range(20))
        assert attribute("bystander", "pids.max") == "200"
        assert state("bystander") in ("background", "suspended", "active")
    finally:
        lifectl("kill", "bomb")
        lifectl("kill", "bystander")
        configure("")
    start("other", "sleep", "infinity")
    share = attribute("other", "pids.max")
    lifectl("kill", "other")
    assert 200 <= most <= 400 and share.isdigit(), (most, share)
    return f"a fork bomb had {most} processes with a limit of 200; by default the limit is {share} here"


def check_memory_is_given_back_to_compressed_swap():
    if run("modprobe", "zram", check=False).returncode != 0:
        raise Skip("this kernel has no zram")
    Path("/sys/block/zram0/disksize").write_text("512M")
    run("mkswap", "/dev/zram0")
    run("swapon", "/dev/zram0")
    try:
        configure("[memory]\nreclaimWhenSuspended = true\n")
        start("large", sys.executable, "-c", HOLDER, "200")
        wait_for(lambda: memory("large") > 200, "the app has its memory")
        before = memory("large")
        lifectl("suspend", "large")
        wait_for(lambda: memory("large") < before // 4, "the suspended app's memory is given back")
        after = memory("large")
        began = time.monotonic()
        lifectl("focus", "large")
        took = time.monotonic() - began
        assert state("large") == "active"
        lifectl("kill", "large")
        return f"{before} MiB active, {after} MiB suspended; back in the foreground after {took * 1000:.0f} ms"
    finally:
        run("swapoff", "/dev/zram0")
        configure("")


def killed_by_the_kernel():
    return int(next(line.split()[1] for line in Path("/proc/vmstat").read_text().splitlines() if line.startswith("oom_kill ")))


def check_suspended_apps_are_ended_before_the_kernel_kills():
    """Without swap: apps come to the foreground one after the other, until one that is suspended has to go."""
    rounds, ended, worst = 8, 0, None
    configure("[timeouts]\nbackground = '0s'\n")
    for number in range(rounds):
        before = killed_by_the_kernel()
        names = [f"holder{number}-{index}" for index in range(10)]
        for index, name in enumerate(names):
            lifectl("run", "--id", name, "--", sys.executable, "-c", HOLDER, "160")
            group = GROUPS / f"app-{name}"
            wait_for(lambda: not group.exists() or memory(name) > 158, f"{name} has its memory")
            if not group.exists():
                raise AssertionError(f"round {number}: the app in the foreground was killed: {status(name)['app'].get('lastExit')}")
            gone = [each for each in names[:index] if state(each) == "notRunning"]
            if gone:
                break
        assert gone, "no app was ended, though there is not the memory for all"
        reasons = {status(each)["app"]["lastExit"]["reason"] for each in gone}
        killed = killed_by_the_kernel() - before
        assert killed == 0, f"round {number}: the kernel killed {killed} first; {journal('-k', '-g', 'Out of memory|oom-kill')[-400:]}"
        assert reasons == {"reclaimed"}, reasons
        ended += len(gone)
        for name in names[: index + 1]:
            lifectl("kill", name, check=False)
    return f"{rounds} rounds, {ended} apps ended for their memory, none by the kernel"


def check_sleep_of_the_machine():
    if run("sh", "-c", "command -v rtcwake", check=False).returncode != 0:
        raise Skip("there is no rtcwake")
    states = Path("/sys/power/state").read_text().split()
    if "freeze" not in states and "mem" not in states:
        raise Skip(f"this machine cannot sleep: {states}")
    if not Path("/sys/class/rtc/rtc0/wakealarm").exists():
        raise Skip("there is no clock that wakes it")
    start("sleeper", "sleep", "infinity")
    # The clock of the machine wakes it again, long after it has fallen asleep.
    run("rtcwake", "--mode", "no", "--seconds", "90")
    began = time.time()
    run("systemctl", "suspend")
    wait_for(lambda: "suspend exit" in journal("-k", "--since", f"@{began:.0f}"), "the machine has slept")
    wait_for(lambda: state("sleeper") == "active", "the app is active again")
    told = journal("-u", "lifed", "LIFED_APP=sleeper", "--since", f"@{began:.0f}")
    assert told.count("sleep") >= 1, told
    lifectl("kill", "sleeper")
    return "slept and woken by its clock, and the app is active again"


def check_crashes():
    names = [f"kept{index}" for index in range(20)]
    for name in names:
        start(name, "sleep", "infinity")
    for name in names[:-1]:
        suspend(name)
    pids = {name: status(name)["app"]["pid"] for name in names}
    for _ in range(50):
        pid = run("systemctl", "show", "-P", "MainPID", "lifed").stdout.strip()
        run("systemctl", "reset-failed", "lifed")
        run("kill", "-9", pid)
        wait_for(lambda: run("systemctl", "show", "-P", "MainPID", "lifed").stdout.strip() not in ("0", pid), "a new daemon")
        wait_for(lambda: lifectl("list", check=False).returncode == 0, "the daemon answers")
    assert {name: status(name)["app"]["pid"] for name in names} == pids
    states = {name: state(name) for name in names}
    running = [name for name in names[:-1] if process_state(pids[name]) != "T"]
    for name in names:
        lifectl("kill", name)
    assert not running and set(states.values()) == {"suspended", "active"}, (running, states)
    return "50 kills with 20 apps: the same processes, and what was suspended is stopped"


def main():
    wanted = sys.argv[2:] or [""]
    with open(sys.argv[1], "w") as output:
        wait_for(lambda: lifectl("list", check=False).returncode == 0, "the daemon answers")
        for name, check in list(globals().items()):
            if not name.startswith("check_") or not any(word in name for word in wanted):
                continue
            words = name.removeprefix("check_").replace("_", " ")
            try:
                print("ok", words, "-", check(), file=output, flush=True)
            except Skip as reason:
                print("skipped", words, "-", reason, file=output, flush=True)
            except Exception as error:
                traceback.print_exc()
                print("FAILED", words, "-", " ".join(str(error).split()), file=output, flush=True)
        print("end", file=output, flush=True)


main()
