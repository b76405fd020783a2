"""Extended attributes of every kind."""
import ctypes
import os
import struct

from operations import kernel
from operations.trial import operation, opened, write


@operation()
def user_attributes(t):
    write("f")
    t.show("get none", os.getxattr, "f", "user.a")
    t.show("set", os.setxattr, "f", "user.a", b"one\0two")
    t.show("get", os.getxattr, "f", "user.a")
    t.show("create again", os.setxattr, "f", "user.a", b"x", os.XATTR_CREATE)
    t.show("create", os.setxattr, "f", "user.c", b"x", os.XATTR_CREATE)
    t.show("replace none", os.setxattr, "f", "user.b", b"x", os.XATTR_REPLACE)
    t.show("replace", os.setxattr, "f", "user.c", b"longer than before", os.XATTR_REPLACE)
    t.show("create and replace", os.setxattr, "f", "user.c", b"x", os.XATTR_REPLACE | os.XATTR_CREATE)
    t.show("empty value", os.setxattr, "f", "user.empty", b"")
    t.show("empty value", os.getxattr, "f", "user.empty")
    t.show("any bytes in the name", os.setxattr, b"f", b"user.\xff\n =", b"odd")
    t.show("list", lambda: sorted(os.listxattr(b"f")))
    t.show("remove", os.removexattr, "f", "user.a")
    t.show("remove again", os.removexattr, "f", "user.a")
    fd = opened("f", os.O_RDWR)
    t.show("by descriptor", os.setxattr, fd, "user.fd", b"fd")
    t.show("by descriptor", lambda: sorted(os.listxattr(fd)))
    os.mkdir("d")
    t.show("of a directory", os.setxattr, "d", "user.a", b"d")
    t.show("of a directory", os.getxattr, "d", "user.a")


@operation()
def sizes(t):
    write("f")
    for size in (1, 100, 3900, 4096, 65536, 65537, 100000):
        t.show(f"set {size}", os.setxattr, "f", "user.x", b"x" * size)
        t.show(f"length {size}", lambda: len(os.getxattr("f", "user.x")))
    os.setxattr("f", "user.x", b"0123456789")
    buffer = ctypes.create_string_buffer(100)

    def get(size):
        return kernel.call(kernel.libc.getxattr, b"f", b"user.x", buffer, ctypes.c_size_t(size))

    def names(size):
        return kernel.call(kernel.libc.listxattr, b"f", buffer, ctypes.c_size_t(size))

    for size in (0, 5, 10, 100):
        t.show(f"into {size}", get, size)
        t.show(f"names into {size}", names, size)
    for length in (249, 250, 251):
        t.show(f"name of {length}", os.setxattr, "f", "user." + "n" * length, b"x")
    t.show("empty name", os.setxattr, "f", "", b"x")
    t.show("no more than the kind", os.setxattr, "f", "user.", b"x")
    for i in range(60):
        t.show("many", os.setxattr, "f", f"user.number-{i}", b"value %d" % i)
    t.show("all listed", lambda: sorted(os.listxattr("f")))


@operation()
def kinds(t):
    write("f")
    os.mkdir("d")
    os.symlink("f", "l")
    os.mkfifo("fifo")
    for path in ("f", "d", "l", "fifo"):
        for name in ("user.x", "trusted.x", "security.x", "system.x", "strange.x", "noprefix"):
            value = f"{path} {name}".encode()
            t.show(f"set {name} of {path}", os.setxattr, path, name, value, follow_symlinks=False)
            t.show(f"get {name} of {path}", os.getxattr, path, name, follow_symlinks=False)
        t.show(f"list {path}", lambda: sorted(os.listxattr(path, follow_symlinks=False)))
        t.show(f"remove of {path}", os.removexattr, path, "trusted.x", follow_symlinks=False)
        t.show(f"remove of {path}", os.removexattr, path, "security.x", follow_symlinks=False)


@operation(users=("root",))
def capabilities(t):
    write("f", mode=0o755)
    v2 = struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0)
    t.show("set", os.setxattr, "f", "security.capability", v2)
    t.show("get", os.getxattr, "f", "security.capability")
    t.show("broken", os.setxattr, "f", "security.capability", b"short")
    t.as_user(54321, lambda part: part.show("seen by others", os.getxattr, "f", "security.capability"))
    t.as_user(54321, lambda part: part.show("set by others", os.setxattr, "f", "security.capability", v2))
    t.show("remove", os.removexattr, "f", "security.capability")


@operation(users=("root",))
def hidden_from_others(t):
    write("f", mode=0o666)
    os.chmod("f", 0o666)
    os.setxattr("f", "trusted.secret", b"s")
    os.setxattr("f", "user.open", b"o")
    t.as_user(54321, lambda part: part.show("list", lambda: sorted(os.listxattr("f"))))
    t.as_user(54321, lambda part: part.show("get", os.getxattr, "f", "trusted.secret"))
    t.as_user(54321, lambda part: part.show("remove", os.removexattr, "f", "trusted.secret"))
    t.as_user(54321, lambda part: part.show("set", os.setxattr, "f", "security.mine", b"x"))
    os.mkdir("sticky")
    os.chmod("sticky", 0o1777)
    t.as_user(54321, lambda part: part.show("of a sticky directory", os.setxattr, "sticky", "user.x", b"x"))
