#!/usr/bin/env bash
# A write that is to be on the disk when it returns (RWF_DSYNC, RWF_SYNC of pwritev2(2), O_DSYNC, O_SYNC) is there, whoever
# writes and however the file is open, as it is in the tree.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3 mkfs.ext4
[[ $EUID = 0 ]] || skip 'only root can have a disk of its own, and act as others'

chmod 755 "$SCRATCH"
truncate -s 64M "$SCRATCH/disk.img"
mkfs.ext4 -q -F -b 4096 "$SCRATCH/disk.img"
mkdir -p "$SCRATCH/disk"
mount -o loop "$SCRATCH/disk.img" "$SCRATCH/disk" 2> /dev/null || skip 'cannot mount a loop device here'
SOURCE=$SCRATCH/disk/source
for option in passthrough nopassthrough; do
    start -o "allow_other,$option,views=none"
    python3 - "$SCRATCH/disk.img" "$SOURCE" "$MNT" << 'PYTHON' || fail "$option"
import itertools, mmap, os, sys
image, *places = sys.argv[1:]
USER, FIRST = 54321, 12345
DSYNC, SYNC = 2, 4  # RWF_ flags


def is_on_disk(mark):
    with open(image, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as disk:
        return disk.find(mark) >= 0


def synced(place, number, flags, of_write, shared):
    path = f"{place}/{number}"
    mark = os.urandom(32)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o666))
    os.chmod(path, 0o666)
    held = -1
    if shared:
        os.seteuid(FIRST)
        held = os.open(path, os.O_RDWR)
        os.seteuid(0)
    os.seteuid(USER)
    fd = os.open(path, flags)
    os.pwritev(fd, [mark], 0, of_write)
    os.seteuid(0)
    found = is_on_disk(mark)
    os.close(fd)
    if held >= 0:
        os.close(held)
    os.unlink(path)
    return found


ways = itertools.product((os.O_WRONLY, os.O_RDWR), (0, os.O_APPEND), (0, os.O_DSYNC, os.O_SYNC), (0, DSYNC, SYNC), (False, True))
n_synced = 0
for number, (mode, append, of_file, of_write, shared) in enumerate(ways):
    told = [synced(place, number, mode | append | of_file, of_write, shared) for place in places]
    assert told[0] or not (of_file or of_write), (mode, append, of_file, of_write, shared)
    assert told[1] or not told[0], (mode, append, of_file, of_write, shared, told)
    n_synced += told[0]
assert n_synced >= 64, n_synced
PYTHON
    stop
done
