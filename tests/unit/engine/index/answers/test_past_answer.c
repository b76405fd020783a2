/* What is told of the past, of a whole index: what is noted of what, and what damage does. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "engine/index/intake/past/past_notes.h"
#include "tests/lib/fixtures/check_fixture.h"
#include "tests/lib/fixtures/past_fixture.h"
#include "tests/lib/stores/kv_fault.h"

static void write_and_note(struct indexed_tree *f, const char *name, unsigned family,
                           unsigned version)
{
    indexed_tree_write(f, name, family, version, 20);
    index_rescan(f->index);
    indexed_tree_settle(f);
}

static const struct index_query any;

struct told {
    char text[2048]; /* events, a blank between */
};

static int tell(void *user, const struct index_past *past)
{
    static const char kinds[] = "bcmdDn"; /* in the order of enum index_past_kind */
    struct told *told = user;
    const size_t n = strlen(told->text);
    snprintf(told->text + n, sizeof(told->text) - n, "%s%c:%s", n ? " " : "", kinds[past->kind],
             past->path);
    return 0;
}

static void assert_history(struct indexed_tree *f, const char *path, const char *expected)
{
    struct told told = {0};
    uint64_t n_damaged = 0;
    int r = index_history(f->index, path, &any, tell, &told, &n_damaged);
    assert_int_equal(r, *expected ? 0 : -ENOENT);
    assert_string_equal(told.text, expected);
    assert_int_equal(n_damaged, 0);
}

static void test_past_answer__tells_what_a_document_was_wherever_it_was(void **state)
{
    struct indexed_tree *f = *state;
    write_and_note(f, "a", 1, 0);
    assert_history(f, "a", "n:a");
    write_and_note(f, "a", 1, 1);
    assert_history(f, "a", "c:a n:a");
    assert_int_equal(rename(scratch_path(f->tree, "a"), scratch_path(f->tree, "b")), 0);
    index_rescan(f->index);
    indexed_tree_settle(f);
    assert_history(f, "b", "c:a m:a n:b");
    assert_int_equal(unlink(scratch_path(f->tree, "b")), 0);
    index_rescan(f->index);
    indexed_tree_settle(f);
    assert_history(f, "b", "c:a m:a d:b");
    assert_history(f, "a", "c:a m:a d:b");
    assert_history(f, "c", "");
}

static void test_past_answer__a_first_scan_notes_nothing(void **state)
{
    struct indexed_tree *f = *state;
    for (unsigned i = 0; i < 5; i++) {
        char name[8];
        snprintf(name, sizeof(name), "%u", i);
        indexed_tree_write(f, name, i, 0, 0);
    }
    index_rescan(f->index);
    indexed_tree_settle(f);
    uid_t owner;
    assert_int_equal(past_next_owner(f->index->kv, -1, &owner), 0);
}

static void rename_noted(struct indexed_tree *f, const char *from, const char *to)
{
    assert_int_equal(rename(scratch_path(f->tree, "%s", from), scratch_path(f->tree, "%s", to)), 0);
    index_note_rename(f->index, 0, backing_root_key(f->backing), from, backing_root_key(f->backing),
                      to);
    indexed_tree_settle(f);
}

/* Links to a document of root's, each in a directory of its own of another user, who renames these:
 * that takes no room of root's. */
static void test_past_answer__a_moved_directory_is_its_own_owners_event(void **state)
{
    struct indexed_tree *f = *state;
    enum { THEIRS = 12345, N_DIRECTORIES = 5 };
    if (geteuid() != 0)
        skip();
    indexed_tree_write(f, "mine", 1, 0, 0);
    for (unsigned i = 0; i < N_DIRECTORIES; i++) {
        assert_int_equal(mkdir(scratch_path(f->tree, "d%u", i), 0755), 0);
        assert_int_equal(chown(scratch_path(f->tree, "d%u", i), THEIRS, THEIRS), 0);
        assert_int_equal(link(scratch_path(f->tree, "mine"), scratch_path(f->tree, "d%u/link", i)),
                         0);
    }
    index_rescan(f->index);
    indexed_tree_settle(f);
    for (unsigned i = 0; i < N_DIRECTORIES; i++) {
        char from[16], to[16];
        snprintf(from, sizeof(from), "d%u", i);
        snprintf(to, sizeof(to), "e%u", i);
        rename_noted(f, from, to);
    }
    assert_int_equal(past_rows(f->index->kv, 0, 'e'), 0);
    assert_int_equal(past_rows(f->index->kv, THEIRS, 'e'), N_DIRECTORIES);
    /* One of root's in theirs: as many events as any document has. */
    assert_int_equal(chown(scratch_path(f->tree, "e0"), 0, 0), 0);
    for (unsigned i = 0; i < PAST_LINE_MAX + 4; i++) {
        char from[16], to[16];
        snprintf(from, sizeof(from), i ? "x%u" : "e0", i);
        snprintf(to, sizeof(to), "x%u", i + 1);
        rename_noted(f, from, to);
    }
    assert_int_equal(past_rows(f->index->kv, 0, 'e'), PAST_LINE_MAX);
}

