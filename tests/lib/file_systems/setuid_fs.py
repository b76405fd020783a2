#!/usr/bin/env python3
"""setuid_fs.py DIRECTORY UID PROGRAM

Mounts a file system of the user UID, nosuid and nodev as the kernel has such mounts, that says what gives rights elsewhere: f is
PROGRAM, set-user-ID and set-group-ID root and with capabilities, zero the device /dev/zero for all. Says "ready" when it is
mounted, and ends with it. Run by root.
"""
import errno
import os
import struct
import sys

import raw_fuse as fuse

FILE, DEVICE = 2, 3
CAPABILITIES = struct.pack("<5I", 0x02000001, 1 << 7, 0, 0, 0)  # effective: CAP_SETUID
with open(sys.argv[3], "rb") as program:
    CONTENT = program.read()
STATUS = {
    fuse.ROOT: (0o40755,),
    FILE: (0o106755, 0, len(CONTENT)),
    DEVICE: (0o20666, 0, 0, os.makedev(1, 5)),
}


def answer(request):
    if request.code == fuse.LOOKUP:
        node = {b"f\0": FILE, b"zero\0": DEVICE}.get(request.body)
        return fuse.found(node, *STATUS[node]) if node else -errno.ENOENT
    if request.code == fuse.GETATTR:
        return fuse.has(request.node, *STATUS[request.node])
    if request.code in (fuse.OPEN, fuse.OPENDIR):
        return fuse.OPENED
    if request.code == fuse.READ:
        _, offset, n_bytes = struct.unpack_from("<2QI", request.body)
        return CONTENT[offset:offset + n_bytes]
    if request.code == fuse.LISTXATTR:
        return fuse.attribute_value(request, b"security.capability\0")
    if request.code == fuse.GETXATTR:
        if fuse.attribute_name(request) == "security.capability":
            return fuse.attribute_value(request, CAPABILITIES)
        return -errno.ENODATA
    return b"" if request.code == fuse.FLUSH else -errno.ENOSYS


fuse.serve(sys.argv[1], "setuid", answer, uid=int(sys.argv[2]), options=["allow_other"])
