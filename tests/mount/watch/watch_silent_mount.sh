#!/usr/bin/env bash
# A file system mounted inside the tree that stops answering, with another mounted in it, keeps neither the watch nor the end of
# the daemon waiting.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount for another user'
needs_fuse
needs python3
hanging_fs=$LIB/file_systems/hanging_fs.py
mkdir -p "$SOURCE/nested" "$SOURCE/covered/d" "$SOURCE/late"
servers=()
trap 'kill "${servers[@]}" 2> /dev/null || true' EXIT

# hang DIRECTORY NUMBER
hang() {
    "$hanging_fs" "$1" 54321 allow_other > "said-$2" &
    servers+=($!)
    soon "the file system on $1" grep -q ready "said-$2"
}

hang "$SOURCE/nested" 0
hang "$SOURCE/nested/d" 1
hang "$SOURCE/covered/d" 2
hang "$SOURCE/covered" 3
start -o allow_other
"$KINFS" settle "$MNT" > /dev/null
kill -USR1 "${servers[0]}" "${servers[3]}"
hang "$SOURCE/late" 4 # so that the mounts are looked at
words 1 100 > "$SOURCE/beside"
is_current() { [[ $("$KINFS" status "$MNT/beside") == *current* ]]; }
soon 'what is written beside the mount is seen' is_current
expect_code 0 "$KINFS" umount "$MNT"
kill "${servers[@]}"
wait
