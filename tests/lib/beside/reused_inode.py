#!/usr/bin/env python3
"""reused_inode.py MOUNT SOURCE UID ROUNDS

A user has a listing look up a file that is not the user's to read and that does not fit into the reply, so that
the daemon forgets it again, and at once has the daemon learn of a file of the user's own, which is removed beside
the mount. What one thread, which just found the first, then opens by a descriptor of the second must not be the
first. SOURCE has the directories others/N, for each round one, and the user's directory own.
"""
import ctypes
import os
import platform
import queue
import sys
import threading

mount, source, uid, n_rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
SYS_GETDENTS64 = 61 if platform.machine() in ("aarch64", "riscv64") else 217
libc = ctypes.CDLL(None, use_errno=True)


class Thread(threading.Thread):
    """Does what it is called with, one after the other: to the daemon it is who asks."""

    def __init__(self):
        super().__init__(daemon=True)
        self.calls, self.results = queue.Queue(), queue.Queue()
        self.start()

    def run(self):
        while True:
            call = self.calls.get()
            try:
                self.results.put((call(), None))
            except OSError as error:
                self.results.put((None, error))

    def __call__(self, call):
        self.calls.put(call)
        result, error = self.results.get()
        if error:
            raise error
        return result


def list_one_page(directory):
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    page = ctypes.create_string_buffer(4096)
    libc.syscall(SYS_GETDENTS64, fd, page, len(page))
    os.close(fd)


def make_removed(name):
    """A descriptor, by the mount, of a file of one's own that is removed beside it."""
    with open(f"{source}/own/{name}", "w") as file:
        file.write("own")
    fd = other(lambda: os.open(f"{mount}/own/{name}", os.O_PATH))
    os.unlink(f"{source}/own/{name}")
    return fd


def try_to_open(fd, flags):
    try:
        return asker(lambda: os.open(f"/proc/self/fd/{fd}", flags))
    except OSError:
        return None


os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)
asker, other = Thread(), Thread()
os.stat(f"{mount}/own")
n_opened = 0
for i in range(n_rounds):
    told = make_removed(f"told{i}")
    try_to_open(told, os.O_RDONLY)  # who is told ESTALE is remembered for what it finds next
    asker(lambda: list_one_page(f"{mount}/others/{i}"))
    own = make_removed(f"own{i}")
    got = try_to_open(own, os.O_RDWR)
    if got is not None:
        said = os.pread(got, 100, 0)
        if said != b"own":
            n_opened += 1
            print(f"round {i}: opened {said}")
            os.pwrite(got, b"changed", 0)
        os.close(got)
    os.close(own)
    os.close(told)
sys.exit(n_opened > 0)
