#!/usr/bin/env python3
"""An app in Python, on the C library: a poll loop, and a line on standard output for everything that it is told."""

import select
from ctypes import CDLL, CFUNCTYPE, Structure, byref, c_bool, c_int, c_size_t, c_uint, c_void_p, sizeof

library = CDLL("liblifecycle.so.0")
library.lifecycle_open.restype = c_void_p
library.lifecycle_open.argtypes = [c_void_p, c_void_p, c_uint]
library.lifecycle_fd.argtypes = [c_void_p]
library.lifecycle_dispatch.argtypes = [c_void_p]
library.lifecycle_state.argtypes = [c_void_p]
library.lifecycle_state.restype = c_int

Launched = CFUNCTYPE(c_bool, c_void_p, c_void_p)
Told = CFUNCTYPE(None, c_void_p)


class Callbacks(Structure):
    """struct lifecycle_callbacks up to what this app wants to hear; its size tells the library how far that is."""

    _fields_ = [
        ("size", c_size_t),
        ("will_finish_launching", Launched),
        ("did_finish_launching", Launched),
        ("did_become_active", Told),
        ("will_resign_active", Told),
        ("did_enter_background", Told),
        ("will_enter_foreground", Told),
        ("will_terminate", Told),
    ]


STATES = ["inactive", "active", "background"]


def show(verb):
    print(verb, STATES[library.lifecycle_state(app)], flush=True)
    return True


def callback(name, kind):
    verb = name.replace("_", "-")
    if kind is Launched:
        return kind(lambda context, launch: show(verb))
    return kind(lambda context: show(verb) and None)


# Python frees a callback that nobody refers to, while the library still calls it: this keeps them.
callbacks = Callbacks(sizeof(Callbacks), *(callback(name, kind) for name, kind in Callbacks._fields_[1:]))

app = library.lifecycle_open(byref(callbacks), None, 0)
if not app:
    raise SystemExit("lifecycle_open failed")

poller = select.poll()
poller.register(library.lifecycle_fd(app), select.POLLIN)
while True:
    poller.poll()
    library.lifecycle_dispatch(app)
