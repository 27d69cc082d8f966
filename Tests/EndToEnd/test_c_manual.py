"""The manual pages of the C library have what its header declares, and their examples compile."""

import re
import shutil

import pytest

from test_manual import PAGES, ROOT, page, run, share  # noqa: F401: fixtures

HEADER = ROOT / "Sources/LifecycleC/include/lifecycle.h"


def declarations():
    """The prototype of each function, by its name."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    found = re.findall(r"^(\w[^;{}]*?\b(lifecycle_\w+)\([^;]*\));", text, re.MULTILINE)
    return {name: " ".join(whole.split()) for whole, name in found}


def arguments(text):
    """The quoted arguments of a macro, as a list of parameters."""
    return ", ".join(re.findall('"([^"]*)"', text))


def prototypes(text):
    """The prototypes of a synopsis."""
    synopsis = text.partition(".Sh SYNOPSIS")[2].partition(".Sh")[0]
    for kind, name, parameters in re.findall(r"^\.Ft (.*)\n\.Fn (\w+) (.*)$", synopsis, re.MULTILINE):
        kind = kind.strip('"')
        space = "" if kind.endswith("*") else " "
        yield name, f"{kind}{space}{name}({arguments(parameters)})"


def test_every_function_has_a_page_with_its_prototype(share, page):
    declared = declarations()
    assert len(declared) > 15
    found = {}
    for path in [each for each in PAGES if each.startswith("man3/")]:
        described = dict(prototypes(page(path)))
        found |= described
        assert all((share / "man/man3" / f"{name}.3").exists() for name in described)
    assert found == declared


def test_every_callback_has_its_prototype_in_the_page(page):
    text = HEADER.read_text().partition("struct lifecycle_callbacks {")[2].partition("};")[0]
    declared = set(re.findall(r"(\w+) \(\*(\w+)\)\((.*?)\);", text))
    items = re.findall(r"^\.It Vt (\w+) Fn \(\*(\w+)\) (.*)$", page("man3/lifecycle_callbacks.3"), re.MULTILINE)
    assert len(declared) > 20
    assert {(kind, name, arguments(each)) for kind, name, each in items} == declared


@pytest.mark.parametrize("name", [each for each in PAGES if each.startswith("man3/")])
def test_the_examples_in_c_compile(page, tmp_path, name):
    text = page(name).replace(r"\(rs", "\\")
    examples = re.findall(r"^\.Bd -literal -offset indent\n(.*?)^\.Ed", text, re.MULTILINE | re.DOTALL)
    assert examples
    includes = "#include <lifecycle.h>\n#include <poll.h>\n#include <stdio.h>\n#include <string.h>\n"
    (tmp_path / "example.c").write_text(includes + "static struct lifecycle *app;\n" + "".join(examples))
    flags = ["-Wall", "-Werror", "-Wno-unused-function", "-Wno-unused-variable", "-fsyntax-only"]
    run(shutil.which("cc") or shutil.which("clang"), *flags, f"-I{HEADER.parent}", str(tmp_path / "example.c"))
