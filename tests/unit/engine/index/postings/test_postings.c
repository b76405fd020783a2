#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/index/postings/postings.h"
#include "tests/lib/stores/kv_fault.h"
#include "tests/lib/stores/kv_memory.h"

static const struct kv_table tables[] = {
    {"tier_r", KV_PARTITION_FIXED, 8, true},
    {"tier_c", KV_PARTITION_FIXED, 8, true},
};
static const unsigned tier_tables[POSTINGS_N_TIERS] = {0, 1};
static const struct kv_options options = {.tables = tables, .n_tables = 2, .create = true};

struct fixture {
    struct kv *inner, *kv;
    struct postings *postings;
};

static void open_fixture(struct fixture *fixture, const struct kv_fault_plan *plan,
                         size_t flush_after)
{
    assert_int_equal(kv_memory_open(&options, &fixture->inner), 0);
    assert_int_equal(kv_fault_open(fixture->inner, plan, &fixture->kv), 0);
    kv_be_patient(fixture->kv);
    assert_int_equal(postings_open(fixture->kv, tier_tables, flush_after, &fixture->postings), 0);
}

static void close_fixture(struct fixture *fixture)
{
    postings_close(fixture->postings);
    kv_close(fixture->kv);
    kv_close(fixture->inner);
}

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}

/* -- a model: a bit for each possible posting -- */

enum { N_FINGERPRINTS = 40, N_SIDS = 50 };

static uint64_t fingerprint_of(unsigned i)
{
    if (i == N_FINGERPRINTS - 1)
        return UINT64_MAX;
    return i * (UINT64_MAX / N_FINGERPRINTS);
}

struct model {
    bool has[POSTINGS_N_TIERS][N_FINGERPRINTS][N_SIDS];
};

struct document {
    struct min_sketch sketch;
    uint64_t values[N_FINGERPRINTS];
    unsigned places[N_FINGERPRINTS]; /* of the values */
};

static void make_document(struct document *document, unsigned per_cent)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < N_FINGERPRINTS; i++) {
        if (random_below(100) >= per_cent)
            continue;
        document->places[n] = i;
        document->values[n++] = fingerprint_of(i);
    }
    document->sketch = (struct min_sketch){
        .n_values = n,
        .values = document->values,
        .v_below =
            random_below(3) ? fingerprint_of(1 + (unsigned)random_below(N_FINGERPRINTS - 1)) : 0};
}

static bool in_tier(const struct document *document, unsigned tier, uint32_t i)
{
    if (tier == POSTINGS_TIER_R)
        return i < 16;
    return document->sketch.v_below == 0 || document->values[i] < document->sketch.v_below;
}

/* A posting stands in one tier. */
static void model_set(struct model *model, unsigned sid, const struct document *document, bool has)
{
    for (uint32_t i = 0; i < document->sketch.n_values; i++) {
        if (in_tier(document, POSTINGS_TIER_R, i))
            model->has[POSTINGS_TIER_R][document->places[i]][sid] = has;
        else if (in_tier(document, POSTINGS_TIER_C, i))
            model->has[POSTINGS_TIER_C][document->places[i]][sid] = has;
    }
}

static bool model_has(const struct model *model, unsigned tier, unsigned place, unsigned sid)
{
    return model->has[POSTINGS_TIER_R][place][sid] ||
           (tier == POSTINGS_TIER_C && model->has[POSTINGS_TIER_C][place][sid]);
}

static void check_candidates(struct postings *postings, const struct model *model, unsigned tier,
                             const struct document *document)
{
    struct sid_list list;
    size_t at = 0;

    int r = postings_candidates(postings, tier, &document->sketch, &list);
    if (r == -ENOSPC) /* the one failing call; the next one succeeds */
        r = postings_candidates(postings, tier, &document->sketch, &list);
    assert_int_equal(r, 0);
    for (unsigned sid = 0; sid < N_SIDS; sid++) {
        bool expected = false;
        for (uint32_t i = 0; i < document->sketch.n_values; i++)
            expected |=
                in_tier(document, tier, i) && model_has(model, tier, document->places[i], sid);
        bool is = at < list.n_sids && list.sids[at] == sid;
        assert_int_equal(is, expected);
        at += is;
    }
    assert_int_equal(at, list.n_sids);
    sid_list_done(&list);
}

