#include "tests/unit/engine/topic/near/planted_sketches.h"

#include <errno.h>

enum { N = 3000, FAMILY = 20 };

/* Those of a family are n_apart nodes apart. */
static struct bag_sketch *plant_apart(uint32_t n, uint32_t n_apart, unsigned percent)
{
    struct bag_sketch *sketches = calloc(n, sizeof(*sketches));
    assert_non_null(sketches);
    for (uint32_t i = 0; i < n; i++)
        plant_sketch(i % n_apart * (n / n_apart) + i / n_apart, n / n_apart, percent, &sketches[i]);
    return sketches;
}

static struct bag_sketch *plant(uint32_t n, uint32_t family_nodes, unsigned percent)
{
    struct bag_sketch *sketches = calloc(n, sizeof(*sketches));
    assert_non_null(sketches);
    for (uint32_t i = 0; i < n; i++)
        plant_sketch(i, family_nodes, percent, &sketches[i]);
    return sketches;
}

/* F15, F16, F18: what is found is all that agrees in a draw and in enough lowest bytes, by
 * comparing all with all, in the order of nearness; it is there in both directions. */
static void test_near__finds_what_comparing_all_with_all_finds(void **state)
{
    _cleanup_free_ struct bag_sketch *sketches = plant(N, FAMILY, 60);
    _cleanup_(signatures_done) struct signatures signatures;
    _cleanup_(relations_done) struct relations relations = {0};
    struct near_options options = near_options_of(*state, N);
    struct near_totals totals;
    struct draws draws;
    static uint64_t expected[N], found[N];
    uint64_t n_all = 0;
    put_sketches(sketches, N, UINT64_MAX, *state, &signatures);
    assert_int_equal(near_find(&signatures, &options, &relations, &totals), 0);
    assert_int_equal(draws_init(options.n_draws, options.k, options.seed, &draws), 0);
    for (uint32_t node = 0; node < N; node++) {
        size_t n = relations_expected(sketches, N, &draws, options.least_agreeing, node, expected);
        assert_int_equal(relations_of(&relations, node, found, N), n);
        assert_memory_equal(found, expected, n * sizeof(*found));
        n_all += n;
    }
    assert_int_equal(relations.n, n_all);
    assert_int_equal(totals.n_kept * 2, n_all);
    assert_true(n_all > N && totals.n_different >= totals.n_kept);
    assert_true(totals.n_candidates > totals.n_different && totals.n_shortened == 0);
    assert_int_equal(relations_of(&relations, 96, found, N), 0); /* an empty bag */
}

static uint64_t digest(struct relations *relations)
{
    enum { AT_ONCE = 4096 };
    uint64_t digest = relations->n, some[AT_ONCE];
    for (uint64_t at = 0; at < relations->n; at += AT_ONCE) {
        size_t n = relations->n - at < AT_ONCE ? relations->n - at : AT_ONCE;
        assert_int_equal(relations_read(relations, at, n, some), 0);
        for (size_t i = 0; i < n; i++)
            digest = mix64(digest ^ some[i]);
    }
    return digest;
}

/* F16, F17: the same for any memory and number of threads, with all lowest bytes in memory and with
 * some of them at a time; of fewer signatures, too. */
static void test_near__is_the_same_for_any_memory_and_threads(void **state)
{
    enum { MANY = 120000 };
    _cleanup_free_ struct bag_sketch *sketches = plant_apart(MANY, MANY / 8, 80);
    _cleanup_(signatures_done) struct signatures in_memory, in_file;
    const uint64_t memory[] = {1 << 30, near_least_bytes(MANY), 48 << 20};
    put_sketches(sketches, MANY, UINT64_MAX, *state, &in_memory);
    put_sketches(sketches, MANY, 0, *state, &in_file);
    for (unsigned n_compared = 20; n_compared <= BAG_SIGNATURES; n_compared += 60) {
        uint64_t first = 0;
        for (unsigned i = 0; i < 3; i++) {
            _cleanup_(relations_done) struct relations relations = {0};
            struct near_options options = near_options_of(*state, MANY);
            struct near_totals totals;
            options.n_draws = 8;
            options.heads = 5;
            options.n_compared = n_compared;
            options.least_agreeing = signatures_expected(0.2, n_compared);
            options.memory_bytes = memory[i];
            options.n_threads = 1 + i;
            assert_int_equal(
                near_find(i == 1 ? &in_file : &in_memory, &options, &relations, &totals), 0);
            assert_true(n_compared < BAG_SIGNATURES || (i == 1) == (totals.n_passes > 1));
            assert_true(totals.n_kept > MANY && totals.longest == 8 && totals.n_shortened > 0);
            first = i == 0 ? digest(&relations) : first;
            assert_int_equal(digest(&relations), first);
        }
    }
}

static double binomial(unsigned n, unsigned k, double p)
{
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
               (n - k) * log1p(-p));
}

static double found_of(unsigned agreeing)
{
    double all = 1;
    for (unsigned i = 0; i < 3; i++)
        all *= agreeing > i ? (agreeing - i) / (double)(BAG_SIGNATURES - i) : 0;
    return 1 - pow(1 - all, 125);
}

static void expect_recall(double recall, double expected)
{
    if (!(fabs(recall - expected) <= 0.02))
        fail_msg("%.3f, expected %.3f", recall, expected);
}

/* F15, F16, J7: recall by similarity is what the closed form has with one pool of 80 signatures,
 * and not what it has with separate ones; after the filter, too. */
