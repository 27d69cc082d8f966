#!/usr/bin/env python3
"""A process of an app that does what the test at the socket of its first argument orders, and answers each order with a line.

    inherits | connects PATH | says LINE | hears | closes | child | child-in-session
"""

import os
import socket
import subprocess
import sys


class Member:
    def __init__(self, address):
        self.address = address
        self.channel = None
        self.lines = None
        self.test = socket.socket(socket.AF_UNIX)
        self.test.connect(address)

    def run(self):
        with self.test.makefile("rw") as orders:
            print(os.getpid(), file=orders, flush=True)
            for order in orders:
                verb, _, words = order.rstrip("\n").partition(" ")
                print(self.obey(verb, words) or verb, file=orders, flush=True)

    def obey(self, verb, words):
        if verb == "inherits":
            self.use(socket.socket(fileno=os.dup(int(os.environ["LIFECYCLE_FD"]))))
        elif verb == "connects":
            channel = socket.socket(socket.AF_UNIX)
            channel.connect(words)
            self.use(channel)
        elif verb == "says":
            self.channel.sendall(words.encode() + b"\n")
        elif verb == "hears":
            return self.lines.readline().rstrip("\n") or "nothing"
        elif verb == "closes":
            self.lines.close()
            self.channel.close()
        else:
            subprocess.Popen(
                [sys.executable, __file__, self.address], close_fds=False, start_new_session=verb == "child-in-session")
        return None

    def use(self, channel):
        self.channel = channel
        self.lines = channel.makefile()


Member(sys.argv[1]).run()
