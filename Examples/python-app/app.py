#!/usr/bin/env python3
"""An app in Python, on the C library: a poll loop, and a line on standard output for each callback."""

import os
import select
from ctypes import CDLL, CFUNCTYPE, Structure, byref, c_bool, c_int, c_size_t, c_uint, c_void_p, get_errno, sizeof

library = CDLL("liblifecycle.so.0", use_errno=True)
library.lifecycle_open.restype = c_void_p
library.lifecycle_open.argtypes = [c_void_p, c_void_p, c_uint]
library.lifecycle_fd.argtypes = [c_void_p]
library.lifecycle_dispatch.argtypes = [c_void_p]
library.lifecycle_state.argtypes = [c_void_p]
library.lifecycle_state.restype = c_int

Launched = CFUNCTYPE(c_bool, c_void_p, c_void_p)
Told = CFUNCTYPE(None, c_void_p)


class Callbacks(Structure):
    """The beginning of struct lifecycle_callbacks, in the order of lifecycle.h; the size says how many functions there are."""

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


HANDLE_SIGTERM = 1
is_terminating = False


def show(verb):
    global is_terminating
    is_terminating = verb == "will-terminate"
    print(verb, STATES[library.lifecycle_state(app)], flush=True)
    return True


def callback(name, kind):
    verb = name.replace("_", "-")
    if kind is Launched:
        return kind(lambda context, launch: show(verb))
    return kind(lambda context: show(verb) and None)


# Python frees a callback without a reference, and the library would call freed memory: this variable keeps them.
callbacks = Callbacks(sizeof(Callbacks), *(callback(name, kind) for name, kind in Callbacks._fields_[1:]))

app = library.lifecycle_open(byref(callbacks), None, HANDLE_SIGTERM)
if not app:
    raise SystemExit(f"cannot open the life cycle: {os.strerror(get_errno())}")

poller = select.poll()
poller.register(library.lifecycle_fd(app), select.POLLIN)
while not is_terminating:
    poller.poll()
    library.lifecycle_dispatch(app)
