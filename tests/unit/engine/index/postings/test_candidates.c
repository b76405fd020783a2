/* Which documents are found at all: by the key they share, of pairs of known resemblance; and which
 * of very many. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/mix.h"
#include "engine/index/postings/candidates.h"
#include "engine/index/tables/number_vector.h"
#include "tests/lib/share.h"
#include "tests/lib/stores/kv_memory.h"

static const struct kv_table tables[] = {
    {"tier_r", KV_PARTITION_FIXED, 8, true},
    {"tier_c", KV_PARTITION_FIXED, 8, true},
};
static const unsigned tier_tables[POSTINGS_N_TIERS] = {0, 1};
static const struct kv_options options = {.tables = tables, .n_tables = 2, .create = true};

enum { N_KEYS = POSTINGS_TIER_R_KEYS };

struct fixture {
    struct kv *kv;
    struct postings *postings;
};

static void open_fixture(struct fixture *fixture)
{
    assert_int_equal(kv_memory_open(&options, &fixture->kv), 0);
    assert_int_equal(postings_open(fixture->kv, tier_tables, 0, &fixture->postings), 0);
}

static void close_fixture(struct fixture *fixture)
{
    postings_close(fixture->postings);
    kv_close(fixture->kv);
}

static uint64_t random_state = 1;

static uint64_t random_bits(void)
{
    return mix64_next(&random_state);
}

/* In tier R only. */
static struct min_sketch sketch_of(const uint64_t *values)
{
    return (struct min_sketch){.n_values = N_KEYS, .values = values, .v_below = 1};
}

static bool has(const struct sid_list *list, uint64_t sid)
{
    return number_vector_finds(&(struct number_vector){list->sids, list->n_sids, 0}, sid);
}

/* -- recall -- */

/* The first values of two documents of a resemblance: of the values of their union, which come in
 * order, each is in both with that probability. */
static void draw_pair(double resemblance, uint64_t a[N_KEYS], uint64_t b[N_KEYS])
{
    unsigned n_a = 0, n_b = 0;
    uint64_t value = random_bits() >> 1; /* of no other pair */

    while (n_a < N_KEYS || n_b < N_KEYS) {
        uint64_t x = random_bits();
        bool both = (double)(x >> 11) * 0x1p-53 < resemblance, left = x & 1;
        value += 1 + (x & 1023);
        if ((both || left) && n_a < N_KEYS)
            a[n_a++] = value;
        if ((both || !left) && n_b < N_KEYS)
            b[n_b++] = value;
    }
}

static unsigned missed(double resemblance, unsigned n)
{
    struct fixture fixture;
    unsigned n_missed = 0;

    open_fixture(&fixture);
    for (unsigned sid = 1; sid <= n; sid++) {
        _cleanup_(sid_list_done) struct sid_list list = {0};
        uint64_t a[N_KEYS], b[N_KEYS];
        draw_pair(resemblance, a, b);
        struct min_sketch of_a = sketch_of(a), of_b = sketch_of(b);
        assert_int_equal(postings_add(fixture.postings, sid, &of_a), 0);
        assert_int_equal(candidates_for(fixture.postings, POSTINGS_TIER_R, &of_b, 0.2, 100, &list),
                         0);
        n_missed += !has(&list, sid);
    }
    close_fixture(&fixture);
    print_message("resemblance %.2f: %u of %u pairs are no candidates\n", resemblance, n_missed, n);
    return n_missed;
}

static void test_candidates__pairs_that_resemble_each_other_are_candidates(void **state)
{
    const unsigned n = part_of(100000);
    (void)state;

    assert_true(missed(0.5, n) <= n / 10000);
    assert_true(missed(0.25, n) <= n / 100);
}

/* -- of very many -- */

static void add(struct fixture *fixture, uint64_t sid, const uint64_t *values)
{
    struct min_sketch sketch = sketch_of(values);
    assert_int_equal(postings_add(fixture->postings, sid, &sketch), 0);
}

/* The first are of everybody, the others of a group. */
static void draw_values(unsigned n_common, unsigned group, uint64_t values[N_KEYS])
{
    for (unsigned i = 0; i < N_KEYS; i++)
        values[i] = i < n_common ? 1 + i : 1000 * (1 + (uint64_t)group) + i;
}

