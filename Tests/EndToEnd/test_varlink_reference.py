"""The examples of docs/integrate/varlink: the daemon gives these replies to these calls, in the order of the pages."""

import contextlib
import json
import re
import sys
import time
from pathlib import Path

import pytest

from driver import connect

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README", "apps", "deliveries", "inspection", "system"]
PAGE = "\n".join((ROOT / f"docs/integrate/varlink/{page}.md").read_text() for page in PAGES)
INTERFACE = (ROOT / "Sources/ControlAPI/org.lifed.varlink").read_text()
MORE = "…"
READS = {"List", "ListAvailable", "Describe", "FindApp", "Explain", "History", "GetStatus"}
# Values that differ by machine, as every time does; "letter" is the state of a process.
BY_TYPE = {"parentPid", "letter", "version", "containment", "number", "clients", "journal"}

APP = f"""#!{sys.executable}
import os, signal, socket

while "LIFECYCLE_FD" not in os.environ:
    signal.pause()
channel = socket.socket(fileno=int(os.environ["LIFECYCLE_FD"]))
answers = {{"open-url": " handled=yes", "continue-activity": " handled=yes", "perform-task": " result=new-data"}}
channel.sendall(b"hello protocol=1\\n")
for line in channel.makefile():
    verb, *words = line.split()
    fields = dict(word.split("=", 1) for word in words)
    lines = []
    if verb == "did-enter-background":
        lines.append("begin-task id=1 name=sync")
    if verb in ("did-become-active", "expire-task"):
        lines.append("end-task id=1")
    if "seq" in fields:
        lines.append(f"done seq={{fields['seq']}}{{answers.get(verb, '')}}")
    channel.sendall("".join(each + "\\n" for each in lines).encode())
"""


def blocks(language, text=PAGE):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


EXAMPLES = blocks("varlink")


class Object(list):
    """The members of a JSON object in their order."""


def parse(text):
    """Reads JSON in which … stands for more members or elements."""
    nesting = []

    def mark(token):
        if token[0] == MORE:
            return f'"{MORE}": 0' if nesting[-1] == "{" else f'"{MORE}"'
        if token[0] in "{[":
            nesting.append(token[0])
        elif token[0] in "}]":
            nesting.pop()
        return token[0]

    return json.loads(re.sub(r'"(?:\\.|[^"\\])*"|[][{}…]', mark, text), object_pairs_hook=Object)


class Comparison:
    """Compares the replies of the page with those of the daemon."""

    def __init__(self, pids):
        # Each pid on the page, with the real one.
        self.pids = pids
        # The members of the objects that the page has shown whole.
        self.whole = set()

    def values(self, shown, given, key=""):
        assert type(shown) is type(given), f"{key}: {shown!r} on the page, {given!r} in the reply"
        if isinstance(shown, Object):
            self.objects(shown, given)
        elif isinstance(shown, list):
            self.arrays(shown, given, key)
        elif key == "pid" and isinstance(shown, int):
            assert self.pids.setdefault(shown, given) == given, f"the process {shown} is {self.pids[shown]} and {given}"
        elif key not in BY_TYPE and not key.endswith("USec"):
            assert shown == given, f"{key}: {shown!r} on the page, {given!r} in the reply"

    def objects(self, shown, given):
        names = tuple(name for name, _ in given)
        rest, skips = list(given), False
        for name, value in shown:
            if name == MORE:
                assert names in self.whole, f"{shown} is cut, and was not shown whole before"
                skips = True
                continue
            while skips and rest and rest[0][0] != name:
                rest.pop(0)
            assert rest and rest[0][0] == name, f"{name} is not where the reply has it: {names}"
            is_letter = name == "state" and "cpuTimeUSec" in names
            self.values(value, rest.pop(0)[1], "letter" if is_letter else name)
            skips = False
        assert skips or not rest, f"{rest} is in the reply, and not on the page"
        if all(name != MORE for name, _ in shown):
            self.whole.add(names)

    def arrays(self, shown, given, key):
        if shown[-1:] == [MORE]:
            shown = shown[:-1]
            given, rest = given[: len(shown)], given[len(shown) :]
            assert all(tuple(name for name, _ in each) in self.whole for each in rest), f"{key}: elements are left out"
        assert len(shown) == len(given), f"{key}: {shown} on the page, {given} in the reply"
        for one, other in zip(shown, given):
            self.values(one, other, key)


