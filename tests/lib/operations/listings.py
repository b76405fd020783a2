"""readdir(3), its offsets, and directories that change while they are read."""
import os
import shutil

from operations.kernel import Directory
from operations.trial import child, operation, read, write

N = 1200  # several replies of the kernel's largest size


def fill(n, path="many"):
    os.mkdir(path)
    for i in range(n):
        os.mknod(f"{path}/{i}")


def names_of(directory):
    result = []
    while (name := directory.next()) is not None:
        result.append(name)
    return result


@operation()
def types(t):
    write("file")
    os.mkdir("dir")
    os.symlink("x", "link")
    os.mkfifo("fifo")
    t.show("types", lambda: sorted((e.name, e.is_file(follow_symlinks=False), e.is_dir(follow_symlinks=False),
                                    e.is_symlink()) for e in os.scandir(".")))
    t.show("numbers", lambda: all(e.inode() == os.lstat(e.name).st_ino for e in os.scandir(".")))
    t.show("dots", lambda: sorted(names_of(Directory("."))))
    t.show("of a file", Directory, "file")
    t.show("empty", lambda: sorted(names_of(Directory("dir"))))


@operation(users=("user",))
def many(t):
    fill(N)
    t.show("all", lambda: sorted(map(int, os.listdir("many"))) == list(range(N)))
    t.show("types", lambda: all(e.is_file(follow_symlinks=False) for e in os.scandir("many")))
    fd = os.open("many", os.O_RDONLY)
    first = os.listdir(fd)
    t.show("twice by one descriptor", lambda: os.listdir(fd) == first)
    t.show("all looked at while listed", lambda: sum(os.lstat(e.path).st_nlink for e in os.scandir("many")))


@operation(users=("user",))
def offsets(t):
    fill(N)
    directory = Directory("many")
    places = []
    while (name := directory.next()) is not None:
        places.append((name, directory.tell()))
    t.note("all", len(places))
    wrong = []
    for name, after in places[::97]:
        directory.seek(after)
        at = [n for n, _ in places].index(name)
        expected = places[at + 1][0] if at + 1 < len(places) else None
        if directory.next() != expected:
            wrong.append(name)
    t.note("wrong after seekdir", wrong)
    directory.rewind()
    t.note("rewound", names_of(directory) == [n for n, _ in places])
    write("many/new")
    directory.rewind()
    t.note("what is new is there when rewound", b"new" in names_of(directory))
    os.unlink("many/new")
    directory.rewind()
    t.note("and what went is not", b"new" in names_of(directory))


@operation(users=("user",))
def offsets_while_names_go(t):
    """An offset stays good when the name before it and after it are removed."""
    fill(N)
    directory = Directory("many")
    before = [directory.next() for _ in range(N // 2)]
    place = directory.tell()
    rest = names_of(directory)
    for name in before[2:] + rest[::2]:
        if name not in (b".", b".."):
            os.unlink(b"many/" + name)
    directory.seek(place)
    left = names_of(directory)
    stay = [name for name in rest[1::2] if name not in (b".", b"..")]
    t.note("all that stayed", set(stay) <= set(left))
    t.note("none twice", len(left) == len(set(left)))
    t.note("none from before", set(left) & set(before) - {b".", b".."})


@operation(users=("user",))
def deleted_while_listed(t):
    fill(N)
    seen = 0
    for entry in os.scandir("many"):
        os.unlink(entry.path)
        seen += 1
    t.note("seen", seen)
    t.show("left", os.listdir, "many")
    t.show("rmdir", os.rmdir, "many")


@operation()
def removed_while_open(t):
    os.mkdir("gone")
    directory, fd = Directory("gone"), os.open("gone", os.O_RDONLY)
    os.rmdir("gone")
    t.show("list", lambda: sorted(names_of(directory)))
    t.show("list", os.listdir, fd)
    t.show("stat", lambda: os.fstat(fd).st_nlink)
    t.show("chmod", os.fchmod, fd, 0o700)
    t.show("times", os.utime, fd, (1, 2))
    t.show("stat", lambda: (oct(os.fstat(fd).st_mode), os.fstat(fd).st_mtime))
    t.show("sync", os.fsync, fd)
    t.show("create", lambda: os.open("x", os.O_CREAT | os.O_RDWR, dir_fd=fd))
    t.show("mkdir", lambda: os.mkdir("x", dir_fd=fd))
    t.show("look", lambda: os.stat("x", dir_fd=fd))
    t.show("attribute", os.setxattr, fd, "user.x", b"1")


@operation()
def working_directory_removed(t):
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir("../gone")
    t.show("getcwd", os.getcwd)
    t.show("stat", lambda: os.stat(".").st_nlink)
    t.show("list", os.listdir, ".")
    t.show("create", write, "x")
    t.show("open", lambda: os.close(os.open(".", os.O_RDONLY)))
    t.show("up", lambda: os.path.exists(".."))
    t.show("chmod", os.chmod, ".", 0o700)
    t.show("made again", os.mkdir, "../gone")
    t.show("is another", lambda: os.stat(".").st_nlink)
    t.show("back", os.chdir, "..")


@operation()
def renamed_below_the_feet(t):
    os.makedirs("a/b/c")
    os.chdir("a/b/c")
    os.rename("../../../a", "../../../z")
    t.show("getcwd", lambda: os.getcwd().endswith("/z/b/c"))
    t.show("create", write, "x")
    t.show("read by the new path", read, "../../../z/b/c/x")


@operation(users=("root",))
def changed_by_others_meanwhile(t):
    """10,000 names, of which others come and go: what stays is seen exactly once by every listing."""
    n, n_listings, n_extra = 10000, 4, 600
    fill(n, "crowd")
    stay = {str(i) for i in range(n)}

    def come_and_go(worker):
        for i in range(n_extra):
            os.mknod(f"crowd/extra-{worker}-{i}")
            if i >= 50:
                os.unlink(f"crowd/extra-{worker}-{i - 50}")

    children = [child(lambda: come_and_go(worker)) for worker in range(2)]
    missed = doubled = 0
    for i in range(n_listings):
        names = [e.name for e in os.scandir("crowd")] if i % 2 else os.listdir("crowd")
        missed += len(stay - set(names))
        doubled += len(names) - len(set(names))
    t.note("missed", missed)
    t.note("doubled", doubled)
    t.show("all ended well", lambda: [os.waitpid(pid, 0)[1] for pid in children])
    t.note("left", len(os.listdir("crowd")))
    shutil.rmtree("crowd")  # 10,000 names need no look each
