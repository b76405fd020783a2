/* Rows of what documents were. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/lib/stores/kv_fault.h"
#include "tests/lib/fixtures/past_fixture.h"
#include "tests/lib/fixtures/memory_store.h"

static int put(struct kv *kv, const struct past_event *event)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    int r = past_put(batch, event);
    past_put_count(batch, event->owner, 1);
    return r < 0 ? r : kv_apply(kv, batch);
}

static void put_made(struct kv *kv, uid_t owner, enum past_kind kind, unsigned number,
                     const char *path, uint64_t time_ns)
{
    _cleanup_(past_event_done) struct past_event event =
        past_made(owner, kind, number, path, time_ns);
    assert_int_equal(put(kv, &event), 0);
}

static struct past_event found;
static int take(void *user, const struct past_event *event)
{
    (void)user;
    past_event_done(&found);
    found = *event;
    found.path = strdup(event->path);
    found.to = event->to ? strdup(event->to) : NULL;
    return min_sketch_copy(&event->record.sketch, &found.record.sketch);
}

static void test_past__an_event_comes_back_as_it_was_put(void **state)
{
    static const enum past_kind kinds[] = {PAST_CHANGED, PAST_MOVED, PAST_DIED, PAST_DIRECTORY};
    for (size_t i = 0; i < 4; i++) {
        _cleanup_(past_event_done) struct past_event event =
            past_made(PAST_MINE, kinds[i], 7, "a/b.txt", 1000 + i);
        assert_int_equal(put(*state, &event), 0);
        struct past_walk walk = {.kv = *state, .visit = take, .since_ns = 1000 + i};
        assert_int_equal(past_each(&walk), 0);
        assert_int_equal(found.owner, PAST_MINE);
        assert_int_equal(found.time_ns, 1000 + i);
        assert_int_equal(found.kind, kinds[i]);
        assert_string_equal(found.path, "a/b.txt");
        assert_int_equal(found.to != NULL, kinds[i] == PAST_DIRECTORY);
        assert_true(file_key_equal(&found.record.key, &event.record.key));
        if (kinds[i] != PAST_DIRECTORY) {
            assert_int_equal(found.born_ns, 5);
            assert_int_equal(found.record.size_bytes, 7);
            assert_int_equal(found.record.sketch.n_values, 10);
        }
        assert_true(kinds[i] == PAST_CHANGED ? found.resemblance == 0.75
                                             : isnan(found.resemblance));
    }
    assert_past_is_whole(*state);
    past_event_done(&found);
}

static void assert_times(struct past_walk *walk, int r, struct past_times *times,
                         const char *expected)
{
    assert_int_equal(r, 0);
    assert_string_equal(times->text, expected);
    assert_int_equal(walk->n_damaged, 0);
    *times = (struct past_times){0};
}

static void test_past__events_are_found_by_document_and_by_place_of_all_owners(void **state)
{
    struct past_times times = {0};
    struct past_walk walk = {.kv = *state, .visit = past_take_time, .user = &times};
    put_made(*state, PAST_THEIRS, PAST_DIED, 2, "a/b", 5);
    put_made(*state, PAST_MINE, PAST_CHANGED, 1, "a/b", 1);
    put_made(*state, PAST_MINE, PAST_MOVED, 1, "a/b", 3);
    put_made(*state, PAST_MINE, PAST_DIED, 1, "a/bc", 4);
    put_made(*state, PAST_MINE, PAST_DIRECTORY, 9, "a", 2);
    _cleanup_(past_event_done) struct past_event one =
        past_made(PAST_MINE, PAST_CHANGED, 1, "x", 0);
    assert_times(&walk, past_of_files(&walk, &one.record.key, 1), &times, "1 3 4");
    assert_times(&walk, past_of_path(&walk, "a/b"), &times, "3 5");
    assert_times(&walk, past_of_path(&walk, "a"), &times, "2");
    assert_times(&walk, past_of_path(&walk, "b"), &times, "");
    assert_times(&walk, past_each(&walk), &times, "1 2 3 4 5");
    walk.since_ns = 3;
    assert_times(&walk, past_each(&walk), &times, "3 4 5");
    assert_times(&walk, past_of_files(&walk, &one.record.key, 1), &times, "3 4");
    walk.since_ns = 6;
    assert_int_equal(past_has_below(&walk, "a"), 0);
    walk.since_ns = 0;
    assert_int_equal(past_has_below(&walk, "a"), 1);
    assert_int_equal(past_has_below(&walk, "a/b"), 0); /* a/bc is beside it */
}

