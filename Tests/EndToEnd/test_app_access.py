"""The rights of an app's processes on the control socket, whatever their user."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys

import pytest

import programs
from container import wait_for
from driver import call, connect
from listeners import Listeners
from puppet import Puppet

NOT_PERMITTED = 77

# A child connects and ends; its parent goes on with the connection.
BORROWED = """
import os, socket, sys
client = socket.socket(socket.AF_UNIX)
if os.fork() == 0:
    client.connect(sys.argv[1])
    os._exit(0)
os.wait()
open(sys.argv[2], "w").close()
client.sendall(b'{"method": "org.lifed.List"}\\0')
print(client.recv(65536).rstrip(b"\\0").decode())
"""


@pytest.fixture(params=["auto", "keeper"])
def apps(direct, request, tmp_path):
    """A daemon with two puppets and another app; its own user, root mostly, is that of the apps, too."""
    (direct.configuration / "lifed.toml").write_text(f'containment = "{request.param}"\n')
    direct.stop()
    direct.start()
    direct.puppet = Puppet(direct, "puppet", tmp_path / "puppet")
    direct.launcher = Puppet(direct, "launcher", tmp_path / "launcher", 'control = "full"')
    direct.lifectl("reload")
    direct.lifectl("launch", "launcher")
    direct.lifectl("launch", "puppet")
    direct.lifectl.start("other", *programs.IDLE)
    expected = {"auto": "cgroup", "keeper": "keeper"}[request.param]
    direct.containment = direct.lifectl.app("puppet")["containment"]
    if direct.containment != expected:
        pytest.skip("there are no control groups here")
    return direct


# Connects often and says nothing.
CROWD = """
import socket, sys, time
crowd = [socket.socket(socket.AF_UNIX) for _ in range(40)]
for client in crowd:
    client.connect(sys.argv[1])
