"""The daemon executes its program again in the same process, as after an upgrade: its apps notice nothing."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import programs
from container import wait_for
from driver import connect
from listeners import Listeners
from restoration import configure, manifest, state_file

REEXECUTE = signal.SIGRTMIN + 25
TIMES = 20

# Ends with its parent, as a helper of a browser does.
ENDS_WITH_PARENT = [
    sys.executable,
    "-c",
    "import ctypes, os, signal; ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0);"
    "os.execvp('sleep', ['sleep', 'infinity'])",
]


def started(daemon):
    return daemon.lifectl.json("status")["status"]["startedUSec"]


def reexecute(daemon):
    before = started(daemon)
    daemon.lifectl("reexec")
    assert started(daemon) > before
    assert daemon.process.poll() is None


def is_child(daemon, pid):
    """Whether the daemon, or else the app's keeper, is the parent."""
    parent = daemon.kernel.stat(pid).parent
    return parent == daemon.process.pid if daemon.containment != "keeper" else daemon.kernel.stat(parent).name == "lifed-keeper"


def test_programs_that_end_with_their_parent_stay(mortal):
    pid = mortal.lifectl.start("app", *ENDS_WITH_PARENT)
    wait_for(lambda: mortal.kernel.stat(pid).name == "sleep")
    pids = {"app": pid}
    if shutil.which("bwrap"):
        command = ["bwrap", "--die-with-parent", "--dev-bind", "/", "/", "sleep", "infinity"]
        if subprocess.run(command[:-2] + ["true"]).returncode == 0:
            pids["jailed"] = mortal.lifectl.start("jailed", *command)
            wait_for(lambda: len(mortal.kernel.tree(pids["jailed"])) > 1)
    for _ in range(3):
        reexecute(mortal)
    assert {name: mortal.lifectl.pid(name) for name in pids} == pids
    assert all(is_child(mortal, each) for each in pids.values())
    # The children still hear of its end, unless they have a keeper.
    mortal.process.kill()
    mortal.process.wait()
    if mortal.containment != "keeper":
        wait_for(lambda: not mortal.kernel.exists(pid))
    mortal.start()
    assert mortal.containment != "keeper" or mortal.lifectl.pid("app") == pid


def test_twenty_times_in_a_row(mortal, tmp_path):
    configure(mortal, timeouts="background = '0s'\ndidEnterBackground = '10min'\ncallback = '10min'")
    listeners = Listeners(mortal, tmp_path / "notes")
    # Asleep, and told so; then one that owes an answer, and one that is in the foreground.
    listeners.manifest("asleep")
    mortal.lifectl("launch", "asleep")
    listeners.wait_until_told("asleep", "did-become-active")
    # The mark of a callback that the app never answers.
    listeners.manifest("owing", "silent=did-enter-background")
    mortal.lifectl("launch", "owing")
    listeners.wait_until_told("owing", "did-become-active")
    mortal.lifectl.wait_for_state("asleep", "suspended")
    mortal.lifectl.start("front", *programs.FAMILY)
    listeners.wait_until_told("owing", "did-enter-background")
    details = mortal.lifectl.json("status", "owing")["details"]
    assert details["pendingCallback"] == "did-enter-background"
    before = {name: (app["pid"], app["state"]) for name, app in mortal.lifectl.apps().items()}
    told = {name: listeners.told(name) for name in ("asleep", "owing")}
    for _ in range(TIMES):
        reexecute(mortal)
    assert {name: (app["pid"], app["state"]) for name, app in mortal.lifectl.apps().items()} == before
    assert mortal.lifectl.json("status", "owing")["details"]["pendingCallback"] == "did-enter-background"
    # A welcome and an unanswered callback may be repeated, which is no news.
    assert {name: set(listeners.told(name)) for name in told} == {name: set(lines) for name, lines in told.items()}
    assert mortal.kernel.is_stopped(before["asleep"][0])
    # It hears of its children as before.
    assert all(is_child(mortal, pid) for pid, _ in before.values())
    os.kill(before["asleep"][0], signal.SIGCONT)
    wait_for(lambda: "another program has continued" in mortal.logged)
    wait_for(lambda: mortal.kernel.is_stopped(before["asleep"][0]))
    mortal.lifectl("focus", "asleep")
    wait_for(lambda: listeners.told("asleep")[-1].startswith("did-become-active"))
    os.kill(before["front"][0], signal.SIGKILL)
    mortal.lifectl.wait_for_state("front", "notRunning")
    assert mortal.lifectl.json("status", "front")["details"]["app"]["lastExit"]["signal"] == signal.SIGKILL


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def test_no_descriptor_is_lost_or_added(mortal):
    for number in range(5):
        mortal.lifectl.start(f"app{number}", *programs.IDLE)
    reexecute(mortal)
    before = descriptors(mortal.process.pid)
    for _ in range(5):
        reexecute(mortal)
    wait_for(lambda: descriptors(mortal.process.pid) <= before)


