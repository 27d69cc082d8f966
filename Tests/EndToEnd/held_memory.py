"""A program that holds the lock of its memory until a server of fuse(4) answers: held_memory.py FILE thread|process [apart].

It maps the file, writes to it and replaces the mapping. The kernel writes the file before that, and holds the lock meanwhile.
"""

import ctypes
import mmap
import os
import sys
import threading
import time

PRIVATE_ANONYMOUS_FIXED = 0x02 | 0x20 | 0x10


def hold(path):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    file = os.open(path, os.O_RDWR)
    address = libc.mmap(None, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, file, 0)
    ctypes.memset(address, 1, 1)
    libc.mmap(address, mmap.PAGESIZE, mmap.PROT_READ, PRIVATE_ANONYMOUS_FIXED, -1, 0)


def main():
    path, which, *others = sys.argv[1:]
    if others:
        # A daemon, as the app sees it.
        if os.fork():
            time.sleep(1000000)
        os.setsid()
        if os.fork():
            os._exit(0)
        os.setsid()
    if which == "process":
        hold(path)
    else:
        threading.Thread(target=hold, args=[path]).start()
    time.sleep(1000000)


main()
