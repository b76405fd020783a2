/* What other users have no part in: what is hidden from who asks, what is of another owner, and
 * what takes no room but time. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/stat.h>

#include "engine/index/tables/compared.h"
#include "tests/lib/fixtures/unique_fixture.h"
#include "tests/lib/share.h"

/* -- for who may not read everything -- */

static enum index_right may_read(void *user, const char *path, const struct file_key *key)
{
    (void)user, (void)path, (void)key;
    return INDEX_ALLOWED;
}

static int take(void *user, const char *path, const struct index_stand_in *stand_in)
{
    (void)path, (void)stand_in;
    ++*(unsigned *)user;
    return 0;
}

static void test_unique_users__who_may_not_read_everything_is_refused(void **state)
{
    struct indexed_tree *f = *state;
    const struct index_query query = {.may_read = may_read, .wait_ms = 60000};
    struct index_stand_in stand_in = {0};
    unsigned n = 0;
    add(f, "first", 1, "");
    add(f, "copy", 1, "");
    settle(f);
    _cleanup_(index_unique_free_p) struct index_unique *unique =
        make_unique(f, 0.95, INDEX_STAYS_OLDEST, NULL, 0);
    const struct file_key key = indexed_tree_key(f, "copy");
    for (int i = 0; i < 2; i++) { /* be it known already */
        assert_int_equal(index_unique_left_out(unique, backing_root_key(f->backing), "copy", &key,
                                               &query, &stand_in),
                         -EACCES);
        assert_null(stand_in.path);
        assert_int_equal(index_unique_each(unique, &query, take, &n), -EACCES);
        assert_int_equal(n, 0);
        assert_stands_in(f, unique, "copy", "first");
    }
}

/* -- of several owners -- */

enum { THEIRS = 54321 };

static void give(struct indexed_tree *f, const char *name)
{
    assert_int_equal(chown(scratch_path(f->tree, "%s", name), THEIRS, THEIRS), 0);
    note(f, name);
}

static struct index_unique *make_unique_of_anyone(struct indexed_tree *f)
{
    struct index_unique_options options = {.near = 0.95, .stand_in_anyone = true};
    struct index_unique *unique;
    assert_int_equal(index_unique_new(f->index, &options, &unique), 0);
    return unique;
}

static void test_unique_users__what_is_of_another_owner_decides_nothing(void **state)
{
    struct indexed_tree *f = *state;
    enum { N_COPIES = 300 };
    if (geteuid() != 0)
        skip();
    for (unsigned i = 0; i < part_of(N_COPIES); i++) {
        char name[16];
        snprintf(name, sizeof(name), "copy %u", i);
        add(f, name, 3, "");
        give(f, name);
    }
    add(f, "their first", 1, "");
    add(f, "their version", 1, "a");
    give(f, "their first");
    give(f, "their version");
    add(f, "first", 1, "");
    add(f, "version", 1, "b");
    add(f, "copy", 1, "b");
    add(f, "one", 3, "");
    add(f, "other", 3, "");
    add(f, "alone", 2, "");
    add(f, "not alone", 2, "");
    give(f, "alone");
    settle(f);
    _cleanup_(index_unique_free_p) struct index_unique *of_owner =
        make_unique(f, 0.95, INDEX_STAYS_OLDEST, NULL, 0);
    _cleanup_(index_unique_free_p) struct index_unique *of_anyone = make_unique_of_anyone(f);
    for (int i = 0; i < 2; i++) {
        assert_stands_in(f, of_owner, "their first", "");
        assert_stands_in(f, of_owner, "first", "");
        assert_stands_in(f, of_owner, "their version", "their first");
        assert_stands_in(f, of_owner, "version", "first");
        assert_stands_in(f, of_owner, "copy", "first");
        assert_stands_in(f, of_owner, "one", "");
        assert_stands_in(f, of_owner, "other", "one");
        assert_stands_in(f, of_owner, "alone", "");
        assert_stands_in(f, of_owner, "not alone", "");
        assert_stands_in(f, of_anyone, "first", "their first");
        assert_stands_in(f, of_anyone, "version", "their first");
        /* One of another owner, which the 256 that are looked at begin with. */
        assert_memory_equal(asked(f, of_anyone, "other"), "copy ", 5);
        assert_stands_in(f, of_anyone, "not alone", "alone");
    }
    /* One that changes hands is the other's from then on. */
    give(f, "first");
    settle(f);
    assert_stands_in(f, of_owner, "first", "their first");
    assert_stands_in(f, of_owner, "version", "");
    assert_stands_in(f, of_owner, "copy", "version");
}

static const struct record *borrow(struct indexed_tree *f, const char *name)
{
    const struct file_key key = indexed_tree_key(f, name);
    struct file_row row;
    const struct record *record;
    assert_int_equal(catalogue_get_file(f->index->kv, &key, &row), 0);
    assert_int_equal(records_borrow(f->index->records, &row.sid, 1, &record), 0);
    assert_non_null(record);
    return record;
}

