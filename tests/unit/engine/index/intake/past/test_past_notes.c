/* The bounds of what is remembered: of a document, of a place, of an owner, of all, and of age. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/index/intake/past/past_notes.h"
#include "tests/lib/fixtures/past_fixture.h"
#include "tests/lib/stores/kv_fault.h"
#include "tests/lib/stores/kv_memory.h"

#define SECOND UINT64_C(1000000000)

struct world {
    struct kv *kv;
    struct past_notes notes;
};

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    if (kv_memory_open(&(struct kv_options){.tables = schema_tables, .n_tables = SCHEMA_N_TABLES},
                       &world->kv) < 0)
        return -1;
    *state = world;
    return past_notes_open(&world->notes, world->kv, 1000);
}

static int teardown(void **state)
{
    struct world *world = *state;
    past_notes_done(&world->notes);
    kv_close(world->kv);
    free(world);
    return 0;
}

static int add(struct past_notes *notes, uid_t owner, enum past_kind kind, unsigned number,
               const char *path, uint64_t time_ns)
{
    _cleanup_(past_event_done) struct past_event event =
        past_made(owner, kind, number, path, time_ns);
    return past_notes_add(notes, &event, 1);
}

/* The numbers that are kept are those of the rows, in the store and in memory. */
static void assert_counts(struct world *world)
{
    uint64_t all = 0, stored;
    for (size_t i = 0; i < world->notes.n_owners; i++) {
        const struct past_owner *owner = &world->notes.owners[i];
        assert_int_equal(past_get_count(world->kv, owner->uid, &stored), 0);
        assert_int_equal(stored, past_rows(world->kv, owner->uid, 'e'));
        assert_int_equal(owner->n, stored);
        all += stored;
    }
    assert_int_equal(world->notes.n, all);
    assert_past_is_whole(world->kv);
}

static void test_past_notes__of_a_document_first_and_last_stay_and_some_spread_in_time(void **state)
{
    struct world *world = *state;
    struct past_times times = {0};
    struct past_walk walk = {.kv = world->kv, .visit = past_take_time, .user = &times};
    world->notes.line_max = 4;
    for (unsigned t = 1; t <= 100; t++)
        assert_int_equal(add(&world->notes, PAST_MINE, PAST_CHANGED, 1, "a", t), 0);
    assert_int_equal(past_rows(world->kv, PAST_MINE, 'e'), 4);
    assert_int_equal(past_each(&walk), 0);
    assert_int_equal(strncmp(times.text, "1 ", 2), 0);
    assert_string_equal(strrchr(times.text, ' '), " 100");
    /* Those between are not the last ones: the widest gap is no more than three quarters. */
    unsigned at[4];
    assert_int_equal(sscanf(times.text, "%u %u %u %u", &at[0], &at[1], &at[2], &at[3]), 4);
    for (unsigned i = 0; i < 3; i++)
        assert_true(at[i + 1] - at[i] <= 75);
    assert_counts(world);
}

/* An editor puts a new file in the place of the old one each time. */
static void test_past_notes__of_a_place_as_many_stay_as_of_a_document(void **state)
{
    struct world *world = *state;
    world->notes.line_max = 4;
    for (unsigned t = 1; t <= 50; t++)
        assert_int_equal(add(&world->notes, PAST_MINE, PAST_DIED, t, "a", t), 0);
    assert_int_equal(past_rows(world->kv, PAST_MINE, 'e'), 4);
    assert_int_equal(past_rows(world->kv, PAST_MINE, 'f'), 4);
    assert_counts(world);
}

/* A file is linked by others under hundreds of names, in turn with another one, and these go all at
 * once, again and again: what else is remembered of its owner's stays. */
