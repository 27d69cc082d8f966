"""Runs the commands of README.md and of the user's guide, and compares what they print with what the pages show."""

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from container import wait_for
from kiosk import BROWSER, assert_comes_back, removed_kiosk, stand_ins
from screens import need

ROOT = Path(__file__).resolve().parents[2]
PRODUCTS = ROOT / ".build" / os.environ.get("LIFED_BUILD", "release")
LIBRARY = ROOT / ".build" / "liblifecycle"
GUIDE = ["configuration.md", "daily-use.md", "first-steps.md", "observing.md", "operation.md", "recipes.md", "troubleshooting.md"]
PAGES = {"README.md": ROOT / "README.md"} | {name: ROOT / "docs/guide" / name for name in GUIDE}
PROSE = [*PAGES.values(), *(ROOT / "docs/guide" / name for name in ("README.md", "desktop.md", "faq.md", "limits.md"))]
MARK = r"(?:^<!-- (?P<mark>not run|run as root)(?:: (?P<reason>[^\n]+))? -->\n)?"
BLOCK = re.compile(MARK + r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S)
DAEMON = "lifed --user --log-target=console 2>lifed.log &"
# These only tell something: a page may show what comes some seconds later.
REPEATABLE = re.compile(r"lifectl (list|status|explain)\b")


@dataclass
class Block:
    language: str
    text: str
    mark: str | None
    reason: str | None
    section: str

    @property
    def commands(self):
        """Each command of a console block with the lines that it prints."""
        assert self.text.startswith("$ "), self.text
        for part in re.split(r"^\$ ", self.text, flags=re.M)[1:]:
            command, *printed = part.splitlines()
            yield command, printed


def blocks_of(page):
    text = PAGES[page].read_text()
    for match in BLOCK.finditer(text):
        headings = re.findall(r"^## (.*)$", text[: match.start()], re.M)
        mark, reason = match["mark"], match["reason"]
        yield Block(match["language"], match["text"], mark, reason, headings[-1] if headings else "")


ALL = {page: list(blocks_of(page)) for page in PAGES}


def pattern_of(line):
    """Matches a printed line, with any other numbers in the place of those on the page and any width of columns."""
    return r"\s+".join(re.sub(r"\d+", r"\\d+", re.escape(word)) for word in line.split())


def agrees(expected, printed):
    """A line "…" stands for any lines."""
    lines = [r"(?:.*\n)*" if line == "…" else rf"\s*{pattern_of(line)}\s*\n" for line in expected]
    return re.fullmatch("".join(lines), printed) is not None


