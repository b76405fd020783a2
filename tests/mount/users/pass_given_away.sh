#!/usr/bin/env bash
# Who has given a file away, or had it taken, beside the mount changes nothing of it through the mount any more, though the
# kernel may take that user for its owner still; nor what the file's own flags forbid.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3 chattr
[[ $EUID = 0 ]] || skip 'only root can become another user'

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"
touch "$SCRATCH/flags"
chattr +a "$SCRATCH/flags" 2> /dev/null && chattr -a "$SCRATCH/flags" || skip 'no flags of files here'
start -o allow_other
python3 - "$SOURCE" "$MNT" << 'PYTHON'
import array, ctypes, fcntl, mmap, os, struct, subprocess, sys, time
from users import begin
source, mnt = sys.argv[1:]
A, B = 54321, 54322
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, APPEND, NODUMP = 0x80086601, 0x40086602, 0x20, 0x40


def acl(uid):
    entry = lambda tag, rights, who=0xffffffff: struct.pack("<HHI", tag, rights, who)
    return struct.pack("<I", 2) + entry(1, 7) + entry(2, 7, uid) + entry(4, 0) + entry(16, 7) + entry(32, 0)


CHANGES = {
    "chmod": lambda path: os.chmod(path, 0o4755),
    "list": lambda path: os.setxattr(path, "system.posix_acl_access", acl(A)),
    "times": lambda path: os.utime(path, (1, 1)),
    "attribute": lambda path: os.setxattr(path, "user.a", b"1"),
    "group": lambda path: os.chown(path, -1, A),
}


def state(path):
    st = os.stat(path)
    return st.st_uid, st.st_gid, st.st_mode, int(st.st_mtime), sorted(os.listxattr(path))


for change, call in CHANGES.items():
    for n in range(8):
        path, name = f"{source}/{change}{n}", f"{mnt}/{change}{n}"
        with open(path, "w") as out:
            out.write("text")
        os.chown(path, A, A)
        os.chmod(path, 0o700)

        def keep_changing():
            while True:
                try:
                    call(name)
                except OSError:
                    break

        call_once = begin(A, lambda: call(name))
        assert call_once() == 0, f"{change}: refused to the owner"
        ended = begin(A, keep_changing)
        time.sleep(0.02)
        os.chown(path, B, B)
        os.chmod(path, 0o700)
        assert ended() == 0
        # What came before may have stayed; nothing came after.
        now = state(path)[:3]
        assert now == (B, B, 0o100700), f"{change} {n}: {now}"

# Once it is another's, each call is refused, whatever the kernel knew.
for change, call in CHANGES.items():
    path, name = f"{source}/after-{change}", f"{mnt}/after-{change}"
    with open(path, "w") as out:
        out.write("text")
    os.chown(path, A, A)
    os.chmod(path, 0o600)
    told, tell = os.pipe()
    known, know = os.pipe()

    def change_after():
        os.stat(name)
        os.write(know, b"x")
        os.read(told, 1)
        try:
            call(name)
        except OSError:
            return
        sys.exit("changed")

    ended = begin(A, change_after)
    os.close(know)
    os.read(known, 1)
    os.chown(path, 0, 0)
    before = state(path)
    os.write(tell, b"x")
    assert ended() == 0, change
    assert state(path) == before, change

# Flags that root sets while the owner sets others.
path, name = f"{source}/flags", f"{mnt}/flags"
open(path, "w").close()
os.chown(path, A, A)
stop_by, stop = os.pipe()
os.set_blocking(stop_by, False)


def toggle():
    fd = os.open(name, os.O_RDONLY)
    while True:
        try:
            if os.read(stop_by, 1):
                return
        except BlockingIOError:
            pass
        flags = array.array("i", [0])
        try:
            fcntl.ioctl(fd, FS_IOC_GETFLAGS, flags)
            flags[0] = flags[0] & ~APPEND ^ NODUMP
            fcntl.ioctl(fd, FS_IOC_SETFLAGS, flags)
        except OSError:
            pass


ended = begin(A, toggle)
fd = os.open(path, os.O_RDONLY)
undone = 0
for _ in range(300):
    flags = array.array("i", [0])
    for _ in range(100):  # root's own call loses against one that comes between its two
        fcntl.ioctl(fd, FS_IOC_GETFLAGS, flags)
        flags[0] |= APPEND
        fcntl.ioctl(fd, FS_IOC_SETFLAGS, flags)
    time.sleep(0.001)
    fcntl.ioctl(fd, FS_IOC_GETFLAGS, flags)
    undone += not flags[0] & APPEND
    flags[0] &= ~APPEND
    fcntl.ioctl(fd, FS_IOC_SETFLAGS, flags)
os.write(stop, b"x")
assert ended() == 0
assert undone == 0, f"append only was undone {undone} times"

# What may only be appended to is not written over by a mapping.
path, name = f"{source}/log", f"{mnt}/log"
with open(path, "w") as out:
    out.write("the first line stays\n")
os.chown(path, A, A)
subprocess.check_call(["chattr", "+a", path])


def write_over():
    fd = os.open(name, os.O_RDWR | os.O_APPEND)
    os.write(fd, b"the second\n")
    assert os.pread(fd, 100, 0) == b"the first line stays\nthe second\n", os.pread(fd, 100, 0)
    try:
        memory = mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    except OSError:
        return
    memory[0:5] = b"FORGE"
    memory.flush()


assert begin(A, write_over)() == 0
subprocess.check_call(["chattr", "-a", path])
assert open(path).read() == "the first line stays\nthe second\n", open(path).read()
# A descriptor for the path alone, and the owner and mode that the kernel knew when it was opened: whether the file may be linked
# is decided by those that it has.
libc = ctypes.CDLL(None, use_errno=True)


def link(fd, to):
    return libc.linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, to.encode(), 0x400)


for mode in 0o4755, 0o700:
    path, name = f"{source}/taken{mode:o}", f"{mnt}/taken{mode:o}"
    os.makedirs(f"{source}/of-{mode:o}")
    os.chown(f"{source}/of-{mode:o}", A, A)
    with open(path, "w") as out:
        out.write("text")
    os.chown(path, A, A)
    os.chmod(path, mode)
    taken, looked_at = os.pipe(), os.pipe()

    def keep():
        by_mount, by_tree = os.open(name, os.O_PATH), os.open(path, os.O_PATH)
        os.fstat(by_mount)
        assert link(by_mount, f"{mnt}/of-{mode:o}/own") == 0, "its owner may link it"
        os.write(looked_at[1], b"x")
        os.read(taken[0], 1)
        natively = link(by_tree, f"{source}/of-{mode:o}/natively")
        assert link(by_mount, f"{mnt}/of-{mode:o}/mounted") == natively, natively

    ended = begin(A, keep)
    os.read(looked_at[0], 1)
    os.chown(path, B, B)
    os.chmod(path, 0o600)
    os.write(taken[1], b"x")
    assert ended() == 0, f"{mode:o}: a link that the tree refuses"
PYTHON
stop
