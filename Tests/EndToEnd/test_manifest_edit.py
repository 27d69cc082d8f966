"""lifectl prints the manifest of an app, and edits it in a copy that is checked first."""

import shutil

import pytest

MANIFEST = "command = ['sleep', 'infinity']\nname = 'Clock'\n"
INVALID, REFUSED, FAILED, UNAVAILABLE = 65, 2, 71, 69


@pytest.fixture
def manifest(direct):
    path = direct.configuration / "apps.d/org.example.Clock.toml"
    path.write_text(MANIFEST)
    path.chmod(0o640)
    direct.lifectl("reload")
    return path


@pytest.fixture
def edit(direct, tmp_path, monkeypatch):
    """Edits a manifest with a script as the editor, which has the copy as its first argument."""
    monkeypatch.delenv("VISUAL", raising=False)
    (tmp_path / "copies").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "copies"))

    def edit(script, app="org.example.Clock", **options):
        editor = tmp_path / "editor"
        editor.write_text(f"#!/bin/sh\n{script}\n")
        editor.chmod(0o755)
        monkeypatch.setenv("EDITOR", f"{editor} --option")
        return direct.lifectl("edit", app, check=False, **options)

    edit.copies = lambda: [each for each in (tmp_path / "copies").rglob("*") if each.is_file()]
    return edit


def test_a_manifest_is_printed_with_its_path(direct, manifest):
    assert direct.lifectl("cat", "org.example.Clock").stdout == f"# {manifest}\n{MANIFEST}"
    assert direct.lifectl.json("cat", "org.example.Clock") == {
        "app": "org.example.Clock", "file": str(manifest), "text": MANIFEST}


def test_a_manifest_with_a_mistake_is_printed_too(direct, manifest):
    manifest.write_text("command = 4\n")
    direct.lifectl("reload", check=False)
    assert direct.lifectl("cat", "org.example.Clock").stdout == f"# {manifest}\ncommand = 4\n"


def test_an_edited_manifest_replaces_the_file_and_is_read(direct, manifest, edit):
    result = edit("""[ "$1" = --option ] && sed -i 's/Clock/Watch/' "$2" """)
    assert (result.returncode, result.stdout) == (0, "configuration read, no problems\n"), result.stderr
    assert manifest.read_text() == MANIFEST.replace("Clock", "Watch")
    assert manifest.stat().st_mode & 0o777 == 0o640
    apps = {app["id"]: app for app in direct.lifectl.json("list", "--available")["apps"]}
    assert apps["org.example.Clock"]["name"] == "Watch"
    assert edit.copies() == [] and [each.name for each in manifest.parent.iterdir()] == [manifest.name]


def test_a_manifest_with_a_mistake_replaces_nothing(direct, manifest, edit):
    result = edit("""echo 'name = 4' >"$2" """)
    assert result.returncode == INVALID and manifest.read_text() == MANIFEST
    (copy,) = edit.copies()
    assert copy.read_text() == "name = 4\n"
    assert result.stderr.startswith(f"lifectl: cannot edit the manifest of org.example.Clock: {copy}:")
    assert "; the manifest is unchanged; correct your copy" in result.stderr


