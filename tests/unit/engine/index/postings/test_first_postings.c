/* Beginnings of long lists that are kept in memory: what they hold, and that answers are those of
 * the store and the notes whatever is kept. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "engine/index/postings/first_postings.h"
#include "tests/lib/share.h"
#include "tests/lib/stores/kv_fault.h"
#include "tests/lib/stores/kv_memory.h"

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}

/* -- the lists themselves -- */

enum { MANY = 3000, BYTES = 1 << 20 };

/* Ascending, some of them far apart. */
static uint64_t sid_of(uint64_t i)
{
    return 2 * i + (i / 700 << 40) + (i / 100 << 10);
}

static void make_sids(uint64_t from, uint64_t n, uint64_t *sids)
{
    for (uint64_t i = 0; i < n; i++)
        sids[i] = sid_of(from + i);
}

/* What is kept of a list, which has to be the first of those sids. Returns how many; whether the
 * list ends there. */
static size_t n_kept(struct first_postings *first, uint64_t fingerprint, bool *ret_ends)
{
    struct first_reading reading;
    uint64_t sid, n = 0;

    first_postings_read(first, POSTINGS_TIER_R, fingerprint, &reading);
    while (first_reading_next(&reading, &sid))
        assert_int_equal(sid, sid_of(n++));
    assert_int_equal(reading.next_sid, n ? sid_of(n - 1) + 1 : 0);
    *ret_ends = reading.ends;
    first_reading_done(&reading);
    return n;
}

/* Append n sids to what is kept. */
static void keep_more(struct first_postings *first, uint64_t changes, uint64_t fingerprint,
                      uint64_t n, bool ends)
{
    struct first_reading reading;
    uint64_t sids[MANY], sid, n_before = 0;

    first_postings_read(first, POSTINGS_TIER_R, fingerprint, &reading);
    while (first_reading_next(&reading, &sid))
        n_before++;
    make_sids(n_before, n, sids);
    first_postings_keep(first, changes, POSTINGS_TIER_R, fingerprint, &reading, sids, n, ends);
    first_reading_done(&reading);
}

static void test_first_postings__a_list_grows_at_its_end(void **state)
{
    struct first_postings *first;
    bool ends, have[2];
    (void)state;

    assert_int_equal(first_postings_new(BYTES, &first), 0);
    assert_int_equal(n_kept(first, 1, &ends), 0);
    assert_false(ends);
    keep_more(first, 0, 1, POSTINGS_PIECE, true); /* short lists cost little in the store */
    assert_int_equal(n_kept(first, 1, &ends), 0);
    keep_more(first, 0, 1, POSTINGS_PIECE + 1, false);
    assert_int_equal(n_kept(first, 1, &ends), POSTINGS_PIECE + 1);
    assert_false(ends);
    keep_more(first, 0, 1, 1, false);
    keep_more(first, 0, 1, 2000, true);
    assert_int_equal(n_kept(first, 1, &ends), POSTINGS_PIECE + 2002);
    assert_true(ends);
    first_postings_have(first, POSTINGS_TIER_R, (uint64_t[]){2, 1}, 2, have);
    assert_true(!have[0] && have[1]);
    first_postings_have(first, POSTINGS_TIER_C, (uint64_t[]){2, 1}, 2, have);
    assert_true(!have[0] && !have[1]);
    first_postings_free(first);
}

static void test_first_postings__who_read_less_does_not_replace_who_read_more(void **state)
{
    struct first_postings *first;
    struct first_reading none = {.list = NULL};
    uint64_t sids[MANY];
    bool ends;
    (void)state;

    assert_int_equal(first_postings_new(BYTES, &first), 0);
    make_sids(0, MANY, sids);
    for (size_t n = 1000; n <= 2000; n += 500) {
        first_postings_keep(first, 0, POSTINGS_TIER_R, 5, &none, sids, 1500, false);
        first_postings_keep(first, 0, POSTINGS_TIER_R, 5, &none, sids, n, false);
        assert_int_equal(n_kept(first, 5, &ends), n < 1500 ? 1500 : n);
    }
    first_postings_free(first);
}

