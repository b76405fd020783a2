# Sourced by tests/mount/operations/op_*.sh: the operations of a noun, on a mount as in a plain directory of the
# same file system, with kernel passthrough and without.
# shellcheck shell=bash

. "$(dirname "${BASH_SOURCE[0]}")/mount.sh"

# on_ext4: the backing tree and the plain directory are on a fresh ext4 of their own, where root is
# there to mount one: what a test says of holes and limits is then known.
on_ext4() {
    [[ $UID = 0 ]] || return 0
    needs mkfs.ext4
    truncate -s "${1:-400M}" "$SCRATCH/disk.img"
    mkfs.ext4 -q -F -b 4096 "$SCRATCH/disk.img"
    mkdir "$SCRATCH/disk"
    mount -o loop,relatime "$SCRATCH/disk.img" "$SCRATCH/disk" 2> /dev/null || skip "cannot mount a loop device here"
    own_disk=yes
    SOURCE=$SCRATCH/disk/source
    PLAIN=$SCRATCH/disk/plain
}

compare_operations() { # NOUN [MOUNT_OPTIONS]
    needs python3
    PLAIN=$SCRATCH/plain
    own_disk=
    on_ext4
    chmod 755 "$SCRATCH" # other users take part
    local option way failed=0
    for option in $WAYS; do
        way=on
        [[ $option = passthrough ]] || way=off
        start -o "${own_disk:+dev,suid,}$option${2:+,$2}"
        mkdir -p "$PLAIN/$option" "$MNT/$option"
        export WITH_STATX=yes
        libfuse_is_from 3.18 || WITH_STATX=no
        python3 "$LIB/operations/compare.py" "$1" "$way" "$PLAIN/$option" "$MNT/$option" "$SOURCE/$option" \
            ${own_disk:+--known} || failed=1
        stop
    done
    [[ $failed = 0 ]] || fail "something is not as in a plain directory, see above"
}
