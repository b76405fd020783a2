#!/usr/bin/env python3
"""Do every operation a tree of files knows in a directory, and print what came of each.

Run on a plain directory and on a mount, the two outputs must be the same. Times, inode numbers and
sizes of directories are left out; so is whatever depends on who ran first.
"""
import ctypes
import errno
import fcntl
import hashlib
import mmap
import os
import stat
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
NOREPLACE, EXCHANGE, WHITEOUT = 1, 2, 4
KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE, COLLAPSE = 1, 2, 16, 8
GETFLAGS, SETFLAGS, NOATIME_FL = 0x80086601, 0x40086602, 0x80
OTHER_USER = 54321


def call(function, *args):
    result = function(*args)
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def renameat2(old, new, flags):
    return call(libc.renameat2, -100, old.encode(), -100, new.encode(), flags)


def fallocate(fd, mode, offset, length):
    return call(libc.fallocate, fd, mode, ctypes.c_long(offset), ctypes.c_long(length))


def link_descriptor(fd, path):
    return call(libc.linkat, -100, f"/proc/self/fd/{fd}".encode(), -100, path.encode(), 0x400)


def show(label, function, *args, **kwargs):
    try:
        result = function(*args, **kwargs)
        print(f"{label}: {result!r}")
        return result
    except OSError as error:
        print(f"{label}: {errno.errorcode[error.errno]}")
        return None


def look(label, path):
    try:
        st = os.lstat(path)
    except OSError as error:
        print(f"{label}: {errno.errorcode[error.errno]}")
        return
    size = "-" if stat.S_ISDIR(st.st_mode) else st.st_size
    links = "-" if stat.S_ISDIR(st.st_mode) else st.st_nlink
    print(f"{label}: {st.st_mode:o} links={links} {st.st_uid}:{st.st_gid} size={size}")


def write(path, content=b"content\n", flags=os.O_CREAT | os.O_WRONLY | os.O_TRUNC, mode=0o644):
    fd = os.open(path, flags, mode)
    try:
        return os.write(fd, content)
    finally:
        os.close(fd)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def digest(path):
    return hashlib.sha256(read(path)).hexdigest()[:16]


