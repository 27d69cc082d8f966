#!/usr/bin/env python3
"""An app that hands its channel to the listener at the socket of its first argument, and then does nothing."""

import os
import signal
import socket
import sys

channel = int(os.environ["LIFECYCLE_FD"])
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    socket.send_fds(connection, [b"channel"], [channel])
os.close(channel)
while True:
    signal.pause()
