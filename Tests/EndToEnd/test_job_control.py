"""Suspending an app that has a shell in it does not disturb the shell's jobs."""

import os
import shutil
import signal
import sys

import pytest

from container import wait_for
from restoration import configure, manifest, start_again

ROUNDS = 5

SHELLS = {"bash": "bash --norc -i", "dash": "dash -i"}

# Each reads its terminal until that ends.
JOBS = {"cat": "cat", "vim": "vim -u NONE -N"}


def script(command):
    """A command in a terminal of its own, in which nothing is typed."""
    return ["sh", "-c", 'tail -f /dev/null | exec script -qfc "$0" /dev/null', command]


@pytest.fixture
def daemon(daemon):
    configure(daemon)
    return daemon


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")


def named(daemon, root, name):
    return [each for each in daemon.kernel.tree(root) if each.name == name]


class Job:
    """The foreground job of a shell somewhere below an app's main process, or of a daemon that the app has started."""

    def __init__(self, daemon, app, name, root=None):
        self.daemon, self.app = daemon, app
        root = root or daemon.lifectl.pid(app)
        wait_for(lambda: named(daemon, root, name), what=f"{name} runs")
        self.pid = named(daemon, root, name)[0].pid
        wait_for(self.is_in_foreground, what=f"{name} is in the foreground")
        # It waits for what is typed.
        wait_for(lambda: daemon.kernel.stat(self.pid).state == "S", what=f"{name} reads")

    def is_in_foreground(self):
        fields = (self.daemon.kernel.proc / str(self.pid) / "stat").read_text().rpartition(")")[2].split()
        return fields[2] == fields[5]

    def survives(self):
        for _ in range(ROUNDS):
            self.daemon.lifectl("suspend", self.app)
            self.daemon.lifectl("focus", self.app)
            # A shell that takes its job for stopped is in the foreground at once, and a script has ended.
            settle(self.daemon, self.app)
            assert self.daemon.kernel.stat(self.pid).state == "S"
            assert self.is_in_foreground()


def settle(daemon, app):
    """Waits until every process of an app sleeps, so that each has acted upon what it was told."""
    def sleeps():
        processes = daemon.lifectl.json("status", app)["details"]["processes"]
        return processes and all(each["state"] == "S" for each in processes)

    for _ in range(3):
        wait_for(sleeps, what="every process sleeps")


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("shell", SHELLS)
def test_the_foreground_job_of_a_shell_under_script_stays_there(daemon, shell, job):
    need("script", shell, job)
    daemon.lifectl.start("shell", *script(f"{SHELLS[shell]} -c '{JOBS[job]}; true'"))
    Job(daemon, "shell", job).survives()


def test_a_program_that_mirrors_its_childs_stop_goes_on(daemon):
    """Script stops itself when its child has stopped; here it is the main process."""
    need("script", "vim")
    pid = daemon.lifectl.start("mirror", "script", "-qfc", "vim -u NONE -N", "/dev/null")
    Job(daemon, "mirror", "vim").survives()
    assert daemon.lifectl.pid("mirror") == pid


@pytest.mark.parametrize("method", ["signal", "both"])
def test_a_job_stays_in_the_foreground_however_the_manifest_wants_it_stopped(daemon, method):
    need("script", "bash")
    manifest(daemon, "org.example.shell", script("bash --norc -ic 'cat; true'"), f"suspendMethod = '{method}'")
    daemon.lifectl("launch", "org.example.shell")
    Job(daemon, "org.example.shell", "cat").survives()


def test_the_foreground_job_in_a_terminal_multiplexer_stays_there(daemon, tmp_path):
    need("script", "tmux", "bash")
    socket = tmp_path / "tmux"
    # With the default, the server leaves the app.
    configure(daemon, "helpers = []")
    daemon.lifectl.start(
        "tmux", *script(f"env TERM=vt100 tmux -f /dev/null -S {socket} new-session \"bash --norc -ic 'cat; true'\"")
    )
    wait_for(socket.exists, what="the server of tmux listens")
    server = wait_for(lambda: [each for each in daemon.kernel.all() if each.name == "tmux: server"], what="the server")
    Job(daemon, "tmux", "cat", root=server[0].pid).survives()


def test_the_foreground_job_in_a_terminal_emulator_stays_there(daemon, x_server):
    need("xterm", "bash")
    daemon.lifectl.start("xterm", "xterm", "-display", x_server, "-e", "bash", "--norc", "-ic", "cat; true")
    Job(daemon, "xterm", "cat").survives()


@pytest.fixture
def x_server(start):
    need("Xvfb")
    reading, writing = os.pipe()
    start(["Xvfb", "-displayfd", str(writing), "-nolisten", "tcp"], pass_fds=[writing])
    os.close(writing)
    with os.fdopen(reading) as answer:
        return f":{answer.readline().strip()}"


