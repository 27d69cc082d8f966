"""Who may use the control socket."""

import json

import programs
from sessions import session


def test_root_and_members_may(lifed):
    lifed.lifectl("list")
    lifed.lifectl("list", user="member")


def test_a_member_runs_programs_as_themselves(lifed):
    lifed.lifectl("run", "--id", "mine", "--", *programs.IDLE, user="member")
    pid = lifed.lifectl.pid("mine")
    owner = lifed.container.run(["stat", "-c", "%U", f"/proc/{pid}"]).stdout.strip()
    assert owner == "member"


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
        lifed.container.run(["chmod", "0750", "/run/lifed"])


def test_files_are_as_closed_as_they_can_be(lifed):
    lifed.manifest("org.example.theirs", programs.IDLE, 'user = "stranger"')
    lifed.lifectl("reload")
    lifed.lifectl("launch", "org.example.theirs")
    places = {
        "/run/lifed": "root lifed 750",
        "/run/lifed/control": "root lifed 660",
        "/run/lifed/lock": "root root 600",
        "/var/lib/lifed": "root root 711",
        "/var/lib/lifed/apps": "root root 711",
        "/var/lib/lifed/apps/org.example.theirs": "stranger stranger 700",
    }
    found = lifed.container.run(["stat", "-c", "%n %U %G %a", *places]).stdout.splitlines()
    assert dict(line.split(" ", 1) for line in found) == places
    assert lifed.container.run(["ls", "/var/lib/lifed/apps"], user="member", check=False).returncode != 0


def test_two_peoples_daemons_do_not_see_each_other(container):
    with session(container, "member") as member, session(container, "stranger") as stranger:
        member("lifectl", "run", "--id", "members", "--", *programs.IDLE)
        stranger("lifectl", "run", "--id", "strangers", "--", *programs.IDLE)
        assert [app["id"] for app in json.loads(member("lifectl", "list", "--json").stdout)["apps"]] == ["members"]
        assert [app["id"] for app in json.loads(stranger("lifectl", "list", "--json").stdout)["apps"]] == ["strangers"]
        other = {"LIFED_SOCKET": member.socket}
        assert stranger("lifectl", "list", extra=other, check=False).returncode != 0
        assert stranger("ls", member.socket, check=False).returncode != 0
        # Even when every file is open to everybody, as by a mistake.
        runtime = member.socket.removesuffix("/lifed/control")
        member("chmod", "0755", runtime, f"{runtime}/lifed")
        member("chmod", "0666", member.socket)
        assert stranger("lifectl", "list", extra=other, check=False).returncode == 77
        assert stranger("lifectl", "terminate", "members", extra=other, check=False).returncode == 77
        for directory in (f"{runtime}/lifed", "/home/member/.local/state/lifed"):
            assert container.run(["find", directory, "-not", "-user", "member"]).stdout == ""


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