class Terminal:
    """A shell that reads the commands of one page, with a home and a runtime directory of its own."""

    def __init__(self, directory):
        self.home, self.runtime = directory / "home", directory / "run"
        (self.home / ".config/lifed").mkdir(parents=True)
        # A test does not wait for the five seconds of the pages.
        (self.home / ".config/lifed/lifed.toml").write_text('[timeouts]\nbackground = "100ms"\n')
        self.runtime.mkdir(mode=0o700)
        (self.home / ".build").mkdir()
        (self.home / ".build/release").symlink_to(PRODUCTS)
        names = ("LIFED_SOCKET", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "DBUS_SESSION_BUS_ADDRESS")
        self.environment = {key: value for key, value in os.environ.items() if key not in names} | {
            "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.runtime), "PATH": f"{PRODUCTS}:{os.environ['PATH']}"}
        self.shell = subprocess.Popen(
            ["bash", "--norc"], cwd=self.home, env=self.environment, text=True, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def type(self, command):
        """Returns the exit code of a command, and what it prints."""
        self.shell.stdin.write(f"{command}\nprintf '\\n\\001%d\\n' $?\n")
        self.shell.stdin.flush()
        printed = ""
        for line in self.shell.stdout:
            if line.startswith("\001"):
                return int(line[1:]), printed.removesuffix("\n")
            printed += line
        raise AssertionError(f"the shell has ended in {command!r}: {printed}")

    def expect(self, command, expected):
        said = []

        def is_as_shown():
            said[:] = self.type(command)
            return said[0] == 0 and (not expected or agrees(expected, said[1]))

        try:
            wait_for(is_as_shown, timeout=20 if REPEATABLE.match(command) else 0)
        except AssertionError:
            shown = "\n".join(expected)
            raise AssertionError(f"$ {command}\n--- shown\n{shown}\n--- printed, exit code {said[0]}\n{said[1]}") from None
        if command.startswith("lifed "):
            wait_for(lambda: self.type("lifectl status >/dev/null 2>&1")[0] == 0, what="an answer of the daemon")

    def close(self):
        self.type("kill $(jobs -p) 2>/dev/null; wait")
        self.shell.stdin.close()
        self.shell.wait(timeout=60)


@pytest.fixture
def terminal(tmp_path):
    terminal = Terminal(tmp_path)
    try:
        yield terminal
        terminal.close()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(terminal.shell.pid, signal.SIGKILL)


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_print_what_it_shows(terminal, page):
    if not any(block.text.startswith("$ lifed ") or "\n$ lifed " in block.text for block in ALL[page]):
        terminal.expect(DAEMON, [])
    for block in ALL[page]:
        if block.mark:
            continue
        if block.language == "console":
            for command, printed in block.commands:
                terminal.expect(command, printed)
        elif block.language == "sh":
            script = terminal.home / "script"
            script.write_text(block.text)
            assert terminal.type(f"bash -eu {script}")[0] == 0, block.text


@pytest.mark.parametrize(
    ("expected", "printed", "agree"),
    [
        (["two  active  4867  5.2 s"], "two   active  9  12.3 s\n", True),
        (["two  active  4867"], "two  suspended  9\n", False),
        (["…", "two"], "one\ntwo\n", True),
        (["one", "…"], "two\none\n", False),
        (["one"], "one\ntwo\n", False),
    ],
)
def test_output_is_compared_but_for_numbers(expected, printed, agree):
    assert agrees(expected, printed) is agree


@pytest.mark.parametrize("page", PAGES)
def test_the_files_of_a_page_have_no_mistakes(page, tmp_path):
    """Each section is a configuration of its own."""
    sections, environment = {}, {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    for block in ALL[page]:
        if block.language == "toml":
            path, text = re.fullmatch(r"# (\S+)\n(.*)", block.text, re.S).groups()
            sections.setdefault(block.section, []).append((path, text))
    for number, files in enumerate(sections.values()):
        directory = tmp_path / str(number)
        (directory / "apps.d").mkdir(parents=True)
        for path, text in files:
            relative = re.fullmatch(r"(?:~/\.config|/etc)/lifed/(lifed\.toml|apps\.d/[\w.-]+\.toml)", path)[1]
            (directory / relative).write_text(re.sub(r"/usr/bin/example-\w+", "/bin/true", re.sub(r'(user = )"\w+"', r'\1"root"', text.replace("driver", "root"))))
        user = ["--user"] if path.startswith("~") else []
        command = [PRODUCTS / "lifed", *user, "--check", f"--config-directory={directory}"]
        check = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        # A page need not show the manifest of each app that it names.
        problems = [line for line in (check.stdout + check.stderr).splitlines() if "no usable manifest has the id" not in line]
        assert not problems


def test_the_app_of_the_readme_hears_of_its_life_cycle(direct, tmp_path):
    [source] = [block.text for block in ALL["README.md"] if block.language == "c"]
    assert len(source.splitlines()) <= 12
    (tmp_path / "app.c").write_text(source)
    library = [f"-I{LIBRARY}/include", f"-L{LIBRARY}/lib", f"-Wl,-rpath,{LIBRARY}/lib", "-llifecycle"]
    compile = ["cc", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-missing-field-initializers", "-Werror"]
    subprocess.run([*compile, tmp_path / "app.c", "-o", tmp_path / "app", *library], check=True, timeout=60)
    direct.lifectl.start("aware", "sh", "-c", f"exec {tmp_path}/app >{tmp_path}/output")
    direct.lifectl("home")
    direct.lifectl.wait_for_state("aware", "suspended")
    assert (tmp_path / "output").read_text() == "saved\n"


def test_the_compositor_of_the_readme_chooses_the_app(terminal):
    [program] = [block.text for block in ALL["README.md"] if block.language == "python"]
    terminal.expect(DAEMON, [])
    for name in ("mail", "clock"):
        assert terminal.type(f"lifectl run --id {name} -- sleep infinity")[0] == 0
    subprocess.run([sys.executable, "-c", program], env=terminal.environment, check=True, timeout=60)
    wait_for(lambda: "mail active" in terminal.type("lifectl list | awk '{ print $1, $2 }'")[1])


def test_the_kiosk_of_the_guide_runs_its_app(container, service):
    _, script = kiosk_scripts()
    with stand_ins(container, BROWSER), removed_kiosk(container, service):
        container.run(["useradd", "--create-home", "kiosk"])
        assert "browser" in container.run(["bash", "-euc", script]).stdout
        service.lifectl.wait_for_state("browser", "active")
        pid = service.lifectl.pid("browser")
        assert container.run(["stat", "-c", "%U", f"/proc/{pid}"]).stdout.strip() == "kiosk"
        assert "WAYLAND_DISPLAY=wayland-0" in container.run(["cat", f"/proc/{pid}/environ"]).stdout.split("\0")
        assert_comes_back(container, service)


def test_the_kiosk_of_the_guide_shows_its_app(container, service, logind):
    """cage on the first console, without a graphics card, and a client that ends with it."""
    need("cage", "foot")
    screen, script = kiosk_scripts()
    headless = "[Service]\nEnvironment=WLR_BACKENDS=headless WLR_RENDERER=pixman\n"
    unit = "/etc/systemd/system/kiosk-screen.service"
    with stand_ins(container, BROWSER, command="foot sleep infinity"), removed_kiosk(container, service), consoles(container):
        container.write(f"{unit}.d/headless.conf", headless)
        try:
            container.run(["bash", "-euc", screen])
            sessions = ["loginctl", "list-sessions", "--no-legend"]
            wait_for(lambda: re.search(r" kiosk +seat0 +tty1", container.run(sessions).stdout), what="a session on the console")
            wait_for(lambda: container.run(["sh", "-c", "ls /run/user/*/wayland-0"], check=False).returncode == 0)
            container.run(["bash", "-euc", script])
            service.lifectl.wait_for_state("browser", "active")
            pid = service.lifectl.pid("browser")
            assert container.run(["stat", "-c", "%U", f"/proc/{pid}"]).stdout.strip() == "kiosk"
            wait_for(lambda: shows(container, pid), what="the app is connected to cage")
            container.run(["systemctl", "restart", "kiosk-screen.service"])
            wait_for(lambda: service.lifectl.pid("browser") not in (None, pid), what="the app is launched again")
            wait_for(lambda: shows(container, service.lifectl.pid("browser")), what="the next one is connected")
        finally:
            container.run(["systemctl", "disable", "--now", "kiosk-screen.service"], check=False)
            container.run(["loginctl", "terminate-user", "kiosk"], check=False)
            container.run(["rm", "-rf", unit, f"{unit}.d"])
            container.run(["systemctl", "daemon-reload"])
            container.run(["systemctl", "reset-failed", "kiosk-screen.service"], check=False)


def kiosk_scripts():
    """The commands of the kiosk: those for the screen, and those for lifed."""
    return [block.text for page in PAGES for block in ALL[page] if block.mark == "run as root"]


@contextlib.contextmanager
def consoles(container):
    """The first console. logind looks for consoles when it starts."""
    container.run(["sh", "-c", "mknod /dev/tty0 c 4 0 && mknod -m 620 /dev/tty1 c 4 1"])
    try:
        container.run(["systemctl", "restart", "systemd-logind.service"])
        yield
    finally:
        container.run(["rm", "/dev/tty0", "/dev/tty1"])
        container.run(["systemctl", "restart", "systemd-logind.service"])


def shows(container, pid):
    """True if a process is connected to the socket of a compositor."""
    sockets = container.run(["sh", "-c", f"ls -l /proc/{pid}/fd"], check=False).stdout
    inodes = set(re.findall(r"socket:\[(\d+)\]", sockets))
    # The kernel lists the compositor's end by the name of the socket, and the client's end beside it.
    listed = container.run(["ss", "-xH"]).stdout
    return any("wayland-0" in line and inodes & set(line.split()) for line in listed.splitlines())


# Blocks that are not run have a reason, and name commands and files that exist.


def help_of(*verbs):
    result = subprocess.run([PRODUCTS / "lifectl", "help", *verbs], capture_output=True, text=True, timeout=60)
    return result.stdout if result.returncode == 0 else None


def named_commands():
    """The commands of blocks, and those in the text of the pages."""
    lines = [line.removeprefix("$ ") for page in PAGES for block in ALL[page] for line in block.text.splitlines()]
    lines += [code for path in PROSE for code in re.findall(r"`([^`\n]+)`", BLOCK.sub("", path.read_text()))]
    return [command for line in lines for command in re.split(r"\s*(?:&&|\|\|?|;)\s*", line)]


def words_of(command):
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return []
    return words[1:] if words[:1] == ["sudo"] else words


NAMED = sorted({tuple(words_of(command)) for command in named_commands()})


@pytest.mark.parametrize("words", [words for words in NAMED if words[:1] == ("lifectl",) and len(words) > 1], ids=" ".join)
def test_a_verb_that_is_named_exists(words):
    words = [word for word in words[1:] if word not in ("--system", "--user", "…")]
    verbs = []
    while words and re.fullmatch(r"[a-z-]+", words[0]) and not words[0].startswith("-") and help_of(*verbs, words[0]):
        verbs.append(words.pop(0))
    text = help_of(*verbs)
    assert verbs or all(word.startswith("-") or word == "VERB" for word in words[:1]), words
    options = [word.partition("=")[0] for word in words[: words.index("--") if "--" in words else None] if word.startswith("-")]
    assert not [option for option in options if option not in text], words


@pytest.mark.parametrize("words", [words for words in NAMED if words[:1] in (("make",), ("systemctl",)) and len(words) > 1], ids=" ".join)
def test_a_target_and_a_unit_that_are_named_exist(words):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    units = {each.name.removesuffix(".in").removesuffix(".service") for each in (ROOT / "systemd").rglob("*.*")}
    if words[0] == "make":
        assert words[1] in targets
    for word in words[2:] if words[0] == "systemctl" else []:
        if word.startswith("lifed"):
            assert word.removesuffix(".service") in units, word


def test_an_exit_code_that_is_named_exists():
    known = set(re.findall(r"^ +(\d+)  ", help_of("exit-codes"), re.M)) | {"78"}
    named = {code for path in PROSE for code in re.findall(r"exit code (\d+)", path.read_text())}
    assert len(named) >= 5 and named <= known


def test_a_block_that_is_not_run_has_a_reason_and_parses():
    skipped = [block for page in PAGES for block in ALL[page] if block.mark == "not run"]
    assert 5 < len(skipped) < 15
    for block in skipped:
        assert block.reason and len(block.reason) > 20, block
        for test in re.findall(r"test_\w+\.py", block.reason):
            assert (Path(__file__).parent / test).exists(), test
        subprocess.run(["bash", "-n"], input=re.sub(r"^\$ ", "", block.text, flags=re.M), text=True, check=True, timeout=60)


def test_every_page_of_the_guide_is_checked_and_short():
    assert sorted(ROOT.glob("docs/guide/*.md")) == sorted(each for each in PROSE if each.parent.name == "guide")
    assert all(len(each.read_text().splitlines()) <= (150 if each.parent == ROOT else 200) for each in PROSE)
