"""inotify(7), dnotify, and applications' io_uring."""
import ctypes
import errno
import fcntl
import mmap
import os
import select
import signal
import struct

from operations import kernel
from operations.kernel import Inotify
from operations.trial import operation, opened, read, write


@operation()
def inotify(t):
    os.mkdir("d")
    watch = Inotify()
    watch.watch("d", 0xfff)
    steps = [("create", lambda: write("d/f")), ("write", lambda: write("d/f", b"x", os.O_WRONLY)),
             ("read", lambda: read("d/f")), ("chmod", lambda: os.chmod("d/f", 0o600)),
             ("times", lambda: os.utime("d/f", (1, 2))), ("truncate", lambda: os.truncate("d/f", 3)),
             ("attribute", lambda: os.setxattr("d/f", "user.x", b"1")), ("link", lambda: os.link("d/f", "d/l")),
             ("rename", lambda: os.rename("d/f", "d/g")), ("out", lambda: os.rename("d/g", "g")),
             ("in", lambda: os.rename("g", "d/g")), ("unlink", lambda: os.unlink("d/g")), ("mkdir", lambda: os.mkdir("d/s")),
             ("list", lambda: os.listdir("d")), ("rmdir", lambda: os.rmdir("d/s")), ("symlink", lambda: os.symlink("x", "d/y")),
             ("stat", lambda: os.stat("d"))]
    for label, step in steps:
        step()
        t.note(label, watch.events())
    os.unlink("d/l")
    os.unlink("d/y")
    watch.events()
    os.rmdir("d")
    t.note("gone", [mask for mask, _ in watch.events()])


@operation()
def directory_notices(t):
    os.mkdir("d")
    fd = os.open("d", os.O_RDONLY)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])
    t.show("ask", fcntl.fcntl, fd, fcntl.F_NOTIFY, fcntl.DN_CREATE)
    write("d/f")
    t.show("told", lambda: bool(signal.sigtimedwait([signal.SIGIO], 5)))


class Ring:
    """One io_uring of a few entries, one submission at a time."""
    ENTRIES = 4

    def __init__(self):
        parameters = ctypes.create_string_buffer(120)
        self.fd = kernel.syscall(425, self.ENTRIES, parameters)
        sq_entries, cq_entries = struct.unpack_from("II", parameters)
        self.sq = dict(zip(("head", "tail", "mask", "entries", "flags", "dropped", "array"), struct.unpack_from("7I", parameters, 40)))
        self.cq = dict(zip(("head", "tail", "mask", "entries", "overflow", "cqes"), struct.unpack_from("6I", parameters, 80)))
        self.sq_ring = mmap.mmap(self.fd, self.sq["array"] + 4 * sq_entries, offset=0)
        self.cq_ring = mmap.mmap(self.fd, self.cq["cqes"] + 16 * cq_entries, offset=0x8000000)
        self.sqes = mmap.mmap(self.fd, 64 * sq_entries, offset=0x10000000)

    def do(self, opcode, fd, address, length, offset, flags=0):
        """Returns the result as a system call would."""
        tail = struct.unpack_from("I", self.sq_ring, self.sq["tail"])[0]
        slot = tail & struct.unpack_from("I", self.sq_ring, self.sq["mask"])[0]
        self.sqes[slot * 64:slot * 64 + 64] = struct.pack("BBHiQQIIQ24x", opcode, 0, 0, fd, offset, address, length, flags, tail)
        struct.pack_into("I", self.sq_ring, self.sq["array"] + 4 * slot, slot)
        struct.pack_into("I", self.sq_ring, self.sq["tail"], tail + 1)
        kernel.syscall(426, self.fd, 1, 1, 1, None, 0)
        head = struct.unpack_from("I", self.cq_ring, self.cq["head"])[0]
        mask = struct.unpack_from("I", self.cq_ring, self.cq["mask"])[0]
        result = struct.unpack_from("Qi", self.cq_ring, self.cq["cqes"] + 16 * (head & mask))[1]
        struct.pack_into("I", self.cq_ring, self.cq["head"], head + 1)
        if result < 0:
            raise OSError(-result, "")
        return result


