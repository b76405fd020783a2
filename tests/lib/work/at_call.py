#!/usr/bin/env python3
"""Does something right before a system call of a program that changes files: at_call.py CALL COMMAND PROGRAM [ARGUMENT...]

CALL is a number, of all of them from 1 on, or a name, or a name, a colon and a number, or several numbers with commas between. COMMAND is of a shell, with the number in $AT; the program goes on when
that has ended, and its own exit code is that of this one. COMMAND "kill" ends the program by SIGKILL instead; this one prints "killed before
NAME", and ends with 0. Ends with 100 where the program has made no such call, whatever its own code, and with 77 where nobody can be traced.
Threads and children of the program are not looked at.
"""
import ctypes
import os
import platform
import signal
import struct
import subprocess
import sys

NAMES = {
    "x86_64": {1: "write", 18: "pwrite64", 74: "fsync", 77: "ftruncate", 91: "fchmod", 93: "fchown", 190: "fsetxattr", 199: "fremovexattr",
               258: "mkdirat", 263: "unlinkat", 265: "linkat", 280: "utimensat", 316: "renameat2"},
    "aarch64": {64: "write", 68: "pwrite64", 82: "fsync", 46: "ftruncate", 52: "fchmod", 55: "fchown", 7: "fsetxattr", 16: "fremovexattr",
                34: "mkdirat", 35: "unlinkat", 37: "linkat", 88: "utimensat", 276: "renameat2"},
}
TRACEME, SYSCALL, SETOPTIONS, GET_SYSCALL_INFO = 0, 24, 0x4200, 0x420E
TRACESYSGOOD, EXITKILL = 1, 1 << 20
ENTRY = 1


def main():
    name, _, at = sys.argv[1].rpartition(":") if ":" in sys.argv[1] else (sys.argv[1], "", "1")
    if name.isdigit():
        name, at = "", name
    ats, n_calls, command, program = {int(one) for one in at.split(",")}, 0, sys.argv[2], sys.argv[3:]
    names = NAMES.get(platform.machine())
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    if not names:
        print("system calls are not known by number here")
        sys.exit(77)
    # What looks for leaks traces, too.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    pid = os.fork()
    if pid == 0:
        if libc.ptrace(TRACEME, 0, None, None) < 0:
            os._exit(77)
        os.kill(os.getpid(), signal.SIGSTOP)
        os.execv(program[0], program)
    status = os.waitpid(pid, 0)[1]
    if not os.WIFSTOPPED(status):
        sys.exit(77)
    libc.ptrace(SETOPTIONS, pid, None, TRACESYSGOOD | EXITKILL)
    given = 0
    while True:
        if libc.ptrace(SYSCALL, pid, None, given) < 0:
            sys.exit(77)
        status = os.waitpid(pid, 0)[1]
        if not os.WIFSTOPPED(status):
            sys.exit(100 if n_calls < max(ats) else os.waitstatus_to_exitcode(status) % 256)
        given = os.WSTOPSIG(status)
        if given == signal.SIGTRAP:  # of execve
            given = 0
        if given != signal.SIGTRAP | 0x80:
            continue
        given = 0
        info = ctypes.create_string_buffer(88)
        if libc.ptrace(GET_SYSCALL_INFO, pid, len(info), info) < 0:
            sys.exit(77)
        op, number = info.raw[0], struct.unpack_from("=Q", info.raw, 24)[0]
        if op != ENTRY or number not in names or name not in ("", names[number]):
            continue
        n_calls += 1
        if n_calls in ats and command != "kill":
            subprocess.run(["bash", "-ec", command], check=True, env={**os.environ, "AT": str(n_calls)})
        elif n_calls in ats:
            print("killed before", names[number], flush=True)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return


main()
