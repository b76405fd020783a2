/* What is declared of a file holds of the one that takes its name, however often, and leaves few
 * rows. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "engine/index/index_state.h"
#include "engine/index/tables/distinct.h"
#include "engine/index/tables/table_walk.h"
#include "tests/lib/fixtures/indexed_tree.h"

/* More often than copies are followed at a time. */
enum { TIMES = DECLARED_COPIES_MAX + 50, ROWS_OF_A_PAIR = 2 };

static void note(struct indexed_tree *f, const char *name)
{
    index_note_entry_by(f->index, 0, backing_root_key(f->backing), name);
}

static void move(struct indexed_tree *f, const char *from, const char *to)
{
    const struct file_key *root = backing_root_key(f->backing);
    assert_int_equal(rename(scratch_path(f->tree, "%s", from), scratch_path(f->tree, "%s", to)), 0);
    index_note_rename(f->index, 0, root, from, root, to);
}

static void take_away(struct indexed_tree *f, const char *name)
{
    assert_int_equal(unlink(scratch_path(f->tree, "%s", name)), 0);
    note(f, name);
}

static void make(struct indexed_tree *f, const char *name)
{
    scratch_write(scratch_path(f->tree, "%s", name), "");
    note(f, name);
}

static void make_link(struct indexed_tree *f, const char *from, const char *to)
{
    assert_int_equal(link(scratch_path(f->tree, "%s", from), scratch_path(f->tree, "%s", to)), 0);
    note(f, to);
}

static void declare(struct indexed_tree *f)
{
    make(f, "a");
    make(f, "b");
    indexed_tree_settle_foreground(f);
    const struct file_key a = indexed_tree_key(f, "a"), b = indexed_tree_key(f, "b");
    assert_int_equal(index_set_distinct(f->index, &a, &b, true), 0);
}

static bool is_declared(struct indexed_tree *f, const char *name)
{
    const struct file_key file = indexed_tree_key(f, name), b = indexed_tree_key(f, "b");
    return distinct_has(f->index->kv, &file, &b) == 1;
}

static size_t count_rows(struct indexed_tree *f)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    struct kv_entry row;
    size_t n = 0;
    assert_int_equal(table_walk_begin(&walk, f->index->kv, TABLE_DISTINCT, (struct kv_slice){0}),
                     0);
    while (table_walk_next(&walk, &row) == 1)
        n++;
    return n;
}

/* An editor gives the old file another name, makes a new one, and removes the old one when that is
 * written; each step is seen. */
static void test_declared__an_editor_may_keep_the_old_file_until_the_new_is_written(void **state)
{
    struct indexed_tree *f = *state;
    declare(f);
    for (unsigned i = 0; i < TIMES; i++) {
        move(f, "a", "old");
        make(f, "a");
        indexed_tree_settle_foreground(f);
        assert_true(is_declared(f, "a"));
        assert_true(is_declared(f, "old"));
        take_away(f, "old");
        indexed_tree_settle_foreground(f);
    }
    assert_true(is_declared(f, "a"));
    assert_int_equal(count_rows(f), ROWS_OF_A_PAIR);
}

/* The writing failed, and the old file has its name again. */
static void test_declared__the_old_file_may_come_back(void **state)
{
    struct indexed_tree *f = *state;
    declare(f);
    for (unsigned i = 0; i < TIMES; i++) {
        move(f, "a", "old");
        make(f, "a");
        indexed_tree_settle_foreground(f);
        move(f, "old", "a");
        indexed_tree_settle_foreground(f);
    }
    assert_true(is_declared(f, "a"));
    assert_int_equal(count_rows(f), ROWS_OF_A_PAIR);
}

/* Links of a file, link0 and on, and then other files in the place of these. */
static void replace_links(struct indexed_tree *f, unsigned n)
{
    char name[16];
    for (unsigned i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "link%u", i);
        make_link(f, "a", name);
    }
    indexed_tree_settle_foreground(f);
    for (unsigned i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "link%u", i);
        make(f, "new");
        move(f, "new", name);
    }
    indexed_tree_settle_foreground(f);
}

/* Links of a file, other files in the place of these, which go, and then the file itself, for which
 * one of them stands. */
static void test_declared__links_leave_few_rows(void **state)
{
    enum { LINKS = 40, ROUNDS = 3 * TIMES / LINKS };
    struct indexed_tree *f = *state;
    char name[16];
    declare(f);
    for (unsigned round = 0; round < ROUNDS; round++) {
        replace_links(f, LINKS);
        assert_true(is_declared(f, "link0"));
        assert_int_equal(count_rows(f), ROWS_OF_A_PAIR * (LINKS + 1));
        if (round % 2) {
            take_away(f, "a");
            indexed_tree_settle_foreground(f);
        }
        for (unsigned i = 1; i < LINKS; i++) {
            snprintf(name, sizeof(name), "link%u", i);
            take_away(f, name);
        }
        move(f, "link0", "a");
        indexed_tree_settle_foreground(f);
        assert_true(is_declared(f, "a"));
        assert_int_equal(count_rows(f), ROWS_OF_A_PAIR);
    }
}

static void test_declared__no_more_copies_are_followed_at_a_time(void **state)
{
    struct indexed_tree *f = *state;
    unsigned n_declared = 0;
    char name[16];
    declare(f);
    replace_links(f, TIMES);
    for (unsigned i = 0; i < TIMES; i++) {
        snprintf(name, sizeof(name), "link%u", i);
        n_declared += is_declared(f, name);
    }
    assert_int_equal(n_declared, DECLARED_COPIES_MAX);
    assert_true(is_declared(f, "a"));
}

/* Two files exchange their names again and again. */
static void test_declared__names_that_are_exchanged_are_one_copy(void **state)
{
    struct indexed_tree *f = *state;
    const struct file_key *root = backing_root_key(f->backing);
    declare(f);
    make(f, "new");
    indexed_tree_settle_foreground(f);
    const struct file_key a = indexed_tree_key(f, "a"), new = indexed_tree_key(f, "new");
    for (unsigned i = 0; i < TIMES; i++) {
        assert_int_equal(declared_carry(f->index, root, "a", &a, &new, true), 0);
        assert_int_equal(declared_carry(f->index, root, "a", &new, &a, true), 0);
    }
    assert_int_equal(f->index->declared_copies.n, 1);
    /* What was declared since is carried, too. */
    make(f, "c");
    indexed_tree_settle_foreground(f);
    const struct file_key c = indexed_tree_key(f, "c");
    assert_int_equal(distinct_set(f->index->kv, &new, &c, true), 0);
    assert_int_equal(declared_carry(f->index, root, "a", &new, &a, true), 0);
    assert_int_equal(distinct_has(f->index->kv, &a, &c), 1);
    assert_int_equal(distinct_set(f->index->kv, &new, &c, false), 0);
    assert_int_equal(distinct_set(f->index->kv, &a, &c, false), 0);
    assert_true(is_declared(f, "a"));
    assert_true(is_declared(f, "new"));
    take_away(f, "new");
    indexed_tree_settle_foreground(f);
    assert_int_equal(count_rows(f), ROWS_OF_A_PAIR);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, indexed_tree_setup, indexed_tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_declared__an_editor_may_keep_the_old_file_until_the_new_is_written),
        TEST(test_declared__the_old_file_may_come_back),
        TEST(test_declared__links_leave_few_rows),
        TEST(test_declared__no_more_copies_are_followed_at_a_time),
        TEST(test_declared__names_that_are_exchanged_are_one_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