static void run_model(uint64_t seed, const struct kv_fault_plan *plan, bool flushes_may_fail)
{
    struct fixture fixture;
    struct document *documents = calloc(N_SIDS, sizeof(*documents));
    struct model *model = calloc(1, sizeof(*model));

    assert_true(documents && model);
    random_state = seed;
    open_fixture(&fixture, plan, 64);
    for (unsigned i = 0; i < N_SIDS; i++)
        make_document(&documents[i], 5 + (unsigned)random_below(90));
    for (unsigned step = 0; step < 600; step++) {
        unsigned sid = (unsigned)random_below(N_SIDS);
        struct document *other = &documents[random_below(N_SIDS)];
        switch (random_below(8)) {
        case 0:
        case 1:
        case 2:
            assert_int_equal(postings_add(fixture.postings, sid, &documents[sid].sketch), 0);
            model_set(model, sid, &documents[sid], true);
            break;
        case 3:
            assert_int_equal(postings_remove(fixture.postings, sid, &documents[sid].sketch), 0);
            model_set(model, sid, &documents[sid], false);
            break;
        case 4: /* of another's fingerprints only: as for a dead document */
            assert_int_equal(postings_remove(fixture.postings, sid, &other->sketch), 0);
            model_set(model, sid, other, false);
            break;
        case 5:
            if (random_below(4) == 0) {
                int r = postings_flush(fixture.postings);
                assert_true(r == 0 || flushes_may_fail);
                if (r == 0)
                    assert_false(postings_flush_due(fixture.postings));
            }
            break;
        default: check_candidates(fixture.postings, model, (unsigned)random_below(2), other);
        }
    }
    if (!flushes_may_fail) {
        /* Everything is in the store: another instance answers the same. */
        assert_int_equal(postings_flush(fixture.postings), 0);
        postings_close(fixture.postings);
        assert_int_equal(postings_open(fixture.kv, tier_tables, 0, &fixture.postings), 0);
        for (unsigned i = 0; i < N_SIDS; i++)
            for (unsigned tier = 0; tier < POSTINGS_N_TIERS; tier++)
                check_candidates(fixture.postings, model, tier, &documents[i]);
    }
    close_fixture(&fixture);
    free(documents);
    free(model);
}

static void test_postings__equal_a_set_over_adds_removals_and_flushes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++)
        run_model(seed, &(struct kv_fault_plan){0}, false);
}

static void test_postings__equal_a_set_over_a_store_that_fails_in_passing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        run_model(seed,
                  &(struct kv_fault_plan){.seed = seed,
                                          .again_per_mille = 50,
                                          .timeout_per_mille = 50,
                                          .split_batches = true,
                                          .short_pages = true},
                  false);
}

static void test_postings__a_failed_flush_changes_no_answer_and_can_be_repeated(void **state)
{
    (void)state;
    for (uint64_t call = 1; call <= 40; call++)
        run_model(call, &(struct kv_fault_plan){.fail_call = call, .fail_error = -ENOSPC}, true);

    struct fixture fixture;
    struct document first = {0}, second = {0};
    struct model *model = calloc(1, sizeof(*model));
    assert_non_null(model);
    random_state = 5;
    open_fixture(&fixture, &(struct kv_fault_plan){.fail_call = 2, .fail_error = -EIO}, 10);
    make_document(&first, 60);
    make_document(&second, 60);
    assert_int_equal(postings_add(fixture.postings, 1, &first.sketch), 0);
    model_set(model, 1, &first, true);
    assert_true(postings_flush_due(fixture.postings));
    /* Tier R is written, tier C is not. */
    assert_int_equal(postings_flush(fixture.postings), -EIO);
    check_candidates(fixture.postings, model, POSTINGS_TIER_R, &second);
    assert_int_equal(postings_remove(fixture.postings, 1, &first.sketch), 0);
    model_set(model, 1, &first, false);
    assert_int_equal(postings_add(fixture.postings, 2, &second.sketch), 0);
    model_set(model, 2, &second, true);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned tier = 0; tier < POSTINGS_N_TIERS; tier++) {
            check_candidates(fixture.postings, model, tier, &first);
            check_candidates(fixture.postings, model, tier, &second);
        }
        assert_int_equal(postings_flush(fixture.postings), 0);
    }
    close_fixture(&fixture);
    free(model);
}

