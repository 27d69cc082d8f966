#!/usr/bin/env python3
"""An app on the protocol whose words are a test's, at the socket of its first argument: it says and hears, and does no more."""

import contextlib
import os
import resource
import select
import signal
import socket
import sys


class Speaker:
    def __init__(self, address):
        self.test = socket.socket(socket.AF_UNIX)
        self.test.connect(address)
        self.orders = b""
        self.channel = socket.socket(fileno=int(os.environ["LIFECYCLE_FD"]))
        self.heard = b""

    def run(self):
        while True:
            ready, _, _ = select.select([self.test, *([self.channel] if self.channel else [])], [], [])
            # What the daemon has said comes before what the test wants next.
            if self.channel in ready:
                self.hear()
            elif self.test in ready:
                self.obey()

    def tell(self, line):
        self.test.sendall(line + b"\n")

    def hear(self):
        try:
            chunk = self.channel.recv(65536)
        except ConnectionResetError:
            chunk = b""
        *lines, self.heard = (self.heard + chunk).split(b"\n")
        for line in lines:
            self.tell(b"< " + line)
        if not chunk:
            self.channel.close()
            self.channel, self.heard = None, b""
            self.tell(b"! loses its channel")

    def say(self, line):
        """A line without a channel is lost, as it is where the daemon has just ended."""
        if self.channel:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.channel.sendall(line + b"\n")

    def obey(self):
        chunk = self.test.recv(65536)
        if not chunk:
            sys.exit(0)
        *lines, self.orders = (self.orders + chunk).split(b"\n")
        for line in lines:
            kind, _, words = line.partition(b" ")
            if kind == b">":
                self.say(words)
            elif words == b"connects":
                self.channel = socket.socket(socket.AF_UNIX)
                self.channel.connect(os.environ["LIFECYCLE_SOCKET"])
            elif words == b"closes":
                self.channel.close()
                self.channel = None
            elif words == b"crashes":
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                os.kill(os.getpid(), signal.SIGABRT)
            elif words == b"exits":
                os._exit(0)


Speaker(sys.argv[1]).run()
