#!/usr/bin/env bash
# Who has the kernel wait in the background for more answers than it may wait for of all files, keeps nobody else's files from being
# read, closed or unlocked.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3 pgrep
[[ $EUID = 0 ]] || skip 'only root can become another user'
[[ -x $(dirname "$KINFS")/kinfs-extract ]] || skip 'kinfs-extract is not built'

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE"
words 1 20000 > "$SOURCE/a"
cat > kinfs.conf << EOF
[extractor "image/png"]
command = $(readlink -f "$(command -v sleep)") 100000
seconds = 1000
EOF
start -o "allow_other,nopassthrough,config=$PWD/kinfs.conf"
"$KINFS" settle "$MNT" > /dev/null
python3 - "$MNT" << 'EOF' || failed=1
import ctypes, fcntl, mmap, os, platform, signal, struct, sys

mnt = sys.argv[1]
MANY, OTHER, QUESTIONS, READS = 54321, 54322, 64, 8
IO_SETUP, IO_SUBMIT = (206, 209) if platform.machine() == "x86_64" else (0, 2)
PREAD = 0
libc = ctypes.CDLL(None, use_errno=True)


def become(uid):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def ask_for_all(told):
    """Reads of answers that never come, of which the kernel is told to tell later."""
    page = mmap.mmap(-1, 4096)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    page.write(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0")
    fds = []
    for i in range(QUESTIONS):
        fds.append(os.open(f"{mnt}/.kinfs/query/{i}", os.O_RDWR | os.O_CREAT | os.O_DIRECT))
        os.write(fds[-1], page)
    context = ctypes.c_ulong(0)
    if libc.syscall(IO_SETUP, QUESTIONS * READS, ctypes.byref(context)) < 0:
        os.write(told, b"-")
        return
    for i in range(QUESTIONS * READS):
        if i == QUESTIONS:
            os.write(told, b"x")
        block = ctypes.create_string_buffer(
            struct.pack("<QIiHhIQQqQII", i, 0, 0, PREAD, 0, fds[i % QUESTIONS], address, 4096, 0, 0, 0, 0))
        pointer = ctypes.c_void_p(ctypes.addressof(block))
        assert libc.syscall(IO_SUBMIT, context, 1, ctypes.byref(pointer)) == 1
    os.write(told, b"x")
    signal.pause()


ready, told = os.pipe()
greedy = os.fork()
if greedy == 0:
    os.close(ready)
    try:
        become(MANY)
        ask_for_all(told)
    finally:
        os._exit(1)
os.close(told)
if os.read(ready, 1) == b"-":
    raise SystemExit(0)  # no asynchronous I/O here
modest = os.fork()
if modest == 0:
    signal.alarm(60)  # where it would wait for the other for ever
    become(OTHER)
    for _ in range(3):
        fd = os.open(f"{mnt}/a", os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        assert len(os.read(fd, 1 << 20)) > 100000
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)  # unlocks it, of which the kernel tells in the background
    os._exit(0)
_, status = os.waitpid(modest, 0)
os.kill(greedy, signal.SIGKILL)  # which ends when the daemon does: nothing breaks such a read off
if status:
    raise SystemExit(f"the other user was kept waiting: {status}")
EOF
kill -KILL "$(pgrep -n -f "mount.*$MNT")"
umount -l "$MNT"
[[ ! ${failed-} ]] || fail 'see above'
