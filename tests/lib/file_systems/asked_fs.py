#!/usr/bin/env python3
"""asked_fs.py DIRECTORY

Mounts a file system that decides by itself who may have its attributes, as NFS does of system.nfs4_acl. It has one file, f.
Asked for system.who it says as whom it was asked: user, group, supplementary groups, effective capabilities; and for
system.last as whom it was asked before to set or remove one. Only user 0 and the file's owner, 12345, may set system.own.
Says "ready" when it is mounted, and ends with the mount.
"""
import errno
import struct
import sys

import raw_fuse as fuse

FILE, OWNER = 2, 12345


def status_of(node):
    return (node, 0o40755) if node == fuse.ROOT else (node, 0o100666, OWNER)


def whom(request):
    of_process = {}
    with open(f"/proc/{request.pid}/status") as status:
        for line in status:
            key, _, value = line.partition(":")
            of_process[key] = " ".join(value.split())
    return f"{request.uid} {request.gid} [{of_process['Groups']}] {int(of_process['CapEff'], 16):x}"


class FileSystem:
    last = "nobody"

    def get(self, request):
        value = {"system.who": whom(request), "system.last": self.last}.get(fuse.attribute_name(request))
        return -errno.EOPNOTSUPP if value is None else fuse.attribute_value(request, value.encode())

    def change(self, request):
        name = fuse.attribute_name(request)
        self.last = f"{name} {whom(request)}"
        return -errno.EACCES if name == "system.own" and request.uid not in (0, OWNER) else b""

    def answer(self, request):
        if request.code == fuse.LOOKUP:
            return fuse.found(*status_of(FILE)) if request.body == b"f\0" else -errno.ENOENT
        if request.code == fuse.GETATTR:
            return fuse.has(*status_of(request.node))
        if request.code == fuse.STATFS:
            return struct.pack("<5Q4I6I", *(0,) * 5, 4096, 255, 4096, 0, *(0,) * 6)
        if request.code in (fuse.READDIR, fuse.LISTXATTR):
            return b""
        if request.code in (fuse.SETXATTR, fuse.REMOVEXATTR):
            return self.change(request)
        return self.get(request) if request.code == fuse.GETXATTR else -errno.ENOSYS


fuse.serve(sys.argv[1], "asked", FileSystem().answer, options=["allow_other"])
