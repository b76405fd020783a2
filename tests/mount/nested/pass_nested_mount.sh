#!/usr/bin/env bash
# A mount inside the source is served, and can be unmounted there at any time: nothing is kept open on it.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount a tmpfs'
mkdir -p "$SOURCE/a/inner" "$SOURCE/b"
mount -t tmpfs none "$SOURCE/a/inner" 2> /dev/null || skip 'no tmpfs can be mounted here'
mkdir "$SOURCE/a/inner/d"
echo one > "$SOURCE/a/inner/d/f"
echo below > "$SOURCE/b/below"
start
expect_equal 'read' one "$(cat "$MNT/a/inner/d/f")"
echo two > "$MNT/a/inner/d/g"
mv "$MNT/a/inner/d/g" "$MNT/a/inner/h"
expect_equal 'written' two "$(cat "$SOURCE/a/inner/h")"

# Its mount point moves with the directory it is in, under a file that is open and one that is known.
exec 3< "$MNT/a/inner/d/f"
mv "$MNT/a" "$MNT/c"
expect_equal 'moved' one "$(cat "$MNT/c/inner/d/f")"
expect_equal 'still open' one "$(cat <&3)"
! umount "$SOURCE/c/inner" 2> /dev/null || fail 'unmounted although a file is open'
pid=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
has_none_open() { # MOUNT_POINT: the daemon, which is told of a close a moment after it
    local id
    id=$(awk -v point="$1" '$5 == point { id = $1 } END { print id }' /proc/self/mountinfo)
    ! grep -qsE "^mnt_id:[[:space:]]+$id\$" "/proc/$pid/fdinfo/"*
}
! has_none_open "$SOURCE/c/inner" || fail 'nobody knows what is open'
exec 3<&-
find "$MNT/c" -ls > /dev/null
soon 'all is closed' has_none_open "$SOURCE/c/inner"
umount "$SOURCE/c/inner" || fail 'a mount nobody uses is busy'
is_empty() { [[ ! $(ls "$MNT/c/inner") ]]; }
soon 'what the kernel keeps of names ends by itself' is_empty

# Another one in its place is another one.
mount -t tmpfs none "$SOURCE/c/inner"
echo three > "$SOURCE/c/inner/f"
soon 'the next one is seen' test -e "$MNT/c/inner/f"
expect_equal 'the next one' three "$(cat "$MNT/c/inner/f")"
soon 'all is closed in the next one' has_none_open "$SOURCE/c/inner"
umount "$SOURCE/c/inner" || fail 'the next one is busy'

# One after the other, each as soon as the last is gone: the kernel gives them one number and one device.
is_there() { [[ $(cat "$MNT/c/inner/f" 2> /dev/null) = "$1" ]]; }
for number in {1..20}; do
    mount -t tmpfs none "$SOURCE/c/inner"
    echo "$number" > "$SOURCE/c/inner/f"
    soon "mount $number" is_there "$number"
    soon "all is closed in mount $number" has_none_open "$SOURCE/c/inner"
    umount "$SOURCE/c/inner" || fail "mount $number is busy"
    ls "$MNT/c/inner" > /dev/null
done

# A part of the tree mounted a second time, read-only: each is reached by its own mount.
mkdir -p "$SOURCE/data/sub" "$SOURCE/ro"
echo four > "$SOURCE/data/f"
mount --bind "$SOURCE/data" "$SOURCE/ro"
mount -o remount,bind,ro "$SOURCE/ro"
soon 'the second mount is seen' test -e "$MNT/ro/f"
expect_equal 'read there' four "$(cat "$MNT/ro/f")"
cd "$MNT/data/sub"
for change in "tee $MNT/ro/f" "touch $MNT/ro/new" "rm $MNT/ro/f" "mkdir $MNT/ro/d" "truncate -s 0 $MNT/ro/f" "chmod 600 $MNT/ro/f"; do
    said=$(LC_ALL=C $change 2>&1 < /dev/null) && fail "not refused: $change"
    [[ $said == *'Read-only file system'* ]] || fail "$change: $said"
done
expect_equal 'as it was' four "$(cat "$SOURCE/data/f")"
echo five > "$MNT/data/f"
expect_equal 'written by the other' five "$(cat "$SOURCE/data/f")"
expect_equal 'where one stands' "$MNT/data/sub" "$(pwd -P)"
cd /
soon 'all is closed in the second mount' has_none_open "$SOURCE/ro"
umount "$SOURCE/ro" || fail 'the second mount is busy'
stop
