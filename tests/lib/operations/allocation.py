"""fallocate(2) in every mode, holes, and where data is."""
import errno
import mmap
import os

from operations.kernel import (COLLAPSE, INSERT, KEEP_SIZE, PUNCH_HOLE, UNSHARE, WRITE_ZEROES,
                               ZERO_RANGE, fallocate)
from operations.trial import digest, operation, opened

BLOCK = 4096
NOT_ASKED = "the kernel's FUSE knows of no other modes than to keep the size, punch and zero"


def filled():
    fd = opened("f")
    os.pwrite(fd, b"".join(b"%c" % (65 + i) * BLOCK for i in range(16)), 0)
    return fd


def shape(fd):
    """The runs of data and holes, and what is read."""
    os.fsync(fd)  # what is not yet allocated is data or a hole as it comes
    end, at, runs = os.fstat(fd).st_size, 0, []
    while at < end:
        try:
            data = os.lseek(fd, at, os.SEEK_DATA)
        except OSError:
            break
        at = os.lseek(fd, data, os.SEEK_HOLE)
        runs.append((data, at))
    return end, os.fstat(fd).st_blocks, runs


@operation()
def allocate(t):
    """What is allocated and not written is a hole or data to SEEK_DATA, as somebody has read it or not."""
    fd = filled()
    t.show("within", fallocate, fd, 0, 0, BLOCK)
    t.show("past the end", fallocate, fd, 0, 0, 20 * BLOCK)
    t.show("size and blocks", lambda: shape(fd)[:2])
    t.show("keeping the size", fallocate, fd, KEEP_SIZE, 0, 40 * BLOCK)
    t.show("size and blocks", lambda: shape(fd)[:2])
    t.show("nothing", fallocate, fd, 0, 0, 0)
    t.show("negative", fallocate, fd, 0, -1, 10)
    t.show("on one for reading", lambda: fallocate(opened("f", os.O_RDONLY), 0, 0, 1))
    t.show("on a directory", lambda: fallocate(os.open(".", os.O_RDONLY), 0, 0, 1))
    t.show("by posix_fallocate", os.posix_fallocate, fd, 0, 50 * BLOCK)
    t.show("digest", digest, "f")


@operation()
def more_than_there_is(t):
    fd = opened("f")
    t.show("allocate", fallocate, fd, 0, 0, 1 << 40)
    os.ftruncate(fd, 0)


@operation()
def punch(t):
    os.close(filled())
    fd, reader = opened("f", os.O_WRONLY), opened("f", os.O_RDONLY)
    t.show("a block", fallocate, fd, PUNCH_HOLE | KEEP_SIZE, BLOCK, BLOCK)
    t.show("shape", shape, fd)
    t.show("across edges", fallocate, fd, PUNCH_HOLE | KEEP_SIZE, 3 * BLOCK - 7, 2 * BLOCK + 14)
    t.show("shape", shape, fd)
    t.show("bytes", lambda: os.pread(reader, 20, 3 * BLOCK - 14))
    t.show("past the end", fallocate, fd, PUNCH_HOLE | KEEP_SIZE, 15 * BLOCK, 10 * BLOCK)
    t.show("shape", shape, fd)
    t.show("without keeping the size", fallocate, fd, PUNCH_HOLE, 0, BLOCK)
    t.show("written again", os.pwrite, fd, b"again", BLOCK)
    t.show("shape", shape, fd)
    t.show("digest", digest, "f")


@operation()
def zero(t):
    fd = filled()
    t.show("a block", fallocate, fd, ZERO_RANGE, BLOCK, BLOCK)
    t.show("across edges", fallocate, fd, ZERO_RANGE | KEEP_SIZE, 3 * BLOCK - 7, 2 * BLOCK + 14)
    t.show("bytes", lambda: os.pread(fd, 20, 3 * BLOCK - 14))
    t.show("past the end", fallocate, fd, ZERO_RANGE, 15 * BLOCK, 3 * BLOCK)
    t.show("past the end, keeping the size", fallocate, fd, ZERO_RANGE | KEEP_SIZE, 18 * BLOCK, 3 * BLOCK)
    t.show("size", lambda: os.fstat(fd).st_size)
    t.show("with a hole", fallocate, fd, ZERO_RANGE | PUNCH_HOLE, 0, BLOCK)
    t.show("digest", digest, "f")


# What these do to a file natively they do not do here, so the files differ in the end.
@operation(differs={"collapse": ("ENOTSUP", NOT_ASKED), "afterwards": (None, NOT_ASKED)})
def collapse(t):
    fd = filled()
    t.note("collapse", attempt(fd, COLLAPSE, BLOCK, BLOCK))


