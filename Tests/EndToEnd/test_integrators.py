"""The commands and the programs of docs/integrate do what the pages say, line for line."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from container import wait_for
from kiosk import stand_ins
from lifectl import Lifectl
from sessions import session

PAGES = Path(__file__).resolve().parents[2] / "docs/integrate"


def blocks(page, language, heading=""):
    """The blocks of a page, or of one of its sections, each as a whole."""
    text = (PAGES / f"{page}.md").read_text()
    if heading:
        text = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert found, f"{page}, {heading}: {language}"
    return found


def follow(run, script):
    """Runs a block as a user would paste it, and ends at the first line that fails."""
    return run("bash", "-euc", script).stdout


@pytest.fixture
def user(container):
    """The session of an ordinary user, without a started lifed."""
    programs = ["/usr/bin/example-reader", "/usr/bin/example-home"]
    with stand_ins(container, *programs), session(container, "stranger") as run:
        run("systemctl", "--user", "stop", "lifed.service", "lifed.socket")
        yield run
        run("systemctl", "--user", "disable", "lifed.socket", "lifed.service")
        run("rm", "-r", "/home/stranger/.config/lifed")


def test_a_timer_wakes_an_app_as_the_guide_says(container, user):
    timer, service = blocks("../guide/configuration", "ini", "Background work")
    # Now, and to the second.
    timer = re.sub("OnCalendar=.*\nRandomizedDelaySec=.*", "OnCalendar=*:*:*\nAccuracySec=1s", timer)
    home = "/home/stranger/.config"
    files = {
        "lifed/apps.d/org.example.mail.toml": "command = ['sleep', 'infinity']\ncallbacks = 'none'\n",
        "systemd/user/mail-fetch.timer": timer,
        "systemd/user/mail-fetch.service": service,
    }
    for name, text in files.items():
        container.write(f"{home}/{name}", text, user="stranger")
    user("systemctl", "--user", "daemon-reload")
    user("systemctl", "--user", "start", "lifed.service")
    lifectl = Lifectl(lambda command, **options: user(*command, **options))
    user("systemctl", "--user", "enable", "--now", "mail-fetch.timer")
    try:
        wait_for(lambda: lifectl.app("org.example.mail").get("reason") == "wake", what="an app that is woken")
    finally:
        user("systemctl", "--user", "disable", "--now", "mail-fetch.timer")
        user("rm", "-r", f"{home}/systemd")


def test_a_session_and_a_shell(container, user, tmp_path):
    lifectl = Lifectl(lambda command, **options: user(*command, **options))
    start, display, lock = blocks("shells", "sh", "A user's session")
    assert re.search(r"^ +state +active", follow(user, start), re.MULTILINE)
    lifectl("launch", "org.example.reader")
    pid = lifectl.apps()["org.example.reader"]["pid"]
    follow(lambda *command: user(*command, extra={"WAYLAND_DISPLAY": "wayland-7", "DISPLAY": ":7"}), display)
    assert lifectl.apps()["org.example.reader"]["pid"] == pid
    follow(user, lock)
    lifectl.wait_for_state("org.example.reader", "active")

    lifectl("terminate", "org.example.reader")
    follow(user, blocks("shells", "sh", "The shell of a phone")[0])
    apps = lifectl.apps()
    assert apps["org.example.reader"]["state"] == "active" and apps["org.example.home"]["foreground"] is False
    pid = apps["org.example.reader"]["pid"]
    words = container.run(["cat", f"/proc/{pid}/cmdline"]).stdout.split("\0")
    environment = container.run(["cat", f"/proc/{pid}/environ"]).stdout.split("\0")
    assert "WAYLAND_DISPLAY=wayland-7" in environment, words
    with program(container, user, 0) as follower:
        for identifier in ("org.example.home", "org.example.reader"):
            follower.stdin.write(f"{identifier}\n")
            follower.stdin.flush()
            lifectl.wait_for_state(identifier, "active")
        _, complaints = follower.communicate("no.such.app\n", timeout=60)
        assert complaints.startswith("no.such.app org.lifed.NoSuchApp") and follower.returncode == 0

    seen = tmp_path / "seen"
    turns = itertools.cycle(["org.example.home", "org.example.reader"])

    def both_are_seen():
        # The program hears of changes from some moment on, so there are changes until it does.
        lifectl("focus", next(turns))
        return set(seen.read_text().split()) == {"org.example.home", "org.example.reader"}

    with open(seen, "w") as output, program(container, user, 1, stdout=output) as watcher:
        try:
            wait_for(both_are_seen)
        finally:
            watcher.kill()


def program(container, user, number, stdout=subprocess.PIPE):
    """One of the pages' programs in Python, which reaches the socket from outside of the container."""
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(container.path(Path(user.socket).parents[1]))}
    command = [sys.executable, "-c", blocks("compositors", "python")[number]]
    return subprocess.Popen(
        command, env=environment, text=True, stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.PIPE
    )
