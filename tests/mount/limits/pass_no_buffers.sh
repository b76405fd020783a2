#!/usr/bin/env bash
# A daemon that has memory to read requests into for two of its threads alone answers by these, however many others it has.
. "${0%/mount/*}/lib/shell/mount.sh"
needs_fuse
needs python3 cc ldd
[[ ! $(ldd "$KINFS") =~ lib[at]san ]] || skip 'a sanitizer wants to be the first library'

# What a request is read into is some 1 MiB, and nothing else of a thread that serves.
cat > refuse.c << 'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static int is_refused(size_t size)
{
    static atomic_int n_given;
    char name[16] = "";
    if (size < 1 << 20 || pthread_getname_np(pthread_self(), name, sizeof(name)) != 0 || strcmp(name, "kinfs_serve") != 0)
        return 0;
    errno = ENOMEM;
    return atomic_fetch_add(&n_given, 1) >= 2;
}

void *malloc(size_t size)
{
    static void *(*next)(size_t size);
    if (!next)
        next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    return is_refused(size) ? NULL : next(size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
    static int (*next)(void **ret, size_t alignment, size_t size);
    if (!next)
        next = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
    return is_refused(size) ? ENOMEM : next(ret, alignment, size);
}
C
cc -shared -fPIC -o refuse.so refuse.c -ldl
chmod 755 "$SCRATCH"
LD_PRELOAD=$SCRATCH/refuse.so start -o nosketch,watch=none
daemon=$(sed -n 's/.*"pid": *\([0-9]*\).*/\1/p' "$KINFS_STATE_DIR"/*/holder)
timeout 120 python3 - "$MNT" << 'PYTHON' || { kill -9 "$daemon"; fail 'requests that nobody reads'; }
import os, sys

def ask(who):
    for i in range(4000):
        assert not os.path.exists(f"{sys.argv[1]}/{who}.{i}")

pids = []
for who in range(6):
    pid = os.fork()
    if pid == 0:
        ask(who)
        os._exit(0)
    pids.append(pid)
for pid in pids:
    assert os.waitpid(pid, 0)[1] == 0
PYTHON
stop
