/* Candidates compared by one thread and by several, against what their fingerprints say. */
#include "tests/lib/histories/cluster_world.h"

#include <errno.h>
#include <math.h>

#include "base/bytes.h"
#include "base/ratio.h"
#include "engine/index/answers/matches.h"
#include "engine/index/tables/schema.h"

enum { N = 500, LENGTH = 24, DEAD = 7 };

struct fixture {
    struct world world; /* for its documents */
    struct kv *fault;
    struct records *records;
    const struct record *asked;
    uint64_t sids[N];
};

static void put(struct kv *kv, const struct world_document *document)
{
    struct kv_batch *batch = kv_batch_new();
    struct kv_buf value;
    uint8_t key[8];

    put_be64(key, document->sid);
    assert_int_equal(record_encode(&document->record, &value), 0);
    kv_batch_put(batch, TABLE_RECORDS, (struct kv_slice){key, 8}, kv_buf_slice(&value));
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_batch_free(batch);
    kv_buf_done(&value);
}

/* How many of the fingerprints of the document asked about another one has, of as many. */
static unsigned n_shared(uint64_t sid)
{
    return LENGTH - (unsigned)(sid * 17 % (LENGTH + 1));
}

static bool is_dead(uint64_t sid)
{
    return sid % DEAD == 0;
}

static void open_fixture(struct fixture *fixture, const struct kv_fault_plan *plan)
{
    struct world *world = &fixture->world;

    world_open(world, 1, &(struct kv_fault_plan){0});
    fixture->asked = &world_new_of_stretches(world, &(struct world_stretch){1, LENGTH}, 1)->record;
    for (unsigned i = 0; i < N; i++) {
        const struct world_stretch stretch = {1 + LENGTH - n_shared(world->n_documents), LENGTH};
        struct world_document *document = world_new_of_stretches(world, &stretch, 1);
        fixture->sids[i] = document->sid;
        if (!is_dead(document->sid))
            put(world->inner, document);
    }
    assert_int_equal(kv_fault_open(world->inner, plan, &fixture->fault), 0);
    assert_int_equal(records_open(fixture->fault, 256 << 10, &fixture->records), 0); /* a part */
}

static void close_fixture(struct fixture *fixture)
{
    records_close(fixture->records);
    kv_close(fixture->fault);
    world_close(&fixture->world);
}

/* As it is shown: all are other texts. */
static double resemblance_of(uint64_t sid)
{
    return ratio_shown(fmin((double)n_shared(sid) / (2 * LENGTH - n_shared(sid)), RATIO_BELOW_ONE));
}

/* All that reach it and no other, each once, best first. */
static void check(const struct matches *matches, const uint64_t *sids, size_t n, double threshold)
{
    size_t n_expected = 0;

    for (size_t i = 0; i < n; i++)
        n_expected += !is_dead(sids[i]) && resemblance_of(sids[i]) >= threshold;
    assert_int_equal(matches->n_matches, n_expected);
    for (size_t i = 0; i < matches->n_matches; i++) {
        const struct match *match = &matches->matches[i], *before = match - 1;
        assert_false(is_dead(match->sid));
        assert_true(match->resemblance.value >= threshold);
        assert_true(fabs(match->resemblance.value - resemblance_of(match->sid)) < 1e-9);
        assert_true(
            i == 0 || before->resemblance.value > match->resemblance.value ||
            (before->resemblance.value == match->resemblance.value && before->sid < match->sid));
    }
}

static void test_matches__are_those_that_reach_the_threshold(void **state)
{
    static const size_t lengths[] = {0, 1, 63, 64, 65, 127, 128, 129, 256, 300, N};
    static const double thresholds[] = {0.21, 0.61, 1};
    struct fixture fixture;
    (void)state;

    open_fixture(&fixture, &(struct kv_fault_plan){.delay_us = 20});
    for (size_t i = 0; i < 3 * sizeof(lengths) / sizeof(*lengths); i++) {
        struct sid_list candidates = {fixture.sids, lengths[i / 3]};
        struct matches matches = {0};
        const struct index_query query = {.threshold = thresholds[i % 3]};
        assert_int_equal(
            matches_find(fixture.records, fixture.asked, &query, &candidates, &matches), 0);
        check(&matches, candidates.sids, candidates.n_sids, thresholds[i % 3]);
        matches_done(&matches);
    }
    close_fixture(&fixture);
}

