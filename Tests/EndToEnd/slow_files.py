"""Mounts a file system at DIRECTORY with one file, `file`, runs a command, and serves the file system: slow_files.py DIRECTORY COMMAND...

The kernel asks this process for the attributes of the file at each access, and waits for the answer. A write is never answered.
"""

import contextlib
import ctypes
import errno
import os
import struct
import subprocess
import sys

import pytest

from container import wait_for

LOOKUP, FORGET, GETATTR, OPEN, READ, WRITE, RELEASE, FLUSH, INIT, OPENDIR, INTERRUPT, BATCH_FORGET = (
    1, 2, 3, 14, 15, 16, 18, 25, 26, 27, 36, 42,
)
MS_NOSUID, MS_NODEV = 2, 4
SIZE = 4096


def attributes(node):
    mode, links = (0o40755, 2) if node == 1 else (0o100666, 1)
    return struct.pack("<6Q10I", node, SIZE, 0, 0, 0, 0, 0, 0, 0, mode, links, 0, 0, 0, 4096, 0)


def answer(call, node):
    if call == INIT:
        return struct.pack("<IIIIHHIIHHI7I", 7, 31, 65536, 0, 12, 9, 65536, 1, 0, 0, 0, *[0] * 7)
    if call == LOOKUP:
        return struct.pack("<4Q2I", 2, 0, 0, 0, 0, 0) + attributes(2)
    if call == GETATTR:
        return struct.pack("<Q2I", 0, 0, 0) + attributes(node)
    if call in (OPEN, OPENDIR):
        return struct.pack("<Q2I", 1, 0, 0)
    if call == READ:
        return bytes(SIZE)
    return b"" if call in (RELEASE, FLUSH) else None


def serve(device):
    while True:
        try:
            request = os.read(device, 1 << 17)
        except OSError as error:
            # The file system was unmounted.
            if error.errno == errno.ENODEV:
                return
            continue
        _, call, number, node = struct.unpack_from("<IIQQ", request)
        if call in (FORGET, INTERRUPT, BATCH_FORGET, WRITE):
            continue
        body = answer(call, node)
        failure = -errno.ENOSYS if body is None else 0
        body = body or b""
        os.write(device, struct.pack("<IiQ", 16 + len(body), failure, number) + body)


@contextlib.contextmanager
def served(directory):
    """The file system at a new directory, until the end, which fails the requests that wait. Yields the server."""
    if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
        pytest.skip("mounting a file system needs root and /dev/fuse")
    directory.mkdir()
    server = subprocess.Popen([sys.executable, __file__, str(directory), "true"])
    try:
        wait_for((directory / "file").exists, what="the file system is mounted")
        yield server
    finally:
        server.kill()
        server.wait()
        subprocess.run(["umount", "--lazy", directory], stderr=subprocess.DEVNULL)


def main():
    directory, command = sys.argv[1], sys.argv[2:]
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},default_permissions,allow_other"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"slow", directory.encode(), b"fuse", MS_NOSUID | MS_NODEV, options.encode()) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    subprocess.Popen(command)
    serve(device)


if __name__ == "__main__":
    main()
