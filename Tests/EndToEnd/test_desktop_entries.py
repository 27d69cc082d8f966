"""Desktop entries: found where the XDG specifications say, launched as the Desktop Entry Specification says, and refused
with a reason where that cannot be."""

import os
import signal

import pytest

from container import wait_for
from desktop import refusal
from faults import fault
from driver import call, connect


def test_an_entry_is_launched_by_its_id_or_by_its_name(desktop):
    desktop.entry("org.example.clock.desktop", "Path=/usr/share", exec='show-it "a b" %c %% %U %i %k', where=desktop.home)
    result = desktop.lifectl("launch", "org.example.clock.desktop")
    assert result.stdout.startswith("org.example.clock is active")
    file = str(desktop.home / "applications/org.example.clock.desktop")
    assert desktop.shown("org.example.clock") == ["a b", "org.example.clock", "%", file]
    assert (desktop.results / "org.example.clock.directory").read_text() == "/usr/share\n"
    pid = desktop.lifectl.pid("org.example.clock")
    desktop.lifectl("launch", "org.example.clock")
    assert desktop.lifectl.pid("org.example.clock") == pid
    app = desktop.lifectl.json("status", "org.example.clock")["details"]
    assert app["manifest"] == file and not app["app"]["adHoc"]


def test_who_gives_the_path_of_an_entry_is_told_its_id(desktop):
    file = desktop.entry("clock.desktop")
    status, text = refusal(desktop, "launch", str(file))
    assert status == 66
    assert "this is not an id; run 'lifectl launch clock.desktop' for a desktop entry, or list the apps" in text
    # The path of another file is no hint at an entry.
    assert "this is not an id; list the apps" in refusal(desktop, "launch", "../../etc/passwd")[1]
    for name in (".desktop", "../clock.desktop"):
        assert "this is not an id" in refusal(desktop, "open", "odd:1", "--app", name)[1]


def test_an_entry_that_cannot_be_read_for_want_of_descriptors_is_not_said_to_be_missing(desktop):
    file = desktop.entry("clock.desktop", "MimeType=x-scheme-handler/odd;")
    for path in (file.parent, file):
        with fault(desktop.process.pid, "openat:error=EMFILE", paths=[path]):
            for command in (("launch", "clock"), ("open", "odd:1"), ("list", "--available")):
                assert f"cannot read {path}: Too many open files" in refusal(desktop, *command)[1], command
    desktop.lifectl("launch", "clock")
    desktop.shown("clock")


def test_a_reload_that_cannot_read_an_entry_for_want_of_descriptors_keeps_the_apps(desktop):
    file = desktop.entry("clock.desktop")
    (desktop.configuration / "apps.d" / "clock.toml").write_text("suspend = 'never'\n")
    assert desktop.lifectl.json("reload")["problems"] == []
    with fault(desktop.process.pid, "openat:error=EMFILE", paths=[file]):
        assert "Too many open files" in refusal(desktop, "reload")[1]
    assert set(desktop.lifectl.apps()) == {"clock"}


def test_a_manifest_that_cannot_be_used_is_not_said_to_be_missing(desktop):
    file = desktop.configuration / "apps.d" / "clock.toml"
    file.write_text("command = '/nonexistent'\n")
    desktop.lifectl("reload", check=False)
    status, text = refusal(desktop, "launch", "clock")
    assert status == 11 and f"its manifest cannot be used: {file}:1: cannot use command: found " in text
    file.unlink()
    desktop.lifectl("reload")
    assert refusal(desktop, "launch", "clock")[0] == 66


@pytest.mark.parametrize("claim", ["Show It", "show it"])
def test_an_app_is_found_by_the_class_of_its_windows(desktop, claim):
    desktop.entry("org.example.clock.desktop", "StartupWMClass=Show It")
    desktop.lifectl("launch", "org.example.clock")
    with connect(str(desktop.socket)) as connection:
        app = call(connection, "org.lifed.FindApp", {"appID": claim})["parameters"]["app"]
    assert app["id"] == "org.example.clock"


def test_an_entry_in_a_folder_has_the_folder_in_its_id(desktop):
    desktop.entry("kde/clock.desktop", exec="show-it kde")
    desktop.lifectl("launch", "kde-clock")
    assert desktop.shown("kde-clock") == ["kde"]
    status, text = refusal(desktop, "launch", "clock")
    assert status == 66 and f"nor a desktop entry clock.desktop in {desktop.home}/applications, " in text


def test_a_persons_own_entry_comes_before_the_machines(desktop):
    desktop.entry("app.desktop", exec="show-it machine")
    desktop.entry("app.desktop", exec="show-it user", where=desktop.home)
    desktop.lifectl("launch", "app")
    assert desktop.shown("app") == ["user"]


