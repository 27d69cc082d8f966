"""Processes that run already: whose they are, and how they come under management."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import programs
from container import wait_for
from direct import DirectDaemon
from driver import call, connect
from puppet import Puppet

REFUSED = 2
NOT_RUNNING = 3
INVALID_APP = 65
NO_SUCH_APP = 66

# Forks as fast as it can, up to a number; then all of them wait.
BOMB = """
import os, signal
made = 0
while made < 300:
    if os.fork() == 0:
        made = 300 if made % 3 else made + 100
    made += 1
signal.pause()
"""


@pytest.fixture(params=["auto", "processGroup"])
def daemon(direct, request):
    """A daemon that holds its apps by control groups, and one that does not."""
    (direct.configuration / "lifed.toml").write_text(f'containment = "{request.param}"\n')
    direct.stop()
    direct.start()
    direct.containment = {"auto": "cgroup", "processGroup": "processGroup"}[request.param]
    if request.param == "auto" and "control group of its own" not in direct.logged:
        pytest.skip("there are no control groups here")
    return direct


def found(daemon, pid):
    """The id of the app that a process belongs to, if any."""
    with connect(str(daemon.socket)) as connection:
        app = call(connection, "org.lifed.FindApp", {"pid": pid})["parameters"].get("app")
    return app and app["id"]


def test_every_process_of_an_app_is_found(daemon):
    first = daemon.lifectl.start("first", *programs.FAMILY)
    second = daemon.lifectl.start("second", *programs.RUNAWAY)
    wait_for(lambda: len(daemon.kernel.tree(first)) == 5)
    wait_for(lambda: len(daemon.lifectl.json("status", "second")["details"]["processes"]) == 4)
    for identifier in ("first", "second"):
        for process in daemon.lifectl.json("status", identifier)["details"]["processes"]:
            assert found(daemon, process["pid"]) == identifier
    assert daemon.lifectl("find", str(second)).stdout.startswith("second is ")
    assert daemon.lifectl.json("find", str(first))["app"]["id"] == "first"


def test_a_process_of_nobody_is_nobodys(daemon):
    daemon.lifectl.start("app", *programs.IDLE)
    ended = subprocess.Popen(["true"])
    ended.wait()
    for pid in (1, os.getpid(), daemon.process.pid, ended.pid, 2**31 - 1):
        assert found(daemon, pid) is None
    result = daemon.lifectl("find", str(os.getpid()), check=False)
    assert result.returncode == NO_SUCH_APP and "belongs to no app" in result.stderr
    assert json.loads(daemon.lifectl("find", "--json", "1", check=False).stdout).get("app") is None


@pytest.mark.parametrize("pid", [0, -1, 2**31, 2**63 - 1, "1", None, 1.5, True])
def test_what_is_no_process_number_is_refused(direct, pid):
    with connect(str(direct.socket)) as connection:
        error = call(connection, "org.lifed.FindApp", {"pid": pid})
    assert error["error"] == "org.varlink.service.InvalidParameter"


def test_an_app_finds_itself_alone(daemon, tmp_path):
    puppet = Puppet(daemon, "puppet", tmp_path / "puppet")
    daemon.lifectl("reload")
    daemon.lifectl("launch", "puppet")
    other = daemon.lifectl.start("other", *programs.IDLE)
    assert puppet.lifectl(f"find {daemon.lifectl.pid('puppet')}").returncode == 0
    assert puppet.lifectl("find $$").stdout.startswith("puppet is ")
    assert puppet.lifectl(f"find {other}").returncode == NO_SUCH_APP


# Adopting.


@pytest.fixture
def start():
    """Starts programs that are nobody's app, each in a session of its own, as a desktop does."""
    started = []

    def begin(command, **options):
        options = {"start_new_session": True, **options}
        started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, **options))
        return started[-1].pid

    begin.processes = started
    yield begin
    for process in started:
        process.kill()
        process.wait()


