/* Marks of what is to be clustered anew: many at once, in any order, and in the store. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mix.h"
#include "engine/index/clusters/dirty.h"
#include "engine/index/tables/schema.h"
#include "tests/lib/stores/kv_memory.h"

static const struct kv_options options = {
    .tables = schema_tables, .n_tables = SCHEMA_N_TABLES, .create = true};

struct fixture {
    struct kv *kv;
    struct dirty *dirty;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    *state = f;
    return kv_memory_open(&options, &f->kv) < 0 ? -1 : dirty_new(f->kv, &f->dirty);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    dirty_free(f->dirty);
    kv_close(f->kv);
    free(f);
    return 0;
}

/* The marks are as the store has them. */
static void assert_marked(struct fixture *f, const uint64_t *ids, size_t n)
{
    struct dirty *read;
    assert_int_equal(dirty_new(f->kv, &read), 0);
    assert_int_equal(dirty_read(read), 0);
    struct dirty *const both[] = {f->dirty, read};
    for (unsigned i = 0; i < 2; i++) {
        _cleanup_(number_vector_done) struct number_vector found = {0};
        assert_int_equal(dirty_clusters(both[i], &found), 0);
        assert_int_equal(found.n_numbers, n);
        if (n)
            assert_memory_equal(found.numbers, ids, n * sizeof(*ids));
        assert_int_equal(dirty_count(both[i]), n);
    }
    dirty_free(read);
}

static void test_dirty__marks_that_come_together_are_those_of_a_set(void **state)
{
    enum { MOST = 40, TIMES = 300, AT_ONCE = 8 };
    struct fixture *f = *state;
    uint64_t random = 1;
    bool marked[MOST + 1] = {false};
    for (unsigned time = 0; time < TIMES; time++) {
        uint64_t ids[AT_ONCE], expected[MOST];
        const size_t n = mix64_next(&random) % (AT_ONCE + 1);
        const bool comes = mix64_next(&random) % 2;
        const uint64_t last = dirty_last_mark(f->dirty);
        size_t n_expected = 0;
        for (size_t i = 0; i < n; i++) {
            ids[i] = 1 + mix64_next(&random) % MOST;
            marked[ids[i]] = comes;
        }
        assert_int_equal(
            comes ? dirty_mark(f->dirty, ids, n) : dirty_clear(f->dirty, ids, n, UINT64_MAX), 0);
        for (size_t i = 0; comes && i < n; i++)
            assert_true(dirty_has_since(f->dirty, ids[i], last));
        for (uint64_t id = 1; id <= MOST; id++)
            if (marked[id])
                expected[n_expected++] = id;
        assert_marked(f, expected, n_expected);
    }
}

/* One who marked them again while they were clustered has them stay. */
static void test_dirty__what_was_marked_since_stays(void **state)
{
    struct fixture *f = *state;
    const uint64_t ids[] = {3, 1, 2}, sorted[] = {1, 2, 3};
    assert_int_equal(dirty_mark(f->dirty, ids, 3), 0);
    const uint64_t up_to = dirty_last_mark(f->dirty);
    assert_int_equal(dirty_mark(f->dirty, ids, 1), 0);
    assert_int_equal(dirty_clear(f->dirty, sorted, 3, up_to), 0);
    assert_marked(f, &ids[0], 1);
}

/* A list that very many clusters meet in has all of them dirty at once: as many as one has written,
 * in any order, and more than a batch has room for. */
static void test_dirty__as_many_as_there_are_come_and_go_at_once(void **state)
{
    enum { N = 700000 };
    struct fixture *f = *state;
    uint64_t *ids = calloc(N, sizeof(*ids)), *sorted = calloc(N, sizeof(*sorted));
    assert_true(ids && sorted);
    for (size_t i = 0; i < N; i++) {
        ids[i] = N - i;
        sorted[i] = i + 1;
    }
    assert_int_equal(dirty_mark(f->dirty, ids, N), 0);
    assert_marked(f, sorted, N);
    assert_int_equal(dirty_clear(f->dirty, ids, N, UINT64_MAX), 0);
    assert_marked(f, NULL, 0);
    free(ids);
    free(sorted);
}

int main(void)
{
#define IN_A_STORE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        IN_A_STORE(test_dirty__marks_that_come_together_are_those_of_a_set),
        IN_A_STORE(test_dirty__what_was_marked_since_stays),
        IN_A_STORE(test_dirty__as_many_as_there_are_come_and_go_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
