"""Reading, writing, appending, truncating."""
import os
import resource
import signal

from operations import kernel
from operations.trial import child, digest, operation, opened, read, write


@operation()
def reads_and_writes(t):
    fd = opened("f")
    t.show("write", os.write, fd, b"0123456789")
    t.show("at an offset", os.pwrite, fd, b"far", 1 << 20)
    t.show("in the hole", os.pread, fd, 4, 1 << 19)
    t.show("past the end", os.pread, fd, 4, 1 << 21)
    t.show("at the end", os.pread, fd, 100, (1 << 20) + 1)
    t.show("of nothing", os.pwrite, fd, b"", 1 << 22)
    t.show("negative", os.pread, fd, 4, -1)
    t.show("vector", os.pwritev, fd, [b"one", b"", b"two"], 100)
    buffers = [bytearray(2), bytearray(3)]
    t.show("vector", os.preadv, fd, buffers, 100)
    t.note("vector", buffers)
    t.show("size", lambda: os.fstat(fd).st_size)
    t.show("large", lambda: os.pwrite(fd, b"L" * (5 << 20), 3))
    t.show("synchronous", os.pwritev, fd, [b"sync"], 7, os.RWF_SYNC)
    t.show("appended by a flag", os.pwritev, fd, [b"appended"], 0, os.RWF_APPEND)
    t.show("tail", lambda: os.pread(fd, 100, (5 << 20) - 2))
    t.show("digest", digest, "f")
    t.show("position", os.lseek, fd, 0, os.SEEK_CUR)
    t.show("from the end", os.lseek, fd, -4, os.SEEK_END)
    t.show("before the start", os.lseek, fd, -4, os.SEEK_SET)
    t.show("of a directory", lambda: os.read(os.open(".", os.O_RDONLY), 1))


@operation()
def two_descriptors(t):
    """What one writes the other reads at once, and everyone who opens after."""
    a, b = opened("f"), opened("f")
    for i in range(200):
        os.pwrite(a, b"%05d" % i, i * 1000)
        if os.pread(b, 5, i * 1000) != b"%05d" % i or os.fstat(b).st_size != i * 1000 + 5:
            t.note("not seen", i)
        if i % 50 == 0 and len(read("f")) != i * 1000 + 5:
            t.note("not seen by a third", i)
    os.ftruncate(a, 3)
    t.show("truncated", os.pread, b, 100, 0)
    t.show("size", lambda: os.fstat(b).st_size)


@operation()
def truncating(t):
    write("f", b"0123456789")
    t.show("longer", os.truncate, "f", 10000)
    t.show("zeros", lambda: read("f") == b"0123456789" + bytes(9990))
    t.show("shorter", os.truncate, "f", 4)
    t.show("longer again", os.truncate, "f", 8)
    t.show("zeros again", read, "f")
    t.show("a directory", os.truncate, ".", 1)
    t.show("negative", os.truncate, "f", -1)
    t.show("nothing", os.truncate, "none", 1)
    t.show("one for reading", lambda: os.ftruncate(opened("f", os.O_RDONLY), 1))
    t.show("one for writing", lambda: os.ftruncate(opened("f", os.O_WRONLY), 1 << 20))
    t.look("size", "f")
    t.show("same size moves the times", same_size)


def same_size():
    os.utime("f", ns=(10**9, 2 * 10**9))
    os.truncate("f", os.stat("f").st_size)
    return os.stat("f").st_mtime_ns > 2 * 10**9


@operation()
def page_edges(t):
    """Partial pages keep their other bytes."""
    fd = opened("f")
    content = bytearray(b"." * 20000)
    os.pwrite(fd, bytes(content), 0)
    for offset, length in ((4095, 2), (0, 1), (8191, 1), (8192, 1), (4000, 8300), (19999, 3)):
        os.pwrite(fd, b"#" * length, offset)
        content[offset:offset + length] = b"#" * length
        if os.pread(fd, 30000, 0) != bytes(content):
            t.note("differs", (offset, length))
    os.ftruncate(fd, 5000)
    os.ftruncate(fd, 9000)
    t.show("cut and grown", lambda: os.pread(fd, 9001, 0) == bytes(content[:5000]) + bytes(4000))


def append_records(name, writer, n, size):
    fd = opened(name, os.O_WRONLY | os.O_APPEND)
    for i in range(n):
        record = (b"%d:%d;" % (writer, i)).ljust(size - 1, b"x") + b"\n"
        if os.write(fd, record) != size:
            return 1
    return 0


@operation()
def appended_by_many(t):
    """Each write whole, none lost, whoever writes beside."""
    n_writers, n_records, size = 4, 150, 777
    write("log", b"")
    children = [child(lambda: append_records("log", writer, n_records, size)) for writer in range(n_writers)]
    t.show("all wrote", lambda: [os.waitpid(pid, 0)[1] for pid in children])
    lines = read("log").split(b"\n")[:-1]
    t.note("size", os.stat("log").st_size)
    t.note("whole", all(len(line) == size - 1 and line.endswith(b"x") for line in lines))
    heads = [line.split(b";")[0] for line in lines]
    t.note("none lost or doubled", len(set(heads)) == len(heads) == n_writers * n_records)
    for writer in range(n_writers):
        mine = [int(head.split(b":")[1]) for head in heads if head.startswith(b"%d:" % writer)]
        t.note("in order", mine == sorted(mine))
    os.unlink("log")  # whose lines came in an order of their own


