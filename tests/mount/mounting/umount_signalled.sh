#!/usr/bin/env bash
# A user keeps a directory of the tree locked for ever, and a request stands in it, when the daemon is ended by a signal: nothing is left
# mounted, others find the directory below at once, who waits for the request is told that it failed, and the tree can be mounted again.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/locker.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/own/locked"
words 1 100 > document
cp document "$SOURCE/own/locked/document"
chown -R 54321:54321 "$SOURCE/own"
serve_hanging
start -o allow_other,watch=none
"$KINFS" settle "$MNT" > /dev/null
store=$(getfattr --only-values -n user.kinfs.store "$MNT")
daemon=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["pid"])' "$store/holder")
cp document "$MNT/new"

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
stat "$MNT/own/locked/unknown" > told 2> refused & # a lookup's thread cannot be ended, as that of a listing can
asker=$!
stands_there() { grep -qs walk_component /proc/"$daemon"/task/*/stack; }
soon 'a thread stands in it' stands_there

kill -TERM "$daemon"
is_unmounted() { ! awk -v point="$MNT" '$5 == point { n++ } END { exit !n }' /proc/self/mountinfo; }
soon 'nothing is mounted' is_unmounted
expect_equal 'the directory below' '' "$(ls "$MNT")"
store_is_free() { "$KINFS" check --store="$store" > /dev/null 2>&1; }
soon 'the store is given up' store_is_free
is_told() { [[ -s refused ]]; }
soon 'who waited is told' is_told
! wait "$asker" || fail 'who waited was answered'
expect_match 'who waited is told' 'connect|abort' "$(cat refused)"
kill -0 "$daemon" || fail 'the thread did not stand there all the time'
start -o allow_other,watch=none
expect_match 'what was written is stored' 'current' "$("$KINFS" status "$MNT/new")"

end_locks "$locker"
stop
ended() { ! kill -0 "$daemon" 2> /dev/null; }
soon 'the daemon of before has ended' ended
