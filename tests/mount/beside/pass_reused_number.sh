#!/usr/bin/env bash
# Where a new file may have all that a key has of a removed one, who held the old one through the mount does not come to the new one.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount file systems, and act as others'
needs python3 mkfs.ext4
chmod 755 "$SCRATCH"
ulimit -n 1024 # few descriptors are kept

# A kernel that does not tell what identifies a file of an overlay (Linux before 6.6).
preload=
if command -v cc > /dev/null && [[ ! $(ldd "$KINFS") =~ lib[at]san ]]; then
    cat > old_kernel.c << 'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

int name_to_handle_at(int dirfd, const char *path, struct file_handle *handle, int *mount_id, int flags)
{
    const int at_handle_fid = 0x200;
    if (flags & at_handle_fid) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_name_to_handle_at, dirfd, path, handle, mount_id, flags);
}
C
    cc -shared -fPIC -o old_kernel.so old_kernel.c
    preload=$SCRATCH/old_kernel.so
fi

attack() { # DIRECTORY [generation ATTACK...]: in the tree
    mkdir -p "$SOURCE/$1"
    chmod 1777 "$SOURCE/$1"
    python3 "$LIB/beside/reused_number.py" "$MNT/$1" "$SOURCE/$1" "${@:2}" || fail "see above: $way"
}

disk() { # MKFS_OPTION...: a new ext4 on disk/
    mkdir -p disk
    truncate -s 256M image
    mkfs.ext4 -qF "$@" image
    mount -o loop image disk 2> /dev/null || skip 'no loop device can be mounted here'
}

overlay() { # WHERE
    mkdir -p disk/{lower/low/in,upper,work} "$1"
    mount -t overlay overlay -o lowerdir="$SCRATCH/disk/lower,upperdir=$SCRATCH/disk/upper,workdir=$SCRATCH/disk/work" "$1" \
        2> /dev/null || skip 'no overlay can be mounted here'
    chmod 755 "$1"
}

# Who stands in a directory of the lower layer stays there when a change below, or of it, makes overlayfs copy it up.
stand() { # DIRECTORY: in the tree
    (cd "$MNT/$1/low" && touch in/new && ls && mkdir made && touch made/new && ls
        [[ $library ]] || { chown 12345 . && ls; }) > "$SCRATCH/said" || fail "not in the directory any more: $way"
}

for library in '' $preload; do
    for where in "$SOURCE/nested" "$SOURCE"; do
        way="overlay on $where${library:+, old kernel}"
        disk
        overlay "$where"
        LD_PRELOAD=$library start -o allow_other
        at=$([[ $where = "$SOURCE" ]] && echo . || echo nested)
        stand "$at"
        attack "$at/all"
        stop
        umount "$where" disk
    done
done

for bytes in 256 128; do # 128 have no room for a birth time
    way="generations of ext4, inodes of $bytes bytes"
    disk -O ^metadata_csum -I $bytes
    mount --bind disk "$SOURCE"
    chmod 755 "$SOURCE"
    start -o allow_other
    # shellcheck disable=SC2046 # words
    attack all generation $([[ $bytes = 128 ]] || echo swap) lead
    stop
    umount "$SOURCE" disk
done
