"""A hostile client of a session bus: bus_flood.py SOCKET KIND NAME COUNT.

`calls`: COUNT calls to NAME. `names`: a call to each of COUNT names without an owner. `owners`: takes COUNT names, and calls each.
`churn`: COUNT connections, each of which calls NAME and closes. `huge`: COUNT calls to NAME of 16 MiB each.
"""

import contextlib
import os
import socket
import struct
import sys


def text(value):
    data = value.encode()
    return struct.pack("<I", len(data)) + data + b"\0"


def padded(data):
    return data + bytes(-len(data) % 8)


def message(serial, destination, member, body=b"", signature="", flags=1, path="/x", interface="org.example.Test"):
    fields = b""
    for code, kind, value in ((1, b"o", path), (2, b"s", interface), (3, b"s", member), (6, b"s", destination)):
        fields = padded(fields) + struct.pack("<B", code) + b"\x01" + kind + b"\0" + text(value)
    if signature:
        fields = padded(fields) + b"\x08\x01g\0" + bytes([len(signature)]) + signature.encode() + b"\0"
    header = b"l" + struct.pack("<BBBII", 1, flags, 1, len(body), serial) + struct.pack("<I", len(fields)) + fields
    return padded(header) + body


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    client.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
    client.recv(4096)
    client.sendall(b"BEGIN\r\n" + bus_call(1, "Hello"))
    return client


def bus_call(serial, member, body=b"", signature=""):
    return message(
        serial, "org.freedesktop.DBus", member, body, signature, 0, "/org/freedesktop/DBus", "org.freedesktop.DBus")


def send(client, data):
    """Sends, and reads what comes: a bus does not read from a client that does not."""
    data = memoryview(data)
    client.setblocking(False)
    while data:
        try:
            data = data[client.send(data):]
        except BlockingIOError:
            pass
        try:
            client.recv(1 << 20)
        except BlockingIOError:
            pass


def flood(path, kind, name, count):
    if kind == "churn":
        for _ in range(count):
            client = connect(path)
            client.sendall(message(2, name, "Note"))
            client.recv(4096)
            client.close()
        return
    client = connect(path)
    if kind == "huge":
        data = b"x" * (16 << 20)
        for serial in range(2, count + 2):
            send(client, message(serial, name, "Note", struct.pack("<I", len(data)) + data + b"\0", "s"))
    elif kind == "calls":
        for first in range(2, count + 2, 1000):
            send(client, b"".join(message(serial, name, "Note") for serial in range(first, first + 1000)))
    else:
        names = [f"{name}.n{os.getpid()}x{number}" for number in range(count)]
        if kind == "owners":
            for serial, each in enumerate(names, 2):
                send(client, bus_call(serial, "RequestName", text(each).ljust((len(each) + 8) // 4 * 4, b"\0") + bytes(4), "su"))
        for serial, each in enumerate(names, count + 2):
            send(client, message(serial, each, "Note", flags=0))
    # Until the bus has handled all of it.
    client.setblocking(True)
    client.settimeout(1)
    try:
        while client.recv(1 << 20):
            pass
    except TimeoutError:
        pass


# A bus disconnects a client that takes too much.
with contextlib.suppress(ConnectionError):
    flood(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
