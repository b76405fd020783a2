/* The queue of events has a bound. Skipped where fanotify, or a file system in which nobody else
 * changes anything, is not to be had. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>

#include "base/cleanup.h"
#include "fs/watch/watch_private.h"
#include "tests/lib/scratch.h"

/* Not so many names that a batch has no room for them, but too many for the kernel to know an event
 * again that is in the queue. */
enum { N_NAMES = 20000, N_RENAMES = WATCH_QUEUED_MAX + N_NAMES };

static char root[64];
static struct fs fs;
static struct watch watch;

static bool is_alone;

static int setup(void **state)
{
    (void)state;
    scratch_make(root);
    is_alone = scratch_own_mounts() && mount("none", root, "tmpfs", 0, NULL) == 0;
    watch = (struct watch){.fs = &fs, .source_fd = -1};
    return backing_open(root, &fs.backing);
}

static int teardown(void **state)
{
    (void)state;
    watch_fanotify.close(&watch);
    backing_close(fs.backing);
    if (is_alone)
        umount2(root, MNT_DETACH);
    scratch_remove(root);
    return 0;
}

static void rename_once(int i)
{
    char names[2][16];
    const int from = i / N_NAMES % 2;
    for (int k = 0; k < 2; k++)
        snprintf(names[k], sizeof(names[k]), "%c%d", "ab"[k], i % N_NAMES);
    const int root_fd = backing_root_fd(fs.backing);
    assert_int_equal(renameat(root_fd, names[from], root_fd, names[!from]), 0);
}

static int read_once(size_t *ret_n_seen)
{
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    int r = watch_fanotify.read(&watch, batch);
    *ret_n_seen = batch->n_seen;
    return r;
}

static bool is_queue_empty(void)
{
    struct pollfd queue = {.fd = watch.source_fd, .events = POLLIN};
    return poll(&queue, 1, 0) == 0;
}

static void test_watch_fanotify__reads_no_queue_that_is_too_long(void **state)
{
    (void)state;
    _cleanup_free_ char *why = NULL;
    size_t n_seen;
    if (!is_alone || watch_fanotify.open(&watch, &why) < 0)
        skip();
    for (int i = 0; i < N_NAMES; i++)
        scratch_write(scratch_path(root, "a%d", i), "");
    const int fd = watch.source_fd;
    for (int i = 0; i < N_NAMES; i++)
        rename_once(i);
    assert_int_equal(read_once(&n_seen), 0);
    assert_true(n_seen > 0);
    for (int i = 0; i < N_RENAMES; i++)
        rename_once(N_NAMES + i);
    assert_int_equal(read_once(&n_seen), -EOVERFLOW);
    assert_int_equal(n_seen, 0);
    assert_true(is_queue_empty());
    assert_int_equal(watch.source_fd, fd);
    scratch_write(scratch_path(root, "new"), "");
    assert_false(is_queue_empty());
    assert_int_equal(read_once(&n_seen), 0);
    assert_true(n_seen > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watch_fanotify__reads_no_queue_that_is_too_long),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
