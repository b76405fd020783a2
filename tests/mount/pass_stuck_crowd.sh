#!/usr/bin/env bash
# A user who locks a directory of the tree for ever, and looks hundreds of names up in it, takes no more threads than are left
# for others; what is more waits until there is one.
. "$(dirname "$0")/../lib/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can become another user'
needs_fuse
needs python3
lib=$(cd "$(dirname "$0")/../lib" && pwd)
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/own" "$SOURCE/open" "$SCRATCH/hanging"
chown 54321:54321 "$SOURCE/own"
chmod 777 "$SOURCE/open"
"$lib/hanging_fs.py" "$SCRATCH/hanging" 54321 > said &
server=$!
trap 'kill "$server" 2> /dev/null || true; umount -l "$SCRATCH/hanging" 2> /dev/null || true' EXIT
soon 'a file system that does not answer' grep -q ready said
start -o allow_other,watch=none,views=none
"$lib/stuck_crowd.py" "$MNT" "$SOURCE" "$SCRATCH/hanging/f" 54321 54322 > crowd &
crowd=$!
until grep -q held crowd; do
    kill -0 "$crowd" 2> /dev/null || fail 'others are not served'
    sleep 0.1
done
kill "$server"
wait "$crowd" || fail 'afterwards'
stop
