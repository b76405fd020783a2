#!/usr/bin/env python3
"""judging_fs.py DIRECTORY [OPTIONS [CODES]]

Mounts a file system that judges for itself: all modes let everybody do everything, and it refuses whoever is neither root, user
12345, nor of the supplementary group 777. It has a file f, a link l to it, and a directory d. OPTIONS are those of the mount
(allow_other), CODES the numbers of requests of which it refuses nobody. Says "ready" when it is mounted, and ends with the mount.
"""
import errno
import stat
import struct
import sys

import raw_fuse as fuse

FORGET, SETATTR, READLINK, SYMLINK, MKNOD, MKDIR, UNLINK, RMDIR, RENAME, LINK, RELEASE, RELEASEDIR, ACCESS, CREATE, RENAME2 = \
    2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 18, 29, 34, 35, 45
FREE = {int(code) for code in sys.argv[3:]}


def may(request):
    if request.uid in (0, 12345) or request.code in FREE or request.code in (RELEASE, RELEASEDIR, fuse.FLUSH):
        return True
    with open(f"/proc/{request.pid}/status") as status:
        return any(line.startswith("Groups:") and "777" in line.split() for line in status)


class Node:
    def __init__(self, mode, data=b""):
        self.mode, self.data, self.names, self.value = mode, data, {}, None


class FileSystem:
    def __init__(self):
        self.nodes = {fuse.ROOT: Node(stat.S_IFDIR | 0o777)}
        self.add(fuse.ROOT, b"f", Node(stat.S_IFREG | 0o777, b"text\n"))
        self.add(fuse.ROOT, b"l", Node(stat.S_IFLNK | 0o777, b"f"))
        self.add(fuse.ROOT, b"d", Node(stat.S_IFDIR | 0o777))

    def add(self, parent, name, node):
        number = max(self.nodes) + 1
        self.nodes[number] = node
        self.nodes[parent].names[name] = number
        return fuse.found(*self.status(number))

    def status(self, number):
        node = self.nodes[number]
        return number, node.mode, 0, len(node.data)

    def make(self, request):
        if request.code == SYMLINK:
            name, target = request.body.split(b"\0")[:2]
            return self.add(request.node, name, Node(stat.S_IFLNK | 0o777, target))
        skip, kind = {MKNOD: (16, 0), MKDIR: (8, stat.S_IFDIR), CREATE: (16, 0)}[request.code]
        mode = struct.unpack_from("<2I", request.body)[request.code == CREATE] | kind
        entry = self.add(request.node, request.body[skip:].split(b"\0")[0], Node(mode))
        return entry + fuse.OPENED if request.code == CREATE else entry

    def rename(self, request):
        old, new = request.body[16 if request.code == RENAME2 else 8:].split(b"\0")[:2]
        to = struct.unpack_from("<Q", request.body)[0]
        self.nodes[to].names[new] = self.nodes[request.node].names.pop(old)
        return b""

    def list(self, request):
        offset = struct.unpack_from("<2Q", request.body)[1]
        said = b""
        for i, (name, number) in enumerate(sorted(self.nodes[request.node].names.items())):
            if i >= offset:
                kind = stat.S_IFMT(self.nodes[number].mode) >> 12
                said += struct.pack("<2Q2I", number, i + 1, len(name), kind) + name + bytes(-len(name) % 8)
        return said

    def extended(self, request):
        node = self.nodes[request.node]
        if request.code == fuse.LISTXATTR:
            return fuse.attribute_value(request, b"user.x\0")
        if fuse.attribute_name(request) != "user.x":
            return -errno.ENODATA if request.code == fuse.GETXATTR else -errno.EOPNOTSUPP
        if request.code == fuse.GETXATTR:
            return fuse.attribute_value(request, b"value")
        node.value = request.code
        return b""

    def answer(self, request):
        code, node = request.code, self.nodes.get(request.node)
        if not may(request):
            return -errno.EACCES
        if code == fuse.LOOKUP:
            number = node.names.get(request.body[:-1])
            return fuse.found(*self.status(number)) if number else -errno.ENOENT
        if code == SETATTR:
            valid, _, _, size = struct.unpack_from("<2I2Q", request.body)
            node.mode = node.mode & ~0o7777 | struct.unpack_from("<I", request.body, 68)[0] & 0o7777 if valid & 1 else node.mode
            node.data = node.data[:size].ljust(size, b"\0") if valid & 8 else node.data
        if code in (SETATTR, fuse.GETATTR):
            return fuse.has(*self.status(request.node))
        if code == READLINK:
            return node.data
        if code in (SYMLINK, MKNOD, MKDIR, CREATE):
            return self.make(request)
        if code in (UNLINK, RMDIR):
            node.names.pop(request.body[:-1])
            return b""
        if code in (RENAME, RENAME2):
            return self.rename(request)
        if code == LINK:
            number = struct.unpack_from("<Q", request.body)[0]
            node.names[request.body[8:-1]] = number
            return fuse.found(*self.status(number))
        if code in (fuse.OPEN, fuse.OPENDIR):
            return fuse.OPENED
        if code == fuse.READDIR:
            return self.list(request)
        if code == fuse.READ:
            _, offset, n_bytes = struct.unpack_from("<2QI", request.body)
            return node.data[offset:offset + n_bytes]
        if code == fuse.WRITE:
            _, offset, n_bytes = struct.unpack_from("<2QI", request.body)
            node.data = node.data[:offset].ljust(offset, b"\0") + request.body[40:40 + n_bytes] + node.data[offset + n_bytes:]
            return struct.pack("<2I", n_bytes, 0)
        if code == fuse.STATFS:
            return struct.pack("<5Q4I6I", *(0,) * 5, 4096, 255, 4096, 0, *(0,) * 6)
        if code in (fuse.SETXATTR, fuse.GETXATTR, fuse.LISTXATTR, fuse.REMOVEXATTR):
            return self.extended(request)
        return b"" if code in (RELEASE, RELEASEDIR, fuse.FLUSH) else -errno.ENOSYS


fuse.serve(sys.argv[1], "judging", FileSystem().answer, options=sys.argv[2].split(",") if sys.argv[2:] and sys.argv[2] else [])
