"""The script that continues the adopted apps of a daemon, with saved states by hand."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import programs
from container import wait_for
from kernel import Kernel

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def rescue_adopted(tmp_path):
    """Runs the script for adopted apps with these lines as the saved state."""

    def run(*lines):
        (tmp_path / "lifed").mkdir(exist_ok=True)
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespaces = " ".join(os.readlink(f"/proc/self/ns/{kind}") for kind in ("pid", "time"))
        text = f"lifed-state format=3 boot={boot} {namespaces}\n" + "".join(lines)
        (tmp_path / "lifed/state").write_bytes(text.encode() + bytes(100))
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
        subprocess.run(["sh", ROOT / "systemd/rescue", "--adopted", "--user"], env=environment, check=True, timeout=60)

    return run


def identity(pid):
    return f"{pid}:{Kernel().stat(pid).started}"


def stopped(start, command=programs.IDLE, is_ready=lambda: True):
    """Starts a program and stops it; its process as the saved state names it."""
    pid = start(command)
    wait_for(is_ready)
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: Kernel().stat(pid).state == "T")
    return pid, identity(pid)


def test_a_state_of_another_user_names_no_process_to_the_rescue(tmp_path, start, rescue_adopted):
    if os.geteuid() != 0:
        pytest.skip("only root can make a file of another user")
    pid, named = stopped(start)
    (tmp_path / "lifed").mkdir()
    (tmp_path / "lifed/state").touch()
    os.chown(tmp_path / "lifed/state", 65534, 65534)
    rescue_adopted(f"launch app main={named} taken-in=1\n")
    assert Kernel().stat(pid).state == "T"


def test_the_last_record_of_an_app_counts_for_the_rescue(start, rescue_adopted):
    """Only that says which processes another program had stopped."""
    (held, theirs), (free, ours), (released, former) = (stopped(start) for _ in range(3))
    rescue_adopted(
        f"launch app main={ours} taken-in=1 held-before={ours}\n",
        f"launch other main={theirs} taken-in=1\n",
        f"launch released main={former} taken-in=1\n",
        f"launch app main={ours} taken-in=1\n",
        f"launch other main={theirs} taken-in=1 held-before={theirs}\n",
        "no launch released\n",
        "launch app main=1",
    )
    wait_for(lambda: Kernel().stat(free).state == "S")
    assert [Kernel().stat(pid).state for pid in (held, released)] == ["T", "T"]


# Takes a name, and says that it has it by a file.
RENAMED = [
    sys.executable,
    "-c",
    "import ctypes, signal, sys; ctypes.CDLL(None).prctl(15, sys.argv[1].encode()); open(sys.argv[2], 'w'); signal.pause()",
]


@pytest.mark.parametrize("name", ["a\nb", "a\n", "\n) T 1", ") ("])
def test_a_name_with_line_feeds_or_parentheses_keeps_no_process_stopped(tmp_path, start, rescue_adopted, name):
    def renamed(file):
        return stopped(start, [*RENAMED, name, file], file.exists)

    (free, ours), (held, theirs) = (renamed(tmp_path / each) for each in ("free", "held"))
    other, another = stopped(start)
    rescue_adopted(f"launch app main={ours} taken-in=1 stray={another} stray={theirs} held-before={theirs}\n")
    wait_for(lambda: all(Kernel().stat(pid).state == "S" for pid in (free, other)))
    assert Kernel().stat(held).state == "T"