static void test_candidates__who_shares_what_is_rare_comes_however_many_there_are(void **state)
{
    enum { N = 6000, GROUP = 5 };
    struct fixture fixture;
    uint64_t values[N_KEYS];
    (void)state;

    open_fixture(&fixture);
    for (unsigned i = 0; i < N; i++) {
        draw_values(14, i / GROUP, values);
        add(&fixture, 1 + i, values);
    }
    for (unsigned flushed = 0; flushed < 2; flushed++) {
        for (unsigned i = 0; i < N; i += N / 10) {
            _cleanup_(sid_list_done) struct sid_list list = {0}, all = {0};
            draw_values(14, i / GROUP, values);
            struct min_sketch sketch = sketch_of(values);
            assert_int_equal(
                candidates_for(fixture.postings, POSTINGS_TIER_R, &sketch, 0.4, 10, &list), 0);
            assert_true(list.n_sids >= CANDIDATES_OFTEN && list.n_sids <= CANDIDATES_OFTEN + GROUP);
            for (unsigned k = i / GROUP * GROUP; k < i / GROUP * GROUP + GROUP; k++)
                assert_true(has(&list, 1 + k));
            assert_int_equal(
                candidates_for(fixture.postings, POSTINGS_TIER_R, &sketch, 0.4, 0, &all), 0);
            assert_int_equal(all.n_sids, N);
        }
        assert_int_equal(postings_flush(fixture.postings), 0);
    }
    close_fixture(&fixture);
}

static void test_candidates__those_with_most_in_common_come_first(void **state)
{
    enum { N = 6000, NEAR = 300 };
    _cleanup_(sid_list_done) struct sid_list list = {0};
    struct fixture fixture;
    uint64_t values[N_KEYS];
    (void)state;

    open_fixture(&fixture);
    for (unsigned i = 0; i < N; i++) {
        draw_values(8, i, values);
        add(&fixture, 1 + i, values);
    }
    draw_values(N_KEYS, 0, values);
    for (unsigned i = 0; i < NEAR; i++)
        add(&fixture, 1 + N + i, values);
    struct min_sketch sketch = sketch_of(values);
    assert_int_equal(candidates_for(fixture.postings, POSTINGS_TIER_R, &sketch, 0.4, 10, &list), 0);
    assert_int_equal(list.n_sids, CANDIDATES_OFTEN);
    for (unsigned i = 0; i < NEAR; i++)
        assert_true(has(&list, 1 + N + i));
    close_fixture(&fixture);
}

/* Not more than are wanted, and of these the ones that share what is rare. */
static void test_candidates__the_likeliest_are_no_more_than_are_wanted(void **state)
{
    enum { N = CANDIDATES_FIRST + 1000, GROUP = 5, MOST = 64 };
    struct fixture fixture;
    uint64_t values[N_KEYS];
    (void)state;

    open_fixture(&fixture);
    for (unsigned i = 0; i < N; i++) {
        draw_values(14, i / GROUP, values);
        add(&fixture, 1 + i, values);
    }
    for (unsigned flushed = 0; flushed < 2; flushed++) {
        for (unsigned i = 0; i < N; i += N / 10) {
            const unsigned first = i / GROUP * GROUP;
            _cleanup_(sid_list_done) struct sid_list list = {0};
            draw_values(14, i / GROUP, values);
            struct min_sketch sketch = sketch_of(values);
            assert_int_equal(candidates_likeliest(fixture.postings, &sketch, MOST, &list), 0);
            assert_in_range(list.n_sids, 1, MOST);
            for (unsigned k = first; k < first + GROUP && k < N; k++)
                assert_true(has(&list, 1 + k));
        }
        assert_int_equal(postings_flush(fixture.postings), 0);
    }
    close_fixture(&fixture);
}