/* The least recently asked for go; of one list only a part is kept. */
static void test_first_postings__are_bounded(void **state)
{
    enum { LISTS = 200, N = 1500, SMALL = 64 << 10, DENSE = 5000 };
    static uint64_t dense[DENSE];
    struct first_reading none = {.list = NULL};
    struct first_postings *first;
    size_t n_lists = 0;
    bool ends, has;
    (void)state;

    assert_int_equal(first_postings_new(SMALL, &first), 0);
    for (uint64_t i = 1; i <= LISTS; i++) {
        keep_more(first, 0, i, N, true);
        assert_true(n_kept(first, 1, &ends) > POSTINGS_PIECE); /* asked for again and again */
        assert_false(ends);                                    /* not more than a 64th */
    }
    for (uint64_t i = 1; i <= LISTS; i++) {
        first_postings_have(first, POSTINGS_TIER_R, &i, 1, &has);
        assert_int_equal(has, i == 1 || i > LISTS - 60 ? has : false);
        n_lists += has;
    }
    assert_in_range(n_lists, 20, SMALL / POSTINGS_PIECE);
    for (uint64_t i = 0; i < DENSE; i++)
        dense[i] = 1 + i;
    first_postings_keep(first, 0, POSTINGS_TIER_R, LISTS + 1, &none, dense, DENSE, true);
    struct first_reading reading;
    uint64_t sid, n = 0;
    first_postings_read(first, POSTINGS_TIER_R, LISTS + 1, &reading);
    while (first_reading_next(&reading, &sid))
        assert_int_equal(sid, 1 + n++);
    assert_int_equal(n, SMALL / 64); /* a byte each */
    assert_false(reading.ends);
    first_reading_done(&reading);
    first_postings_free(first);
}

struct one_change {
    uint64_t fingerprint, sid;
};

static bool smallest(void *user, uint64_t fingerprint, uint64_t *ret_sid)
{
    const struct one_change *change = user;
    *ret_sid = change->sid;
    return fingerprint == change->fingerprint;
}

static void test_first_postings__a_change_of_the_store_leaves_what_is_true(void **state)
{
    struct first_postings *first;
    struct first_reading reading;
    uint64_t sid, n = 0;
    bool ends;
    (void)state;

    assert_int_equal(first_postings_new(BYTES, &first), 0);
    keep_more(first, 0, 1, 1000, true);
    keep_more(first, 0, 2, 1000, true);
    first_postings_read(first, POSTINGS_TIER_R, 1, &reading);

    first_postings_changed(first, POSTINGS_TIER_R, smallest,
                           &(struct one_change){1, sid_of(999) + 1});
    assert_int_equal(n_kept(first, 1, &ends), 1000); /* it goes on meanwhile */
    assert_false(ends);
    assert_int_equal(n_kept(first, 2, &ends), 1000);
    assert_true(ends);
    first_postings_changed(first, POSTINGS_TIER_C, smallest, &(struct one_change){1, 0});
    assert_int_equal(n_kept(first, 1, &ends), 1000);
    first_postings_changed(first, POSTINGS_TIER_R, smallest, &(struct one_change){1, sid_of(999)});
    assert_int_equal(n_kept(first, 1, &ends), 0);
    assert_int_equal(n_kept(first, 2, &ends), 1000);

    while (first_reading_next(&reading, &sid)) /* who reads reads on */
        assert_int_equal(sid, sid_of(n++));
    assert_int_equal(n, 1000);
    first_reading_done(&reading);

    assert_int_equal(first_postings_changes(first), 3);
    keep_more(first, 2, 1, 1000, true); /* was read before the last change */
    assert_int_equal(n_kept(first, 1, &ends), 0);
    keep_more(first, 3, 1, 1000, true);
    assert_int_equal(n_kept(first, 1, &ends), 1000);
    first_postings_free(first);
}

/* -- answers -- */

static const struct kv_table tables[] = {
    {"tier_r", KV_PARTITION_FIXED, 8, true},
    {"tier_c", KV_PARTITION_FIXED, 8, true},
};
static const unsigned tier_tables[POSTINGS_N_TIERS] = {0, 1};
static const struct kv_options options = {.tables = tables, .n_tables = 2, .create = true};

/* Twenty lists; a document is in all but a few. So all are long, and those in the middle are of
 * tier R for some documents and of tier C for others. */
enum { N_LISTS = 20, N_SIDS = 3000, N_LEFT_OUT = 4, N_EVENTS = 5000, N_AT_FIRST = 1200 };

enum note { NOT_NOTED, ADDED, REMOVED };