def quick(daemon):
    """Lets apps sleep as soon as they are out of sight."""
    settings = daemon.configuration / "lifed.toml"
    settings.write_text(settings.read_text() + "[timeouts]\nbackground = '0s'\n")
    daemon.lifectl("reload")


def reaped(start):
    """Asks for the ends of those who have ended, as their shell would."""
    for process in start.processes:
        process.poll()


def test_a_program_that_runs_becomes_an_app(daemon, start):
    pid = start(programs.FAMILY)
    wait_for(lambda: len(daemon.kernel.tree(pid)) == 5)
    assert daemon.lifectl("adopt", str(pid), "--id", "family", "--name", "A family").stdout.startswith(
        f"family is active (pid {pid})"
    )
    app = daemon.lifectl.app("family")
    assert (app["state"], app["reason"], app["name"], app["adHoc"]) == ("active", "adopt", "A family", True)
    assert app["containment"] == daemon.containment
    assert "it ran already, and was adopted" in daemon.lifectl("explain", "family").stdout
    details = daemon.lifectl.json("status", "family")["details"]
    assert details["adopted"] and len(details["processes"]) == 5
    assert "it ran before that" in daemon.lifectl("status", "family").stdout
    assert {found(daemon, process["pid"]) for process in details["processes"]} == {"family"}
    daemon.lifectl("suspend", "family")
    assert daemon.kernel.is_stopped(pid)
    daemon.lifectl("focus", "family")
    assert not daemon.kernel.is_stopped(pid)
    tree = [stat.pid for stat in daemon.kernel.tree(pid)]
    daemon.lifectl("terminate", "family")
    assert not any(daemon.kernel.exists(each) for each in tree)
    assert "family" not in daemon.lifectl.apps()


def test_it_takes_part_in_the_life_of_the_others(daemon, start):
    quick(daemon)
    other = daemon.lifectl.start("other", *programs.BUSY)
    pid = start(programs.BUSY)
    daemon.lifectl("adopt", str(pid), "--background")
    (identifier,) = set(daemon.lifectl.apps()) - {"other"}
    assert identifier == "dash" or identifier == "sh" or identifier == "bash"
    daemon.lifectl.wait_for_state(identifier, "suspended")
    assert daemon.kernel.is_stopped(pid) and daemon.lifectl.state("other") == "active"
    daemon.lifectl("focus", identifier)
    daemon.lifectl.wait_for_state("other", "suspended")
    assert daemon.kernel.gains_time(pid) and daemon.kernel.is_stopped(other)
    os.kill(pid, signal.SIGKILL)
    reaped(start)
    wait_for(lambda: reaped(start) or identifier not in daemon.lifectl.apps())


def test_the_end_of_one_is_told_as_of_any_other(daemon, start):
    pipe = subprocess.Popen(["sh", "-c", "read -r line; exit 3"], stdin=subprocess.PIPE, start_new_session=True)
    start.processes.append(pipe)
    daemon.lifectl("adopt", str(pipe.pid), "--id", "ending")
    pipe.stdin.close()
    wait_for(lambda: reaped(start) or "ending" not in daemon.lifectl.apps())
    with connect(str(daemon.socket)) as connection:
        events = call(connection, "org.lifed.History", {"id": "ending"})["parameters"]["events"]
    (end,) = [event for event in events if event["kind"] == "exited"]
    # Linux 6.15 tells how somebody else's child has ended.
    assert end.get("exitCode") in (3, None) and end["reason"] == "crash"


def test_its_siblings_in_the_shell_are_left_alone(daemon, start):
    """A pipeline is one process group; only the process that was named is the app."""
    shell = start(["sh", "-c", "sleep infinity & echo $!; exec sleep infinity"], stdout=subprocess.PIPE)
    job = int(start.processes[-1].stdout.readline())
    daemon.lifectl("adopt", str(job), "--id", "job")
    daemon.lifectl("suspend", "job")
    assert daemon.kernel.stat(job).state == "T" and daemon.kernel.stat(shell).state != "T"
    daemon.lifectl("kill", "job")
    assert daemon.kernel.exists(shell)