class Replay:
    def __init__(self, daemon, directory):
        self.daemon = daemon
        self.programs = directory / "programs"
        self.programs.mkdir()
        for manifest in blocks("toml")[0].split("# apps.d/")[1:]:
            name, _, text = manifest.partition("\n")
            (daemon.configuration / "apps.d" / name).write_text(text.replace("/usr/bin", str(self.programs)))
        # The page's times are not for a busy machine.
        timeouts = 'willResignActive = "30s"\ndidEnterBackground = "30s"\nbackground = "10min"\n'
        (daemon.configuration / "lifed.toml").write_text(f"[timeouts]\n{timeouts}")
        for name in ("clock", "mail", "notes", "viewer"):
            (self.programs / name).write_text(APP)
            (self.programs / name).chmod(0o755)
        daemon.stop()
        daemon.start()
        self.places = {
            self.programs: "/usr/bin", daemon.configuration: "/etc/lifed", daemon.runtime: "/run/lifed",
            sys.executable: "/usr/bin/python3",
        }

    def run(self, viewer):
        """Sends every call of the page; the process that it adopts is the given one."""
        adopted = int(re.search(r'Adopt", "parameters": {"pid": (\d+)', PAGE)[1])
        self.comparison = Comparison({adopted: viewer})
        for example in EXAMPLES:
            method = re.search(r'"method": "org.lifed.(\w+)"', example)[1]
            deadline = time.monotonic() + 20
            # Earlier calls may still have effects.
            while (found := self.difference(example)) and method in READS and time.monotonic() < deadline:
                time.sleep(0.02)
            assert not found, f"{example}\n{found}"

    def difference(self, example):
        try:
            with contextlib.ExitStack() as stack:
                self.perform(example, stack)
        except AssertionError as difference:
            return str(difference)

    def perform(self, example, stack):
        clients = {}
        for kind, text in re.findall(r"^(>|other>|<) (.*?)(?=^\S|\Z)", example, re.M | re.S):
            if kind == "<":
                self.comparison.values(parse(text), parse(self.receive(clients[">"])))
                continue
            if kind not in clients:
                clients[kind] = stack.enter_context(connect(str(self.daemon.socket)))
            clients[kind].sendall(re.sub(r'(?<="pid": )\d+', self.real_pid, text).encode() + b"\0")
        if "other>" in clients:
            self.receive(clients["other>"])

    def real_pid(self, shown):
        return str(self.comparison.pids.get(int(shown[0]), shown[0]))

    def receive(self, client):
        reply = b""
        while not reply.endswith(b"\0"):
            # Byte by byte: the next reply is another's to read.
            byte = client.recv(1)
            assert byte, "the daemon has closed the connection"
            reply += byte
        text = reply[:-1].decode()
        for real, shown in self.places.items():
            text = text.replace(str(real), shown)
        return text


@pytest.fixture
def replay(direct, tmp_path):
    return Replay(direct, tmp_path)


def test_the_examples_are_what_the_daemon_replies(replay, start):
    replay.run(start([str(replay.programs / "viewer")]))


def test_the_programs_of_the_page_work(direct):
    programs = blocks("python")
    assert len(programs) == 2
    for program in programs:
        result = direct.run([sys.executable, "-c", program.replace("/run/lifed/control", str(direct.socket))])
        assert "NoSuchApp" in result.stdout or result.stdout == "{'parameters': {'app': None}}\n"


def test_every_page_is_replayed_and_in_the_index():
    assert sorted(PAGES) == sorted(path.stem for path in (ROOT / "docs/integrate/varlink").glob("*.md"))
    listed = re.findall(r"`([A-Z]\w+)`", re.search(r"^\| page .*?^$", PAGE, re.M | re.S)[0])
    assert listed == re.findall(r"^method (\w+)", INTERFACE, re.M)


def test_the_methods_are_those_of_the_interface():
    expected = re.findall(r"^# ---- ([A-Z]\w+)$|^method (\w+)", INTERFACE, re.M)
    reference = PAGE[PAGE.index("\n## Apps\n") : PAGE.index("\n## Errors\n")]
    assert re.findall(r"^## (\w+)$|^### (\w+)$", reference, re.M) == expected
    for section in reference.split("\n### ")[1:]:
        method = section.partition("\n")[0]
        assert f'> {{"method": "org.lifed.{method}"' in "".join(blocks("varlink", section)), method


def test_every_parameter_is_in_an_example():
    used = {}
    for example in EXAMPLES:
        for text in re.findall(r"^(?:other)?> (.*?)(?=^\S|\Z)", example, re.M | re.S):
            call = json.loads(text)
            used.setdefault(call["method"], set()).update(call.get("parameters", {}))
    for method, fields in re.findall(r"^method (\w+)\((.*?)\) ->", re.sub(r" *#.*", "", INTERFACE), re.M | re.S):
        assert set(re.findall(r"(\w+):", fields)) <= used[f"org.lifed.{method}"], method


def test_the_access_of_apps_is_described_for_every_method():
    rows = re.search(r"^\| a process of an app calls .*?^$", PAGE, re.M | re.S)[0].splitlines()
    described = [name for row in rows for name in re.findall(r"`([A-Z]\w+)`", row.split(" | ")[0])]
    assert sorted(described) == sorted(re.findall(r"^method (\w+)", INTERFACE, re.M))


def test_every_error_is_described():
    described = re.findall(r"^\| `(\w+)` \|", PAGE.partition("\n## Errors\n")[2].partition("org.varlink.service")[0], re.M)
    assert described == re.findall(r"^error (\w+)", INTERFACE, re.M)


@pytest.mark.parametrize(
    ("shown", "given"),
    [
        ('{"state": "active"}', '{"state": "inactive"}'),
        ('{"id": "mail", "pid": 1}', '{"pid": 1, "id": "mail"}'),
        ('{"id": "mail"}', '{"id": "mail", "pid": 1}'),
        ('{"id": "mail", "pid": 1}', '{"id": "mail"}'),
        ('{"pid": 1}', '{"pid": null}'),
        ('{"sinceUSec": 1}', '{"sinceUSec": "1"}'),
        ('{"one": {"pid": 1}, "two": {"pid": 1}}', '{"one": {"pid": 7}, "two": {"pid": 8}}'),
        ('{"order": ["mail"]}', '{"order": ["mail", "clock"]}'),
        ('{"id": "mail", …}', '{"id": "mail", "pid": 1}'),
        ('{"apps": [{"id": "mail"}, …]}', '{"apps": [{"id": "mail"}, {"id": "mail", "pid": 1}]}'),
        ('{"one": {"x": 1, "y": 1}, "two": {"x": 1}}', '{"one": {"x": 1, "y": 1}, "two": {"x": 1, "y": 1}}'),
        ('{"one": {"x": 1, "y": 1}, "two": {…, "x": 1}}', '{"one": {"x": 1, "y": 1}, "two": {"x": 1, "y": 1}}'),
    ],
)
def test_an_example_that_is_wrong_is_found(shown, given):
    with pytest.raises(AssertionError):
        Comparison({}).values(parse(shown), parse(given))
