"""O_DIRECT: buffers and offsets aligned and not."""
import mmap
import os

from operations.trial import digest, operation, opened, read

BUFFERED = "without passthrough reads and writes go through caches, which need no alignment"


def aligned(size):
    return mmap.mmap(-1, size)


@operation()
def aligned_all(t):
    block = aligned(8192)
    block[:] = b"D" * 8192
    fd = opened("f", os.O_RDWR | os.O_CREAT | os.O_DIRECT)
    t.show("write", os.write, fd, block)
    t.show("write behind", os.pwritev, fd, [block], 65536)
    block[:] = bytes(8192)
    t.show("read", os.preadv, fd, [block], 0)
    t.note("read", bytes(block[:4]))
    t.show("read of a hole", os.preadv, fd, [block], 16384)
    t.show("read at the end", os.preadv, fd, [block], 65536 + 4096)
    t.show("read behind", os.preadv, fd, [block], 1 << 20)
    buffered = opened("f", os.O_RDWR)
    os.pwrite(buffered, b"buffered", 0)
    t.show("read what was just written", os.preadv, fd, [block], 0)
    t.note("read what was just written", bytes(block[:8]))
    block[:] = b"E" * 8192
    os.pwritev(fd, [block], 0)
    t.show("buffered reads see it", lambda: os.pread(buffered, 4, 4094))
    memory = mmap.mmap(buffered, 8192)
    t.show("and mappings", lambda: bytes(memory[:4]))
    block[:] = b"F" * 8192
    os.pwritev(fd, [block], 0)
    t.show("and again", lambda: bytes(memory[:4]))
    memory[0:3] = b"map"
    os.preadv(fd, [block], 0)
    t.note("and it sees mappings", bytes(block[:4]))
    t.show("digest", digest, "f")


@operation(differs_off={
    "write of an odd length": (100, BUFFERED), "write at an odd offset": (4096, BUFFERED),
    "read of an odd length": (100, BUFFERED), "read at an odd offset": (4096, BUFFERED),
    "write of odd memory": (4096, BUFFERED), "read into odd memory": (4096, BUFFERED),
    "afterwards": (None, BUFFERED)})
def unaligned(t):
    block = aligned(8192)
    block[:] = b"D" * 8192
    fd = opened("f", os.O_RDWR | os.O_CREAT | os.O_DIRECT)
    os.pwritev(fd, [block], 0)
    view = memoryview(block)
    t.show("write of an odd length", os.pwritev, fd, [view[:100]], 0)
    t.show("write at an odd offset", os.pwritev, fd, [view[:4096]], 100)
    t.show("read of an odd length", os.preadv, fd, [view[:100]], 0)
    t.show("read at an odd offset", os.preadv, fd, [view[:4096]], 100)
    t.show("write of odd memory", os.pwritev, fd, [view[1:4097]], 0)
    t.show("read into odd memory", os.preadv, fd, [view[1:4097]], 0)


@operation()
def beside_appends(t):
    block = aligned(4096)
    block[:] = b"A" * 4096
    fd = opened("f", os.O_WRONLY | os.O_CREAT | os.O_DIRECT | os.O_APPEND)
    for _ in range(5):
        os.write(fd, block)
    t.show("size", lambda: os.fstat(fd).st_size)
    t.show("content", lambda: read("f") == b"A" * 20480)
