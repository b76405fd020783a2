"""Creating and removing names; what a name may be."""
import os

from operations.trial import operation, opened, read, write


@operation()
def create(t):
    t.show("create", write, "file")
    t.show("exclusively", opened, "new", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    t.show("exclusively what is there", opened, "file", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    os.symlink("nowhere", "dangling")
    t.show("exclusively a dangling link", opened, "dangling", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    t.show("through a dangling link", write, "dangling")
    t.look("made where it pointed", "nowhere")
    t.show("below a file", write, "file/x")
    t.show("below nothing", write, "none/x")
    t.show("of mode 0", write, "none-may", b"x", os.O_CREAT | os.O_WRONLY, 0)
    t.look("of mode 0", "none-may")
    t.show("a directory's name", opened, ".", os.O_CREAT | os.O_RDWR)
    t.show("with a slash behind", opened, "slash/", os.O_CREAT | os.O_RDWR)


@operation()
def directories(t):
    t.show("mkdir", os.mkdir, "dir", 0o750)
    t.show("again", os.mkdir, "dir")
    t.show("with a slash behind", os.mkdir, "slash/")
    t.show("below nothing", os.mkdir, "none/x")
    os.mkdir("dir/sub")
    t.look("links", "dir")
    t.show("rmdir of a full one", os.rmdir, "dir")
    os.rmdir("dir/sub")
    t.look("links", "dir")
    t.show("rmdir .", os.rmdir, "dir/.")
    t.show("rmdir ..", os.rmdir, "dir/..")
    t.show("rmdir", os.rmdir, "dir")
    t.show("rmdir of nothing", os.rmdir, "dir")
    write("file")
    t.show("rmdir of a file", os.rmdir, "file")
    t.show("sticky mode", os.mkdir, "sticky", 0o1777)
    t.look("sticky mode", "sticky")


@operation()
def unlinking(t):
    write("file")
    os.mkdir("dir")
    t.show("unlink", os.unlink, "file")
    t.show("again", os.unlink, "file")
    t.show("of a directory", os.unlink, "dir")
    t.show("with a slash behind", os.unlink, "dir/")
    t.show("of a dangling link", lambda: (os.symlink("x", "l"), os.unlink("l")))


@operation()
def lookups(t):
    write("file")
    os.symlink("loop", "loop")
    os.symlink("file/", "slashed")
    t.show("nothing", os.stat, "none")
    t.show("below a file", os.stat, "file/x")
    t.show("a file with a slash", os.stat, "file/")
    t.show("a loop", os.stat, "loop")
    t.show("a link with a slash", os.stat, "slashed")
    t.show("empty", os.stat, "")
    t.show("made after it was missed", lambda: (os.path.exists("later"), write("later"), os.path.exists("later")))
    t.show("gone after it was found", lambda: (os.unlink("later"), os.path.exists("later")))
    t.show("dot dot", lambda: os.path.samefile("..", os.path.dirname(os.getcwd())))


@operation()
def lengths(t):
    for length in (254, 255, 256):
        t.show(f"file {length}", write, "n" * length)
        t.show(f"directory {length}", os.mkdir, "d" * length)
        t.show(f"link {length}", os.symlink, "x", "l" * length)
        t.show(f"look {length}", os.stat, "m" * length)
    t.show("renamed to long", os.rename, "n" * 254, "r" * 255)
    t.show("renamed to too long", os.rename, "r" * 255, "r" * 256)
    t.show("hard link too long", os.link, "r" * 255, "h" * 256)
    deep = "d" * 255
    for _ in range(20):  # longer than PATH_MAX in the end
        os.chdir(deep)
        os.mkdir(deep)
    t.show("deeper than a path", write, "file", b"deep")
    t.show("deeper than a path", read, "file")
    t.show("and listed", lambda: sorted(map(len, os.listdir("."))))
    os.chdir("/".join([".."] * 20))


@operation()
def every_byte(t):
    """But NUL and the slash a name may hold anything."""
    for byte in range(1, 256):
        if byte != ord("/"):
            write(b"x" + bytes([byte]), bytes([byte]))
    write(b"\xff\xfe invalid \xc3\x28 UTF-8")
    write(b" \n\t\\ %s %n ..")
    write("...")
    write("-rf")
    t.show("all of them", lambda: sorted(os.listdir(b".")))
    t.show("read", lambda: all(read(name) == name[1:2] for name in os.listdir(b".") if len(name) == 2 and name[0] == 120))
    t.show("renamed", os.rename, b"x\xff", b"\x01\xff\n")
    t.show("case matters", lambda: (write("case"), os.path.exists("CASE")))


@operation()
def replaced_again_and_again(t):
    """As editors save: each look must find the new file, never ESTALE."""
    for i in range(200):
        write("document.tmp", b"%d" % i)
        os.rename("document.tmp", "document")
        if read("document") != b"%d" % i or os.stat("document").st_nlink != 1:
            t.note("stale", i)
    for i in range(200):
        os.unlink("document")
        write("document", b"%d" % i)
        if read("document") != b"%d" % i:
            t.note("stale", i)
    for i in range(50):
        os.mkdir("dir")
        write(f"dir/{i}")
        if os.listdir("dir") != [str(i)]:
            t.note("stale directory", i)
        os.unlink(f"dir/{i}")
        os.rmdir("dir")
    t.show("in the end", read, "document")
