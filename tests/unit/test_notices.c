/* What the index is told of changes, in orders and numbers in which it is seldom told. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>

#include "engine/index/index.h"
#include "tests/lib/scratch.h"

struct fixture {
    char root[64], tree[80], store[80];
    struct backing *backing;
    struct index *index;
};

static void open_index(struct fixture *f)
{
    char *error = NULL;
    const struct index_options options = {
        .backing = f->backing, .source = f->tree, .store_path = f->store, .create = true};
    if (index_open(&options, &f->index, &error) < 0)
        fail_msg("%s", error);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    scratch_make(f->root);
    snprintf(f->tree, sizeof(f->tree), "%s/tree", f->root);
    snprintf(f->store, sizeof(f->store), "%s/store", f->root);
    assert_int_equal(mkdir(f->tree, 0755), 0);
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    open_index(f);
    assert_int_equal(index_start(f->index), 0);
    assert_int_equal(index_settle(f->index, INDEX_LANE_ALL, 60000), 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    index_close(f->index, 5000);
    backing_close(f->backing);
    scratch_remove(f->root);
    free(f);
    return 0;
}

static void settle(struct fixture *f)
{
    assert_int_equal(index_settle(f->index, INDEX_LANE_ALL, 60000), 0);
}

static void write_text(struct fixture *f, const char *name, unsigned version)
{
    char *text = scratch_text(1, version, 600, version % 8);
    scratch_write(scratch_path(f->tree, "%s", name), text);
    free(text);
}

static struct file_key key_of(struct fixture *f, const char *name)
{
    struct file_key key;
    assert_int_equal(backing_key_at(f->backing, backing_root_fd(f->backing), name, &key), 0);
    return key;
}

static void note_entry(struct fixture *f, const char *name)
{
    index_note_entry(f->index, backing_root_key(f->backing), name);
}

static struct index_status status_of(struct fixture *f)
{
    struct index_status status;
    index_get_status(f->index, &status);
    return status;
}

/* Written through the mount under a name that somebody else changes, the new one seen late. */
static void test_notices__a_file_renamed_while_it_is_written_is_sketched_at_its_end(void **state)
{
    struct fixture *f = *state;
    write_text(f, "new", 1);
    struct file_key key = key_of(f, "new");
    index_note_writing(f->index, &key, +1);
    note_entry(f, "old");
    index_note_content(f->index, &key); /* the flush of its close */
    settle(f);
    note_entry(f, "new");
    settle(f);
    index_note_writing(f->index, &key, -1); /* the release */
    settle(f);
    assert_int_equal(status_of(f).documents, 1);
}

static void test_notices__what_is_no_entry_of_a_directory_is_not_noted(void **state)
{
    static const char *const names[] = {".", "..", "", "a/b", "../source", "/"};
    struct fixture *f = *state;
    char *path = NULL;
    mkdir(scratch_path(f->tree, "a"), 0755);
    write_text(f, "a/b", 1);
    note_entry(f, "a");
    settle(f);
    struct file_key a = key_of(f, "a"), b = key_of(f, "a/b");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        note_entry(f, names[i]);
        index_note_entry(f->index, &a, names[i]);
        index_note_rename(f->index, &a, names[i], backing_root_key(f->backing), names[i]);
        assert_int_equal(status_of(f).pending_foreground, 0);
    }
    settle(f);
    assert_int_equal(index_path(f->index, &b, &path), 0);
    assert_string_equal(path, "a/b");
    free(path);
}

/* More than the lane holds, while nobody takes any: what does not fit is left to a scan. */
static void test_notices__too_many_at_once_are_found_by_a_scan(void **state)
{
    enum { NOTICES = 1 << 17, FILES = 40 };
    struct fixture *f = *state;
    char name[32];
    index_close(f->index, 5000);
    open_index(f);
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(name, sizeof(name), "f%u", i);
        write_text(f, name, i);
    }
    note_entry(f, "f0");
    assert_false(status_of(f).scanning);
    for (unsigned i = 0; i < NOTICES; i++) {
        snprintf(name, sizeof(name), "none%u", i);
        note_entry(f, name);
    }
    uint64_t n_pending = status_of(f).pending_foreground;
    assert_true(n_pending < NOTICES);
    assert_true(status_of(f).scanning);
    struct file_key key = key_of(f, "f1");
    note_entry(f, "f1");
    index_note_content(f->index, &key);
    note_entry(f, "f0"); /* noted already */
    assert_int_equal(status_of(f).pending_foreground, n_pending);

    assert_int_equal(index_start(f->index), 0);
    settle(f);
    assert_int_equal(status_of(f).pending_foreground, 0);
    assert_int_equal(status_of(f).documents, FILES);
    note_entry(f, "none1"); /* there is room again */
    settle(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_notices__a_file_renamed_while_it_is_written_is_sketched_at_its_end, setup,
            teardown),
        cmocka_unit_test_setup_teardown(test_notices__what_is_no_entry_of_a_directory_is_not_noted,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_notices__too_many_at_once_are_found_by_a_scan, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