/* One at 0.5 that has what thousands have, and little that few have, who came before it. */
static void test_candidates__a_relative_behind_thousands_is_found(void **state)
{
    enum { OTHERS = 10000, EQUALS = 3000, SOME = 2 * POSTINGS_PIECE };
    struct fixture fixture;
    uint64_t values[N_KEYS];
    (void)state;

    for (unsigned equal = 0; equal < 2; equal++) {
        _cleanup_(sid_list_done) struct sid_list list = {0};
        unsigned n = equal ? EQUALS : OTHERS, n_common = equal ? 5 : 8;
        open_fixture(&fixture);
        for (unsigned i = 0; i < n; i++) {
            draw_values(equal || i >= SOME ? n_common : n_common + 2, i, values);
            add(&fixture, 1 + i, values);
        }
        draw_values(equal ? n_common : n_common + 2, n, values);
        add(&fixture, 1 + n, values);
        draw_values(equal ? n_common : n_common + 2, n + 1, values);
        struct min_sketch sketch = sketch_of(values);
        assert_int_equal(
            candidates_for(fixture.postings, POSTINGS_TIER_R, &sketch, 0.4, 100, &list), 0);
        assert_true(has(&list, 1 + n));
        close_fixture(&fixture);
    }
}

static void test_candidates__boilerplate_makes_none_but_at_low_thresholds(void **state)
{
    enum { N = 2000, KIN = 4 };
    struct fixture fixture;
    uint64_t values[N_KEYS];
    (void)state;

    open_fixture(&fixture);
    for (unsigned i = 0; i < N; i++) {
        draw_values(1, i < KIN ? 0 : i, values);
        add(&fixture, 1 + i, values);
    }
    draw_values(1, 0, values);
    struct min_sketch sketch = sketch_of(values);
    struct {
        double threshold;
        size_t most, expected;
        bool all;
    } cases[] = {{0.4, 100, KIN, false},
                 {0.25, 100, KIN, false},
                 {0.1, 100, CANDIDATES_ENOUGH + KIN, false},
                 {0.4, 0, N, true}};
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        _cleanup_(sid_list_done) struct sid_list list = {0};
        assert_int_equal(candidates_for(fixture.postings, POSTINGS_TIER_R, &sketch,
                                        cases[i].threshold, cases[i].most, &list),
                         0);
        assert_in_range(list.n_sids, cases[i].expected - (cases[i].all ? 0 : KIN),
                        cases[i].expected);
        for (unsigned k = 0; k < KIN; k++)
            assert_true(has(&list, 1 + k));
    }
    close_fixture(&fixture);
}

/* No list is longer than a piece: nothing is passed over. */
static void test_candidates__of_few_all_come(void **state)
{
    struct fixture fixture;
    uint64_t values[N_KEYS];
    (void)state;

    open_fixture(&fixture);
    for (unsigned i = 0; i < POSTINGS_PIECE; i++) {
        draw_values(1 + i % N_KEYS, i, values);
        add(&fixture, 1 + i, values);
    }
    for (unsigned i = 0; i < POSTINGS_PIECE; i += 17) {
        _cleanup_(sid_list_done) struct sid_list some = {0}, all = {0};
        draw_values(1 + i % N_KEYS, i, values);
        struct min_sketch sketch = sketch_of(values);
        assert_int_equal(candidates_for(fixture.postings, POSTINGS_TIER_R, &sketch, 0.9, 1, &some),
                         0);
        assert_int_equal(postings_candidates(fixture.postings, POSTINGS_TIER_R, &sketch, &all), 0);
        assert_int_equal(some.n_sids, all.n_sids);
        assert_memory_equal(some.sids, all.sids, all.n_sids * sizeof(*all.sids));
    }
    close_fixture(&fixture);
}

/* -- how certain an answer is -- */

static struct min_sketch build(struct min_sketch_builder *builder, const uint64_t *values, size_t n)
{
    struct min_sketch sketch, copy;
    min_sketch_builder_begin(builder);
    min_sketch_builder_add(builder, values, n);
    min_sketch_builder_finish(builder, n, &sketch);
    assert_int_equal(min_sketch_copy(&sketch, &copy), 0);
    return copy;
}

/* The bound by multiplying, and by trying: so many shingles of documents of 2,000, in a row, as
 * questions of their own. Of as many as are certain 99 in 100 lead to the document they are of, and
 * of a few as many as (1-1/m)^n says. */
