#!/usr/bin/env bash
# Where files have no handles (overlayfs) documents are opened by their paths. A user who renames very many beside the mount, keeps
# their directory locked for ever and then writes them, keeps nobody else's documents from being read.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/locker.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE" "$SCRATCH"/{lower,upper,work,hanging}
mount -t overlay none -o "lowerdir=$SCRATCH/lower,upperdir=$SCRATCH/upper,workdir=$SCRATCH/work" "$SOURCE" 2> /dev/null ||
    skip 'no overlayfs here'
mkdir -p "$SOURCE"/own/{locked,beside} "$SOURCE/open"
words 1 100 > document
for i in {0..31}; do
    cp document "$SOURCE/own/locked/$i"
done
chown -R 54321:54321 "$SOURCE/own"
chown 54322:54322 "$SOURCE/open"
serve_hanging
start -o allow_other,watch=none
"$KINFS" settle "$MNT" > /dev/null

python3 - "$SOURCE/own" "$MNT/own" "$SCRATCH/hanging/f" > locked << 'EOP' &
import os, sys
from locker import Locker

tree, mount, hanging = sys.argv[1:]
locker = Locker(54321, hanging)
files = [open(f"{mount}/locked/{i}", "a") for i in range(32)]
for i in range(32):
    os.rename(f"{tree}/locked/{i}", f"{tree}/beside/{i}")
locker.lock_directory(f"{tree}/locked")
for file in files:
    file.write("more\n")
    file.close()
locker.wait()
EOP
locker=$!
await_locks "$locker"

is_current() { [[ $(timeout 20 "$KINFS" status "$MNT/$1") == *current* ]]; }
for i in {0..3}; do
    cp document "$MNT/open/$i"
done
for i in {0..3}; do
    soon "another's document is known: $i" is_current "open/$i"
done

end_locks "$locker"
"$KINFS" scan "$MNT" > /dev/null
for i in {0..31}; do
    is_current "own/beside/$i" || fail "not known after all: $i"
done
expect_code 0 "$KINFS" check --deep "$MNT"
stop
