#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <time.h>

#include "engine/index/queue/writing_set.h"

static struct file_key key_of(unsigned n)
{
    struct file_key key = {.size_bytes = FILE_KEY_MIN_BYTES};
    memcpy(key.bytes, &n, sizeof(n));
    return key;
}

static void test_writing_set__counts_openings_of_each_file(void **state)
{
    (void)state;
    struct writing_set *set = writing_set_new();
    struct file_key a = key_of(1), b = key_of(2);
    writing_set_change(set, &a, +1);
    writing_set_change(set, &a, +1);
    assert_true(writing_set_has(set, &a));
    assert_false(writing_set_has(set, &b));
    writing_set_change(set, &a, -1);
    assert_true(writing_set_has(set, &a));
    writing_set_change(set, &a, -1);
    assert_false(writing_set_has(set, &a));
    writing_set_change(set, &a, -1); /* one too many does no harm */
    writing_set_change(set, &a, +1);
    assert_true(writing_set_has(set, &a));
    writing_set_free(set);
}

static void test_writing_set__keeps_many_apart(void **state)
{
    (void)state;
    enum { N = 5000 };
    struct writing_set *set = writing_set_new();
    for (unsigned i = 0; i < N; i++) {
        struct file_key key = key_of(i);
        writing_set_change(set, &key, +1);
    }
    for (unsigned i = 0; i < N; i += 2) {
        struct file_key key = key_of(i);
        writing_set_change(set, &key, -1);
    }
    for (unsigned i = 0; i < N; i++) {
        struct file_key key = key_of(i);
        assert_int_equal(writing_set_has(set, &key), i % 2);
    }
    writing_set_free(set);
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t ns_to_find(struct writing_set *set, unsigned n_files)
{
    enum { N_TIMES = 20000 };
    const int64_t before = cpu_ns();
    for (unsigned i = 0; i < N_TIMES; i++) {
        struct file_key key = key_of(i * 7919u % n_files);
        assert_true(writing_set_has(set, &key));
    }
    return cpu_ns() - before;
}

/* Some misses of the processor's caches more, and not a walk through hundreds of others. */
static void test_writing_set__a_file_is_found_as_fast_among_many(void **state)
{
    (void)state;
    enum { FEW = 256, MANY = 300000, SLOWER = 40 };
    struct writing_set *set = writing_set_new();
    int64_t among_few_ns = 0;
    for (unsigned i = 0; i < MANY; i++) {
        struct file_key key = key_of(i);
        if (i == FEW)
            among_few_ns = ns_to_find(set, FEW);
        writing_set_change(set, &key, +1);
    }
    assert_true(ns_to_find(set, MANY) < SLOWER * among_few_ns);
    writing_set_free(set);
}

static void test_writing_set__tells_of_what_is_owed_at_the_last_end(void **state)
{
    (void)state;
    struct writing_set *set = writing_set_new();
    struct file_key a = key_of(1), b = key_of(2);
    writing_set_owe(set, &a); /* not open: not remembered */
    assert_false(writing_set_change(set, &a, +1));
    assert_false(writing_set_change(set, &b, +1));
    assert_false(writing_set_change(set, &a, -1));
    assert_false(writing_set_change(set, &a, +2));
    writing_set_owe(set, &a);
    assert_false(writing_set_change(set, &a, -1));
    assert_false(writing_set_change(set, &b, -1));
    assert_true(writing_set_change(set, &a, -1));
    assert_false(writing_set_change(set, &a, +1)); /* once */
    assert_false(writing_set_change(set, &a, -1));
    writing_set_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writing_set__counts_openings_of_each_file),
        cmocka_unit_test(test_writing_set__keeps_many_apart),
        cmocka_unit_test(test_writing_set__a_file_is_found_as_fast_among_many),
        cmocka_unit_test(test_writing_set__tells_of_what_is_owed_at_the_last_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