def test_one_that_was_stopped_is_continued(daemon, start):
    pid = start(programs.FAMILY)
    wait_for(lambda: len(daemon.kernel.tree(pid)) == 5)
    os.kill(pid, signal.SIGSTOP)
    daemon.lifectl("adopt", str(pid), "--id", "stopped")
    wait_for(lambda: not any(stat.state == "T" for stat in daemon.kernel.tree(pid)))


def test_a_bomb_is_held_that_goes_off_meanwhile(daemon, start):
    pid = start([sys.executable, "-c", BOMB])
    daemon.lifectl("adopt", str(pid), "--id", "bomb")
    daemon.lifectl("suspend", "bomb")
    stopped = daemon.kernel.tree(pid)
    assert all(stat.state == "T" for stat in stopped)
    assert {stat.pid for stat in daemon.kernel.tree(pid)} == {stat.pid for stat in stopped}
    daemon.lifectl("kill", "bomb")
    assert not any(daemon.kernel.exists(stat.pid) for stat in stopped)


def test_it_is_taken_over_by_the_next_daemon(daemon, start):
    pid = start(programs.FAMILY)
    wait_for(lambda: len(daemon.kernel.tree(pid)) == 5)
    daemon.lifectl("adopt", str(pid), "--id", "family")
    for command in ("suspend", "focus", "suspend"):
        daemon.lifectl(command, "family")
        daemon.process.kill()
        daemon.process.wait()
        daemon.start()
        app = daemon.lifectl.app("family")
        assert (app["state"], app["pid"]) == ("active" if command == "focus" else "suspended", pid)
        wait_for(lambda: daemon.kernel.is_stopped(pid) == (command != "focus"))  # noqa: B023
        assert daemon.lifectl.json("status", "family")["details"]["adopted"]
    # The shell that it was started from is none of its processes.
    assert daemon.kernel.stat(os.getpid()).state != "T"
    daemon.process.kill()
    daemon.process.wait()
    os.killpg(pid, signal.SIGKILL)
    for process in start.processes:
        process.wait()
    daemon.start()
    wait_for(lambda: "family" not in daemon.lifectl.apps())


