#!/usr/bin/env bash
# What is mounted in a second place, too, does not end with the first: kinfs umount says where, and ends
# with the last.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $UID = 0 ]] || skip 'a second mount needs root'
needs_fuse
needs unshare

unmounting= said=
begin_unmount() { # what it says goes to $said, a file
    said=$SCRATCH/said-$1
    "$KINFS" umount "$MNT" 2> "$said" &
    unmounting=$!
    until [[ -s $said ]]; do
        kill -0 "$unmounting" 2> /dev/null || fail "$1: not waited for"
    done
    expect_equal "$1: gone here" '' "$(ls "$MNT")"
}
end_unmount() {
    wait "$unmounting" || fail "$1: exit code $?: $(cat "$said")"
    expect_equal "$1: lines" 1 "$(wc -l < "$said")"
}

mkdir -p "$SOURCE/d" other
echo text > "$SOURCE/d/file"
start
mount --bind "$MNT/d" other
begin_unmount bind
expect_match 'bind' "^kinfs: $MNT: unmounted here, but mounted still .*on $SCRATCH/other[,;]" "$(cat "$said")"
expect_equal 'serves there' text "$(cat other/file)"
umount other
end_unmount bind

start
mkfifo never
# What others have mounted must not stay mounted because of the copies there.
# shellcheck disable=SC2016
unshare --mount --propagation private bash -c '
    findmnt -rno TARGET -t fuse.kinfs | while IFS= read -r target; do
        target=$(printf %b "$target")
        [[ $target = "$0" ]] || umount -l "$target"
    done
    exec cat never' "$MNT" &
holding=$!
until grep -qs '^cat' "/proc/$holding/cmdline"; do :; done
begin_unmount namespace
expect_match 'namespace' "in the mount namespace of .*\(process $holding\)" "$(cat "$said")"
expect_equal 'serves there' text "$(cat "/proc/$holding/root$MNT/d/file")"
kill "$holding"
end_unmount namespace