def as_user(uid, function, *args, groups=()):
    """In a child, so that this process keeps its rights. Returns what function printed."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups(list(groups))
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            function(*args)
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.waitpid(child, 0)


def names():
    show("mkdir", os.mkdir, "dir", 0o755)
    show("mkdir again", os.mkdir, "dir")
    show("create", write, "dir/file")
    show("create exclusively what is there", os.open, "dir/file", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    show("rmdir of a full one", os.rmdir, "dir")
    show("rmdir of a file", os.rmdir, "dir/file")
    show("unlink of a directory", os.unlink, "dir")
    show("unlink of nothing", os.unlink, "dir/none")
    show("open of nothing", os.open, "dir/none", os.O_RDONLY)
    show("below a file", os.stat, "dir/file/x")
    show("long name", write, "n" * 255)
    show("too long name", write, "n" * 256)
    show("odd name", write, "a b\n\\\xff\u00e9 %s")
    show("list", lambda: sorted(os.listdir(".")))
    show("symlink", os.symlink, "dir/file", "link")
    show("symlink again", os.symlink, "x", "link")
    show("long symlink", os.symlink, "t" * 4000, "long-link")
    show("readlink", os.readlink, "link")
    show("readlink of the long one", lambda: len(os.readlink("long-link")))
    show("readlink of a file", os.readlink, "dir/file")
    show("read through it", read, "link")
    show("open it itself", os.open, "link", os.O_RDONLY | os.O_NOFOLLOW)
    look("symlink", "link")
    show("dangling", os.stat, "long-link")
    show("hard link", os.link, "dir/file", "hard")
    look("hard link", "hard")
    look("first name", "dir/file")
    show("hard link of a symlink", os.link, "link", "link2", follow_symlinks=False)
    look("hard link of a symlink", "link2")
    show("hard link of a directory", os.link, "dir", "dir2")
    show("hard link over", os.link, "dir/file", "link2", follow_symlinks=False)
    show("unlink first name", os.unlink, "dir/file")
    look("the other is left", "hard")
    show("fifo", os.mkfifo, "fifo", 0o600)
    look("fifo", "fifo")
    show("socket node", os.mknod, "socket", stat.S_IFSOCK | 0o600)
    show("device", os.mknod, "device", stat.S_IFCHR | 0o600, os.makedev(1, 3))
    look("device", "device")
    show("mknod of a file", os.mknod, "node", stat.S_IFREG | 0o640)
    look("mknod of a file", "node")
    show("many", lambda: [os.mkdir("many")] + [write(f"many/{i}", b"") for i in range(1500)] and None)
    show("many listed", lambda: sorted(map(int, os.listdir("many"))) == list(range(1500)))
    show("many with types", lambda: all(e.is_file(follow_symlinks=False) for e in os.scandir("many")))
    show("half deleted while listed", delete_while_listing)
    show("empty", lambda: os.listdir("dir"))
    show("removed while open", removed_directory)


def delete_while_listing():
    seen = 0
    for entry in os.scandir("many"):
        os.unlink(entry.path)
        seen += 1
    return seen, os.listdir("many")


def removed_directory():
    os.mkdir("gone")
    fd = os.open("gone", os.O_RDONLY)
    os.rmdir("gone")
    result = os.listdir(fd)
    os.close(fd)
    return result


def renames():
    for name in "abc":
        write(name, name.encode())
    os.mkdir("d")
    os.mkdir("e")
    write("e/inside")
    show("rename", os.rename, "a", "a2")
    show("rename over", os.rename, "a2", "b")
    show("content moved", read, "b")
    show("rename into a directory", os.rename, "b", "d/b")
    show("rename nothing", os.rename, "none", "x")
    show("rename file over directory", os.rename, "c", "d")
    show("rename directory over file", os.rename, "d", "c")
    show("rename directory over a full one", os.rename, "d", "e")
    show("rename into itself", os.rename, "d", "d/x")
    show("noreplace taken", renameat2, "d/b", "c", NOREPLACE)
    show("noreplace free", renameat2, "d/b", "b", NOREPLACE)
    show("exchange files", renameat2, "b", "c", EXCHANGE)
    show("exchanged", lambda: (read("b"), read("c")))
    show("exchange file and directory", renameat2, "b", "e", EXCHANGE)
    show("exchanged", lambda: (read("e"), os.listdir("b")))
    show("exchange with nothing", renameat2, "b", "none", EXCHANGE)
    show("flags that exclude each other", renameat2, "b", "c", EXCHANGE | NOREPLACE)
    show("list", lambda: sorted(os.listdir(".")))
    show("save beside and rename", save)
    os.link("c", "c2")
    show("rename of one inode to itself", os.rename, "c", "c2")
    show("both names stay", lambda: sorted(os.listdir(".")))


def save():
    write("document", b"old\n")
    for i in range(20):
        write("document.tmp", b"new %d\n" % i)
        os.rename("document.tmp", "document")
        assert read("document") == b"new %d\n" % i
    return read("document")


def contents():
    show("write", write, "f", b"0123456789")
    show("append", write, "f", b"ab", os.O_WRONLY | os.O_APPEND)
    show("content", read, "f")
    show("truncate at open", write, "f", b"xy", os.O_WRONLY | os.O_TRUNC)
    show("content", read, "f")
    show("truncate longer", os.truncate, "f", 10)
    show("content", read, "f")
    show("truncate to less", os.truncate, "f", 1)
    show("truncate a directory", os.truncate, ".", 1)
    show("truncate by a negative size", os.truncate, "f", -1)
    fd = os.open("f", os.O_RDWR)
    show("pwrite far", os.pwrite, fd, b"far", 1 << 20)
    show("pread in the hole", os.pread, fd, 4, 1 << 19)
    show("ftruncate", os.ftruncate, fd, 1 << 16)
    show("size", lambda: os.fstat(fd).st_size)
    show("fsync", os.fsync, fd)
    show("fdatasync", os.fdatasync, fd)
    show("allocate", fallocate, fd, 0, 0, 1 << 18)
    show("allocate past the end", fallocate, fd, KEEP_SIZE, 1 << 18, 1 << 12)
    show("size", lambda: os.fstat(fd).st_size)
    os.pwrite(fd, b"d" * 65536, 0)
    show("punch", fallocate, fd, PUNCH_HOLE | KEEP_SIZE, 4096, 8192)
    show("punched", lambda: os.pread(fd, 4, 4094))
    show("punch without keep", fallocate, fd, PUNCH_HOLE, 0, 4096)
    os.close(fd)
    show("read of a file open for writing", lambda: os.read(os.open("f", os.O_WRONLY), 1))
    show("write of a file open for reading", lambda: os.write(os.open("f", os.O_RDONLY), b"x"))
    show("open a directory for writing", os.open, ".", os.O_WRONLY)
    show("open a file as directory", os.open, "f", os.O_RDONLY | os.O_DIRECTORY)
    holes()
    copies()
    maps()
    unlinked()
    temporary()
    direct()


def holes():
    fd = os.open("sparse", os.O_RDWR | os.O_CREAT)
    os.pwrite(fd, b"x" * 4096, 1 << 20)
    os.ftruncate(fd, 2 << 20)
    show("first data", os.lseek, fd, 0, os.SEEK_DATA)
    show("first hole", os.lseek, fd, 1 << 20, os.SEEK_HOLE)
    show("no data behind", os.lseek, fd, (1 << 20) + 4096, os.SEEK_DATA)
    show("blocks", lambda: os.fstat(fd).st_blocks < 100)
    os.close(fd)


def copies():
    write("from", bytes(range(256)) * 4096)
    source = os.open("from", os.O_RDONLY)
    target = os.open("to", os.O_RDWR | os.O_CREAT)
    show("copy_file_range", os.copy_file_range, source, target, 1 << 20, 0, 0)
    show("same", lambda: digest("to") == digest("from"))
    show("copy in the middle", os.copy_file_range, source, target, 1000, 5, 77)
    show("digest", digest, "to")
    os.close(source)
    os.close(target)


def maps():
    write("mapped", b"." * 10000)
    fd = os.open("mapped", os.O_RDWR)
    memory = mmap.mmap(fd, 10000)
    memory[5000:5005] = b"store"
    memory.flush()
    show("seen by read", lambda: os.pread(fd, 7, 4999))
    os.pwrite(fd, b"write", 6000)
    show("seen by the mapping", lambda: bytes(memory[5999:6006]))
    os.close(fd)
    memory[7000:7005] = b"later"
    memory.flush()
    memory.close()
    show("stored after close", lambda: read("mapped")[6999:7006])
    show("digest", digest, "mapped")
    private = mmap.mmap(os.open("mapped", os.O_RDONLY), 10000, prot=mmap.PROT_READ)
    show("mapped for reading", lambda: bytes(private[5000:5005]))


def unlinked():
    fd = os.open("doomed", os.O_RDWR | os.O_CREAT)
    os.write(fd, b"first ")
    os.unlink("doomed")
    show("write after unlink", os.write, fd, b"second")
    show("read after unlink", os.pread, fd, 100, 0)
    show("stat after unlink", lambda: (os.fstat(fd).st_nlink, os.fstat(fd).st_size))
    show("truncate after unlink", os.ftruncate, fd, 3)
    show("chmod after unlink", os.fchmod, fd, 0o600)
    show("chown after unlink", os.fchown, fd, -1, -1)
    show("utime after unlink", os.utime, fd, (1, 2))
    show("open again after unlink", lambda: os.read(os.open(f"/proc/self/fd/{fd}", os.O_RDONLY), 9))
    show("xattr after unlink", os.setxattr, fd, "user.x", b"1")
    show("size", lambda: os.fstat(fd).st_size)
    os.close(fd)
    look("gone", "doomed")
    fd = os.open("replaced", os.O_RDONLY | os.O_CREAT)
    write("replacement", b"new")
    os.rename("replacement", "replaced")
    show("the replaced one still reads", os.pread, fd, 10, 0)
    show("the new one", read, "replaced")
    os.close(fd)


def temporary():
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o640)
    os.write(fd, b"born nameless")
    show("stat a tmpfile", lambda: (os.fstat(fd).st_nlink, oct(os.fstat(fd).st_mode)))
    show("link a tmpfile", link_descriptor, fd, "named")
    os.close(fd)
    show("named", read, "named")
    look("named", "named")


def direct():
    block = mmap.mmap(-1, 4096)
    block[:] = b"D" * 4096
    fd = os.open("direct", os.O_RDWR | os.O_CREAT | os.O_DIRECT)
    show("direct write", os.write, fd, block)
    show("direct read", os.preadv, fd, [block], 0)
    os.close(fd)
    show("digest", digest, "direct")


def attributes():
    write("f")
    show("chmod", os.chmod, "f", 0o4711)
    look("suid", "f")
    show("chown takes the suid bit", os.chown, "f", OTHER_USER, OTHER_USER)
    look("owned", "f")
    os.chmod("f", 0o6777)
    as_user(OTHER_USER + 1, write, "f", b"x", os.O_WRONLY)
    look("a stranger's write takes suid and sgid", "f")
    os.chmod("f", 0o6777)
    as_user(OTHER_USER + 1, os.truncate, "f", 0)
    look("a stranger's truncate too", "f")
    os.chmod("f", 0o6777)
    as_user(OTHER_USER + 1, write, "f", b"x", os.O_WRONLY | os.O_TRUNC)
    look("and at open", "f")
    show("times", os.utime, "f", ns=(1234567890123456789, 987654321987654321))
    show("times", lambda: (os.stat("f").st_atime_ns, os.stat("f").st_mtime_ns))
    os.symlink("nowhere", "l")
    show("times of a symlink", os.utime, "l", ns=(1000000001, 2000000002), follow_symlinks=False)
    show("times of a symlink", lambda: (os.lstat("l").st_mtime_ns))
    show("owner of a symlink", os.chown, "l", 7, 8, follow_symlinks=False)
    look("symlink", "l")
    os.mkdir("d", 0o700)
    show("chmod of a directory", os.chmod, "d", 0o2775)
    show("chown of a directory", os.chown, "d", OTHER_USER, OTHER_USER)
    look("directory", "d")
    show("statvfs", lambda: (os.statvfs(".").f_namemax, os.statvfs(".").f_bsize))
    fd = os.open("f", os.O_RDONLY)
    flags = bytearray(struct.pack("l", 0))
    show("flags", lambda: fcntl.ioctl(fd, GETFLAGS, flags, True))
    value = struct.unpack("l", flags)[0] & 0xffffffff
    show("set flags", lambda: bool(fcntl.ioctl(fd, SETFLAGS, struct.pack("l", value | NOATIME_FL)) is None))
    show("flags", lambda: fcntl.ioctl(fd, GETFLAGS, flags, True))
    show("flags", lambda: struct.unpack("l", flags)[0] & NOATIME_FL)
    os.close(fd)
    fd = os.open("d", os.O_RDONLY)
    show("flags of a directory", lambda: fcntl.ioctl(fd, GETFLAGS, flags, True))
    show("an ioctl of nobody", fcntl.ioctl, fd, 0x12345678)
    os.close(fd)


def extended():
    write("f")
    show("get none", os.getxattr, "f", "user.a")
    show("set", os.setxattr, "f", "user.a", b"one\0two")
    show("get", os.getxattr, "f", "user.a")
    show("create again", os.setxattr, "f", "user.a", b"x", os.XATTR_CREATE)
    show("replace none", os.setxattr, "f", "user.b", b"x", os.XATTR_REPLACE)
    show("empty value", os.setxattr, "f", "user.empty", b"")
    show("empty value", os.getxattr, "f", "user.empty")
    show("list", lambda: sorted(os.listxattr("f")))
    show("remove", os.removexattr, "f", "user.a")
    show("remove again", os.removexattr, "f", "user.a")
    show("list", lambda: sorted(os.listxattr("f")))
    show("namespace nobody knows", os.setxattr, "f", "strange.a", b"x")
    show("too large", os.setxattr, "f", "user.large", b"x" * 70000)
    os.symlink("f", "l")
    show("user attribute of a symlink", os.setxattr, "l", "user.a", b"x", follow_symlinks=False)
    show("trusted attribute of a symlink", os.setxattr, "l", "trusted.a", b"t", follow_symlinks=False)
    show("trusted attribute of a symlink", os.getxattr, "l", "trusted.a", follow_symlinks=False)
    os.mkdir("d")
    show("of a directory", os.setxattr, "d", "user.a", b"d")
    show("of a directory", os.getxattr, "d", "user.a")


def acl(*entries):
    """The kernel's form of an access control list."""
    tags = {"u": 1, "user": 2, "g": 4, "group": 8, "mask": 16, "o": 32}
    result = struct.pack("<I", 2)
    for tag, who, perm in entries:
        result += struct.pack("<HHI", tags[tag], perm, 0xffffffff if who is None else who)
    return result


