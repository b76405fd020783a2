"""copy_file_range(2), splice(2) and its kind, clones."""
import ctypes
import errno
import fcntl
import os
import struct

from operations import kernel
from operations.trial import digest, operation, opened, read, write

FICLONE, FICLONERANGE, FIDEDUPERANGE = 0x40049409, 0x4020940D, 0xC0189436


@operation()
def ranges(t):
    write("from", bytes(range(256)) * 4096)
    source, target = opened("from", os.O_RDONLY), opened("to")
    t.show("all", os.copy_file_range, source, target, 1 << 20, 0, 0)
    t.show("same", lambda: digest("to") == digest("from"))
    t.show("in the middle", os.copy_file_range, source, target, 1000, 5, 77)
    t.show("at the end", os.copy_file_range, source, target, 1000, (1 << 20) - 10, 0)
    t.show("behind the end", os.copy_file_range, source, target, 1000, 1 << 20, 0)
    t.show("growing", os.copy_file_range, source, target, 1000, 0, 2 << 20)
    t.show("size", lambda: os.fstat(target).st_size)
    t.show("at the position", os.copy_file_range, source, target, 10)
    t.show("positions", lambda: (os.lseek(source, 0, os.SEEK_CUR), os.lseek(target, 0, os.SEEK_CUR)))
    t.show("nothing", os.copy_file_range, source, target, 0, 0, 0)
    t.show("what was just written", lambda: (os.pwrite(target, b"fresh", 0), os.copy_file_range(target, opened("third"), 5, 0, 0)))
    t.show("read", read, "third")
    t.show("into one for reading", os.copy_file_range, target, source, 10, 0, 0)
    t.show("from one for writing", lambda: os.copy_file_range(opened("to", os.O_WRONLY), opened("third"), 1, 0, 0))
    t.show("into one that appends", lambda: os.copy_file_range(source, opened("third", os.O_RDWR | os.O_APPEND), 1, 0, 0))
    t.show("from a directory", lambda: os.copy_file_range(os.open(".", os.O_RDONLY), target, 1, 0, 0))
    t.show("digest", digest, "to")


@operation()
def within_a_file(t):
    write("f", b"".join(b"%04d" % i for i in range(4096)))
    fd = opened("f")
    t.show("apart", os.copy_file_range, fd, fd, 4000, 0, 8000)
    t.show("overlapping", os.copy_file_range, fd, fd, 4000, 0, 2000)
    t.show("onto itself", os.copy_file_range, fd, fd, 4000, 0, 0)
    t.show("touching", os.copy_file_range, fd, fd, 4000, 0, 4000)
    t.show("by two descriptors, overlapping", lambda: os.copy_file_range(fd, opened("f"), 4000, 0, 2000))
    t.show("digest", digest, "f")


@operation()
def other_file_systems(t):
    """There the kernel copies itself."""
    fd, memory = opened("f"), os.memfd_create("memory")
    os.write(memory, b"from memory" * 1000)
    t.show("in", copied, memory, fd, 11000)
    t.show("out", copied, fd, memory, 11000)
    t.show("digest", digest, "f")


def copied(source, target, length):
    """Or why not: before Linux 5.19 EXDEV, then what the one side has; programs fall back."""
    try:
        return os.copy_file_range(source, target, length, 0, 0)
    except OSError as error:
        return "not" if error.errno in (errno.EXDEV, errno.EINVAL) else errno.errorcode[error.errno]


@operation()
def splicing(t):
    write("from", b"".join(b"%05d" % i for i in range(20000)))
    source, target = opened("from", os.O_RDONLY), opened("to")
    t.show("sendfile", os.sendfile, target, source, 0, 30000)
    t.show("sendfile from the middle", os.sendfile, target, source, 5, 100)
    reader, writer = os.pipe()
    t.show("splice into a pipe", os.splice, source, writer, 4096, offset_src=50)
    t.show("splice out of it", os.splice, reader, target, 4096, offset_dst=70000)
    t.show("spliced", lambda: os.pread(target, 4096, 70000) == os.pread(source, 4096, 50))
    t.show("splice at the end", os.splice, source, writer, 4096, offset_src=100000)
    data = b"gift" * 1024
    memory = ctypes.create_string_buffer(data, len(data))
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(memory), len(data))
    t.show("vmsplice", lambda: kernel.call(kernel.libc.vmsplice, writer, vector, ctypes.c_ulong(1), 0))
    t.show("and into the file", os.splice, reader, target, 4096, offset_dst=1)
    other_reader, other_writer = os.pipe()
    os.splice(source, writer, 100, offset_src=0)
    t.show("tee", lambda: kernel.call(kernel.libc.tee, reader, other_writer, ctypes.c_size_t(100), 0))
    t.show("tee'd into the file", os.splice, other_reader, target, 100, offset_dst=90000)
    t.show("splice into one that appends", lambda: os.splice(reader, opened("to", os.O_WRONLY | os.O_APPEND), 10))
    t.show("digest", digest, "to")


@operation()
def clones(t):
    """ext4 has none; where the backing tree has, the kernel's FUSE still has not."""
    write("from", b"x" * 8192)
    source, target = opened("from"), opened("to")
    t.show("clone", fcntl.ioctl, target, FICLONE, source)
    t.show("clone a range", fcntl.ioctl, target, FICLONERANGE, struct.pack("qQQQ", source, 0, 4096, 0))
    os.pwrite(target, b"x" * 8192, 0)
    same = bytearray(struct.pack("QQHHI", 0, 4096, 1, 0, 0) + struct.pack("qQQiI", target, 0, 0, 0, 0))
    t.show("deduplicate", lambda: fcntl.ioctl(source, FIDEDUPERANGE, same, True))
    t.note("deduplicate", struct.unpack_from("QiI", same, 40)[1])
