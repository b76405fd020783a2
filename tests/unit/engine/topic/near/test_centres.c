#include "tests/unit/engine/topic/near/planted_sketches.h"

#include "engine/topic/near/centres.h"

enum { N = 400 };

/* A graph of which each node has a row of what is near to it. */
struct graph {
    uint32_t n, n_near[N], near[N][N];
    bool is_near[N][N];
};

static struct graph graph;

static void make_near(uint32_t u, uint32_t v)
{
    if (u == v || graph.is_near[u][v])
        return;
    graph.is_near[u][v] = graph.is_near[v][u] = true;
    graph.near[u][graph.n_near[u]++] = v;
    graph.near[v][graph.n_near[v]++] = u;
}

static void random_graph(uint32_t n, uint64_t n_edges, uint64_t *random)
{
    memset(&graph, 0, sizeof(graph));
    graph.n = n;
    for (uint64_t i = 0; i < n_edges; i++) {
        uint32_t u = (uint32_t)(mix64_next(random) % n);
        make_near(u, (uint32_t)(mix64_next(random) % n));
    }
}

static int64_t ask_graph(void *user, uint32_t node, const uint32_t **ret_near)
{
    (void)user;
    *ret_near = graph.near[node];
    return graph.n_near[node];
}

/* The relations of the graph; of two that are near 20 signatures agree or, if both numbers are
 * odd, 10. */
static void sort_graph(const char *scratch, struct relations *ret_relations)
{
    struct scratch_file file;
    struct spill_writer writer;
    double cpu_s = 0;
    uint64_t read_bytes = 0, written_bytes = 0;
    _cleanup_(spill_free_p) struct spill *spill = NULL;
    assert_int_equal(scratch_file_open(scratch, &file), 0);
    assert_int_equal(spill_new(&file, 8, 4, 4096, 1000, &spill), 0);
    assert_int_equal(spill_writer_init(spill, &writer), 0);
    for (uint32_t u = 0; u < graph.n; u++)
        for (uint32_t i = 0; i < graph.n_near[u]; i++) {
            uint32_t v = graph.near[u][i];
            uint64_t relation = relation_of(u, v, u & v & 1 ? 10 : 20);
            assert_int_equal(spill_add(&writer, u >> 7, &relation), 0);
        }
    assert_int_equal(spill_writer_flush(&writer), 0);
    spill_writer_done(&writer);
    struct relations_sorting sorting = {.spill = spill,
                                        .n_partitions = 4,
                                        .scratch = scratch,
                                        .room_bytes = 256 << 10,
                                        .n_threads = 2};
    assert_int_equal(relations_sort(&sorting, ret_relations, &cpu_s, &read_bytes, &written_bytes),
                     0);
    scratch_file_done(&file);
}

/* F18: the file has for each node what is near to it, nearest first, and in all the right number.
 */
static void test_centres__relations_are_those_of_the_graph(void **state)
{
    uint64_t random = 1, n_all = 0;
    _cleanup_(relations_done) struct relations relations = {0};
    random_graph(N, 20000, &random);
    sort_graph(*state, &relations);
    for (uint32_t u = 0; u < N + 10; u++) {
        uint64_t found[N], expected[N];
        uint32_t n = u < N ? graph.n_near[u] : 0;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t v = graph.near[u][i];
            expected[i] = relation_of(u, v, u & v & 1 ? 10 : 20);
        }
        qsort(expected, n, sizeof(*expected), trial_compare);
        assert_int_equal(relations_of(&relations, u, found, N), n);
        assert_memory_equal(found, expected, n * sizeof(*found));
        assert_int_equal(relations_of(&relations, u, found, 0), n);
        n_all += n;
    }
    assert_int_equal(relations.n, n_all);
    assert_int_equal(relation_from(relation_of(7, 9, 20)), 7);
    assert_int_equal(relation_to(relation_of(7, 9, 20)), 9);
    assert_int_equal(relation_agreeing(relation_of(7, 9, 20)), 20);
}

/* The first maximal independent set, by its definition: each node in turn is in it when none of
 * those in it is near. Those with nothing near are left out. */
static void first_independent_set(uint32_t *ret_centres)
{
    bool is_in[N] = {0};
    for (uint32_t u = 0; u < graph.n; u++) {
        uint32_t first = CENTRES_NONE;
        for (uint32_t v = u; v-- > 0;)
            first = is_in[v] && graph.is_near[u][v] ? v : first;
        is_in[u] = first == CENTRES_NONE && graph.n_near[u] > 0;
        ret_centres[u] = is_in[u] ? u : first;
    }
    for (uint32_t u = 0; u < graph.n; u++) /* a member is of the first centre near to it */
        for (uint32_t v = graph.n; v-- > 0;)
            if (!is_in[u] && is_in[v] && graph.is_near[u][v])
                ret_centres[u] = v;
}

