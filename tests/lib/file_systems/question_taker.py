"""A FUSE mount that takes what is written into any new name in it: question_taker.py MOUNT_POINT UID TAKEN

No name is ever found, each can be created, and what is written goes to the file TAKEN. Such a file is suid, so that
nobody keeps its attributes; the first time they are asked for after its making it is not there. The kernel has the
mount as the user UID's. Prints "ready" when it serves, and ends with the mount. Run by root.
"""
import errno
import struct
import sys

import raw_fuse as fuse

SETATTR, CREATE = 4, 35
DIRECTORY, FILE = 0o040777, 0o104666
IN_MAKING = 5  # times that a mount of kinfs above asks for the attributes
WRITE_HEADER = struct.Struct("<2Q2IQ2I")
POINT, UID, TAKEN = sys.argv[1:]
taken = open(TAKEN, "ab", buffering=0)
n_told = 0


def answer(request):
    global n_told
    if request.code == fuse.GETATTR and request.node == fuse.ROOT:
        return fuse.has(fuse.ROOT, DIRECTORY, int(UID))
    if request.code == fuse.GETATTR:
        n_told += 1
        return -errno.ENOENT if n_told == IN_MAKING + 1 else fuse.has(request.node, FILE, int(UID))
    if request.code == fuse.LOOKUP:
        return -errno.ENOENT
    if request.code == SETATTR:
        return fuse.has(request.node, FILE, int(UID))
    if request.code == CREATE:
        n_told = 0
        return fuse.found(2, FILE, int(UID)) + fuse.OPENED
    if request.code == fuse.WRITE:
        data = request.body[WRITE_HEADER.size:]
        taken.write(data)
        return struct.pack("<2I", len(data), 0)
    return -errno.ENOSYS


fuse.serve(POINT, "taker", answer, uid=int(UID), options=["allow_other"])
