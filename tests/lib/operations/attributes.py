"""Mode, owner, times, and what statx(2) says."""
import fcntl
import mmap
import os
import struct
import time

from operations import kernel
from operations.trial import STRANGER, USER, GROUP, describe, name_of, operation, opened, read, tick, write


@operation()
def modes(t):
    write("f")
    os.mkdir("d")
    for mode in (0, 0o7777, 0o644, 0o4755, 0o2755, 0o1777, 0o2644):
        t.show(f"chmod {mode:o}", os.chmod, "f", mode)
        t.look(f"chmod {mode:o}", "f")
        t.show(f"directory {mode:o}", os.chmod, "d", mode)
        t.look(f"directory {mode:o}", "d")
    os.chmod("d", 0o755)
    fd = opened("f", os.O_RDONLY) if os.geteuid() == 0 else None
    os.symlink("f", "l")
    t.show("of a symbolic link", lambda: kernel.syscall(452, kernel.AT_FDCWD, b"l", 0o600, kernel.AT_SYMLINK_NOFOLLOW))
    t.look("of a symbolic link", "l")
    t.show("through it", os.chmod, "l", 0o640)
    t.look("through it", "f")
    if fd is not None:
        t.show("by descriptor", os.fchmod, fd, 0o604)


UNASKED = "when nothing is to be set the kernel's FUSE asks for nothing"


@operation(users=("root",), differs={"suid by nothing": ("106755 54321:4242 links=1 size=8", UNASKED)})
def owners(t):
    write("f")
    os.chmod("f", 0o6755)
    t.show("chown takes the suid bit", os.chown, "f", USER, GROUP)
    t.look("owned", "f")
    os.chmod("f", 0o2644)
    t.show("chown leaves a lock bit", os.chown, "f", -1, USER)
    t.look("sgid without x", "f")
    os.mkdir("d", 0o755)
    os.chmod("d", 0o6755)
    t.show("chown of a directory", os.chown, "d", USER, USER)
    t.look("chown of a directory", "d")
    os.symlink("nowhere", "l")
    t.show("of a symbolic link", os.chown, "l", 7, 8, follow_symlinks=False)
    t.look("of a symbolic link", "l")
    t.show("nothing", os.chown, "f", -1, -1)
    t.as_user(USER, owners_by_the_owner, groups=[GROUP])


def owners_by_the_owner(t):
    t.show("to another", os.chown, "f", STRANGER, -1)
    t.show("to a group of one's own", os.chown, "f", -1, GROUP)
    t.show("to a strange group", os.chown, "f", -1, STRANGER)
    os.chmod("f", 0o6755)
    t.show("suid", os.chown, "f", -1, GROUP)
    t.look("suid", "f")
    os.chmod("f", 0o6755)
    os.chown("f", -1, -1)
    t.note("suid by nothing", describe(os.stat("f")))
    os.chmod("f", 0o755)


@operation()
def times(t):
    write("f")
    t.show("set", os.utime, "f", ns=(1234567890123456789, 987654321987654321))
    t.show("set", lambda: (os.stat("f").st_atime_ns, os.stat("f").st_mtime_ns))
    t.show("before 1970", os.utime, "f", ns=(-10**9, -5 * 10**9))
    t.show("before 1970", lambda: (os.stat("f").st_atime_ns, os.stat("f").st_mtime_ns))
    t.show("after 2038", os.utime, "f", ns=(5 * 10**18, 8 * 10**18))
    t.show("after 2038", lambda: (os.stat("f").st_atime_ns, os.stat("f").st_mtime_ns))
    omit, now = (1 << 30) - 2, (1 << 30) - 1
    for label, pair in (("both omitted", ((0, omit), (0, omit))), ("access alone", ((77, 5), (0, omit))),
                        ("modification alone", ((0, omit), (88, 6))), ("access now", ((0, now), (99, 7)))):
        t.show(label, lambda: kernel.call(kernel.libc.utimensat, kernel.AT_FDCWD, b"f",
                                          struct.pack("qqqq", *pair[0], *pair[1]), 0))
        t.show(label, lambda: tuple(x if x < 10**11 else "later" for x in (os.stat("f").st_atime_ns, os.stat("f").st_mtime_ns)))
    before = time.time_ns() - 10**9
    t.show("now", lambda: (os.utime("f"), os.stat("f").st_mtime_ns > before)[1])
    os.symlink("nowhere", "l")
    t.show("of a symbolic link", os.utime, "l", ns=(1000000001, 2000000002), follow_symlinks=False)
    t.show("of a symbolic link", lambda: os.lstat("l").st_mtime_ns)
    os.mkdir("d")
    t.show("of a directory", lambda: (os.utime("d", ns=(5, 6)), os.stat("d").st_mtime_ns))
    t.show("of nanoseconds that are none", lambda: kernel.call(
        kernel.libc.utimensat, kernel.AT_FDCWD, b"f", struct.pack("qqqq", 0, 10**9, 0, 0), 0))