READV, WRITEV, FSYNC, FALLOCATE, OPENAT, CLOSE, STATX, READ, WRITE, FADVISE, RENAMEAT, UNLINKAT, MKDIRAT = (
    1, 2, 3, 17, 18, 19, 21, 22, 23, 24, 35, 36, 37)


@operation()
def rings(t):
    try:
        ring = Ring()
    except OSError:
        t.note("no io_uring here", True)
        return
    memory = ctypes.create_string_buffer(b"by ring " * 1000, 8000)
    address = ctypes.addressof(memory)
    name, other = ctypes.create_string_buffer(b"f"), ctypes.create_string_buffer(b"g")
    fd = opened("f")
    t.show("write", ring.do, WRITE, fd, address, 8000, 0)
    t.show("write far", ring.do, WRITE, fd, address, 10, 100000)
    t.show("seen", lambda: read("f")[:16])
    ctypes.memset(address, 0, 8000)
    t.show("read", ring.do, READ, fd, address, 8000, 8)
    t.note("read", memory.raw[:8])
    t.show("read at the end", ring.do, READ, fd, address, 8000, 100005)
    t.show("read behind", ring.do, READ, fd, address, 8000, 1 << 30)
    t.show("sync", ring.do, FSYNC, fd, 0, 0, 0)
    t.show("allocate", ring.do, FALLOCATE, fd, 200000, 0, 0)
    t.show("size", lambda: os.fstat(fd).st_size)
    t.show("rename", ring.do, RENAMEAT, -100, ctypes.addressof(name), 0xffffff9c, ctypes.addressof(other))
    t.show("renamed", lambda: sorted(os.listdir(".")))
    opened_fd = t.show("open", lambda: ring.do(OPENAT, -100, ctypes.addressof(other), 0, 0, os.O_RDONLY) > 0)
    t.show("mkdir", ring.do, MKDIRAT, -100, ctypes.addressof(name), 0o755, 0)
    t.show("unlink", ring.do, UNLINKAT, -100, ctypes.addressof(other), 0, 0)
    t.show("unlink again", ring.do, UNLINKAT, -100, ctypes.addressof(other), 0, 0)
    reader = opened("h", os.O_RDONLY | os.O_CREAT)
    t.show("write of one for reading", ring.do, WRITE, reader, address, 10, 0)


@operation()
def asynchronous(t):
    """Linux's own asynchronous I/O, with O_DIRECT as databases use it."""
    context = ctypes.c_ulong(0)
    try:
        kernel.syscall(206, ctypes.c_long(8), ctypes.byref(context))
    except OSError:
        t.note("none here", True)
        return
    block = mmap.mmap(-1, 4096)
    block[:] = b"a" * 4096
    address = ctypes.addressof(ctypes.c_char.from_buffer(block))
    for flags in (0, os.O_DIRECT):
        fd = opened("f", os.O_RDWR | os.O_CREAT | flags)
        for opcode, offset in ((1, 0), (1, 8192), (0, 0), (0, 4096), (0, 8192), (0, 1 << 20)):
            request = ctypes.create_string_buffer(struct.pack("QIiHhIQQqQII", 7, 0, 0, opcode, 0, fd, address, 4096, offset, 0, 0, 0))
            pointer = (ctypes.c_void_p * 1)(ctypes.addressof(request))
            t.show("submit", kernel.syscall, 209, context, ctypes.c_long(1), pointer)
            event = ctypes.create_string_buffer(32)
            t.show("complete", kernel.syscall, 208, context, ctypes.c_long(1), ctypes.c_long(1), event, None)
            t.note("result", struct.unpack_from("QQq", event)[2])
    t.show("size", lambda: len(read("f")))


EXPORT = "a handle would have to outlive the daemon, so the mount says it has none"


@operation(differs={"handle": ("ENOTSUP", EXPORT)})
def handles(t):
    write("f")
    try:
        t.note("handle", kernel.name_to_handle("f"))
    except OSError as error:
        t.note("handle", errno.errorcode[error.errno])