static void test_postings__long_lists_are_read_to_their_end(void **state)
{
    enum { N = 10000 };
    struct fixture fixture;
    uint64_t values[] = {0, 7, UINT64_MAX};
    struct min_sketch sketch = {.n_values = 3, .values = values};
    (void)state;

    open_fixture(&fixture, &(struct kv_fault_plan){0}, 0);
    for (uint64_t sid = 1; sid <= N; sid++) {
        assert_int_equal(postings_add(fixture.postings, sid, &sketch), 0);
        if (sid == N / 2)
            assert_int_equal(postings_flush(fixture.postings), 0);
    }
    for (uint64_t sid = 1; sid <= N; sid += 2)
        assert_int_equal(postings_remove(fixture.postings, sid, &sketch), 0);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned tier = 0; tier < POSTINGS_N_TIERS; tier++) {
            struct sid_list list;
            assert_int_equal(postings_candidates(fixture.postings, tier, &sketch, &list), 0);
            assert_int_equal(list.n_sids, N / 2);
            for (size_t i = 0; i < list.n_sids; i++)
                assert_int_equal(list.sids[i], 2 * (i + 1));
            sid_list_done(&list);
        }
        assert_int_equal(postings_flush(fixture.postings), 0);
    }
    close_fixture(&fixture);
}

static void test_postings__an_empty_sketch_has_no_candidates(void **state)
{
    struct fixture fixture;
    struct min_sketch empty = {0};
    struct sid_list list;
    (void)state;

    open_fixture(&fixture, &(struct kv_fault_plan){0}, 0);
    assert_int_equal(postings_add(fixture.postings, 1, &empty), 0);
    assert_int_equal(postings_flush(fixture.postings), 0);
    assert_int_equal(postings_candidates(fixture.postings, POSTINGS_TIER_R, &empty, &list), 0);
    assert_int_equal(list.n_sids, 0);
    sid_list_done(&list);
    close_fixture(&fixture);
}

/* -- what is known without the store -- */

/* Never less than was posted: against counts, while what an earlier instance left is taken up and
 * after. */
static void test_postings__at_most_none_or_one_is_said_only_where_it_is_so(void **state)
{
    enum { N = 3000, KEYS = 8 };
    struct fixture fixture;
    unsigned *n_posted = calloc(N, sizeof(*n_posted)), n_none = 0, n_one = 0;
    (void)state;

    assert_non_null(n_posted);
    random_state = 3;
    open_fixture(&fixture, &(struct kv_fault_plan){0}, 0);
    for (uint64_t sid = 1; sid <= 600; sid++) {
        uint64_t values[KEYS];
        struct min_sketch sketch = {.n_values = KEYS, .values = values};
        for (unsigned k = 0; k < KEYS; k++) { /* of its own, ascending, some of them rare */
            uint64_t i = k * (N / KEYS) + random_below(k % 2 ? N / KEYS : 4);
            values[k] = i << 30;
            n_posted[i]++;
        }
        if (sid % 2)
            postings_announce(fixture.postings, &sketch);
        assert_int_equal(postings_add(fixture.postings, sid, &sketch), 0);
        if (sid == 300) {
            assert_int_equal(postings_flush(fixture.postings), 0);
            postings_close(fixture.postings);
            assert_int_equal(postings_open(fixture.kv, tier_tables, 0, &fixture.postings), 0);
        }
        for (unsigned i = 0; i < N; i += 7) {
            uint64_t fingerprint = (uint64_t)i << 30;
            enum postings_most most;
            postings_at_most(fixture.postings, &fingerprint, 1, &most);
            assert_true(most == POSTINGS_ANY || n_posted[i] <= (most == POSTINGS_ONE));
        }
    }
    for (unsigned i = 0; i < N; i++) {
        uint64_t fingerprint = (uint64_t)i << 30;
        enum postings_most most;
        postings_at_most(fixture.postings, &fingerprint, 1, &most);
        n_none += n_posted[i] == 0 && most == POSTINGS_NONE;
        n_one += n_posted[i] == 1 && most == POSTINGS_ONE;
        n_posted[i] = n_posted[i] < 2 ? n_posted[i] : 2;
    }
    unsigned n_of[3] = {0};
    for (unsigned i = 0; i < N; i++)
        n_of[n_posted[i]]++;
    assert_in_range(n_none, n_of[0] * 9 / 10, n_of[0]);
    assert_in_range(n_one, n_of[1] * 9 / 10, n_of[1]);
    close_fixture(&fixture);
    free(n_posted);
}

