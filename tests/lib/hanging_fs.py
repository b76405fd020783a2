#!/usr/bin/env python3
"""hanging_fs.py DIRECTORY UID [allow_other]

Mounts a file system of the user UID with one file, f, whose reads are never answered; from SIGUSR1 on nothing is but INIT.
Says "ready" when it is mounted, then a line for each request that it leaves without an answer: its name, or number. It ends
with the mount, and whoever waits for it with it. Run by root.
"""
import ctypes
import errno
import os
import signal
import struct
import sys

LOOKUP, GETATTR, OPEN, READ, FLUSH, INIT, OPENDIR = 1, 3, 14, 15, 25, 26, 27
NAMES = {LOOKUP: "lookup", GETATTR: "getattr", OPEN: "open", READ: "read", FLUSH: "flush"}
WITHOUT_ANSWER = (2, 36, 42)  # forget, interrupt, forget many
ROOT, FILE, N_BYTES = 1, 2, 1 << 20
silent = False


def be_silent(*_):
    global silent
    silent = True


def attributes(node, uid):
    mode, n_bytes = (0o40777, 0) if node == ROOT else (0o100666, N_BYTES)
    return struct.pack("<6Q10I", node, n_bytes, 0, 0, 0, 0, 0, 0, 0, mode, 1, uid, uid, 0, 4096, 0)


def answer(code, node, uid, body):
    """The data of a reply, a negative errno, or None."""
    if code == INIT:
        return struct.pack("<4I2H2I2HI7I", 7, 31, 0, 0, 8, 8, 65536, 1, 16, 0, 0, *(0,) * 7)
    if silent or code == READ:
        return None
    if code == LOOKUP:
        return struct.pack("<4Q2I", FILE, 0, 0, 0, 0, 0) + attributes(FILE, uid) if body == b"f\0" else -errno.ENOENT
    if code == GETATTR:
        return struct.pack("<Q2I", 0, 0, 0) + attributes(node, uid)
    if code in (OPEN, OPENDIR):
        return struct.pack("<Q2I", 0, 0, 0)
    return b"" if code == FLUSH else -errno.ENOSYS


def main():
    uid = int(sys.argv[2])
    signal.signal(signal.SIGUSR1, be_silent)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = ",".join([f"fd={device},rootmode=40000,user_id={uid},group_id={uid}", *sys.argv[3:]])
    if ctypes.CDLL(None, use_errno=True).mount(b"hanging", sys.argv[1].encode(), b"fuse.hanging", 6, options.encode()) < 0:
        sys.exit(os.strerror(ctypes.get_errno()))
    print("ready", flush=True)
    while True:
        try:
            request = os.read(device, 1 << 20)
        except OSError as error:
            if error.errno == errno.ENODEV:
                return
            continue
        _, code, unique, node = struct.unpack_from("<2I2Q", request)
        if code in WITHOUT_ANSWER:
            continue
        said = answer(code, node, uid, request[40:])
        if said is None:
            print(NAMES.get(code, code), flush=True)
            continue
        error, data = (said, b"") if isinstance(said, int) else (0, said)
        os.write(device, struct.pack("<IiQ", 16 + len(data), error, unique) + data)


main()
