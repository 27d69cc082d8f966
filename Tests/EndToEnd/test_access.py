"""The users who may use the control socket."""

import json
import subprocess

import programs
from container import wait_for
from sessions import session


def test_root_and_members_may(lifed):
    lifed.lifectl("list")
    lifed.lifectl("list", user="member")


def test_a_member_runs_programs_as_themselves(lifed):
    lifed.lifectl("run", "--id", "mine", "--", *programs.IDLE, user="member")
    pid = lifed.lifectl.pid("mine")
    owner = lifed.container.run(["stat", "-c", "%U", f"/proc/{pid}"]).stdout.strip()
    assert owner == "member"


def test_an_app_has_the_groups_of_its_caller(lifed):
    as_member = ["setpriv", "--reuid=member", "--regid=lifed", "--clear-groups"]
    lifed.container.run([*as_member, "lifectl", "run", "--id", "mine", "--", *programs.IDLE])
    status = lifed.container.run(["cat", f"/proc/{lifed.lifectl.pid('mine')}/status"]).stdout
    group = lifed.container.run(["getent", "group", "lifed"]).stdout.split(":")[2]
    numbers = {name: values.split() for name, _, values in (line.partition(":") for line in status.splitlines())}
    assert numbers["Gid"] == [group] * 4 and numbers["Groups"] == [group]


def test_a_stranger_may_not(lifed):
    result = lifed.lifectl("list", user="stranger", check=False)
    assert result.returncode != 0
    assert len(result.stderr.splitlines()) == 1


def test_a_stranger_who_gets_at_the_socket_is_refused_by_the_daemon(lifed):
    lifed.container.run(["chmod", "0755", "/run/lifed"])
    lifed.container.run(["chmod", "0666", lifed.socket])
    try:
        result = lifed.lifectl("list", user="stranger", check=False)
        assert result.returncode == 77
        assert lifed.lifectl("list").returncode == 0
    finally:
        lifed.container.run(["chmod", "0751", "/run/lifed"])


def test_files_are_as_closed_as_they_can_be(lifed):
    lifed.manifest("org.example.theirs", programs.IDLE, 'user = "stranger"')
    lifed.lifectl("reload")
    lifed.lifectl("launch", "org.example.theirs")
    places = {
        "/run/lifed": "root lifed 751",
        "/run/lifed/control": "root lifed 660",
        "/run/lifed/channel": "root root 666",
        "/run/lifed/lock": "root root 600",
        "/run/lifed/state": "root root 600",
        "/var/lib/lifed": "root root 711",
        "/var/lib/lifed/apps": "root root 711",
        "/var/lib/lifed/apps/org.example.theirs": "stranger stranger 700",
    }
    found = lifed.container.run(["stat", "-c", "%n %U %G %a", *places]).stdout.splitlines()
    assert dict(line.split(" ", 1) for line in found) == places
    for directory in ("/var/lib/lifed/apps", "/run/lifed"):
        assert lifed.container.run(["ls", directory], user="stranger", check=False).returncode != 0


def test_an_app_of_a_user_outside_of_the_group_connects_again(lifed):
    # As a version before has left it.
    lifed.container.run(["chmod", "0750", "/run/lifed"])
    lifed.systemctl("restart", "lifed.service")
    connect = "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect('/run/lifed/channel')"
    lifed.container.run(["python3", "-c", connect], user="stranger")


def test_two_peoples_daemons_do_not_see_each_other(container):
    with session(container, "member") as member, session(container, "stranger") as stranger:
        member("lifectl", "run", "--id", "members", "--", *programs.IDLE)
        stranger("lifectl", "run", "--id", "strangers", "--", *programs.IDLE)
        assert [app["id"] for app in json.loads(member("lifectl", "list", "--json").stdout)["apps"]] == ["members"]
        assert [app["id"] for app in json.loads(stranger("lifectl", "list", "--json").stdout)["apps"]] == ["strangers"]
        other = {"LIFED_SOCKET": member.socket}
        assert stranger("lifectl", "list", extra=other, check=False).returncode != 0
        assert stranger("ls", member.socket, check=False).returncode != 0
        # Even when every file is open to all users, as by a mistake.
        runtime = member.socket.removesuffix("/lifed/control")
        member("chmod", "0755", runtime, f"{runtime}/lifed")
        member("chmod", "0666", member.socket)
        assert stranger("lifectl", "list", extra=other, check=False).returncode == 77
        assert stranger("lifectl", "terminate", "members", extra=other, check=False).returncode == 77
        for directory in (f"{runtime}/lifed", "/home/member/.local/state/lifed"):
            assert container.run(["find", directory, "-not", "-user", "member"]).stdout == ""


