#!/usr/bin/env python3
"""long_names_fs.py DIRECTORY UID

Mounts a file system of root's with one file of the user UID's, whose name has 1000 letters: "a", and from SIGUSR1 on "b". It cannot be
listed when it is first asked, so its files are found again by their names. Says "ready" when it is mounted. Run by root.
"""
import errno
import signal
import struct
import sys

import raw_fuse as fuse

FILE, N_BYTES = 2, 3
UID = int(sys.argv[2])
name = b"a" * 1000
n_listed = 0


def rename(*_):
    global name
    name = b"b" * 1000


def status_of(node):
    return (node, 0o40777, UID) if node == fuse.ROOT else (node, 0o100666, UID, N_BYTES)


def listing():
    return struct.pack("<2Q2I", FILE, 1, len(name), 8) + name + bytes(-len(name) % 8)


def answer(request):
    global n_listed
    if request.code == fuse.LOOKUP:
        return fuse.found(*status_of(FILE)) if request.body == name + b"\0" else -errno.ENOENT
    if request.code == fuse.GETATTR:
        return fuse.has(*status_of(request.node))
    if request.code == fuse.OPENDIR:
        n_listed += 1
        return -errno.EACCES if n_listed == 1 else fuse.OPENED
    if request.code == fuse.READDIR:
        return b"" if struct.unpack_from("<2Q", request.body)[1] else listing()
    if request.code == fuse.OPEN:
        return fuse.OPENED
    if request.code == fuse.READ:
        return b"abc"[struct.unpack_from("<2Q", request.body)[1]:]
    return b"" if request.code == fuse.FLUSH else -errno.ENOSYS


signal.signal(signal.SIGUSR1, rename)
fuse.serve(sys.argv[1], "long", answer, options=["allow_other"])
