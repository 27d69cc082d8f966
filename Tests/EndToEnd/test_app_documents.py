"""The pages for developers of apps: their programs run, their commands print what is shown, and the protocol's page is exact."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from container import wait_for

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs/apps").glob("*.md"))
PRODUCTS = ROOT / ".build" / os.environ.get("LIFED_BUILD", "release")
LIBRARY = ROOT / ".build" / "liblifecycle"
PROGRAMS = {"c": "clock.c", "python": "clock.py", "shell": "clock.sh"}


def blocks(page, language):
    """The code blocks of a page, in order."""
    text = (ROOT / "docs/apps" / f"{page}.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_short_and_its_links_work(page):
    text = page.read_text()
    assert text.count("\n") <= 200
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert (page.parent / target).exists(), target


# The programs.


@pytest.fixture
def workplace(direct, tmp_path):
    """A directory and an environment like those of a user who has installed lifed."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, command in {
        "pkg-config": f"echo -I{LIBRARY}/include -L{LIBRARY}/lib -llifecycle -Wl,-rpath,{LIBRARY}/lib",
        "lifectl": f'exec {PRODUCTS}/lifectl "$@"',
        "cc": f'exec {shutil.which("cc") or shutil.which("clang")} "$@"',
    }.items():
        (tools / name).write_text(f"#!/bin/sh\n{command}\n")
        (tools / name).chmod(0o755)
    variables = {key: value for key, value in os.environ.items() if not key.startswith("LIFECYCLE_")}
    variables |= {"PATH": f"{tools}:{variables['PATH']}", "LIFED_SOCKET": str(direct.socket)}
    directory = tmp_path / "work"
    directory.mkdir()
    return directory, variables


def run_sessions(page, workplace):
    """Types each command of a page, and compares what it prints."""
    directory, variables = workplace
    count = 0
    for session in blocks(page, "console"):
        for command, said in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
            result = subprocess.run(
                command, shell=True, cwd=directory, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, timeout=60)
            if command.startswith("lifectl"):
                assert result.returncode == 0, f"{command}: {result.stdout}"
                # A user types more slowly than a program starts.
                log = directory / "clock.log"
                wait_for(lambda: log.exists() and "active" in log.read_text())
            else:
                assert result.stdout == said, command
            count += 1
    return count


def write_program(page, language, directory):
    program = next(each for each in blocks(page, language) if PROGRAMS[page] in each)
    # The library is not installed.
    (directory / PROGRAMS[page]).write_text(program.replace("liblifecycle.so.0", f"{LIBRARY}/lib/liblifecycle.so.0"))


@pytest.mark.parametrize(("page", "language"), [("c", "c"), ("python", "python"), ("shell", "sh")])
def test_the_first_steps_print_what_the_page_shows(workplace, page, language):
    write_program(page, language, workplace[0])
    assert run_sessions(page, workplace) >= 5


def test_the_asyncio_loop_takes_the_place_of_the_other(workplace):
    program, loop = blocks("python", "python")
    directory, variables = workplace
    program = program.replace("liblifecycle.so.0", f"{LIBRARY}/lib/liblifecycle.so.0")
    (directory / "clock.py").write_text(program[: program.index("poller = ")] + loop)
    result = subprocess.run(
        ["timeout", "1", "python3", "clock.py"], cwd=directory, env=variables, capture_output=True, text=True, timeout=60)
    assert (result.stdout, result.stderr) == ("active\nterminating\n", "")


def test_the_parts_of_programs_in_c_compile(tmp_path):
    parts = [part for part in blocks("c", "c") if "int main" not in part]
    assert len(parts) >= 4
    prelude = "#include <lifecycle.h>\n#include <stdio.h>\nstatic struct lifecycle *app;\n"
    (tmp_path / "parts.c").write_text(prelude + "".join(parts))
    compiler = shutil.which("cc") or shutil.which("clang")
    flags = ["-Wall", "-Werror", "-Wno-unused-function", "-fsyntax-only", f"-I{LIBRARY}/include"]
    subprocess.run([compiler, *flags, tmp_path / "parts.c"], check=True, timeout=60)