static int count_lines(void *user, const struct past_event *event)
{
    unsigned *n_of = user;
    n_of[event->path[0] == 'a' ? strlen(event->path) : 0]++;
    return 0;
}

/* Of owners who have few events, and of one who has many. */
static void test_past__what_is_asked_for_together_is_found_of_each_owner(void **state)
{
    enum { OWNERS = 5, MANY = 300, FILES = 40 };
    static char long_path[PAST_PATH_MAX + 100];
    struct file_key files[FILES];
    unsigned n_of[8] = {0}, n_found = 0;
    struct past_walk walk = {.kv = *state, .visit = count_lines, .user = n_of};
    for (unsigned owner = 0; owner <= OWNERS; owner++) {
        put_made(*state, owner, PAST_DIRECTORY, 1, "a", 1);
        put_made(*state, owner, PAST_DIED, 2, "a/b/c", 2);
        put_made(*state, owner, PAST_DIED, 3, "ab", 3);
        put_made(*state, owner, PAST_DIED, 4, "a/bb", 4);
        for (unsigned i = 0; i < (owner == OWNERS ? MANY : 3); i++)
            put_made(*state, owner, PAST_DIED, 10 + i, "x", 10 + i);
    }
    assert_int_equal(past_of_way(&walk, "a/b/c"), 0);
    assert_int_equal(n_of[strlen("a")], OWNERS + 1);
    assert_int_equal(n_of[strlen("a/b/c")], OWNERS + 1);
    assert_int_equal(n_of[0] + n_of[strlen("ab")] + n_of[strlen("a/bb")], 0);
    /* One of a damaged row is none. */
    static const char damaged[] = "\0\0\0\0pa\0bcdefghijklm\0its place is it";
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    kv_batch_put(batch, TABLE_PAST, (struct kv_slice){damaged, sizeof(damaged)},
                 (struct kv_slice){"d", 1});
    assert_int_equal(kv_apply(*state, batch), 0);
    /* A path that no event can have lies below others. */
    memset(long_path, 'y', sizeof(long_path) - 1);
    memcpy(long_path, "a/", 2);
    assert_int_equal(past_of_way(&walk, long_path), 0);
    assert_int_equal(n_of[strlen("a")], 2 * (OWNERS + 1));
    assert_int_equal(past_of_way(&walk, long_path + 2), 0);

    for (unsigned i = 0; i < FILES; i++) {
        _cleanup_(past_event_done) struct past_event event =
            past_made(0, PAST_DIED, 11 + i, "x", 0);
        files[i] = event.record.key;
    }
    assert_int_equal(past_of_files(&walk, files, FILES), 0);
    n_found = n_of[0];
    assert_int_equal(n_found, 2 * OWNERS + FILES);
    assert_int_equal(past_of_files(&walk, files, 0), 0);
}

static bool stop_at_third(void *user)
{
    unsigned *n_asked = user;
    return ++*n_asked >= 3;
}

