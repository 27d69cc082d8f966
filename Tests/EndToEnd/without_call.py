"""Runs a command to which the kernel refuses a system call: without_call.py NUMBER COMMAND [ARGUMENT...]"""

import ctypes
import errno
import os
import struct
import sys

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
SECCOMP_MODE_FILTER = 2
SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW = 0x00050000, 0x7FFF0000
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def refuse(number):
    """Lets a call fail with EPERM, in this process and its children."""
    code = b"".join(
        struct.pack("=HBBI", *instruction)
        for instruction in [
            (LOAD, 0, 0, 0),
            (EQUAL, 0, 1, number),
            (RETURN, 0, 0, SECCOMP_RET_ERRNO | errno.EPERM),
            (RETURN, 0, 0, SECCOMP_RET_ALLOW),
        ]
    )
    library = ctypes.CDLL(None, use_errno=True)
    for arguments in [
        (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(Filter(len(code) // 8, code)), 0, 0),
    ]:
        if library.prctl(*arguments):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    refuse(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
