#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "engine/index/postings/fingerprint_filter.h"

enum { N = 1200000 };

/* Small numbers, as the smallest fingerprints of documents are. */
static uint64_t fingerprint(uint64_t i)
{
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    return (x ^ x >> 27) >> 8;
}

static unsigned count(const struct fingerprint_filter *filter, uint64_t first, unsigned n)
{
    unsigned n_has = 0;
    for (unsigned i = 0; i < n; i += 100) {
        uint64_t fingerprints[100];
        bool has[100];
        for (unsigned k = 0; k < 100; k++)
            fingerprints[k] = fingerprint(first + i + k);
        fingerprint_filter_ask(filter, fingerprints, 100, has);
        for (unsigned k = 0; k < 100; k++)
            n_has += has[k];
    }
    return n_has;
}

/* While it grows by parts. */
static void test_fingerprint_filter__has_all_that_was_added_and_little_else(void **state)
{
    struct fingerprint_filter *filter;
    (void)state;

    assert_int_equal(fingerprint_filter_new(&filter), 0);
    assert_int_equal(count(filter, 0, N), 0);
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(fingerprint_filter_add(filter, fingerprint(i)), 0);
        if (i % 50000 == 49999)
            assert_int_equal(count(filter, 0, i + 1), i + 1);
    }
    assert_in_range(count(filter, N, N), 1, N / 100);
    assert_in_range(fingerprint_filter_bytes(filter), (size_t)N * 16 / 8, (size_t)N * 32 / 8);
    fingerprint_filter_free(filter);
    fingerprint_filter_free(NULL);
}

static void test_fingerprint_filter__one_added_again_and_again_takes_no_room(void **state)
{
    struct fingerprint_filter *filter;
    (void)state;

    assert_int_equal(fingerprint_filter_new(&filter), 0);
    for (unsigned i = 0; i < 10 * N; i++)
        assert_int_equal(fingerprint_filter_add(filter, fingerprint(i % 1000)), 0);
    assert_in_range(fingerprint_filter_bytes(filter), 1, 64 << 10); /* each opening clears them */
    fingerprint_filter_free(filter);
}

struct race {
    struct fingerprint_filter *filter;
    atomic_uint n_added;
};

static void *add_all(void *user)
{
    struct race *race = user;
    for (unsigned i = 0; i < N; i++) {
        fingerprint_filter_add(race->filter, fingerprint(i));
        atomic_store(&race->n_added, i + 1);
    }
    return NULL;
}

static void test_fingerprint_filter__what_was_added_is_seen_by_others_at_once(void **state)
{
    struct race race = {0};
    pthread_t thread;
    (void)state;

    assert_int_equal(fingerprint_filter_new(&race.filter), 0);
    assert_int_equal(pthread_create(&thread, NULL, add_all, &race), 0);
    for (unsigned n = 0; n < N;) {
        n = atomic_load(&race.n_added);
        for (unsigned back = 1; back <= 1000 && back <= n; back *= 3) {
            uint64_t x = fingerprint(n - back);
            bool has;
            fingerprint_filter_ask(race.filter, &x, 1, &has);
            assert_true(has);
        }
    }
    pthread_join(thread, NULL);
    fingerprint_filter_free(race.filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fingerprint_filter__has_all_that_was_added_and_little_else),
        cmocka_unit_test(test_fingerprint_filter__one_added_again_and_again_takes_no_room),
        cmocka_unit_test(test_fingerprint_filter__what_was_added_is_seen_by_others_at_once),
    };
    return cmocka_run_group_tests_name("fingerprint_filter", tests, NULL, NULL);
}
