/* Directories that move, or change names, while a scan is under way or before it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>

#include "tests/lib/fixtures/scan_fixture.h"
#include "tests/lib/share.h"

static void test_scan__a_directory_that_leaves_the_tree_meanwhile_is_not_added(void **state)
{
    struct fixture *f = *state;
    unsigned n_steps = scan(f, 0, NULL);
    for (unsigned at = 0; at < n_steps; at += failure_step()) {
        scan(f, at, move_out);
        take_away(f, UINT_MAX);
        assert_int_equal(n_entries(f), 0);
        move_in(f);
        scan(f, 0, NULL);
        assert_catalogue_is(f, "tree/large");
    }
}

static struct moved {
    bool is_in_z, is_missed_first, is_done;
} moved;

static void move_to_the_other(struct fixture *f)
{
    const char *from = moved.is_in_z ? "z" : "a", *to = moved.is_in_z ? "a" : "z";
    const struct file_key old = key_of(f, from), new = key_of(f, to);
    assert_int_equal(
        rename(scratch_path(f->tree, "%s/large", from), scratch_path(f->root, "tree/%s/large", to)),
        0);
    if (moved.is_missed_first) {
        note(f, &old, "large");
        reconcile_noted(f);
    }
    index_note_rename(f->index, 0, &old, "large", &new, "large");
    moved.is_in_z = !moved.is_in_z;
    moved.is_done = true;
}

/* From where the scan has not been to where it has. */
static void test_scan__a_known_directory_that_moves_meanwhile_is_looked_into(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkdir(scratch_path(f->tree, "a"), 0755), 0);
    assert_int_equal(mkdir(scratch_path(f->tree, "z"), 0755), 0);
    assert_int_equal(rename(scratch_path(f->tree, "large"), scratch_path(f->root, "tree/a/large")),
                     0);
    scan(f, 0, NULL);
    moved = (struct moved){.is_done = true};
    for (unsigned at = 0; moved.is_done; at += failure_step()) {
        for (unsigned i = 0; i < 4; i++) {
            moved.is_missed_first = i > 1;
            moved.is_done = false;
            scratch_write(
                scratch_path(f->tree, "%s/large/late-%u-%u", moved.is_in_z ? "z" : "a", at, i), "");
            scan(f, at, move_to_the_other);
            assert_catalogue_is(f, moved.is_in_z ? "tree/z/large" : "tree/a/large");
        }
    }
}

/* Nobody said so: a crash came between. Both ways round, since one is looked at before the other.
 */
static void test_scan__directories_that_changed_names_are_looked_into(void **state)
{
    struct fixture *f = *state;
    static const char *const others[] = {"a", "z"};
    char name[16] = "large";
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(mkdir(scratch_path(f->tree, "%s", others[i]), 0755), 0);
        scratch_write(scratch_path(f->tree, "%s/1", others[i]), "");
        scan(f, 0, NULL);
        assert_int_equal(renameat2(AT_FDCWD, scratch_path(f->tree, "%s", name), AT_FDCWD,
                                   scratch_path(f->tree, "%s", others[i]), RENAME_EXCHANGE),
                         0);
        snprintf(name, sizeof(name), "%s", others[i]);
        assert_int_equal(unlink(scratch_path(f->tree, "%s/%04u", name, 7 + i)), 0);
        scratch_write(scratch_path(f->tree, "%s/more%u", name, i), "");
        scan(f, 0, NULL);
        assert_catalogue_is(f, scratch_path("tree", "%s", name));
    }
}

/* Each directory has the name of the one before it. */
static void rotate(struct fixture *f, unsigned n)
{
    assert_int_equal(rename(scratch_path(f->tree, "%u", n - 1), scratch_path(f->tree, "aside")), 0);
    for (unsigned i = n - 1; i-- > 0;)
        assert_int_equal(
            rename(scratch_path(f->tree, "%u", i), scratch_path(f->root, "tree/%u", i + 1)), 0);
    assert_int_equal(rename(scratch_path(f->tree, "aside"), scratch_path(f->tree, "0")), 0);
}

static void test_scan__very_many_directories_that_change_names_are_followed(void **state)
{
    struct fixture *f = *state;
    enum { N = 2500 }; /* more than a stack has room for, one within the other */
    char *error = NULL;
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(mkdir(scratch_path(f->tree, "%u", i), 0755), 0);
    scan(f, 0, NULL);
    for (unsigned round = 0; round < 2; round++) {
        rotate(f, N);
        assert_int_equal(scan_begin(f->index), 0);
        while (step(f) > 0 && (round == 0 || directory_removal_is_idle(f->index)))
            continue;
        if (round == 0) {
            take_away(f, UINT_MAX);
        } else { /* the next opening goes on where this one ended */
            assert_false(directory_removal_is_idle(f->index));
            index_close(f->index, 0);
            struct index_options options = {
                .backing = f->backing, .source = f->tree, .store_path = f->store};
            if (index_open(&options, &f->index, &error) < 0)
                fail_msg("%s", error);
            scan(f, 0, NULL);
            take_away(f, UINT_MAX);
        }
        assert_true(directory_removal_is_idle(f->index));
        for (unsigned i = 0; i < N; i++) {
            const struct file_key key = key_of(f, scratch_path("", "%u", i) + 1);
            struct catalogue_list links = {0};
            char name[16];
            snprintf(name, sizeof(name), "%u", i);
            assert_int_equal(catalogue_links(f->index->kv, &key, 2, &links), 0);
            assert_int_equal(links.n_entries, 1);
            assert_string_equal(links.entries[0].name, name);
            catalogue_list_done(&links);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_scan__a_directory_that_leaves_the_tree_meanwhile_is_not_added),
        ON_A_TREE(test_scan__a_known_directory_that_moves_meanwhile_is_looked_into),
        ON_A_TREE(test_scan__directories_that_changed_names_are_looked_into),
        ON_A_TREE(test_scan__very_many_directories_that_change_names_are_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