@operation(differs={"insert": ("ENOTSUP", NOT_ASKED), "afterwards": (None, NOT_ASKED)})
def insert(t):
    fd = filled()
    t.note("insert", attempt(fd, INSERT, BLOCK, BLOCK))


@operation()
def unshare(t):
    """ext4 has nothing to share, and says so too."""
    fd = filled()
    t.note("unshare", attempt(fd, UNSHARE, 0, BLOCK))


@operation()
def write_zeroes(t):
    fd = filled()
    t.note("on a disk that cannot", attempt(fd, WRITE_ZEROES, 0, BLOCK))


def attempt(fd, mode, offset, length):
    try:
        return fallocate(fd, mode, offset, length)
    except OSError as error:
        return errno.errorcode[error.errno]


def written(name="sparse"):
    """Not for reading: what cannot be mapped and stored to hides nothing from the disk."""
    fd = opened(name, os.O_WRONLY | os.O_CREAT)
    os.pwrite(fd, b"x" * BLOCK, 1 << 20)
    os.ftruncate(fd, 2 << 20)
    return fd


@operation()
def holes(t):
    fd = written()
    t.show("first data", os.lseek, fd, 0, os.SEEK_DATA)
    t.show("first hole", os.lseek, fd, 1 << 20, os.SEEK_HOLE)
    t.show("hole at once", os.lseek, fd, 0, os.SEEK_HOLE)
    t.show("no data behind", os.lseek, fd, (1 << 20) + BLOCK, os.SEEK_DATA)
    t.show("data past the end", os.lseek, fd, 2 << 20, os.SEEK_DATA)
    t.show("hole past the end", os.lseek, fd, 2 << 20, os.SEEK_HOLE)
    t.show("hole at the last byte", os.lseek, fd, (2 << 20) - 1, os.SEEK_HOLE)
    t.show("negative", os.lseek, fd, -1, os.SEEK_DATA)
    t.show("moves the position", lambda: (os.lseek(fd, 0, os.SEEK_DATA), os.lseek(fd, 0, os.SEEK_CUR)))
    t.show("of a kind nobody knows", os.lseek, fd, 0, 77)
    t.show("of an empty file", lambda: os.lseek(opened("empty"), 0, os.SEEK_DATA))
    t.show("of an empty file", lambda: os.lseek(opened("empty"), 0, os.SEEK_HOLE))


MAPPED = "without passthrough what a mapping holds is not on disk yet, so all of a file that is open for both is data"


@operation(differs_off={"first data": (0, MAPPED), "first hole": (2 << 20, MAPPED), "no data behind": ((1 << 20) + BLOCK, MAPPED)})
def holes_that_may_be_mapped(t):
    os.close(written())
    fd = opened("sparse")
    t.show("first data", os.lseek, fd, 0, os.SEEK_DATA)
    t.show("first hole", os.lseek, fd, 1 << 20, os.SEEK_HOLE)
    t.show("no data behind", os.lseek, fd, (1 << 20) + BLOCK, os.SEEK_DATA)
    t.show("data past the end", os.lseek, fd, 2 << 20, os.SEEK_DATA)
    t.show("hole past the end", os.lseek, fd, 2 << 20, os.SEEK_HOLE)
    t.show("negative", os.lseek, fd, -1, os.SEEK_DATA)


@operation()
def stores_in_holes(t):
    """What was stored in a mapping and not synchronised is no hole."""
    os.close(written())
    fd = opened("sparse")
    memory = mmap.mmap(fd, 2 << 20)
    memory[40000:40005] = b"store"
    t.show("data", lambda: os.lseek(fd, 0, os.SEEK_DATA) <= 40000)
    reader = opened("sparse", os.O_RDONLY)
    t.show("by another", lambda: os.lseek(reader, 0, os.SEEK_DATA) <= 40000)
    os.close(fd)
    t.show("when the descriptor is closed", lambda: os.lseek(reader, 0, os.SEEK_DATA) <= 40000)
    memory.close()
    t.show("when it is unmapped", lambda: os.lseek(reader, 0, os.SEEK_DATA) <= 40000)


@operation()
def holes_just_written(t):
    fd = opened("f", os.O_WRONLY | os.O_CREAT)
    os.ftruncate(fd, 64 * BLOCK)
    for i in range(0, 64, 4):
        os.pwrite(fd, b"y", i * BLOCK)
        if os.lseek(fd, i * BLOCK, os.SEEK_DATA) != i * BLOCK:
            t.note("data not seen", i)
        if os.lseek(fd, i * BLOCK, os.SEEK_HOLE) != (i + 1) * BLOCK:
            t.note("hole not seen", i)
    t.show("shape", lambda: shape(fd)[2])
    other = opened("f", os.O_RDONLY)
    t.show("by another", lambda: shape(other)[2])
