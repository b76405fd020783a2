#!/usr/bin/env bash
# Whoever holds thousands of names of the views far down in a tree, by descriptors that nobody is told of (O_PATH), takes the daemon
# no more memory than by names at its top: directories and links.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3
! grep -q __asan_init "$KINFS" || skip 'a sanitizer keeps what is freed'
n_files=1000 n_directories=4000
ulimit -n "$(ulimit -Hn)"
(($(ulimit -n) > n_directories + 100)) || skip 'not enough descriptors here'
name=$(printf 'd%.0s' {1..250})
deep=$name
for _ in {2..13}; do deep+=/$name; done # 3,262 bytes
words 1 200 > "$SCRATCH/near"
words 1001 1200 > "$SCRATCH/far"
for place in near "far/$deep"; do
    mkdir -p "$SOURCE/$place/directories" "$SOURCE/$place/files"
    (cd "$SOURCE/$place/directories" && seq -f "%05g" "$n_directories" | xargs mkdir)
    (cd "$SOURCE/$place/files" && tee $(seq -f "%05g" "$n_files") < "$SCRATCH/${place%%/*}" > /dev/null)
    cp "$SCRATCH/${place%%/*}" "$SOURCE/${place%%/*}.txt"
done
start -o "limit=$n_files,settle_ms=60000"
"$KINFS" settle "$MNT" > /dev/null
daemon=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
python3 - "$MNT" "$daemon" "$deep" "$n_directories" "$n_files" << 'PYTHON'
import os
import sys

mount, daemon, deep = sys.argv[1:4]
n_directories, n_files = map(int, sys.argv[4:])


def memory():
    with open(f"/proc/{daemon}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon:"))


def hold(directory, n, flags):
    """KiB that the daemon has more by so many names of a directory."""
    at = os.open(directory, os.O_RDONLY)
    names = sorted(os.listdir(at))
    assert len(names) == n, (directory, len(names))
    held = [os.open(names[0], os.O_PATH | flags, dir_fd=at)]
    before = memory()
    held += [os.open(name, os.O_PATH | flags, dir_fd=at) for name in names[1:]]
    taken = memory() - before
    for fd in held:
        os.close(fd)
    os.close(at)
    return taken


def expect_alike(what, near, far, n):
    print(f"{what}: {near} KiB near, {far} KiB far down", flush=True)
    if far > near + n:  # KiB: three of them are in the path of each
        sys.exit(f"{what}: expected about the same")


def descend(directory):
    os.chdir(directory)
    for name in deep.split("/"):
        os.chdir(name)


near = hold(f"{mount}/similar/near/directories", n_directories, 0)
descend(f"{mount}/similar/far")
expect_alike("directories", near, hold("directories", n_directories, 0), n_directories)
near = hold(f"{mount}/similar/near.txt", n_files, os.O_NOFOLLOW)
expect_alike("links", near, hold(f"{mount}/similar/far.txt", n_files, os.O_NOFOLLOW), n_files)
PYTHON
stop
