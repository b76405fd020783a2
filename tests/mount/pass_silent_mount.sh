#!/usr/bin/env bash
# A file system mounted inside the tree that stops answering keeps those waiting who ask for what is in it, and nobody else.
. "$(dirname "$0")/../lib/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount for another user'
needs_fuse
needs python3 setpriv
lib=$(cd "$(dirname "$0")/../lib" && pwd)
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/nested" "$SOURCE/d"
echo text > "$SOURCE/d/known"
as_user() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }
"$lib/hanging_fs.py" "$SOURCE/nested" 54321 allow_other > said &
server=$!
trap 'kill "$server" 2> /dev/null || true' EXIT
soon 'the nested file system' grep -q ready said
start -o allow_other,watch=none,views=none

# Without a name to look up, by a descriptor that the kernel and the daemon have.
exec 3< "$MNT/nested"
kill -USR1 "$server"
as_user stat -L /dev/fd/3 > asked 2>&1 &
asker=$!
soon 'a request that is not answered' grep -q getattr said
served() {
    cat "$MNT/d/known" > /dev/null
    for i in $(seq 20); do
        echo "$i" > "$SOURCE/d/beside$i"
        stat "$MNT/d/beside$i" > /dev/null
        echo "$i" > "$MNT/d/made$i"
        mv "$MNT/d/made$i" "$MNT/d/moved$i"
        rm "$MNT/d/moved$i"
    done
    touch "$SCRATCH/served"
}
served &
others=$!
soon 'others are served' test -e "$SCRATCH/served"
wait "$others"
kill -0 "$asker" || fail 'answered without an answer'
kill "$server"
wait "$asker" && fail 'attributes that nobody told'
expect_match 'what the asker is told' 'not connected|aborted' "$(cat asked)"
exec 3<&-
umount -l "$SOURCE/nested"
stop