def test_a_daemon_in_a_terminal_says_how_it_gets_control_groups(container):
    with session(container, "stranger") as run:
        run("systemctl", "--user", "stop", "lifed.service", "lifed.socket")
        # A terminal is a unit of the user's systemd, with a shell beside the daemon.
        terminal = ("systemd-run", "--user", "--pipe", "--quiet", "--wait", "sh", "-c")
        daemon = run.popen(*terminal, "lifed --user --log-target=console 2>&1; true")
        wait_for(lambda: run("lifectl", "list", check=False).returncode == 0, what="the daemon answers")
        run("lifectl", "run", "--id", "clock", "--", *programs.IDLE)
        assert '"containment":"keeper"' in run("lifectl", "list", "--json").stdout.replace(" ", "")
        run("pkill", "-x", "-u", "stranger", "lifed")
        said = daemon.communicate(timeout=60)[0]
        assert "using a keeper for each app; start it with '" in said, said
        command = said.split("start it with '")[1].split("'")[0]
        daemon = run.popen(*terminal, f"{command} --log-target=console 2>&1; true")
        wait_for(lambda: run("lifectl", "list", check=False).returncode == 0, what="the daemon answers")
        run("lifectl", "run", "--id", "clock", "--", *programs.IDLE)
        listed = run("lifectl", "list", "--json").stdout.replace(" ", "")
        run("pkill", "-x", "-u", "stranger", "lifed")
        said = daemon.communicate(timeout=60)[0]
        assert '"containment":"cgroup"' in listed, said


def test_a_person_has_a_daemon_of_their_own(container):
    user = "stranger"
    number = container.run(["id", "-u", user]).stdout.strip()
    runtime = f"/run/user/{number}"
    session = {"XDG_RUNTIME_DIR": runtime, "DBUS_SESSION_BUS_ADDRESS": f"unix:path={runtime}/bus", "HOME": f"/home/{user}"}
    container.run(["systemctl", "start", f"user@{number}.service"])
    try:
        container.run(["systemctl", "--user", "start", "lifed.socket"], user=user, environment=session)
        container.run(["lifectl", "run", "--id", "own", "--", *programs.IDLE], user=user, environment=session)
        listed = container.run(["lifectl", "list", "--json"], user=user, environment=session).stdout
        assert '"own"' in listed
        assert '"containment":"cgroup"' in listed.replace(" ", "")
        mode = container.run(["stat", "-c", "%U %a", f"{runtime}/lifed/control"]).stdout.split()
        assert mode == [user, "600"]
        container.run(["systemctl", "--user", "stop", "lifed.service"], user=user, environment=session)
    finally:
        container.run(["systemctl", "stop", f"user@{number}.service"])


def test_a_member_controls_own_apps_and_sees_id_and_state_of_others(lifed):
    lifed.lifectl.start("roots", "/bin/sh", "-c", "exec sleep infinity # password=secret")
    lifed.lifectl("run", "--id", "mine", "--", *programs.IDLE, user="member")
    apps = {app["id"]: app for app in lifed.lifectl.json("list", user="member")["apps"]}
    assert apps["mine"]["pid"] and apps["mine"]["state"] == "active"
    assert apps["roots"]["state"] in ("background", "suspended") and apps["roots"].get("pid") is None
    for command in ("explain", "suspend", "focus", "terminate", "kill", "launch"):
        result = lifed.lifectl(command, "roots", user="member", check=False)
        assert (result.returncode, "secret" in result.stdout + result.stderr) == (77, False), command
        assert "another user" in result.stderr
    for command in (["reload"], ["simulate", "memory", "critical"]):
        assert lifed.lifectl(*command, user="member", check=False).returncode == 77, command
    assert lifed.lifectl.state("roots") != "notRunning"
    assert "secret" not in lifed.lifectl("status", "--json", user="member").stdout
    for command in ("suspend", "focus", "terminate"):
        lifed.lifectl(command, "mine", user="member")


