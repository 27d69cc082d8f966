"""Desktop entries: found where the XDG specifications say, launched as the Desktop Entry Specification says, and refused
with a reason where that cannot be."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from container import wait_for
from direct import DirectDaemon

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path("/usr/share/applications")

# Writes its arguments, one a line, where the test finds them, and stays.
SHOW = """#!/bin/sh
printf '%s\\n' "$@" >"$RESULTS/$LIFECYCLE_APP_ID.new"
pwd >"$RESULTS/$LIFECYCLE_APP_ID.directory"
mv "$RESULTS/$LIFECYCLE_APP_ID.new" "$RESULTS/$LIFECYCLE_APP_ID"
exec sleep infinity
"""


class Desktop(DirectDaemon):
    """A person's own daemon, with a data directory of their own and one of the machine's."""

    def __init__(self, products, directory):
        super().__init__(products, directory)
        self.home = directory / "home"
        self.shared = directory / "shared"
        self.results = directory / "results"
        self.variables = {
            "XDG_CONFIG_HOME": directory / "own", "XDG_CONFIG_DIRS": directory / "xdg", "XDG_CURRENT_DESKTOP": "sway",
            "XDG_DATA_HOME": self.home, "XDG_DATA_DIRS": f"{self.shared}:/usr/share", "RESULTS": self.results,
            "PATH": f"{directory / 'bin'}:/usr/bin:/bin", "LC_ALL": "de_DE.UTF-8",
        }
        for each in (self.home, self.shared, self.results, directory / "bin"):
            each.mkdir()
        program = directory / "bin" / "show-it"
        program.write_text(SHOW)
        program.chmod(0o755)

    def arguments(self):
        return [*super().arguments(), "--user"]

    def spawn(self, wrapper=()):
        super().spawn(["env", *(f"{name}={value}" for name, value in self.variables.items()), *wrapper])

    def entry(self, path, *lines, exec="show-it", where=None):
        """Writes an entry below the machine's data directory, or another one."""
        file = (where or self.shared) / "applications" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        text = ["[Desktop Entry]", "Type=Application", f"Name={file.stem}", *([f"Exec={exec}"] if exec else []), *lines]
        file.write_text("\n".join(text) + "\n")
        return file

    def choose(self, text, name="own/mimeapps.list"):
        """Writes what opens what."""
        file = self.home.parent / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    def shown(self, app):
        """The arguments that an app was started with."""
        file = self.results / app
        wait_for(file.exists, what=f"{app} has written its arguments")
        return file.read_text().splitlines()

    def launchable(self, *options):
        return {app["id"]: app for app in self.lifectl.json("apps", *options)["apps"]}


def make(tmp_path):
    return Desktop(ROOT / ".build" / os.environ.get("LIFED_BUILD", "release"), tmp_path)


@pytest.fixture
def desktop(tmp_path):
    daemon = make(tmp_path)
    daemon.start()
    yield daemon
    daemon.stop()


def refusal(desktop, *arguments):
    result = desktop.lifectl(*arguments, check=False)
    assert result.returncode != 0
    return result.returncode, result.stderr


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
    assert "this is not an id; 'lifectl launch clock.desktop' launches an entry; 'lifectl apps' shows" in text
    for name in ("", ".desktop", "../clock.desktop"):
        assert "this is not an id" in refusal(desktop, "open", "odd:1", "--app", name)[1]


def test_a_manifest_that_cannot_be_used_is_not_said_to_be_missing(desktop):
    file = desktop.configuration / "apps.d" / "clock.toml"
    file.write_text("command = ['/nonexistent']\n")
    desktop.lifectl("reload")
    status, text = refusal(desktop, "launch", "clock")
    assert status == 73 and f"its manifest cannot be used: {file}:1: command: the program " in text
    file.unlink()
    desktop.lifectl("reload")
    assert refusal(desktop, "launch", "clock")[0] == 66


def test_a_directory_is_opened_as_one_whatever_its_name(desktop, tmp_path):
    desktop.entry("files.desktop", "MimeType=inode/directory;", exec="show-it %f")
    folder = tmp_path / "holiday.png"
    folder.mkdir()
    desktop.lifectl("open", str(folder), check=False)
    assert desktop.shown("files") == [str(folder)]


def test_an_entry_in_a_folder_has_the_folder_in_its_id(desktop):
    desktop.entry("kde/clock.desktop", exec="show-it kde")
    desktop.lifectl("launch", "kde-clock")
    assert desktop.shown("kde-clock") == ["kde"]
    status, text = refusal(desktop, "launch", "clock")
    assert status == 66 and f"no desktop entry clock.desktop in {desktop.home}/applications, " in text


