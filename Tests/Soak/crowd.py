"""The apps of a soak: of every sort that there is, well-behaved or not."""

import sys
from dataclasses import dataclass
from pathlib import Path

import programs
from listeners import LISTENER

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = """
foregroundLimit = {front}
[timeouts]
background = "500ms"
didEnterBackground = "{patience}s"
termination = "2s"
task = "4s"
taskExpiration = "4s"
"""
CRASHER = ["sh", "-c", "sleep $(( $$ % 7 )).3; kill -SEGV $$"]
LEAVER = ["sh", "-c", "sleep $(( $$ % 9 )).3"]


@dataclass(frozen=True)
class Kind:
    """A sort of app: how many of two hundred, what it runs, and the ways in which it may end by itself."""

    name: str
    share: int
    command: list
    extra: str = ""
    ends: frozenset = frozenset()


def kinds(log):
    def listener(*options):
        return [sys.executable, LISTENER, str(log), *options]

    silent = frozenset({"backgroundTimeout"})
    return [
        Kind("idle", 35, programs.IDLE),
        Kind("family", 40, programs.FAMILY),
        Kind("runaway", 10, programs.RUNAWAY),
        Kind("frozen", 5, programs.FAMILY, 'suspendMethod = "freezer"'),
        Kind("both", 5, programs.FAMILY, 'suspendMethod = "both"'),
        Kind("busy", 6, programs.BUSY),
        Kind("awake", 3, programs.IDLE, 'suspend = "never"'),
        Kind("stubborn", 8, programs.STUBBORN),
        Kind("crasher", 5, CRASHER, ends=frozenset({"crash"})),
        Kind("returner", 4, CRASHER, 'restart = "always"', frozenset({"crash"})),
        Kind("leaver", 4, LEAVER, ends=frozenset({"exit"})),
        Kind("shell", 8, [str(ROOT / "Examples/shell-app/app")]),
        Kind("listener", 25, listener("delay=0.05")),
        Kind("slow", 10, listener("delay=0.6")),
        Kind("unresigning", 6, listener("silent=will-resign-active")),
        Kind("unanswering", 4, listener("silent=did-enter-background"), ends=silent),
        Kind("mute", 5, listener("mute")),
        Kind("garbage", 4, listener("garbage=20")),
        Kind("task", 8, listener("delay=0.05", "task=upload"), ends=frozenset({"taskTimeout"})),
        Kind("player", 5, listener("activity=audio"), 'backgroundModes = ["audio"]'),
    ]


def write_manifests(directory, log, count):
    """Writes the manifests, and returns the kinds by the apps' ids."""
    apps = {}
    for kind in kinds(log):
        for number in range(max(1, round(kind.share * count / 200))):
            apps[f"{kind.name}-{number}"] = kind
    for app, kind in apps.items():
        words = ", ".join("'''" + word + "'''" for word in kind.command)
        environment = f"[environment]\nTMPDIR = '{log.parent}'\n"
        (directory / f"{app}.toml").write_text(f"command = [{words}]\n{kind.extra}\n{environment}")
    return apps