def test_one_whose_parent_has_ended_stays_a_member(daemon, start, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Neither the session nor the process group is its own.
    script = f"sh -c 'sleep infinity & echo $!; read -r line <{pipe}' & exec sleep infinity"
    main = start(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=False)
    helper = int(start.processes[-1].stdout.readline())
    try:
        wait_for(lambda: daemon.kernel.stat(main).name == "sleep")
        daemon.lifectl("adopt", str(main), "--id", "app")
        parent = daemon.kernel.stat(helper).parent
        pipe.write_text("end\n")
        wait_for(lambda: daemon.kernel.stat(helper).parent != parent)
        assert found(daemon, helper) == "app"
        daemon.lifectl("suspend", "app")
        assert daemon.kernel.stat(helper).state == "T"
        daemon.process.kill()
        daemon.process.wait()
        daemon.start()
        daemon.lifectl("focus", "app")
        wait_for(lambda: daemon.kernel.stat(helper).state != "T")
        daemon.lifectl("kill", "app")
        assert not daemon.kernel.exists(helper)
    finally:
        if daemon.kernel.exists(helper):
            os.kill(helper, signal.SIGKILL)


def test_the_rescue_lets_it_run(daemon, start):
    pid = start(programs.FAMILY)
    wait_for(lambda: len(daemon.kernel.tree(pid)) == 5)
    daemon.lifectl("adopt", str(pid), "--id", "family")
    daemon.lifectl("suspend", "family")
    daemon.process.kill()
    daemon.process.wait()
    daemon.run([*daemon.arguments(), "--rescue"])
    assert not any(stat.state == "T" for stat in daemon.kernel.tree(pid))
    daemon.start()


def test_what_was_there_before_the_daemon_is_there_after_it(daemon, start):
    pid = start(programs.FAMILY)
    wait_for(lambda: len(daemon.kernel.tree(pid)) == 5)
    places = [(stat.pid, group_of(stat.pid)) for stat in daemon.kernel.tree(pid)]
    daemon.lifectl("adopt", str(pid), "--id", "family")
    daemon.lifectl("suspend", "family")
    launched = daemon.lifectl.start("launched", *programs.IDLE)
    assert daemon.stop() == 0
    assert not daemon.kernel.exists(launched)
    assert [(stat.pid, group_of(stat.pid)) for stat in daemon.kernel.tree(pid)] == places
    assert not any(stat.state == "T" for stat in daemon.kernel.tree(pid))
    daemon.start()


def test_one_that_was_adopted_can_be_let_go(daemon, start):
    pid = start(programs.FAMILY)
    wait_for(lambda: len(daemon.kernel.tree(pid)) == 5)
    places = [(stat.pid, group_of(stat.pid)) for stat in daemon.kernel.tree(pid)]
    nice = os.getpriority(os.PRIO_PROCESS, pid)
    for state in ("focus", "suspend"):
        daemon.lifectl("adopt", str(pid), "--id", "family")
        daemon.lifectl(state, "family")
        assert daemon.lifectl("disown", "family").stdout == "family runs on without lifed\n"
        assert "family" not in daemon.lifectl.apps() and found(daemon, pid) is None
        assert [(stat.pid, group_of(stat.pid)) for stat in daemon.kernel.tree(pid)] == places
        assert not any(stat.state == "T" for stat in daemon.kernel.tree(pid))
        assert os.getpriority(os.PRIO_PROCESS, pid) == nice
    daemon.lifectl.start("launched", *programs.IDLE)
    assert daemon.lifectl("disown", "launched", check=False).returncode == REFUSED


def group_of(pid):
    with open(f"/proc/{pid}/cgroup") as file:
        return file.read()


# Refusing.


def test_what_nobody_wants_to_see_stopped_is_refused(direct):
    app = direct.lifectl.start("app", *programs.IDLE)
    kernel_thread = next((stat.pid for stat in direct.kernel.all() if stat.name == "kthreadd"), None)
    reasons = {
        1: "everything else",
        direct.process.pid: "lifed",
        os.getpid(): "has started lifed",
        app: "one of this app already",
        **({kernel_thread: "kernel's"} if kernel_thread else {}),
    }
    for pid, reason in reasons.items():
        result = direct.lifectl("adopt", str(pid), check=False)
        assert result.returncode == REFUSED and reason in result.stderr, result.stderr
    assert set(direct.lifectl.apps()) == {"app"}
    # The shell that asks.
    script = f"LIFED_SOCKET={direct.socket} {direct.products}/lifectl adopt $$; echo $?"
    asked = subprocess.run(["setsid", "sh", "-c", script], capture_output=True, text=True, timeout=60)
    assert asked.stdout.strip() == str(REFUSED) and "what you ask from" in asked.stderr


def test_one_that_has_ended_is_not_there(direct):
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    for pid in (ended.pid, 2**31 - 1):
        assert direct.lifectl("adopt", str(pid), check=False).returncode == NOT_RUNNING
    ended.wait()
    assert direct.lifectl("adopt", str(ended.pid), check=False).returncode == NOT_RUNNING


def test_an_app_of_another_daemon_is_refused(daemon, tmp_path):
    other = DirectDaemon(daemon.products, tmp_path / "other")
    other.start()
    try:
        theirs = other.lifectl.start("theirs", *programs.IDLE)
        for pid in (theirs, other.process.pid):
            result = daemon.lifectl("adopt", str(pid), check=False)
            assert result.returncode == REFUSED and "lifed" in result.stderr
    finally:
        other.stop()


@pytest.mark.parametrize(
    "parameters",
    [
        {"pid": 0},
        {"pid": "1"},
        {"id": "x"},
        {"pid": 5, "id": 7},
        {"pid": 5, "name": ""},
        {"pid": 5, "name": "a\u001b[31m"},
        {"pid": 5, "background": "yes"},
        {"pid": 5, "more": True},
    ],
)
def test_garbage_is_refused(direct, parameters):
    with connect(str(direct.socket)) as connection:
        error = call(connection, "org.lifed.Adopt", parameters)
        assert error["error"] == "org.varlink.service.InvalidParameter"
    assert direct.lifectl.apps() == {}


def test_an_id_that_is_none_or_taken_is_refused(direct, start):
    pid = start(programs.IDLE)
    direct.lifectl.start("taken", *programs.IDLE)
    for identifier in ("../x", "", "taken"):
        assert direct.lifectl("adopt", str(pid), "--id", identifier, check=False).returncode == INVALID_APP
    assert set(direct.lifectl.apps()) == {"taken"}


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_everybody_may_adopt_their_own_and_root_anybodys(direct, start):
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    theirs, ours = start([*nobody, *programs.IDLE]), start(programs.IDLE)
    wait_for(lambda: direct.kernel.stat(theirs).name == "sleep")
    assert direct.lifectl("adopt", str(theirs), "--id", "theirs").returncode == 0
    assert direct.lifectl.json("status", "theirs")["details"]["user"] == "65534"
    # A daemon of nobody's.
    own = Path(tempfile.mkdtemp(dir="/tmp"))
    os.chown(own, 65534, 65534)
    if any(not os.stat(parent).st_mode & 0o001 for parent in direct.products.parents):
        pytest.skip(f"nobody may not enter {direct.products}")
    places = [f"--{name}-directory={own / name}" for name in ("runtime", "state")]
    command = [*nobody, str(direct.products / "lifed"), *places, "--log-target=console"]
    daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        socket = own / "runtime" / "control"
        wait_for(socket.exists)
        environment = {**os.environ, "LIFED_SOCKET": str(socket)}

        def adopt(pid, *prefix):
            command = [*prefix, str(direct.products / "lifectl"), "adopt", str(pid), "--id", "app"]
            return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)

        refused = adopt(ours, *nobody)
        assert refused.returncode == REFUSED and "not yours" in refused.stderr
        refused = adopt(ours)
        assert refused.returncode == REFUSED and "may not stop" in refused.stderr
        mine = start([*nobody, *programs.IDLE])
        wait_for(lambda: direct.kernel.stat(mine).name == "sleep")
        assert adopt(mine, *nobody).returncode == 0
    finally:
        daemon.terminate()
        daemon.wait(timeout=60)
        shutil.rmtree(own)
    assert direct.kernel.exists(mine) and direct.kernel.exists(ours)


