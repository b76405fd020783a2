/* What is told once more, to a kernel that there is none of: no notice arrives. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fs/watch/watch_private.h"
#include "tests/lib/scratch.h"

enum { N_INODES = 3 };

static char root[64];
static struct fs fs;
static struct watch watch;
static struct inode *inodes[N_INODES];

static int setup(void **state)
{
    (void)state;
    scratch_make(root);
    memset(&fs, 0, sizeof(fs));
    memset(&watch, 0, sizeof(watch));
    watch.fs = &fs;
    if (backing_open(root, &fs.backing) < 0 || inode_table_init(&fs.inodes, fs.backing) < 0)
        return -1;
    for (int i = 0; i < N_INODES; i++) {
        struct stat st;
        char name[8];
        snprintf(name, sizeof(name), "%d", i);
        scratch_write(scratch_path(root, "%s", name), name);
        int fd = inode_open_name(&fs.inodes, backing_root_fd(fs.backing), name);
        if (fd < 0 || inode_lookup(&fs.inodes, fs.inodes.root, name, fd, &inodes[i], &st) < 0)
            return -1;
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    watch_batch_unref(watch.again);
    inode_table_done(&fs.inodes);
    backing_close(fs.backing);
    scratch_remove(root);
    return 0;
}

/* How often what is seen now has to be told once more, and all that is waiting becomes due. */
static size_t tell(unsigned what)
{
    size_t n = 0;
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    for (int i = 0; what && i < N_INODES; i++)
        assert_int_equal(watch_batch_add(batch, &inodes[i]->key, NULL, what), 0);
    watch_tell_attributes(&watch, batch);
    struct seen *again;
    if (watch.again)
        TAILQ_FOREACH(again, &watch.again->seen, order)
        {
            again->due_ms = 1;
            n++;
        }
    watch.again_due_ms = 1;
    return n;
}

/* A reply to what changes an inode may be under way for as long as somebody goes on changing it. */
static void change_on(void)
{
    for (int i = 0; i < N_INODES; i++)
        inodes[i]->changed_ms = clock_now_ms() + 3600000;
}

static void test_watch_kernel__what_changes_on_and_on_takes_no_more_and_more_room(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        change_on();
        assert_in_range(tell(i % 2 ? SEEN_CONTENT : SEEN_ATTRIBUTES), N_INODES, N_INODES);
    }
    change_on();
    assert_int_equal(tell(0), N_INODES);
    for (int i = 0; i < N_INODES; i++)
        inodes[i]->changed_ms = 0; /* it is known that the reply has come */
    assert_int_equal(tell(0), 0);
    assert_int_equal(tell(SEEN_ATTRIBUTES), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_watch_kernel__what_changes_on_and_on_takes_no_more_and_more_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