static void test_past_notes__events_that_come_together_are_no_more_than_one_by_one(void **state)
{
    struct world *world = *state;
    enum { N_LINKS = 200, N_ROUNDS = 5 };
    static const enum past_kind kinds[] = {PAST_MOVED, PAST_DIED, PAST_DIRECTORY};
    struct past_event events[N_LINKS];
    world->notes.owner_max = 150;
    assert_int_equal(add(&world->notes, PAST_MINE, PAST_CHANGED, 9, "precious", 1), 0);
    for (unsigned round = 0; round < N_ROUNDS; round++)
        for (unsigned k = 0; k < 3; k++) {
            for (unsigned i = 0; i < N_LINKS; i++) {
                char path[32];
                snprintf(path, sizeof(path), "%u/%u", round, i);
                events[i] = past_made(i % 5 ? PAST_MINE : PAST_THEIRS, kinds[k], 10 * k + i % 2,
                                      path, 100 + round);
            }
            assert_int_equal(past_notes_add(&world->notes, events, N_LINKS), 0);
            for (unsigned i = 0; i < N_LINKS; i++)
                past_event_done(&events[i]);
            assert_counts(world);
            assert_int_equal(past_rows(world->kv, PAST_MINE, 'e'),
                             1 + 2 * PAST_LINE_MAX * (round ? 3 : k + 1));
        }
    /* Of one place, too. */
    for (unsigned i = 0; i < N_LINKS; i++)
        events[i] = past_made(PAST_MINE, PAST_DIED, 100 + i, "place", 200);
    assert_int_equal(past_notes_add(&world->notes, events, N_LINKS), 0);
    for (unsigned i = 0; i < N_LINKS; i++)
        past_event_done(&events[i]);
    assert_int_equal(past_rows(world->kv, PAST_MINE, 'e'), 1 + (2 * 3 + 1) * PAST_LINE_MAX);
    struct past_place places[2];
    size_t n = 0;
    const struct file_key precious = {FILE_KEY_MIN_BYTES, {0, 0, 0, 9}};
    assert_int_equal(past_line(world->kv, PAST_MINE, &precious, NULL, 2, places, &n), 0);
    assert_int_equal(n, 1);
    assert_counts(world);
}

/* An event goes for one document while another leaves its place: what is known of the place has it
 * no more, else it would go once more, and be counted twice. */
static void test_past_notes__what_goes_with_others_is_counted_once(void **state)
{
    struct world *world = *state;
    world->notes.line_max = 3;
    assert_int_equal(add(&world->notes, PAST_MINE, PAST_MOVED, 9, "place", 1), 0);
    assert_int_equal(add(&world->notes, PAST_MINE, PAST_MOVED, 1, "first", 1), 0);
    assert_int_equal(add(&world->notes, PAST_MINE, PAST_MOVED, 1, "place", 2), 0);
    assert_int_equal(add(&world->notes, PAST_MINE, PAST_MOVED, 1, "third", 100), 0);
    past_lines_forget(&world->notes.lines); /* as others' events have it */
    struct past_event events[] = {past_made(PAST_MINE, PAST_MOVED, 1, "fourth", 200),
                                  past_made(PAST_MINE, PAST_MOVED, 2, "place", 200)};
    assert_int_equal(past_notes_add(&world->notes, events, 2), 0);
    assert_counts(world);
    for (unsigned i = 3; i < 8; i++) {
        assert_int_equal(add(&world->notes, PAST_MINE, PAST_MOVED, i, "place", 100 * i), 0);
        assert_counts(world);
    }
    for (unsigned i = 0; i < 2; i++)
        past_event_done(&events[i]);
}

/* A damaged number says that an owner has more events than a store could have. */
static void test_past_notes__a_number_that_is_far_too_large_is_set_right(void **state)
{
    struct world *world = *state;
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    past_put_count(batch, PAST_THEIRS, (uint64_t)1 << 62);
    past_put_count(batch, PAST_MINE, (uint64_t)3 << 62);
    assert_int_equal(kv_apply(world->kv, batch), 0);
    assert_int_equal(past_notes_read(&world->notes), 0);
    for (unsigned i = 1; i <= 3; i++)
        assert_int_equal(add(&world->notes, PAST_THEIRS, PAST_CHANGED, i, "a", i), 0);
    for (unsigned i = 1; i <= 3; i++)
        assert_int_equal(add(&world->notes, PAST_MINE, PAST_CHANGED, i, "a", i), 0);
    assert_counts(world);
    assert_in_range(world->notes.n, 4, 6);
}

