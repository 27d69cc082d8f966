"""The manual and the shells' completions know what the programs and the configuration know, and nothing else."""

import functools
import os
import re
import shutil
import socket
import subprocess
import tomllib
from pathlib import Path

import pytest

import programs

ROOT = Path(__file__).resolve().parents[2]
PRODUCTS = ROOT / ".build" / os.environ.get("LIFED_BUILD", "release")
KEYS = ROOT / "Sources" / "Configuration"
PAGES = sorted(f"man{page.suffix[1:]}/{page.name}" for page in (ROOT / "docs/man").glob("*.[1-8]"))
COMPLETIONS = {
    "bash": "bash-completion/completions/{}",
    "zsh": "zsh/site-functions/_{}",
    "fish": "fish/vendor_completions.d/{}.fish",
}


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, **options)
    assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
    return result.stdout


def needs(tool):
    if not shutil.which(tool):
        pytest.skip(f"there is no {tool}")


@pytest.fixture(scope="module")
def share(tmp_path_factory):
    """What belongs into /usr/share."""
    directory = tmp_path_factory.mktemp("share")
    run(str(ROOT / "scripts/manual"), str(PRODUCTS), str(directory))
    return directory


@pytest.fixture(scope="module")
def page(share):
    """Reads the source of a page, with its characters as a reader sees them."""

    def read(name):
        text = (share / "man" / name).read_text()
        for escape, character in {r"\-": "-", r"\(dq": '"', r"\(aq": "'", r"\(ti": "~", r"\&": ""}.items():
            text = text.replace(escape, character)
        return text

    return read


# The programs: what they print for users is compared with the pages, which are made from something else.


def help_of(*command):
    """The subcommands and the options in the help for a command."""
    text = run(str(PRODUCTS / command[0]), *(["help", *command[1:]] if command[1:] else ["--help"]))
    subcommands = re.findall(r"^  ([a-z][a-z-]*)  ", text, re.MULTILINE)
    return subcommands, set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE))


def commands_of(*command):
    """Every command that does something, with its options."""
    subcommands, options = help_of(*command)
    if not subcommands:
        yield command, options
    for subcommand in subcommands:
        yield from commands_of(*command, subcommand)


