#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cluster/components.h"

static void expect(const uint32_t *actual, const uint32_t *expected, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(actual[i], expected[i]);
}

/* C7, J4: two clusters that exist already become one when a pair joins them */
static void test_components__joins_two_existing_clusters(void **state)
{
    (void)state;
    const struct resembling_pair pairs[] = {{0, 1, .9}, {2, 3, .9}, {1, 2, .9}};
    const uint32_t expected[] = {0, 0, 0, 0, 4};
    uint32_t cluster[5];
    assert_int_equal(components_of_pairs(pairs, 3, .5, NULL, 5, cluster), 1);
    expect(cluster, expected, 5);
}

static void test_components__counts_pairs_at_the_threshold_and_above(void **state)
{
    (void)state;
    const struct resembling_pair pairs[] = {{4, 3, .5}, {1, 2, .4999999}, {0, 2, 1.0}};
    const uint32_t expected[] = {0, 1, 0, 3, 3};
    uint32_t cluster[5];
    assert_int_equal(components_of_pairs(pairs, 3, .5, NULL, 5, cluster), 2);
    expect(cluster, expected, 5);
    assert_int_equal(components_of_pairs(NULL, 0, .5, NULL, 0, cluster), 0);
}

static void test_components__refuses_documents_out_of_range(void **state)
{
    (void)state;
    const struct resembling_pair pair = {0, 2, .9};
    const uint32_t first[] = {1, 1, 2}, later[] = {0, 2, 2}, chain[] = {0, 0, 1};
    uint32_t cluster[3];
    assert_int_equal(components_of_pairs(&pair, 1, .5, NULL, 2, cluster), -EINVAL);
    assert_int_equal(components_of_pairs(&pair, 1, .5, first, 3, cluster), -EINVAL);
    assert_int_equal(components_of_pairs(&pair, 1, .5, later, 3, cluster), -EINVAL);
    assert_int_equal(components_of_pairs(&pair, 1, .5, chain, 3, cluster), -EINVAL);
}

/* Breadth first search over a matrix: the slow and simple route. */
static int64_t components_by_search(bool *edge, size_t n, uint32_t *ret_cluster)
{
    int64_t n_clusters = 0;
    uint32_t *queue = malloc(n * sizeof(*queue));
    for (size_t i = 0; i < n; i++)
        ret_cluster[i] = UINT32_MAX;
    for (uint32_t start = 0; start < n; start++) {
        if (ret_cluster[start] != UINT32_MAX)
            continue;
        size_t head = 0, tail = 0;
        queue[tail++] = start;
        ret_cluster[start] = start;
        while (head < tail) {
            uint32_t x = queue[head++];
            for (uint32_t y = 0; y < n; y++) {
                if (edge[x * n + y] && ret_cluster[y] == UINT32_MAX) {
                    ret_cluster[y] = start;
                    queue[tail++] = y;
                }
            }
        }
        n_clusters += tail > 1;
    }
    free(queue);
    return n_clusters;
}

/* C6: equals the components found by search; C13: the same with identical documents collapsed
 * first */
static void test_components__agree_with_breadth_first_search(void **state)
{
    (void)state;
    enum { N = 60, ROUNDS = 200 };
    static bool edge[N * N];
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned seed = round;
        struct resembling_pair pairs[N];
        uint32_t same_as[N], cluster[N], expected[N];
        size_t n_pairs = round % N;

        memset(edge, 0, sizeof(edge));
        for (uint32_t i = 0; i < N; i++) {
            same_as[i] = i;
            if (i > 0 && rand_r(&seed) % 8 == 0)
                same_as[i] = same_as[(uint32_t)rand_r(&seed) % i];
            edge[i * N + same_as[i]] = edge[same_as[i] * N + i] = true;
        }
        for (size_t i = 0; i < n_pairs; i++) {
            pairs[i] =
                (struct resembling_pair){(uint32_t)rand_r(&seed) % N, (uint32_t)rand_r(&seed) % N,
                                         rand_r(&seed) / (double)RAND_MAX};
            if (pairs[i].resemblance >= .3)
                edge[pairs[i].a * N + pairs[i].b] = edge[pairs[i].b * N + pairs[i].a] = true;
        }
        int64_t n_expected = components_by_search(edge, N, expected);
        assert_int_equal(components_of_pairs(pairs, n_pairs, .3, same_as, N, cluster), n_expected);
        expect(cluster, expected, N);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_components__joins_two_existing_clusters),
        cmocka_unit_test(test_components__counts_pairs_at_the_threshold_and_above),
        cmocka_unit_test(test_components__refuses_documents_out_of_range),
        cmocka_unit_test(test_components__agree_with_breadth_first_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
