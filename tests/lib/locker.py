"""Directories and files that a user keeps locked for ever: a module for the tests' Python (PYTHONPATH is set by mount.sh)."""
import ctypes
import mmap
import os
import time
import users

SYS_WRITE, SYS_GETDENTS64 = {"x86_64": (1, 217), "aarch64": (64, 61)}[os.uname().machine]


def number_of_call(pid):
    with open(f"/proc/{pid}/syscall") as file:
        return file.read().split()[0]


class Locker:
    """Makes this process the user's. Its children stand in system calls that hold a lock, with memory of a file whose reads are
    never answered, as hanging_fs.py has one."""

    def __init__(self, uid, hanging):
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        users.libc.prctl(4, 1)  # PR_SET_DUMPABLE: where its children stand is the user's to see
        self.memory = mmap.mmap(os.open(hanging, os.O_RDONLY), 1 << 20, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
        self.address = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(self.memory)))
        self.pids = []

    def stand(self, numbers, work, *arguments):
        """Does the work in a process, which will stand in one of these system calls."""
        self.pids.append(os.fork())
        if self.pids[-1] == 0:
            work(*arguments)
            os._exit(0)
        while number_of_call(self.pids[-1]) not in map(str, numbers):
            time.sleep(0.01)

    def lock_directory(self, path):
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        self.stand([SYS_GETDENTS64], users.libc.syscall, SYS_GETDENTS64, fd, self.address, 4096)
        self.stand([83, 258, 34], os.mkdir, f"{path}/new")  # mkdir, mkdirat: who comes after it waits behind it

    def lock_file(self, path):
        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        self.stand([SYS_WRITE], users.libc.write, fd, self.address, 4096)
        os.close(fd)

    def wait(self):
        """Says "locked", and ends when the memory's file system has."""
        print("locked", flush=True)
        for pid in self.pids:
            os.waitpid(pid, 0)
