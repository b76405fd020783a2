#!/usr/bin/env bash
# A user who keeps a directory locked for ever, by which something was mounted when mounts were last looked at, keeps nobody waiting
# for what is mounted since: a name that the kernel does not know any more is not looked up there.
. "${0%/mount/*}/lib/shell/mount.sh"
. "${0%/mount/*}/lib/shell/locker.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/own/locked/sub/mounted" "$SOURCE/open"
words 1 100 > "$SOURCE/open/document"
chown -R 54321:54321 "$SOURCE/own"
serve_hanging "$SOURCE"/own/{locked/,}sub/mounted "$SOURCE/open/mounted"
mount -t tmpfs none "$SOURCE/own/locked/sub/mounted"
start -o allow_other,watch=none
"$KINFS" settle "$MNT" > /dev/null

# The mount goes with the directory it is in, of which nobody is told. It holds the names that lead to it; the one before is of no
# mount any more, and known to nobody.
mv "$SOURCE/own/locked/sub" "$SOURCE/own/sub"
"$LIB/greed/keep_locked.py" 54321 "$SCRATCH/hanging/f" "$SOURCE/own/locked" > locked &
locker=$!
await_locks "$locker"
mkdir "$SOURCE/open/mounted"
mount -t tmpfs none "$SOURCE/open/mounted" # so that the mounts are looked at
expect_code 0 timeout 60 "$KINFS" status "$MNT/open/document"
expect_match 'a document' current "$OUT"

end_locks "$locker"
umount "$SOURCE/own/sub/mounted" "$SOURCE/open/mounted"
"$KINFS" settle "$MNT" > /dev/null
stop