open(sys.argv[2], "w").close()
time.sleep(3600)
"""


def test_it_cannot_put_a_persons_client_out_by_coming_often(apps, tmp_path):
    with (apps.configuration / "lifed.toml").open("a") as file:
        file.write("[limits]\nclients = 16\n")
    apps.lifectl("reload")
    with connect(str(apps.socket)) as user:
        call(user, "org.lifed.GetStatus", {})
        crowd, there = tmp_path / "crowd", tmp_path / "there"
        crowd.write_text(CROWD)
        apps.puppet.tell(f"{sys.executable} {crowd} {apps.socket} {there} >/dev/null 2>&1 &")
        wait_for(there.exists)
        assert "parameters" in call(user, "org.lifed.GetStatus", {})


def test_it_sees_itself_alone(apps):
    listed = json.loads(apps.puppet.lifectl("list --json").stdout)["apps"]
    assert [app["id"] for app in listed] == ["puppet"]
    assert apps.puppet.lifectl("status puppet").returncode == 0
    status = json.loads(apps.puppet.lifectl("status --json").stdout)
    assert "other" not in json.dumps(status)
    assert "other" not in apps.puppet.lifectl("log --from daemon").stdout
    explained = apps.puppet.lifectl("explain puppet --json")
    assert explained.returncode == 0 and "other" not in explained.stdout


def test_it_does_not_learn_from_the_history_which_apps_are_known(apps):
    def history(identifier):
        message = json.dumps({"method": "org.lifed.History", "parameters": {"id": identifier}})
        code = "import socket, sys; c = socket.socket(socket.AF_UNIX); c.connect(sys.argv[1]); " \
            "c.sendall(sys.argv[2].encode() + bytes(1)); print(c.recv(65536).rstrip(bytes(1)).decode())"
        command = shlex.join([sys.executable, "-c", code, str(apps.socket), message])
        return json.loads(apps.puppet.tell(command).stdout)

    assert {event["id"] for event in history("puppet")["parameters"]["events"]} == {"puppet"}
    assert history("other")["error"] == "org.varlink.service.PermissionDenied"
    assert history("nobody") == history("other")


@pytest.mark.parametrize(
    "request_line",
    [
        "status other",
        "status nobody",
        "explain other",
        "log other --from daemon",
        "stats --openmetrics",
        "launch other",
        "focus other",
        "focus puppet",
        "launch puppet",
        "suspend other",
        "resume other",
        "resume puppet",
        "wake puppet --for fetch",
        "terminate other",
        "kill other",
        "home",
        "reload",
        "interrupt begin",
        "interrupt end",
        "run --id child -- sleep 1",
    ],
)
def test_it_may_do_nothing_to_others_and_take_nothing_for_itself(apps, request_line):
    before = apps.lifectl.apps()
    assert apps.puppet.lifectl(request_line).returncode == NOT_PERMITTED
    after = apps.lifectl.apps()
    assert {name: app["pid"] for name, app in after.items()} == {name: app["pid"] for name, app in before.items()}
    assert {name: app["target"] for name, app in after.items()} == {name: app["target"] for name, app in before.items()}


@pytest.mark.parametrize("containment", ["auto", "keeper"])
def test_it_is_known_to_a_daemon_that_took_it_over_and_holds_new_ones_otherwise(apps, containment):
    (apps.configuration / "lifed.toml").write_text(f'containment = "{containment}"\n')
    apps.process.kill()
    apps.process.wait()
    apps.start()
    apps.lifectl("focus", "puppet")
    assert apps.lifectl.app("puppet")["containment"] == apps.containment
    test_it_sees_itself_alone(apps)
    assert apps.puppet.lifectl("kill other").returncode == NOT_PERMITTED


def test_it_ends_itself(apps):
    pid = apps.lifectl.pid("puppet")
    with pytest.raises(subprocess.TimeoutExpired):
        apps.puppet.tell(f"{apps.products}/lifectl terminate puppet; sleep infinity", timeout=2)
    wait_for(lambda: not apps.kernel.exists(pid))
    assert apps.lifectl.state("puppet") == "notRunning"


def test_its_helpers_are_itself_or_nobody(apps):
    seen = apps.puppet.directory / "seen"
    lifectl = f"{apps.products}/lifectl list --json"
    apps.puppet.tell(f"(setsid env -i LIFED_SOCKET={apps.socket} sh -c '{lifectl} >{seen}.part; mv {seen}.part {seen}' &)")
    wait_for(seen.exists)
    if apps.containment == "cgroup":
        assert [app["id"] for app in json.loads(seen.read_text())["apps"]] == ["puppet"]
    else:
        # Without a control group it can have become an orphan that no app owns.
        assert "other" not in seen.read_text()


def test_a_launcher_may_do_what_its_user_may(apps):
    assert {"puppet", "launcher", "other"} <= {
        app["id"] for app in json.loads(apps.launcher.lifectl("list --json").stdout)["apps"]
    }
    assert apps.launcher.lifectl("focus puppet").returncode == 0
    assert apps.lifectl.state("puppet") == "active"


def test_what_a_launcher_opens_says_so(apps, tmp_path):
    listeners = Listeners(apps, tmp_path / "notes")
    listeners.manifest("reader", "answer=open-url:handled=yes", extra='schemes = ["example"]')
    assert apps.launcher.lifectl("open example:1").returncode == 0
    assert apps.lifectl("open", "example:2").returncode == 0
    opened = [text for text in listeners.told("reader") if text.startswith("open-url ")]
    assert opened == ["open-url state=inactive url=example:1 source=launcher", "open-url state=active url=example:2"]


def test_it_hears_of_its_own_changes_alone(apps):
    heard = apps.puppet.directory / "heard"
    apps.puppet.tell(f"{apps.products}/lifectl monitor --json >{heard} 2>&1 &")
    wait_for(lambda: heard.exists() and heard.read_text())
    apps.lifectl("focus", "other")
    apps.lifectl("focus", "launcher")
    apps.lifectl("focus", "puppet")
    wait_for(lambda: '"active"' in heard.read_text().replace(" ", ""))
    text = heard.read_text()
    assert "other" not in text and "launcher" not in text


def test_a_connection_of_a_process_that_ended_is_good_for_nothing(apps, tmp_path):
    connected = tmp_path / "connected"
    (tmp_path / "borrowed.py").write_text(BORROWED)
    out = tmp_path / "reply"
    apps.process.send_signal(signal.SIGSTOP)
    try:
        apps.puppet.tell(f"{sys.executable} {tmp_path}/borrowed.py {apps.socket} {connected} >{out} 2>&1 &")
        wait_for(connected.exists)
    finally:
        apps.process.send_signal(signal.SIGCONT)
    wait_for(lambda: out.exists() and out.read_text().endswith("\n"))
    assert json.loads(out.read_text())["error"] == "org.varlink.service.PermissionDenied"


def test_one_that_takes_all_descriptors_of_the_daemon_is_still_known(apps):
    pid = apps.process.pid
    script = f"""