@pytest.fixture
def replaceable(mortal, tmp_path):
    """A daemon whose program may be replaced, as by a package."""
    products = tmp_path / "products"
    products.mkdir()
    for name in ("lifed", "lifectl", "lifed-keeper"):
        shutil.copy2(mortal.products / name, products / name)
    mortal.stop()
    mortal.products, real = products, mortal.products
    mortal.start()
    yield mortal
    mortal.stop()
    mortal.products = real
    mortal.start()


def test_new_version_takes_the_place_of_the_old_one(replaceable):
    pid = replaceable.lifectl.start("app", *programs.IDLE)
    program = replaceable.products / "lifed"
    new = program.with_suffix(".new")
    shutil.copy2(program, new)
    new.rename(program)
    running = Path(f"/proc/{replaceable.process.pid}/exe")
    assert os.readlink(running).endswith("(deleted)")
    replaceable.process.send_signal(REEXECUTE)
    wait_for(lambda: os.readlink(running) == str(program))
    wait_for(lambda: replaceable.lifectl("status", check=False).returncode == 0)
    assert replaceable.lifectl.pid("app") == pid


@pytest.mark.parametrize("program", [None, b"no program"])
def test_daemon_goes_on_when_its_program_cannot_be_executed(replaceable, program):
    pid = replaceable.lifectl.start("app", *programs.IDLE)
    path = replaceable.products / "lifed"
    kept = path.with_suffix(".kept")
    path.rename(kept)
    if program is not None:
        path.write_bytes(program)
        path.chmod(0o755)
    before = started(replaceable)
    result = replaceable.lifectl("reexec", check=False)
    assert result.returncode != 0
    assert "cannot execute" in result.stderr
    assert started(replaceable) == before
    assert replaceable.lifectl.pid("app") == pid
    replaceable.lifectl("suspend", "app")
    assert replaceable.kernel.is_stopped(pid)
    kept.rename(path)
    reexecute(replaceable)
    assert replaceable.lifectl.state("app") == "suspended"


def test_replies_that_are_due_come_first(mortal):
    configure(mortal, timeouts="termination = '1s'")
    mortal.lifectl.start("stubborn", *programs.STUBBORN)
    environment = {**os.environ, "LIFED_SOCKET": str(mortal.socket)}
    ending = subprocess.Popen(
        [str(mortal.products / "lifectl"), "terminate", "stubborn"], env=environment, stderr=subprocess.PIPE, text=True
    )
    mortal.lifectl.wait_for_state("stubborn", "terminating")
    reexecute(mortal)
    assert ending.wait(timeout=60) == 0, ending.stderr.read()


def test_lock_and_socket_stay(mortal):
    with connect(str(mortal.socket)):
        reexecute(mortal)
    second = subprocess.run(mortal.arguments(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert second.returncode != 0 and " uses it; " in second.stderr
    assert mortal.stop() == 0
    assert not mortal.socket.exists() and not state_file(mortal).exists()
    mortal.start()


def test_service_manager_sees_no_restart(service):
    service.start()
    directory = "/run/lifed-test"
    service.container.run(["mkdir", "-p", directory])
    service.configure("[timeouts]\nbackground = '0s'\n")
    service.lifectl("reload")
    ends = service.lifectl.start("ends", "python3", *ENDS_WITH_PARENT[1:])
    asleep = service.lifectl.start("asleep", *programs.IDLE)
    service.lifectl("suspend", "asleep")
    daemon = service.pid
    for _ in range(TIMES):
        before = started(service)
        service.lifectl("--system", "reexec")
        assert started(service) > before
    service.systemctl("kill", "--kill-who=main", "--signal=SIGRTMIN+25", "lifed.service")
    wait_for(lambda: service.lifectl("status", check=False).returncode == 0 and started(service) > before)
    wait_for(lambda: service.show("ActiveState") == "active")
    assert (service.pid, service.show("NRestarts"), service.show("SubState")) == (daemon, "0", "running")
    assert (service.lifectl.pid("ends"), service.lifectl.pid("asleep")) == (ends, asleep)
    assert service.kernel.is_stopped(asleep)
    # A reload reads the configuration and nothing else.
    before = started(service)
    service.systemctl("reload", "lifed.service")
    assert started(service) == before
    # The watchdog is fed by the program that is there now.
    service.lifectl("focus", "asleep")
    assert not service.kernel.is_stopped(asleep)
