/* How a cluster hangs together (C8), beside the slow routes: all pairs, Floyd and Warshall, and
 * taking links away one by one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cluster/cohesion.h"

enum { N_MAX = 70 };

struct cluster {
    size_t n;
    uint32_t weights[N_MAX];
    double r[N_MAX][N_MAX];
    unsigned n_asked[N_MAX][N_MAX];
};

static int pair_of(void *user, uint32_t a, uint32_t b, double *ret_resemblance)
{
    struct cluster *c = user;
    assert_true(a < c->n && b < c->n && a != b);
    c->n_asked[a][b]++;
    c->n_asked[b][a]++;
    *ret_resemblance = c->r[a][b];
    return 0;
}

static uint64_t random_state = 20261122;
static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % n);
}

/* All resemblances are different, so that the spanning tree is one. */
static void draw(struct cluster *c, size_t n)
{
    uint32_t order[N_MAX * N_MAX], n_pairs = (uint32_t)(n * (n - 1) / 2), at = 0;
    memset(c, 0, sizeof(*c));
    c->n = n;
    for (uint32_t i = 0; i < n_pairs; i++) {
        uint32_t j = random_below(i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (size_t a = 0; a < n; a++) {
        c->weights[a] = 1 + random_below(3);
        for (size_t b = 0; b < a; b++)
            c->r[a][b] = c->r[b][a] = (order[at++] + 1.0) / (n_pairs + 1.0);
    }
}

/* Members that are reached from a node by links of at least t, that between u and v left out. */
static uint64_t reached_from(const struct cluster *c, size_t from, double t, size_t u, size_t v,
                             bool reached[N_MAX])
{
    size_t stack[N_MAX], n_stack = 0;
    uint64_t n_members = 0;
    memset(reached, 0, N_MAX * sizeof(*reached));
    stack[n_stack++] = from;
    reached[from] = true;
    while (n_stack) {
        size_t node = stack[--n_stack];
        n_members += c->weights[node];
        for (size_t i = 0; i < c->n; i++) {
            bool left_out = (node == u && i == v) || (node == v && i == u);
            if (i != node && !reached[i] && !left_out && c->r[node][i] >= t) {
                reached[i] = true;
                stack[n_stack++] = i;
            }
        }
    }
    return n_members;
}

static void expect_pairs(const struct cluster *c, double t, const struct cohesion *out)
{
    double n = 0, sum = 0, linked = 0, min = 1;
    for (size_t a = 0; a < c->n; a++) {
        for (uint32_t i = 0; i < c->weights[a]; i++) {
            for (size_t b = 0; b <= a; b++) {
                for (uint32_t j = 0; j < (a == b ? i : c->weights[b]); j++) {
                    double r = a == b ? 1 : c->r[a][b];
                    n += 1;
                    sum += r;
                    linked += r >= t;
                    min = fmin(min, r);
                }
            }
        }
    }
    assert_true(out->n_pairs == (uint64_t)n);
    assert_true(out->min == min);
    assert_true(fabs(out->mean - (n > 0 ? sum / n : 1)) < 1e-9);
    assert_true(fabs(out->linked - (n > 0 ? linked / n : 1)) < 1e-9);
    for (size_t a = 0; a < c->n; a++)
        for (size_t b = 0; b < a; b++)
            assert_int_equal(c->n_asked[a][b], 1);
}

static void expect_ways(const struct cluster *c, double t, const struct cohesion *out)
{
    static uint32_t way[N_MAX][N_MAX];
    uint32_t diameter = 0, n_parts = 0;
    for (size_t a = 0; a < c->n; a++)
        for (size_t b = 0; b < c->n; b++)
            way[a][b] = a == b ? 0 : c->r[a][b] >= t ? 1 : 1000;
    for (size_t k = 0; k < c->n; k++)
        for (size_t a = 0; a < c->n; a++)
            for (size_t b = 0; b < c->n; b++)
                if (way[a][k] + way[k][b] < way[a][b])
                    way[a][b] = way[a][k] + way[k][b];
    for (size_t a = 0; a < c->n; a++) {
        bool first = true;
        for (size_t b = 0; b < c->n; b++) {
            if (way[a][b] < 1000 && way[a][b] > diameter)
                diameter = way[a][b];
            first &= !(b < a && way[a][b] < 1000);
        }
        n_parts += first;
    }
    assert_int_equal(out->diameter, diameter);
    assert_int_equal(out->n_parts, n_parts);
}

/* A link of the maximum spanning tree is one without which, and with none that is weaker, its ends
 * would not be connected. */
static void expect_links(const struct cluster *c, double t, const struct cohesion *out)
{
    bool reached[N_MAX];
    size_t n_links = 0;
    for (size_t a = 0; a < c->n; a++) {
        for (size_t b = 0; b < a; b++) {
            if (c->r[a][b] < t)
                continue;
            reached_from(c, a, c->r[a][b], a, b, reached);
            n_links += !reached[b];
        }
    }
    assert_int_equal(out->n_links, n_links < COHESION_LINKS ? n_links : COHESION_LINKS);
    for (size_t i = 0; i < out->n_links; i++) {
        const struct cohesion_link *link = &out->links[i];
        assert_true(link->resemblance == c->r[link->a][link->b] && link->resemblance >= t);
        assert_true(i == 0 || link->resemblance > out->links[i - 1].resemblance);
        reached_from(c, link->a, link->resemblance, link->a, link->b, reached);
        assert_false(reached[link->b]);
    }
    if (n_links == 0)
        return;
    /* The weakest one: what is beyond it is what the cluster would lose. */
    const struct cohesion_link *weakest = &out->links[0];
    assert_true(weakest->n_beyond == reached_from(c, weakest->b, nextafter(weakest->resemblance, 2),
                                                  c->n, c->n, reached));
}

static void test_cohesion__is_that_of_the_slow_routes(void **state)
{
    static struct cluster c;
    static const size_t sizes[] = {1, 2, 3, 5, 17, 63, 64, 65, N_MAX};
    (void)state;
    for (size_t i = 0; i < 9 * 8; i++) {
        struct cohesion out;
        double t = (double)random_below(1000) / 1000;
        draw(&c, sizes[i % 9]);
        assert_int_equal(cohesion_measure(c.n, c.weights, t, pair_of, &c, &out), 0);
        expect_pairs(&c, t, &out);
        expect_ways(&c, t, &out);
        expect_links(&c, t, &out);
    }
}

/* A chain: each of 50 versions resembles the next. */
static void test_cohesion__shows_a_chain(void **state)
{
    static struct cluster c;
    struct cohesion out;
    (void)state;
    memset(&c, 0, sizeof(c));
    c.n = 50;
    for (size_t a = 0; a < c.n; a++) {
        c.weights[a] = 1;
        for (size_t b = 0; b < c.n; b++)
            c.r[a][b] = fmax(0, 1 - 0.3 * fabs((double)a - (double)b));
    }
    c.r[19][20] = c.r[20][19] = 0.5;
    assert_int_equal(cohesion_measure(c.n, c.weights, 0.5, pair_of, &c, &out), 0);
    assert_true(out.min == 0 && out.mean < 0.1 && out.linked < 0.05);
    assert_int_equal(out.n_parts, 1);
    assert_int_equal(out.diameter, 49);
    assert_true(out.links[0].resemblance == 0.5);
    assert_true(out.links[0].n_beyond == 20 || out.links[0].n_beyond == 30);
}

static int fail_pair(void *user, uint32_t a, uint32_t b, double *ret_resemblance)
{
    (void)user, (void)a, (void)b, (void)ret_resemblance;
    return -EIO;
}

static void test_cohesion__tells_what_fails(void **state)
{
    static const uint32_t weights[2] = {1, 1};
    struct cohesion out;
    (void)state;
    assert_int_equal(cohesion_measure(2, weights, 0.5, fail_pair, NULL, &out), -EIO);
    assert_int_equal(cohesion_measure(0, weights, 0.5, fail_pair, NULL, &out), -EINVAL);
    assert_int_equal(cohesion_measure(COHESION_NODES_MAX + 1, weights, 0.5, fail_pair, NULL, &out),
                     -EINVAL);
    assert_int_equal(cohesion_measure(1, weights, 0.5, fail_pair, NULL, &out), 0);
    assert_true(out.n_pairs == 0 && out.mean == 1 && out.min == 1 && out.diameter == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cohesion__is_that_of_the_slow_routes),
        cmocka_unit_test(test_cohesion__shows_a_chain),
        cmocka_unit_test(test_cohesion__tells_what_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
