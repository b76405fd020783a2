#!/usr/bin/env bash
# A user keeps a directory of the tree locked for ever, and a thread of the daemon stands in it: the mount ends all the same, what was
# written is stored, and the store can be used at once, while the thread stands there still.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/locker.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/own/locked" "$SOURCE/open"
words 1 100 > document
cp document "$SOURCE/own/locked/document"
chown -R 54321:54321 "$SOURCE/own"
serve_hanging
start -o allow_other,watch=none
"$KINFS" settle "$MNT" > /dev/null
store=$(getfattr --only-values -n user.kinfs.store "$MNT")
daemon=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["pid"])' "$store/holder")

python3 - "$SOURCE/own/locked" "$SCRATCH/hanging/f" << 'EOP' > locked &
import sys
from locker import Locker

directory, hanging = sys.argv[1:]
locker = Locker(54321, hanging)
locker.lock_directory(directory)
locker.wait()
EOP
locker=$!
await_locks "$locker"
printf 'other\n' > "$MNT/own/.kinfsignore"
chown 54321:54321 "$MNT/own/.kinfsignore"
stands_there() { grep -qs iterate_dir /proc/"$daemon"/task/*/stack; }
soon 'a thread stands in it' stands_there
cp document "$MNT/open/new"

expect_code 0 "$KINFS" umount "$MNT"
! timeout 1 ls "$SOURCE/own/locked" > /dev/null || fail 'the directory was not locked all the time'
expect_code 0 "$KINFS" check --store="$store"
expect_match 'what was written is stored' 'current' "$("$KINFS" status "$SOURCE/open/new")"
start -o allow_other,watch=none
cp document "$MNT/open/newer"
is_current() { [[ $("$KINFS" status "$MNT/$1") == *current* ]]; }
soon 'the tree is mounted again' is_current open/newer

end_locks "$locker"
soon 'what was locked is known' is_current own/locked/document
"$KINFS" settle "$MNT" > /dev/null
expect_code 0 "$KINFS" check --deep "$MNT"
stop
ended() { ! kill -0 "$daemon" 2> /dev/null; }
soon 'the daemon of before has ended' ended
