/* A stand-in is what nobody but root and its owner can take away, or write. Of two equal documents
 * the first one stands in, where it does. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "tests/lib/fixtures/unique_fixture.h"

enum { THEIRS = 54321, THEIRS_TOO = 54322 };

static void make_directory(struct indexed_tree *f, const char *path, mode_t mode)
{
    assert_int_equal(mkdir(scratch_path(f->tree, "%s", path), 0700), 0);
    assert_int_equal(chmod(scratch_path(f->tree, "%s", path), mode), 0);
}

/* The later in a test, the younger. */
static void make_copy(struct indexed_tree *f, const char *path)
{
    static time_t now = 2000000;
    write_file(f, path, 1, "");
    assert_int_equal(chmod(scratch_path(f->tree, "%s", path), 0644), 0);
    set_time(f, path, now++);
}

static void make_link(struct indexed_tree *f, const char *path, const char *other)
{
    char at[PATH_MAX];
    snprintf(at, sizeof(at), "%s", scratch_path(f->tree, "%s", path));
    assert_int_equal(link(at, scratch_path(f->tree, "%s", other)), 0);
}

static void set_mode(struct indexed_tree *f, const char *path, mode_t mode)
{
    assert_int_equal(chmod(scratch_path(f->tree, "%s", path), mode), 0);
}

static const char *stands_in(struct indexed_tree *f, const char *path)
{
    _cleanup_(index_unique_free_p) struct index_unique *unique =
        make_unique(f, 0.95, INDEX_STAYS_OLDEST, NULL, 0);
    index_rescan(f->index);
    settle(f);
    return asked(f, unique, path);
}

/* An access control list that gives rights to two users, of which the mask lets all through. */
static bool give_list(struct indexed_tree *f, const char *path, unsigned one, unsigned other)
{
    enum { VERSION = 2, UNNAMED = 0xffffffff };
    const struct {
        unsigned tag, rights, id;
    } entries[] = {{0x01, 7, UNNAMED}, {0x02, one, THEIRS},          {0x02, other, THEIRS_TOO},
                   {0x04, 0, UNNAMED}, {0x10, one | other, UNNAMED}, {0x20, 5, UNNAMED}};
    uint8_t list[4 + sizeof(entries) / sizeof(*entries) * 8] = {VERSION};
    for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
        uint8_t *at = list + 4 + 8 * i;
        at[0] = (uint8_t)entries[i].tag;
        at[2] = (uint8_t)entries[i].rights;
        for (unsigned k = 0; k < 4; k++)
            at[4 + k] = (uint8_t)(entries[i].id >> 8 * k);
    }
    int r = setxattr(scratch_path(f->tree, "%s", path), "system.posix_acl_access", list,
                     sizeof(list), 0);
    assert_true(r == 0 || errno == EOPNOTSUPP);
    return r == 0;
}

static void test_unique_way__nobody_else_can_write_the_directory(void **state)
{
    struct indexed_tree *f = *state;
    make_directory(f, "its", 0755);
    make_directory(f, "own", 0755);
    make_copy(f, "its/first");
    make_copy(f, "its/second");
    make_copy(f, "own/a");
    static const struct {
        mode_t mode;
        bool is_closed;
    } modes[] = {{0755, true},  {0777, false}, {0700, true},   {0775, false},  {0555, true},
                 {0720, false}, {0702, false}, {01777, false}, {02775, false}, {02755, true}};
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        set_mode(f, "its", modes[i].mode);
        for (unsigned k = 0; k < 2; k++) { /* nor does an equal right to the document help */
            set_mode(f, "own", k ? modes[i].mode : 0755);
            assert_string_equal(stands_in(f, "own/a"), modes[i].is_closed ? "its/first" : "");
        }
        assert_string_equal(stands_in(f, "its/second"), "its/first"); /* where both are */
    }
}

static void test_unique_way__nobody_else_can_write_the_file(void **state)
{
    struct indexed_tree *f = *state;
    make_directory(f, "its", 0700); /* closed as it is */
    make_copy(f, "its/first");
    make_copy(f, "its/second");
    static const mode_t modes[] = {0644, 0664, 0600, 0646, 0444, 0620};
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        set_mode(f, "its/first", modes[i]);
        for (unsigned k = 0; k < 2; k++) {
            set_mode(f, "its/second", k ? modes[i] : 0644);
            assert_string_equal(stands_in(f, "its/second"), i % 2 ? "" : "its/first");
        }
    }
}

