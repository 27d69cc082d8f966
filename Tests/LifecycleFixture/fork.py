"""Forks a child that does not execute anything, sends it SIGTERM, and says what becomes of both."""

import ctypes
import os
import select
import signal
import sys

library = ctypes.CDLL("liblifecycle.so.0")
library.lifecycle_open.restype = ctypes.c_void_p
callbacks = ctypes.create_string_buffer(bytes(ctypes.c_size_t(64)), 64)
HANDLE_SIGTERM = 1
app = ctypes.c_void_p(library.lifecycle_open(callbacks, None, HANDLE_SIGTERM))
library.lifecycle_dispatch(app)

child = os.fork()
if child == 0:
    signal.pause()
os.kill(child, signal.SIGTERM)
_, status = os.waitpid(child, 0)
print("child ended by", signal.Signals(os.WTERMSIG(status)).name, flush=True)
print("parent was told:", bool(select.select([library.lifecycle_fd(app)], [], [], 0)[0]), flush=True)
library.lifecycle_close(app)
print("again:", bool(library.lifecycle_open(callbacks, None, 0)), flush=True)
print("twice:", library.lifecycle_open(callbacks, None, 0), flush=True)
print("no such flag:", library.lifecycle_open(callbacks, None, 8), flush=True)
sys.exit(0)