def test_an_app_may_not_adopt(daemon, start, tmp_path):
    puppet = Puppet(daemon, "puppet", tmp_path / "puppet")
    daemon.lifectl("reload")
    daemon.lifectl("launch", "puppet")
    pid = start(programs.IDLE)
    assert puppet.lifectl(f"adopt {pid}").returncode == 77
    # One that was adopted is an app like any other.
    client = start(["sh", "-c", f"while [ ! -e {tmp_path}/go ]; do sleep 0.01; done; LIFED_SOCKET={daemon.socket} "
        f"{daemon.products}/lifectl list --json >{tmp_path}/seen.part; mv {tmp_path}/seen.part {tmp_path}/seen; sleep 60"])
    daemon.lifectl("adopt", str(client), "--id", "client")
    (tmp_path / "go").touch()
    wait_for((tmp_path / "seen").exists)
    assert [app["id"] for app in json.loads((tmp_path / "seen").read_text())["apps"]] == ["client"]


# Rules.

RULES = """
[[adopt]]
match = "sleep"
cmdline = "sleep inf*"
id = "org.example.sleeper"

[[adopt]]
match = "*/python3*"
cmdline = "*pause*"
"""


def ruled(daemon, text=RULES):
    (daemon.configuration / "lifed.toml").write_text(text)
    return daemon.lifectl.json("reload")["problems"]