/* Five owners, each with an event of one path. */
static void test_past__a_walk_ends_where_nobody_waits_any_more(void **state)
{
    struct past_times times = {0};
    unsigned n_asked = 0;
    struct past_walk walk = {.kv = *state,
                             .visit = past_take_time,
                             .user = &times,
                             .stop = stop_at_third,
                             .stop_user = &n_asked};
    for (unsigned i = 1; i <= 5; i++)
        put_made(*state, i, PAST_DIED, 1, "a", i);
    _cleanup_(past_event_done) struct past_event one = past_made(1, PAST_DIED, 1, "a", 1);
    assert_int_equal(past_of_path(&walk, "a"), -EINTR);
    assert_string_equal(times.text, "1 2");
    n_asked = 0;
    assert_int_equal(past_of_files(&walk, &one.record.key, 1), -EINTR);
    assert_string_equal(times.text, "1 2 1 2");
    n_asked = 0;
    assert_int_equal(past_has_below(&walk, "b"), -EINTR);
    n_asked = 0; /* at an owner, and at some rows of one */
    assert_int_equal(past_each(&walk), -EINTR);
    assert_string_equal(times.text, "1 2 1 2 1");
}

static void test_past__a_deleted_event_leaves_no_row(void **state)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    _cleanup_(past_event_done) struct past_event event =
        past_made(PAST_MINE, PAST_MOVED, 1, "a", 1);
    assert_int_equal(put(*state, &event), 0);
    assert_int_equal(past_delete(batch, &event), 0);
    past_put_count(batch, PAST_MINE, 0);
    assert_int_equal(kv_apply(*state, batch), 0);
    uid_t owner;
    assert_int_equal(past_next_owner(*state, -1, &owner), 0);
}

static void test_past__what_is_no_path_is_refused(void **state)
{
    static const char *const paths[] = {"", "/a", "a/", "a//b", ".", "a/../b", "a/."};
    _cleanup_free_ char *long_path = calloc(1, PAST_PATH_MAX + 2);
    memset(long_path, 'x', PAST_PATH_MAX + 1);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        _cleanup_(past_event_done) struct past_event event =
            past_made(PAST_MINE, PAST_DIED, 1, paths[i], 1);
        assert_int_equal(put(*state, &event), -EINVAL);
    }
    _cleanup_(past_event_done) struct past_event event =
        past_made(PAST_MINE, PAST_DIED, 1, long_path, 1);
    assert_int_equal(put(*state, &event), -EINVAL);
    event.path[PAST_PATH_MAX] = '\0';
    assert_int_equal(put(*state, &event), 0);
}

/* From which PAST_OWNER_MAX of them have the room that docs/design/past.md says. */
static void test_past__the_largest_event_has_its_bound(void **state)
{
    (void)state;
    static const enum past_kind kinds[] = {PAST_CHANGED, PAST_MOVED, PAST_DIED, PAST_DIRECTORY};
    char path[PAST_PATH_MAX + 1];
    memset(path, 'x', PAST_PATH_MAX);
    path[PAST_PATH_MAX] = '\0';
    for (size_t i = 0; i < 4; i++) {
        _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
        _cleanup_(past_event_done) struct past_event event =
            past_made(PAST_MINE, kinds[i], 1, path, 1);
        event.record.key.size_bytes = FILE_KEY_MAX_BYTES;
        if (kinds[i] == PAST_DIRECTORY) {
            free(event.to);
            event.to = strdup(path);
        } else {
            min_sketch_done(&event.record.sketch);
            past_sketch(0, 4000, &event.record.sketch);
        }
        assert_int_equal(past_put(batch, &event), 0);
        assert_true(kv_batch_bytes(batch) <= 3600);
    }
}

