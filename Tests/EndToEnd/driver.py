"""Asks a daemon for one thing after the other over its socket, whatever becomes of the daemon."""

import json
import random
import socket
import threading


class Driver(threading.Thread):
    def __init__(self, address, apps, seed):
        super().__init__(daemon=True)
        self.address = address
        self.apps = apps
        self.random = random.Random(seed)
        self.over = threading.Event()
        self.answered = 0
        self.interrupted = 0

    def run(self):
        while not self.over.is_set():
            try:
                with connect(self.address) as connection:
                    while not self.over.is_set():
                        call(connection, *self.request())
                        self.answered += 1
            except (ConnectionError, FileNotFoundError):
                self.interrupted += 1

    def request(self):
        app = self.random.choice(self.apps)
        kind = self.random.choices(["Focus", "Suspend", "BeginInterruption", "EndInterruption"], [80, 10, 5, 5])[0]
        parameters = {"name": "call"} if "Interruption" in kind else {"id": app}
        return f"org.lifed.{kind}", parameters

    def stop(self):
        self.over.set()
        self.join(timeout=60)
        assert not self.is_alive(), "the daemon owes an answer"


def connect(address):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(60)
    connection.connect(address)
    return connection


def call(connection, method, parameters, **flags):
    connection.sendall(json.dumps({"method": method, "parameters": parameters, **flags}).encode() + b"\0")
    received = b""
    while not received.endswith(b"\0"):
        chunk = connection.recv(65536)
        if not chunk:
            raise ConnectionResetError
        received += chunk
    return json.loads(received[:-1])
