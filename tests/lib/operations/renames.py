"""rename(2) and renameat2(2)."""
import os

from operations.kernel import EXCHANGE, NOREPLACE, WHITEOUT, renameat2
from operations.trial import operation, opened, read, write


def some(t):
    for name in "abc":
        write(name, name.encode())
    os.mkdir("d")
    os.mkdir("e")
    write("e/inside")


@operation()
def rename(t):
    some(t)
    t.show("rename", os.rename, "a", "a2")
    t.show("over", os.rename, "a2", "b")
    t.show("content moved", read, "b")
    t.show("old name", os.stat, "a2")
    t.show("into a directory", os.rename, "b", "d/b")
    t.show("nothing", os.rename, "none", "x")
    t.show("file over directory", os.rename, "c", "d")
    t.show("directory over file", os.rename, "d", "c")
    t.show("directory over a full one", os.rename, "d", "e")
    t.show("into itself", os.rename, "d", "d/x")
    t.show("over its parent", os.rename, "e/inside", "e")
    os.mkdir("f")
    t.show("directory over an empty one", os.rename, "d", "f")
    t.look("links of the parent", ".")
    os.mkdir("g")
    os.rename("f", "g/f")
    t.look("links of the old parent", ".")
    t.look("links of the new parent", "g")
    t.show("dot dot moved too", lambda: os.path.samefile("g/f/..", "g"))
    os.link("c", "c2")
    t.show("of one inode to itself", os.rename, "c", "c2")
    os.symlink("nowhere", "l")
    t.show("of a symbolic link", os.rename, "l", "l2")
    t.show("to a name with a slash", os.rename, "c", "new/")
    t.show("directory to a name with a slash", os.rename, "e", "new/")


@operation()
def noreplace(t):
    some(t)
    t.show("taken", renameat2, "a", "b", NOREPLACE)
    t.show("free", renameat2, "a", "free", NOREPLACE)
    t.show("itself", renameat2, "b", "b", NOREPLACE)
    t.show("directory over an empty one", renameat2, "e", "d", NOREPLACE)
    t.show("of nothing", renameat2, "none", "x", NOREPLACE)


@operation()
def exchange(t):
    some(t)
    numbers = [os.stat(name).st_ino for name in "ab"]
    t.show("files", renameat2, "a", "b", EXCHANGE)
    t.show("inodes", lambda: [os.stat(name).st_ino for name in "ba"] == numbers)
    t.show("contents", lambda: (read("a"), read("b")))
    t.show("file and directory", renameat2, "a", "e", EXCHANGE)
    t.show("exchanged", lambda: (read("e"), os.listdir("a")))
    t.show("across directories", renameat2, "a/inside", "c", EXCHANGE)
    t.show("exchanged", lambda: (read("a/inside"), read("c")))
    os.mkdir("d/deep")
    t.show("directories across", renameat2, "d/deep", "a", EXCHANGE)
    t.look("links", "d")
    t.show("dot dot", lambda: os.path.samefile("d/deep/..", "d"))
    t.show("with nothing", renameat2, "b", "none", EXCHANGE)
    t.show("with itself", renameat2, "b", "b", EXCHANGE)
    t.show("with what is below", renameat2, "d", "d/deep", EXCHANGE)
    t.show("flags that exclude each other", renameat2, "b", "c", EXCHANGE | NOREPLACE)
    t.show("flags nobody knows", renameat2, "b", "c", 1 << 20)


@operation(users=("root",))
def whiteout(t):
    some(t)
    t.show("leaves a device", renameat2, "a", "moved", WHITEOUT)
    t.look("device", "a")
    t.show("over a file", renameat2, "b", "c", WHITEOUT)
    t.look("device", "b")
    t.show("of a directory", renameat2, "d", "d2", WHITEOUT)
    t.look("device", "d")
    t.show("and exchange", renameat2, "c", "e", WHITEOUT | EXCHANGE)
    t.show("and no replacement", renameat2, "c", "moved", WHITEOUT | NOREPLACE)


@operation(users=("user",))
def whiteout_by_a_user(t):
    some(t)
    t.show("is free since a whiteout is no device", renameat2, "a", "moved", WHITEOUT)
    t.look("device", "a")


@operation()
def over_open_files(t):
    write("old", b"old")
    write("new", b"new")
    fd = opened("old", os.O_RDWR)
    os.rename("new", "old")
    t.show("the old one reads", os.pread, fd, 10, 0)
    t.show("and is written", os.pwrite, fd, b"OLD", 0)
    t.show("and has no name", lambda: os.fstat(fd).st_nlink)
    t.show("the name is the new one", read, "old")
    directory = os.open(".", os.O_RDONLY)
    os.mkdir("a")
    os.mkdir("b")
    inside = os.open("b", os.O_RDONLY)
    os.rename("a", "b")
    t.show("an open directory renamed over", os.listdir, inside)
    t.show("and stat", lambda: os.fstat(inside).st_nlink)
    t.show("and creating in it", lambda: os.open("x", os.O_CREAT | os.O_RDWR, dir_fd=inside))
    t.show("list", lambda: sorted(os.listdir(directory)))
