#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/index/tables/number_cache.h"

enum { PLACES = 4, MOST = 64 };

static void set(struct number_cache *cache, uint64_t id)
{
    number_cache_set(cache, id, 1000 + id);
}

/* How many of the ids from 1 to n are there, each with what goes with it. */
static unsigned count(const struct number_cache *cache, uint64_t n)
{
    unsigned n_found = 0;
    for (uint64_t id = 1; id <= n; id++) {
        uint64_t number = 0;
        if (number_cache_get(cache, id, &number)) {
            assert_int_equal(number, 1000 + id);
            n_found++;
        }
    }
    return n_found;
}

static void test_id_cache__grows_by_need_and_then_forgets(void **state)
{
    struct number_cache cache;
    (void)state;

    assert_int_equal(number_cache_init(&cache, PLACES, MOST), 0);
    assert_int_equal(count(&cache, MOST), 0);
    for (uint64_t id = 1; id <= MOST; id++)
        set(&cache, id);
    assert_in_range(cache.ids.n_places, 2 * PLACES, MOST);
    assert_in_range(count(&cache, MOST), MOST / 2, MOST);
    for (uint64_t id = 1; id <= 10 * MOST; id++)
        set(&cache, id);
    assert_int_equal(cache.ids.n_places, MOST);
    assert_int_equal(count(&cache, 9 * MOST), 0);
    assert_int_equal(count(&cache, 10 * MOST), MOST);
    number_cache_done(&cache);
}

/* What is put again and again needs no more room. */
static void test_id_cache__has_one_place_for_an_id(void **state)
{
    struct number_cache cache;
    uint64_t number;
    (void)state;

    assert_int_equal(number_cache_init(&cache, PLACES, MOST), 0);
    for (unsigned i = 0; i < 10 * MOST; i++) {
        number_cache_set(&cache, 5, i);
        assert_true(number_cache_get(&cache, 5, &number));
        assert_int_equal(number, i);
    }
    assert_int_equal(cache.ids.n_places, PLACES);
    number_cache_set(&cache, 5 + PLACES, 1); /* has its place */
    assert_false(number_cache_get(&cache, 5, &number));
    number_cache_drop(&cache, 5); /* is not there */
    assert_true(number_cache_get(&cache, 5 + PLACES, &number));
    number_cache_drop(&cache, 5 + PLACES);
    assert_false(number_cache_get(&cache, 5 + PLACES, &number));
    number_cache_done(&cache);
}

static void test_id_cache__cleared_has_nothing(void **state)
{
    struct number_cache cache;
    (void)state;

    assert_int_equal(number_cache_init(&cache, PLACES, MOST), 0);
    for (uint64_t id = 1; id <= MOST; id++)
        set(&cache, id);
    number_cache_clear(&cache);
    assert_int_equal(count(&cache, MOST), 0);
    set(&cache, 7);
    assert_int_equal(count(&cache, MOST), 1);
    number_cache_done(&cache);
}

/* Values of several words, which grow together with their places. */
static void test_id_cache__keeps_whole_values(void **state)
{
    enum { WORDS = 3 };
    struct id_cache cache;
    (void)state;

    assert_int_equal(id_cache_init(&cache, WORDS, PLACES, MOST), 0);
    for (uint64_t id = 1; id <= 2 * MOST; id++) {
        uint64_t *value = id_cache_put(&cache, id);
        for (unsigned i = 0; i < WORDS; i++)
            value[i] = id << i;
        for (uint64_t k = 1; k <= id; k++) {
            const uint64_t *found = id_cache_find(&cache, k);
            for (unsigned i = 0; found && i < WORDS; i++)
                assert_int_equal(found[i], k << i);
        }
        assert_non_null(id_cache_find(&cache, id));
    }
    id_cache_done(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_id_cache__grows_by_need_and_then_forgets),
        cmocka_unit_test(test_id_cache__has_one_place_for_an_id),
        cmocka_unit_test(test_id_cache__cleared_has_nothing),
        cmocka_unit_test(test_id_cache__keeps_whole_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
