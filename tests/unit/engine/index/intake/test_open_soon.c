/* Whose threads the committer's looks take. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/index/intake/open_soon.h"
#include "tests/lib/fixtures/index_fixture.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint n_standing;

static void stand(struct look *look)
{
    (void)look;
    atomic_fetch_add(&n_standing, 1);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

static void pass(struct look *look)
{
    (void)look;
}

static void look_free(struct look *look)
{
    free(look);
}

static int look_as_committer(struct indexed_tree *f, const struct file_key *directory,
                             void (*work)(struct look *look), int64_t patience_us)
{
    struct look *look = calloc(1, sizeof(*look));
    assert_non_null(look);
    *look = (struct look){.work = work, .free = look_free};
    f->index->patience_us = patience_us;
    int r = look_soon_committing(f->index, directory, look);
    if (r == 0)
        free(look);
    return r;
}

/* A directory of which the kernel knows the one above alone, which is a user's. */
static struct file_key make_forgotten(struct indexed_tree *f, const char *name, uid_t user)
{
    char path[64], away[PATH_MAX];
    snprintf(path, sizeof(path), "%s/below", name);
    assert_int_equal(mkdir(scratch_path(f->tree, "%s", name), 0755), 0);
    assert_int_equal(chown(scratch_path(f->tree, "%s", name), user, user), 0);
    assert_int_equal(mkdir(scratch_path(f->tree, "%s", path), 0755), 0);
    struct file_key key = indexed_tree_key(f, path);
    index_note_entry(f->index, backing_root_key(f->backing), name);
    indexed_tree_settle(f);
    snprintf(away, sizeof(away), "%s/away-%s", f->root, name);
    assert_int_equal(rename(scratch_path(f->tree, "%s", path), away), 0);
    return key;
}

static void test_open_soon__who_keeps_threads_keeps_those_of_nobody_else(void **state)
{
    enum { LONG_US = 1000000, SHORT_US = 1000 };
    struct indexed_tree *f = *state;
    if (geteuid() != 0)
        skip();
    struct file_key kept = make_forgotten(f, "kept", 1), other = make_forgotten(f, "other", 2);
    int of_kept, of_other;
    pthread_mutex_lock(&gate);
    do
        of_kept = look_as_committer(f, &kept, stand, SHORT_US);
    while (of_kept == -ETIMEDOUT);
    do
        of_other = look_as_committer(f, &other, pass, LONG_US);
    while (of_other == -ETIMEDOUT);
    pthread_mutex_unlock(&gate);
    assert_int_equal(of_kept, -EAGAIN);
    assert_true(atomic_load(&n_standing) > 1);
    assert_int_equal(of_other, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_open_soon__who_keeps_threads_keeps_those_of_nobody_else, indexed_tree_setup,
            indexed_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
