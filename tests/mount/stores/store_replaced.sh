#!/usr/bin/env bash
# Of a store that root moves while it is mounted, another user puts a file system in the place that answers nothing: no question to the
# daemon waits for that, and nothing of a question is written there.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount for another user'
needs_fuse
needs python3
needs getfattr
mkdir -p "$SOURCE"
mkdir -m 1777 sticky
words 1 90 | tee "$SOURCE/a" > "$SOURCE/b"
start -o store="$SCRATCH/sticky/store"
"$KINFS" settle "$MNT" > /dev/null
mv sticky/store moved
mkdir sticky/store
"$LIB/file_systems/hanging_fs.py" sticky/store 54321 allow_other > said &
server=$!
trap 'kill $server 2> /dev/null || true' EXIT
soon 'the file system' grep -q ready said
kill -USR1 $server # from now on it answers nothing

expect_code 3 timeout 100 "$KINFS" status "$MNT"
expect_match 'status' 'the store of this mount, .*, has been removed' "$OUT"
expect_code 0 timeout 100 getfattr --absolute-names --only-values -n user.kinfs.store "$MNT"
expect_code 0 timeout 100 getfattr --absolute-names --only-values -n user.kinfs.documents "$MNT"
expect_equal 'an attribute' 2 "$OUT"
expect_code 0 timeout 100 bash -c "exec 3<> '$MNT/.kinfs/query/q'; cat '$SOURCE/a' >&3; cat <&3"
expect_match 'a question' 'a' "$OUT"
expect_equal 'what another user was asked' ready "$(< said)"
kill $server
trap - EXIT
umount -l sticky/store
stop
