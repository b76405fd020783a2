#include "tests/unit/engine/cluster/batch_world.h"

#include "engine/cluster/pairs/overlap_filter.h"
#include "tests/lib/scratch.h"

static unsigned differing_slowly(const struct overlap_filter *a, const struct overlap_filter *b)
{
    unsigned n = 0;
    for (unsigned i = 0; i < OVERLAP_BITS; i++)
        n += (a->bits[i / 64] >> (i % 64) & 1) != (b->bits[i / 64] >> (i % 64) & 1);
    return n;
}

static void test_overlap_filter__counts_the_bits_that_differ(void **state)
{
    (void)state;
    struct overlap_filter a = {0}, b = {0};
    for (unsigned i = 0; i < OVERLAP_BITS; i++) {
        assert_int_equal(overlap_differing(&a, &b), i);
        a.bits[i * 7 % OVERLAP_BITS / 64] |= (uint64_t)1 << (i * 7 % 64);
        assert_int_equal(overlap_differing(&a, &b), differing_slowly(&a, &b));
    }
    assert_int_equal(overlap_differing(&a, &b), OVERLAP_BITS);
    assert_int_equal(overlap_differing(&a, &a), 0);
}

static void add_texts(struct world *world, unsigned n_words, unsigned most_edits)
{
    for (unsigned i = 0; i < 60; i++) {
        char *text = scratch_text(n_words, i, n_words + i / 4, most_edits * i / 60);
        world_add(world, text, strlen(text));
        free(text);
    }
}

/* Of documents of all lengths, complete sketches, of MIN_s and of V larger than that: who reaches a
 * threshold passes; and of the others most do not. */
static void test_overlap_filter__refuses_none_that_reaches(void **state)
{
    (void)state;
    const double thresholds[] = {0.1, 0.3, 0.5, 0.7, 0.9, 1};
    const unsigned lengths[] = {3, 30, 100, 140, 300, 2000, 6000};
    struct policy policy;
    struct world world;
    assert_int_equal(policy_preset("default", &policy), 0);
    world_begin(&world, &policy);
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        add_texts(&world, lengths[i], lengths[i] / 4);
    struct overlap_filter *filters = calloc(world.n, sizeof(*filters));
    assert_non_null(filters);
    for (uint32_t i = 0; i < world.n; i++)
        overlap_filter_make(&world.documents[i].sketch, &filters[i]);
    for (unsigned t = 0; t < sizeof(thresholds) / sizeof(thresholds[0]); t++) {
        uint64_t n_reach = 0, n_refused = 0, n_other = 0;
        for (uint32_t i = 0; i < world.n; i++) {
            for (uint32_t j = 0; j <= i; j++) {
                struct estimate estimate;
                bool reaches =
                    min_sketch_reaches(&world.documents[i].sketch, &world.documents[j].sketch,
                                       thresholds[t], &estimate) == 1;
                bool passes =
                    overlap_filter_passes(&filters[i], &filters[j], policy.s, thresholds[t]);
                assert_true(passes || !reaches);
                n_reach += reaches;
                n_other += !reaches;
                n_refused += !passes;
            }
        }
        assert_true(n_reach > 300);
        assert_true(thresholds[t] < 0.4 || n_refused > n_other / 2);
    }
    free(filters);
    world_end(&world);
}

enum { N_SCANNED = 420 };

/* Returns how many pass, of *n_others. */
static size_t expect_scans(overlap_scan_fn *scan, const struct overlap_filter *filters,
                           const uint32_t *sets, uint32_t s, double threshold, uint64_t *n_all)
{
    size_t n_found = 0;
    for (uint32_t i = 0; i < N_SCANNED; i++) {
        uint64_t n_others = 0, n_expected = 0;
        size_t at = 0;
        for (uint32_t j = 0; j < i; j++) {
            if (sets[j] == sets[i])
                continue;
            n_expected++;
            if (!overlap_filter_passes(&filters[i], &filters[j], s, threshold))
                continue;
            at = scan(&filters[i], sets[i], filters, sets, at, i, s, threshold, &n_others);
            assert_int_equal(at++, j);
            n_found++;
        }
        assert_int_equal(scan(&filters[i], sets[i], filters, sets, at, i, s, threshold, &n_others),
                         i);
        assert_int_equal(n_others, n_expected);
        *n_all += n_expected;
    }
    return n_found;
}

/* Those that pass are found one after the other, and all others are counted, by each kernel, at any
 * threshold; also of sketches that hold all or much of their documents. */
static void test_overlap_filter__scans_find_who_passes_by_every_kernel(void **state)
{
    (void)state;
    const double thresholds[] = {0.01, 0.3, 0.5, 0.77, 1};
    struct policy policy;
    struct world world;
    static struct overlap_filter filters[N_SCANNED];
    static uint32_t sets[N_SCANNED];
    assert_int_equal(policy_preset("default", &policy), 0);
    world_begin(&world, &policy);
    add_texts(&world, 200, 100);
    for (uint32_t i = 0; i < N_SCANNED; i++) {
        overlap_filter_make(&world.documents[i % world.n].sketch, &filters[i]);
        sets[i] = i * i % 5;
        if (i % 7 == 0)
            filters[i].n_v = i; /* of two at most s, or more */
        if (i % 11 == 0)
            filters[i].complete = !filters[i].complete;
        if (i % 13 == 0)
            filters[i].n_v = INT32_MAX;
    }
    for (enum kernel kernel = 0; kernel < KERNEL_N; kernel++) {
        overlap_scan_fn *scan = overlap_scan_of(kernel);
        for (unsigned i = 0; scan && i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
            uint64_t n_all = 0;
            size_t n_found = expect_scans(scan, filters, sets, policy.s, thresholds[i], &n_all);
            assert_true(n_found > N_SCANNED && (i < 2 || n_found < n_all - N_SCANNED));
        }
    }
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap_filter__counts_the_bits_that_differ),
        cmocka_unit_test(test_overlap_filter__refuses_none_that_reaches),
        cmocka_unit_test(test_overlap_filter__scans_find_who_passes_by_every_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
