#!/usr/bin/env bash
# A user who covers a directory above the mount point while root mounts there is asked nothing, and nobody waits for that mount: neither
# for what is above the mount point, which is refused then, as the source may be there, nor for the new mount, which is told by the table
# of mounts from another that calls itself so.
. "${0%/mount/*}/lib/shell/mount.sh"
[[ $EUID = 0 ]] || skip 'only root can mount for another user'
needs_fuse
needs python3 cc ldd
[[ ! $(ldd "$KINFS") =~ lib[at]san ]] || skip 'a sanitizer wants to be the first library'
chmod 755 "$SCRATCH"
mkdir -p his/docs his/mnt tree
chown -R 54321 his
words 1 90 > his/docs/a
words 1 90 > tree/a
servers=()
trap '((${#servers[@]} == 0)) || kill -KILL "${servers[@]}" 2> /dev/null || true; umount -l "$SCRATCH/his" "$SCRATCH"/his/* 2> /dev/null || true' EXIT

# The first look (of 64 bits) at the mount point that was opened waits until it is covered.
cat > pause.c << 'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int fstat64(int fd, struct stat64 *st)
{
    const char *point = getenv("POINT"), *ready = getenv("READY"), *covered = getenv("COVERED");
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    if (strcmp(path, point) == 0 && access(covered, F_OK) < 0) {
        close(open(ready, O_CREAT | O_WRONLY, 0600));
        while (access(covered, F_OK) < 0)
            usleep(1000);
    }
    return fstatat64(fd, "", st, AT_EMPTY_PATH);
}
C
cc -shared -fPIC -o pause.so pause.c

n=0
for how in 'his/docs' 'tree his/mnt'; do
    n=$((n + 1))
    # shellcheck disable=SC2086 # one directory or two
    POINT=$SCRATCH/${how##* } READY=$SCRATCH/ready-$n COVERED=$SCRATCH/covered-$n LD_PRELOAD=$SCRATCH/pause.so \
        "$KINFS" mount -f -o allow_other $how > "out-$n" 2>&1 &
    kinfs=$!
    servers+=("$kinfs")
    soon 'the mount point is looked at' test -e "ready-$n"
    "$LIB/file_systems/hanging_fs.py" his 54321 allow_other > "said-$n" &
    servers+=($!)
    soon 'it is covered' grep -q ready "said-$n"
    kill -USR1 "${servers[-1]}"
    touch "covered-$n"
    if [[ $how = his/docs ]]; then
        soon 'it is mounted' grep -q "$SCRATCH/${how##* } .* fuse.kinfs " /proc/self/mountinfo
        kill "$kinfs"
    fi
    await_end "$kinfs" || fail "kinfs mount $how waits for another user's mount"
    expect_equal "what the mount was asked: $how" ready "$(< "said-$n")"
    [[ $how = his/docs ]] || expect_match 'what may be inside of the source' "^kinfs.* above $SCRATCH/his/mnt .*another user.*; unmount" "$(< "out-$n")"
    kill "${servers[-1]}"
    umount -l his
    umount -l "${how##* }" 2> /dev/null || true
done