/* One whose last name goes is linked again by who has it open (or from outside the tree). */
static void test_past_notes__of_a_document_that_dies_again_and_again_some_deaths_stay(void **state)
{
    struct world *world = *state;
    char path[32];
    for (unsigned t = 1; t <= 40; t++) {
        snprintf(path, sizeof(path), "%u", t);
        assert_int_equal(add(&world->notes, PAST_MINE, PAST_DIED, 1, path, t), 0);
        assert_int_equal(past_rows(world->kv, PAST_MINE, 'e'),
                         t < PAST_LINE_MAX ? t : PAST_LINE_MAX);
    }
    assert_counts(world);
}

static void test_past_notes__an_owner_makes_room_for_that_owner_alone(void **state)
{
    struct world *world = *state;
    char path[32];
    world->notes.owner_max = 10;
    for (unsigned i = 0; i < 5; i++) {
        snprintf(path, sizeof(path), "mine/%u", i);
        assert_int_equal(add(&world->notes, PAST_MINE, PAST_DIED, i, path, i + 1), 0);
    }
    /* Of the same names, too, and with directories. */
    for (unsigned i = 0; i < 200; i++) {
        snprintf(path, sizeof(path), "mine/%u", i % 7);
        assert_int_equal(add(&world->notes, PAST_THEIRS, i % 3 ? PAST_DIED : PAST_DIRECTORY,
                             1000 + i, path, 100 + i),
                         0);
        assert_true(past_rows(world->kv, PAST_THEIRS, 'e') <= 10);
    }
    assert_int_equal(past_rows(world->kv, PAST_MINE, 'e'), 5);
    for (unsigned i = 0; i < 5; i++) {
        struct past_place places[32];
        size_t n = 0;
        snprintf(path, sizeof(path), "mine/%u", i);
        assert_int_equal(past_line(world->kv, PAST_MINE, NULL, path, 32, places, &n), 0);
        assert_int_equal(n, 1);
        assert_int_equal(places[0].time_ns, i + 1);
    }
    assert_counts(world);
}

/* The search for the oldest begins where the last one ended, or at what came before that since. */
static void test_past_notes__the_oldest_goes_wherever_the_last_deletion_ended(void **state)
{
    struct world *world = *state;
    struct past_times times = {0};
    struct past_walk walk = {.kv = world->kv, .visit = past_take_time, .user = &times};
    char path[32];
    world->notes.owner_max = 3;
    for (unsigned i = 1; i <= 8; i++) {
        snprintf(path, sizeof(path), "%u", i);
        assert_int_equal(add(&world->notes, PAST_MINE, PAST_DIED, i, path, 100 + i), 0);
    }
    assert_int_equal(world->notes.owners[0].from_ns, 105);
    assert_int_equal(add(&world->notes, PAST_MINE, PAST_CHANGED, 9, "9", 50), 0);
    assert_int_equal(past_each(&walk), 0);
    assert_string_equal(times.text, "106 107 108");
    assert_int_equal(world->notes.owners[0].from_ns, 50);
    assert_int_equal(add(&world->notes, PAST_MINE, PAST_DIED, 10, "10", 110), 0);
    assert_int_equal(world->notes.owners[0].from_ns, 106);
    assert_counts(world);
    /* What others have put is not known. */
    assert_int_equal(past_notes_read(&world->notes), 0);
    assert_int_equal(world->notes.owners[0].from_ns, 0);
}

static void test_past_notes__of_all_owners_the_one_who_has_most_gives(void **state)
{
    struct world *world = *state;
    char path[32];
    world->notes.total_max = 50;
    for (unsigned i = 0; i < 5; i++) {
        snprintf(path, sizeof(path), "mine/%u", i);
        assert_int_equal(add(&world->notes, PAST_MINE, PAST_DIED, i, path, i + 1), 0);
    }
    for (unsigned i = 0; i < 300; i++) {
        snprintf(path, sizeof(path), "%u", i);
        assert_int_equal(
            add(&world->notes, PAST_THEIRS + i % 3, PAST_DIED, 1000 + i, path, 100 + i), 0);
        assert_true(world->notes.n <= 50);
    }
    assert_int_equal(past_rows(world->kv, PAST_MINE, 'e'), 5);
    assert_counts(world);
}

