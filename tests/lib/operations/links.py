"""Symbolic links, hard links, and files that are born without a name."""
import os

from operations import kernel
from operations.trial import operation, opened, read, write


@operation()
def symbolic(t):
    write("file")
    t.show("symlink", os.symlink, "file", "link")
    t.show("again", os.symlink, "x", "link")
    t.look("link", "link")
    t.show("readlink", os.readlink, "link")
    t.show("readlink of a file", os.readlink, "file")
    t.show("read through it", read, "link")
    t.show("written through it", write, "link", b"by link")
    t.show("not followed", opened, "link", os.O_RDONLY | os.O_NOFOLLOW)
    t.show("empty target", os.symlink, "", "empty")
    for length in (59, 60, 1000, 4095):  # ext4 keeps up to 59 bytes in the inode
        t.show(f"target of {length}", os.symlink, "t" * length, f"l{length}")
        t.show(f"target of {length}", lambda: len(os.readlink(f"l{length}")))
        t.look(f"target of {length}", f"l{length}")
    t.show("target of 4096", os.symlink, "t" * 4096, "l4096")
    t.show("any bytes", os.symlink, b"\xff\n\x01", b"bytes")
    t.show("any bytes", os.readlink, b"bytes")
    t.show("absolute", lambda: (os.symlink(os.path.abspath("file"), "absolute"), read("absolute"))[1])
    os.unlink("absolute")


@operation()
def hard(t):
    write("a", b"shared")
    t.show("link", os.link, "a", "b")
    t.look("both have two", "a")
    t.look("both have two", "b")
    t.show("one inode", lambda: os.stat("a").st_ino == os.stat("b").st_ino)
    t.show("written by the other name", write, "b", b"changed content")
    t.look("size by this one", "a")
    os.mkdir("dir")
    os.link("a", "dir/c")
    t.look("three", "b")
    os.chmod("dir/c", 0o600)
    t.look("mode of the sibling", "a")
    os.utime("b", ns=(5 * 10**9, 7 * 10**9))
    t.show("times of the sibling", lambda: os.stat("a").st_mtime_ns)
    os.setxattr("a", "user.x", b"1")
    t.show("attribute by the sibling", os.getxattr, "dir/c", "user.x")
    os.unlink("a")
    t.look("two again", "b")
    t.look("two again", "dir/c")
    os.rename("dir/c", "a")
    t.look("moved", "b")
    write("other")
    os.rename("other", "a")
    t.look("one when the sibling was renamed over", "b")
    t.show("again over", os.link, "a", "b")
    t.show("of a directory", os.link, "dir", "dir2")
    t.show("of nothing", os.link, "none", "x")
    os.symlink("b", "l")
    t.show("of a symbolic link", os.link, "l", "l2", follow_symlinks=False)
    t.look("of a symbolic link", "l2")
    t.show("of what it points to", os.link, "l", "l3", follow_symlinks=True)
    t.look("of what it points to", "l3")


@operation()
def links_while_open(t):
    """Counts and times of a file are those of all its names, at once."""
    fd = opened("a")
    os.link("a", "b")
    t.show("after link", lambda: os.fstat(fd).st_nlink)
    before = os.fstat(fd).st_ctime_ns
    for i in range(50):
        os.link("a", f"l{i}")
    t.show("after fifty", lambda: (os.stat("b").st_nlink, os.fstat(fd).st_nlink))
    t.show("changed", lambda: os.stat("b").st_ctime_ns > before)
    for i in range(50):
        os.unlink(f"l{i}")
    t.show("after all went", lambda: (os.stat("b").st_nlink, os.fstat(fd).st_nlink))
    os.unlink("a")
    t.show("after one went", lambda: os.fstat(fd).st_nlink)
    os.unlink("b")
    t.show("after the last went", lambda: os.fstat(fd).st_nlink)


@operation()
def nameless(t):
    fd = opened(".", os.O_TMPFILE | os.O_RDWR, 0o640)
    os.write(fd, b"born nameless")
    t.show("stat", lambda: (os.fstat(fd).st_nlink, oct(os.fstat(fd).st_mode), os.fstat(fd).st_size))
    t.show("list", os.listdir, ".")
    os.fchmod(fd, 0o600)
    os.setxattr(fd, "user.x", b"y")
    t.show("link", kernel.link_descriptor, fd, "named")
    t.show("link again", kernel.link_descriptor, fd, "named too")
    t.show("links", lambda: os.fstat(fd).st_nlink)
    t.show("over what is there", kernel.link_descriptor, fd, "named")
    os.write(fd, b", named since")
    os.close(fd)
    t.show("named", read, "named")
    fd = opened(".", os.O_TMPFILE | os.O_RDWR | os.O_EXCL, 0o640)
    t.show("link of an exclusive one", kernel.link_descriptor, fd, "never")
    os.close(fd)
    t.show("read-only", opened, ".", os.O_TMPFILE | os.O_RDONLY)
    t.show("in a file", opened, "named", os.O_TMPFILE | os.O_RDWR)
    fd = opened(".", os.O_TMPFILE | os.O_WRONLY, 0o666)
    t.show("umask", lambda: oct(os.fstat(fd).st_mode))
    t.show("by an empty path", kernel.link_empty, fd, "empty path")