def test_a_persons_own_entry_comes_before_the_machines(desktop):
    desktop.entry("app.desktop", exec="show-it machine")
    desktop.entry("app.desktop", exec="show-it person", where=desktop.home)
    desktop.lifectl("launch", "app")
    assert desktop.shown("app") == ["person"]


@pytest.mark.parametrize(
    "line, exec, reason",
    [
        ("Terminal=true", "show-it", ":5: Terminal=true: it needs a terminal"),
        ("Hidden=true", "show-it", ":5: Hidden=true: it counts as deleted"),
        ("TryExec=nonexistent", "show-it", ':5: TryExec: the program "nonexistent" does not exist'),
        ("DBusActivatable=true", None, ":1: has no Exec: it can be started by way of D-Bus only"),
        ("", "show-it %q", ':4: Exec: "%q" is no field code'),
        ("", "nonexistent", ':4: Exec: the program "nonexistent" does not exist'),
        ("Path=here", "show-it", ':5: Path: expected an absolute path, found "here"'),
        ("Nonsense", "show-it", ":5: expected a group, a comment or Key=Value"),
    ],
)
def test_what_cannot_be_launched_says_why_and_where(desktop, line, exec, reason):
    file = desktop.entry("app.desktop", *([line] if line else []), exec=exec)
    status, text = refusal(desktop, "launch", "app")
    assert status == 73
    assert f"{file}{reason}" in text
    assert "app" not in desktop.launchable()
    assert reason in desktop.launchable("--all")["app"]["problem"]


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
        "file": str(desktop.shared / "applications/shown.desktop"),
    }
    assert (apps["described"]["source"], apps["described"]["file"]) == ("manifest", str(manifest))
    assert not apps["described"]["running"]
    assert desktop.launchable("--all")["inner"]["shown"] is False
    text = desktop.lifectl("apps").stdout
    assert any(line.split()[:3] == ["shown", "Gezeigt", "yes"] for line in text.splitlines())
    assert "menus leave it out" in desktop.lifectl("apps", "--all").stdout
    ids = desktop.lifectl("apps", "--ids").stdout.split()
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
    assert 'unknown key "X-Lifed-Control"' in desktop.logged
    assert "X-Lifed-Restart: expected" in desktop.logged


def test_a_manifest_on_top_of_an_entry(desktop):
    desktop.entry("app.desktop", "X-Lifed-Suspend=never", exec="show-it entry")
    manifest = desktop.configuration / "apps.d" / "app.toml"
    manifest.write_text("suspend = 'auto'\nname = 'Mine'\n")
    assert desktop.lifectl("reload").returncode == 0
    desktop.lifectl("launch", "app.desktop")
    assert desktop.shown("app") == ["entry"]
    assert desktop.lifectl.app("app")["name"] == "Mine"
    desktop.lifectl("suspend", "app")


def test_a_url_goes_through_the_codes_of_the_command(desktop):
    desktop.entry("reader.desktop", "MimeType=text/x-odd;x-scheme-handler/odd;", exec="show-it --url=%u -- %f")
    # An app without the library has it among its arguments, which nobody has confirmed.
    desktop.lifectl("open", "odd:a?b=%20", check=False)
    assert desktop.shown("reader") == ["--url=odd:a?b=%20", "--", "odd:a?b=%20"]
    desktop.lifectl("terminate", "reader")
    (desktop.results / "reader").unlink()
    desktop.lifectl("open", "--type", "text/x-odd", "file:///a%20b", check=False)
    assert desktop.shown("reader") == ["--url=file:///a%20b", "--", "/a b"]


def test_of_several_that_open_it_the_default_does(desktop):
    for name in ("one", "two"):
        desktop.entry(f"{name}.desktop", "MimeType=x-scheme-handler/odd;", exec="show-it %u")
    status, text = refusal(desktop, "open", "odd:1")
    assert status == 67 and "several apps open odd: one, two" in text
    (desktop.configuration / "lifed.toml").write_text("[defaults]\nodd = 'two'\n")
    desktop.lifectl("reload")
    desktop.lifectl("open", "odd:1", check=False)
    assert desktop.shown("two") == ["odd:1"]
    # Who has a manifest comes before all who have not.
    (desktop.configuration / "lifed.toml").unlink()
    manifest = desktop.configuration / "apps.d" / "three.toml"
    manifest.write_text("command = ['show-it', '%u']\nschemes = ['odd']\n")
    desktop.lifectl("reload")
    desktop.lifectl("open", "odd:3", check=False)
    assert desktop.shown("three") == ["odd:3"]