/* A directory that is renamed is one event; an empty one is none. */
static void test_past_answer__a_moved_directory_is_one_event_and_an_empty_one_none(void **state)
{
    struct indexed_tree *f = *state;
    assert_int_equal(mkdir(scratch_path(f->tree, "d"), 0755), 0);
    assert_int_equal(mkdir(scratch_path(f->tree, "empty"), 0755), 0);
    for (unsigned i = 0; i < 5; i++) {
        char name[8];
        snprintf(name, sizeof(name), "d/%u", i);
        indexed_tree_write(f, name, i, 0, 0);
    }
    index_rescan(f->index);
    indexed_tree_settle(f);
    assert_int_equal(rename(scratch_path(f->tree, "d"), scratch_path(f->tree, "e")), 0);
    assert_int_equal(rename(scratch_path(f->tree, "empty"), scratch_path(f->tree, "gone")), 0);
    index_note_rename(f->index, 0, backing_root_key(f->backing), "d", backing_root_key(f->backing),
                      "e");
    index_note_rename(f->index, 0, backing_root_key(f->backing), "empty",
                      backing_root_key(f->backing), "gone");
    indexed_tree_settle(f);
    struct told told = {0};
    uint64_t n_damaged;
    assert_int_equal(index_changes(f->index, "d", 0, &any, tell, &told, &n_damaged), 0);
    assert_string_equal(told.text, ""); /* the directory itself is not in it */
    assert_int_equal(past_rows(f->index->kv, getuid(), 'e'), 1);
    assert_int_equal(index_lost_look(f->index, "d/3", &any), INDEX_LOST_DOCUMENT);
    assert_int_equal(index_lost_look(f->index, "d", &any), INDEX_LOST_DIRECTORY);
    assert_int_equal(index_lost_look(f->index, "d/7", &any), INDEX_LOST_NOTHING);
    assert_int_equal(index_lost_look(f->index, "empty", &any), INDEX_LOST_NOTHING);
    assert_int_equal(index_lost_look(f->index, "e/3", &any), INDEX_LOST_NOTHING);
}

/* Directories that went round in a circle, by name. */
static void test_past_answer__ways_in_a_circle_end(void **state)
{
    struct indexed_tree *f = *state;
    static const char *const names[] = {"x", "y", "z"};
    assert_int_equal(mkdir(scratch_path(f->tree, "x"), 0755), 0);
    indexed_tree_write(f, "x/1", 1, 0, 0);
    index_rescan(f->index);
    indexed_tree_settle(f);
    for (unsigned i = 0; i < 9; i++)
        rename_noted(f, names[i % 3], names[(i + 1) % 3]);
    assert_int_equal(index_lost_look(f->index, "y/1", &any), INDEX_LOST_DOCUMENT);
    assert_int_equal(index_lost_look(f->index, "y/2", &any), INDEX_LOST_NOTHING);
    assert_int_equal(index_lost_look(f->index, "y/2/3/4/5", &any), INDEX_LOST_NOTHING);
}

static bool stop(void *user)
{
    unsigned *n_left = user;
    return (*n_left)-- == 0;
}

