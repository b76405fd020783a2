"""without_call.py landlock|unshare COMMAND...: runs it as on a kernel that has no Landlock (the call is unknown: ENOSYS), or in
a container that forbids unshare(2) (EPERM)."""
import ctypes
import os
import platform
import struct
import sys

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
LOAD, IS_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000
EPERM, ENOSYS = 1, 38
CALLS = {"landlock": (444, ENOSYS), "unshare": ({"x86_64": 272, "aarch64": 97}.get(platform.machine()), EPERM)}

number, error = CALLS[sys.argv[1]]
if number is None:
    sys.exit(f"{platform.machine()}: the number of {sys.argv[1]} is not known")
program = [(LOAD, 0, 0, 0),
           (IS_EQUAL, 0, 1, number),
           (RETURN, 0, 0, ERROR | error),
           (RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in program))
described = struct.pack("@HP", len(program), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
if os.geteuid() != 0:  # root need not, and mounts by what may take privileges
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, described, 0, 0) < 0:
    sys.exit("prctl: " + os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[2], sys.argv[2:])