def test_a_rule_says_who_is_adopted(direct, start):
    assert ruled(direct) == []
    pids = [start(["sleep", "infinity"]) for _ in range(2)]
    snake = start([sys.executable, "-c", "import signal; signal.pause()"])
    stranger = start(["sleep", "86400"])
    for pid in (*pids, snake, stranger):
        wait_for(lambda: direct.kernel.stat(pid).name != "pytest")  # noqa: B023
    assert direct.lifectl("adopt", "--by-rule", str(stranger), check=False).returncode == NO_SUCH_APP
    apps = [direct.lifectl.json("adopt", "--by-rule", str(pid))["app"] for pid in (*pids, snake)]
    assert [app["id"] for app in apps[:2]] == ["org.example.sleeper", "org.example.sleeper-2"]
    assert apps[2]["id"].startswith("python3") and apps[2]["state"] == "active"
    # One that is an app's already is that app, where it is.
    again = direct.lifectl.json("adopt", "--by-rule", str(pids[0]))["app"]
    assert (again["id"], again["inFront"]) == ("org.example.sleeper", False)
    assert direct.lifectl.json("adopt", "--by-rule", "1", check=False).get("app") is None


def test_the_manifest_of_the_rules_id_is_its_policy(direct, start):
    manifest = 'command = ["sleep", "1000"]\nsuspend = "never"\nrestart = "always"\ncallbacks = "required"\n'
    (direct.configuration / "apps.d/org.example.sleeper.toml").write_text(manifest)
    assert ruled(direct) == []
    pid = start(["sleep", "infinity"])
    app = direct.lifectl.json("adopt", "--by-rule", str(pid))["app"]
    assert (app["id"], app["pid"], app["adHoc"], app["state"]) == ("org.example.sleeper", pid, False, "active")
    assert direct.lifectl("suspend", "org.example.sleeper", check=False).returncode == REFUSED
    direct.lifectl("reload")
    assert direct.lifectl.json("status", "org.example.sleeper")["details"]["adopted"]
    # A second one is managed alike, also by the next daemon.
    second = start(["sleep", "infinity"])
    direct.lifectl("adopt", "--by-rule", str(second))
    for _ in range(2):
        again = direct.lifectl("suspend", "org.example.sleeper-2", check=False)
        assert again.returncode == REFUSED and 'suspend = "never"' in again.stderr
        direct.process.kill()
        direct.process.wait()
        direct.start()
        assert direct.lifectl.json("status", "org.example.sleeper")["details"]["adopted"]
    # When it has ended, it is not started again by itself, and is what its manifest says.
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: reaped(start) or direct.lifectl.state("org.example.sleeper") == "notRunning")
    assert not direct.lifectl.json("status", "org.example.sleeper")["details"]["adopted"]
    assert direct.lifectl.json("status", "org.example.sleeper")["details"].get("restartAt") is None


@pytest.mark.parametrize(
    ("rule", "line", "words"),
    [
        ("[[adopt]]\nid = 'x'", 1, "match is missing"),
        ("[[adopt]]\nmatch = '*'", 2, "does not fit everything"),
        ("[[adopt]]\nmatch = 'a'\n[[adopt]]\nmatch = 'b'\nid = '../x'", 5, "an app id"),
        ("[[adopt]]\nmatch = 'a'\nmach = 'b'", 3, "did you mean"),
        ("adopt = 'sleep'", 1, "[[adopt]]"),
    ],
)
def test_a_mistake_in_a_rule_is_told_with_its_line(direct, rule, line, words):
    (problem,) = ruled(direct, rule)
    assert (problem["line"], problem["file"]) == (line, str(direct.configuration / "lifed.toml"))
    assert words in problem["message"], problem["message"]


# With systemd.


@pytest.fixture
def outsider(container, lifed):
    """A program in a unit of its own, as those of a desktop are."""
    quick = "[timeouts]\nbackground = '0s'\n"
    lifed.configure(quick)
    lifed.lifectl("reload")
    container.run(["systemd-run", "--unit=outsider", "--", *programs.FAMILY])
    pid = int(container.run(["systemctl", "show", "-P", "MainPID", "outsider"]).stdout)
    wait_for(lambda: len(lifed.kernel.tree(pid)) == 5)
    yield pid
    container.run(["systemctl", "stop", "outsider"], check=False)
    container.run(["systemctl", "reset-failed", "outsider"], check=False)


