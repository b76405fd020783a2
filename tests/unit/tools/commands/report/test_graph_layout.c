/* Places of documents in a picture. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/mix.h"
#include "tools/commands/report/graph_layout.h"
#include "tools/commands/report/seriation.h"

enum { MOST = 40 };

static void lay_out(const double *resemblances, size_t n, struct graph_place *places)
{
    uint32_t order[MOST];
    assert_int_equal(seriation_find(resemblances, n, order), 0);
    assert_int_equal(graph_layout(resemblances, order, n, places), 0);
}

static double apart(const struct graph_place *places, size_t i, size_t j)
{
    return hypot(places[i].x - places[j].x, places[i].y - places[j].y);
}

static void draw(double *resemblances, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            resemblances[i * n + j] = resemblances[j * n + i] =
                i == j ? 1 : (double)(mix64(seed++) % 1001) / 1000;
}

/* The picture is as large as it can be, in its middle. */
static void test_graph_layout__fills_the_picture(void **state)
{
    double resemblances[MOST * MOST];
    struct graph_place places[MOST];
    (void)state;
    for (size_t n = 2; n <= MOST; n += 19) {
        double low[2] = {1, 1}, high[2] = {0, 0};
        draw(resemblances, n, n);
        lay_out(resemblances, n, places);
        for (size_t i = 0; i < n; i++)
            for (unsigned k = 0; k < 2; k++) {
                const double at = k ? places[i].y : places[i].x;
                assert_true(at > -1e-9 && at < 1 + 1e-9);
                low[k] = fmin(low[k], at);
                high[k] = fmax(high[k], at);
            }
        assert_true(fabs(fmax(high[0] - low[0], high[1] - low[1]) - 1) < 1e-9);
        for (unsigned k = 0; k < 2; k++)
            assert_true(fabs(low[k] + high[k] - 1) < 1e-9);
    }
}

/* Three of equal resemblance are a triangle of equal sides. */
static void test_graph_layout__is_what_the_resemblances_say(void **state)
{
    const double three[9] = {1, 0.5, 0.5, 0.5, 1, 0.5, 0.5, 0.5, 1};
    struct graph_place places[3];
    (void)state;
    lay_out(three, 3, places);
    assert_true(fabs(apart(places, 0, 1) - apart(places, 1, 2)) < 0.001);
    assert_true(fabs(apart(places, 0, 2) - apart(places, 1, 2)) < 0.001);
}

/* Two groups: within one all are nearer than to any of the other; equal ones do not coincide. */
static void test_graph_layout__keeps_groups_apart(void **state)
{
    enum { N = 12 };
    double resemblances[N * N];
    struct graph_place places[N];
    double within = 0, between = 9;
    (void)state;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            resemblances[i * N + j] = i % 2 == j % 2 ? 1 : 0.1;
    lay_out(resemblances, N, places);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i; j++) {
            assert_true(apart(places, i, j) > 0.005);
            if (i % 2 == j % 2)
                within = fmax(within, apart(places, i, j));
            else
                between = fmin(between, apart(places, i, j));
        }
    assert_true(within < between);
}

static void test_graph_layout__is_the_same_each_time(void **state)
{
    double resemblances[MOST * MOST];
    struct graph_place first[MOST], second[MOST];
    (void)state;
    draw(resemblances, MOST, 5);
    resemblances[3] = resemblances[3 * MOST] = NAN;
    lay_out(resemblances, MOST, first);
    lay_out(resemblances, MOST, second);
    assert_memory_equal(first, second, sizeof(first));
    for (size_t i = 0; i < MOST; i++)
        assert_true(isfinite(first[i].x) && isfinite(first[i].y));
}

static void test_graph_layout__has_one_alone_in_the_middle(void **state)
{
    const double one = 1;
    struct graph_place place;
    (void)state;
    lay_out(&one, 1, &place);
    assert_true(place.x == 0.5 && place.y == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graph_layout__fills_the_picture),
        cmocka_unit_test(test_graph_layout__is_what_the_resemblances_say),
        cmocka_unit_test(test_graph_layout__keeps_groups_apart),
        cmocka_unit_test(test_graph_layout__is_the_same_each_time),
        cmocka_unit_test(test_graph_layout__has_one_alone_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
