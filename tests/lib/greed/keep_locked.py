#!/usr/bin/env python3
"""keep_locked.py UID MEMORY FILE...

Keeps files and directories locked as the user UID: a process for each stands in write(2), or getdents(2), which holds the lock, with
memory of a file whose reads are never answered, as hanging_fs.py has one. What is written before, and closed, tells a watch of each
file. getdents(2) shares the lock with who looks up a name; they wait behind mkdir(2), in which a second process stands. Says "locked"
when all are; ends when the memory's file system has. Run by root.
"""
import ctypes
import mmap
import os
import sys
import time

uid, files = int(sys.argv[1]), sys.argv[3:]
WRITE, GETDENTS, MKDIRS = {"x86_64": (1, 217, (83, 258)), "aarch64": (64, 61, (34,))}[os.uname().machine]
libc = ctypes.CDLL(None)


def number_of_call(pid):
    with open(f"/proc/{pid}/syscall") as file:
        return file.read().split()[0]


def stand(calls, work, *arguments):
    """Does the work in a process, which will stand in one of these system calls."""
    pid = os.fork()
    if pid == 0:
        work(*arguments)
        os._exit(0)
    while number_of_call(pid) not in map(str, calls):
        time.sleep(0.01)


def lock(path):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    stand([WRITE], libc.write, fd, address, 4096)
    os.close(fd)


def lock_directory(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    stand([GETDENTS], libc.syscall, GETDENTS, fd, address, 4096)
    stand(MKDIRS, os.mkdir, f"{path}/new")
    os.close(fd)


os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)
memory = mmap.mmap(os.open(sys.argv[2], os.O_RDONLY), 1 << 20, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
address = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
libc.prctl(4, 1)  # PR_SET_DUMPABLE: where its children stand is the user's to see
for path in files:
    if os.path.isdir(path):
        lock_directory(path)
        continue
    with open(path, "a") as file:
        file.write("more\n")
        file.flush()
        lock(path)
print("locked", flush=True)
try:
    while True:
        os.wait()
except ChildProcessError:
    pass
