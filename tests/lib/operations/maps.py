"""mmap(2): shared and private, with read and write beside."""
import mmap
import os
import resource

from operations.trial import child, digest, operation, opened, read, write

SIZE = 40000


def mapped(fd, length=SIZE, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ | mmap.PROT_WRITE):
    return mmap.mmap(fd, length, flags, prot)


@operation()
def shared(t):
    write("f", b"." * SIZE)
    fd, other = opened("f"), opened("f")
    memory = mapped(fd)
    for i in range(0, SIZE, 1999):
        memory[i:i + 1] = b"M"
        if os.pread(other, 1, i) != b"M":
            t.note("store not read", i)
        os.pwrite(other, b"W", i)
        if memory[i:i + 1] != b"W":
            t.note("write not mapped", i)
    second = mapped(other)
    memory[77:80] = b"two"
    t.show("by another mapping", lambda: bytes(second[77:80]))
    t.show("msync", memory.flush)
    t.show("read by a newcomer", lambda: read("f")[77:80])
    os.close(fd)
    os.close(other)
    memory[100:105] = b"later"
    t.show("stored after close, read", lambda: read("f")[100:105])
    second[200:206] = b"latest"
    memory.close()
    second.close()
    t.show("digest", digest, "f")


@operation()
def private(t):
    write("f", b"." * SIZE)
    fd = opened("f", os.O_RDONLY)
    memory = mapped(fd, flags=mmap.MAP_PRIVATE)
    memory[10:15] = b"own  "
    t.show("not the file's", lambda: read("f")[10:15])
    write("f", b"file", os.O_WRONLY)
    t.show("of an untouched page", lambda: bytes(memory[20000:20004]))
    fd2 = opened("f", os.O_WRONLY)
    os.pwrite(fd2, b"new", 30000)
    t.show("seen where not stored to", lambda: bytes(memory[30000:30003]))


@operation()
def of_one_that_appends(t):
    write("f", b"." * SIZE)
    fd = opened("f", os.O_RDWR | os.O_APPEND)
    memory = mapped(fd)
    memory[0:5] = b"store"
    t.show("msync", memory.flush)
    os.write(fd, b"append")
    memory[5000:5005] = b"store"
    memory.close()
    os.fsync(fd)
    t.show("size", lambda: os.stat("f").st_size)
    t.show("digest", digest, "f")


@operation()
def permissions(t):
    write("f", b"." * SIZE)
    reader, writer = opened("f", os.O_RDONLY), opened("f", os.O_WRONLY)
    t.show("for writing of one for reading", lambda: mapped(reader) and None)
    t.show("of one for writing", lambda: mapped(writer) and None)
    t.show("private of one for writing", lambda: mapped(writer, flags=mmap.MAP_PRIVATE) and None)
    t.show("to be run", lambda: mapped(reader, prot=mmap.PROT_READ | mmap.PROT_EXEC) and None)
    t.show("of a directory", lambda: mapped(os.open(".", os.O_RDONLY), prot=mmap.PROT_READ) and None)


@operation()
def with_truncation(t):
    write("f", b"." * SIZE)
    fd = opened("f")
    memory = mapped(fd)
    memory[SIZE - 1:SIZE] = b"!"
    os.ftruncate(fd, 5000)
    t.show("tail of the last page", lambda: bytes(memory[5000:5004]))
    t.note("behind it", died_of(lambda: memory[20000]))
    os.ftruncate(fd, SIZE)
    t.show("grown again", lambda: bytes(memory[SIZE - 1:SIZE]))
    memory[30000:30003] = b"new"
    t.show("read", lambda: read("f")[30000:30003])


@operation()
def of_a_file_without_a_name(t):
    write("f", b"." * SIZE)
    fd = opened("f")
    memory = mapped(fd)
    os.unlink("f")
    os.close(fd)
    memory[0:4] = b"kept"
    t.show("after all else went", lambda: bytes(memory[0:6]))
    write("f", b"another")
    t.show("still", lambda: bytes(memory[0:6]))
    t.show("msync", memory.flush)


@operation()
def between_processes(t):
    write("f", b"." * SIZE)
    memory = mapped(opened("f"))

    def other():
        mine = mapped(opened("f"))
        mine[0:5] = b"child"
        memory[10:19] = b"inherited"

    t.show("the other", lambda: os.waitpid(child(other), 0)[1])
    t.show("seen", lambda: bytes(memory[0:20]))
    t.show("read", lambda: read("f")[0:20])


@operation()
def sparse(t):
    fd = opened("f")
    os.ftruncate(fd, 64 << 20)
    memory = mapped(fd, 64 << 20)
    memory[12345678:12345681] = b"far"
    t.show("read", os.pread, fd, 5, 12345677)
    memory.flush()
    # Whoever read the hole before may have left it in larger pages, all of which is data then.
    t.show("data found", lambda: os.lseek(fd, 0, os.SEEK_DATA) <= 12345344)
    t.show("sparse", lambda: 0 < os.fstat(fd).st_blocks <= (4 << 20) // 512)
    os.unlink("f")


def died_of(function):
    """The signal that ends a process which does that."""
    def other():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        function()

    return os.waitpid(child(other), 0)[1]
