#!/usr/bin/env python3
"""hanging_fs.py DIRECTORY UID [writeback] [allow_other] [OPTION]...

Mounts a file system of the user UID with one file, f, whose reads are never answered, and an empty directory, d; from SIGUSR1
on nothing is answered but INIT. With writeback f has zeros to read, and the kernel keeps what is written to it until it is closed.
Says "ready" when it is mounted, then a line for each request of its own test that it leaves without an answer: its name, or
number. (Programs of other tests, as mkfs, look at all mounts there are.) It ends with the mount, and whoever waits for it with
it. Run by root.
"""
import errno
import os
import signal
import struct
import sys

import raw_fuse as fuse

FILE, DIRECTORY, N_BYTES = 2, 3, 1 << 20
UID = int(sys.argv[2])
OPTIONS = sys.argv[3:]
writeback = "writeback" in OPTIONS
if writeback:
    OPTIONS.remove("writeback")
silent = False


def be_silent(*_):
    global silent
    silent = True


def status_of(node):
    return (node, 0o40777, UID) if node in (fuse.ROOT, DIRECTORY) else (node, 0o100666, UID, N_BYTES)


def is_ours(pid):
    own = f"SCRATCH={os.environ.get('SCRATCH')}".encode()
    try:
        with open(f"/proc/{pid}/environ", "rb") as environment:
            of_tests = [word for word in environment.read().split(b"\0") if word.startswith(b"SCRATCH=")]
    except OSError:
        return True
    return not of_tests or own in of_tests


def answer(request):
    if silent or (request.code == fuse.READ and not writeback):
        if is_ours(request.pid):
            print(fuse.NAMES.get(request.code, request.code), flush=True)
        return None
    if request.code == fuse.READ:
        return bytes(struct.unpack_from("<I", request.body, 16)[0])
    if request.code == fuse.LOOKUP:
        node = {b"f\0": FILE, b"d\0": DIRECTORY}.get(request.body)
        return fuse.found(*status_of(node)) if node else -errno.ENOENT
    if request.code == fuse.GETATTR:
        return fuse.has(*status_of(request.node))
    if request.code in (fuse.OPEN, fuse.OPENDIR):
        return fuse.OPENED
    return b"" if request.code == fuse.FLUSH else -errno.ENOSYS


signal.signal(signal.SIGUSR1, be_silent)
fuse.serve(sys.argv[1], "hanging", answer, uid=UID, options=OPTIONS, flags=fuse.WRITEBACK_CACHE if writeback else 0)
