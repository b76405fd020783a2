#!/usr/bin/env bash
. "${0%/mount/*}/lib/shell/operations.sh"
compare_operations controls

# A mount that is read-only changes nothing below, by what the kernel does not check either.
[[ $UID = 0 ]] || exit 0
needs mkfs.ext4 chattr lsattr
umount "$SCRATCH/disk"
mkfs.ext4 -q -F -O ^metadata_csum "$SCRATCH/disk.img" # where generations can be set
mount -o loop "$SCRATCH/disk.img" "$SCRATCH/disk"
mkdir "$SOURCE"
touch "$SOURCE/f"
generation() { lsattr -v "$SOURCE/f" | awk '{ print $1 }'; }
chattr -v 777 "$SOURCE/f"
start -o ro,nosketch
set_generation() { python3 -c 'import fcntl, sys; fcntl.ioctl(open(sys.argv[1]), 0x40087602, b"\x0a\x03\0\0\0\0\0\0")' "$1"; }
set_generation "$SOURCE/f"
expect_equal 'generation, set in the tree' 778 "$(generation)"
chattr -v 777 "$SOURCE/f"
! set_generation "$MNT/f" 2> said || fail 'a generation was set'
expect_match 'why not' 'Inappropriate ioctl' "$(< said)"
expect_equal 'generation' 777 "$(generation)"
stop