def entries(text, macro):
    """The items of a page that begin with a macro: what is said there of each."""
    parts = re.split(rf"^\.It {macro} (.*)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def flags(text):
    return {f"-{name}" for name in re.findall(r"Fl (-[a-z-]+)", text)}


def test_every_command_and_option_of_lifectl_is_in_its_page(page):
    source = page("man1/lifectl.1")
    commands, _, rest = source.partition(".Sh COMMON OPTIONS")
    common = flags(rest.partition(".Sh ENVIRONMENT")[0])
    described = entries(commands, "Cm")
    known = list(commands_of("lifectl"))
    assert len(known) > 20 and {"--json", "--socket", "--timeout"} <= common
    for command, options in known:
        name = " ".join(command[1:])
        entry = [head + body for head, body in described.items() if re.match(rf"{name}(?= [A-Z]|$)", head)]
        assert entry, f"{name} is not in the page"
        missing = options - common - flags(entry[0])
        assert not missing, f"{name}: {missing}"


@pytest.mark.parametrize(("program", "name"), [("lifed", "man8/lifed.8"), ("lifed-desktop", "man1/lifed-desktop.1")])
def test_every_option_of_a_program_is_in_its_page(page, program, name):
    _, options = help_of(program)
    assert len(options) > 6
    assert options <= flags(page(name).partition(".Sh OPTIONS")[2].partition("\n.Sh ")[0])


@pytest.mark.parametrize(("program", "name", "least"), [
    ("lifectl", "man1/lifectl.1", 10), ("lifed", "man8/lifed.8", 4), ("lifed-desktop", "man1/lifed-desktop.1", 6)])
def test_the_page_has_every_exit_status(page, program, name, least):
    words = ["help", "exit-codes"] if program == "lifectl" else ["--help"]
    said = run(str(PRODUCTS / program), *words).partition("Exit status:\n")[2].partition("\n\n")[0]
    # A long meaning takes two lines.
    statuses = dict(line.split(maxsplit=1) for line in said.replace("\n      ", " ").splitlines())
    found = entries(page(name).partition(".Sh EXIT STATUS")[2], "Li")
    assert len(statuses) >= least
    for code, meaning in statuses.items():
        assert " ".join(found[code].splitlines()[1:]).startswith(meaning), code


# The files: the keys in the sources are compared with the items of the pages.


def keys_in(source):
    text = next(KEYS.rglob(source)).read_text()
    states = re.findall(r'keys\(of: "(\w+)"', text)
    for name in re.findall(r'\bKey\(\s*"([^"]+)"', text):
        yield from (name.replace(r"\(state)", state) for state in states) if "\\" in name else [name]


def keys_on(text):
    """The keys that a page has items for, each with its default as it is written in a file."""
    for line in re.findall(r"^\.It Ic (.*)$", text, re.MULTILINE):
        name, _, default = line.partition(" = ")
        states = ["active", "inactive", "background", "suspended"] if "Ns Ar state Ns" in name else [""]
        yield from ((name.replace(" Ns Ar state Ns Ic ", state), default) for state in states)


def test_every_setting_is_in_its_page_and_no_other(page):
    known, found = list(keys_in("SettingsReader.swift")), [key for key, _ in keys_on(page("man5/lifed.toml.5"))]
    known.remove("adopt")
    known += [f"adopt.{key}" for key in keys_in("AdoptRule.swift")]
    assert len(known) > 45
    assert sorted(found) == sorted(known)


def test_every_key_of_a_manifest_is_in_its_page_with_its_default_and_its_meaning(page):
    rows = [line.split("\t") for line in run(str(PRODUCTS / "lifed"), "--dump-keys").splitlines()]
    assert len(rows) > 25 and all(len(meaning) > 20 for *_, meaning in rows)
    text = page("man5/lifed.app.5")
    assert list(keys_on(text)) == [(name, default) for _, name, default, _, _ in rows]
    # What an app of an entry must not decide: its user, its paths and its rights over other apps.
    said = text.partition("An entry can have these keys")[2].partition(".Sh EXAMPLES")[0]
    assert re.findall(r"^\.Ic (\w+)", said, re.MULTILINE) == [name for _, name, _, use, _ in rows if use]
    assert not {"id", "command", "user", "environment", "control", "launchAtStart"} & set(re.findall(r"\w+", said))


def flattened(table, prefix=""):
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flattened(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def test_the_defaults_are_those_of_the_sample(page):
    sample = (ROOT / "config/lifed.toml").read_text()
    sample = dict(flattened(tomllib.loads(re.sub(r"^#(?=[a-zA-Z]+ = )", "", sample, flags=re.MULTILINE))))
    del sample["homeApp"]  # an example; there is no default
    sample = {key: value for key, value in sample.items() if not key.startswith("defaults.")}
    text = page("man5/lifed.toml.5")
    said = {key: tomllib.loads(f"value = {default}")["value"] for key, default in keys_on(text) if default}
    states, *rows = [line[4:].split(" Ta ") for line in re.findall(r"^\.It .* Ta .*$", text, re.MULTILINE)]
    for key, *values in rows:
        for state, value in zip(states[1:], values, strict=True):
            said[f"resources.{state}.{key}"] = int(value) if value.isdecimal() else value
    assert said == sample


def test_every_verb_of_the_app_protocol_is_in_its_page(page):
    text = page("man7/lifecycle-protocol.7")
    sources = [ROOT / "Sources/AppChannel" / name for name in ("MessageFromApp.swift", "MessageToApp.swift")]
    verbs = {verb for source in sources for verb in re.findall(r'case "([a-z-]+)"', source.read_text())}
    verbs |= set(re.findall(r'case \w+ = "([a-z-]+)"', (ROOT / "Sources/LifecycleTypes/Callback.swift").read_text()))
    verbs |= set(re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "docs/apps/protocol.md").read_text(), re.MULTILINE))
    assert len(verbs) > 20
    assert not {verb for verb in verbs if not re.search(rf"(?<![\w-]){verb}(?![\w-])", text)}


