#!/usr/bin/env bash
# A user's questions take no more of the disk that the store is on than they leave there: what others write is indexed.
. "${0%/mount/*}/lib/shell/mount.sh"
needs python3
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse

chmod 755 "$SCRATCH"
mkdir -p "$SOURCE" disk
mount -t tmpfs -o size=400m,mode=755 none disk 2> /dev/null || skip 'cannot mount a small file system here'
trap 'stop 2> /dev/null; umount disk' EXIT
words 1 200 > "$SOURCE/a"
start -o "allow_other,store=$PWD/disk/store"
"$KINFS" settle "$MNT" > /dev/null
python3 - "$MNT" "$KINFS" << 'EOF'
import errno, os, subprocess, sys
import users

mnt, kinfs = sys.argv[1:3]
FILLS, OTHER = 54321, 54322
MIB = 1 << 20
ready_by, ready = os.pipe()
done_by, done = os.pipe()


def ask(n_mib):
    """A question, and how much of its document was taken."""
    fd = os.open(f"{mnt}/.kinfs/query/q", os.O_RDWR | os.O_CREAT)
    piece = os.urandom(MIB)
    for i in range(n_mib):
        try:
            os.pwrite(fd, piece, i * MIB)
        except OSError as error:
            assert error.errno == errno.ENOSPC, error
            return fd, i
    return fd, n_mib


def fill():
    taken = [ask(400)[1] for _ in range(8)]
    os.write(ready, b"x")
    os.close(done)
    os.read(done_by, 1)
    assert taken[0] > 60 and sum(taken) < 150, taken


filling = users.begin(FILLS, fill)
os.close(ready)
os.read(ready_by, 1)
assert users.begin(OTHER, lambda: None if ask(40)[1] == 40 else sys.exit(1))() == 0, "another user's question has no room"
# More than the store has room for in its log.
for i in range(1500):
    with open(f"{mnt}/new{i}", "w") as out:
        out.write(" ".join(f"{i}x{j}" for j in range(400)))
settled = subprocess.run([kinfs, "settle", mnt], capture_output=True, text=True)
assert settled.returncode == 0, settled.stderr
os.close(done)
assert filling() == 0
EOF
expect_equal 'documents' 1501 "$(getfattr --absolute-names -n user.kinfs.documents --only-values "$MNT")"
