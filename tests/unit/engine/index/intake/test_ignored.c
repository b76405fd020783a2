/* Directories that come to other ignore files, and files that are written again and again. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "engine/index/intake/ignored/ignored.h"
#include "engine/index/intake/notices.h"
#include "engine/index/intake/scan/scan_sets.h"
#include "engine/index/intake/scan/wanted_scan.h"
#include "tests/lib/fixtures/index_fixture.h"

enum { TRIES = 60000, TRY_US = 10000, HOUR_MS = 3600 * 1000 };

static struct ignored *changing; /* a directory of this changes whenever one is opened, so often: */
static struct file_key changed;
static unsigned n_changes;

/* In place of the C library's. */
int open_by_handle_at(int mount_fd, struct file_handle *handle, int flags)
{
    if (changing && n_changes) {
        n_changes--;
        ignored_forget(changing, &changed);
    }
    return (int)syscall(SYS_open_by_handle_at, mount_fd, handle, flags);
}

static void reopen(struct indexed_tree *f)
{
    indexed_tree_stop(f);
    assert_int_equal(backing_open(f->tree, &f->backing), 0);
    indexed_tree_open(f);
}

/* In a tree of x and y, each with a directory of two files in one of its own, of which the ignore
 * file of x leaves out what begins with a, that of y what begins with b. */
static int start(void **state)
{
    struct indexed_tree *f = calloc(1, sizeof(*f));
    static const char *const names[] = {"x", "x/in", "x/in/deep", "y", "y/in", "y/in/deep"};
    indexed_tree_make(f);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(mkdir(scratch_path(f->tree, "%s", names[i]), 0755), 0);
    scratch_write(scratch_path(f->tree, "x/.kinfsignore"), "a*\n");
    scratch_write(scratch_path(f->tree, "y/.kinfsignore"), "b*\n");
    for (unsigned i = 0; i < 2; i++) {
        scratch_write(scratch_path(f->tree, "%s/a%u", names[2 + 3 * i], i), "some words");
        scratch_write(scratch_path(f->tree, "%s/b%u", names[2 + 3 * i], i), "other words");
    }
    indexed_tree_start(f);
    indexed_tree_settle(f);
    reopen(f);
    f->index->whole_scan.next_at_ms = clock_now_ms() + HOUR_MS; /* nothing is found by that */
    assert_int_equal(index_start(f->index), 0);
    *state = f;
    return 0;
}

static bool has_entry(struct indexed_tree *f, const struct file_key *directory, const char *name)
{
    struct file_key child;
    enum entry_type type;
    return catalogue_get(f->index->kv, directory, name, &child, &type) == 0;
}

struct entries {
    bool a, b;
};

static struct entries entries_of(struct indexed_tree *f, const struct file_key *directory, char n)
{
    const char a[] = {'a', n, 0}, b[] = {'b', n, 0};
    return (struct entries){has_entry(f, directory, a), has_entry(f, directory, b)};
}

/* Soon the one that is in x has b alone, that in y has a. */
static void assert_soon(struct indexed_tree *f, const struct file_key *in_x, char x,
                        const struct file_key *in_y, char y)
{
    struct entries of_x = {0}, of_y = {0};
    for (unsigned i = 0; i < TRIES && !(of_x.b && !of_x.a && of_y.a && !of_y.b); i++) {
        usleep(TRY_US);
        of_x = entries_of(f, in_x, x);
        of_y = entries_of(f, in_y, y);
    }
    assert_true(of_x.b && of_y.a);
    assert_false(of_x.a || of_y.b);
}

static void test_ignored__directories_that_change_places_come_to_others_rules(void **state)
{
    struct indexed_tree *f = *state;
    const struct file_key x = indexed_tree_key(f, "x"), y = indexed_tree_key(f, "y");
    const struct file_key first = indexed_tree_key(f, "x/in/deep"),
                          second = indexed_tree_key(f, "y/in/deep");
    assert_soon(f, &first, '0', &second, '1');
    assert_int_equal(renameat2(AT_FDCWD, scratch_path(f->tree, "x/in"), AT_FDCWD,
                               scratch_path(f->tree, "y/in"), RENAME_EXCHANGE),
                     0);
    index_note_entry(f->index, &x, "in");
    index_note_entry(f->index, &y, "in");
    assert_soon(f, &second, '1', &first, '0');
}

static void test_ignored__a_directory_that_moves_comes_to_other_rules(void **state)
{
    struct indexed_tree *f = *state;
    const struct file_key x = indexed_tree_key(f, "x"), y = indexed_tree_key(f, "y");
    const struct file_key first = indexed_tree_key(f, "x/in/deep"),
                          second = indexed_tree_key(f, "y/in/deep");
    assert_int_equal(rename(scratch_path(f->tree, "x/in"), scratch_path(f->tree, "y/more")), 0);
    index_note_entry(f->index, &x, "in");
    index_note_entry(f->index, &y, "more");
    assert_int_equal(rename(scratch_path(f->tree, "y/in"), scratch_path(f->tree, "x/in")), 0);
    index_note_entry(f->index, &y, "in");
    index_note_entry(f->index, &x, "in");
    assert_soon(f, &second, '1', &first, '0');
}