def test_what_is_in_a_unit_of_its_own_stays_there(container, lifed, outsider):
    place = container.run(["cat", f"/proc/{outsider}/cgroup"]).stdout
    assert lifed.lifectl.json("adopt", str(outsider), "--id", "outsider")["app"]["containment"] == "processGroup"
    assert container.run(["cat", f"/proc/{outsider}/cgroup"]).stdout == place
    lifed.lifectl("suspend", "outsider")
    assert lifed.kernel.is_stopped(outsider)
    # A daemon that dies is succeeded by one that goes on with it.
    before = lifed.pid
    container.run(["kill", "-KILL", str(before)])
    wait_for(lambda: lifed.pid not in (0, before) and lifed.show("ActiveState") == "active")
    assert lifed.lifectl.state("outsider") == "suspended"
    lifed.lifectl("focus", "outsider")
    assert not lifed.kernel.is_stopped(outsider)
    lifed.lifectl("suspend", "outsider")
    lifed.systemctl("stop", "lifed.service")
    assert all(lifed.kernel.stat(stat.pid).state in "SR" for stat in lifed.kernel.tree(outsider))
    assert len(lifed.kernel.tree(outsider)) == 5
    assert container.run(["systemctl", "is-active", "outsider"]).stdout.strip() == "active"


@pytest.mark.parametrize("how", ["rescue", "stop"])
def test_what_was_adopted_does_not_stay_asleep_without_a_daemon(container, lifed, outsider, how):
    lifed.lifectl("adopt", str(outsider), "--id", "outsider")
    lifed.lifectl("suspend", "outsider")
    if how == "stop":
        # As if it had hung until its time was over.
        lifed.drop_in("[Service]\nKillSignal=SIGKILL\n")
        lifed.systemctl("stop", "lifed.service")
    else:
        lifed.drop_in("[Service]\nRestart=no\n")
        lifed.systemctl("kill", "--kill-who=main", "--signal=KILL", "lifed.service")
    wait_for(lambda: not any(stat.state == "T" for stat in lifed.kernel.tree(outsider)))
    assert len(lifed.kernel.tree(outsider)) == 5


def test_service_managers_are_refused(container, lifed):
    number = container.run(["id", "-u", "stranger"]).stdout.strip()
    container.run(["systemctl", "start", f"user@{number}.service"])
    try:
        manager = container.run(["systemctl", "show", "-P", "MainPID", f"user@{number}.service"]).stdout.strip()
        for pid in ("1", manager):
            assert lifed.lifectl("adopt", pid, check=False).returncode == REFUSED
    finally:
        container.run(["systemctl", "stop", f"user@{number}.service"])


def test_who_leads_a_login_session_is_refused(container, lifed):
    """As logind would have it, whose file about the session is what tells."""
    scope = ["systemd-run", "--scope", "--unit=session-c99", "--", "sh", "-c", "sleep infinity & echo $$ $!; wait"]
    session = container.popen(scope, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        # Numbers inside are those of the container, as the daemon sees them.
        leader, member = session.stdout.readline().split()
        container.write("/run/systemd/sessions/c99", f"# a session\nACTIVE=1\nLEADER={leader}\n")
        refused = lifed.lifectl("adopt", leader, check=False)
        assert refused.returncode == REFUSED and "leads the login session c99" in refused.stderr
        assert lifed.lifectl("adopt", member, "--id", "member").returncode == 0
        assert lifed.lifectl("adopt", leader, check=False).returncode == REFUSED
        lifed.lifectl("disown", "member")
    finally:
        container.run(["rm", "-f", "/run/systemd/sessions/c99"])
        container.run(["systemctl", "stop", "session-c99.scope"], check=False)
        session.wait(timeout=60)
