"""A FUSE mount that says of itself what an attacker likes: hostile_mount.py MOUNT_POINT SOURCE STORE UID LOG

It calls itself kinfs, of SOURCE; every name in it is a directory of root's, mode 0700; as its store it names
STORE. The kernel has it as the user UID's. What is asked of it (but for its beginning) goes to LOG, a line for
each request. Prints "ready" when it serves, and ends with the mount. Run by root.
"""
import ctypes
import errno
import os
import struct
import sys

LOOKUP, FORGET, GETATTR, GETXATTR, INIT, BATCH_FORGET, INTERRUPT = 1, 2, 3, 22, 26, 42, 36
NAMES = {LOOKUP: "lookup", GETATTR: "getattr", GETXATTR: "getxattr", 14: "open", 15: "read", 16: "write",
         17: "statfs", 27: "opendir", 34: "access", 35: "create"}
MODE = 0o040700


def attributes(node):
    return struct.pack("<6Q10I", node, 0, 0, 0, 0, 0, 0, 0, 0, MODE, 2, 0, 0, 0, 4096, 0)


def answer(opcode, node, body, store):
    if opcode == INIT:
        return struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 8, 8, 65536, 1, 0, 0, 0, *[0] * 7)
    if opcode == GETATTR:
        return struct.pack("<QII", 0, 0, 0) + attributes(node)
    if opcode == LOOKUP:
        child = node * 31 + sum(body) + 2
        return struct.pack("<4Q2I", child, 0, 0, 0, 0, 0) + attributes(child)
    if opcode == GETXATTR:
        size = struct.unpack_from("<I", body)[0]
        if body[8:].rstrip(b"\0") != b"user.kinfs.store":
            return -errno.ENODATA
        return store if size else struct.pack("<II", len(store), 0)
    return -errno.ENOSYS


def main():
    point, source, store, uid, log = sys.argv[1:]
    fd = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={fd},rootmode=40000,user_id={uid},group_id={uid},allow_other"
    if libc.mount(source.encode(), point.encode(), b"fuse.kinfs", 0, options.encode()) < 0:
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    with open(log, "w", buffering=1) as out:
        while True:
            try:
                request = os.read(fd, 1 << 20)
            except OSError as error:
                if error.errno == errno.ENODEV:
                    return
                raise
            _, opcode, unique, node = struct.unpack_from("<IIQQ", request)
            if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            said = answer(opcode, node, request[40:], store.encode())
            if opcode != INIT:
                print(NAMES.get(opcode, opcode), file=out)
            code, data = (said, b"") if isinstance(said, int) else (0, said)
            os.write(fd, struct.pack("<IiQ", 16 + len(data), code, unique) + data)
            if opcode == INIT:
                print("ready", flush=True)


main()