/* What closes the way to a directory now may be opened, and somebody may be in it. */
static void test_unique_way__a_closed_directory_makes_up_for_nothing(void **state)
{
    struct indexed_tree *f = *state;
    make_directory(f, "closed", 0700);
    make_directory(f, "closed/open", 0777);
    make_directory(f, "own", 0777);
    make_copy(f, "closed/open/first");
    make_copy(f, "own/a");
    assert_string_equal(stands_in(f, "own/a"), "");
    set_mode(f, "closed/open", 0755);
    assert_string_equal(stands_in(f, "own/a"), "closed/open/first");
}

static void test_unique_way__a_list_that_gives_somebody_writing_is_no_protection(void **state)
{
    struct indexed_tree *f = *state;
    make_directory(f, "its", 0755);
    make_directory(f, "own", 0755);
    make_copy(f, "its/first");
    make_copy(f, "own/a");
    enum { READ = 4 | 1, WRITE = 2 | 4, ALL = 7 };
    if (!give_list(f, "its/first", READ, READ))
        skip(); /* the file system has none */
    assert_string_equal(stands_in(f, "own/a"), "its/first");
    /* One of them can write the file, and could not remove a name where the same list is a
     * directory's. */
    give_list(f, "its/first", WRITE, ALL);
    give_list(f, "own", WRITE, ALL);
    assert_string_equal(stands_in(f, "own/a"), "");
    give_list(f, "its/first", READ, READ);
    assert_string_equal(stands_in(f, "own/a"), "its/first");
    give_list(f, "its", READ, ALL);
    assert_string_equal(stands_in(f, "own/a"), "");
    /* A mask takes away from all of them. */
    set_mode(f, "its", 0755);
    assert_string_equal(stands_in(f, "own/a"), "its/first");
}

/* Who may write a directory of both can remove a document that is in it, and not what is further
 * down. */
static void test_unique_way__a_document_further_down_is_safer(void **state)
{
    struct indexed_tree *f = *state;
    make_directory(f, "shared", 0777);
    make_directory(f, "shared/own", 0755);
    make_directory(f, "shared/its", 0755);
    make_copy(f, "shared/first");
    make_copy(f, "shared/second");
    make_copy(f, "shared/own/a");
    assert_string_equal(stands_in(f, "shared/second"), "shared/first");
    assert_string_equal(stands_in(f, "shared/own/a"), "");
    set_mode(f, "shared", 0755);
    assert_string_equal(stands_in(f, "shared/own/a"), "shared/first");
}

static void test_unique_way__a_stand_in_further_down_is_as_safe(void **state)
{
    struct indexed_tree *f = *state;
    make_directory(f, "shared", 0777);
    make_directory(f, "shared/its", 0755);
    make_directory(f, "shared/own", 0755);
    make_copy(f, "shared/its/first");
    make_copy(f, "shared/second");
    make_copy(f, "shared/own/a");
    assert_string_equal(stands_in(f, "shared/second"), "shared/its/first");
    assert_string_equal(stands_in(f, "shared/own/a"), "shared/its/first");
}

/* The same in the root of the tree. */
static void test_unique_way__the_root_counts_where_the_stand_in_is_in_it(void **state)
{
    struct indexed_tree *f = *state;
    make_directory(f, "own", 0755);
    make_copy(f, "first");
    make_copy(f, "second");
    make_copy(f, "own/a");
    set_mode(f, ".", 0777);
    assert_string_equal(stands_in(f, "second"), "first");
    assert_string_equal(stands_in(f, "own/a"), "");
    set_mode(f, ".", 0755);
    assert_string_equal(stands_in(f, "own/a"), "first");
}

/* Another name of the document may be where nobody else comes to; one of the stand-in where all do,
 * past the directories that are closed. */