/* F19: by a scan and on the fly CENTER is the first maximal independent set, bit for bit. */
static void test_centres__are_the_first_maximal_independent_set(void **state)
{
    uint64_t random = 2;
    for (unsigned trial = 0; trial < 60; trial++) {
        uint32_t n = 1 + (uint32_t)(mix64_next(&random) % N);
        uint32_t expected[N], by_scan[N], on_the_fly[N];
        _cleanup_(relations_done) struct relations relations = {0};
        random_graph(n, mix64_next(&random) % (1 + n * (uint64_t)(trial % 8)), &random);
        sort_graph(*state, &relations);
        first_independent_set(expected);
        assert_int_equal(centres_scan(&relations, 0, NULL, n, by_scan), 0);
        assert_int_equal(centres_on_the_fly(n, ask_graph, NULL, on_the_fly), 0);
        assert_memory_equal(by_scan, expected, n * sizeof(*expected));
        assert_memory_equal(on_the_fly, expected, n * sizeof(*expected));
    }
}

/* F21: clusters of clusters, at a lower threshold, are those of the graph of centres. */
static void test_centres__of_centres_are_those_of_their_graph(void **state)
{
    uint64_t random = 3;
    for (unsigned trial = 0; trial < 20; trial++) {
        uint32_t fine[N], coarse[N], expected[N], n_coarse = 0, n_fine = 0;
        _cleanup_(relations_done) struct relations relations = {0};
        random_graph(N, 200 + 100 * trial, &random);
        sort_graph(*state, &relations);
        assert_int_equal(centres_scan(&relations, 20, NULL, N, fine), 0);
        assert_int_equal(centres_scan(&relations, 0, fine, N, coarse), 0);
        struct graph *centres = malloc(sizeof(*centres));
        assert_non_null(centres);
        *centres = graph;
        memset(&graph, 0, sizeof(graph));
        graph.n = N;
        for (uint32_t u = 0; u < N; u++)
            for (uint32_t i = 0; i < centres->n_near[u]; i++)
                if (fine[u] == u && fine[centres->near[u][i]] == centres->near[u][i])
                    make_near(u, centres->near[u][i]);
        first_independent_set(expected);
        assert_memory_equal(coarse, expected, sizeof(expected));
        for (uint32_t u = 0; u < N; u++) {
            n_coarse += coarse[u] == u;
            n_fine += fine[u] == u;
        }
        assert_true(n_coarse < n_fine);
        free(centres);
    }
}

/* -- k centres -- */

enum { POINTS = 12 };

static double distances[POINTS][POINTS];

/* The points that are r apart or less are near. */
static void graph_of_radius(double r)
{
    memset(&graph, 0, sizeof(graph));
    graph.n = POINTS;
    for (uint32_t u = 0; u < POINTS; u++)
        for (uint32_t v = 0; v < u; v++)
            if (distances[u][v] <= r)
                make_near(u, v);
}

static double least_radius(unsigned k)
{
    double least = INFINITY;
    for (uint32_t set = 1; set < 1u << POINTS; set++) {
        double radius = 0;
        if ((unsigned)__builtin_popcount(set) > k)
            continue;
        for (uint32_t u = 0; u < POINTS; u++) {
            double nearest = INFINITY;
            for (uint32_t v = 0; v < POINTS; v++)
                nearest = set >> v & 1 ? fmin(nearest, distances[u][v]) : nearest;
            radius = fmax(radius, nearest);
        }
        least = fmin(least, radius);
    }
    return least;
}

/* F20: the least r for which C-LINK makes at most k clusters is no more than the least radius of k
 * balls, and the clusters have a radius of at most 2 r; centres are more than two steps apart. */
static void test_centres__in_two_steps_are_twice_the_best_at_most(void **state)
{
    uint64_t random = 4;
    (void)state;
    for (unsigned trial = 0; trial < 40; trial++) {
        double x[POINTS], y[POINTS];
        unsigned k = 1 + trial % 5;
        for (unsigned i = 0; i < POINTS; i++) {
            x[i] = (double)(mix64_next(&random) % 1000);
            y[i] = (double)(mix64_next(&random) % 1000);
        }
        for (unsigned i = 0; i < POINTS; i++)
            for (unsigned j = 0; j < POINTS; j++)
                distances[i][j] = hypot(x[i] - x[j], y[i] - y[j]);
        double r = INFINITY, best = least_radius(k);
        for (unsigned i = 0; i < POINTS * POINTS; i++) {
            uint32_t centres[POINTS], n_centres = 0;
            double at = distances[i / POINTS][i % POINTS];
            graph_of_radius(at);
            assert_int_equal(centres_two_steps(POINTS, ask_graph, NULL, centres), 0);
            for (uint32_t u = 0; u < POINTS; u++) {
                n_centres += centres[u] == u;
                assert_true(centres[u] < POINTS && centres[centres[u]] == centres[u]);
                assert_true(distances[u][centres[u]] <= 2 * at);
                for (uint32_t v = 0; v < POINTS; v++)
                    for (uint32_t w = 0; u != v && centres[u] == u && centres[v] == v && w < POINTS;
                         w++)
                        assert_false(graph.is_near[u][w] && graph.is_near[w][v]);
            }
            if (n_centres <= k)
                r = fmin(r, at);
        }
        assert_true(r <= best);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_centres__relations_are_those_of_the_graph),
        cmocka_unit_test(test_centres__are_the_first_maximal_independent_set),
        cmocka_unit_test(test_centres__of_centres_are_those_of_their_graph),
        cmocka_unit_test(test_centres__in_two_steps_are_twice_the_best_at_most),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
