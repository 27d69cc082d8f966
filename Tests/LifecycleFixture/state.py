"""Keeps a state with the C library and takes it back, with files in its way that should not be there."""

import ctypes
import errno
import os
import sys

library = ctypes.CDLL("liblifecycle.so.0", use_errno=True)
library.lifecycle_open.restype = ctypes.c_void_p
library.lifecycle_load_state.restype = ctypes.c_int64
callbacks = ctypes.create_string_buffer(bytes(ctypes.c_size_t(64)), 64)
app = ctypes.c_void_p(library.lifecycle_open(callbacks, None, 0))
file = os.path.join(os.environ["LIFECYCLE_STATE_DIR"], ".lifecycle-state")


def save(state):
    result = library.lifecycle_save_state(app, state, ctypes.c_size_t(len(state)))
    return "saved" if result == 0 else errno.errorcode[ctypes.get_errno()]


def load(capacity=1 << 20):
    buffer = ctypes.create_string_buffer(capacity)
    size = library.lifecycle_load_state(app, buffer, ctypes.c_size_t(capacity))
    return buffer.raw[:size] if 0 <= size <= capacity else size if size >= 0 else errno.errorcode[ctypes.get_errno()]


def damage(change):
    with open(file, "rb") as source:
        content = bytearray(source.read())
    with open(file, "wb") as target:
        target.write(change(content))
    return load()


def flip(content):
    content[-1] ^= 1
    return content


print("nothing yet:", load())
print("first:", save(b"one"), load())
print("second:", save(b"two\0and a half"), load())
print("too small a buffer:", load(4))
print("empty:", save(b""), load())
print("greatest:", save(b"x" * (1 << 20)), len(load()))
print("too large:", save(b"x" * ((1 << 20) + 1)), len(load()))
print("cut:", damage(lambda content: content[:-1]))
save(b"one")
print("longer:", damage(lambda content: content + b"x"))
save(b"one")
print("changed:", damage(flip))
print("none of ours:", damage(lambda content: b"{}"))
save(b"one")
print("empty file:", damage(lambda content: b""))
os.unlink(file)
os.mkfifo(file)
print("a pipe:", load())
print("in place of the pipe:", save(b"three"), load())
print("mode:", oct(os.stat(file).st_mode & 0o777), "files:", os.listdir(os.path.dirname(file)))
# Half a file that a crash left behind.
with open(file + ".new", "w") as target:
    target.write("lifecyc1" * 100)
print("half a file:", load(), save(b"four"), load())
sys.exit(0)