def test_an_app_with_full_control_has_the_rights_of_its_user_alone(lifed):
    lifed.lifectl.start("roots", *programs.IDLE)
    calls = ("terminate roots", "explain roots", "reload", "simulate memory critical", "status launcher")
    script = "".join(f"lifectl {call}; echo $?; " for call in calls)
    command = ["/bin/sh", "-c", f"({script}) >/tmp/launcher.status 2>/tmp/launcher.errors; exec sleep infinity"]
    lifed.manifest("launcher", command, 'user = "member"\ncontrol = "full"')
    lifed.lifectl("reload")
    lifed.lifectl("launch", "launcher")

    def statuses():
        text = lifed.container.run(["cat", "/tmp/launcher.status"], check=False).stdout
        return [int(line) for line in text.splitlines() if line.isdigit()]

    wait_for(lambda: len(statuses()) == len(calls), what=f"{len(calls)} exit statuses, not {statuses()}")
    assert statuses() == [77, 77, 77, 77, 0]
    assert lifed.lifectl.state("roots") != "notRunning"


def test_a_member_sees_the_history_of_own_apps_that_have_ended(lifed):
    for user, app in (("member", "mine"), ("root", "theirs")):
        lifed.lifectl("run", "--id", app, "--", *programs.IDLE, user=user)
        lifed.lifectl("kill", app)
    events = lifed.lifectl.json("timeline", "--from", "daemon", user="member")["lanes"]
    assert [lane["app"] for lane in events] == ["mine"]
    assert "→ notRunning" in lifed.lifectl("explain", "mine", user="member").stdout
    assert lifed.lifectl("explain", "theirs", user="member", check=False).returncode != 0


def test_a_monitor_of_a_member_tells_the_state_of_others_and_no_more(lifed):
    monitor = lifed.container.popen(["lifectl", "monitor", "--json"], user="member", stdout=subprocess.PIPE)
    try:
        assert json.loads(monitor.stdout.readline())["apps"] == []
        lifed.lifectl.start("roots", *programs.IDLE)
        lifed.lifectl("terminate", "roots")
        steps = []
        while not steps or steps[-1]["to"] != "notRunning":
            steps.append(json.loads(monitor.stdout.readline())["transition"])
        assert steps[0]["from"] == "notRunning"
        assert all(step["reason"] is None and step.get("pid") is None for step in steps)
    finally:
        monitor.kill()
        monitor.wait()


def test_members_of_the_groups_of_administrators_control_everything(lifed):
    lifed.lifectl.start("roots", *programs.IDLE)
    lifed.configure('[access]\nadministrators = ["lifed"]\n')
    lifed.lifectl("reload")
    assert lifed.lifectl.json("list", user="member")["apps"][0]["pid"]
    lifed.lifectl("terminate", "roots", user="member")


def test_the_foreground_is_the_users_whose_session_the_seat_shows(lifed, logind):
    lifed.lifectl("run", "--id", "mine", "--", *programs.IDLE, user="member")
    logind.open_session("seat-of-stranger", user="stranger")
    for command in (["focus", "mine"], ["home"], ["interrupt", "begin"], ["run", "--id", "new", "--", *programs.IDLE]):
        result = lifed.lifectl(*command, user="member", check=False)
        assert result.returncode == 77 and "seat0" in result.stderr, command
    lifed.lifectl("suspend", "mine", user="member")
    logind.close_session("seat-of-stranger")
    wait_for(lambda: not logind.sessions())
    logind.open_session("seat-of-member", user="member")
    lifed.lifectl("focus", "mine", user="member")


def test_rights_that_a_reload_takes_away_end_for_clients_that_are_connected(lifed):
    lifed.configure('[access]\nadministrators = ["lifed"]\n')
    lifed.lifectl("reload")
    monitor = lifed.container.popen(["lifectl", "monitor", "--json"], user="member", stdout=subprocess.PIPE)
    try:
        assert json.loads(monitor.stdout.readline())["apps"] == []
        lifed.lifectl.start("roots", *programs.IDLE)
        assert json.loads(monitor.stdout.readline())["transition"]["reason"] is not None
        lifed.configure("[access]\nadministrators = []\n")
        lifed.lifectl("reload")
        assert monitor.wait(timeout=60) != 0
        assert lifed.lifectl("terminate", "roots", user="member", check=False).returncode == 77
    finally:
        monitor.kill()
        monitor.wait()


def test_a_member_that_has_left_the_group_has_no_right_after_a_reload(lifed):
    as_before = ["setpriv", "--reuid=member", "--regid=member", "--groups=lifed", "lifectl"]
    monitor = lifed.container.popen([*as_before, "monitor", "--json"], stdout=subprocess.PIPE)
    try:
        assert json.loads(monitor.stdout.readline())["apps"] == []
        lifed.container.run(["gpasswd", "-d", "member", "lifed"])
        lifed.lifectl("reload")
        assert monitor.wait(timeout=60) != 0
        # A process keeps the groups of its login.
        assert lifed.container.run([*as_before, "list"], check=False).returncode == 77
        lifed.container.run(["gpasswd", "-a", "member", "lifed"])
        lifed.lifectl("reload")
        assert lifed.container.run([*as_before, "list"]).returncode == 0
    finally:
        lifed.container.run(["gpasswd", "-a", "member", "lifed"])
        monitor.kill()
        monitor.wait()