static void test_past_notes__what_is_too_old_goes(void **state)
{
    struct world *world = *state;
    for (unsigned i = 1; i <= 300; i++) {
        char path[32];
        snprintf(path, sizeof(path), "%u", i);
        assert_int_equal(
            add(&world->notes, i % 2 ? PAST_MINE : PAST_THEIRS, PAST_DIED, i, path, i * SECOND), 0);
    }
    const uint64_t now_ns = 1200 * SECOND; /* of 1,000 s: those before 200 go */
    uint64_t before = world->notes.n;
    int r;
    while ((r = past_notes_expire(&world->notes, now_ns)) > 0) {
        assert_true(before - world->notes.n <= PAST_DELETED_AT_ONCE);
        before = world->notes.n;
    }
    assert_int_equal(r, 0);
    assert_int_equal(past_rows(world->kv, PAST_MINE, 'e') + past_rows(world->kv, PAST_THEIRS, 'e'),
                     101); /* 200 to 300 */
    assert_counts(world);
}

/* Of many owners the last one has what is too old; a step looks at some, whoever they are. */
static void test_past_notes__a_step_looks_at_some_owners_and_the_next_goes_on(void **state)
{
    struct world *world = *state;
    enum { N_OWNERS = 300 };
    for (unsigned i = 0; i < N_OWNERS; i++)
        assert_int_equal(
            add(&world->notes, i, PAST_DIED, i, "a", (i == N_OWNERS - 1 ? 1 : 1000) * SECOND), 0);
    const struct kv_fault_plan plan = {.seed = 1};
    struct past_notes notes;
    struct kv *counted;
    uint64_t before, n_calls, n_writes;
    assert_int_equal(kv_fault_open(world->kv, &plan, &counted), 0);
    assert_int_equal(past_notes_open(&notes, counted, 1000), 0);
    kv_fault_counts(counted, &before, &n_writes);
    int r;
    do {
        r = past_notes_expire(&notes, 1200 * SECOND);
        kv_fault_counts(counted, &n_calls, &n_writes);
        assert_true(n_calls - before <= PAST_OWNERS_AT_ONCE + 1); /* a scan each, and a write */
        before = n_calls;
    } while (r > 0);
    assert_int_equal(r, 0);
    assert_int_equal(notes.n, N_OWNERS - 1);
    assert_int_equal(past_rows(world->kv, N_OWNERS - 1, 'e'), 0);
    past_notes_done(&notes);
    kv_close(counted);
}

static void test_past_notes__nothing_stays_where_nothing_is_to_be_kept(void **state)
{
    struct world *world = *state;
    assert_int_equal(add(&world->notes, PAST_MINE, PAST_DIED, 1, "a", SECOND), 0);
    past_notes_done(&world->notes);
    assert_int_equal(past_notes_open(&world->notes, world->kv, 0), 0);
    assert_int_equal(world->notes.n, 1);
    assert_int_equal(past_notes_expire(&world->notes, 2 * SECOND), 1);
    uid_t owner;
    assert_int_equal(past_next_owner(world->kv, -1, &owner), 0);
    /* That is stored, too. */
    past_notes_done(&world->notes);
    assert_int_equal(past_notes_open(&world->notes, world->kv, UINT64_MAX), 0);
    assert_true(past_notes_since(&world->notes, SECOND) == UINT64_MAX);
}