/* Each question ends at whatever moment nobody waits for it any more. */
static void test_past_answer__a_question_is_stopped_wherever_it_is(void **state)
{
    struct indexed_tree *f = *state;
    unsigned n_left = 0;
    const struct index_query query = {.stop = stop, .stop_user = &n_left};
    assert_int_equal(mkdir(scratch_path(f->tree, "d"), 0755), 0);
    write_and_note(f, "d/gone", 1, 0);
    write_and_note(f, "d/kept", 2, 0);
    write_and_note(f, "d/kept", 2, 1);
    rename_noted(f, "d", "e");
    assert_int_equal(unlink(scratch_path(f->tree, "e/gone")), 0);
    index_rescan(f->index);
    indexed_tree_settle(f);
    for (unsigned kind = 0; kind < 5; kind++) {
        int r = -EINTR;
        for (unsigned n = 0; r == -EINTR; n++) {
            struct told told = {0};
            uint64_t n_damaged;
            n_left = n;
            r = kind == 0   ? index_lost_look(f->index, "d/gone", &query)
                : kind == 1 ? index_lost_look(f->index, "d/none", &query)
                : kind == 2 ? index_lost_look(f->index, "e/kept", &query)
                : kind == 3 ? index_history(f->index, "e/kept", &query, tell, &told, &n_damaged)
                            : index_changes(f->index, "", 0, &query, tell, &told, &n_damaged);
            assert_true(n > 0 || r == -EINTR);
            assert_true(n < 1000);
        }
        assert_int_equal(r, kind == 0 || kind == 2 ? (int)INDEX_LOST_DOCUMENT : 0);
    }
}

static int tell_in_order(void *user, const struct index_past *past)
{
    uint64_t *told = user; /* how many, and the time of the last one */
    assert_true(past->time_ns > told[1]);
    told[0]++;
    told[1] = past->time_ns;
    return 0;
}

static void note_past(struct indexed_tree *f, uid_t owner, enum past_kind kind, unsigned number,
                      const char *path, uint64_t time_ns)
{
    _cleanup_(past_event_done) struct past_event event =
        past_made(owner, kind, number, path, time_ns);
    assert_int_equal(past_notes_add(&f->index->past, &event, 1), 0);
}

/* From now on calls of the index's store are counted; returns the store to be put back. */
static struct kv *begin_counting(struct indexed_tree *f)
{
    struct kv *kv = f->index->kv;
    assert_int_equal(kv_fault_open(kv, &(struct kv_fault_plan){0}, &f->index->kv), 0);
    return kv;
}

static uint64_t end_counting(struct indexed_tree *f, struct kv *kv)
{
    uint64_t n_calls, n_writes;
    kv_fault_counts(f->index->kv, &n_calls, &n_writes);
    kv_close(f->index->kv);
    f->index->kv = kv;
    return n_calls;
}

/* One user with many subordinate ids has documents of each leave one path. They are all told, and
 * looked for in time that grows with how many there are, not with its square. */
static void test_past_answer__a_path_of_very_many_owners_is_told_in_due_time(void **state)
{
    struct indexed_tree *f = *state;
    enum {
        N_OWNERS = 60,
        N_EACH = PAST_LINE_MAX,
        FIRST = 100000,
        N_EVENTS = N_OWNERS * N_EACH + 4
    };
    const uint64_t now_ns = (uint64_t)time(NULL) * UINT64_C(1000000000);
    for (unsigned i = 0; i < N_OWNERS * N_EACH; i++)
        note_past(f, FIRST + i % N_OWNERS, PAST_DIED, i + 1, "a", now_ns + i);
    /* One of root's died there, too, and had been another's; and one of who comes last. */
    note_past(f, FIRST + N_OWNERS, PAST_CHANGED, 5000, "b", now_ns + 20000);
    note_past(f, 0, PAST_DIED, 5000, "a", now_ns + 30000);
    note_past(f, FIRST + N_OWNERS, PAST_CHANGED, 5001, "b", now_ns + 40000);
    note_past(f, FIRST + N_OWNERS + 1, PAST_DIED, 5001, "a", now_ns + 50000);
    uint64_t told[2] = {0}, n_damaged;
    struct kv *kv = begin_counting(f);
    int r = index_history(f->index, "a", &any, tell_in_order, told, &n_damaged);
    const uint64_t n_calls = end_counting(f, kv);
    assert_int_equal(r, 0);
    assert_int_equal(told[0], N_EVENTS);
    assert_in_range(n_calls, N_EVENTS, 5 * (N_OWNERS + 3) + 3 * N_EVENTS);
    assert_int_equal(index_lost_look(f->index, "a", &any), INDEX_LOST_DOCUMENT);
}