def try_read(path):
    show(f"{path} read by {os.getuid()}", read, path)


def identities():
    os.mkdir("open", 0o777)
    os.chmod("open", 0o1777)
    os.umask(0o022)
    as_user(OTHER_USER, make_things, "open/mine")
    for name in ("file", "dir", "fifo", "link"):
        look(name, f"open/mine/{name}")
    as_user(OTHER_USER + 1, show, "sticky", os.rmdir, "open/mine")
    as_user(OTHER_USER + 1, show, "not mine", write, "open/mine/x")
    os.mkdir("closed", 0o700)
    write("closed/secret")
    as_user(OTHER_USER, try_read, "closed/secret")
    as_user(OTHER_USER, show, "list", os.listdir, "closed")
    write("grouped", mode=0o640)
    os.chmod("grouped", 0o640)
    os.chown("grouped", 0, 4242)
    as_user(OTHER_USER, try_read, "grouped")
    as_user(OTHER_USER, try_read, "grouped", groups=[4242])
    os.mkdir("setgid")
    os.chown("setgid", 0, 4242)
    os.chmod("setgid", 0o2777)
    as_user(OTHER_USER, make_things, "setgid/mine")
    for name in (".", "file", "dir"):
        look(name, f"setgid/mine/{name}")
    os.umask(0o077)
    write("private")
    look("private", "private")
    os.umask(0)
    write("public", mode=0o666)
    look("public", "public")
    os.umask(0o022)
    as_user(OTHER_USER, show, "chmod of another's", os.chmod, "public", 0o777)
    as_user(OTHER_USER, show, "chown", os.chown, "public", OTHER_USER, -1)