@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_a_script_with_job_control_goes_on(daemon, shell):
    """Without a terminal, too, its shell waits for its jobs to stop."""
    need(shell)
    pid = daemon.lifectl.start("monitor", shell, "-mc", "sleep infinity; true")
    wait_for(lambda: named(daemon, pid, "sleep"), what="the job runs")
    job = named(daemon, pid, "sleep")[0].pid
    for _ in range(ROUNDS):
        daemon.lifectl("suspend", "monitor")
        daemon.lifectl("focus", "monitor")
        settle(daemon, "monitor")
        assert daemon.kernel.stat(job).state == "S"
        assert daemon.lifectl.app("monitor")["pid"] == pid


# A chain of so many parents that wait for their child to end or to stop; one that sees a stop writes it down.
WAITS_FOR_STOPS = """
import os, signal, sys
for _ in range(int(sys.argv[1])):
    child = os.fork()
    while child:
        if os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1]):
            with open(sys.argv[2], "a") as file:
                file.write("stop\\n")
with open(sys.argv[3], "w"):
    signal.pause()
"""


@pytest.mark.parametrize("depth", [3, 30])
def test_no_parent_of_a_chain_sees_its_child_stopped(daemon, tmp_path, depth):
    """Each level waits for the one above it; a deep tree is stopped at once while it is frozen."""
    seen, ready = tmp_path / "seen", tmp_path / "ready"
    pid = daemon.lifectl.start("chain", sys.executable, "-c", WAITS_FOR_STOPS, str(depth), str(seen), str(ready))
    wait_for(ready.exists, what="the chain waits")
    for _ in range(ROUNDS):
        daemon.lifectl("suspend", "chain")
        assert daemon.kernel.is_stopped(pid)
        assert len(daemon.kernel.tree(pid)) == depth + 1
        daemon.lifectl("focus", "chain")
        settle(daemon, "chain")
    assert not seen.exists()


# Stops itself on each SIGCONT, so many times in all, and then goes on.
STOPS_ITSELF = """
import os, signal, sys
left = int(sys.argv[1])
def stop(*_):
    global left
    if left:
        left -= 1
        os.kill(os.getpid(), signal.SIGSTOP)
signal.signal(signal.SIGCONT, stop)
open(sys.argv[2], "w").close()
while True:
    signal.pause()
"""


@pytest.mark.parametrize("is_child", [True, False])
@pytest.mark.parametrize("times", [1, 3, 1000])
def test_a_program_without_children_that_stops_itself_goes_on_or_is_not_plainly_called_active(
    daemon, tmp_path, times, is_child
):
    ready = tmp_path / "ready"
    pid = daemon.lifectl.start("app", sys.executable, "-c", STOPS_ITSELF, str(times), str(ready))
    wait_for(ready.exists, what="the program waits")
    daemon.lifectl("suspend", "app")
    if not is_child:
        start_again(daemon)
        daemon.lifectl.wait_for_state("app", "suspended")
    daemon.lifectl("focus", "app")
    if times < 4:
        wait_for(lambda: daemon.kernel.stat(pid).state == "S", timeout=2, what="the program goes on")
        wait_for(lambda: not daemon.lifectl.app("app")["stoppedByOther"], what="it is called active")
    else:
        wait_for(lambda: daemon.lifectl.app("app")["stoppedByOther"], what="the stop is told")
        assert daemon.kernel.stat(pid).state == "T"
        assert "active, stopped" in daemon.lifectl("list").stdout


@pytest.mark.parametrize("is_child", [True, False])
def test_what_another_program_stops_is_not_plainly_called_active(daemon, is_child):
    pid = daemon.lifectl.start("app", "sleep", "infinity")
    if not is_child:
        start_again(daemon)
        daemon.lifectl.wait_for_state("app", "active")
    assert not daemon.lifectl.app("app")["stoppedByOther"]
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: daemon.lifectl.app("app")["stoppedByOther"], what="the stop is told")
    assert "active, stopped" in daemon.lifectl("list").stdout
    for command in ("status", "explain"):
        assert "active" in daemon.lifectl(command, "app").stdout
        assert ", but another program has stopped it" in daemon.lifectl(command, "app").stdout
    os.kill(pid, signal.SIGCONT)
    wait_for(lambda: not daemon.lifectl.app("app")["stoppedByOther"], what="it goes on")


def test_a_job_that_the_shell_had_stopped_stays_stopped(daemon):
    need("bash")
    pid = daemon.lifectl.start("jobs", "bash", "-mc", "sleep 98761 & kill -STOP $!; exec sleep 98762")

    def states():
        return sorted(each.state for each in daemon.kernel.tree(pid))

    wait_for(lambda: states() == ["S", "T"] and named(daemon, pid, "sleep"), what="one of them is stopped")
    held = next(each.pid for each in daemon.kernel.tree(pid) if each.state == "T")
    for _ in range(ROUNDS):
        daemon.lifectl("suspend", "jobs")
        assert states() == ["T", "T"]
        daemon.lifectl("focus", "jobs")
        wait_for(lambda: states() == ["S", "T"], what="the other one runs")
        assert daemon.kernel.stat(held).state == "T"