static void assert_state(struct indexed_tree *f, const char *name, const struct stat *st)
{
    struct stat expected;
    assert_int_equal(lstat(scratch_path(f->tree, "%s", name), &expected), 0);
    assert_int_equal(st->st_ino, expected.st_ino);
    assert_int_equal(st->st_size, expected.st_size);
    assert_memory_equal(&st->st_mtim, &expected.st_mtim, sizeof(expected.st_mtim));
    assert_memory_equal(&st->st_ctim, &expected.st_ctim, sizeof(expected.st_ctim));
}

/* What has been found by reading the files of one owner says nothing of those of another, and so is
 * found once more. */
static void test_unique_users__what_was_read_is_kept_by_owner(void **state)
{
    struct indexed_tree *f = *state;
    uint8_t class_a[CLASS_BYTES], class_b[CLASS_BYTES], digest[COMPARED_DIGEST_BYTES];
    const uint8_t noted[COMPARED_DIGEST_BYTES] = "noted";
    const uid_t owners[] = {0, THEIRS, UINT32_MAX};
    /* Whether a sketch has one found depends on the store's key. */
    enum { N_VERSIONS = 6 };
    static const char *const changes[N_VERSIONS] = {"abcd", "efgh", "ijkl", "mnop", "qrst", "uvwx"};
    char name[N_VERSIONS][4];
    unsigned n_found = 0;
    double resemblance;
    add(f, "a", 1, "");
    add(f, "a too", 1, "");
    for (unsigned i = 0; i < N_VERSIONS; i++) {
        snprintf(name[i], sizeof(name[i]), "b%u", i);
        add(f, name[i], 1, changes[i]);
    }
    settle(f);
    const struct record *a = borrow(f, "a");
    record_class(a, class_a);
    for (unsigned i = 0; i < 3 * N_VERSIONS; i++) {
        const uid_t owner = owners[i / N_VERSIONS];
        const struct record *b = borrow(f, name[i % N_VERSIONS]);
        record_class(b, class_b);
        records_return(f->index->records, &b, 1);
        if (owner == geteuid())
            continue;
        assert_int_equal(compared_put(f->index->kv, owner, class_a, class_b, 1), 0);
        assert_int_equal(compared_put_digest(f->index->kv, owner, a, noted), 0);
    }
    assert_int_equal(compared_get(f->index->kv, geteuid(), class_b, class_a, &resemblance),
                     -ENOENT);
    assert_int_equal(compared_get(f->index->kv, THEIRS, class_b, class_a, &resemblance), 0);
    assert_int_equal(compared_get_digest(f->index->kv, geteuid(), a, digest), -ENOENT);
    assert_int_equal(compared_get_digest(f->index->kv, THEIRS, a, digest), 0);
    assert_memory_equal(digest, noted, sizeof(noted));
    records_return(f->index->records, &a, 1);

    _cleanup_(index_unique_free_p) struct index_unique *unique =
        make_unique(f, 0.95, INDEX_STAYS_OLDEST, NULL, 0);
    _cleanup_(index_stand_in_done) struct index_stand_in stand_in = {0};
    const struct file_key key = indexed_tree_key(f, "a too");
    const struct index_query query = {.wait_ms = 60000};
    assert_int_equal(index_unique_left_out(unique, backing_root_key(f->backing), "a too", &key,
                                           &query, &stand_in),
                     1);
    assert_digest(f, "a too", stand_in.sha256);
    assert_state(f, "a too", &stand_in.left_out);
    assert_state(f, stand_in.path, &stand_in.stays);
    for (unsigned i = 0; i < N_VERSIONS; i++)
        assert_stands_in(f, unique, name[i], "");
    _cleanup_(index_unique_free_p) struct index_unique *of_anyone = make_unique_of_anyone(f);
    for (unsigned i = 0; i < N_VERSIONS; i++)
        n_found += strcmp(asked(f, of_anyone, name[i]), "a") == 0; /* as was written above */
    assert_int_not_equal(n_found, 0);
}

/* -- how much is read for an answer -- */

/* Of holes nothing but their length is planted. */
static void test_unique_users__what_takes_long_to_read_is_shown(void **state)
{
    struct indexed_tree *f = *state;
    static const struct {
        const char *one, *other;
        off_t size;
        bool left_out;
    } pairs[] = {{"a", "b", 60 << 20, true}, {"c", "d", 68 << 20, false}};
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned k = 0; k < 2; k++) {
            const char *name = k ? pairs[i].other : pairs[i].one;
            add(f, name, 1 + i, "");
            assert_int_equal(truncate(scratch_path(f->tree, "%s", name), pairs[i].size), 0);
            set_time(f, name, 3000000 + k);
            note(f, name);
        }
    }
    settle(f);
    _cleanup_(index_unique_free_p) struct index_unique *unique =
        make_unique(f, 0.95, INDEX_STAYS_OLDEST, NULL, 0);
    for (unsigned i = 0; i < 2; i++)
        assert_stands_in(f, unique, pairs[i].other, pairs[i].left_out ? pairs[i].one : "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, indexed_tree_setup, indexed_tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_unique_users__who_may_not_read_everything_is_refused),
        TEST(test_unique_users__what_is_of_another_owner_decides_nothing),
        TEST(test_unique_users__what_was_read_is_kept_by_owner),
        TEST(test_unique_users__what_takes_long_to_read_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