struct model {
    bool stored[POSTINGS_N_TIERS][N_LISTS][N_SIDS];
    uint8_t noted[POSTINGS_N_TIERS][N_LISTS][N_SIDS]; /* enum note */
    bool is_in[N_SIDS];
};

struct history {
    struct kv *inner, *kv;
    struct postings *postings;
    struct model *model;
    bool partly_written; /* the last flush failed, so what is stored is not known */
    unsigned n_failed;
};

/* The same at each call. */
static struct min_sketch sketch_of(unsigned i, uint64_t values[N_LISTS], unsigned lists[N_LISTS])
{
    uint32_t n = 0;
    for (unsigned k = 0; k < N_LISTS; k++) {
        bool left_out = false;
        for (unsigned j = 0; j < i % (N_LEFT_OUT + 1); j++)
            left_out |= k == (i * 7 + j * 11 + i / 13) % N_LISTS;
        if (left_out)
            continue;
        lists[n] = k;
        values[n++] = k == N_LISTS - 1 ? UINT64_MAX : (uint64_t)k << 20;
    }
    return (struct min_sketch){.n_values = n, .values = values};
}

static void change(struct history *history, unsigned i, bool add)
{
    uint64_t values[N_LISTS];
    unsigned lists[N_LISTS];
    struct min_sketch sketch = sketch_of(i, values, lists);
    assert_int_equal(add ? postings_add(history->postings, sid_of(i), &sketch)
                         : postings_remove(history->postings, sid_of(i), &sketch),
                     0);
    for (unsigned k = 0; k < sketch.n_values; k++)
        history->model->noted[k >= POSTINGS_TIER_R_KEYS][lists[k]][i] = add ? ADDED : REMOVED;
    history->model->is_in[i] = add;
}

static void flush(struct history *history)
{
    int r = postings_flush(history->postings);
    history->partly_written = r < 0;
    history->n_failed += r < 0;
    if (r < 0)
        return;
    for (unsigned tier = 0; tier < POSTINGS_N_TIERS; tier++)
        for (unsigned k = 0; k < N_LISTS; k++)
            for (unsigned i = 0; i < N_SIDS; i++) {
                uint8_t *noted = &history->model->noted[tier][k][i];
                if (*noted != NOT_NOTED)
                    history->model->stored[tier][k][i] = *noted == ADDED;
                *noted = NOT_NOTED;
            }
}

static bool is_listed(const struct model *model, unsigned tier, unsigned k, unsigned i)
{
    const uint8_t noted = model->noted[tier][k][i];
    return noted == NOT_NOTED ? model->stored[tier][k][i] : noted == ADDED;
}

/* In one tier: the first `most` of the store, and all that are noted. */
static void expect_first(const struct model *model, unsigned tier, unsigned k, size_t most,
                         bool *expected)
{
    size_t n = 0;
    for (unsigned i = 0; i < N_SIDS; i++) {
        const uint8_t noted = model->noted[tier][k][i];
        const bool first = model->stored[tier][k][i] && noted != REMOVED && n < most;
        n += first;
        expected[i] |= first || noted == ADDED;
    }
}

static void check_first(struct history *history, unsigned tier, unsigned k, size_t most)
{
    const struct model *model = history->model;
    bool expected[N_SIDS] = {false};
    struct sid_list list;
    size_t at = 0, n_expected = 0;
    unsigned lists[N_LISTS];
    uint64_t values[N_LISTS];

    sketch_of(0, values, lists); /* of all lists */
    for (unsigned t = 0; t <= tier; t++)
        expect_first(model, t, k, most, expected);
    assert_int_equal(postings_first(history->postings, tier, values[k], most, &list), 0);
    for (unsigned i = 0; i < N_SIDS; i++) {
        bool is = at < list.n_sids && list.sids[at] == sid_of(i);
        if (history->partly_written) {
            bool listed = is_listed(model, 0, k, i) || (tier && is_listed(model, 1, k, i));
            assert_true(listed || !is);
            assert_true(is || !listed || n_expected >= most);
            n_expected += listed;
        } else {
            bool wanted = expected[i] && (tier == POSTINGS_TIER_R || n_expected < most);
            assert_int_equal(is, wanted);
            n_expected += wanted;
        }
        at += is;
    }
    assert_int_equal(at, list.n_sids);
    sid_list_done(&list);
}

