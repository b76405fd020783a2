#!/usr/bin/env bash
# A full disk under the tree, and a file that several users have open: the blocks reserved for root are there for root alone,
# whoever had the file open first.
. "${0%/mount/*}/lib/shell/operations.sh"
[[ $UID = 0 ]] || skip "only root can make a disk to fill"
needs python3 mkfs.ext4
on_ext4 24M
chmod 755 "$SCRATCH"

fill() { # DIRECTORY HOLDER WRITER: how far the writer comes with a file that the holder reads
    python3 - "$@" <<'PYTHON'
import errno, mmap, os, sys
path, holder, writer = f"{sys.argv[1]}/f", int(sys.argv[2]), int(sys.argv[3])

os.umask(0)
held = os.open(path, os.O_CREAT | os.O_WRONLY, 0o666)
os.fchown(held, 54321, 54321)
os.close(held)
os.seteuid(holder)
held = os.open(path, os.O_RDONLY)
os.seteuid(0)
os.seteuid(writer)
fd = os.open(path, os.O_RDWR)
n = 0
try:
    while n < 64 << 20:
        n += os.pwrite(fd, b"x" * 65536, n)
    print("never full")
except OSError as error:
    print(errno.errorcode[error.errno], "after", n >> 20, "MiB")
with mmap.mmap(fd, 65536) as pages:
    pages[:5] = b"store"
print(os.pread(held, 8, 0), os.fstat(fd).st_size >> 20)
os.seteuid(0)
os.unlink(path)
PYTHON
}

# What was removed in the mount gives its room back when the daemon is told of the last close, a moment after it.
room() { df --output=avail "$SCRATCH/disk" | tail -n 1; }
has_room() { sync -f "$SCRATCH/disk" && (($(room) >= room)); }

mkdir "$SCRATCH/disk/plain"
start -o nosketch,passthrough
mkdir "$MNT/d"
chmod 777 "$SCRATCH/disk/plain" "$MNT/d"
sync -f "$SCRATCH/disk"
room=$(room)
for users in '0 54321' '54321 0' '54321 54322'; do
    # shellcheck disable=SC2086
    fill "$SCRATCH/disk/plain" $users > plain.out
    soon 'all the room there was' has_room
    # shellcheck disable=SC2086
    fill "$MNT/d" $users > mount.out
    soon 'all the room there was' has_room
    diff plain.out mount.out || fail "held and written by $users"
    grep -q ENOSPC plain.out || fail "the disk was never full"
    cp plain.out "plain-${users#* }.out"
done
! cmp -s plain-0.out plain-54321.out || fail "nothing is reserved for root here, so this says nothing"
stop

# What is stored in a mapping the daemon writes when the kernel likes, and nobody asks then.
store() { # USER: what comes of stores in a file without blocks, when there are none left for users
    python3 - "$MNT/d" "$1" <<'PYTHON'
import errno, mmap, os, sys
filling, stored, writer = f"{sys.argv[1]}/f", f"{sys.argv[1]}/stored", int(sys.argv[2])

os.umask(0)
os.seteuid(writer)
with open(stored, "w+b") as file:
    file.truncate(1 << 20)
    pages = mmap.mmap(file.fileno(), 1 << 20)
os.seteuid(54321)
fd = os.open(filling, os.O_CREAT | os.O_WRONLY, 0o666)
try:
    for size in 65536, 4096:
        try:
            while True:
                os.write(fd, b"x" * size)
        except OSError as error:
            assert error.errno == errno.ENOSPC
    os.seteuid(0)
    pages[:] = b"x" * (1 << 20)
    pages.flush()
    print("stored")
except OSError as error:
    print(errno.errorcode[error.errno])
os.unlink(filling)
os.unlink(stored)
PYTHON
}

start -o nosketch,nopassthrough
expect_equal 'what root stores when no user can' stored "$(store 0)"
soon 'all the room there was' has_room
expect_equal 'what a user stores when no user can' ENOSPC "$(store 54321)"
stop
