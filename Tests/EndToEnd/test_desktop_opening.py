"""What desktop entries open: a URL or a file goes through their commands, and of several the chosen one gets it."""

import os

from desktop import refusal


def test_a_directory_is_opened_as_one_whatever_its_name(desktop, tmp_path):
    desktop.entry("files.desktop", "MimeType=inode/directory;", exec="show-it %f")
    # The machine may have file managers of its own.
    desktop.choose("[Default Applications]\ninode/directory=files.desktop\n")
    folder = tmp_path / "holiday.png"
    folder.mkdir()
    desktop.lifectl("open", str(folder), check=False)
    assert desktop.shown("files") == [str(folder)]


def test_a_url_goes_through_the_codes_of_the_command(desktop):
    desktop.entry("reader.desktop", "MimeType=text/x-odd;x-scheme-handler/odd;", exec="show-it --url=%u -- %f")
    # An app without the library has it among its arguments, which no callback has confirmed.
    desktop.lifectl("open", "odd:a?b=%20", check=False)
    assert desktop.shown("reader") == ["--url=odd:a?b=%20", "--", "odd:a?b=%20"]
    desktop.lifectl("terminate", "reader")
    (desktop.results / "reader").unlink()
    desktop.lifectl("open", "--type", "text/x-odd", "file:///a%20b", check=False)
    assert desktop.shown("reader") == ["--url=file:///a%20b", "--", "/a b"]


def test_a_file_whose_name_is_not_utf8_has_a_url_of_its_bytes(desktop, tmp_path):
    desktop.entry("reader.desktop", "MimeType=text/x-odd;", exec="show-it %u")
    name = os.fsencode(tmp_path) + b"/\xff\xe4.txt"
    open(name, "w").close()
    link = tmp_path / "link.txt"
    link.symlink_to(os.fsdecode(name))
    for argument in (str(link), name):
        desktop.lifectl("open", "--app", "reader", argument, check=False)
        assert desktop.shown("reader") == [f"file://{tmp_path}/%FF%E4.txt"]
        desktop.lifectl("terminate", "reader")
        (desktop.results / "reader").unlink()


def test_of_several_that_open_it_the_default_does(desktop):
    for name in ("one", "two"):
        desktop.entry(f"{name}.desktop", "MimeType=x-scheme-handler/odd;", exec="show-it %u")
    status, text = refusal(desktop, "open", "odd:1")
    assert status == 10 and "several apps open odd: one, two" in text
    (desktop.configuration / "lifed.toml").write_text("[defaults]\nodd = 'two'\n")
    desktop.lifectl("reload")
    desktop.lifectl("open", "odd:1", check=False)
    assert desktop.shown("two") == ["odd:1"]
    # An app with a manifest comes before all without.
    (desktop.configuration / "lifed.toml").unlink()
    manifest = desktop.configuration / "apps.d" / "three.toml"
    manifest.write_text("command = ['show-it', '%u']\nschemes = ['odd']\n")
    desktop.lifectl("reload")
    desktop.lifectl("open", "odd:3", check=False)
    assert desktop.shown("three") == ["odd:3"]


def test_a_default_app_is_the_default_of_nothing_else(desktop):
    for name in ("one", "two"):
        desktop.entry(f"{name}.desktop", "MimeType=x-scheme-handler/odd;text/x-odd;", exec="show-it %u")
    desktop.choose("[Default Applications]\nx-scheme-handler/odd=one.desktop\ntext/x-odd=one.desktop\n", "own/mimeapps.list")
    (desktop.configuration / "lifed.toml").write_text("[defaults]\nother = 'two'\n'text/plain' = 'two'\n")
    desktop.lifectl("reload")
    desktop.lifectl("open", "odd:1", check=False)
    assert desktop.shown("one") == ["odd:1"]
    (desktop.results / "one").unlink()
    desktop.lifectl("terminate", "one")
    desktop.lifectl("open", "--type", "text/x-odd", "file:///a", check=False)
    assert desktop.shown("one") == ["file:///a"]
    desktop.lifectl("open", "--type", "text/plain", "file:///b", check=False)
    assert desktop.shown("two") == ["file:///b"]


def test_a_type_that_is_none_is_refused(desktop):
    status, text = refusal(desktop, "open", "--type", "bogus", "file:///a")
    assert (status, "--type takes a media type, such as text/html, not 'bogus'" in text) == (64, True), text


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
