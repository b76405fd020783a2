#!/usr/bin/env bash
# As soon as `kinfs umount` has ended, what the tree is on can be unmounted too: the daemon has nothing of it open, however long it takes
# to close that.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount what the tree is on'
needs_fuse
needs strace mount
trap 'umount -l "$SOURCE" 2> /dev/null || true' EXIT
mkdir -p "$SOURCE" "$MNT"
# Under strace leaks cannot be looked for.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

for point in "$MNT" "$SOURCE"; do
    for sketching in sketch nosketch; do
        mount -t tmpfs none "$SOURCE" 2> /dev/null || skip 'no tmpfs can be mounted here'
        words 1 100 > "$SOURCE/a"
        strace -D -f -o /dev/null -P "$SOURCE" -e inject=close:delay_enter=200000 "$KINFS" mount -o "$sketching" "$SOURCE" "$point"
        expect_code 0 "$KINFS" umount "$point"
        expect_code 0 umount "$SOURCE"
    done
done