@pytest.mark.parametrize(
    "line, exec, reason",
    [
        ("Terminal=true", "show-it", ":5: cannot use the entry: Terminal=true needs a terminal"),
        ("Hidden=true", "show-it", ":5: cannot use the entry: Hidden=true deletes it"),
        ("DBusActivatable=true", None, ":1: cannot use the entry: it has no Exec and is started over D-Bus"),
        ("", "show-it %q", ':4: cannot use the entry: Exec has the unknown field code "%q"'),
        ("Path=here", "show-it", ':5: cannot use the entry: Path is "here"; expected an absolute path'),
        ("Nonsense", "show-it", ":5: cannot use the entry: the line is no group, comment or Key=Value"),
    ],
)
def test_what_cannot_be_launched_says_why_and_where(desktop, line, exec, reason):
    file = desktop.entry("app.desktop", *([line] if line else []), exec=exec)
    status, text = refusal(desktop, "launch", "app")
    assert status == 11
    assert f"{file}{reason}" in text
    assert "app" not in desktop.launchable()
    assert reason in desktop.launchable("--all")["app"]["problem"]


def test_an_entry_that_needs_a_terminal_is_launched_in_the_one_of_the_settings(desktop, tmp_path):
    shown = tmp_path / "shown"
    terminal = tmp_path / "terminal"
    terminal.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >{shown}\nshift\nexec script -qec \"$*\" /dev/null\n")
    terminal.chmod(0o755)
    desktop.entry("app.desktop", "Terminal=true", exec="sleep 4321 %u")
    (desktop.configuration / "lifed.toml").write_text(f"terminal = ['{terminal}', '-e']\n")
    desktop.lifectl("reload")
    desktop.lifectl("launch", "app")
    wait_for(lambda: any(each.name == "sleep" for each in desktop.kernel.tree(desktop.lifectl.pid("app"))))
    assert shown.read_text().split() == ["-e", "sleep", "4321"]
    assert "app" in desktop.launchable()
    desktop.lifectl("terminate", "app")
    (desktop.configuration / "lifed.toml").write_text("terminal = ['no-such-terminal']\n")
    desktop.lifectl("reload")
    status, text = refusal(desktop, "launch", "app")
    assert status == 11 and "cannot launch app: no-such-terminal: not found in " in text


def test_a_program_that_does_not_exist_is_reported_by_the_launch(desktop):
    desktop.entry("entry.desktop", exec="nonexistent")
    (desktop.configuration / "apps.d" / "manifest.toml").write_text("command = ['/nonexistent']\n")
    desktop.lifectl("reload")
    status, text = refusal(desktop, "launch", "entry")
    assert status == 11 and "cannot launch entry: nonexistent: not found in " in text
    status, text = refusal(desktop, "launch", "manifest")
    assert status == 11 and "cannot launch manifest: /nonexistent: No such file or directory; correct what the message names" in text
    result = desktop.run([*desktop.arguments(), "--check"], check=False)
    assert result.returncode == 78 and 'the program "/nonexistent" does not exist' in result.stdout


def test_apps_lists_what_can_be_launched(desktop):
    desktop.entry("shown.desktop", "Name[de]=Gezeigt")
    desktop.entry("inner.desktop", "NoDisplay=true")
    desktop.entry("described.desktop")
    manifest = desktop.configuration / "apps.d" / "described.toml"
    manifest.write_text("name = 'Described'\ncommand = ['sleep', 'infinity']\n")
    desktop.lifectl("reload")
    desktop.lifectl.start("adhoc", "sleep", "infinity")
    desktop.lifectl("launch", "shown")
    apps = desktop.launchable()
    assert "adhoc" not in apps and "inner" not in apps
    assert apps["shown"] == {
        "id": "shown", "name": "Gezeigt", "source": "desktopEntry", "running": True, "shown": True,
        "file": str(desktop.shared / "applications/shown.desktop"), "problem": None,
    }
    assert (apps["described"]["source"], apps["described"]["file"]) == ("manifest", str(manifest))
    assert not apps["described"]["running"]
    assert desktop.launchable("--all")["inner"]["shown"] is False
    text = desktop.lifectl("list", "--available").stdout
    assert any(line.split()[:3] == ["shown", "Gezeigt", "yes"] for line in text.splitlines())
    assert "hidden from menus" in desktop.lifectl("list", "--available", "--all").stdout
    ids = desktop.lifectl("list", "--available", "--ids").stdout.split()
    assert {"shown", "described"} <= set(ids)
    desktop.lifectl("launch", "inner")


