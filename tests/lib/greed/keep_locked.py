#!/usr/bin/env python3
"""keep_locked.py UID MEMORY FILE...

Keeps files locked as the user UID: a process for each stands in write(2), which holds the file's lock, with memory of a file whose
reads are never answered, as hanging_fs.py has one. What is written before, and closed, tells a watch of each. Says "locked" when
all are; ends when the memory's file system has. Run by root.
"""
import ctypes
import mmap
import os
import sys
import time

uid, files = int(sys.argv[1]), sys.argv[3:]
SYS_WRITE = {"x86_64": "1", "aarch64": "64"}[os.uname().machine]
libc = ctypes.CDLL(None)


def number_of_call(pid):
    with open(f"/proc/{pid}/syscall") as file:
        return file.read().split()[0]


def lock(path):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    pid = os.fork()
    if pid == 0:
        libc.write(fd, address, 4096)
        os._exit(0)
    os.close(fd)
    while number_of_call(pid) != SYS_WRITE:
        time.sleep(0.01)


os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)
memory = mmap.mmap(os.open(sys.argv[2], os.O_RDONLY), 1 << 20, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
address = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
libc.prctl(4, 1)  # PR_SET_DUMPABLE: where its children stand is the user's to see
for path in files:
    with open(path, "a") as file:
        file.write("more\n")
        file.flush()
        lock(path)
print("locked", flush=True)
for _ in files:
    os.wait()
