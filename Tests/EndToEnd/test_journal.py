"""The journal tells the story."""

import json

import pytest
import varlink

import programs
from container import wait_for
from message_ids import identifiers


def entries(lifed, *matches):
    output = lifed.container.run(["journalctl", "-o", "json", *matches]).stdout
    return [json.loads(line) for line in output.splitlines()]


def test_transitions_have_their_fields(lifed):
    lifed.lifectl.start("journal.transitions", *programs.IDLE)
    lifed.lifectl("suspend", "journal.transitions")
    match = (f"MESSAGE_ID={identifiers()['transition']}", "LIFED_APP=journal.transitions")
    wait_for(lambda: any(entry["LIFED_TO"] == "suspended" for entry in entries(lifed, *match)))
    found = entries(lifed, *match)
    assert all(entry["LIFED_REASON"] and entry["MESSAGE"] for entry in found)
    steps = [(entry["LIFED_FROM"], entry["LIFED_TO"]) for entry in found]
    assert steps[0][0] == "notRunning"
    assert all(left[1] == right[0] for left, right in zip(steps, steps[1:]))
    assert steps[-1][1] == "suspended"


def test_the_catalogue_explains_them(lifed):
    lifed.lifectl.start("journal.explained", *programs.IDLE)
    match = "LIFED_APP=journal.explained"
    wait_for(lambda: entries(lifed, match))
    text = lifed.container.run(["journalctl", "-x", match]).stdout
    assert "journal.explained went from notRunning to" in text
    assert "Defined-By: lifed" in text
    assert "@LIFED_" not in text


def test_lifectl_finds_what_is_there(lifed):
    lifed.lifectl.start("journal.log", *programs.IDLE)
    lifed.lifectl("suspend", "journal.log")

    def steps(*arguments):
        output = lifed.lifectl("log", "journal.log", "--json", *arguments).stdout
        found = [json.loads(line).get("event") for line in output.splitlines()]
        return [event["to"] for event in found if event and event["kind"] == "transition"]

    whole = ["inactive", "active", "inactive", "background", "suspended"]
    wait_for(lambda: steps() == whole)
    assert steps("--from", "daemon") == steps("--from", "journal", "--since", "1h") == whole
    assert "journal.log" in lifed.lifectl("timeline").stdout
    lifed.systemctl("stop", "lifed.service", "lifed.socket")
    # Written entries are there without the daemon, too; its memory is not.
    wait_for(lambda: steps()[-1] == "notRunning")
    for command in (["log", "journal.log"], ["timeline"], ["stats"]):
        result = lifed.lifectl(*command)
        assert "journal.log" in result.stdout
        assert result.stderr.startswith("lifectl: cannot read the daemon's memory: lifed is not running"), command
    assert lifed.lifectl("log", "--from", "daemon", check=False).returncode == 69
    refused = lifed.lifectl("log", "--system", user="stranger", check=False)
    assert refused.returncode == 69 and "in the group systemd-journal" in refused.stderr
    assert "and the journal cannot be read: not permitted" in refused.stderr and "systemd-journal" in refused.stderr


@pytest.fixture
def journal_on_disk(container):
    """With a file of their own for every user, which they may read."""
    container.run(["mkdir", "-p", "/var/log/journal"])
    container.run(["journalctl", "--flush"])
    yield
    container.run(["journalctl", "--relinquish-var"])


@pytest.mark.usefixtures("journal_on_disk")
def test_the_doctor_looks_at_the_entries_of_the_daemon_that_it_was_asked_about(lifed):
    def reading(*arguments, user=None):
        # No user has a daemon here, which the doctor finds bad.
        answer = json.loads(lifed.lifectl("doctor", "--json", *arguments, user=user, check=False).stdout)
        return next(each for each in answer["findings"] if each["subject"] == "journal access")

    lifed.container.run(["systemd-cat", "-t", "lifed", "echo", "nothing of the system's"], user="member")
    own = ["log", "--user", "--from", "journal"]
    wait_for(lambda: "nothing of the system's" in lifed.lifectl(*own, user="member").stdout)
    assert reading("--user", user="member")["verdict"] == "ok"
    refused = reading("--system", user="member")
    assert refused["verdict"] == "degraded" and refused["found"].startswith("not permitted")
    for option in [[], ["--follow"]]:
        result = lifed.lifectl("log", "--system", "--from", "journal", *option, user="member", check=False)
        assert result.returncode == 77 and "in the group systemd-journal" in result.stderr
    assert reading("--system")["verdict"] == "ok"