def test_every_declaration_of_the_varlink_interface_is_in_its_page_and_no_other(page):
    text = page("man7/org.lifed.7")
    interface = (ROOT / "Sources/ControlAPI/org.lifed.varlink").read_text()
    for kind, section, least in [("method", "METHODS", 30), ("type", "TYPES", 30), ("error", "ERROR REPLIES", 10)]:
        known = re.findall(rf"^{kind} (\w+)", interface, re.MULTILINE)
        items = entries(re.search(rf"^\.Sh {section}\n(.*?)(?=^\.Sh)", text, re.MULTILINE | re.DOTALL)[1], "Ic")
        assert len(known) > least
        assert list(items) == known
        for name, said in items.items():
            declared = re.search(rf"^{kind} {name}\b(.*?)(?=^[\w#]|\Z)", interface, re.MULTILINE | re.DOTALL)[1]
            fields = re.findall(r"(\w+): ", re.sub(r" *#.*", "", declared)) if kind != "error" else []
            assert said.strip() and fields == re.findall(r"(\w+): ", re.sub(r" *#.*", "", said.partition(".Bd")[2])), name


def test_the_changes_begin_with_this_version_or_with_what_is_not_released():
    version = run(str(PRODUCTS / "lifed"), "--version").strip()
    heading = re.search(r"^## \[(.*?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert heading in (version, "Unreleased")


# The pages themselves.


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(
    "checker",
    [["mandoc", "-T", "lint", "-W", "warning"], ["groff", "-mdoc", "-ww", "-z", "-T", "utf8"]],
    ids=["mandoc", "groff"],
)
def test_a_page_is_well_formed(share, checker, name):
    needs(checker[0])
    result = subprocess.run([*checker, str(share / "man" / name)], capture_output=True, text=True, timeout=60)
    said = result.stdout + result.stderr
    # The machine need not have the pages that a page refers to.
    said = [line for line in said.splitlines() if "mandoc.db" not in line and "referenced manual" not in line]
    assert not said
    assert not re.search(r"^@|@[A-Z]+@", (share / "man" / name).read_text(), re.MULTILINE)


def paths(share):
    """The pages and the other names of pages, which refer to them."""
    found = sorted(share.glob("man/*/*"))
    links = {each: re.fullmatch(r"\.so (\S+)\n", each.read_text()) for each in found}
    assert all((share / "man" / link[1]).exists() for link in links.values() if link)
    return sorted(str(each.relative_to(share / "man")) for each in found if not links[each])


def test_there_is_no_page_that_is_not_checked(share):
    assert paths(share) == PAGES


# The completions.


@pytest.mark.parametrize("program", ["lifectl", "lifed"])
@pytest.mark.parametrize("shell", COMPLETIONS)
def test_the_completions_parse(share, shell, program):
    needs(shell)
    run(shell, "-n", str(share / COMPLETIONS[shell].format(program)))


COMPLETE = {
    "bash": """
        source "$1"
        COMP_LINE=$2 COMP_POINT=${#2}
        read -ra COMP_WORDS <<<"$2"
        [ "${2: -1}" = " " ] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        "_$COMP_WORDS" "$COMP_WORDS" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
    """,
    "fish": """
        source $argv[1]
        complete --do-complete $argv[2] | string replace --regex "\\t.*" ""
        true
    """,
}


@pytest.fixture(params=COMPLETE)
def complete(request, share):
    """Completes a line with a shell, for the daemon at a socket where the line names no other."""
    shell = request.param
    needs(shell)

    def complete(line, socket):
        environment = {**os.environ, "LIFED_SOCKET": str(socket), "PATH": f"{PRODUCTS}:{os.environ['PATH']}"}
        script = str(share / COMPLETIONS[shell].format(line.split()[0]))
        words = [script, line] if shell == "fish" else ["bash", script, line]
        # Options follow the ids where the word is empty.
        found = run(shell, "-c", COMPLETE[shell], *words, env=environment).split()
        return {word for word in found if not word.startswith("-")}

    return complete


def test_ids_are_those_of_the_daemon_that_the_line_names(complete, direct, tmp_path):
    direct.lifectl.start("here", *programs.IDLE)
    nowhere = tmp_path / "nowhere"
    assert complete("lifectl focus ", nowhere) == set()
    assert complete(f"lifectl focus --socket {direct.socket} ", nowhere) == {"here"}
    assert complete(f"lifectl focus --json --socket='{direct.socket}' he", nowhere) == {"here"}
    assert complete(f"lifectl launch --socket {direct.socket} ", nowhere) == {"here"}
    assert complete(f"lifectl focus --socket {nowhere} ", direct.socket) == set()
    # Another machine is not asked, nor is this one in its place.
    assert complete("lifectl focus --host kim@kitchen ", direct.socket) == set()


def test_values_of_lifeds_options_are_completed(complete, tmp_path):
    assert complete("lifed --user --log-target ", tmp_path) == {"journal", "console", "auto"}
    assert complete("lifed --log-target c", tmp_path) == {"console"}
    assert complete("lifed --nothing ", tmp_path) == set()


def test_a_wrong_line_of_lifed_has_a_number_of_its_own():
    for line in (["--bogus"], ["--log-target"], ["--log-target=file"], ["start"]):
        result = subprocess.run([PRODUCTS / "lifed", *line], capture_output=True, text=True, timeout=60)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (64, "", 1), line
        assert result.stderr.startswith("lifed: ") and "; see 'lifed --help'" in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount over /proc")
def test_lifed_does_nothing_without_its_command_line(tmp_path):
    script = f"mount -t tmpfs none /proc && exec {PRODUCTS / 'lifed'} --check --runtime-directory={tmp_path}"
    result = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, timeout=60)
    text = "lifed: cannot read the command line: /proc is not mounted; mount it\n"
    assert (result.returncode, result.stdout, result.stderr) == (1, "", text)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["--check", "--config-directory=/nonexistent"]])