/* Of a line that is known the store is not asked: a scan would pass all that was deleted of it. */
static void test_past_notes__a_line_that_had_an_event_of_late_is_not_read_again(void **state)
{
    struct world *world = *state;
    const struct kv_fault_plan plan = {.seed = 1};
    struct past_notes notes;
    struct kv *counted;
    uint64_t before, n_calls, n_writes;
    assert_int_equal(kv_fault_open(world->kv, &plan, &counted), 0);
    assert_int_equal(past_notes_open(&notes, counted, 1000), 0);
    for (unsigned t = 1; t <= 100; t++) {
        kv_fault_counts(counted, &before, &n_writes);
        assert_int_equal(add(&notes, PAST_MINE, PAST_MOVED, 1, "a", t), 0);
        kv_fault_counts(counted, &n_calls, &n_writes);
        /* The event that goes is read, and a batch is written. */
        assert_true(n_calls - before <= (t == 1 ? 3 : 2));
    }
    past_notes_done(&notes);
    kv_close(counted);
}

/* However the names of documents and places are chosen: as many lines are known as there is room
 * for. */
static void test_past_notes__lines_are_read_once_as_long_as_no_more_had_an_event_since(void **state)
{
    enum { DOCUMENTS = PAST_LINES_KEPT / 2, ROUNDS = 4 };
    struct world *world = *state;
    const struct kv_fault_plan plan = {.seed = 1};
    struct past_notes notes;
    struct kv *counted;
    uint64_t before, n_calls, n_writes;
    assert_int_equal(kv_fault_open(world->kv, &plan, &counted), 0);
    assert_int_equal(past_notes_open(&notes, counted, 1000), 0);
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < DOCUMENTS; i++) {
            char path[16];
            snprintf(path, sizeof(path), "%u", i);
            kv_fault_counts(counted, &before, &n_writes);
            assert_int_equal(add(&notes, PAST_MINE, PAST_MOVED, i, path, 1 + round * DOCUMENTS + i),
                             0);
            kv_fault_counts(counted, &n_calls, &n_writes);
            /* Its two lines, and the write; then that alone. */
            assert_int_equal(n_calls - before, round == 0 ? 3 : 1);
        }
    past_notes_done(&notes);
    kv_close(counted);
}

/* What stays is the same as where each line is read from the store each time. */
static void test_past_notes__lines_that_are_known_are_those_of_the_store(void **state)
{
    static const enum past_kind kinds[] = {PAST_CHANGED, PAST_MOVED, PAST_DIED, PAST_DIRECTORY};
    struct world *world = *state;
    struct world other;
    struct past_times times = {0}, expected = {0};
    struct past_walk walk = {.kv = world->kv, .visit = past_take_time, .user = &times};
    uint64_t random = 1;
    assert_int_equal(
        kv_memory_open(&(struct kv_options){.tables = schema_tables, .n_tables = SCHEMA_N_TABLES},
                       &other.kv),
        0);
    assert_int_equal(past_notes_open(&other.notes, other.kv, 1000), 0);
    world->notes.line_max = other.notes.line_max = 4;
    world->notes.owner_max = other.notes.owner_max = 30;
    for (unsigned t = 0; t < 2000; t++) {
        random = mix64(random + t);
        char path[8];
        snprintf(path, sizeof(path), "%u", (unsigned)(random >> 8) % 12);
        const enum past_kind kind = kinds[random % 4];
        const unsigned number = (unsigned)(random >> 16) % 12;
        const uid_t owner = random >> 24 & 1 ? PAST_MINE : PAST_THEIRS;
        /* A change may be older than what was noted before. */
        const uint64_t time_ns = 10 + t - (kind == PAST_CHANGED ? (random >> 32) % 10 : 0);
        assert_int_equal(past_notes_read(&other.notes), 0);
        assert_int_equal(add(&world->notes, owner, kind, number, path, time_ns), 0);
        assert_int_equal(add(&other.notes, owner, kind, number, path, time_ns), 0);
    }
    assert_int_equal(past_each(&walk), 0);
    walk.kv = other.kv;
    walk.user = &expected;
    assert_int_equal(past_each(&walk), 0);
    assert_string_equal(times.text, expected.text);
    assert_counts(world);
    past_notes_done(&other.notes);
    kv_close(other.kv);
}