def test_a_mistake_is_found_in_a_directory_with_a_relative_path(direct, manifest, edit, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", "copies")
    result = edit("""echo 'name = 4' >"$2" """)
    assert result.returncode == INVALID and manifest.read_text() == MANIFEST
    (copy,) = edit.copies()
    assert result.stderr.startswith(f"lifectl: cannot edit the manifest of org.example.Clock: {copy}:")


def test_a_check_that_cannot_be_made_blames_no_copy(desktop, tmp_path):
    manifest = desktop.configuration / "apps.d/clock.toml"
    manifest.write_text(MANIFEST)
    desktop.lifectl("reload")
    programs = tmp_path / "programs"
    programs.mkdir()
    shutil.copy(desktop.products / "lifectl", programs)
    (programs / "lifed").write_text("#!/bin/sh\necho 'lifed: cannot check: there is no memory' >&2\nexit 1\n")
    (programs / "lifed").chmod(0o755)
    editor = ["env", "-u", "VISUAL", "EDITOR=sed -i s/Clock/Watch/", f"TMPDIR={tmp_path}"]
    result = desktop.run([*editor, str(programs / "lifectl"), "edit", "clock"], check=False)
    assert result.returncode == FAILED and manifest.read_text() == MANIFEST
    (copy,) = tmp_path.glob("lifectl-edit.*/apps.d/clock.toml")
    assert "there is no memory" in result.stderr
    assert result.stderr.endswith(f"; the manifest is unchanged; your copy is {copy}\n"), result.stderr


def test_an_edit_is_kept_if_the_daemon_ends_meanwhile(direct, manifest, edit):
    result = edit(f"""kill -KILL {direct.process.pid}; sed -i 's/Clock/Watch/' "$2" """)
    assert result.returncode == UNAVAILABLE
    # The connection may still be made, and end with the daemon.
    assert result.stderr.startswith("lifectl: cannot reload the configuration: ")
    assert manifest.read_text() == MANIFEST.replace("Clock", "Watch") and edit.copies() == []


def test_a_mistake_can_be_mended(direct, manifest, edit):
    manifest.write_text("command = 4\n")
    direct.lifectl("reload", check=False)
    assert edit("""echo "command = ['sleep']" >"$2" """).returncode == 0
    assert direct.lifectl.json("status")["status"]["problems"] == []


def test_what_is_not_edited_stays_as_it_is(direct, manifest, edit):
    before = manifest.stat()
    result = edit("true")
    assert (result.returncode, result.stdout) == (0, f"{manifest} is unchanged\n")
    result = edit("exit 3")
    assert result.returncode == FAILED and "ended with status 3" in result.stderr
    assert (manifest.stat().st_ino, manifest.read_text()) == (before.st_ino, MANIFEST)


def test_a_manifest_that_was_changed_meanwhile_is_not_replaced(direct, manifest, edit):
    result = edit(f"""echo '# added' >>{manifest}; sed -i 's/Clock/Watch/' "$2" """)
    assert result.returncode == REFUSED and f"another program has changed {manifest} meanwhile" in result.stderr
    assert manifest.read_text() == MANIFEST + "# added\n"
    (copy,) = edit.copies()
    assert copy.read_text() == MANIFEST.replace("Clock", "Watch") and str(copy) in result.stderr
    assert [each.name for each in manifest.parent.iterdir()] == [manifest.name]


def test_an_editor_that_removes_the_copy_changes_nothing(direct, manifest, edit):
    result = edit("""rm "$2" """)
    assert result.returncode == FAILED and result.stderr.endswith("No such file or directory; the manifest is unchanged\n")
    assert manifest.read_text() == MANIFEST


def test_the_cause_is_named_for_a_manifest_that_is_too_large(direct, manifest, edit):
    manifest.write_text(MANIFEST + "# a comment\n" * 100_000)
    direct.lifectl("reload", check=False)
    for result in (direct.lifectl("cat", "org.example.Clock", check=False), edit("true")):
        assert result.returncode == INVALID and "File too large; shorten it to 1 MiB" in result.stderr


def test_visual_comes_before_editor(direct, manifest, edit, monkeypatch):
    monkeypatch.setenv("VISUAL", "/bin/false")
    assert edit("true").returncode == FAILED


def test_a_desktop_entry_is_printed_and_not_edited(desktop, tmp_path):
    desktop.entry("clock.desktop", exec="sleep infinity")
    assert "Exec=sleep infinity" in desktop.lifectl("cat", "clock").stdout
    result = desktop.lifectl("edit", "clock", check=False)
    assert result.returncode == REFUSED and "write a manifest clock.toml" in result.stderr


def test_a_large_manifest_is_edited_whole(direct, manifest, edit):
    text = MANIFEST + "# a comment\n" * 20_000 + "callbacks = 'none'\n"
    manifest.write_text(text)
    assert edit("""sed -i 's/Clock/Watch/' "$2" """).returncode == 0
    assert manifest.read_text() == text.replace("Clock", "Watch")
