"""An app that uses a file system that it serves itself: files_of_its_own.py DIRECTORY. It never answers what is asked of it."""

import ctypes
import os
import struct
import sys

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
INIT = 26
libc = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind, flags, options):
    if libc.mount(source, target.encode(), kind, flags, options) != 0:
        raise OSError(ctypes.get_errno(), "mount")


directory = sys.argv[1]
# The mount ends with the processes.
if libc.unshare(CLONE_NEWNS) != 0:
    raise OSError(ctypes.get_errno(), "unshare")
mount(None, "/", None, MS_REC | MS_PRIVATE, None)
channel = os.open("/dev/fuse", os.O_RDWR)
mount(b"lifed-test", directory, b"fuse", 0, b"fd=%d,rootmode=40000,user_id=0,group_id=0" % channel)
if os.fork() == 0:
    os.close(channel)
    os.stat(f"{directory}/asked")
    os._exit(1)
while True:
    request = os.read(channel, 1 << 18)
    _, operation, unique = struct.unpack_from("=IIQ", request)
    if operation == INIT:
        answer = struct.pack("=IIIIHHI", 7, 22, 0, 0, 0, 0, 4096)
        os.write(channel, struct.pack("=IiQ", 16 + len(answer), 0, unique) + answer)
    else:
        with open(f"{directory}.asked", "w"):
            pass