def test_a_result_of_lifed_that_cannot_be_written_is_a_failure(words):
    with open("/dev/full", "w") as full:
        result = subprocess.run([PRODUCTS / "lifed", *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert result.returncode == 74
    assert result.stderr.startswith("lifed: cannot write the result: No space left on device; ")


def test_a_daemon_that_does_not_answer_does_not_hold_up_the_shell(complete, tmp_path):
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "silent"))
        silent.listen()
        assert complete(f"lifectl focus --socket {tmp_path / 'silent'} ", tmp_path / "nowhere") == set()


def test_ids_of_apps_are_completed(complete, direct):
    for name in ("org.example.clock", "org.example.mail", "other"):
        direct.lifectl.start(name, *programs.IDLE)
    complete = functools.partial(complete, socket=direct.socket)
    assert complete("lifectl focus ") == {"org.example.clock", "org.example.mail", "other"}
    assert complete("lifectl suspend org.example.m") == {"org.example.mail"}
    assert complete("lifectl open file:///x --app oth") == {"other"}
    (direct.configuration / "apps.d" / "org.example.radio.toml").write_text("command = ['sleep', 'infinity']\n")
    direct.lifectl("reload")
    assert complete("lifectl launch org.example.r") == {"org.example.radio"}
    assert complete("lifectl launch oth") == {"other"}
    assert complete("lifectl foc") == {"focus"}


# The installation.


def test_what_is_installed_is_removed_again(tmp_path):
    for name in ("lifed", "lifectl", "lifed-desktop"):
        (tmp_path / "usr/bin").mkdir(parents=True, exist_ok=True)
        shutil.copy(PRODUCTS / name, tmp_path / "usr/bin" / name)
    arguments = [str(tmp_path), "/usr", "/etc/lifed"]
    run(str(ROOT / "scripts/install-data"), *arguments, cwd=ROOT)
    share = tmp_path / "usr/share"
    assert paths(share) == PAGES
    for program in ("lifectl", "lifed", "lifed-desktop"):
        for place in COMPLETIONS.values():
            assert (share / place.format(program)).stat().st_size > 100
    assert "/usr/share/doc/lifed" in (share / "man/man7/lifecycle-protocol.7").read_text()
    run(str(ROOT / "scripts/uninstall"), *arguments, cwd=ROOT)
    left = [str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*") if each.is_file()]
    assert left and all(each.startswith("etc/lifed/") for each in left), left


def test_man_finds_what_was_installed(container):
    needs("man")
    for path in PAGES:
        section, name = re.fullmatch(r"man\d/(.*)\.(\d)", path).group(2, 1)
        found = container.run(["man", "-w", section, name]).stdout.strip()
        assert container.run(["realpath", found]).stdout.strip() == f"/usr/local/share/man/{path}"


def test_limit_of_scenes_is_in_the_pages(page):
    (limit,) = re.findall(r"static let limit = (\d+)", (ROOT / "Sources/LifecycleCore/App/Scenes.swift").read_text())
    for name in ("man3/lifecycle_open_scene.3", "man5/lifed.app.5"):
        assert f"{limit} scenes" in page(name)
    assert f"{limit} scenes" in (ROOT / "docs/apps/protocol.md").read_text()
