/* What tests/bench/topics counts, on cases made by hand and by slower ways. */
#include "tests/lib/trials.h"

#include "base/cleanup.h"
#include "tests/bench/topics/agreement.h"

static void assert_near(double a, double b)
{
    if (fabs(a - b) > 1e-9)
        fail_msg("%.12f is not %.12f", a, b);
}

/* -- answers -- */

enum { OTHERS = 6 };

struct other {
    unsigned rank;
    bool relevant;
};

/* The mean over all orders that ranks allow, from place k on. */
static double precision_over_orders(struct other *others, unsigned k, unsigned n)
{
    double sum = 0;
    if (k == OTHERS) {
        for (unsigned i = 1; i < OTHERS; i++)
            if (others[i].rank > others[i - 1].rank)
                return -1;
        for (unsigned i = 0; i < n && i < OTHERS; i++)
            sum += others[i].rank > 0 && others[i].relevant;
        return sum / n;
    }
    unsigned orders = 0;
    for (unsigned i = k; i < OTHERS; i++) {
        const struct other swapped = others[k];
        others[k] = others[i];
        others[i] = swapped;
        const double value = precision_over_orders(others, k + 1, n);
        sum += value < 0 ? 0 : value;
        orders += value >= 0;
        others[i] = others[k];
        others[k] = swapped;
    }
    return orders ? sum / orders : -1;
}

static void test_agreement__precision_is_the_mean_over_all_orders(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (unsigned trial = 0; trial < 200; trial++) {
        struct other others[OTHERS];
        struct ranks ranks = {0};
        for (unsigned i = 0; i < OTHERS; i++) {
            others[i] =
                (struct other){(unsigned)(mix64_next(&random) % 4), mix64_next(&random) % 2 == 0};
            ranks.all[others[i].rank]++;
            ranks.relevant[others[i].rank] += others[i].relevant;
        }
        for (unsigned n = 1; n <= OTHERS + 2; n++)
            assert_near(precision_at(&ranks, n), precision_over_orders(others, 0, n));
    }
}

static void test_agreement__precision_by_hand(void **state)
{
    (void)state;
    /* 2 of 3 at one rank, 1 of 4 below: of five 2, and of the two that are left half of one. What
     * has nothing in common does not count. */
    const struct ranks ranks = {.all = {[50] = 3, [20] = 4, [0] = 9},
                                .relevant = {[50] = 2, [20] = 1, [0] = 9}};
    assert_near(precision_at(&ranks, 5), 0.5);
    assert_near(precision_at(&ranks, 10), 0.3);
    assert_near(precision_by_chance(3, 12), 0.25);
    assert_near(precision_at_best(3, 10), 0.3);
    assert_near(precision_at_best(11, 10), 1);
}

/* -- clusters -- */

/* The adjusted Rand index by all pairs, each of which is together or not, in either. */
static double ari_by_pairs(const uint32_t *clusters, const uint32_t *labels, uint32_t n)
{
    double both = 0, first = 0, second = 0, none = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++) {
            const bool c = clusters[i] == clusters[j], l = labels[i] == labels[j];
            *(c && l ? &both : c ? &first : l ? &second : &none) += 1;
        }
    return 2 * (both * none - first * second) /
           ((both + first) * (first + none) + (both + second) * (second + none));
}

static void test_agreement__of_clusters_by_hand(void **state)
{
    (void)state;
    /* Of 15 pairs 4 are together in clusters, 4 in labels, 2 in both: (2 - 16/15) / (4 - 16/15).
     * The third cluster is one document. */
    const uint32_t clusters[] = {7, 7, 7, 3, 3, 9}, labels[] = {1, 1, 2, 2, 2, 3};
    struct agreement agreement;
    assert_int_equal(agreement_of(clusters, labels, 6, &agreement), 0);
    assert_near(agreement.ari, 7 / 22.0);
    assert_near(agreement.ari, ari_by_pairs(clusters, labels, 6));
    assert_near(agreement.best_ari, 1);
    assert_near(agreement.purity, 4 / 5.0);
    assert_int_equal(agreement.n_clusters, 2);
    assert_int_equal(agreement.n_clustered, 5);
    /* Clusters that are parts of labels are as good as clusters of these sizes can be. */
    const uint32_t parts[] = {0, 0, 1, 1, 2, 2}, wholes[] = {0, 0, 0, 0, 1, 1};
    assert_int_equal(agreement_of(parts, wholes, 6, &agreement), 0);
    assert_near(agreement.purity, 1);
    assert_near(agreement.ari, agreement.best_ari);
    assert_true(agreement.ari < 0.9);
    /* Nobody is with anybody. */
    assert_int_equal(agreement_of(parts, wholes, 0, &agreement), 0);
    assert_int_equal(agreement.n_clustered, 0);
    assert_near(agreement.purity, 0);
}

static void test_agreement__of_clusters_is_that_by_all_pairs(void **state)
{
    (void)state;
    uint64_t random = 2;
    for (unsigned trial = 0; trial < 300; trial++) {
        uint32_t clusters[40], labels[40];
        struct agreement agreement;
        const uint32_t n = 2 + (uint32_t)(mix64_next(&random) % 39);
        for (uint32_t i = 0; i < n; i++) {
            clusters[i] = (uint32_t)(mix64_next(&random) % 5);
            labels[i] = mix64_next(&random) % 2 ? clusters[i] : (uint32_t)(mix64_next(&random) % 6);
        }
        clusters[0] = labels[0] = 10;
        clusters[1] = labels[1] = 11;
        assert_int_equal(agreement_of(clusters, labels, n, &agreement), 0);
        const double ari = ari_by_pairs(clusters, labels, n);
        if (!isnan(ari)) /* neither has a pair */
            assert_near(agreement.ari, ari);
        assert_true(agreement.ari <= agreement.best_ari + 1e-9);
    }
}

/* Two of four documents are together, whose labels are 1, 1, 2, 2: they have one label in a third
 * of all cases, so that purity is 1/3 + 2/3 * 1/2. */
static void test_agreement__purity_by_chance(void **state)
{
    (void)state;
    const uint32_t clusters[] = {0, 0, 1, 2}, labels[] = {1, 1, 2, 2};
    const unsigned times = 10000;
    const double error = sqrt(1 / 3.0 * 2 / 3.0 / 4 / times);
    double purity;
    assert_int_equal(purity_by_chance(clusters, labels, 4, times, 3, &purity), 0);
    assert_true(fabs(purity - 2 / 3.0) < 4 * error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agreement__precision_is_the_mean_over_all_orders),
        cmocka_unit_test(test_agreement__precision_by_hand),
        cmocka_unit_test(test_agreement__of_clusters_by_hand),
        cmocka_unit_test(test_agreement__of_clusters_is_that_by_all_pairs),
        cmocka_unit_test(test_agreement__purity_by_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
