#!/usr/bin/env python3
"""A user whose lookups do not end leaves others threads that serve: stuck_crowd.py MOUNT TREE HANGING USER OTHER_USER, as root.

TREE/own is the user's, TREE/open anybody's; HANGING is a file of a file system of the user's, whose reads are never answered.
Getdents(2) of TREE/own into a mapping of that file keeps the directory locked, so that each name of it looked up through the
mount stands in the daemon. Prints "held" when more were asked for than the user may have threads, and others were served; then
the file system is to be ended, and all are answered.
"""
import ctypes
import errno
import mmap
import os
import sys
import time

mount, tree, hanging = sys.argv[1:4]
user, other_user = map(int, sys.argv[4:])
SHARE = 512 // 2  # of MOST_THREADS (fs/serve.c), what one user may have
N = SHARE + 44
SYS_GETDENTS64 = {"x86_64": 217, "aarch64": 61}[os.uname().machine]


def check(what, right):
    if not right:
        print("not so:", what)
        os._exit(1)


def begin(uid, act, *arguments):
    pid = os.fork()
    if pid == 0:
        if uid:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        act(*arguments)
        os._exit(0)
    return pid


def is_asleep(pid):
    """Or has ended."""
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] in "SDZ"


def until(what, is_so):
    end = time.monotonic() + 60
    while not is_so():
        check(what, time.monotonic() < end)
        time.sleep(0.01)


def lister(told):
    fd = os.open(hanging, os.O_RDONLY)
    where = mmap.mmap(fd, 1 << 20, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(where))
    directory = os.open(f"{tree}/own", os.O_RDONLY | os.O_DIRECTORY)
    libc = ctypes.CDLL(None)
    os.write(told, b"l")
    libc.syscall(SYS_GETDENTS64, directory, ctypes.c_void_p(address), 4096)


def maker(told):
    """Waits for the directory's lock, and whoever looks a name up in it waits behind."""
    os.write(told, b"m")
    os.mkdir(f"{tree}/own/new")


def stander(told, i):
    os.write(told, b"s")
    try:
        os.stat(f"{mount}/own/none{i}")
    except OSError as error:
        os.write(told, b"n" if error.errno == errno.ENOENT else b"?")


def served(name):
    """What needs a thread, and the locks of directories where the user asked too."""
    for i in range(20):
        try:
            os.stat(f"{mount}/{name}{i}")
            check("what is not there", False)
        except FileNotFoundError:
            pass
        with open(f"{mount}/open/{name}{i}", "x") as file:
            file.write(name)
        os.rename(f"{mount}/open/{name}{i}", f"{mount}/open/{name}{i}.moved")
        os.unlink(f"{mount}/open/{name}{i}.moved")


class Crowd:
    """Processes of the user, and what they tell, a letter each."""

    def __init__(self):
        self.heard, self.pids = "", []
        self.read_end, self.told = os.pipe()

    def hear(self, kinds, n):
        while sum(map(self.heard.count, kinds)) < n:
            self.heard += os.read(self.read_end, 4096).decode()

    def add(self, act, *arguments):
        self.pids.append(begin(user, act, self.told, *arguments))


def served_all(uids):
    pids = [begin(uid, served, f"of{uid}") for uid in uids]

    def is_over():
        for pid in list(pids):
            ended, status = os.waitpid(pid, os.WNOHANG)
            check("others are served rightly", status == 0)
            if ended:
                pids.remove(pid)
        return not pids

    until("others are served", is_over)


def main():
    os.stat(f"{mount}/own")
    os.stat(f"{mount}/open")
    crowd = Crowd()
    for act, kind in ((lister, "l"), (maker, "m")):
        crowd.add(act)
        crowd.hear(kind, 1)
        until("it waits", lambda: is_asleep(crowd.pids[-1]))
    for i in range(N):
        crowd.add(stander, i)
    crowd.hear("s", N)
    until("all stand", lambda: all(map(is_asleep, crowd.pids)))
    served_all([0, other_user])
    check("none was answered", not crowd.heard.count("n") and not crowd.heard.count("?"))
    print("held", flush=True)
    crowd.hear("n?", N)
    check("each was told that there is nothing", crowd.heard.count("n") == N)
    for pid in crowd.pids:
        os.waitpid(pid, 0)
    served_all([user])


main()
