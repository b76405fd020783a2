/* Posting lists in memory, beside a table that is kept the plain way. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "engine/index/postings/list_cache.h"

enum { N_LISTS = 40, N_SIDS = 3000 };

/* Whether a document is in a list. */
struct table {
    bool has[N_LISTS][N_SIDS];
};

static uint64_t fingerprint_of(unsigned list)
{
    return mix64(list + 1);
}

static size_t read_list(const struct table *table, unsigned list, uint64_t *sids)
{
    size_t n = 0;
    for (uint64_t sid = 1; sid < N_SIDS; sid++)
        if (table->has[list][sid])
            sids[n++] = sid;
    return n;
}

/* As postings_list() does. Returns whether it was there. */
static bool ask(struct list_cache *cache, const struct table *table, unsigned list,
                struct posting_list *ret_list, uint64_t *sids)
{
    if (list_cache_find(cache, fingerprint_of(list), ret_list))
        return true;
    const size_t n = read_list(table, list, sids);
    const bool whole = n <= LIST_CACHE_MOST;
    *ret_list = (struct posting_list){sids, whole ? n : LIST_CACHE_MOST, whole};
    const struct posting_list read = *ret_list;
    list_cache_put(cache, fingerprint_of(list), &read, ret_list);
    return false;
}

static void assert_is(const struct table *table, unsigned list, const struct posting_list *got)
{
    uint64_t sids[N_SIDS];
    const size_t n = read_list(table, list, sids);
    assert_true(got->n <= n && (!got->whole || got->n == n));
    assert_true(got->whole || got->n >= LIST_CACHE_LEAST);
    assert_memory_equal(got->sids, sids, got->n * sizeof(*sids));
}

/* Lists grow and shrink across all that is done in another way, in memory for some of them. */
static void run(size_t max_bytes, unsigned n_steps, unsigned *ret_n_there)
{
    struct table *table = calloc(1, sizeof(*table));
    uint64_t random = max_bytes, sids[N_SIDS];
    struct list_cache *cache;
    assert_non_null(table);
    assert_int_equal(list_cache_new(max_bytes, &cache), 0);
    for (unsigned step = 0; step < n_steps; step++) {
        const unsigned list = (unsigned)(mix64_next(&random) % N_LISTS);
        const unsigned kind = (unsigned)(mix64_next(&random) % 16);
        struct posting_list got;
        if (kind == 0) { /* many at once: a list becomes long, or short again */
            const bool adds = mix64_next(&random) % 2;
            for (unsigned n = 0; n < N_SIDS; n++) {
                const uint64_t sid = 1 + mix64_next(&random) % (N_SIDS - 1);
                table->has[list][sid] = adds;
                if (adds)
                    list_cache_add(cache, fingerprint_of(list), sid);
                else
                    list_cache_remove(cache, fingerprint_of(list), sid);
            }
        } else if (kind < 6) {
            const uint64_t sid = 1 + mix64_next(&random) % (N_SIDS - 1);
            table->has[list][sid] = kind < 4;
            if (kind < 4)
                list_cache_add(cache, fingerprint_of(list), sid);
            else
                list_cache_remove(cache, fingerprint_of(list), sid);
        } else {
            *ret_n_there += ask(cache, table, list, &got, sids);
            assert_is(table, list, &got);
        }
        if (step % 1000 == 999)
            list_cache_clear(cache);
    }
    list_cache_free(cache);
    free(table);
}

static void test_list_cache__says_what_the_table_says(void **state)
{
    unsigned n_there = 0;
    (void)state;
    run(16 << 20, 20000, &n_there);
    assert_true(n_there > 8000);
}

static void test_list_cache__gives_up_lists_where_there_is_no_room(void **state)
{
    unsigned n_there = 0;
    (void)state;
    run(0, 5000, &n_there);
    assert_true(n_there < 4000);
}

/* More lists than there are places at first. */
static void test_list_cache__grows_with_the_lists(void **state)
{
    enum { N = 100000 };
    struct list_cache *cache;
    struct posting_list got;
    unsigned n_there = 0;
    (void)state;
    assert_int_equal(list_cache_new(64 << 20, &cache), 0);
    for (uint64_t i = 1; i <= N; i++) {
        const uint64_t sids[] = {i, i + 1, i + 2};
        const struct posting_list list = {sids, 1 + i % 3, true};
        assert_true(list_cache_put(cache, mix64(i), &list, &got));
    }
    for (uint64_t i = 1; i <= N; i++)
        if (list_cache_find(cache, mix64(i), &got)) {
            n_there++;
            assert_int_equal(got.n, 1 + i % 3);
            assert_int_equal(got.sids[0], i);
        }
    assert_true(n_there > N * 9 / 10);
    assert_false(list_cache_find(cache, mix64(N + 1), &got));
    list_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_cache__says_what_the_table_says),
        cmocka_unit_test(test_list_cache__gives_up_lists_where_there_is_no_room),
        cmocka_unit_test(test_list_cache__grows_with_the_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
