#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tools/documents/common_runs.h"

enum { WORDS_MAX = 400 };

static size_t alike(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b)
{
    size_t n = 0;
    while (n < n_a && n < n_b && a[n] == b[n])
        n++;
    return n;
}

/* Words in k in a row that stand in the other: each word is asked about by itself. */
static size_t count_shared(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, size_t k)
{
    size_t n_shared = 0;
    for (size_t word = 0; word < n_a; word++) {
        bool is_shared = false;
        for (size_t i = word + 1 < k ? 0 : word + 1 - k; i <= word && i + k <= n_a; i++)
            for (size_t j = 0; j + k <= n_b; j++)
                is_shared |= memcmp(a + i, b + j, k * sizeof(*a)) == 0;
        n_shared += is_shared;
    }
    return n_shared;
}

static struct common_runs brute(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                                size_t k)
{
    struct common_runs runs = {.runs = calloc(n_a + 1, sizeof(struct common_run))};
    for (size_t i = 0; i < n_a;) {
        struct common_run best = {.a = i};
        unsigned n_places = 0;
        for (size_t j = 0; j < n_b && n_places < COMMON_RUNS_PLACES; j++) {
            const size_t n = alike(a + i, n_a - i, b + j, n_b - j);
            n_places += n >= k;
            if (n >= k && n > best.n)
                best = (struct common_run){i, j, n};
        }
        if (best.n)
            runs.runs[runs.n_runs++] = best;
        i += best.n ? best.n : 1;
    }
    /* The longest first, by taking the longest that is left again and again. */
    for (size_t i = 0; i < runs.n_runs; i++) {
        size_t longest = i;
        for (size_t j = i; j < runs.n_runs; j++)
            if (runs.runs[j].n > runs.runs[longest].n)
                longest = j;
        const struct common_run run = runs.runs[longest];
        memmove(runs.runs + i + 1, runs.runs + i, (longest - i) * sizeof(run));
        runs.runs[i] = run;
    }
    runs.n_shared_a = count_shared(a, n_a, b, n_b, k);
    runs.n_shared_b = count_shared(b, n_b, a, n_a, k);
    return runs;
}

static size_t expect_brute(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, size_t k)
{
    struct common_runs expected = brute(a, n_a, b, n_b, k), found;
    assert_int_equal(common_runs_find(a, n_a, b, n_b, k, &found), 0);
    assert_int_equal(found.n_runs, expected.n_runs);
    for (size_t i = 0; i < found.n_runs; i++) {
        assert_int_equal(found.runs[i].a, expected.runs[i].a);
        assert_int_equal(found.runs[i].b, expected.runs[i].b);
        assert_int_equal(found.runs[i].n, expected.runs[i].n);
    }
    assert_int_equal(found.n_shared_a, expected.n_shared_a);
    assert_int_equal(found.n_shared_b, expected.n_shared_b);
    const size_t n = found.n_runs;
    common_runs_done(&expected);
    common_runs_done(&found);
    return n;
}

/* Words of a few, so that much is repeated, and pieces of one in the other. */
static void test_common_runs__are_those_of_comparing_all(void **state)
{
    (void)state;
    unsigned seed = 3;
    size_t n_runs = 0;
    uint64_t a[WORDS_MAX], b[WORDS_MAX];
    for (unsigned trial = 0; trial < 400; trial++) {
        const uint64_t n_words = 1 + (uint64_t)rand_r(&seed) % (trial % 2 ? 5 : 300);
        const size_t n_a = (size_t)rand_r(&seed) % WORDS_MAX,
                     n_b = (size_t)rand_r(&seed) % WORDS_MAX;
        for (size_t i = 0; i < n_a; i++)
            a[i] = ((uint64_t)rand_r(&seed) % n_words + 1) * 0x123456789abcdefu;
        for (size_t i = 0; i < n_b; i++)
            b[i] = ((uint64_t)rand_r(&seed) % n_words + 1) * 0x123456789abcdefu;
        for (unsigned piece = 0; piece < 5 && n_a && n_b; piece++) {
            const size_t from = (size_t)rand_r(&seed) % n_a, to = (size_t)rand_r(&seed) % n_b;
            size_t n = (size_t)rand_r(&seed) % 40;
            n = n < n_a - from ? n : n_a - from;
            n = n < n_b - to ? n : n_b - to;
            memcpy(b + to, a + from, n * sizeof(*a));
        }
        n_runs += expect_brute(a, n_a, b, n_b, 1 + trial % 9);
    }
    assert_true(n_runs > 2000);
}

static void test_common_runs__by_hand(void **state)
{
    (void)state;
    const uint64_t a[] = {1, 2, 3, 1, 2}, b[] = {2, 3, 1, 2, 4};
    struct common_runs runs;
    assert_int_equal(common_runs_find(a, 5, b, 5, 2, &runs), 0);
    assert_int_equal(runs.n_runs, 2);
    assert_int_equal(runs.runs[0].n, 3);
    assert_int_equal(runs.runs[0].a, 2);
    assert_int_equal(runs.runs[0].b, 1);
    assert_int_equal(runs.runs[1].n, 2);
    assert_int_equal(runs.n_shared_a, 5);
    assert_int_equal(runs.n_shared_b, 4);
    common_runs_done(&runs);
    assert_int_equal(common_runs_find(a, 5, b, 0, 2, &runs), 0);
    assert_int_equal(runs.n_runs, 0);
    common_runs_done(&runs);
    assert_int_equal(expect_brute(a, 5, a, 5, 5), 1);
    assert_int_equal(expect_brute(a, 5, a, 5, 6), 0);
}

/* A word that is repeated without end, in both: a run at each of the places would be the square. */
static void test_common_runs__repetitions_take_no_square(void **state)
{
    (void)state;
    enum { N = 2000000 };
    uint64_t *a = malloc(N * sizeof(*a));
    struct common_runs runs;
    for (size_t i = 0; i < N; i++)
        a[i] = 7;
    assert_int_equal(common_runs_find(a, N, a, N, 8, &runs), 0);
    assert_int_equal(runs.n_runs, 1);
    assert_int_equal(runs.runs[0].n, N);
    assert_int_equal(runs.n_shared_a, N);
    common_runs_done(&runs);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common_runs__by_hand),
        cmocka_unit_test(test_common_runs__are_those_of_comparing_all),
        cmocka_unit_test(test_common_runs__repetitions_take_no_square),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
