"""Adopting where systemd has its units and sessions."""

import subprocess

import pytest

import programs
from container import wait_for

REFUSED = 2


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
    assert lifed.lifectl.json("adopt", str(outsider), "--id", "outsider")["app"]["containment"] == "descent"
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
        lifed.lifectl("release", "member")
    finally:
        container.run(["rm", "-f", "/run/systemd/sessions/c99"])
        container.run(["systemctl", "stop", "session-c99.scope"], check=False)
        session.wait(timeout=60)