@operation()
def limits(t):
    write("f")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
    fd = opened("f")
    t.show("up to the limit", os.pwrite, fd, b"x" * 1000, 99500)
    t.show("at the limit", os.pwrite, fd, b"x", 100000)
    t.show("over it", os.pwrite, fd, b"x", 1 << 30)
    t.show("truncate", os.ftruncate, fd, 100001)
    t.show("truncate up to it", os.ftruncate, fd, 100000)
    t.show("allocate", kernel.fallocate, fd, 0, 0, 100001)
    t.show("vector", os.pwritev, fd, [b"a" * 60000, b"b" * 60000], 0)
    t.look("size", "f")

    def over_it():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.pwrite(fd, b"x", 200000)

    t.show("killed by", lambda: os.waitpid(child(over_it), 0)[1] & 0x7f)


LARGEST = "the kernel's FUSE has the largest offset there is as its limit, the backing tree a lower one"


@operation(differs={"seek": ((1 << 63) - 1, LARGEST)})
def the_largest_offset(t):
    fd = opened("f")
    t.show("write", os.pwrite, fd, b"x", (1 << 63) - 2)
    t.show("truncate", os.ftruncate, fd, (1 << 63) - 1)
    t.show("seek", os.lseek, fd, (1 << 63) - 1, os.SEEK_SET)
    t.show("allocate", kernel.fallocate, fd, 0, (1 << 62), 1 << 62)
    limit = 16 << 40  # of an ext4 of 4 KiB blocks
    t.show("last byte of an ext4 file", os.pwrite, fd, b"x", limit - 4096 - 1)
    t.show("one behind", os.pwrite, fd, b"x", limit)
    t.show("truncate behind", os.ftruncate, fd, limit)
    t.show("size", lambda: os.fstat(fd).st_size)
    os.ftruncate(fd, 0)


@operation()
def without_a_name(t):
    fd = opened("doomed")
    os.write(fd, b"first ")
    os.unlink("doomed")
    t.show("write", os.write, fd, b"second")
    t.show("read", os.pread, fd, 100, 0)
    t.show("stat", lambda: (os.fstat(fd).st_nlink, os.fstat(fd).st_size))
    t.show("truncate", os.ftruncate, fd, 3)
    t.show("grow", os.ftruncate, fd, 30)
    t.show("allocate", kernel.fallocate, fd, 0, 0, 8192)
    t.show("chmod", os.fchmod, fd, 0o600)
    t.show("chown", os.fchown, fd, -1, -1)
    t.show("utime", os.utime, fd, (1, 2))
    t.show("attribute", os.setxattr, fd, "user.x", b"1")
    t.show("attribute", os.getxattr, fd, "user.x")
    t.show("open again", lambda: os.read(os.open(f"/proc/self/fd/{fd}", os.O_RDONLY), 9))
    t.show("open again for writing", lambda: os.write(os.open(f"/proc/self/fd/{fd}", os.O_RDWR), b"FIR"))
    t.show("and truncated", lambda: os.close(os.open(f"/proc/self/fd/{fd}", os.O_RDWR | os.O_TRUNC)))
    t.show("truncate by a path", os.truncate, f"/proc/self/fd/{fd}", 5)
    t.show("stat", lambda: (os.fstat(fd).st_nlink, os.fstat(fd).st_size, oct(os.fstat(fd).st_mode)))
    t.show("link", kernel.link_descriptor, fd, "again")
    t.show("sync", os.fsync, fd)
    write("doomed", b"another of the name")
    t.show("the other", read, "doomed")
    t.show("this one", os.pread, fd, 100, 0)


@operation()
def syncing(t):
    fd = opened("f")
    os.write(fd, b"content")
    directory = os.open(".", os.O_RDONLY)
    t.show("fsync", os.fsync, fd)
    t.show("fdatasync", os.fdatasync, fd)
    t.show("of a directory", os.fsync, directory)
    t.show("data of a directory", os.fdatasync, directory)
    t.show("of one for reading", lambda: os.fsync(os.open("f", os.O_RDONLY)))
    t.show("all of the file system", kernel.syncfs, fd)
    t.show("a range", lambda: kernel.call(kernel.libc.sync_file_range, fd, 0, 4096, 7))
    t.show("by a path descriptor", lambda: os.fsync(os.open("f", os.O_PATH)))


@operation()
def advice(t):
    fd = opened("f")
    os.write(fd, b"x" * 100000)
    for name in ("NORMAL", "SEQUENTIAL", "RANDOM", "WILLNEED", "NOREUSE", "DONTNEED"):
        t.show(name, os.posix_fadvise, fd, 0, 0, getattr(os, f"POSIX_FADV_{name}"))
    t.show("read after it was dropped", lambda: os.pread(fd, 100000, 0) == b"x" * 100000)
    t.show("readahead", lambda: kernel.call(kernel.libc.readahead, fd, 0, 1 << 20))
    t.show("readahead of one for writing", lambda: kernel.call(kernel.libc.readahead, opened("f", os.O_WRONLY), 0, 4096))
    t.show("of a range that is none", os.posix_fadvise, fd, 0, -1, os.POSIX_FADV_NORMAL)
    t.show("advice nobody knows", os.posix_fadvise, fd, 0, 0, 99)
