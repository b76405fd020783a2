#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/index/short_lists.h"

static void test_short_lists__vouch_for_the_cluster_they_were_learned_with(void **state)
{
    struct short_lists *lists;
    (void)state;

    assert_int_equal(short_lists_new(0, &lists), 0);
    assert_int_equal(short_lists_find(lists, 7), 0);
    assert_false(short_lists_vouches(lists, 7, 1));
    short_lists_learn(lists, 7, 41, 1);
    assert_int_equal(short_lists_find(lists, 7), 41);
    assert_true(short_lists_vouches(lists, 7, 1));
    assert_false(short_lists_vouches(lists, 7, 0));
    short_lists_learn(lists, 7, 42, 2);
    assert_int_equal(short_lists_find(lists, 7), 42);
    assert_true(short_lists_vouches(lists, 7, 2));
    short_lists_drop(lists, 7);
    assert_int_equal(short_lists_find(lists, 7), 0);
    short_lists_learn(lists, 7, UINT64_C(1) << 48, 1); /* more than it can hold */
    assert_int_equal(short_lists_find(lists, 7), 0);
    short_lists_learn(lists, 7, 43, 0); /* in no cluster */
    assert_int_equal(short_lists_find(lists, 7), 0);
    short_lists_free(lists);
    short_lists_free(NULL);
}

static void test_short_lists__of_a_cluster_that_was_split_are_void(void **state)
{
    struct short_lists *lists;
    (void)state;

    assert_int_equal(short_lists_new(0, &lists), 0);
    for (unsigned i = 0; i < 200; i++) { /* more splits than a note can count */
        short_lists_learn(lists, 7, 41, 1);
        short_lists_split(lists, 1);
        assert_false(short_lists_vouches(lists, 7, 1));
        for (unsigned k = 0; k < 70; k++) {
            short_lists_split(lists, 1);
            assert_false(short_lists_vouches(lists, 7, 1));
        }
    }
    short_lists_learn(lists, 7, 41, 1);
    assert_true(short_lists_vouches(lists, 7, 1));
    short_lists_forget(lists);
    assert_int_equal(short_lists_find(lists, 7), 0);
    short_lists_free(lists);
}

/* Against an array. What was dropped, split or never there is not found; of the rest what was
 * forgotten for want of room is not, and nothing else. */
static void run_model(size_t max_bytes, unsigned n_lists, unsigned *ret_n_found)
{
    enum { N_CLUSTERS = 50 };
    struct fact {
        uint64_t sid, cluster;
        unsigned learned, splits;
    } *facts = calloc(n_lists, sizeof(*facts));
    unsigned splits[N_CLUSTERS + 1] = {0};
    struct short_lists *lists;
    uint64_t random = 5;

    assert_non_null(facts);
    assert_int_equal(short_lists_new(max_bytes, &lists), 0);
    for (unsigned step = 0; step < 20 * n_lists; step++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        unsigned i = (unsigned)(random >> 33) % n_lists;
        uint64_t fingerprint = (uint64_t)i << 20;
        uint64_t cluster = 1 + (random >> 20) % N_CLUSTERS;
        switch (random >> 60) {
        case 0:
            short_lists_drop(lists, fingerprint);
            facts[i].sid = 0;
            break;
        case 1:
            if (step % 1000 == 0) {
                short_lists_split(lists, cluster);
                splits[cluster]++;
            }
            break;
        case 2:
        case 3:
        case 4:
        case 5:
            facts[i] = (struct fact){1 + step, cluster, step, splits[cluster]};
            short_lists_learn(lists, fingerprint, facts[i].sid, cluster);
            break;
        default: {
            uint64_t sid = short_lists_find(lists, fingerprint);
            assert_true(sid == 0 || sid == facts[i].sid);
            if (sid && facts[i].splits != splits[facts[i].cluster])
                assert_false(short_lists_vouches(lists, fingerprint, facts[i].cluster));
        }
        }
    }
    *ret_n_found = 0;
    for (unsigned i = 0; i < n_lists; i++)
        *ret_n_found += facts[i].sid &&
                        short_lists_find(lists, (uint64_t)i << 20) == facts[i].sid &&
                        short_lists_vouches(lists, (uint64_t)i << 20, facts[i].cluster);
    short_lists_free(lists);
    free(facts);
}

static void test_short_lists__equal_an_array_and_forget_only_for_room(void **state)
{
    unsigned n_found;
    (void)state;

    run_model(0, 20000, &n_found);
    assert_in_range(n_found, 10000, 20000);
    run_model(64 << 10, 20000, &n_found); /* room for 4,096 notes */
    assert_in_range(n_found, 500, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_lists__vouch_for_the_cluster_they_were_learned_with),
        cmocka_unit_test(test_short_lists__of_a_cluster_that_was_split_are_void),
        cmocka_unit_test(test_short_lists__equal_an_array_and_forget_only_for_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