import json, socket
clients = []
for _ in range(400):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(60)
    client.connect("{apps.socket}")
    client.sendall(b'{{"method": "org.lifed.List"}}\\0')
    clients.append(client)
seen = set()
for client in clients:
    try:
        reply = client.recv(65536)
    except OSError:
        continue
    if reply:
        seen |= {{app["id"] for app in json.loads(reply[:-1]).get("parameters", {{}}).get("apps") or []}}
print(sorted(seen))
"""
    path = apps.puppet.directory / "crowd.py"
    path.write_text(script)
    limit = len(os.listdir(f"/proc/{pid}/fd")) + 100
    apps.run(["prlimit", f"--pid={pid}", f"--nofile={limit}:"])
    assert apps.puppet.tell(f"{sys.executable} {path}", timeout=60).stdout.strip() == "['puppet']"
    assert "other" in apps.lifectl.apps()


# Connects to the daemon, and gives the connection to another program when the daemon has accepted it.
GIVEN = """
import socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
client.sendall(b'{"method": "org.lifed.GetStatus"}\\0')
while not client.recv(65536).endswith(b"\\0"):
    pass
other = socket.socket(socket.AF_UNIX)
other.connect(sys.argv[2])
socket.send_fds(other, [b"x"], [client.fileno()])
"""


def connection_of(app, apps, tmp_path):
    """A connection that an app has made, and this program goes on with."""
    program, place = tmp_path / "given.py", tmp_path / f"{app.identifier}.socket"
    program.write_text(GIVEN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen()
        assert app.tell(f"{sys.executable} {program} {apps.socket} {place}").returncode == 0
        with listener.accept()[0] as giver:
            (number,) = socket.recv_fds(giver, 1, 1)[1]
    connection = socket.socket(fileno=number)
    connection.settimeout(60)
    return connection


def test_rights_of_its_connections_end_with_it(apps, tmp_path):
    """The next app of the id may be that of another user."""
    with connection_of(apps.puppet, apps, tmp_path) as connection:
        assert "error" not in call(connection, "org.lifed.Describe", {"id": "puppet"})
        apps.lifectl("terminate", "puppet")
        assert connection.recv(1) == b""


def test_full_control_ends_with_the_line_of_the_manifest(apps, tmp_path):
    manifest = apps.configuration / "apps.d/launcher.toml"
    with connection_of(apps.launcher, apps, tmp_path) as full, connection_of(apps.puppet, apps, tmp_path) as other:
        assert len(call(full, "org.lifed.List", {})["parameters"]["apps"]) == 3
        manifest.write_text(manifest.read_text().replace('control = "full"', ""))
        apps.lifectl("reload")
        assert full.recv(1) == b""
        assert len(call(other, "org.lifed.List", {})["parameters"]["apps"]) == 1