/* All candidates; and those of short lists, of which there are none. */
static void check_with(struct history *history, unsigned tier)
{
    struct sid_list all, few;
    size_t lengths[N_LISTS], at = 0;
    unsigned lists[N_LISTS];
    uint64_t values[N_LISTS];
    struct min_sketch sketch = sketch_of(0, values, lists);

    assert_int_equal(postings_with(history->postings, tier, values, sketch.n_values, 0, &all, NULL),
                     0);
    for (unsigned i = 0; i < N_SIDS; i++) {
        bool is = at < all.n_sids && all.sids[at] == sid_of(i), listed = false;
        for (unsigned k = 0; k < N_LISTS && !listed; k++)
            listed =
                is_listed(history->model, 0, k, i) || (tier && is_listed(history->model, 1, k, i));
        assert_int_equal(is, listed);
        at += is;
    }
    assert_int_equal(at, all.n_sids);
    if (all.n_sids > 2 * POSTINGS_PIECE) {
        assert_int_equal(postings_with(history->postings, POSTINGS_TIER_R, values,
                                       POSTINGS_TIER_R_KEYS - N_LEFT_OUT, POSTINGS_PIECE, &few,
                                       lengths),
                         0);
        assert_int_equal(few.n_sids, 0);
        for (unsigned k = 0; k < POSTINGS_TIER_R_KEYS - N_LEFT_OUT; k++)
            assert_true(lengths[k] > POSTINGS_PIECE);
        sid_list_done(&few);
    }
    sid_list_done(&all);
}

static void ask(struct history *history)
{
    static const size_t most[] = {1, POSTINGS_PIECE, 300, 700, 2000, 10000};
    const unsigned tier = (unsigned)random_below(POSTINGS_N_TIERS);
    check_first(history, tier, (unsigned)random_below(N_LISTS),
                most[random_below(sizeof(most) / sizeof(most[0]))]);
}

/* What another instance says, which has nothing in memory: as long as nothing is noted, it is all
 * in the store. */
static void check_beside_another(struct history *history)
{
    struct postings *other;
    unsigned lists[N_LISTS];
    uint64_t values[N_LISTS];

    sketch_of(0, values, lists);
    assert_int_equal(postings_open(history->kv, tier_tables, 0, &other), 0);
    for (unsigned k = 0; k < N_LISTS; k++)
        for (unsigned tier = 0; tier < POSTINGS_N_TIERS; tier++) {
            struct sid_list a, b;
            assert_int_equal(postings_first(history->postings, tier, values[k], 900, &a), 0);
            assert_int_equal(postings_first(other, tier, values[k], 900, &b), 0);
            assert_int_equal(a.n_sids, b.n_sids);
            assert_memory_equal(a.sids, b.sids, a.n_sids * sizeof(*a.sids));
            sid_list_done(&a);
            sid_list_done(&b);
        }
    postings_close(other);
}

/* Documents come in the order of their sids; are deleted; and come again, as after a crash. */
static unsigned run_history(uint64_t seed, const struct kv_fault_plan *plan)
{
    struct history history = {.model = calloc(1, sizeof(*history.model))};
    unsigned n = 0;

    assert_non_null(history.model);
    random_state = seed;
    assert_int_equal(kv_memory_open(&options, &history.inner), 0);
    assert_int_equal(kv_fault_open(history.inner, plan, &history.kv), 0);
    kv_be_patient(history.kv);
    assert_int_equal(postings_open(history.kv, tier_tables, 0, &history.postings), 0);
    for (unsigned event = 0; event < N_EVENTS; event++) {
        const uint64_t what = event < N_AT_FIRST ? 0 : random_below(1000);
        if (what < 300 && n < N_SIDS)
            change(&history, n++, true);
        else if (what < 500)
            ask(&history);
        else if (what < 510)
            change(&history, (unsigned)random_below(n), false);
        else if (what < 514)
            change(&history, (unsigned)random_below(n), true);
        else if (what < 525 || event == N_AT_FIRST)
            flush(&history);
        else if (what < 530)
            check_with(&history, (unsigned)random_below(POSTINGS_N_TIERS));
    }
    do
        flush(&history);
    while (history.partly_written);
    check_beside_another(&history);
    postings_close(history.postings);
    kv_close(history.kv);
    kv_close(history.inner);
    free(history.model);
    return history.n_failed;
}

static void test_first_postings__answers_equal_a_set_over_any_history(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= part_of(3); seed++)
        assert_int_equal(run_history(seed, &(struct kv_fault_plan){0}), 0);
}

