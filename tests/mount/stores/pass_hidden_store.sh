#!/usr/bin/env bash
# A store inside the tree is not to be seen through the mount.
. "${0%/mount/*}/lib/shell/mount.sh"
mkdir -p "$SOURCE/a"
start -o store="$SOURCE/a/store"
[[ -n $(ls "$SOURCE/a/store") ]] || fail "there is no store"
echo text > "$MNT/a/file"
expect_equal "list" "file" "$(ls -A "$MNT/a")"
expect_equal "find" "$MNT/a/file" "$(find "$MNT/a" -mindepth 1)"
[[ ! -e $MNT/a/store ]] || fail "found by name"
! mv "$MNT/a/store" "$MNT/b" 2> /dev/null || fail "moved"
! rmdir "$MNT/a/store" 2> /dev/null || fail "removed"
mv "$MNT/a" "$MNT/b"
expect_equal "list of the renamed directory" "file" "$(ls -A "$MNT/b")"
mv "$MNT/b" "$MNT/a"
stop