def make_things(path):
    os.mkdir(path, 0o755)
    write(f"{path}/file", mode=0o666)
    os.mkdir(f"{path}/dir", 0o777)
    os.mkfifo(f"{path}/fifo", 0o666)
    os.symlink("x", f"{path}/link")


def access_lists():
    write("f", mode=0o600)
    show("set a list", os.setxattr, "f", "system.posix_acl_access",
         acl(("u", None, 6), ("user", OTHER_USER, 4), ("g", None, 0), ("mask", None, 4), ("o", None, 0)))
    look("its mode", "f")
    as_user(OTHER_USER, try_read, "f")
    as_user(OTHER_USER + 1, try_read, "f")
    show("chmod changes the mask", os.chmod, "f", 0o600)
    as_user(OTHER_USER, try_read, "f")
    os.mkdir("d")
    show("set a default list", os.setxattr, "d", "system.posix_acl_default",
         acl(("u", None, 7), ("user", OTHER_USER, 6), ("g", None, 5), ("mask", None, 7), ("o", None, 0)))
    os.umask(0o077)
    write("d/inherits", mode=0o666)
    os.umask(0o022)
    look("not the umask counts", "d/inherits")
    show("inherited", os.getxattr, "d/inherits", "system.posix_acl_access")


def main():
    os.chdir(sys.argv[1])
    os.umask(0o022)
    parts = [names, renames, contents, attributes, extended, identities, access_lists]
    if os.getuid() != 0:
        parts = [names, renames, contents]
    for part in parts:
        print(f"== {part.__name__}")
        os.mkdir(part.__name__)
        os.chdir(part.__name__)
        part()
        os.chdir("..")


main()