@operation(users=("root",))
def times_of_others(t):
    write("f", mode=0o666)
    os.chmod("f", 0o666)
    t.as_user(USER, stranger_times)


def stranger_times(t):
    t.show("now, where one may write", os.utime, "f")
    t.show("other times", os.utime, "f", ns=(1, 2))


@operation(differs={"chown of nothing": ([[False, False, False]], UNASKED)})
def times_that_move(t):
    """Which of the times of a file and its directory each operation moves."""
    os.mkdir("d")
    write("d/f", b"content")

    def moved(label, function, *paths, was=None):
        """Of the paths, of which the first was called otherwise before."""
        earlier = [was, *paths[1:]] if was else paths
        for path in earlier:
            os.utime(path, ns=(10**18, 10**18), follow_symlinks=False)
        before = [os.lstat(path) for path in earlier]
        tick()
        function()
        after = [os.lstat(path) for path in paths]
        t.note(label, [[x.st_atime_ns != y.st_atime_ns, x.st_mtime_ns != y.st_mtime_ns,
                        x.st_ctime_ns != y.st_ctime_ns] for x, y in zip(before, after)])

    fd = opened("d/f")
    moved("write", lambda: os.pwrite(fd, b"x", 0), "d/f", "d")
    moved("write of nothing", lambda: os.pwrite(fd, b"", 0), "d/f")
    moved("truncate", lambda: os.ftruncate(fd, 3), "d/f")
    moved("truncate to the same", lambda: os.ftruncate(fd, 3), "d/f")
    moved("allocate", lambda: kernel.fallocate(fd, 0, 0, 100), "d/f")
    moved("chmod", lambda: os.chmod("d/f", 0o600), "d/f", "d")
    moved("chown", lambda: os.chown("d/f", os.getuid(), -1), "d/f")
    moved("chown of nothing", lambda: os.chown("d/f", -1, -1), "d/f")
    moved("attribute", lambda: os.setxattr("d/f", "user.x", b"1"), "d/f")
    moved("create", lambda: write("d/new"), "d")
    moved("open of what is there", lambda: write("d/new", b"", os.O_WRONLY | os.O_CREAT), "d", "d/new")
    moved("open and truncate", lambda: write("d/new", b""), "d", "d/new")
    moved("link", lambda: os.link("d/f", "d/l"), "d/f", "d")
    moved("unlink", lambda: os.unlink("d/l"), "d/f", "d")
    moved("rename", lambda: os.rename("d/f", "d/g"), "d/g", "d", was="d/f")
    moved("mkdir", lambda: os.mkdir("d/sub"), "d")
    moved("rename across", lambda: os.rename("d/g", "d/sub/g"), "d/sub/g", "d", "d/sub", was="d/g")
    moved("rmdir", lambda: (os.unlink("d/sub/g"), os.rmdir("d/sub")), "d")
    moved("symlink", lambda: os.symlink("x", "d/s"), "d")
    moved("stat", lambda: os.stat("d/new"), "d/new", "d")
    os.close(fd)


WARM = "reads answered from the kernel's cache are heard of by nobody"


