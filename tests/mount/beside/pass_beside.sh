#!/usr/bin/env bash
# What is shared with those who use the tree beside the mount, and what Linux keeps apart: pipes and
# sockets belong to an inode of one file system.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
start
python3 - "$MNT" "$SOURCE" <<'EOP'
import errno, fcntl, mmap, os, socket, struct, sys
mount, source = sys.argv[1:3]

def expect(what, wanted, got):
    if wanted != got:
        sys.exit(f"{what}: expected {wanted!r}, got {got!r}")

def attempt(function, *args):
    try:
        return function(*args)
    except OSError as error:
        return errno.errorcode[error.errno]

# Locks of open files, both ways; what holds is seen as a lock of somebody.
OFD_GETLK, OFD_SETLK = 36, 37
lock = lambda kind, start=0, length=0: struct.pack("hhqqi4x", kind, os.SEEK_SET, start, length, 0)
for one, other in ((mount, source), (source, mount)):
    a = os.open(f"{one}/locked", os.O_RDWR | os.O_CREAT)
    b = os.open(f"{other}/locked", os.O_RDWR)
    fcntl.fcntl(a, OFD_SETLK, lock(fcntl.F_WRLCK, 0, 10))
    expect("open file against open file", "EAGAIN", attempt(fcntl.fcntl, b, OFD_SETLK, lock(fcntl.F_RDLCK, 5, 1)))
    expect("record against open file", "EAGAIN", attempt(fcntl.fcntl, b, fcntl.F_SETLK, lock(fcntl.F_WRLCK, 9, 1)))
    kind, _, start, length, _ = struct.unpack("hhqqi4x", fcntl.fcntl(b, OFD_GETLK, lock(fcntl.F_WRLCK)))
    expect("what holds", (fcntl.F_WRLCK, 0, 10), (kind, start, length))
    os.close(a)
    while attempt(fcntl.fcntl, b, OFD_SETLK, lock(fcntl.F_WRLCK)) == "EAGAIN":
        pass  # the kernel tells of the last close a moment after it
    os.close(b)

# Contents: what one side writes or stores the other reads, at once.
a = os.open(f"{mount}/shared", os.O_RDWR | os.O_CREAT)
b = os.open(f"{source}/shared", os.O_RDWR)
passed = os.geteuid() == 0
os.pwrite(a, b"by the mount" * 1000, 0)
expect("read beside", b"by the mount", os.pread(b, 12, 0))
if passed:  # without kernel passthrough what was read before may be kept for as long as it is open
    os.pwrite(b, b"from beside!", 0)
    expect("read in the mount", b"from beside!", os.pread(a, 12, 0))
    mine, theirs = mmap.mmap(a, 12000), mmap.mmap(b, 12000)
    mine[5000:5004] = b"mine"
    expect("mapped beside", b"mine", theirs[5000:5004])
    theirs[6000:6006] = b"theirs"
    expect("mapped in the mount", b"theirs", mine[6000:6006])

# A fifo and a socket are met by those who come the same way alone.
os.mkfifo(f"{mount}/fifo")
reader = os.open(f"{mount}/fifo", os.O_RDONLY | os.O_NONBLOCK)
expect("the same way", True, isinstance(attempt(os.open, f"{mount}/fifo", os.O_WRONLY | os.O_NONBLOCK), int))
expect("another pipe beside", "ENXIO", attempt(os.open, f"{source}/fifo", os.O_WRONLY | os.O_NONBLOCK))
server = socket.socket(socket.AF_UNIX)
server.bind(f"{mount}/socket")
server.listen()
expect("the same way", None, attempt(socket.socket(socket.AF_UNIX).connect, f"{mount}/socket"))
expect("nobody listens beside", "ECONNREFUSED", attempt(socket.socket(socket.AF_UNIX).connect, f"{source}/socket"))

# A file of the views can be copied as one of the tree.
def copied(path):
    source = os.open(path, os.O_RDONLY)
    target = os.open(f"{mount}/copy", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    return os.copy_file_range(source, target, 1 << 20)

tag = f"{mount}/similar/CACHEDIR.TAG"
expect("a view's file copied", os.stat(tag).st_size, attempt(copied, tag))
expect("and it is the same", open(tag).read(), open(f"{source}/copy").read())

# statx(2) knows the views too, though they were never born.
from operations import kernel
for name in ("similar", "similar/CACHEDIR.TAG", "clusters"):
    st = kernel.statx(f"{mount}/{name}")
    expect(f"statx of {name}", (os.lstat(f"{mount}/{name}").st_ino, 0), (st["ino"], st["mask"] & kernel.STATX_BTIME))
EOP
stop