/* Whoever comes first with a sketch is alone; who comes after an announcement is not. */
static void test_postings__who_is_announced_is_not_overlooked(void **state)
{
    struct fixture fixture;
    uint64_t values[] = {3, 9};
    struct min_sketch sketch = {.n_values = 2, .values = values}, other = sketch;
    uint64_t others[] = {4, 9};
    other.values = others;
    (void)state;

    open_fixture(&fixture, &(struct kv_fault_plan){0}, 0);
    assert_true(postings_announce(fixture.postings, &sketch)); /* nothing is known yet */
    assert_int_equal(postings_add(fixture.postings, 1, &sketch), 0);
    assert_true(postings_announce(fixture.postings, &sketch));
    assert_false(postings_announce(fixture.postings, &other));
    assert_true(postings_announce(fixture.postings, &other));

    /* Another process knows what was posted, and not what was only announced. One fingerprint in
     * common is not all of them. */
    uint64_t halves[] = {3, 11}, more[] = {50, 60};
    struct min_sketch half = {.n_values = 2, .values = halves};
    struct min_sketch further = {.n_values = 2, .values = more};
    assert_int_equal(postings_flush(fixture.postings), 0);
    postings_close(fixture.postings);
    assert_int_equal(postings_open(fixture.kv, tier_tables, 0, &fixture.postings), 0);
    assert_true(postings_announce(fixture.postings, &half)); /* nothing is known yet */
    assert_int_equal(postings_add(fixture.postings, 2, &further), 0);
    assert_true(postings_announce(fixture.postings, &sketch));
    assert_true(postings_announce(fixture.postings, &half));
    halves[1] = 12;
    assert_false(postings_announce(fixture.postings, &half));
    assert_false(postings_announce(fixture.postings, &other));
    close_fixture(&fixture);
}

/* -- a store that has postings already: with each addition more of it is known -- */

enum { N_OLD = 200, N_OLD_KEYS = 16 };

static void make_old(unsigned i, uint64_t values[N_OLD_KEYS])
{
    for (unsigned k = 0; k < N_OLD_KEYS; k++) /* one of all, one of ten documents, and own ones */
        values[k] = k == 0 ? 5 : k == 1 ? 100 + i / 10 : ((uint64_t)(1 + i) << 40) + k;
}

static size_t n_candidates(struct fixture *fixture, unsigned i, size_t most)
{
    uint64_t values[N_OLD_KEYS];
    size_t lengths[N_OLD_KEYS];
    struct sid_list list, first;
    make_old(i, values);
    assert_int_equal(
        postings_with(fixture->postings, POSTINGS_TIER_R, values, N_OLD_KEYS, most, &list, lengths),
        0);
    size_t n = list.n_sids;
    assert_true(most ? lengths[0] > most : lengths[0] >= N_OLD);
    assert_int_equal(lengths[1], 10);
    for (unsigned k = 2; k < N_OLD_KEYS; k++)
        assert_int_equal(lengths[k], 1);
    sid_list_done(&list);
    assert_int_equal(postings_first(fixture->postings, POSTINGS_TIER_R, values[1], 3, &first), 0);
    assert_int_equal(first.n_sids, 3);
    assert_int_equal(first.sids[0], 1 + i / 10 * 10);
    sid_list_done(&first);
    return n;
}