static void test_unique_way__with_other_names_all_directories_count(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const linked[] = {"of/both/first", "of/both/a"};
    make_directory(f, "own", 0700);
    make_directory(f, "of", 0755);
    make_directory(f, "of/both", 0755);
    make_copy(f, "of/both/first");
    make_copy(f, "of/both/a");
    static const char *const directories[] = {".", "of", "of/both"};
    for (size_t i = 0; i < sizeof(linked) / sizeof(*linked); i++) {
        for (size_t k = 0; k < sizeof(directories) / sizeof(*directories); k++) {
            set_mode(f, directories[k], 0777);
            assert_string_equal(stands_in(f, "of/both/a"), "of/both/first");
            make_link(f, linked[i], "own/link");
            const char *found = stands_in(f, "of/both/a");
            if (*found) /* by the one that is of nobody else's */
                assert_true(i == 0 && k > 0 && strcmp(found, "own/link") == 0);
            set_mode(f, directories[k], 0755);
            assert_string_not_equal(stands_in(f, "of/both/a"), "");
            assert_int_equal(unlink(scratch_path(f->tree, "own/link")), 0);
        }
    }
    /* Who comes to the stand-in by its other name must not write it either. */
    set_mode(f, "of/both", 0700);
    make_directory(f, "shared", 0777);
    make_link(f, "of/both/first", "shared/link");
    set_mode(f, "of/both/first", 0666);
    set_mode(f, "of/both/a", 0666);
    assert_string_equal(stands_in(f, "of/both/a"), "");
}

static void test_unique_way__it_is_of_root_and_the_owner_alone(void **state)
{
    struct indexed_tree *f = *state;
    if (geteuid() != 0)
        skip();
    make_directory(f, "its", 0755);
    make_directory(f, "own", 0755);
    make_copy(f, "its/first");
    make_copy(f, "own/a");
    assert_int_equal(chown(scratch_path(f->tree, "its"), THEIRS, 0), 0);
    assert_string_equal(stands_in(f, "own/a"), "");
    assert_int_equal(chown(scratch_path(f->tree, "own"), THEIRS, 0), 0);
    assert_string_equal(stands_in(f, "own/a"), "");
    assert_int_equal(chown(scratch_path(f->tree, "its"), 0, 0), 0);
    assert_string_equal(stands_in(f, "own/a"), "its/first");
    /* Theirs is as safe in a directory of root's as in their own. */
    assert_int_equal(chown(scratch_path(f->tree, "its/first"), THEIRS, 0), 0);
    assert_int_equal(chown(scratch_path(f->tree, "own/a"), THEIRS, 0), 0);
    assert_string_equal(stands_in(f, "own/a"), "its/first");
    assert_int_equal(chown(scratch_path(f->tree, "its"), THEIRS, 0), 0);
    assert_string_equal(stands_in(f, "own/a"), "its/first");
    assert_int_equal(chown(scratch_path(f->tree, "its"), THEIRS_TOO, 0), 0);
    assert_string_equal(stands_in(f, "own/a"), "");
}

static void test_unique_way__where_all_are_trusted_nothing_of_it_counts(void **state)
{
    struct indexed_tree *f = *state;
    const struct index_unique_options options = {.near = 0.95, .stand_in_anyone = true};
    _cleanup_(index_unique_free_p) struct index_unique *unique = NULL;
    make_directory(f, "shared", 02777);
    make_directory(f, "own", 0755);
    make_copy(f, "shared/first");
    make_copy(f, "own/a");
    set_mode(f, "shared/first", 0666);
    index_rescan(f->index);
    settle(f);
    assert_int_equal(index_unique_new(f->index, &options, &unique), 0);
    assert_stands_in(f, unique, "own/a", "shared/first");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, indexed_tree_setup, indexed_tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_unique_way__nobody_else_can_write_the_directory),
        TEST(test_unique_way__nobody_else_can_write_the_file),
        TEST(test_unique_way__a_closed_directory_makes_up_for_nothing),
        TEST(test_unique_way__a_list_that_gives_somebody_writing_is_no_protection),
        TEST(test_unique_way__a_document_further_down_is_safer),
        TEST(test_unique_way__a_stand_in_further_down_is_as_safe),
        TEST(test_unique_way__the_root_counts_where_the_stand_in_is_in_it),
        TEST(test_unique_way__with_other_names_all_directories_count),
        TEST(test_unique_way__it_is_of_root_and_the_owner_alone),
        TEST(test_unique_way__where_all_are_trusted_nothing_of_it_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