/* Changes each byte of each row, one after the other. */
static void test_past__a_damaged_row_is_told_and_the_others_are_found(void **state)
{
    put_made(*state, PAST_MINE, PAST_DIED, 1, "a", 1);
    put_made(*state, PAST_MINE, PAST_DIED, 2, "b", 2);
    _cleanup_(past_event_done) struct past_event event = past_made(PAST_MINE, PAST_DIED, 1, "a", 1);
    uint8_t key[4 + 1 + 16];
    put_be32(key, PAST_MINE);
    key[4] = 'e';
    put_be64(key + 5, 1);
    put_be64(key + 13, past_number(&event));
    const struct kv_slice slice = {key, sizeof(key)};
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    assert_int_equal(kv_get(*state, TABLE_PAST, slice, &value), 0);
    for (size_t n = 0; n < value.size_bytes; n += 7) { /* cut */
        _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
        struct past_times times = {0};
        struct past_walk walk = {.kv = *state, .visit = past_take_time, .user = &times};
        const struct kv_entry row = {slice, {value.data, n}};
        kv_batch_put(batch, TABLE_PAST, slice, row.value);
        assert_int_equal(kv_apply(*state, batch), 0);
        assert_int_equal(past_check(*state, &row), -EUCLEAN);
        assert_int_equal(past_each(&walk), 0);
        assert_string_equal(times.text, "2");
        assert_int_equal(walk.n_damaged, 1);
        assert_int_equal(past_of_path(&walk, "a"), 0);
        assert_int_equal(walk.n_damaged, 2);
    }
    /* What leads nowhere is told, too; and what is no row. */
    const struct kv_entry other = {{"\0\0\0\1x", 5}, {"", 0}};
    assert_int_equal(past_check(*state, &other), -EUCLEAN);
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    kv_batch_delete(batch, TABLE_PAST, slice);
    assert_int_equal(kv_apply(*state, batch), 0);
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    struct kv_entry row;
    size_t n_lost = 0;
    int r = table_walk_begin(&walk, *state, TABLE_PAST, (struct kv_slice){0});
    while (r >= 0 && (r = table_walk_next(&walk, &row)) > 0)
        n_lost += past_check(*state, &row) == -ENOENT;
    assert_int_equal(n_lost, 2); /* from the document and from the place */
}

static void test_past__a_copy_has_sound_events_of_its_policy_with_all_their_rows(void **state)
{
    struct kv *copy;
    uint64_t n, n_left, n_stored;
    assert_int_equal(
        kv_memory_open(&(struct kv_options){.tables = schema_tables, .n_tables = SCHEMA_N_TABLES},
                       &copy),
        0);
    put_made(*state, PAST_MINE, PAST_DIED, 1, "a", 1);
    put_made(*state, PAST_THEIRS, PAST_CHANGED, 2, "b", 2);
    put_made(*state, PAST_THEIRS, PAST_DIRECTORY, 3, "d", 3);
    _cleanup_(past_event_done) struct past_event other = past_made(PAST_MINE, PAST_DIED, 4, "c", 4);
    other.record.sketch.policy_id++;
    assert_int_equal(put(*state, &other), 0);
    assert_int_equal(past_copy(*state, copy, policy_id(past_policy()), &n, &n_left), 0);
    assert_int_equal(n, 3);
    assert_int_equal(n_left, 1);
    assert_past_is_whole(copy);
    assert_int_equal(past_rows(copy, PAST_MINE, 'e'), 1);
    assert_int_equal(past_rows(copy, PAST_THEIRS, 'e'), 2);
    assert_int_equal(past_rows(copy, PAST_THEIRS, 'f'), 2);
    assert_int_equal(past_rows(copy, PAST_THEIRS, 'p'), 1);
    assert_int_equal(past_get_count(copy, PAST_THEIRS, &n_stored), 0);
    assert_int_equal(n_stored, 2);
    kv_close(copy);
}

/* One call of the old store fails, each in turn: only what of one owner is behind it may be
 * missing, and that is told. One of the new store's is the copy's end. */