static void test_past_notes__what_is_noted_again_is_one_event(void **state)
{
    struct world *world = *state;
    /* A change has the time of what followed; a death that of the note. */
    assert_int_equal(add(&world->notes, PAST_MINE, PAST_CHANGED, 1, "a", 1), 0);
    assert_int_equal(add(&world->notes, PAST_MINE, PAST_CHANGED, 1, "a", 1), 0);
    assert_int_equal(add(&world->notes, PAST_MINE, PAST_DIED, 1, "a", 2), 0);
    assert_int_equal(add(&world->notes, PAST_MINE, PAST_DIED, 1, "a", 3), 0);
    assert_int_equal(past_rows(world->kv, PAST_MINE, 'e'), 2);
    assert_counts(world);
}

/* The store dies at each write, with batches that are split into their partitions: what is there
 * then is whole, and of no owner more than a step too much. */
static void test_past_notes__a_death_at_any_write_leaves_whole_events(void **state)
{
    struct world *world = *state;
    bool died = true;
    for (unsigned n = 1; died; n++) {
        const struct kv_fault_plan plan = {
            .crash_after_writes = n, .split_batches = true, .seed = n};
        struct past_notes notes;
        struct kv *fault;
        char path[32];
        assert_int_equal(kv_fault_open(world->kv, &plan, &fault), 0);
        died = past_notes_open(&notes, fault, 1000) < 0;
        notes.owner_max = 6;
        notes.line_max = 3;
        for (unsigned i = 0; !died && i < 12; i++) {
            struct past_event events[2] = {
                past_made(PAST_MINE, PAST_DIED, 100 * n + i, "same", 1000 * n + i),
                past_made(PAST_THEIRS, PAST_CHANGED, 1, "a", 1000 * n + i)};
            snprintf(path, sizeof(path), "%u", i);
            died = past_notes_add(&notes, events, 2) < 0 ||
                   add(&notes, PAST_MINE, PAST_MOVED, i, path, 1000 * n + i) < 0;
            past_event_done(&events[0]);
            past_event_done(&events[1]);
        }
        past_notes_done(&notes);
        kv_close(fault);
        past_notes_done(&world->notes);
        assert_int_equal(past_notes_open(&world->notes, world->kv, 1000), 0);
        assert_counts(world);
        assert_true(past_rows(world->kv, PAST_MINE, 'e') <= 6 + 2);
    }
}

int main(void)
{
#define IN_A_STORE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        IN_A_STORE(test_past_notes__of_a_document_first_and_last_stay_and_some_spread_in_time),
        IN_A_STORE(test_past_notes__of_a_place_as_many_stay_as_of_a_document),
        IN_A_STORE(test_past_notes__events_that_come_together_are_no_more_than_one_by_one),
        IN_A_STORE(test_past_notes__what_goes_with_others_is_counted_once),
        IN_A_STORE(test_past_notes__a_number_that_is_far_too_large_is_set_right),
        IN_A_STORE(test_past_notes__of_a_document_that_dies_again_and_again_some_deaths_stay),
        IN_A_STORE(test_past_notes__an_owner_makes_room_for_that_owner_alone),
        IN_A_STORE(test_past_notes__the_oldest_goes_wherever_the_last_deletion_ended),
        IN_A_STORE(test_past_notes__of_all_owners_the_one_who_has_most_gives),
        IN_A_STORE(test_past_notes__what_is_too_old_goes),
        IN_A_STORE(test_past_notes__a_step_looks_at_some_owners_and_the_next_goes_on),
        IN_A_STORE(test_past_notes__nothing_stays_where_nothing_is_to_be_kept),
        IN_A_STORE(test_past_notes__a_line_that_had_an_event_of_late_is_not_read_again),
        IN_A_STORE(test_past_notes__lines_are_read_once_as_long_as_no_more_had_an_event_since),
        IN_A_STORE(test_past_notes__lines_that_are_known_are_those_of_the_store),
        IN_A_STORE(test_past_notes__what_is_noted_again_is_one_event),
        IN_A_STORE(test_past_notes__a_death_at_any_write_leaves_whole_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
