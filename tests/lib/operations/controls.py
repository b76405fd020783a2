"""ioctl(2): the flags of chattr(1), project ids, versions, labels; and which are nobody's."""
import array
import errno
import fcntl
import os
import struct

from operations import kernel
from operations.trial import USER, operation, opened, write

GETFLAGS, SETFLAGS = 0x80086601, 0x40086602
GETVERSION, SETVERSION = 0x80087601, 0x40087602
FSGETXATTR, FSSETXATTR = 0x801C581F, 0x401C5820
FIEMAP, FIBMAP, FIGETBSZ, FIONREAD, FITRIM = 0xC020660B, 1, 2, 0x541B, 0xC0185879
GETFSLABEL, SETFSLABEL, GETFSUUID = 0x81009431, 0x41009432, 0x80111500
NOATIME, NODUMP, APPEND, IMMUTABLE, SYNC = 0x80, 0x40, 0x20, 0x10, 0x8


def ask(fd, request, size, content=b""):
    buffer = bytearray(content.ljust(size, b"\0"))
    fcntl.ioctl(fd, request, buffer, True)
    return bytes(buffer)


def flags_of(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        return hex(struct.unpack("i", ask(fd, GETFLAGS, 8)[:4])[0])
    finally:
        os.close(fd)


def set_flags(path, flags):
    fd = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(fd, SETFLAGS, struct.pack("l", flags))
    finally:
        os.close(fd)


@operation()
def flags(t):
    write("f")
    os.mkdir("d")
    for path in "fd":
        t.show(f"{path} at first", flags_of, path)
        for value in (NOATIME, NODUMP | NOATIME, SYNC, 0):
            t.show(f"{path} set {value:x}", set_flags, path, int(flags_of(path), 16) & 0x80000 | value)
            t.show(f"{path} then", flags_of, path)
        t.show(f"{path} set what is none", set_flags, path, 0x7fffffff)
    os.mkfifo("fifo")
    t.show("of a fifo", lambda: ask(os.open("fifo", os.O_RDWR), GETFLAGS, 8))
    t.show("append by a user", set_flags, "f", APPEND) if os.geteuid() else None
    t.show("immutable by a user", set_flags, "f", IMMUTABLE) if os.geteuid() else None


@operation(users=("root",))
def flags_obeyed(t):
    write("f", b"content")
    set_flags("f", int(flags_of("f"), 16) | APPEND)
    t.show("append only: write", write, "f", b"x", os.O_WRONLY)
    t.show("append only: append", write, "f", b"x", os.O_WRONLY | os.O_APPEND)
    t.show("append only: truncate", os.truncate, "f", 0)
    t.show("append only: unlink", os.unlink, "f")
    set_flags("f", int(flags_of("f"), 16) & ~APPEND | IMMUTABLE)
    t.show("immutable: append", write, "f", b"x", os.O_WRONLY | os.O_APPEND)
    t.show("immutable: chmod", os.chmod, "f", 0o600)
    t.show("immutable: times", os.utime, "f", (1, 1))
    t.show("immutable: now", os.utime, "f")
    t.show("immutable: link", os.link, "f", "g")
    t.show("immutable: rename", os.rename, "f", "g")
    t.show("immutable: unlink", os.unlink, "f")
    t.show("immutable: attribute", os.setxattr, "f", "user.x", b"1")
    t.show("immutable: allocate", lambda: kernel.fallocate(opened("f", os.O_RDWR), 0, 0, 1))
    set_flags("f", int(flags_of("f"), 16) & ~IMMUTABLE)
    os.mkdir("d")
    set_flags("d", int(flags_of("d"), 16) | IMMUTABLE)
    t.show("immutable directory: create", write, "d/x")
    set_flags("d", int(flags_of("d"), 16) & ~IMMUTABLE)
    write("theirs")
    os.chown("theirs", 7, 7)
    os.chmod("theirs", 0o666)
    t.as_user(USER, lambda part: part.show("of another's", set_flags, "theirs", NODUMP))


@operation()
def projects(t):
    write("f")
    fd = opened("f")
    t.show("get", ask, fd, FSGETXATTR, 28)
    t.show("set", fcntl.ioctl, fd, FSSETXATTR, struct.pack("IIIII8x", NODUMP << 1, 0, 0, 0, 0))
    t.show("get", ask, fd, FSGETXATTR, 28)
    t.show("a project", fcntl.ioctl, fd, FSSETXATTR, struct.pack("IIIII8x", 0, 0, 0, 7, 0))
    t.show("what is none", fcntl.ioctl, fd, FSSETXATTR, struct.pack("IIIII8x", 1 << 30, 0, 0, 0, 0))
    directory = os.open(".", os.O_RDONLY)
    t.show("of a directory", ask, directory, FSGETXATTR, 28)


@operation()
def versions(t):
    write("f")
    fd = opened("f")
    t.show("has one", lambda: len(ask(fd, GETVERSION, 8)))
    t.show("stays", lambda: ask(fd, GETVERSION, 8)[:4] == ask(opened("f"), GETVERSION, 8)[:4])
    t.show("of a directory", lambda: len(ask(os.open(".", os.O_RDONLY), GETVERSION, 8)))


@operation(differs={"set": ("ENOTTY", "the kernel does not say that it is the owner's alone")}, users=("root",))
def versions_of_others(t):
    write("f")
    os.chmod("f", 0o666)
    t.as_user(USER, lambda part: part.show("set", lambda: fcntl.ioctl(opened("f"), SETVERSION, struct.pack("l", 12345))))
    t.as_user(USER, lambda part: part.show("get", lambda: len(ask(opened("f"), GETVERSION, 8))))


NONE = "the kernel's FUSE has no such operation"
WHOLE = "it is the whole file system's, which a tree of it is not"


@operation(differs={"extents": ("ENOTSUP", NONE), "a block's place": (0, NONE)}, users=("root",))
def places(t):
    write("f", b"x" * 10000)
    fd = opened("f")
    os.fsync(fd)
    t.note("extents", attempt(lambda: struct.unpack_from("I", ask(fd, FIEMAP, 32, struct.pack("QQIIII", 0, 1 << 40, 0, 0, 0, 0)), 20)[0]))
    t.note("a block's place", attempt(lambda: min(1, struct.unpack("i", ask(fd, FIBMAP, 4))[0])))
    t.show("block size", ask, fd, FIGETBSZ, 4)
    t.show("bytes to read", ask, fd, FIONREAD, 4)


@operation(users=("root",), differs={"trim": ("ENOTTY", WHOLE), "uuid": ("ENOTTY", NONE)})
def of_the_whole(t):
    fd = os.open(".", os.O_RDONLY)
    t.show("label", ask, fd, GETFSLABEL, 256)
    t.note("trim", attempt(lambda: len(ask(fd, FITRIM, 24, struct.pack("QQQ", 0, 0, 1 << 40)))))
    t.note("uuid", attempt(lambda: len(ask(fd, GETFSUUID, 17))))


@operation()
def nobody_s(t):
    fd, directory = opened("f"), os.open(".", os.O_RDONLY)
    for name, request in (("none", 0x12345678), ("of a terminal", 0x5413), ("no data", 0x5401), ("large", 0xFFFF1234)):
        t.show(name, fcntl.ioctl, fd, request, bytearray(16384), True)
        t.show(f"{name}, of a directory", fcntl.ioctl, directory, request, bytearray(16384), True)
    t.show("close at exec", fcntl.ioctl, fd, 0x5451)
    t.show("not to wait", fcntl.ioctl, fd, 0x5421, struct.pack("i", 1))


def attempt(function):
    try:
        return function()
    except OSError as error:
        return errno.errorcode[error.errno]