static void test_near__recall_is_that_of_the_shared_pool(void **state)
{
    enum { PAIRS = 8000, CASES = 5 };
    const double similarity[CASES] = {.15, .20, .25, .30, .40},
                 candidates[CASES] = {.309, .559, .776, .911, .994},
                 after[CASES] = {0, .398, .726, .904, 0};
    for (unsigned i = 0; i < CASES; i++) {
        double all = 0, kept = 0;
        for (unsigned j = 0; j <= BAG_SIGNATURES; j++) {
            double p = binomial(BAG_SIGNATURES, j, similarity[i]) * found_of(j);
            all += p;
            kept += j >= 16 ? p : 0;
        }
        assert_true(fabs(all - candidates[i]) < 0.001);
        assert_true(after[i] == 0 || fabs(kept - after[i]) < 0.001);
    }
    _cleanup_free_ struct bag_sketch *sketches = calloc(2 * PAIRS * CASES, sizeof(*sketches));
    assert_non_null(sketches);
    uint64_t random = 4;
    for (uint32_t i = 0; i < PAIRS * CASES; i++)
        for (unsigned j = 0; j < BAG_SIGNATURES; j++) {
            uint64_t value = mix64_next(&random), other = mix64_next(&random);
            double chance = (double)(mix64_next(&random) >> 11) * 0x1p-53;
            bag_sketch_set(&sketches[2 * i], j, value);
            bag_sketch_set(&sketches[2 * i + 1], j, chance < similarity[i / PAIRS] ? value : other);
        }
    _cleanup_(signatures_done) struct signatures signatures;
    put_sketches(sketches, 2 * PAIRS * CASES, UINT64_MAX, *state, &signatures);
    _cleanup_(relations_done) struct relations relations = {0};
    struct near_options options = near_options_of(*state, 2 * PAIRS * CASES);
    struct near_totals totals;
    options.least_agreeing = 0;
    assert_int_equal(near_find(&signatures, &options, &relations, &totals), 0);
    for (unsigned i = 0; i < CASES; i++) {
        unsigned n_found = 0, n_kept = 0;
        for (uint32_t j = i * PAIRS; j < (i + 1) * PAIRS; j++) {
            uint64_t found;
            int64_t n = relations_of(&relations, 2 * j, &found, 1);
            n_found += n > 0;
            n_kept += n > 0 && relation_agreeing(found) >= signatures_expected(0.2, BAG_SIGNATURES);
        }
        expect_recall(n_found / (double)PAIRS, candidates[i]);
        if (after[i] > 0)
            expect_recall(n_kept / (double)PAIRS, after[i]);
    }
}

/* Of nodes that are more than the heads at each place, each is paired with the heads alone. */
static void test_near__pairs_each_with_the_heads_of_many(void **state)
{
    enum { MANY = 90, HEADS = 3 };
    struct bag_sketch sketches[MANY];
    _cleanup_(signatures_done) struct signatures signatures;
    _cleanup_(relations_done) struct relations relations = {0};
    struct near_options options = near_options_of(*state, MANY);
    struct near_totals totals;
    uint64_t found[MANY];
    options.heads = HEADS;
    for (uint32_t i = 0; i < MANY; i++)
        plant_sketch(0, 1, 100, &sketches[i]);
    put_sketches(sketches, MANY, UINT64_MAX, *state, &signatures);
    assert_int_equal(near_find(&signatures, &options, &relations, &totals), 0);
    for (uint32_t i = 0; i < MANY; i++) {
        int64_t n = relations_of(&relations, i, found, MANY);
        assert_int_equal(n, i < HEADS ? MANY - 1 : HEADS);
        for (int64_t j = 0; j < n; j++)
            assert_int_equal(relation_agreeing(found[j]), BAG_SIGNATURES);
    }
    assert_int_equal(totals.n_candidates, HEADS * (MANY - HEADS) + HEADS * (HEADS - 1) / 2);
    assert_int_equal(totals.n_shortened, options.n_draws);
    assert_int_equal(totals.longest, MANY);
}

static void test_near__says_what_it_cannot_do(void **state)
{
    _cleanup_free_ struct bag_sketch *sketches = plant(N, FAMILY, 60);
    _cleanup_(signatures_done) struct signatures signatures, none;
    struct relations relations = {0};
    struct near_options options = near_options_of(*state, N);
    struct near_totals totals;
    const bool stop = true;
    put_sketches(sketches, N, 0, *state, &signatures);
    options.memory_bytes--;
    assert_int_equal(near_find(&signatures, &options, &relations, &totals), -E2BIG);
    options.memory_bytes++;
    options.stop = &stop;
    assert_int_equal(near_find(&signatures, &options, &relations, &totals), -ECANCELED);
    options.stop = NULL;
    options.k = DRAWS_MOST_SIGNATURES + 1;
    assert_int_equal(near_find(&signatures, &options, &relations, &totals), -EINVAL);
    options.k = 3;
    options.n_compared = 0;
    assert_int_equal(near_find(&signatures, &options, &relations, &totals), -EINVAL);
    options = near_options_of("/nowhere", N);
    assert_int_equal(near_find(&signatures, &options, &relations, &totals), -ENOENT);
    assert_int_equal(signatures_init(SIGNATURES_MOST + 1, *state, 0, &none), -EOVERFLOW);
    /* nothing, and one */
    options = near_options_of(*state, 1);
    for (uint32_t n = 0; n < 2; n++) {
        put_sketches(sketches, n, UINT64_MAX, *state, &none);
        assert_int_equal(near_find(&none, &options, &relations, &totals), 0);
        assert_int_equal(relations.n, 0);
        relations_done(&relations);
        signatures_done(&none);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near__finds_what_comparing_all_with_all_finds),
        cmocka_unit_test(test_near__is_the_same_for_any_memory_and_threads),
        cmocka_unit_test(test_near__recall_is_that_of_the_shared_pool),
        cmocka_unit_test(test_near__pairs_each_with_the_heads_of_many),
        cmocka_unit_test(test_near__says_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
