"""What happens in the middle of another program's work: at_open.py FILE PROGRAM [ARGUMENT...]

Runs a program when FILE is opened next; whoever opens it goes on when that has ended, and is not watched any more.
Prints "armed" when it watches. Run by root; ends with 77 where the kernel does not ask about opens.
"""
import ctypes
import os
import struct
import subprocess
import sys

FAN_CLASS_CONTENT, FAN_CLOEXEC, FAN_MARK_ADD, FAN_OPEN_PERM, FAN_ALLOW, AT_FDCWD = 0x4, 0x1, 0x1, 0x10000, 0x1, -100


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, os.O_RDONLY | os.O_CLOEXEC)
    if fd < 0 or libc.fanotify_mark(fd, FAN_MARK_ADD, ctypes.c_uint64(FAN_OPEN_PERM), AT_FDCWD, sys.argv[1].encode()) < 0:
        print("no fanotify:", os.strerror(ctypes.get_errno()), flush=True)
        sys.exit(77)
    print("armed", flush=True)
    event = os.read(fd, 24)
    subprocess.run(sys.argv[2:], check=True)
    opened = struct.unpack_from("=IBBHQii", event)[5]
    os.write(fd, struct.pack("=iI", opened, FAN_ALLOW))


main()
