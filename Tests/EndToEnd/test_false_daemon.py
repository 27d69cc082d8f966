"""lifectl and a hostile daemon: no reply ends lifectl by a signal, and none reaches the terminal as a command."""

import os
import subprocess
import unicodedata

import pytest

from false_daemon import ROOT, FalseDaemon

LIFECTL = ROOT / ".build" / os.environ.get("LIFED_BUILD", "release") / "lifectl"

COMMANDS = """
launch x | list | list --json | list --ids | list --available --all | list --helpers | status | status x | status --pid 1
status x --json | status --follow | terminate x | kill x | kill --signal HUP x | restart x | open https://example.org/ | cat x
handoff x --activity a.b | run --id x -- true | focus x | background x | home | suspend x | resume x | wake x --for fetch
explain x | explain x --json | log --from daemon | log x --from daemon --json | timeline --from daemon | timeline --svg - --from daemon
stats --from daemon | stats --openmetrics | monitor | top --count 2 | top --count 2 --json | scene list | scene list x | scene open x
scene focus x/y | scene close x/y | interrupt begin --name a | interrupt end --name a | reload | reexec | simulate lock
simulate memory critical | adopt 1 --id x | release x | doctor
"""


def commands():
    return [command.split() for line in COMMANDS.strip().splitlines() for command in line.split("|")]


def commanding(text):
    """The characters of a text that a terminal may act on."""
    return {c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")}


@pytest.mark.parametrize("wrong", [0, 40])
def test_no_reply_of_a_daemon_ends_lifectl_or_commands_the_terminal(tmp_path, wrong):
    path = tmp_path / "control"
    faults = []
    for seed in range(4):
        daemon = FalseDaemon(path, seed, wrong)
        for command in commands():
            arguments = [LIFECTL, *command]
            result = subprocess.run(
                arguments, env={"LIFED_SOCKET": str(path), "PATH": "/usr/bin:/bin"}, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=60, check=False)
            text = (result.stdout + result.stderr).decode()
            if result.returncode < 0 or commanding(text):
                faults.append((seed, " ".join(command), result.returncode, commanding(text)))
        daemon.close()
        path.unlink()
    assert faults == []


def test_a_manifest_cannot_command_the_terminal(direct):
    text = "command = ['true']\n# a\x1b[2J \x07\x9b\u202e\tb\r\n"
    (direct.configuration / "apps.d/clock.toml").write_text(text, newline="")
    # The control characters are a mistake in TOML; the file is printed all the same.
    assert direct.lifectl.json("reload", check=False)["problems"] != []
    shown = direct.lifectl("cat", "clock").stdout
    assert "\\u{1b}[2J" in shown and "\tb" in shown
    assert commanding(shown) == set()