static void
test_postings__what_a_store_has_is_found_before_while_and_after_it_is_known(void **state)
{
    enum { N_NEW = 20, MOST = 50 };
    struct fixture fixture;
    uint64_t values[N_OLD_KEYS];
    struct min_sketch sketch = {.n_values = N_OLD_KEYS, .values = values};
    (void)state;

    open_fixture(&fixture, &(struct kv_fault_plan){0}, 0);
    for (unsigned i = 0; i < N_OLD; i++) {
        make_old(i, values);
        assert_int_equal(postings_add(fixture.postings, 1 + i, &sketch), 0);
    }
    assert_int_equal(postings_flush(fixture.postings), 0);
    postings_close(fixture.postings);
    assert_int_equal(postings_open(fixture.kv, tier_tables, 0, &fixture.postings), 0);
    for (unsigned n = 0; n < N_NEW; n++) {
        for (unsigned i = 0; i < N_OLD; i += 7) {
            assert_int_equal(n_candidates(&fixture, i, 0), N_OLD + n);
            assert_int_equal(n_candidates(&fixture, i, MOST), 10);
        }
        for (unsigned k = 0; k < N_OLD_KEYS; k++)
            values[k] = k ? ((uint64_t)(1000 + n) << 40) + k : 5;
        assert_int_equal(postings_add(fixture.postings, 1000 + n, &sketch), 0);
    }
    close_fixture(&fixture);
}

/* -- readers beside the writer, and a flush beside both -- */

enum { N_STEADY = 100, N_FLEETING = 300 };

static const uint64_t shared_values[] = {1, 2, 3};
static const struct min_sketch shared = {.n_values = 3, .values = shared_values};

struct race {
    struct postings *postings;
    atomic_bool stop;
    atomic_uint n_wrong;
};

/* The steady documents are always there, in whatever layer; nothing unheard of ever is. */
static void *read_on(void *user)
{
    struct race *race = user;
    while (!race->stop) {
        struct sid_list list;
        size_t n_steady = 0;
        if (postings_candidates(race->postings, POSTINGS_TIER_R, &shared, &list) < 0) {
            race->n_wrong++;
            continue;
        }
        for (size_t i = 0; i < list.n_sids; i++) {
            n_steady += list.sids[i] <= N_STEADY;
            if (list.sids[i] == 0 || list.sids[i] > N_STEADY + N_FLEETING)
                race->n_wrong++;
        }
        if (n_steady != N_STEADY)
            race->n_wrong++;
        sid_list_done(&list);
    }
    return NULL;
}

static void *flush_on(void *user)
{
    struct race *race = user;
    while (!race->stop)
        if (postings_flush(race->postings) < 0)
            race->n_wrong++;
    return NULL;
}

static void test_postings__readers_see_every_posting_while_others_come_and_go(void **state)
{
    struct fixture fixture;
    struct race race = {0};
    pthread_t reader, flusher;
    (void)state;

    open_fixture(&fixture, &(struct kv_fault_plan){0}, 100);
    race.postings = fixture.postings;
    for (uint64_t sid = 1; sid <= N_STEADY; sid++)
        assert_int_equal(postings_add(fixture.postings, sid, &shared), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_on, &race), 0);
    assert_int_equal(pthread_create(&flusher, NULL, flush_on, &race), 0);
    random_state = 1;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t sid = N_STEADY + 1 + random_below(N_FLEETING);
        if (random_below(2))
            assert_int_equal(postings_add(fixture.postings, sid, &shared), 0);
        else
            assert_int_equal(postings_remove(fixture.postings, sid, &shared), 0);
        /* Added again while it is there: the answer is the same. */
        if (i % 100 == 0)
            assert_int_equal(postings_add(fixture.postings, 1 + i % N_STEADY, &shared), 0);
    }
    race.stop = true;
    pthread_join(reader, NULL);
    pthread_join(flusher, NULL);
    assert_int_equal(race.n_wrong, 0);
    close_fixture(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_postings__equal_a_set_over_adds_removals_and_flushes),
        cmocka_unit_test(test_postings__equal_a_set_over_a_store_that_fails_in_passing),
        cmocka_unit_test(test_postings__a_failed_flush_changes_no_answer_and_can_be_repeated),
        cmocka_unit_test(test_postings__long_lists_are_read_to_their_end),
        cmocka_unit_test(
            test_postings__what_a_store_has_is_found_before_while_and_after_it_is_known),
        cmocka_unit_test(test_postings__an_empty_sketch_has_no_candidates),
        cmocka_unit_test(test_postings__at_most_none_or_one_is_said_only_where_it_is_so),
        cmocka_unit_test(test_postings__who_is_announced_is_not_overlooked),
        cmocka_unit_test(test_postings__readers_see_every_posting_while_others_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
