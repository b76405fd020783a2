#!/usr/bin/env bash
# What another user has mounted inside the tree keeps no document from being indexed, though it never answers: nothing in it is
# read for the index, which says so, and the scan goes by.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount for another user'
needs_fuse
needs python3 getfattr
chmod 755 "$SCRATCH"
mkdir -p "$SOURCE/a-nested" "$SOURCE/d"
words 1 100 > "$SOURCE/one"
words 1 100 > "$SOURCE/d/two"
server=
trap '[[ ! $server ]] || kill "$server" 2> /dev/null || true' EXIT

state() { # FILE
    getfattr -n user.kinfs.state --only-values "$MNT/$1"
}
mount_hanging() {
    "$LIB/file_systems/hanging_fs.py" "$SOURCE/a-nested" 0 allow_other > said &
    server=$!
    soon 'the nested file system' grep -q ready said
}
unmount_hanging() {
    kill "$server"
    wait "$server" || true
    server=
    umount -l "$SOURCE/a-nested"
}

# A file whose reads are never answered, written and asked about; the only worker is left to others.
mount_hanging
start -o allow_other,workers=1
expect_code 0 "$KINFS" settle --timeout=300 "$MNT"
expect_equal 'a file in it' 'skipped: in a mount inside the tree' "$(state a-nested/f)"
: >> "$MNT/a-nested/f"
expect_equal 'a file in it that was closed' 'skipped: in a mount inside the tree' "$(state a-nested/f)"
words 1 101 > "$MNT/three"
words 1 102 > "$SOURCE/d/four"
expect_code 0 "$KINFS" settle --timeout=300 "$MNT"
expect_equal 'a document made' current "$(state three)"
expect_equal 'a document made beside' current "$(state d/four)"
! grep -qx read said || fail 'the index has read in it'
stop

# One that answers nothing, from before the start on.
kill -USR1 "$server"
words 1 103 > "$SOURCE/d/five"
start -o allow_other,workers=1
expect_code 0 "$KINFS" settle --timeout=300 "$MNT"
expect_equal 'a document found' current "$(state d/five)"
expect_match 'the scan' 'scan +done, 5 of 5 documents' "$("$KINFS" status "$MNT")"
expect_equal 'what it was asked' ready "$(cat said)"
unmount_hanging
stop
