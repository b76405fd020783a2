"""Whose a new file is, who may do what, access control lists."""
import os
import stat
import struct

from operations import kernel
from operations.trial import GROUP, STRANGER, USER, operation, opened, read, write


def make_things(t, path):
    t.show("mkdir", os.mkdir, path, 0o755)
    if not os.path.isdir(path):
        return
    write(f"{path}/file", mode=0o666)
    os.mkdir(f"{path}/dir", 0o777)
    os.mkfifo(f"{path}/fifo", 0o666)
    os.symlink("x", f"{path}/link")
    os.close(opened(f"{path}/exact", mode=0o7777))
    fd = opened(path, os.O_TMPFILE | os.O_RDWR, 0o666)
    kernel.link_descriptor(fd, f"{path}/nameless")
    for name in ("file", "dir", "fifo", "link", "exact", "nameless"):
        t.look(name, f"{path}/{name}")


@operation()
def made_by_oneself(t):
    for mask in (0o022, 0o077, 0, 0o777):
        os.umask(mask)
        os.mkdir(f"under-{mask:o}", 0o777)
        os.chmod(f"under-{mask:o}", 0o777)
        if mask != 0o777:
            make_things(t, f"under-{mask:o}/mine")
        t.show("file", write, f"file-{mask:o}", b"", mode=0o666)
        t.look(f"file-{mask:o}", f"file-{mask:o}")
    os.umask(0o022)


@operation(users=("root",))
def made_by_others(t):
    os.mkdir("open")
    os.chmod("open", 0o1777)
    t.as_user(USER, make_things, "open/mine")
    t.as_user(STRANGER, make_things, "open/theirs", groups=[GROUP])
    t.as_user(STRANGER, lambda part: part.show("sticky: rmdir", os.rmdir, "open/mine"))
    t.as_user(STRANGER, lambda part: part.show("sticky: rename", os.rename, "open/mine", "open/x"))
    t.as_user(STRANGER, lambda part: part.show("sticky: rename over", os.rename, "open/theirs", "open/mine"))
    t.as_user(STRANGER, lambda part: part.show("not mine", write, "open/mine/x"))


@operation(users=("root",))
def setgid_directories(t):
    for mode, owner in ((0o2777, GROUP), (0o2775, GROUP), (0o3777, STRANGER)):
        path = f"setgid-{mode:o}-{owner}"
        os.mkdir(path)
        os.chown(path, 0, owner)
        os.chmod(path, mode)
        make_things(t, f"{path}/by-root")
        t.as_user(USER, make_things, f"{path}/outside")
        t.as_user(USER, make_things, f"{path}/inside", groups=[GROUP])
    write("f")
    os.chown("f", USER, GROUP)
    t.as_user(USER, lambda part: part.show("chmod g+s outside of the group", os.chmod, "f", 0o2755))
    t.look("chmod g+s outside of the group", "f")
    t.as_user(USER, lambda part: part.show("chmod g+s in the group", os.chmod, "f", 0o2755), groups=[GROUP])
    t.look("chmod g+s in the group", "f")


def rights(t, path):
    for name, mode in (("r", os.R_OK), ("w", os.W_OK), ("x", os.X_OK)):
        t.show(f"access {name}", os.access, path, mode, effective_ids=True)
    t.show("read", read, path)
    t.show("write", write, path, b"w", os.O_WRONLY)
    t.show("append", write, path, b"", os.O_WRONLY | os.O_APPEND)
    t.show("truncate", os.truncate, path, 1)
    t.show("times", os.utime, path)
    t.show("exact times", os.utime, path, (1, 1))
    t.show("chmod", os.chmod, path, 0o700)
    t.show("chown", os.chown, path, os.getuid(), -1)
    t.show("attribute", os.getxattr, path, "user.x")
    t.show("set attribute", os.setxattr, path, "user.x", b"1")
    t.show("trusted attribute", os.setxattr, path, "trusted.x", b"1")
    t.show("link", lambda: (os.link(path, path + "2"), os.unlink(path + "2")))


