"""Programs of the user that attack the daemon, or each other by it, with app units of the desktop: real units of the user's systemd."""

import pytest

import programs
import test_desktop_units
from container import wait_for

desktop = test_desktop_units.desktop
# Says hello at the socket for apps on as many connections as the argument says, writes how each was answered, and stays.
HELLO = """
import os, socket, sys, time
path = os.environ["XDG_RUNTIME_DIR"] + "/lifed/channel"
kept = []
for _ in range(int(sys.argv[1])):
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    client.sendall(b"hello protocol=1\\n")
    client.settimeout(10)
    kept.append(client)
    try:
        print((client.recv(100).split() or [b"closed"])[0].decode(), flush=True)
    except TimeoutError:
        print("silence", flush=True)
time.sleep(1000000)
"""
# Chains of processes, each of which starts the next one and ends: a signal to a number comes too late. Their number stays the same.
CHAINS = """
import os, time
for _ in range(10):
    if os.fork() == 0:
        os.setsid()
        while os.fork() == 0:
            time.sleep(0.001)
        os._exit(0)
time.sleep(1000000)
"""


def memory(desktop):
    pid = desktop.show("lifed.service", "MainPID")
    status = desktop.container.path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


@pytest.fixture
def hello(desktop):
    """Starts a program in a unit that says hello, and returns the answers."""
    desktop.container.write("/tmp/hello.py", HELLO)

    def start(unit, count=1):
        answers = f"/tmp/{unit.replace('.', '-')}-answers"
        desktop.run("rm", "-f", answers)
        desktop.scope(unit, "sh", "-c", f"exec /usr/bin/python3 /tmp/hello.py {count} >{answers}")

        def read():
            lines = desktop.run("cat", answers, check=False).stdout.split()
            return lines if len(lines) == count else None

        return wait_for(read, what=f"{count} answers in {unit}")

    return start


def test_process_of_another_user_in_a_unit_is_neither_stopped_nor_ended(desktop):
    desktop.configure("all")
    desktop.follow()
    unit = "app-org.example.App-1.scope"
    desktop.scope(unit, *programs.FAMILY)
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    group = desktop.show(unit, "ControlGroup")
    # A desktop moves no processes; sudo(8) and pkexec(1) leave them in the unit.
    move = f"sleep infinity >/dev/null 2>&1 & echo $! >/sys/fs/cgroup{group}/cgroup.procs; echo $! >/tmp/root-pid"
    desktop.container.run(["sh", "-c", move])
    root = int(desktop.container.run(["cat", "/tmp/root-pid"]).stdout)
    try:
        desktop.lifectl("focus", "org.example.App")
        desktop.lifectl("suspend", "org.example.App")
        assert not desktop.kernel.is_stopped(root)
        desktop.lifectl("kill", "org.example.App", check=False)
        wait_for(lambda: desktop.members(unit) == [root], what="the app's own processes have ended")
        assert not desktop.kernel.is_stopped(root)
    finally:
        desktop.container.run(["kill", "-KILL", str(root)])
    desktop.lifectl.wait_for_state("org.example.App", "notRunning")


def test_program_in_a_unit_of_another_apps_name_does_not_speak_for_it(desktop, hello):
    desktop.configure("all")
    desktop.follow()
    desktop.scope("app-org.example.App-1.scope", *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.App", "suspended")
    assert hello("app-org.example.App-2.scope") == ["unmanaged"]
    assert not desktop.lifectl.app("org.example.App")["connected"]


def test_names_of_units_are_read_or_refused(desktop):
    desktop.configure("all")
    desktop.follow()
    units = {
        r"app-org.example.A\x2dB-1.scope": "org.example.A-B",
        r"app-x-org.example.C\x2eD-1.scope": "org.example.C.D",
        r"app-\x2e\x2e\x2fetc-1.scope": None,
        r"app-org.example\x0aX-1.scope": None,
        r"app-org.example\x00X-1.scope": None,
        r"app-\xff\xfe-1.scope": None,
        r"app-org.example\xZZ-1.scope": None,
        r"app-\xe2\x80\xaex-1.scope": None,
        "app---1.scope": None,
        "app-1.scope": None,
        f"app-org.{'long' * 55}-1.scope": None,
    }
    for unit in units:
        # systemd refuses some of them itself.
        desktop.units.append(unit)
        desktop.run("sh", "-c", 'systemd-run --user --scope --quiet --unit="$1" -- sleep infinity >/dev/null 2>&1 &', "sh", unit)
    for identifier in filter(None, units.values()):
        desktop.lifectl.wait_for_state(identifier, "suspended")
    desktop.scope("app-org.example.Last-1.scope", *programs.IDLE)
    desktop.lifectl.wait_for_state("org.example.Last", "suspended")
    found = set(desktop.lifectl.apps()) - set(units.values()) - {"org.example.Last"}
    assert all(identifier.startswith("org.long") for identifier in found), found


def test_units_that_start_and_end_leave_nothing(desktop):
    desktop.configure("all")
    desktop.follow()
    # Arguments: the first and the last number.
    script = """
        i=$1
        while [ $i -le $2 ]; do
            systemd-run --user --scope --quiet --unit=app-org.example.N$i-1.scope -- true >/dev/null 2>&1 &
            i=$((i + 1))
            [ $((i % 8)) -eq 0 ] && wait
        done
        wait
    """

    def run(first, last):
        desktop.run("sh", "-c", script, "sh", str(first), str(last), timeout=300)
        wait_for(lambda: not [name for name in desktop.lifectl.apps() if ".N" in name], what="all have ended")

    run(1, 100)
    before = memory(desktop)
    run(101, 400)
    assert memory(desktop) - before < 4096


def test_unit_whose_processes_replace_themselves_is_suspended_and_ended(desktop):
    desktop.configure("all")
    desktop.follow()
    unit = "app-org.example.Chains-1.scope"
    desktop.scope(unit, "/usr/bin/python3", "-c", CHAINS)
    desktop.lifectl.wait_for_state("org.example.Chains", "suspended")
    wait_for(lambda: desktop.states(unit) == {"T"}, what="every process is stopped")
    before = desktop.members(unit)
    desktop.lifectl("status", timeout=10)
    assert desktop.members(unit) == before
    desktop.lifectl("kill", "org.example.Chains")
    desktop.lifectl.wait_for_state("org.example.Chains", "notRunning")
    wait_for(lambda: desktop.members(unit) == [], what="no process is left")


def test_program_that_takes_all_connections_keeps_out_no_other(desktop, hello):
    assert set(hello("app-org.example.Greedy-1.scope", 80)) == {"unmanaged"}
    assert hello("app-org.example.Modest-1.scope") == ["unmanaged"]