@operation(differs_off={"read of what was just read": ([False, False], WARM)})
def access_times(t):
    """As relatime has it: a read counts when the file was modified since the last."""
    write("f", b"content" * 1000)

    def accessed(label, function):
        before = os.stat("f").st_atime_ns
        tick()
        function()
        after = os.stat("f").st_atime_ns
        t.note(label, [after != before, after > os.stat("f").st_mtime_ns])

    os.utime("f", ns=(10**18, 10**18))
    accessed("first read", lambda: read("f"))
    accessed("second read", lambda: read("f"))
    fd = opened("f")
    os.pread(fd, 100, 0)
    os.utime("f", ns=(10**18, os.stat("f").st_mtime_ns))
    accessed("read of what was just read", lambda: os.pread(fd, 100, 0))
    os.close(fd)
    os.utime("f", ns=(10**18, 10**18))
    accessed("read after a change of times", lambda: read("f"))
    os.mkdir("d")
    os.symlink("d", "l")
    for path, look in (("d", lambda: os.listdir("d")), ("l", lambda: os.readlink("l"))):
        os.utime(path, ns=(10**18, 10**18), follow_symlinks=False)
        look()
        t.note(f"access of {path}", os.lstat(path).st_atime_ns > 10**18)


FLAGS = "the kernel's FUSE drops the attribute flags of a statx reply"


@operation(differs={"flags": (0, FLAGS)}, users=("root",))
def flags_in_stat(t):
    write("f")
    fd = opened("f", os.O_RDONLY)
    fcntl.ioctl(fd, 0x40086602, struct.pack("l", 0x80000 | 0x40))  # no dump
    t.note("flags", kernel.statx("f")["attributes"] & 0x40)


OLD = "libfuse has the operation since 3.18"
UNBORN = {f"{path}: {what}": (value, OLD) for path in "fdl" for what, value in (
    ("what is known", "0x17ff"), ("birth", [False, True]))}


@operation(differs={} if os.environ.get("WITH_STATX", "yes") == "yes" else UNBORN)
def extended_stat(t):
    before = time.time_ns() - 10**9
    write("f", b"content")
    os.mkdir("d")
    os.symlink("f", "l")
    for path in "fdl":
        x, st = kernel.statx(path), os.lstat(path)
        t.note(f"{path}: what is known", hex(x["mask"]))
        t.note(f"{path}: as stat says", [x["ino"] == st.st_ino, x["nlink"] == st.st_nlink, x["mode"] == st.st_mode,
               x["size"] == st.st_size, x["blocks"] == st.st_blocks, x["uid"] == st.st_uid,
               os.makedev(x["dev_major"], x["dev_minor"]) == st.st_dev, x["blksize"] == st.st_blksize])
        birth = x["btime"] * 10**9 + x["btime_ns"]
        t.note(f"{path}: birth", [before < birth, birth <= st.st_ctime_ns])
    birth = kernel.statx("f")["btime"], kernel.statx("f")["btime_ns"]
    os.utime("f", ns=(1, 2))
    os.rename("f", "g")
    write("g", b"again")
    x = kernel.statx("g")
    t.note("birth stays", birth == (x["btime"], x["btime_ns"]))
    fd = opened("g")
    x = kernel.statx("", flags=kernel.AT_EMPTY_PATH, dirfd=fd)
    t.note("by descriptor", [birth == (x["btime"], x["btime_ns"]), x["size"]])
    x = kernel.statx("g", kernel.STATX_BASIC | kernel.STATX_MNT_ID)
    t.note("mount", x["mnt_id"] == mount_id_of(fd))
    for sync in (0x2000, 0x4000):
        t.note("synchronised and not", kernel.statx("g", flags=sync)["size"])
    t.show("of nothing", kernel.statx, "none")
    os.write(fd, b"longer than before")
    t.note("of a file just written", kernel.statx("g", kernel.STATX_BTIME | kernel.STATX_BASIC)["size"])


def mount_id_of(fd):
    with open(f"/proc/self/fdinfo/{fd}") as info:
        return next(int(line.split()[1]) for line in info if line.startswith("mnt_id"))


@operation()
def file_system(t):
    st = os.statvfs(".")
    t.note("names", st.f_namemax)
    t.note("blocks", (st.f_bsize, st.f_frsize, st.f_blocks))
    t.show("of a descriptor", lambda: os.fstatvfs(opened("f")).f_bsize)


STORE = "without passthrough a page stored to comes back as a write"
DAEMON = "the backing tree asks who the daemon is, not who writes"


