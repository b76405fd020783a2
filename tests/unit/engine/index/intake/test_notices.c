/* What the index is told of changes, in orders and numbers in which it is seldom told. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/fixtures/indexed_tree.h"

static void write_text(struct indexed_tree *f, const char *name, unsigned version)
{
    indexed_tree_write(f, name, 1, version, version % 8);
}

static void note_entry(struct indexed_tree *f, const char *name)
{
    index_note_entry(f->index, backing_root_key(f->backing), name);
}

static struct index_status status_of(struct indexed_tree *f)
{
    struct index_status status;
    index_get_status(f->index, &status);
    return status;
}

/* Written through the mount under a name that somebody else changes, the new one seen late. */
static void test_notices__a_file_renamed_while_it_is_written_is_sketched_at_its_end(void **state)
{
    struct indexed_tree *f = *state;
    write_text(f, "new", 1);
    struct file_key key = indexed_tree_key(f, "new");
    index_note_writing(f->index, 0, &key, +1);
    note_entry(f, "old");
    index_note_content(f->index, &key); /* the flush of its close */
    indexed_tree_settle(f);
    note_entry(f, "new");
    indexed_tree_settle(f);
    index_note_writing(f->index, 0, &key, -1); /* the release */
    indexed_tree_settle(f);
    assert_int_equal(status_of(f).documents, 1);
}

static void test_notices__what_is_no_entry_of_a_directory_is_not_noted(void **state)
{
    static const char *const names[] = {".", "..", "", "a/b", "../source", "/"};
    struct indexed_tree *f = *state;
    char *path = NULL;
    mkdir(scratch_path(f->tree, "a"), 0755);
    write_text(f, "a/b", 1);
    note_entry(f, "a");
    indexed_tree_settle(f);
    struct file_key a = indexed_tree_key(f, "a"), b = indexed_tree_key(f, "a/b");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        note_entry(f, names[i]);
        index_note_entry(f->index, &a, names[i]);
        index_note_rename(f->index, 0, &a, names[i], backing_root_key(f->backing), names[i]);
        assert_int_equal(status_of(f).pending_foreground, 0);
    }
    indexed_tree_settle(f);
    assert_int_equal(index_path(f->index, &b, &path), 0);
    assert_string_equal(path, "a/b");
    free(path);
}

/* More than the lane holds, while nobody takes any: what does not fit is left to a scan. */
static void test_notices__too_many_at_once_are_found_by_a_scan(void **state)
{
    enum { NOTICES = 1 << 17, FILES = 40 };
    struct indexed_tree *f = *state;
    char name[32];
    index_close(f->index, 5000);
    indexed_tree_open(f);
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(name, sizeof(name), "f%u", i);
        write_text(f, name, i);
    }
    note_entry(f, "f0");
    assert_int_equal(status_of(f).pending_foreground, 1);
    assert_false(status_of(f).scanning);
    for (unsigned i = 0; i < NOTICES; i++) {
        snprintf(name, sizeof(name), "none%u", i);
        note_entry(f, name);
    }
    uint64_t n_pending = status_of(f).pending_foreground;
    assert_true(n_pending < NOTICES);
    assert_true(status_of(f).scanning);
    struct file_key key = indexed_tree_key(f, "f1");
    note_entry(f, "f1");
    index_note_content(f->index, &key);
    note_entry(f, "f0"); /* noted already */
    assert_int_equal(status_of(f).pending_foreground, n_pending);

    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
    assert_int_equal(status_of(f).pending_foreground, 0);
    assert_int_equal(status_of(f).documents, FILES);
    note_entry(f, "none1"); /* there is room again */
    indexed_tree_settle(f);
}

/* As the mount notes it: the name when the file is made, the contents when it is closed. */
static void test_notices__a_new_document_is_one_that_is_pending(void **state)
{
    enum { FILES = 40 };
    struct indexed_tree *f = *state;
    char name[32];
    index_close(f->index, 5000);
    indexed_tree_open(f);
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(name, sizeof(name), "f%u", i);
        write_text(f, name, i);
        note_entry(f, name);
        struct file_key key = indexed_tree_key(f, name);
        index_note_content(f->index, &key);
        assert_int_equal(status_of(f).pending_foreground, i + 1);
    }
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
    assert_int_equal(status_of(f).documents, FILES);
}

enum { MAPPED_BYTES = 3000 }; /* in one page */

static void fill(char *bytes, char letter)
{
    for (size_t i = 0; i < MAPPED_BYTES; i++)
        bytes[i] = i % 7 == 6 ? ' ' : (char)(letter + (char)(i * i % 11));
}

static struct file_key make_file(struct indexed_tree *f, const char *name, char letter)
{
    char bytes[MAPPED_BYTES + 1] = {0};
    fill(bytes, letter);
    scratch_write(scratch_path(f->tree, "%s", name), bytes);
    note_entry(f, name);
    return indexed_tree_key(f, name);
}

static bool is_same_content(struct indexed_tree *f, const struct file_key *a,
                            const struct file_key *b)
{
    struct comparison comparison;
    assert_int_equal(index_compare(f->index, a, b, &(struct index_query){0}, &comparison), 0);
    return comparison.same_content;
}

/* The times of the first store into a page are those of all, until it is written back. */
static void test_notices__what_was_written_is_read_whatever_its_times_say(void **state)
{
    struct indexed_tree *f = *state;
    struct file_key a = make_file(f, "a", 'a'), b = make_file(f, "b", 'k'),
                    mapped = make_file(f, "mapped", 'a');
    int fd = open(scratch_path(f->tree, "mapped"), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    char *bytes = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(bytes != MAP_FAILED);
    struct stat before, after;
    bool is_written_back = true;
    for (int i = 0; is_written_back && i < 10; i++) {
        fill(bytes, 'a');
        index_note_content(f->index, &mapped);
        indexed_tree_settle(f);
        assert_true(is_same_content(f, &mapped, &a));
        assert_int_equal(fstat(fd, &before), 0);
        fill(bytes, 'k');
        assert_int_equal(fstat(fd, &after), 0);
        is_written_back = before.st_ctim.tv_sec != after.st_ctim.tv_sec ||
                          before.st_ctim.tv_nsec != after.st_ctim.tv_nsec;
    }
    assert_false(is_written_back);
    index_note_written(f->index, 0, &mapped);
    indexed_tree_settle(f);
    assert_true(is_same_content(f, &mapped, &b));
    munmap(bytes, MAPPED_BYTES);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_notices__a_file_renamed_while_it_is_written_is_sketched_at_its_end,
            indexed_tree_setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_notices__what_is_no_entry_of_a_directory_is_not_noted,
                                        indexed_tree_setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_notices__a_new_document_is_one_that_is_pending,
                                        indexed_tree_setup, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(
            test_notices__what_was_written_is_read_whatever_its_times_say, indexed_tree_setup,
            indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_notices__too_many_at_once_are_found_by_a_scan,
                                        indexed_tree_setup, indexed_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
