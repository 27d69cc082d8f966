"""What one member of the group lifed may have of the daemon, so that something is left for the others."""

import contextlib
import os
import re

import pytest

import programs
from container import wait_for
from direct import DirectDaemon
from driver import call, connect

USER, OTHER, GROUP = 65533, 65532, 65531
ENVIRONMENT = {"ONE": "x" * 100_000, "OTHER": "x" * 100_000}

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def shared(direct, tmp_path):
    """A daemon of the system on a machine with a group lifed, and a way to start it again."""
    direct.stop()
    groups = tmp_path / "group"
    groups.write_text(f"root:x:0:\nlifed:x:{GROUP}:\n")
    direct.wrapper = ["unshare", "--mount", "sh", "-c", f'mount --bind {groups} /etc/group && exec "$@"', "sh"]
    direct.start(wrapper=direct.wrapper)
    yield direct


@contextlib.contextmanager
def member(daemon, user=USER):
    """A connection of a member."""
    place, groups = os.getcwd(), os.getgroups()
    # The member could not enter the directories above.
    os.chdir(daemon.runtime)
    os.setgroups([GROUP])
    os.setegid(user)
    os.seteuid(user)
    try:
        connection = connect("control")
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
        os.chdir(place)
    with connection:
        yield connection


def run(connection, id, environment=ENVIRONMENT):
    command = {"command": programs.IDLE, "id": id, "environment": environment, "background": True}
    return call(connection, "org.lifed.Run", command)


def state_size(daemon):
    return (daemon.runtime / "state").stat().st_size


def test_programs_of_a_member_have_a_share_of_the_saved_state(shared):
    """The daemon writes all of the state when its file is full, and others wait meanwhile."""
    with member(shared) as client, connect(str(shared.socket)) as root:
        assert run(client, "first", {"MARK": "mark-of-the-first"})["parameters"]["app"]["id"] == "first"
        assert (shared.runtime / "state").read_bytes().count(b"mark-of-the-first") == 1
        count = 0
        while "error" not in (reply := run(client, f"app-{count}")):
            count += 1
            assert count < 30, "the share has no end"
        assert (count, reply["error"]) == (20, "org.lifed.Refused")
        assert "all together may take 4194304" in reply["parameters"]["reason"]
        assert reply["parameters"]["remedy"] == "end some of them, or pass a smaller environment"
        size = state_size(shared)
        for number in range(40):
            assert run(client, f"refused-{number}")["error"] == "org.lifed.Refused"
        assert state_size(shared) == size < 24 << 20
        # There is room for others, and for the member when a program has ended.
        with member(shared, OTHER) as other:
            assert "error" not in run(other, "others")
        assert "error" not in run(root, "roots")
        assert "error" not in call(client, "org.lifed.Kill", {"id": "app-0"})
        assert "error" not in run(client, "next")


def test_the_share_of_a_member_stays_after_a_restart(shared):
    with member(shared) as client:
        for number in range(20):
            assert "error" not in run(client, f"app-{number}")
    shared.process.kill()
    shared.process.wait()
    shared.start(wrapper=shared.wrapper)
    with member(shared) as client:
        assert run(client, "late")["error"] == "org.lifed.Refused"


def test_interruptions_of_members_leave_some_for_administrators(shared):
    def begin(connection, name):
        return call(connection, "org.lifed.BeginInterruption", {"name": name})

    with contextlib.ExitStack() as stack:
        members = [stack.enter_context(member(shared, USER - number)) for number in range(6)]
        begun = [0] * len(members)
        for number, client in enumerate(members):
            while "error" not in (reply := begin(client, f"{number}.{begun[number]}")):
                begun[number] += 1
                assert begun[number] <= 64
            assert reply["error"] == "org.lifed.Refused", reply
        assert begun == [16, 16, 16, 0, 0, 0]
        # One that is under way is begun again.
        assert "error" not in begin(members[0], "0.0")
        with connect(str(shared.socket)) as root:
            assert "error" not in begin(root, "call")
            assert "error" not in call(root, "org.lifed.EndInterruption", {"name": "0.0"})
        assert "error" not in begin(members[5], "later")


def test_what_a_member_does_displaces_no_journal_entries_of_others(shared):
    with member(shared) as client, connect(str(shared.socket)) as root:
        for _ in range(400):
            for verb in ("Begin", "End"):
                assert "error" not in call(client, f"org.lifed.{verb}Interruption", {"name": "members"})
        assert "error" not in call(root, "org.lifed.BeginInterruption", {"name": "roots"})
        wait_for(lambda: "interruption roots began" in shared.logged)
    shared.stop()
    left_out = re.findall(rf"left out (\d+) further log entries caused by the apps of user {USER}", shared.logged)
    assert left_out and shared.logged.count("interruption members") + sum(map(int, left_out)) == 800
