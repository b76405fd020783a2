#!/usr/bin/env bash
# A kernel that leaves it to nobody to clear the suid and sgid bits of what is written has them cleared by a change of mode, for who
# writes, who need not own the file. Which of the two go is the kernel's to say.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can act as others'
needs setpriv cc ldd
[[ ! $(ldd "$KINFS") =~ lib[at]san ]] || skip 'a sanitizer wants to be the first library'

# The kernel's offer (FUSE_HANDLE_KILLPRIV_V2) does not arrive.
cat > offer.c << 'C'
#define _GNU_SOURCE
#include <linux/fuse.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t read(int fd, void *buffer, size_t size)
{
    ssize_t n = syscall(SYS_read, fd, buffer, size);
    struct { struct fuse_in_header header; struct fuse_init_in init; } *in = buffer;
    if (n >= (ssize_t)sizeof(*in) && in->header.len == n && in->header.opcode == FUSE_INIT)
        in->init.flags &= ~FUSE_HANDLE_KILLPRIV_V2;
    return n;
}
C
cc -shared -fPIC -o offer.so offer.c
chmod 755 "$SCRATCH"
LD_PRELOAD=$SCRATCH/offer.so start -o allow_other,nopassthrough,watch=none,views=none
expect_match 'the offer' '"killpriv_v2": *false' "$("$KINFS" status --json "$MNT")"
write_as() { # MODE UID: prints the mode afterwards
    rm -f "$SOURCE"/file* # beside the mount: the kernel knows nothing of the next
    touch "$SOURCE/file$1"
    chmod "$1" "$SOURCE/file$1"
    setpriv --reuid="$2" --regid="$2" --clear-groups sh -c "echo more >> '$MNT/file$1'" || echo 'not written'
    stat -c %a "$SOURCE/file$1"
}
expect_equal 'both bits' 777 "$(write_as 6777 12345)"
expect_equal 'suid alone' 777 "$(write_as 4777 12345)"
expect_equal 'sgid alone' 777 "$(write_as 2777 12345)"
# Without x of the group sgid is no right of who executes, and may stay.
expect_match 'suid, and sgid that stays' '^2?767$' "$(write_as 6767 12345)"
expect_equal 'neither' 666 "$(write_as 666 12345)"
stop
