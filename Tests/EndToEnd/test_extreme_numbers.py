"""A number of any size in a call: the daemon answers, and does nothing."""

import importlib.machinery
import importlib.util

from driver import call, connect
from false_daemon import API, ROOT

NUMBERS = [0, -1, 2**31 - 1, 2**31 + 1, 2**63 - 1, 2**63, 2**64 - 1, -(2**63), 10**400]
STUBBORN = ["sh", "-c", "trap '' HUP; sleep infinity & wait"]


def methods():
    """Returns the parameters of each method that has a number among them."""
    loader = importlib.machinery.SourceFileLoader("generate_api", str(ROOT / "scripts/generate-api"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("generate_api", loader))
    loader.exec_module(module)
    for file in API.glob("*.varlink"):
        name, members = module.Parser(file.read_text()).interface()
        for kind, member, _, parameters, *_ in members:
            if kind == "method" and any(parameter.type.lstrip("?") == "int" for parameter in parameters):
                yield f"{name}.{member}", {parameter.name: parameter.type for parameter in parameters}


def test_a_number_of_any_size_in_a_call_is_answered(direct):
    pid = direct.lifectl.start("app", *STUBBORN)
    found = dict(methods())
    assert {"org.lifed.Adopt", "org.lifed.FindApp", "org.lifed.History", "org.lifed.Kill"} <= set(found)
    for method, types in found.items():
        for name in (name for name, type_ in types.items() if type_.lstrip("?") == "int"):
            others = {other: "app" for other, type_ in types.items() if type_ == "string"}
            for number in NUMBERS:
                with connect(str(direct.socket)) as connection:
                    reply = call(connection, method, {**others, name: number})
                assert "parameters" in reply, (method, name, number, reply)
    assert direct.process.poll() is None
    assert direct.lifectl.pid("app") == pid and direct.lifectl.state("app") == "active"
