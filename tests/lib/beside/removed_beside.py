#!/usr/bin/env python3
"""removed_beside.py PLAIN MOUNT SOURCE

A process stands in a directory, and has it open, which somebody removes by another way: in PLAIN, and in
MOUNT, whose SOURCE it is removed from. What each then gets must be the same.
"""
import errno
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from operations.kernel import getdents  # noqa: E402
from operations.trial import Trial, read, write  # noqa: E402

plain, mount, source = sys.argv[1:]


def soon(function):
    for _ in range(3000):
        if function():
            return
        time.sleep(0.01)
    raise AssertionError("not seen")


def is_done(function, *args):
    try:
        function(*args)
    except OSError as error:
        if error.errno != errno.ESTALE:
            raise
        return False
    return True


def patiently(function, *args):
    """For two seconds a name may lead here that the kernel has still to be told of, or to forget."""
    results = []
    soon(lambda: is_done(lambda: results.append(function(*args))))
    return results[0]


def names(t):
    """What leads to something in it."""
    for label, function, *args in (
            ("look", os.stat, "x"), ("look below", os.stat, "x/y"), ("read", read, "x"), ("create", write, "x"),
            ("create anew", os.open, "x", os.O_CREAT | os.O_EXCL | os.O_WRONLY), ("mkdir", os.mkdir, "x"),
            ("symlink", os.symlink, "y", "x"), ("link", os.link, "../other", "x"), ("rename", os.rename, "x", "y"),
            ("rename out", os.rename, "x", "../x"), ("rename into", os.rename, "../other", "x"),
            ("unlink", os.unlink, "x"), ("rmdir", os.rmdir, "x"), ("fifo", os.mkfifo, "x"),
            ("truncate", os.truncate, "x", 3), ("look again", os.stat, "x")):
        t.show(label, function, *args)


def used(t, fd):
    t.show("stat", lambda: os.stat(".").st_nlink)
    t.show("list", os.listdir, ".")
    t.show("list what is open", os.listdir, fd)
    t.show("open", lambda: os.close(os.open(".", os.O_RDONLY)))
    t.show("stat what is open", lambda: os.fstat(fd).st_nlink)
    t.show("sync", os.fsync, fd)
    t.show("create in what is open", lambda: os.open("x", os.O_CREAT | os.O_RDWR, dir_fd=fd))
    t.show("look in what is open", lambda: os.stat("x", dir_fd=fd))
    t.show("chmod", os.chmod, ".", 0o700)
    t.show("chmod what is open", os.fchmod, fd, 0o711)
    t.show("times", os.utime, ".", (1, 2))
    t.show("stat", lambda: (oct(os.stat(".").st_mode), os.fstat(fd).st_mtime))
    t.show("access", os.access, ".", os.W_OK)
    t.show("attributes", os.listxattr, ".")


def again(t, place, beside):
    """A new one of the name is another."""
    os.mkdir(f"{beside}/gone")
    write(f"{beside}/gone/x", b"of the new one\n")
    t.show("the new one by its path", read, f"{place}/gone/x")
    t.show("not by the old", os.stat, "x")
    t.show("up", lambda: os.stat("..").st_ino == os.stat(place).st_ino)
    t.show("and down", read, "../gone/x")
    t.show("made by its path", write, f"{place}/gone/y")
    t.show("there", sorted, os.listdir(f"{beside}/gone"))


def stand(t, place, beside, has_used):
    os.mkdir(f"{beside}/gone")
    write(f"{beside}/other")
    os.chdir(f"{place}/gone")
    fd = None
    if has_used:
        os.path.exists("x")
        fd = os.open(".", os.O_RDONLY)
    os.rmdir(f"{beside}/gone")
    if not has_used:
        fd = patiently(os.open, ".", os.O_RDONLY)
    soon(lambda: all(is_done(os.fchmod, fd, 0o755) for _ in range(4)))
    soon(lambda: patiently(os.stat, ".").st_nlink == 0)
    for _ in range(3):
        names(t)
        used(t, fd)
    again(t, place, beside)


def list_half(t, place, beside):
    """The rest of a listing whose directory is removed once it began."""
    os.mkdir(f"{beside}/half")
    write(f"{beside}/half/x")
    fd = os.open(f"{place}/half", os.O_RDONLY)
    t.show("the first name", getdents, fd, 24)
    os.unlink(f"{beside}/half/x")
    os.rmdir(f"{beside}/half")
    soon(lambda: is_done(os.fstat, fd) and os.fstat(fd).st_nlink == 0)
    t.show("the rest", getdents, fd, 4096)
    t.show("the rest, by where it stands", lambda: getdents(fd, os.lseek(fd, 0, os.SEEK_CUR) and 4096))
    os.close(fd)


def steps(name, place, beside, has_used):
    place, beside = f"{place}/{name}", f"{beside}/{name}"
    os.mkdir(beside)
    t = Trial()
    list_half(t, place, beside)
    t.in_child(stand, place, beside, has_used)
    return t.steps


failed = 0
for name, has_used in (("used", True), ("unused", False)):
    wanted, got = steps(name, plain, plain, has_used), steps(name, mount, source, has_used)
    if len(wanted) != len(got) or len(wanted) < 50:
        print(f"{name}: other steps: {wanted[-1:]} {got[-1:]}")
        failed += 1
    for (label, native), (_, here) in zip(wanted, got):
        if native != here:
            print(f"{name}: {label}: {native} in a plain directory, {here} here")
            failed += 1
sys.exit(bool(failed))