def test_of_several_that_open_it_the_one_that_a_person_has_chosen_does(desktop):
    for name in ("one", "two"):
        desktop.entry(f"{name}.desktop", "MimeType=x-scheme-handler/odd;text/x-odd;", exec="show-it %u")
    desktop.entry("three.desktop", exec="show-it %u")
    # It is read when something is opened: no reload is needed.
    desktop.choose("[Default Applications]\nx-scheme-handler/odd=three.desktop\ntext/x-odd=one.desktop\n", "xdg/mimeapps.list")
    desktop.lifectl("open", "odd:1", check=False)
    assert desktop.shown("three") == ["odd:1"]
    desktop.choose("[Default Applications]\nx-scheme-handler/odd=gone.desktop;two.desktop\n", "own/sway-mimeapps.list")
    desktop.lifectl("open", "odd:2", check=False)
    assert desktop.shown("two") == ["odd:2"]
    desktop.choose("[Removed Associations]\ntext/x-odd=one.desktop;two.desktop\n[Added Associations]\ntext/x-odd=three.desktop\n")
    (desktop.results / "three").unlink()
    desktop.lifectl("terminate", "three")
    desktop.lifectl("open", "--type", "text/x-odd", "file:///a", check=False)
    assert desktop.shown("three") == ["file:///a"]
    # What stands in lifed's own configuration comes before all others.
    (desktop.configuration / "lifed.toml").write_text("[defaults]\n'text/x-odd' = 'one'\n")
    desktop.lifectl("reload")
    desktop.lifectl("open", "--type", "text/x-odd", "file:///b", check=False)
    assert desktop.shown("one") == ["file:///b"]


@pytest.mark.parametrize("stays", [True, False])
def test_a_successor_goes_on_with_an_app_of_an_entry(desktop, stays):
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
    assert desktop.lifectl("suspend", "app", check=False).returncode == (2 if stays else 0)
    desktop.lifectl("terminate", "app")
    assert ("app" in desktop.lifectl.apps()) == stays


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
    for name in ("dead", "directory", "large", "binary", "accent", "fifo"):
        status, text = refusal(desktop, "launch", name)
        assert status == 73 and f"{name}.desktop" in text
    assert desktop.lifectl("launch", "x" * 4000, check=False).returncode == 66
    assert desktop.lifectl("launch", "../applications/good", check=False).returncode == 66
    desktop.lifectl("launch", "good")


def test_however_many_entries_there_are_there_is_an_answer(desktop):
    for number in range(4200):
        desktop.entry(f"many/app-{number:04}.desktop", "MimeType=x-scheme-handler/odd;")
    found = desktop.lifectl("apps", "--ids").stdout.split()
    assert len(found) == 4096 and "many-app-0000" in found
    status, text = refusal(desktop, "open", "odd:1")
    assert status == 67 and len(text) < 1000


@pytest.mark.parametrize("name", ["foot", "debian-xterm"])
def test_an_entry_of_a_package_can_be_launched(desktop, name):
    if not (SHARED / f"{name}.desktop").exists():
        pytest.skip(f"{name}.desktop is not installed")
    found = desktop.launchable()[name]
    assert found["file"] == str(SHARED / f"{name}.desktop") and found["name"]
    # There is no display, so it ends at once; that it was started is what counts.
    result = desktop.lifectl("launch", name, check=False)
    assert result.returncode in (0, 1, 73), result.stderr
    assert "desktop entry" not in result.stderr


def test_an_entry_of_a_package_that_needs_a_terminal_is_refused(desktop):
    if not (SHARED / "vim.desktop").exists():
        pytest.skip("vim.desktop is not installed")
    status, text = refusal(desktop, "launch", "vim")
    assert status == 73 and "Terminal=true" in text


def test_every_entry_of_this_machine_is_read_or_refused_with_a_reason(desktop):
    apps = desktop.launchable("--all")
    expected = {path.stem for path in SHARED.glob("*.desktop")}
    assert expected <= set(apps)
    odd = [app["problem"] for app in apps.values() if app.get("problem")]
    known = ("Terminal=true", "Hidden=true", "TryExec", "does not exist", "D-Bus", "Type: expected")
    assert all(any(word in problem for word in known) for problem in odd), odd


# The system's daemon.


def test_the_systems_daemon_takes_an_entry_for_a_manifest_with_a_user(direct, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("starting apps as another user needs root")
    if not (SHARED / "foot.desktop").exists() or not shutil.which("foot"):
        pytest.skip("foot is not installed")
    assert direct.lifectl("launch", "foot", check=False).returncode == 66
    apps = direct.configuration / "apps.d"
    (apps / "foot.toml").write_text("suspend = 'never'\n")
    direct.lifectl("reload")
    assert direct.lifectl.json("apps")["apps"] == []
    (apps / "foot.toml").write_text("user = 'nobody'\n")
    direct.lifectl("reload")
    assert [app["id"] for app in direct.lifectl.json("apps")["apps"]] == ["foot"]
    details = direct.lifectl.json("status", "foot")["details"]
    assert (details["command"], details["user"]) == (["foot"], "nobody")
