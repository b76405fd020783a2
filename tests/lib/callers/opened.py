#!/usr/bin/env python3
"""opened.py DIRECTORY COMMAND...: runs the command, and says which names of the directory were opened meanwhile."""
import ctypes
import os
import struct
import subprocess
import sys

IN_OPEN, HEAD = 0x20, struct.Struct("iIII")
libc = ctypes.CDLL(None)
watch = libc.inotify_init()
libc.inotify_add_watch(watch, os.fsencode(sys.argv[1]), IN_OPEN)
subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
os.set_blocking(watch, False)
opened = set()
try:
    while events := os.read(watch, 1 << 16):
        while events:
            n = HEAD.unpack_from(events)[3]
            opened.add(events[HEAD.size:HEAD.size + n].rstrip(b"\0").decode())
            events = events[HEAD.size + n:]
except BlockingIOError:
    pass
print(*sorted(opened))