/* Nor does it take longer for each directory above. */
static void test_past_answer__a_path_far_down_is_looked_for_as_fast(void **state)
{
    struct indexed_tree *f = *state;
    enum { N_OWNERS = 60, FIRST = 100000 };
    const uint64_t now_ns = (uint64_t)time(NULL) * UINT64_C(1000000000);
    for (unsigned i = 0; i < N_OWNERS; i++)
        note_past(f, FIRST + i, PAST_DIED, i + 1, "a/b/other", now_ns + i);
    note_past(f, FIRST, PAST_DIED, 1000, "a/b/c/d/e/f/g/h/i/j", now_ns);
    struct kv *kv = begin_counting(f);
    const int found = index_lost_look(f->index, "a/b/c/d/e/f/g/h/i/j", &any),
              none = index_lost_look(f->index, "a/b/c/d/e/f/g/h/i/k", &any);
    assert_in_range(end_counting(f, kv), 1, 10 * N_OWNERS);
    assert_int_equal(found, INDEX_LOST_DOCUMENT);
    assert_int_equal(none, INDEX_LOST_NOTHING);
}

/* Cuts the value of the first event in half. */
static void damage_one(struct kv *kv)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct kv_entry row;
    assert_int_equal(table_walk_begin(&walk, kv, TABLE_PAST, (struct kv_slice){0}), 0);
    assert_int_equal(table_walk_next(&walk, &row), 1);
    assert_int_equal(((const char *)row.key.data)[4], 'e');
    kv_batch_put(batch, TABLE_PAST, row.key,
                 (struct kv_slice){row.value.data, row.value.size_bytes / 2});
    assert_int_equal(kv_apply(kv, batch), 0);
}

static void test_past_answer__goes_on_past_a_damaged_row_and_a_repair_drops_it(void **state)
{
    struct indexed_tree *f = *state;
    struct told told = {0};
    uint64_t n_damaged = 0;
    for (unsigned i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof(name), "%u", i);
        write_and_note(f, name, i, 0);
        assert_int_equal(unlink(scratch_path(f->tree, "%u", i)), 0);
        index_rescan(f->index);
        indexed_tree_settle(f);
    }
    assert_right(f, true);
    damage_one(f->index->kv);
    struct report report = check_now(f, false);
    assert_non_null(strstr(report.first, "past: the row with the key"));
    assert_int_equal(index_changes(f->index, "", 0, &any, tell, &told, &n_damaged), 0);
    assert_string_equal(told.text, "b:1 d:1 b:2 d:2");
    assert_int_equal(n_damaged, 1);
    assert_int_equal(index_history(f->index, "0", &any, tell, &told, &n_damaged), -ENOENT);
    assert_int_equal(n_damaged, 1);
    /* What comes is noted beside it. */
    write_and_note(f, "3", 7, 0);
    write_and_note(f, "3", 7, 1);
    assert_history(f, "3", "c:3 n:3");
    struct index_repair_options wanted = {.user = NULL};
    char *error = NULL;
    index_close(f->index, 1000);
    const struct index_options options = indexed_tree_options(f);
    assert_int_equal(index_repair(&options, &wanted, &error), INDEX_MENDING_DERIVED);
    indexed_tree_open(f);
    assert_int_equal(index_start(f->index), 0);
    indexed_tree_settle(f);
    assert_right(f, true);
    told = (struct told){0};
    assert_int_equal(index_changes(f->index, "", 0, &any, tell, &told, &n_damaged), 0);
    assert_string_equal(told.text, "b:1 d:1 b:2 d:2 c:3 b:3");
    assert_int_equal(n_damaged, 0);
}

int main(void)
{
#define ON_A_TREE(test)                                                                            \
    cmocka_unit_test_setup_teardown(test, indexed_tree_setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_past_answer__tells_what_a_document_was_wherever_it_was),
        ON_A_TREE(test_past_answer__a_first_scan_notes_nothing),
        ON_A_TREE(test_past_answer__a_moved_directory_is_one_event_and_an_empty_one_none),
        ON_A_TREE(test_past_answer__a_moved_directory_is_its_own_owners_event),
        ON_A_TREE(test_past_answer__ways_in_a_circle_end),
        ON_A_TREE(test_past_answer__a_question_is_stopped_wherever_it_is),
        ON_A_TREE(test_past_answer__a_path_of_very_many_owners_is_told_in_due_time),
        ON_A_TREE(test_past_answer__a_path_far_down_is_looked_for_as_fast),
        ON_A_TREE(test_past_answer__goes_on_past_a_damaged_row_and_a_repair_drops_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