/* Nothing in it is known, as all is left out where it was. */
static void test_ignored__a_directory_of_what_is_left_out_is_found_where_it_moves(void **state)
{
    struct indexed_tree *f = *state;
    const struct file_key x = indexed_tree_key(f, "x"), y = indexed_tree_key(f, "y");
    assert_int_equal(mkdir(scratch_path(f->tree, "x/logs"), 0755), 0);
    scratch_write(scratch_path(f->tree, "x/logs/a"), "words that are left out");
    const struct file_key logs = indexed_tree_key(f, "x/logs");
    index_note_entry(f->index, &x, "logs");
    indexed_tree_settle_foreground(f);
    assert_false(has_entry(f, &logs, "a"));
    char to[PATH_MAX];
    snprintf(to, sizeof(to), "%s/y/logs", f->tree);
    assert_int_equal(rename(scratch_path(f->tree, "x/logs"), to), 0);
    index_note_entry(f->index, &x, "logs");
    index_note_entry(f->index, &y, "logs");
    for (unsigned i = 0; i < TRIES && !has_entry(f, &logs, "a"); i++)
        usleep(TRY_US);
    assert_true(has_entry(f, &logs, "a"));
}

/* Each time its directory is scanned; it rests before that is done for this owner once more, and
 * does it for another at once. */
static void
test_ignored__a_file_that_is_written_without_end_has_nothing_scanned_without_rest(void **state)
{
    enum { MANY = 100, OWNER = 1000, OTHER = 1001, SCAN_US = 50000 };
    struct indexed_tree *f = *state;
    const struct file_key x = indexed_tree_key(f, "x");
    reopen(f);
    struct index *index = f->index;
    unsigned n_scans = 0;
    for (unsigned i = 0; i < MANY; i++) {
        index->rescan_wanted = false;
        ignored_changed(index, &x, OWNER);
        n_scans += !index->rescan_wanted;
        scan_done(index); /* its directory has been scanned, which took a while */
        index->ruled_anew.spent_us += SCAN_US;
        wanted_scan_tell(index);
    }
    assert_in_range(n_scans, 1, MANY / 4);
    index->rescan_wanted = false;
    ignored_changed(index, &x, OTHER);
    assert_false(index->rescan_wanted);
    scan_done(index);
    index->ruled_anew.began_ms -= HOUR_MS; /* a rest that is long enough */
    wanted_scan_tell(index);
    ignored_changed(index, &x, OWNER);
    assert_false(index->rescan_wanted);
    scan_done(index);
}

/* The scan of the tree, which is large, goes on meanwhile; here of directories that are gone. */
static void test_ignored__a_file_that_is_corrected_waits_for_no_scan_of_the_tree(void **state)
{
    enum { DIRECTORIES = 1000, STEPS = 200 };
    struct indexed_tree *f = *state;
    const struct file_key x = indexed_tree_key(f, "x"), deep = indexed_tree_key(f, "x/in/deep");
    struct file_key gone = x;
    reopen(f);
    scratch_write(scratch_path(f->tree, "x/in/deep/c"), "more words");
    struct scan *scan = &f->index->scan;
    assert_int_equal(scan_begin(f->index), 0);
    for (uint32_t i = 0; i < DIRECTORIES; i++) {
        memcpy(gone.bytes + gone.size_bytes - sizeof(i), &i, sizeof(i));
        assert_int_equal(scan_add_directory(f->index, &gone, geteuid() + 1, scan->now), 0);
    }
    for (unsigned i = 0; i < 2; i++) { /* written, and corrected */
        scratch_write(scratch_path(f->tree, "x/.kinfsignore"), i ? "nothing\n" : "c\n");
        ignored_changed(f->index, &x, geteuid());
        for (unsigned k = 0; k < STEPS; k++) {
            while (scan_look(f->index, false))
                continue;
            (void)scan_has_step(f->index);
            assert_true(scan_step(f->index) >= 0);
        }
        assert_true(has_entry(f, &deep, "a0"));
        assert_int_equal(has_entry(f, &deep, "c"), i);
    }
    assert_false(scan_is_all_added(scan, scan->now));
    assert_true(scan_is_all_added(scan, !scan->now));
    scan_done(f->index);
}