static void
test_past__what_cannot_be_read_of_one_owner_keeps_no_other_from_being_copied(void **state)
{
    uint64_t n, n_left, n_calls = 1, n_all = 1, n_writes;
    put_made(*state, PAST_MINE, PAST_DIED, 1, "a", 1);
    put_made(*state, PAST_THEIRS, PAST_CHANGED, 2, "b", 2);
    unsigned n_found_theirs = 0, n_found_mine = 0;
    for (uint64_t call = 0; call <= n_all; call++) { /* 0: none fails */
        struct kv *copy, *failing;
        const struct kv_fault_plan plan = {.fail_call = call, .fail_error = -EUCLEAN};
        assert_int_equal(
            kv_memory_open(
                &(struct kv_options){.tables = schema_tables, .n_tables = SCHEMA_N_TABLES}, &copy),
            0);
        assert_int_equal(kv_fault_open(*state, &plan, &failing), 0);
        assert_int_equal(past_copy(failing, copy, policy_id(past_policy()), &n, &n_left), 0);
        kv_fault_counts(failing, &n_calls, &n_writes);
        assert_int_equal(n_left > 0, call > 0);
        assert_in_range(n, call ? 0 : 2, 2);
        n_all = call ? n_all : n_calls;
        assert_past_is_whole(copy);
        n_found_mine += n == 1 && past_rows(copy, PAST_MINE, 'e') == 1;
        n_found_theirs += n == 1 && past_rows(copy, PAST_THEIRS, 'e') == 1;
        kv_close(failing);
        kv_close(copy);
    }
    /* One call at least reads the events of either alone: then the other's are there. */
    assert_true(n_found_mine > 0 && n_found_theirs > 0);
    struct kv *copy, *failing;
    const struct kv_fault_plan full = {.crash_after_writes = 1};
    assert_int_equal(
        kv_memory_open(&(struct kv_options){.tables = schema_tables, .n_tables = SCHEMA_N_TABLES},
                       &copy),
        0);
    assert_int_equal(kv_fault_open(copy, &full, &failing), 0);
    assert_int_equal(past_copy(*state, failing, policy_id(past_policy()), &n, &n_left), -EIO);
    kv_close(failing);
    kv_close(copy);
}

/* All values of the longer of two sketches, by the definition, against what is shortened. */
static void test_past__a_shortened_sketch_estimates_as_the_first_s_values_do(void **state)
{
    (void)state;
    struct estimate whole, shortened;
    for (unsigned common = 0; common <= 4000; common += 1000) {
        _cleanup_(min_sketch_done) struct min_sketch a = {0}, b = {0};
        past_sketch(0, 4000, &a);
        past_sketch(4000 - common, 4000, &b);
        const struct min_sketch small = min_sketch_shortened(&a);
        assert_int_equal(small.n_values, past_policy()->s);
        assert_true(min_sketch_is_sound(&small));
        assert_int_equal(min_sketch_resemblance(&small, &b, &shortened), 0);
        assert_int_equal(min_sketch_resemblance(&a, &b, &whole), 0);
        const double r = common / (8000.0 - common);
        assert_true(fabs(shortened.value - r) <= 4 * sqrt(0.25 / past_policy()->s));
        assert_true(fabs(shortened.value - whole.value) <= 4 * sqrt(0.5 / past_policy()->s));
    }
}

int main(void)
{
#define IN_A_STORE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        IN_A_STORE(test_past__an_event_comes_back_as_it_was_put),
        IN_A_STORE(test_past__events_are_found_by_document_and_by_place_of_all_owners),
        IN_A_STORE(test_past__what_is_asked_for_together_is_found_of_each_owner),
        IN_A_STORE(test_past__a_walk_ends_where_nobody_waits_any_more),
        IN_A_STORE(test_past__a_deleted_event_leaves_no_row),
        IN_A_STORE(test_past__what_is_no_path_is_refused),
        cmocka_unit_test(test_past__the_largest_event_has_its_bound),
        IN_A_STORE(test_past__a_damaged_row_is_told_and_the_others_are_found),
        IN_A_STORE(test_past__a_copy_has_sound_events_of_its_policy_with_all_their_rows),
        IN_A_STORE(test_past__what_cannot_be_read_of_one_owner_keeps_no_other_from_being_copied),
        cmocka_unit_test(test_past__a_shortened_sketch_estimates_as_the_first_s_values_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