def test_an_entry_is_read_when_it_is_launched(desktop):
    file = desktop.entry("app.desktop", exec="show-it one")
    desktop.lifectl("launch", "app")
    assert desktop.shown("app") == ["one"]
    desktop.lifectl("terminate", "app")
    (desktop.results / "app").unlink()
    desktop.entry("app.desktop", exec="show-it two")
    desktop.lifectl("launch", "app")
    assert desktop.shown("app") == ["two"]
    file.unlink()
    desktop.lifectl("reload")
    assert desktop.lifectl.state("app") == "active"
    desktop.lifectl("terminate", "app")
    assert "app" not in desktop.lifectl.apps()
    assert refusal(desktop, "launch", "app")[0] == 66


def test_keys_for_lifed_count(desktop):
    desktop.entry("player.desktop", "X-Lifed-Suspend=never", "X-Lifed-Control=full", "X-Lifed-Restart=sometimes")
    desktop.lifectl("launch", "player")
    status, text = refusal(desktop, "suspend", "player")
    assert status == 2 and "never" in text
    assert 'cannot use "X-Lifed-Control": unknown key' in desktop.logged
    assert "cannot use X-Lifed-Restart: found" in desktop.logged


def test_a_manifest_on_top_of_an_entry(desktop):
    desktop.entry("app.desktop", "X-Lifed-Suspend=never", exec="show-it entry")
    manifest = desktop.configuration / "apps.d" / "app.toml"
    manifest.write_text("suspend = 'auto'\nname = 'Mine'\n")
    assert desktop.lifectl("reload").returncode == 0
    desktop.lifectl("launch", "app.desktop")
    assert desktop.shown("app") == ["entry"]
    assert desktop.lifectl.app("app")["name"] == "Mine"
    desktop.lifectl("suspend", "app")


@pytest.mark.parametrize("stays", [True, False])
def test_the_next_daemon_goes_on_with_an_app_of_an_entry(desktop, stays):
    file = desktop.entry("app.desktop", "X-Lifed-Suspend=never")
    desktop.entry("other.desktop")
    desktop.lifectl("launch", "app")
    desktop.lifectl("launch", "other")
    desktop.lifectl("suspend", "other")
    before = {name: desktop.lifectl.pid(name) for name in ("app", "other")}
    if not stays:
        file.unlink()
    desktop.process.send_signal(signal.SIGKILL)
    desktop.process.wait()
    desktop.start()
    assert {name: desktop.lifectl.pid(name) for name in before} == before
    assert desktop.lifectl.state("other") == "suspended"
    # The policy of the app that runs is that of its entry, which may be gone.
    assert desktop.lifectl("suspend", "app", check=False).returncode == 2
    desktop.lifectl("terminate", "app")
    assert ("app" in desktop.lifectl.apps()) == stays


def test_the_next_daemon_relaunches_an_app_of_an_entry_that_waits_for_its_restart(desktop):
    desktop.entry("app.desktop", "X-Lifed-Restart=on-failure", exec="false")
    desktop.lifectl("launch", "app", check=False)
    details = lambda: desktop.lifectl.json("status", "app")["details"]
    # Each pause before a relaunch is longer than the one before.
    wait_for(lambda: details()["failures"] >= 4 and details().get("restartAtUSec"))
    desktop.process.send_signal(signal.SIGKILL)
    desktop.process.wait()
    desktop.start()
    assert details()["failures"] >= 4


def test_nothing_in_a_data_directory_hurts(desktop):
    folder = desktop.shared / "applications"
    desktop.entry("good.desktop")
    (folder / "dead.desktop").symlink_to("/nonexistent")
    (folder / "loop").symlink_to(folder)
    (folder / "directory.desktop").mkdir()
    (folder / "large.desktop").write_bytes(b"[Desktop Entry]\n" + b"#" * (2 << 20))
    (folder / "binary.desktop").write_bytes(bytes(range(256)))
    (folder / "accent.desktop").write_text("[Desktop Entry]\nType=Application\nName=\u0301\nExec=\u0301 \u0301\n")
    os.mkfifo(folder / "fifo.desktop")
    assert "good" in desktop.launchable("--all")
    for name in ("dead", "directory", "large", "binary", "fifo"):
        status, text = refusal(desktop, "launch", name)
        assert status == 11 and f"{name}.desktop" in text
    # It is an entry, whose program does not exist.
    assert refusal(desktop, "launch", "accent")[0] == 11
    assert desktop.lifectl("launch", "x" * 4000, check=False).returncode == 66
    assert desktop.lifectl("launch", "../applications/good", check=False).returncode == 66
    desktop.lifectl("launch", "good")


def test_however_many_entries_there_are_there_is_an_answer(desktop):
    for number in range(4200):
        desktop.entry(f"many/app-{number:04}.desktop", "MimeType=x-scheme-handler/odd;")
    found = desktop.lifectl("list", "--available", "--ids").stdout.split()
    assert len(found) == 4096 and "many-app-0000" in found
    status, text = refusal(desktop, "open", "odd:1")
    assert status == 10 and len(text) < 1000