def test_a_foreign_continue_and_its_renewal_are_reported(lifed):
    pid = lifed.lifectl.start("journal.renewed", *programs.IDLE)
    lifed.lifectl("suspend", "journal.renewed")
    lifed.container.run(["kill", "-CONT", str(pid)])
    match = (f"MESSAGE_ID={identifiers()['suspensionRenewed']}", "LIFED_APP=journal.renewed")
    wait_for(lambda: entries(lifed, *match))


def test_a_launch_that_fails_says_why(lifed):
    result = lifed.lifectl("run", "--id", "journal.missing", "--", "/nonexistent/program", check=False)
    assert result.returncode != 0
    assert "/nonexistent/program" in result.stderr
    wait_for(lambda: entries(lifed, f"MESSAGE_ID={identifiers()['launchFailed']}", "LIFED_APP=journal.missing"))


def test_output_goes_under_the_apps_own_identifier(lifed):
    lifed.lifectl.start("journal.talker", *programs.TALKER)

    def said():
        return lifed.container.run(["journalctl", "-t", "journal.talker", "-o", "cat"]).stdout

    wait_for(lambda: "said on output" in said() and "said on error" in said())


def test_an_app_survives_the_end_of_journald(lifed):
    count = lifed.container.path("/tmp/journal.count")
    units = ["systemd-journald-dev-log.socket", "systemd-journald.socket", "systemd-journald.service"]
    script = "while :; do echo tick; n=$((n + 1)); echo $n >/tmp/journal.count; sleep 0.1; done"
    pid = lifed.lifectl.start("journal.survivor", "sh", "-c", script)

    def ticks():
        return int(count.read_text() or 0)

    wait_for(count.exists)
    lifed.systemctl("stop", *units)
    try:
        before = ticks()
        # The second line after the end raises SIGPIPE where it is not ignored.
        wait_for(lambda: ticks() > before + 3, what="an app that runs on")
    finally:
        lifed.systemctl("start", *units)
    assert lifed.lifectl.pid("journal.survivor") == pid


def test_a_journald_that_hangs_costs_entries_and_nothing_else(lifed):
    """Many more entries than journald's queue and any buffer hold, while journald is stopped."""
    pid = lifed.lifectl.start("journal.hung", *programs.IDLE)
    journald = int(lifed.systemctl("show", "-P", "MainPID", "systemd-journald.service").stdout)
    lifed.container.run(["kill", "-STOP", str(journald)])
    try:
        with varlink.Client.new_with_address(f"unix:{lifed.address}") as client, client.open("org.lifed") as apps:
            for _ in range(1000):
                apps.Focus("journal.hung")
                apps.Suspend("journal.hung")
        assert lifed.kernel.stat(pid).state == "T"
    finally:
        lifed.container.run(["kill", "-CONT", str(journald)])
    lifed.lifectl("focus", "journal.hung")
    wait_for(lambda: any("log entries were refused" in entry["MESSAGE"] for entry in entries(lifed, "-t", "lifed")))


def test_refusals_of_one_client_and_output_of_one_app_do_not_displace_the_transitions_of_others(lifed):
    """journald accepts 10,000 entries of a unit in 30 s by default, and some times as many where the disk has room."""
    flood = "yes chatter | head -n 80000; touch /run/flooded; exec sleep infinity"
    lifed.lifectl.start("journal.flood", "/bin/sh", "-c", flood)
    wait_for(lambda: lifed.container.run(["test", "-e", "/run/flooded"], check=False).returncode == 0)
    lifed.container.run(["chmod", "0755", "/run/lifed"])
    lifed.container.run(["chmod", "0666", lifed.socket])
    try:
        lifed.container.run(["runuser", "-u", "stranger", "--", "python3", "-c", REFUSED_CALLS, lifed.socket])
    finally:
        lifed.container.run(["chmod", "0751", "/run/lifed"])
    lifed.lifectl.start("journal.quiet", *programs.IDLE)
    match = (f"MESSAGE_ID={identifiers()['transition']}", "LIFED_APP=journal.quiet")
    wait_for(lambda: any(entry["LIFED_TO"] == "active" for entry in entries(lifed, *match)))
    refused = entries(lifed, f"MESSAGE_ID={identifiers()['requestRefused']}")
    assert 0 < len(refused) <= 64
    lifed.systemctl("stop", "lifed.service")
    left_out = f"MESSAGE_ID={identifiers()['entriesSuppressed']}"
    assert int(wait_for(lambda: entries(lifed, left_out))[0]["LIFED_COUNT"]) > 10_000


REFUSED_CALLS = """
import socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
call, count = b'{"method": "org.lifed.List"}\\0', 12_000
sent = answered = 0
while answered < count:
    if sent < count and sent - answered < 100:
        client.sendall(call * 50)
        sent += 50
    part = client.recv(65536)
    assert part
    answered += part.count(b"\\0")
"""
