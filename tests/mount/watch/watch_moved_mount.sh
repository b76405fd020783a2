#!/usr/bin/env bash
# Who renames a directory of their own that something is mounted below leaves a mount without an index as it is: the name that the mount was at,
# which the kernel does not know any more, is looked for by nobody when something is mounted elsewhere.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount'
needs_fuse
mkdir -p "$SOURCE/own/above/sub/mounted" "$SOURCE/open/mounted"
echo text > "$SOURCE/open/file"
trap 'umount -l "$SOURCE"/own/{above/,}sub/mounted "$SOURCE/open/mounted" 2> /dev/null || true' EXIT
mount -t tmpfs none "$SOURCE/own/above/sub/mounted"
start -o nosketch

is_seen() { [[ $(cat "$MNT/open/mounted/file" 2> /dev/null) == "$1" ]]; }
is_gone() { [[ ! -e $MNT/open/mounted/file ]]; }
# look N: the mounts are looked at, twice.
look() {
    mount -t tmpfs none "$SOURCE/open/mounted"
    echo "$1" > "$SOURCE/open/mounted/file"
    soon "what is mounted, $1" is_seen "$1"
    umount "$SOURCE/open/mounted"
    soon "that it is unmounted, $1" is_gone
}

# The kernel keeps what it was told, until the daemon has looked at the mounts.
expect_equal 'what is below' '' "$(ls "$MNT/open/mounted")"
look 1
mv "$SOURCE/own/above/sub" "$SOURCE/own/sub"
look 2
expect_equal 'a file' text "$(cat "$MNT/open/file")"
umount "$SOURCE/own/sub/mounted"
look 3
stop