def mode_of(path):
    """Asked for alone first, as execve(2) does: with more, the kernel may have another answer."""
    alone, mode = kernel.statx(path, kernel.STATX_MODE)["mode"], os.stat(path).st_mode
    return f"{mode:o}" if alone == mode else f"{alone:o}, then {mode:o}"


@operation(users=("root",), differs={"write by root": ("100777", DAEMON), "truncation by root": ("100777", DAEMON)})
def suid_kept_by_root(t):
    write("f", mode=0o777)
    for label, function in (("write by root", lambda: write("f", b"x", os.O_WRONLY)),
                            ("truncation by root", lambda: os.truncate("f", 1))):
        os.chmod("f", 0o6777)
        function()
        t.note(label, mode_of("f"))
        os.chmod("f", 0o777)


@operation(users=("user",), differs_root={"sgid without x": ("100666", DAEMON)},
           differs_off={"store in a mapping": ("100777", STORE)})
def suid_cleared(t):
    write("f", b"x" * 10000, mode=0o777)
    for label, function in clearing() + [("sgid without x", lambda: write("f", b"y", os.O_WRONLY))]:
        os.chmod("f", 0o2666 if label == "sgid without x" else 0o6777)
        function()
        t.note(label, mode_of("f"))
    os.chmod("f", 0o777)


@operation(users=("root",), differs={"2666 in the group": ("100666", DAEMON)},
           differs_off={"store in a mapping": ("100777", STORE)})
def suid_cleared_by_strangers(t):
    write("f", b"x" * 10000, mode=0o777)
    for label, function in clearing():
        os.chmod("f", 0o6777)
        t.as_user(STRANGER, lambda part: function())
        t.note(label, mode_of("f"))
    os.chown("f", USER, GROUP)
    for mode in (0o6777, 0o2666, 0o4666):
        os.chmod("f", mode)
        t.as_user(STRANGER, lambda part: write("f", b"x", os.O_WRONLY))
        t.look(f"{mode:o}", "f")
        os.chmod("f", mode)
        t.as_user(STRANGER, lambda part: write("f", b"x", os.O_WRONLY), groups=[GROUP])
        t.note(f"{mode:o} in the group", mode_of("f"))
    os.chmod("f", 0o666)


@operation(users=("root",), differs_off={"store in a mapping": ("ENODATA", STORE)})
def capabilities_cleared(t):
    capability = struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0)
    write("f", b"x" * 100, mode=0o777)
    os.chmod("f", 0o777)
    for label, function in clearing() + [("chown", lambda: os.chown("f", 0, 0)), ("chmod", lambda: os.chmod("f", 0o755)),
                                         ("rename", lambda: (os.rename("f", "g"), os.rename("g", "f"))),
                                         ("times", lambda: os.utime("f"))]:
        os.setxattr("f", "security.capability", capability)
        function()
        t.note(label, length_of("f", "security.capability"))
    os.removexattr("f", "security.capability")


def length_of(path, name):
    try:
        return len(os.getxattr(path, name))
    except OSError as error:
        return name_of(error)


def clearing():

    def store():
        memory = mmap.mmap(opened("f", os.O_RDWR), 10)
        memory[0:1] = b"m"
        memory.flush()

    return [
        ("write", lambda: write("f", b"y", os.O_WRONLY)),
        ("append", lambda: write("f", b"y", os.O_WRONLY | os.O_APPEND)),
        ("truncate", lambda: os.truncate("f", 9000)),
        ("truncate a descriptor", lambda: os.ftruncate(opened("f", os.O_RDWR), 8000)),
        ("truncate at open", lambda: write("f", b"", os.O_WRONLY | os.O_TRUNC)),
        ("grow", lambda: os.truncate("f", 10000)),
        ("allocate", lambda: kernel.fallocate(opened("f", os.O_RDWR), 0, 0, 20000)),
        ("punch", lambda: kernel.fallocate(opened("f", os.O_RDWR), 3, 0, 4096)),
        ("copy_file_range", lambda: os.copy_file_range(opened("f", os.O_RDONLY), opened("f", os.O_RDWR), 10, 0, 100)),
        ("store in a mapping", store),
        ("read", lambda: read("f")),
    ]