static void test_candidates__what_contains_a_document_is_certain_from_some_length_on(void **state)
{
    enum { TRIALS = 1500, WHOLE = 2000 };
    struct policy policy;
    struct min_sketch_builder *builder;
    struct fixture fixture;
    (void)state;

    assert_int_equal(policy_preset("default", &policy), 0);
    const unsigned certain = candidates_certain_shingles(policy.m);
    const unsigned lengths[] = {5, 40, certain};
    double missed = 1;
    unsigned n = 0;
    for (; missed > 0.01; n++)
        missed *= 24.0 / 25;
    assert_int_equal(policy.m, 25);
    assert_int_equal(certain, n);
    assert_int_equal(candidates_certain_shingles(1), 1);

    assert_int_equal(min_sketch_builder_new(&policy, &builder), 0);
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        unsigned n_found = 0;
        double expected = 1;
        open_fixture(&fixture);
        for (unsigned k = 0; k < lengths[i]; k++)
            expected *= 1 - 1.0 / policy.m;
        expected = 1 - expected;
        for (uint64_t sid = 1; sid <= TRIALS; sid++) {
            static uint64_t values[WHOLE];
            struct sid_list list;
            for (unsigned k = 0; k < WHOLE; k++)
                values[k] = random_bits();
            struct min_sketch whole = build(builder, values, WHOLE);
            struct min_sketch part = build(builder, values, lengths[i]);
            assert_int_equal(postings_add(fixture.postings, sid, &whole), 0);
            assert_int_equal(
                candidates_for(fixture.postings, POSTINGS_TIER_C, &part, 0.4, 100, &list), 0);
            n_found += has(&list, sid);
            sid_list_done(&list);
            min_sketch_done(&whole);
            min_sketch_done(&part);
        }
        const double share = (double)n_found / TRIALS;
        assert_true(fabs(share - expected) < 5 * sqrt(expected * (1 - expected) / TRIALS));
        close_fixture(&fixture);
    }
    min_sketch_builder_free(builder);
}

/* By multiplying, and by pairs: at the bound one in a hundred shares no key. */
static void test_candidates__resemblance_is_certain_from_some_threshold_on(void **state)
{
    enum { TRIALS = 20000 };
    const double certain = candidates_certain_resemblance();
    double missed = 1;
    unsigned n_missed = 0;
    (void)state;

    for (unsigned i = 0; i < N_KEYS; i++)
        missed *= 1 - certain;
    assert_true(fabs(missed - 0.01) < 1e-4);
    assert_true(certain == 0.25); /* what the manual says, too */
    for (unsigned i = 0; i < TRIALS; i++) {
        uint64_t a[N_KEYS], b[N_KEYS];
        bool shares = false;
        draw_pair(certain, a, b);
        for (unsigned j = 0; j < N_KEYS; j++)
            for (unsigned k = 0; k < N_KEYS; k++)
                shares |= a[j] == b[k];
        n_missed += !shares;
    }
    /* Who shares none of the sixteen of either may still share one of the union's. */
    assert_in_range(n_missed, 1, TRIALS / 100 + 5 * (unsigned)sqrt(TRIALS * 0.01));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_candidates__pairs_that_resemble_each_other_are_candidates),
        cmocka_unit_test(test_candidates__who_shares_what_is_rare_comes_however_many_there_are),
        cmocka_unit_test(test_candidates__those_with_most_in_common_come_first),
        cmocka_unit_test(test_candidates__a_relative_behind_thousands_is_found),
        cmocka_unit_test(test_candidates__the_likeliest_are_no_more_than_are_wanted),
        cmocka_unit_test(test_candidates__boilerplate_makes_none_but_at_low_thresholds),
        cmocka_unit_test(test_candidates__of_few_all_come),
        cmocka_unit_test(test_candidates__what_contains_a_document_is_certain_from_some_length_on),
        cmocka_unit_test(test_candidates__resemblance_is_certain_from_some_threshold_on),
    };
    return cmocka_run_group_tests_name("candidates", tests, NULL, NULL);
}
