#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/mix.h"
#include "engine/index/postings/filter_cache.h"

enum { N_VALUES = 40, N_SIDS = 5000, MAX_FILTERS = 1024 };

/* Of each sid another one. */
static struct min_sketch sketch_of(uint64_t sid, uint64_t values[N_VALUES])
{
    for (unsigned i = 0; i < N_VALUES; i++)
        values[i] = (uint64_t)i << 32 | (uint32_t)mix64(sid * N_VALUES + i);
    return (struct min_sketch){.values = values, .n_values = N_VALUES, .s = 128};
}

/* Whether it is there; if so, as one that is made anew. */
static bool check_one(const struct filter_cache *cache, uint64_t sid)
{
    uint64_t values[N_VALUES];
    struct min_sketch sketch = sketch_of(sid, values);
    struct overlap_filter made;
    const struct overlap_filter *found = filter_cache_find(cache, sid);
    overlap_filter_make(&sketch, &made);
    if (found)
        assert_memory_equal(found->bits, made.bits, sizeof(made.bits));
    return found != NULL;
}

static void test_filter_cache__what_is_found_is_of_the_sid_that_was_asked_for(void **state)
{
    (void)state;
    struct filter_cache *cache;
    uint64_t values[N_VALUES], n_found = 0;
    assert_int_equal(filter_cache_new(MAX_FILTERS, &cache), 0);
    assert_false(check_one(cache, 1));
    for (uint64_t sid = 1; sid <= N_SIDS; sid++) {
        struct min_sketch sketch = sketch_of(sid, values);
        filter_cache_put(cache, sid, &sketch);
        assert_true(check_one(cache, sid));
        assert_false(check_one(cache, sid + 1));
        if (sid == MAX_FILTERS) /* however it grew meanwhile */
            for (uint64_t k = 1; k <= sid; k++)
                assert_true(check_one(cache, k));
    }
    for (uint64_t sid = 1; sid <= N_SIDS; sid++)
        n_found += check_one(cache, sid);
    assert_int_equal(n_found, MAX_FILTERS); /* the last ones */
    for (uint64_t sid = N_SIDS - MAX_FILTERS + 1; sid <= N_SIDS; sid++)
        assert_true(check_one(cache, sid));
    filter_cache_drop(cache, N_SIDS - 1);
    filter_cache_drop(cache, N_SIDS + 1); /* not there; its place is another's */
    for (uint64_t sid = N_SIDS - MAX_FILTERS + 1; sid <= N_SIDS; sid++)
        assert_int_equal(check_one(cache, sid), sid != N_SIDS - 1);
    filter_cache_free(cache);
    filter_cache_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter_cache__what_is_found_is_of_the_sid_that_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