/* Runs that are written in part, and pages that are short. */
static void test_first_postings__answers_equal_a_set_over_a_store_that_fails(void **state)
{
    unsigned n_failed = 0;
    (void)state;

    for (uint64_t seed = 11; seed < 11 + part_of(3); seed++)
        n_failed += run_history(seed, &(struct kv_fault_plan){.seed = seed,
                                                              .split_batches = true,
                                                              .late_failure = 1700 + 40 * seed,
                                                              .fail_error = -ENOSPC,
                                                              .short_pages = true});
    assert_int_equal(n_failed, part_of(3));
}

/* -- readers beside the writer and a flush -- */

enum { WINDOW = 400, N_PASSING = 20000, PACE = 50 };

static const uint64_t passing_values[] = {1, 2, 3};
static const struct min_sketch passing = {.n_values = 3, .values = passing_values};

/* Documents come at one end and go at the other. */
struct race {
    struct postings *postings;
    atomic_bool stop;
    atomic_uint n_wrong, n_asked, n_flushed;
    atomic_uint_least64_t added, going, gone; /* all up to it; going is set before, the others after
                                               */
};

static void *ask_on(void *user)
{
    struct race *race = user;
    while (!race->stop) {
        const uint64_t added = race->added, gone = race->gone;
        struct sid_list list;
        if (postings_first(race->postings, POSTINGS_TIER_R, 2, 2 * POSTINGS_PIECE * WINDOW, &list) <
            0) {
            race->n_wrong++;
            continue;
        }
        const uint64_t going = race->going;
        size_t n_there = 0;
        for (size_t i = 0; i < list.n_sids; i++) {
            n_there += list.sids[i] > going && list.sids[i] <= added;
            race->n_wrong += list.sids[i] <= gone;
        }
        race->n_wrong += n_there != (added > going ? added - going : 0);
        sid_list_done(&list);
        race->n_asked++;
    }
    return NULL;
}

static void *flush_on(void *user)
{
    struct race *race = user;
    while (!race->stop) {
        if (postings_flush(race->postings) < 0)
            race->n_wrong++;
        race->n_flushed++;
    }
    return NULL;
}

static void test_first_postings__readers_miss_nothing_that_comes_and_goes(void **state)
{
    enum { READERS = 2 };
    struct race race = {.stop = false};
    struct kv *inner, *kv;
    pthread_t readers[READERS], flusher;
    (void)state;

    /* Each page takes its time, so that there is a flush between two of a list. */
    assert_int_equal(kv_memory_open(&options, &inner), 0);
    assert_int_equal(kv_fault_open(inner, &(struct kv_fault_plan){.delay_us = 200}, &kv), 0);
    assert_int_equal(postings_open(kv, tier_tables, 0, &race.postings), 0);
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, ask_on, &race), 0);
    assert_int_equal(pthread_create(&flusher, NULL, flush_on, &race), 0);
    for (uint64_t sid = 1; sid <= part_of(N_PASSING); sid++) {
        assert_int_equal(postings_add(race.postings, sid, &passing), 0);
        race.added = sid;
        if (sid % PACE == 0) /* the others keep up */
            for (const unsigned asked = race.n_asked, flushed = race.n_flushed;
                 race.n_asked == asked || race.n_flushed == flushed;)
                sched_yield();
        if (sid <= WINDOW || sid % 8)
            continue;
        for (uint64_t old = sid - WINDOW - 7; old <= sid - WINDOW; old++) {
            race.going = old;
            assert_int_equal(postings_remove(race.postings, old, &passing), 0);
            race.gone = old;
        }
    }
    race.stop = true;
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    pthread_join(flusher, NULL);
    assert_int_equal(race.n_wrong, 0);
    postings_close(race.postings);
    kv_close(kv);
    kv_close(inner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_postings__a_list_grows_at_its_end),
        cmocka_unit_test(test_first_postings__who_read_less_does_not_replace_who_read_more),
        cmocka_unit_test(test_first_postings__are_bounded),
        cmocka_unit_test(test_first_postings__a_change_of_the_store_leaves_what_is_true),
        cmocka_unit_test(test_first_postings__answers_equal_a_set_over_any_history),
        cmocka_unit_test(test_first_postings__answers_equal_a_set_over_a_store_that_fails),
        cmocka_unit_test(test_first_postings__readers_miss_nothing_that_comes_and_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
