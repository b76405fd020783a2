#!/usr/bin/env bash
# A full disk under the tree: the same errors at the same fill, and the blocks reserved for root are not
# for others.
. "${0%/mount/*}/lib/shell/operations.sh"
[[ $UID = 0 ]] || skip "only root can make a disk to fill"
needs python3 mkfs.ext4
on_ext4 24M
chmod 755 "$SCRATCH"

fill() { # DIRECTORY UID: what came of filling the disk in several ways
    python3 - "$1" "$2" <<'PYTHON'
import errno, os, sys
from operations.kernel import fallocate
directory, uid = sys.argv[1], int(sys.argv[2])
os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)

def until_full(what, function):
    n = 0
    try:
        while n < 64 << 20:
            n += function(n)
    except OSError as error:
        return f"{what}: {errno.errorcode[error.errno]} after {n >> 20} MiB"
    return f"{what}: never"

fd = os.open(f"{directory}/f", os.O_RDWR | os.O_CREAT)
print(until_full("write", lambda n: os.pwrite(fd, b"x" * 65536, n)))
os.ftruncate(fd, 0)
print(until_full("allocate", lambda n: fallocate(fd, 0, n, 65536) or 65536))
os.ftruncate(fd, 0)
print(until_full("write and sync", lambda n: os.pwrite(fd, b"x" * (1 << 20), n) + (os.fsync(fd) or 0)))
print(until_full("copy", lambda n: os.copy_file_range(fd, fd, 65536, 0, (1 << 30) + n)))
os.close(fd)
os.unlink(f"{directory}/f")
os.sync()
PYTHON
}

# What was removed in the mount gives its room back when the daemon is told of the last close, a moment after it.
room() { df --output=avail "$SCRATCH/disk" | tail -n 1; }
has_room() { sync -f "$SCRATCH/disk" && (($(room) >= room)); }

for option in passthrough nopassthrough; do
    start -o "nosketch,$option"
    room=$(($(room) - 4)) # but for the block of the directory it is filled in
    for uid in 0 54321; do
        mkdir -m 777 "$SCRATCH/disk/plain"
        chmod 777 "$SCRATCH/disk/plain"
        soon 'all the room there was' has_room
        fill "$SCRATCH/disk/plain" "$uid" > plain.out
        rmdir "$SCRATCH/disk/plain"
        mkdir "$MNT/d"
        chmod 777 "$MNT/d"
        soon 'all the room there was' has_room
        fill "$MNT/d" "$uid" > mount.out
        rmdir "$MNT/d"
        diff plain.out mount.out || fail "as $uid, with $option"
        grep -q ENOSPC plain.out || fail "the disk was never full"
        cp plain.out "plain-$uid.out"
    done
    ! cmp -s plain-0.out plain-54321.out || fail "nothing is reserved for root here, so this says nothing"
    stop
done

# A limit of the shell that starts the daemon is none of those who write.
(ulimit -S -f 64 && exec "$KINFS" mount -o nosketch,nopassthrough "$SOURCE" "$MNT")
head -c 1M /dev/zero > "$MNT/large"
expect_equal "beyond the daemon's limit" 1048576 "$(stat -c %s "$SOURCE/large")"
stop
