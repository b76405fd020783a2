#!/usr/bin/env bash
# A full disk under the tree: the blocks reserved for root are none for the names that a user makes, moves or changes, nor for
# what else takes a block by the way.
. "${0%/mount/*}/lib/shell/operations.sh"
[[ $UID = 0 ]] || skip "only root can make a disk to fill"
needs python3 mkfs.ext4
on_ext4 24M
chmod 755 "$SCRATCH"
mkdir "$PLAIN"

take() { # DIRECTORY: what a user gets for each way to a block when there is none left but root's, and what root gets
    python3 - "$1" <<'PYTHON'
import errno, os, sys
from users import attempt, renameat2
at, USER, N, WHITEOUT = sys.argv[1], 54321, 1000, 4
statvfs = lambda: os.statvfs(os.environ["DISK"])

def make():
    for name in "links", "unnamed", "short", "whiteouts", "from", "to":
        os.mkdir(f"{at}/{name}")
    for name in "short", "whiteouts", "from":
        for i in range(N):
            open(f"{at}/{name}/{i}", "w").close()
    open(f"{at}/base", "w").close()

def fill():
    fd = os.open(f"{at}/filling", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    for size in 65536, 4096, 4096:
        try:
            while True:
                os.write(fd, b"x" * size)
        except OSError as error:
            assert error.errno == errno.ENOSPC
        os.fsync(fd)
    os.close(fd)

def link_unnamed(name):
    fd = os.open(at, os.O_TMPFILE | os.O_WRONLY)
    os.link(f"/proc/self/fd/{fd}", name, src_dir_fd=fd) # which makes it follow
    os.close(fd)

def until_full(function):
    for i in range(N):
        function(i, f"{i:0240d}")

os.mkdir(at)
os.chown(at, USER, USER)
attempt(USER, make)
os.sync()
reserved = statvfs().f_bfree - statvfs().f_bavail
attempt(USER, fill)
ways = {
    "link": lambda i, long: os.link(f"{at}/base", f"{at}/links/{long}"),
    "link of an unnamed file": lambda i, long: link_unnamed(f"{at}/unnamed/{long}"),
    "rename": lambda i, long: os.rename(f"{at}/short/{i}", f"{at}/short/{long}"),
    "rename to another directory": lambda i, long: os.rename(f"{at}/from/{i}", f"{at}/to/{long}"),
    "rename with a whiteout": lambda i, long: renameat2(f"{at}/whiteouts/{i}", f"{at}/whiteouts/{long}", WHITEOUT),
    "attribute": lambda i, long: os.setxattr(f"{at}/from/{N - 1 - i}", "user.x", b"x" * 2000 + long.encode()),
}
for what, way in ways.items():
    print(f"{what}:", attempt(USER, until_full, way))
os.sync()
print("root's:", "there" if statvfs().f_bfree >= reserved > 200 else f"{statvfs().f_bfree} of {reserved} blocks")
with open(f"{at}/root's", "wb", buffering=0) as file:
    print("written by root:", file.write(b"x" * 800000))
PYTHON
}

export DISK=$SCRATCH/disk
take "$PLAIN/d" > plain.out
grep -q "root's: there" plain.out || fail "nothing is reserved for root here, so this says nothing"
expect_equal 'ways that end' 6 "$(grep -c ENOSPC plain.out)"
rm -r "$PLAIN"
for option in passthrough nopassthrough; do
    start -o "nosketch,$option"
    take "$MNT/d" > mount.out
    diff plain.out mount.out || fail "with $option"
    rm -r "$MNT/d"
    stop
    sync -f "$DISK"
done
