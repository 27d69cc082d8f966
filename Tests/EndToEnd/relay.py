#!/usr/bin/env python3
"""An app that hands its channel to the listener at the socket of its first argument, and then says what comes from there.

The daemon takes a hello from the app alone.
"""

import os
import signal
import socket
import sys

with socket.socket(socket.AF_UNIX) as connection, socket.socket(fileno=int(os.environ["LIFECYCLE_FD"])) as channel:
    connection.connect(sys.argv[1])
    socket.send_fds(connection, [b"channel"], [channel.fileno()])
    while words := connection.recv(65536):
        channel.sendall(words)
while True:
    signal.pause()