@operation(users=("root",))
def refused(t):
    os.mkdir("d")
    os.chmod("d", 0o777)
    for mode in (0o600, 0o640, 0o644, 0o666, 0o060, 0o006, 0o000, 0o755):
        for groups in ((), (GROUP,)):
            write("d/f", b"content")
            os.chown("d/f", STRANGER, GROUP)
            os.chmod("d/f", mode)
            t.as_user(USER, rights, "d/f", groups=groups)
            t.look("then", "d/f")
            os.unlink("d/f")
    os.mkdir("closed", 0o700)
    write("closed/secret")
    for name, function in (("read", read), ("stat", os.stat), ("list", lambda p: os.listdir("closed")),
                           ("create", lambda p: write("closed/new")), ("unlink", os.unlink)):
        t.as_user(USER, lambda part: part.show(name, function, "closed/secret"))
    os.chmod("closed", 0o711)
    t.as_user(USER, lambda part: part.show("known by name", read, "closed/secret"))
    t.as_user(USER, lambda part: part.show("listed", os.listdir, "closed"))
    os.chmod("closed", 0o744)
    t.as_user(USER, lambda part: part.show("listed but not looked at", lambda: (os.listdir("closed"), os.path.exists("closed/secret"))))


def acl(*entries):
    """The kernel's form of an access control list."""
    tags = {"u": 1, "user": 2, "g": 4, "group": 8, "mask": 16, "o": 32}
    result = struct.pack("<I", 2)
    for tag, who, perm in entries:
        result += struct.pack("<HHI", tags[tag], perm, 0xffffffff if who is None else who)
    return result


ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"


@operation(users=("root",))
def access_lists(t):
    write("f", mode=0o600)
    t.show("none", os.getxattr, "f", ACCESS)
    t.show("set", os.setxattr, "f", ACCESS,
           acl(("u", None, 6), ("user", USER, 4), ("g", None, 0), ("group", GROUP, 6), ("mask", None, 4), ("o", None, 0)))
    t.look("its mode", "f")
    t.show("as it was set", os.getxattr, "f", ACCESS)
    t.show("listed", os.listxattr, "f")
    for groups in ((), (GROUP,)):
        t.as_user(USER, rights, "f", groups=groups)
        t.as_user(STRANGER, rights, "f", groups=groups)
    t.show("chmod changes the mask", os.chmod, "f", 0o660)
    t.as_user(STRANGER, rights, "f", groups=(GROUP,))
    t.show("the list then", os.getxattr, "f", ACCESS)
    t.show("broken", os.setxattr, "f", ACCESS, b"\2\0\0\0\1\0")
    t.show("without a mask", os.setxattr, "f", ACCESS, acl(("u", None, 6), ("user", USER, 4), ("g", None, 0), ("o", None, 0)))
    t.show("as default of a file", os.setxattr, "f", DEFAULT, acl(("u", None, 7), ("g", None, 5), ("o", None, 0)))
    t.show("remove", os.removexattr, "f", ACCESS)
    t.as_user(USER, rights, "f")
    t.show("that says no more than the mode", os.setxattr, "f", ACCESS, acl(("u", None, 6), ("g", None, 4), ("o", None, 4)))
    t.show("is none", os.getxattr, "f", ACCESS)
    t.look("but the mode", "f")


@operation(users=("root",))
def inherited_lists(t):
    os.mkdir("d")
    os.chmod("d", 0o777)
    t.show("default", os.setxattr, "d", DEFAULT,
           acl(("u", None, 7), ("user", USER, 6), ("g", None, 5), ("mask", None, 7), ("o", None, 0)))
    os.umask(0o077)
    write("d/file", mode=0o666)
    os.mkdir("d/sub", 0o777)
    os.mkfifo("d/fifo", 0o640)
    os.symlink("x", "d/link")
    t.as_user(STRANGER, lambda part: write("d/theirs", mode=0o666))
    os.umask(0o022)
    for name in ("file", "sub", "fifo", "link", "theirs"):
        t.look(name, f"d/{name}")
        t.show(name, os.getxattr, f"d/{name}", ACCESS, follow_symlinks=False)
        t.show(name, os.getxattr, f"d/{name}", DEFAULT, follow_symlinks=False)
    t.as_user(USER, rights, "d/file")


@operation(users=("root",))
def sgid_and_lists(t):
    for groups in ((), (GROUP,)):
        write("f")
        os.chown("f", USER, GROUP)
        os.chmod("f", 0o2755)
        t.as_user(USER, lambda part: part.show("set", os.setxattr, "f", ACCESS, acl(
            ("u", None, 7), ("user", STRANGER, 4), ("g", None, 5), ("mask", None, 5), ("o", None, 5))), groups=groups)
        t.look("sgid", "f")
        os.unlink("f")
