"""A daemon that lies: it answers every call with values that have the right types, or not even those."""

import importlib.machinery
import importlib.util
import json
import pathlib
import random
import socket
import threading

ROOT = pathlib.Path(__file__).parents[2]
API = ROOT / "Sources/ControlAPI"
TEXTS = ["", "x", "a\x1b]0;title\x07\x1b[2J", "\x9b31m\r\n\t\x7f\u202e\u2028", "\\\"'<&>{}", "e\u0301\U0001f600", "/" * 5000]
NUMBERS = [-(2**63), 2**63 - 1, -1, 0, 1, 2**31, 2**32, 2**53, 253_402_300_800_000_000]
WRONG = [None, True, "text", 1.5, -(2**70), [], {}, [[1]], {"a": "\x1b"}]


def interfaces():
    """Returns the types, and the fields of the reply of each method by its qualified name."""
    loader = importlib.machinery.SourceFileLoader("generate_api", str(ROOT / "scripts/generate-api"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("generate_api", loader))
    loader.exec_module(module)
    types, replies = {}, {}
    for file in API.glob("*.varlink"):
        name, members = module.Parser(file.read_text()).interface()
        types.update({member: fields for kind, member, _, fields, _ in members if kind == "type"})
        replies.update({f"{name}.{member}": reply for kind, member, _, _, reply in members if kind == "method"})
    return types, replies


class FalseDaemon:
    """Answers each call with values that depend on the seed alone. One in `wrong` values has another type; 0 for none.

    The first seeds give the same extreme number everywhere, and leave nothing out.
    """

    types, replies = interfaces()

    def __init__(self, path, seed, wrong=0):
        self.random, self.wrong = random.Random(seed), wrong
        self.extreme = NUMBERS[seed] if seed < 2 else None
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def value(self, type_):
        if self.wrong and self.random.randrange(self.wrong) == 0:
            return self.random.choice(WRONG)
        if type_.startswith("?"):
            return self.value(type_[1:]) if self.extreme or self.random.random() < 0.8 else None
        if type_.startswith("[]"):
            return [self.value(type_[2:]) for _ in range(2 if self.extreme else self.random.randrange(3))]
        if type_.startswith("[string]"):
            return {self.random.choice(TEXTS): self.value(type_[8:]) for _ in range(2)}
        if type_ == "string":
            return self.random.choice(TEXTS)
        if type_ == "int":
            return self.extreme or self.random.choice(NUMBERS)
        if type_ == "float":
            return self.random.choice([-1e308, 0.5, 1e308])
        if type_ == "bool":
            return self.random.random() < 0.5
        if type_ == "object":
            return self.random.choice([1, "suspended", {"a\x1b\"b": TEXTS[2]}])
        fields = self.types[type_]
        return self.object(fields) if fields[0].type else self.random.choice(fields).name

    def object(self, fields):
        return {field.name: self.value(field.type) for field in fields}

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        rest = b""
        with connection:
            while True:
                try:
                    part = connection.recv(1 << 16)
                    *calls, rest = (rest + part).split(b"\0")
                    for call in map(json.loads, calls):
                        self._answer(connection, call)
                except OSError:
                    return
                if not part:
                    return

    def _answer(self, connection, call):
        count = 3 if call.get("more") else 1
        for left in reversed(range(count)):
            if not self.extreme and self.random.random() < 0.1:
                reply = {"error": "org.lifed." + self.random.choice(["NoSuchApp", "x\x1b[2J"]), "parameters": {"reason": TEXTS[2]}}
                left = 0
            else:
                reply = {"parameters": self.object(self.replies.get(call["method"], []))}
            if left:
                reply["continues"] = True
            connection.sendall(json.dumps(reply).encode() + b"\0")
            if "error" in reply:
                return