/* Of more ignore files than are kept, and of more directories, one after the other. */
static void test_ignored__who_has_very_many_directories_takes_nobody_elses_place(void **state)
{
    enum { DIRECTORIES = 6400, WITH_FILES = 2100, ANN = 1000, BOB = 1001 };
    struct indexed_tree *f = *state;
    if (geteuid() != 0)
        skip();
    for (unsigned i = 0; i < DIRECTORIES; i++) {
        if (i == 0)
            assert_int_equal(mkdir(scratch_path(f->tree, "many"), 0755), 0);
        const char *path = scratch_path(f->tree, "many/%u", i);
        assert_int_equal(mkdir(path, 0755), 0);
        assert_int_equal(chown(path, ANN, ANN), 0);
        if (i % 2 || i >= WITH_FILES)
            continue;
        path = scratch_path(f->tree, "many/%u/.kinfsignore", i);
        scratch_write(path, "a*\n");
        assert_int_equal(chown(path, ANN, ANN), 0);
    }
    assert_int_equal(chown(scratch_path(f->tree, "x/in"), BOB, BOB), 0);
    assert_int_equal(chown(scratch_path(f->tree, "x/in/deep"), BOB, BOB), 0);
    f->index->whole_scan.next_at_ms = 0;
    index_rescan(f->index);
    indexed_tree_settle(f);
    reopen(f);
    const struct file_key deep = indexed_tree_key(f, "x/in/deep");
    assert_int_equal(ignored_ask(f->index, &deep, "a", false, true), 1);
    unsigned n_known = 0;
    for (unsigned i = 0; i < DIRECTORIES; i++) {
        char name[32];
        snprintf(name, sizeof(name), "many/%u", i);
        const struct file_key one = indexed_tree_key(f, name);
        assert_int_equal(ignored_ask(f->index, &one, "a", false, true),
                         i % 2 == 0 && i < WITH_FILES);
        assert_int_equal(ignored_ask(f->index, &deep, "a", false, false), 1);
    }
    for (unsigned i = 0; i < DIRECTORIES; i++) {
        char name[32];
        snprintf(name, sizeof(name), "many/%u", i);
        const struct file_key one = indexed_tree_key(f, name);
        n_known += ignored_ask(f->index, &one, "a", false, false) >= 0;
    }
    assert_in_range(n_known, 1, DIRECTORIES - 1);
}

/* All but the last of one's many directories are above one of another's. */
static void test_ignored__who_has_most_may_have_nothing_that_can_go(void **state)
{
    enum { PAIRS = 2100, ANN = 1000 };
    struct indexed_tree *f = *state;
    if (geteuid() != 0)
        skip();
    for (unsigned i = 0; i < PAIRS; i++) {
        const char *path = scratch_path(f->tree, "x/in/%u", i);
        assert_int_equal(mkdir(path, 0755), 0);
        path = scratch_path(f->tree, "x/in/%u/below", i);
        assert_int_equal(mkdir(path, 0755), 0);
        assert_int_equal(chown(path, ANN, ANN), 0);
    }
    f->index->whole_scan.next_at_ms = 0;
    index_rescan(f->index);
    indexed_tree_settle(f);
    reopen(f);
    for (unsigned i = 0; i < PAIRS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "x/in/%u/below", i);
        const struct file_key below = indexed_tree_key(f, name);
        assert_int_equal(ignored_ask(f->index, &below, "a", false, true), 1);
    }
    assert_false(index_is_rescan_wanted(f->index));
}

/* Who changes directories without end has those of others read once, and one of these once more
 * where it has changed itself. */
static void test_ignored__what_changes_elsewhere_has_nothing_read_again(void **state)
{
    enum { MANY = 1000 };
    struct indexed_tree *f = *state;
    const char *const others[] = {"y", "y/in", "y/in/deep"};
    const struct file_key x = indexed_tree_key(f, "x");
    struct file_key other = x;
    for (unsigned i = 0; i < 3; i++) /* one that does not count with it by chance */
        if (file_key_hash(&other) % IGNORED_COUNTS == file_key_hash(&x) % IGNORED_COUNTS)
            other = indexed_tree_key(f, others[i]);
    if (!backing_has_handles(f->backing))
        skip(); /* then nothing is opened by them */
    indexed_tree_settle(f);
    for (unsigned i = 0; i < 2; i++) {
        ignored_forget(f->index->ignored, &x);
        changed = i ? x : other;
        n_changes = i ? 1 : MANY;
        changing = f->index->ignored;
        assert_int_equal(ignored_ask(f->index, &x, "a9", false, true), 1);
        changing = NULL;
        assert_int_equal(n_changes, i ? 0 : MANY - 1);
        assert_int_equal(ignored_ask(f->index, &x, "b9", false, false), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_ignored__directories_that_change_places_come_to_others_rules, start,
            indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_ignored__a_directory_that_moves_comes_to_other_rules,
                                        start, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(
            test_ignored__a_file_that_is_written_without_end_has_nothing_scanned_without_rest,
            start, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(
            test_ignored__a_directory_of_what_is_left_out_is_found_where_it_moves, start,
            indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(
            test_ignored__a_file_that_is_corrected_waits_for_no_scan_of_the_tree, start,
            indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(
            test_ignored__who_has_very_many_directories_takes_nobody_elses_place, start,
            indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_ignored__what_changes_elsewhere_has_nothing_read_again,
                                        start, indexed_tree_teardown),
        cmocka_unit_test_setup_teardown(test_ignored__who_has_most_may_have_nothing_that_can_go,
                                        start, indexed_tree_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