@pytest.mark.parametrize("part", [each for each in blocks("swift", "swift") if "import Lifecycle" in each])
def test_the_programs_in_swift_compile(tmp_path, part):
    if not shutil.which("swiftc"):
        pytest.skip("there is no Swift toolchain")
    source = tmp_path / "part.swift"
    source.write_text(part)
    maps = [f"-fmodule-map-file={each}" for each in PRODUCTS.glob("*.build/module.modulemap")]
    flags = [flag for each in maps for flag in ("-Xcc", each)]
    subprocess.run(
        ["swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors",
         "-I", PRODUCTS / "Modules", *flags, source], check=True, timeout=120)


@pytest.mark.parametrize("page", ["concepts", "c"])
def test_the_manifest_is_valid(tmp_path, page):
    (text,) = blocks(page, "toml")
    (tmp_path / "apps.d").mkdir()
    (tmp_path / "apps.d" / re.search(r"apps\.d/(\S+)", text)[1]).write_text(text)
    shutil.copy("/bin/true", tmp_path / "clock")
    check = [PRODUCTS / "lifed", "--check", f"--config-directory={tmp_path}"]
    variables = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    result = subprocess.run(check, env=variables, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout


# The protocol.

RANGES = {"ALPHA": "[A-Za-z]", "DIGIT": "[0-9]", "HEXDIG": "[0-9A-Fa-f]", "SP": " ", "LF": "\n"}


def pattern(rules, name):
    """The regular expression of a rule. The page uses no more of ABNF than this."""
    if name in RANGES:
        return RANGES[name]
    tokens = re.findall(r'"([^"]+)"|%x(\w\w)-(\w\w)|(\*\()|([()/])|(\w+)', rules[name])
    result = ""
    for text, low, high, star, sign, rule in tokens:
        if star:
            result += "(?S:"
        else:
            result += re.escape(text) or (f"[\\x{low}-\\x{high}]" if low else "") or sign.replace("/", "|").replace("(", "(?:")
            result += pattern(rules, rule) if rule else ""
    # A repetition is marked at its beginning; here, it is at the end.
    while "(?S:" in result:
        start = result.index("(?S:")
        depth, end = 1, start + 4
        while depth:
            depth += {"(": 1, ")": -1}.get(result[end], 0) if result[end - 1] != "\\" else 0
            end += 1
        result = f"{result[:start]}(?:{result[start + 4:end]}*{result[end:]}"
    return f"(?:{result})"


@pytest.fixture(scope="module")
def grammar():
    rules = dict(re.findall(r"^(\w+) += (.*)$", blocks("protocol", "abnf")[0], re.MULTILINE))
    return re.compile(pattern(rules, "message"))


def test_the_grammar_has_the_lines_of_the_transcripts(grammar):
    text = "".join(page.read_text() for page in (ROOT / "docs/apps/transcripts").glob("*.md"))
    lines = [re.sub(r"\{(\d+)-\d+\}", r"\1", line) for line in re.findall(r"^\w+[<>] (.*)$", text, re.MULTILINE)]
    lines += re.findall(r"^    (\w\S* .*=.*)$", (ROOT / "docs/apps/protocol.md").read_text(), re.MULTILINE)
    assert len(lines) > 100
    # Lines that lifed answers with a mistake of the grammar have no place in it.
    grammatical = [line for line in lines if grammar.fullmatch(line + "\n")]
    assert len(lines) - len(grammatical) <= text.count("reason=malformed") + text.count("reason=empty-line")


@pytest.mark.parametrize("line", ["", "Hello", "done  seq=1", "done seq", "a b=c d", "a b=%4", "a b=ä", "9a b=c", "a B=c"])
def test_the_grammar_has_no_other_line(grammar, line):
    assert not grammar.fullmatch(line + "\n")


@pytest.mark.parametrize(
    ("heading", "sources"),
    [
        ("Messages from the app", [("Sources/AppChannel/MessageFromApp.swift", r'case "([a-z-]+)"')]),
        ("Messages from lifed", [("Sources/AppChannel/MessageToApp.swift", r'case "([a-z-]+)"')]),
        ("Callbacks", [("Sources/LifecycleTypes/Callback.swift", r'case \w+ = "((?!scene-)[a-z-]+)"')]),
        ("Scenes", [("Sources/LifecycleTypes/Callback.swift", r'case \w+ = "(scene-[a-z-]+)"')]),
    ],
)
def test_the_tables_have_every_verb_and_no_other(heading, sources):
    section = (ROOT / "docs/apps/protocol.md").read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    known = {verb for path, verbs in sources for verb in re.findall(verbs, (ROOT / path).read_text())}
    assert set(re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE)) == known
