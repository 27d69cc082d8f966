"""After a restart, the daemon answers first, and looks at the apps of the previous daemon more closely later."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

import programs
from container import wait_for
from restoration import kill

pytestmark = pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")

APPS = [f"app-{number}" for number in range(5)]

# As systemd passes the socket, to the process that becomes the daemon.
WITH_SOCKET = ["sh", "-c", 'export LISTEN_FDS=1 LISTEN_PID=$$; exec "$@" 3<&0 0</dev/null', "sh"]


class NextDaemon:
    """A daemon under strace whose first client has connected and made its call before it was started."""

    def __init__(self, daemon, method, parameters, options=()):
        self.log = daemon.runtime.parent / "calls"
        daemon.socket.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(daemon.socket))
            listener.listen()
            self.client = socket.socket(socket.AF_UNIX)
            self.client.settimeout(60)
            self.client.connect(str(daemon.socket))
            self.client.sendall(json.dumps({"method": f"org.lifed.{method}", "parameters": parameters}).encode() + b"\0")
            tracer = ["strace", "-qq", "-s", "256", "-o", str(self.log), *options]
            with open(daemon.log, "ab") as log:
                self.process = subprocess.Popen(
                    [*tracer, *WITH_SOCKET, *daemon.arguments()],
                    stdin=listener.fileno(),
                    stdout=log,
                    stderr=log,
                )
        self.daemon = daemon

    def answer(self):
        received = b""
        while not received.endswith(b"\0"):
            chunk = self.client.recv(65536)
            assert chunk, self.daemon.logged
            received += chunk
        return json.loads(received[:-1])["parameters"]

    def traced(self):
        """The daemon itself; the tracer ends with it."""
        children = open(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read().split()
        return int(children[0])

    def kill(self):
        self.client.close()
        if self.process.poll() is None:
            os.kill(self.traced(), signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def apps(mortal):
    """Suspended apps of a daemon that was killed when it had nothing left to do."""
    if mortal.containment != "auto":
        pytest.skip("an app without a control group is looked at at once")
    pids = {name: mortal.lifectl.start(name, *programs.FAMILY) for name in APPS}
    mortal.lifectl.start("front", *programs.IDLE)
    for name in APPS:
        mortal.lifectl.wait_for_state(name, "suspended")
    if mortal.lifectl.app(APPS[0])["containment"] != "cgroup":
        pytest.skip("apps have no control groups here")
    kill(mortal)
    return pids


def test_first_answer_takes_one_look_at_each_main_process(mortal, apps):
    next_daemon = NextDaemon(mortal, "GetStatus", {})
    assert next_daemon.answer()["status"]["running"] == len(APPS) + 1
    # The whole of the rest follows by itself.
    wait_for(lambda: next_daemon.log.read_text().count("pidfd_open(") > len(APPS), what="a pidfd of each app")
    before = next_daemon.log.read_text().partition("sendto(")[0]
    next_daemon.kill()
    assert "pidfd_open(" not in before
    for pid in apps.values():
        assert len(re.findall(rf'open(?:at)?\(.*"/proc/{pid}/stat"', before)) == 1
        assert f'"/proc/{pid}/cgroup"' not in before
    assert not re.search(r"/app-app-\d+/cgroup\.", before)


@pytest.mark.parametrize("method", ["List", "Describe", "Focus"])
def test_call_about_app_that_was_not_looked_at_gets_the_truth(mortal, apps, method):
    wanted = APPS[3]
    # It is no child of any daemon, so that only a look tells of it.
    os.kill(apps[wanted], signal.SIGCONT)
    next_daemon = NextDaemon(mortal, method, {} if method == "List" else {"id": wanted})
    answer = next_daemon.answer()
    if method == "List":
        states = {app["id"]: (app["state"], app["pid"]) for app in answer["apps"] if app["id"] in apps}
        assert states.pop(wanted)[1] == apps[wanted]
        assert states == {name: ("suspended", pid) for name, pid in apps.items() if name != wanted}
    if method == "Describe":
        assert apps[wanted] in [process["pid"] for process in answer["details"]["processes"]]
    if method == "Focus":
        assert not mortal.kernel.is_stopped(apps[wanted])
    else:
        mortal.lifectl.wait_for_state(wanted, "suspended")
        wait_for(lambda: mortal.kernel.is_stopped(apps[wanted]))
    next_daemon.kill()
    mortal.start()
    assert {name: mortal.lifectl.pid(name) for name in APPS} == apps


def test_app_that_ends_before_it_is_looked_at_is_reported(mortal, apps):
    # The first closer look waits, so that the apps end before it.
    next_daemon = NextDaemon(mortal, "GetStatus", {}, ["-e", "inject=pidfd_open:delay_enter=2000000:when=1"])
    next_daemon.answer()
    for pid in apps.values():
        for process in mortal.kernel.tree(pid):
            os.kill(process.pid, signal.SIGKILL)
    wait_for(lambda: not set(APPS) & set(mortal.lifectl.apps()), what="the end of all apps")
    assert mortal.lifectl.state("front") == "active"
    next_daemon.kill()
    mortal.start()
    assert set(mortal.lifectl.apps()) == {"front"}


def test_nothing_is_lost_if_the_daemon_is_killed_between_its_first_answer_and_the_rest(mortal, apps):
    for number in range(1, len(APPS) + 1):
        next_daemon = NextDaemon(mortal, "GetStatus", {}, ["-e", f"inject=pidfd_open:signal=KILL:when={number}"])
        assert next_daemon.answer()["status"]["running"] == len(APPS) + 1
        wait_for(lambda: next_daemon.process.poll() is not None, what="the death of the daemon")
        next_daemon.kill()
    mortal.start()
    assert {name: mortal.lifectl.pid(name) for name in APPS} == apps
    for name, pid in apps.items():
        mortal.lifectl.wait_for_state(name, "suspended")
        assert mortal.kernel.is_stopped(pid)
    # What the first daemon has changed is known to the last.
    own = oom_score_adjustment(mortal.lifectl.pid("front"))
    wait_for(lambda: oom_score_adjustment(apps[APPS[0]]) > own, what="the order of a suspended app for the kernel")
    mortal.lifectl("focus", APPS[0])
    assert not mortal.kernel.is_stopped(apps[APPS[0]])
    wait_for(lambda: oom_score_adjustment(apps[APPS[0]]) == own, what="its own value")


def oom_score_adjustment(pid):
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())