def test_a_process_with_a_group_that_its_account_never_had_keeps_its_rights_after_a_reload(lifed):
    # As a service with SupplementaryGroups= has it.
    client = ["setpriv", "--reuid=stranger", "--regid=stranger", "--groups=lifed", "lifectl"]
    assert lifed.container.run([*client, "list"]).returncode == 0
    lifed.lifectl("reload")
    assert lifed.container.run([*client, "list"]).returncode == 0


def test_a_member_cannot_adopt_a_process_as_the_app_of_another_user(lifed):
    app = "org.example.roots"
    lifed.manifest(app, programs.IDLE)
    lifed.lifectl("reload")
    script = "setsid sleep 5007 > /dev/null 2>&1 & echo $!"
    pid = lifed.container.run(["sh", "-c", script], user="member").stdout.strip()
    result = lifed.lifectl("adopt", pid, "--id", app, "--background", user="member", check=False)
    assert result.returncode == 77 and "another user" in result.stderr
    assert not lifed.lifectl.app(app).get("adopted")
    lifed.lifectl("launch", app)
    assert lifed.lifectl.pid(app) != int(pid)
    lifed.container.run(["kill", pid])


def test_a_member_who_goes_home_sees_id_and_state_of_another_users_app(lifed):
    app = "org.example.home"
    lifed.manifest(app, programs.IDLE, 'name = "Home of root"')
    lifed.configure(f'homeApp = "{app}"\n')
    lifed.lifectl("reload")
    lifed.lifectl("home")
    seen = lifed.lifectl.json("home", user="member")["app"]
    assert (seen["id"], seen["state"], seen["foreground"]) == (app, "active", True)
    assert (seen["name"], seen["pid"], seen["reason"]) == (None, None, None)
    assert lifed.lifectl.json("home")["app"]["pid"] == lifed.lifectl.pid(app)


def test_a_program_of_a_member_keeps_its_id_from_a_later_manifest_of_another_user(lifed):
    app = "org.example.shared"
    lifed.lifectl("run", "--id", app, "--background", "--", *programs.IDLE, user="member")
    pid = lifed.lifectl.pid(app)
    lifed.manifest(app, programs.IDLE, 'user = "stranger"')
    lifed.configure(f'homeApp = "{app}"\n')
    for prepare in (lambda: lifed.lifectl("reload"), lambda: lifed.systemctl("restart", "lifed.service")):
        prepare()
        assert lifed.lifectl.pid(app) == pid
        for command in (["launch", app], ["restart", app], ["open", "--app", app, "https://example.org"]):
            result = lifed.lifectl(*command, check=False)
            assert result.returncode != 0 and "a program of another user has the id" in result.stderr, command
        lifed.lifectl("home")
        assert not lifed.lifectl.app(app)["foreground"]
        lifed.lifectl("explain", app, user="member")
        assert lifed.lifectl.json("list", user="member")["apps"][0]["pid"] == pid
    lifed.lifectl("terminate", app, user="member")
    lifed.lifectl("launch", app)
    assert lifed.lifectl.pid(app) != pid
    owner = lifed.container.run(["stat", "-c", "%U", f"/proc/{lifed.lifectl.pid(app)}"]).stdout.strip()
    assert owner == "stranger"
    assert lifed.lifectl("explain", app, user="member", check=False).returncode == 77


def test_a_member_reads_no_line_of_a_manifest_that_cannot_be_used(lifed):
    app = "org.example.roots"
    lifed.manifest(app, programs.IDLE, 'secret-key = "x"')
    lifed.lifectl("reload", check=False)
    assert "secret-key" in lifed.lifectl("launch", app, check=False).stderr
    calls = (
        ["launch", app], ["restart", app], ["open", "--app", app, "https://example.org"], ["wake", app, "--for", "fetch"],
        ["handoff", app, "--activity", "org.example.note"], ["scene", "open", app], ["interrupt", "end", "--answer", app],
    )
    for command in calls:
        result = lifed.lifectl(*command, user="member", check=False)
        assert result.returncode != 0, command
        assert "its manifest cannot be used; ask an administrator" in result.stderr, (command, result.stderr)
        assert "secret-key" not in result.stderr and ".toml" not in result.stderr, (command, result.stderr)
