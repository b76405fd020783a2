#!/usr/bin/env bash
# A file that somebody has opened and locked thousands of times costs no more to close, or to lock once more, than any other.
# Begins early: it opens a file a hundred thousand times.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
n_files=7400 # three eighths of the descriptors, which root may have
ulimit -n 20000 2> /dev/null || skip 'not enough descriptors here'
mkdir -p "$SOURCE"
touch "$SOURCE/file"
start -o views=none
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
python3 - "$MNT/file" "$n_files" "$pid" << 'EOP'
import fcntl, os, struct, sys, time
path, n_files, pid = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
OFD_SETLK = 37
N_LOCKS, N_ROUNDS, SLACK = 24000, 8, 12  # ticks of which the kernel counts a thread's time

def user_time():
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[11])

def n_open():
    return len(os.listdir(f"/proc/{pid}/fd"))

def lock(fd, kind, at):
    fcntl.fcntl(fd, OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, at, 1, 0))

def close(files):
    before = user_time()
    for fd in files:
        os.close(fd)
    for _ in range(6000):  # which nobody waits for
        if n_open() < n_files // 100:
            return user_time() - before
        time.sleep(0.05)
    sys.exit("not closed")

def relock(files):
    before = user_time()
    for i in range(N_LOCKS):
        fd = files[i % len(files)]
        lock(fd, fcntl.F_UNLCK, i % len(files))
        lock(fd, fcntl.F_RDLCK, i % len(files))
    return user_time() - before

def expect_alike(what, one, other):
    print(f"{what}: {one} and {other} ticks")
    if max(one, other) > 3 * min(one, other) + SLACK:
        sys.exit(f"{what}: expected about the same")

def open_all(n):
    return [os.open(path, os.O_RDONLY) for _ in range(n)]

def close_rounds(step):
    return sum([close(open_all(n_files)[::step]) for _ in range(N_ROUNDS)])

expect_alike("closed newest first, and oldest first", close_rounds(-1), close_rounds(1))
files = open_all(n_files // 2)  # each lock takes a descriptor, too
for i, fd in enumerate(files):
    lock(fd, fcntl.F_RDLCK, i)
expect_alike("locked by the oldest, and by the newest", relock(files[:10]), relock(files[-10:]))
EOP
stop
