"""What lifectl prints with --json has the fields that the interfaces promise, and no other."""

import json
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

import programs

ROOT = Path(__file__).resolve().parents[2]
SCALARS = {"string": str, "int": int, "bool": bool}


def interfaces():
    """The types and the replies of org.lifed, and the types of org.lifed.lifectl."""
    loader = SourceFileLoader("generate_api", str(ROOT / "scripts/generate-api"))
    api = module_from_spec(spec_from_loader("generate_api", loader))
    loader.exec_module(api)
    types, replies = {}, {}
    for file in ("ControlAPI/org.lifed.varlink", "lifectl/Output/org.lifed.lifectl.varlink"):
        _, members = api.Parser((ROOT / "Sources" / file).read_text()).interface()
        for kind, name, _, first, second in members:
            if kind == "type":
                types[name] = first
            elif kind == "method":
                replies[name] = second
    return types, replies


TYPES, REPLIES = interfaces()


def check(value, type_, place):
    """Fails unless a value is of a type of the interfaces."""
    if type_.startswith("?"):
        if value is not None:
            check(value, type_[1:], place)
    elif type_.startswith("[]"):
        assert isinstance(value, list), place
        for each in value:
            check(each, type_[2:], f"{place}[]")
    elif type_.startswith("[string]"):
        for name, each in value.items():
            check(each, type_[8:], f"{place}.{name}")
    elif type_ in SCALARS:
        assert type(value) is SCALARS[type_], f"{place}: {value!r} is no {type_}"
    elif TYPES[type_][0].type is None:
        assert value in [each.name for each in TYPES[type_]], f"{place}: {value!r} is no {type_}"
    else:
        check_fields(value, TYPES[type_], place)


def check_fields(value, fields, place):
    known = {each.name: each for each in fields}
    assert set(value) <= set(known), f"{place} has {set(value) - set(known)}"
    missing = {name for name, each in known.items() if name not in value and not each.is_optional}
    assert not missing, f"{place} lacks {missing}"
    for name, each in value.items():
        check(each, known[name].type, f"{place}.{name}")


def check_output(text, name, is_reply=False):
    objects = [json.loads(line) for line in text.splitlines()]
    assert objects
    for each in objects:
        check_fields(each, REPLIES[name] if is_reply else TYPES[name], name)


@pytest.fixture
def busy(direct):
    (direct.configuration / "apps.d/clock.toml").write_text("command = ['sleep', 'infinity']\nscenes = true\n")
    (direct.configuration / "apps.d/wrong.toml").write_text("command = 4\n")
    direct.lifectl("reload", check=False)
    direct.lifectl("scene", "open", "clock")
    direct.lifectl.start("tool", *programs.FAMILY)
    direct.lifectl.start("ended", *programs.IDLE)
    direct.lifectl("kill", "ended")
    return direct


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("cat clock", "ManifestText"), ("doctor", "Examination"), ("explain clock", "ExplainOutput"),
        ("list --helpers", "HelperList"), ("log", "HistoryEntry"), ("scene list", "ListedScenes"), ("stats", "Statistics"),
        ("timeline", "Lanes"), ("top --count 1 --interval 0.1", "TopSample"), ("focus nobody", "CommandFailure"),
    ],
)
def test_an_object_is_of_its_type(busy, words, name):
    check_output(busy.lifectl(*words.split(), "--json", check=False).stdout, name)


@pytest.mark.parametrize(
    ("words", "method"),
    [
        ("list", "List"), ("list --available --all", "ListAvailable"), ("status", "GetStatus"), ("status tool", "Describe"),
        ("focus tool", "Focus"), ("background tool", "Background"), ("suspend tool", "Suspend"), ("resume tool clock", "Resume"),
        ("terminate tool", "Terminate"), ("kill tool", "Kill"), ("restart clock", "Restart"), ("home", "Home"),
        ("interrupt begin", "BeginInterruption"), ("simulate lock", "Simulate"), ("simulate memory normal", "SimulateMemoryPressure"),
        ("reload", "Reload"), ("scene open clock", "OpenScene"), ("scene close clock/main", "CloseScene"),
    ],
)
def test_a_reply_is_of_its_method(busy, words, method):
    # The reload finds a mistake.
    check_output(busy.lifectl(*words.split(), "--json", check=words != "reload").stdout, method, is_reply=True)


def test_the_page_names_the_object_of_each_command():
    page = (ROOT / "docs/man/lifectl.1").read_text()
    table = page.partition('.Bl -column "monitor" "HistoryEntry"')[2].partition(".El")[0]
    named = {line.split()[-1] for line in table.splitlines() if line.startswith(".It Cm")}
    outputs = {"ManifestText", "Examination", "ExplainOutput", "HelperList", "HistoryEntry", "ListedScenes", "Statistics", "Lanes",
               "TopSample"}
    assert named == outputs <= set(TYPES)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"error": "a", "message": "b"}, "CommandFailure"),
        ({"error": "a", "message": 1, "parameters": {}}, "CommandFailure"),
        ({"error": "a", "message": "b", "parameters": {}, "more": 1}, "CommandFailure"),
        ({"findings": [], "ok": True, "degraded": 0, "failed": 0}, "Examination"),
        ({"findings": [{"subject": "a", "verdict": "so", "found": "b"}], "ok": 1, "degraded": 0, "failed": 0}, "Examination"),
    ],
)
def test_an_object_of_another_type_is_found(value, name):
    with pytest.raises(AssertionError):
        check_fields(value, TYPES[name], name)
