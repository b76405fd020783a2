#!/usr/bin/env bash
# A user who keeps a directory locked for ever, and renames it, or has more change at once than the kernel queues, keeps what others
# change beside the mount from nobody where inotify watches: it is known, and waiting for it and the mount come to their end.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/locker.sh"
. "${0%/mount/*}/lib/shell/watch.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3
needs_small_queue
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/own/locked/sub" "$SOURCE/own/beside" "$SOURCE/open/sub"
words 1 100 > "$SOURCE/report"
chown -R 54321:54321 "$SOURCE/own"

lock_and_rename() {
    serve_hanging
    : > locked
    python3 - "$SOURCE/own" "$SCRATCH/hanging/f" << 'EOP' > locked &
import os, sys
from locker import Locker

tree, hanging = sys.argv[1:]
locker = Locker(54321, hanging)
locker.lock_directory(f"{tree}/locked")
os.rename(f"{tree}/locked", f"{tree}/renamed")
locker.wait()
EOP
    locker=$!
    await_locks "$locker"
}
unlock() {
    end_locks "$locker"
    umount -l "$SCRATCH/hanging"
    mv "$SOURCE/own/renamed" "$SOURCE/own/locked"
}
still_locked() {
    ! timeout 1 ls "$SOURCE/own/renamed" > /dev/null || fail "$1: the directory was not locked all the time"
}

# Renamed: nothing in it is looked for.
start -o allow_other,watch=inotify
"$KINFS" settle "$MNT" > /dev/null
lock_and_rename
words 1 100 > "$SOURCE/open/copy"
soon "another's document" is 100-copy links report
mkdir -p "$SOURCE/open/new/deep"
words 1 110 > "$SOURCE/open/new/deep/other"
soon "in another's new directory" is '100-copy 090-other' links report
expect_code 0 timeout 60 "$KINFS" settle "$MNT"
still_locked 'renamed'
expect_code 0 timeout 60 "$KINFS" umount "$MNT"
still_locked 'renamed, at the end of the mount'
unlock
rm -r "$SOURCE/open/new" "$SOURCE/open/copy"

# More at once than the queue holds: all directories are looked at anew. Which of the owner's is locked nobody knows.
start -o allow_other,watch=inotify
"$KINFS" settle "$MNT" > /dev/null
soon 'only what is there' is '' links report
lock_and_rename
overflow_queue "$SOURCE/open"
words 1 120 > "$SOURCE/open/sub/third"
soon 'in one that was known' is '100-copy 090-other 082-third' links report
expect_code 0 timeout 60 "$KINFS" settle "$MNT"
still_locked 'more than the queue holds'
unlock

# What is free again is watched as before.
words 1 110 > "$SOURCE/own/locked/sub/fourth"
soon 'in what was locked' is '100-copy 090-other 090-fourth 082-third' links report
expect_code 0 "$KINFS" check --deep "$MNT"
stop
