"""A FUSE mount that says of itself what an attacker likes: hostile_mount.py MOUNT_POINT SOURCE STORE UID LOG

It calls itself kinfs, of SOURCE; every name in it is a directory of root's, mode 0700; as its store it names
STORE. The kernel has it as the user UID's. What is asked of it (but for its beginning) goes to LOG, a line for
each request. Prints "ready" when it serves, and ends with the mount. Run by root.
"""
import errno
import sys

import raw_fuse as fuse

MODE = 0o040700
POINT, SOURCE, STORE, UID, LOG = sys.argv[1:]
log = open(LOG, "w", buffering=1)


def answer(request):
    print(fuse.NAMES.get(request.code, request.code), file=log)
    if request.code == fuse.GETATTR:
        return fuse.has(request.node, MODE)
    if request.code == fuse.LOOKUP:
        return fuse.found(request.node * 31 + sum(request.body) + 2, MODE)
    if request.code == fuse.GETXATTR:
        if fuse.attribute_name(request) != "user.kinfs.store":
            return -errno.ENODATA
        return fuse.attribute_value(request, STORE.encode())
    return -errno.ENOSYS


fuse.serve(POINT, "kinfs", answer, source=SOURCE, uid=int(UID), options=["allow_other"])
