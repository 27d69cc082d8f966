"""Rules that say which programs are adopted, and as what."""

import os
import signal
import sys

import pytest

from adoption import reaped
from container import wait_for

REFUSED = 2
NO_SUCH_APP = 66

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
    return daemon.lifectl.json("reload", check=False)["problems"]


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
    # A process of an app is that app, where it is.
    again = direct.lifectl.json("adopt", "--by-rule", str(pids[0]))["app"]
    assert (again["id"], again["foreground"]) == ("org.example.sleeper", False)
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
    assert direct.lifectl.json("status", "org.example.sleeper")["details"].get("restartAtUSec") is None


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