/* However few are kept at once: each once, in one order. */
static void test_matches__of_too_many_come_piece_by_piece(void **state)
{
    static const size_t most[] = {1, 3, 64, N};
    const struct index_query query = {.threshold = 0.21};
    struct matches all = {0};
    struct fixture fixture;
    (void)state;

    open_fixture(&fixture, &(struct kv_fault_plan){.delay_us = 20});
    const struct sid_list candidates = {fixture.sids, N};
    assert_int_equal(matches_find(fixture.records, fixture.asked, &query, &candidates, &all), 0);
    assert_false(all.more);
    for (size_t i = 0; i < sizeof(most) / sizeof(*most); i++) {
        struct matches matches = {.n_most = most[i]};
        size_t n = 0;
        do {
            assert_int_equal(
                matches_find(fixture.records, fixture.asked, &query, &candidates, &matches), 0);
            assert_true(matches.n_matches <= most[i] && matches.max_matches <= 2 * most[i] + 64);
            for (size_t k = 0; k < matches.n_matches; k++)
                assert_int_equal(matches.matches[k].sid, all.matches[n++].sid);
        } while (matches.more);
        assert_int_equal(n, all.n_matches);
        matches_done(&matches);
    }
    matches_done(&all);
    close_fixture(&fixture);
}

static void test_matches__contain_the_document(void **state)
{
    const double threshold = 0.79;
    struct fixture fixture;
    struct matches matches = {0};
    unsigned n_expected = 0;
    (void)state;

    open_fixture(&fixture, &(struct kv_fault_plan){0});
    for (unsigned i = 0; i < N; i++) {
        const struct world_document *document = &fixture.world.documents[fixture.sids[i]];
        struct estimate estimate;
        if (!is_dead(document->sid) &&
            min_sketch_containment(&fixture.asked->sketch, &document->record.sketch, &estimate) ==
                0)
            n_expected += estimate.value >= threshold;
    }
    assert_in_range(n_expected, N / 10, N / 2);
    assert_int_equal(
        matches_find(fixture.records, fixture.asked,
                     &(struct index_query){.relation = INDEX_WHOLES, .threshold = threshold},
                     &(struct sid_list){fixture.sids, N}, &matches),
        0);
    assert_int_equal(matches.n_matches, n_expected);
    for (unsigned i = 0; i < matches.n_matches; i++)
        assert_true(matches.matches[i].containment.value >= threshold);
    matches_done(&matches);
    close_fixture(&fixture);
}

/* Whichever thread meets it; what was got is put back. */
static void test_matches__fail_with_the_store(void **state)
{
    enum { CALLS = N / 64 + 1 };
    (void)state;

    for (uint64_t call = 1; call <= CALLS + 1; call++) {
        const struct kv_fault_plan plan = {.fail_call = call, .fail_error = -EIO};
        struct matches matches = {0};
        struct fixture fixture;
        open_fixture(&fixture, &plan);
        assert_int_equal(matches_find(fixture.records, fixture.asked,
                                      &(struct index_query){.threshold = 0.21},
                                      &(struct sid_list){fixture.sids, N}, &matches),
                         call <= CALLS ? -EIO : 0);
        matches_done(&matches);
        close_fixture(&fixture);
    }
}

static bool is_third_time(void *user)
{
    return __atomic_add_fetch((unsigned *)user, 1, __ATOMIC_RELAXED) >= 3;
}

/* Whichever thread asks. */
static void test_matches__end_when_nobody_waits_for_them(void **state)
{
    unsigned n_asked = 0;
    const struct index_query query = {
        .threshold = 0.21, .stop = is_third_time, .stop_user = &n_asked};
    struct matches matches = {0};
    struct fixture fixture;
    (void)state;
    open_fixture(&fixture, &(struct kv_fault_plan){.delay_us = 20});
    assert_int_equal(matches_find(fixture.records, fixture.asked, &query,
                                  &(struct sid_list){fixture.sids, N}, &matches),
                     -EINTR);
    assert_true(n_asked >= 3);
    matches_done(&matches);
    close_fixture(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches__are_those_that_reach_the_threshold),
        cmocka_unit_test(test_matches__of_too_many_come_piece_by_piece),
        cmocka_unit_test(test_matches__contain_the_document),
        cmocka_unit_test(test_matches__fail_with_the_store),
        cmocka_unit_test(test_matches__end_when_nobody_waits_for_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
