#!/usr/bin/env bash
# A user who keeps a directory of the tree locked for ever, and has it scanned by a line of an ignore file above it, holds up the
# scan of what that user owns, and nothing of others': their documents come in, a scan of the whole tree and a check end, and once
# it is free all is known.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/locker.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/own/top/locked" "$SOURCE/own/top/other" "$SOURCE/open/sub"
words 1 100 > document
for directory in own/top/locked own/top/other open/sub; do
    cp document "$SOURCE/$directory/document"
done
chown -R 54321:54321 "$SOURCE/own"
chown -R 54322:54322 "$SOURCE/open"
serve_hanging
start -o allow_other,watch=none
"$KINFS" settle "$MNT" > /dev/null

python3 - "$SOURCE/own/top/locked" "$SCRATCH/hanging/f" << 'EOP' > locked &
import sys
from locker import Locker

directory, hanging = sys.argv[1:]
locker = Locker(54321, hanging)
open(f"{directory}/unknown", "w").close()
locker.lock_directory(directory)
locker.wait()
EOP
locker=$!
await_locks "$locker"
printf 'other\n' > "$MNT/own/.kinfsignore"
chown 54321:54321 "$MNT/own/.kinfsignore"

is_current() { [[ $("$KINFS" status "$MNT/$1") == *current* ]]; }
cp document "$MNT/open/new"
soon "another's document is known" is_current open/new
cp document "$SOURCE/open/sub/beside"
"$KINFS" scan "$MNT" > /dev/null
is_current open/sub/beside || fail "what a scan of the tree finds of another's is not known"
expect_code 0 "$KINFS" check --deep "$MNT"
! timeout 1 ls "$SOURCE/own/top/locked" > /dev/null || fail 'the directory was not locked all the time'

end_locks "$locker"
soon 'what was locked is known' is_current own/top/locked/unknown
"$KINFS" settle "$MNT" > /dev/null
! is_current own/top/other/document || fail 'what an ignore file leaves out is known'
expect_code 0 "$KINFS" check --deep "$MNT"
stop
