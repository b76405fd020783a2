#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/index/postings/short_lists.h"

static void test_short_lists__vouch_for_the_cluster_they_were_learned_with(void **state)
{
    struct short_lists *lists;
    (void)state;

    assert_int_equal(short_lists_new(0, &lists), 0);
    assert_int_equal(short_lists_find(lists, 7), 0);
    assert_false(short_lists_vouches(lists, 7, 1));
    short_lists_learn(lists, 7, 41, 1, NULL, 0);
    assert_int_equal(short_lists_find(lists, 7), 41);
    assert_true(short_lists_vouches(lists, 7, 1));
    assert_false(short_lists_vouches(lists, 7, 0));
    short_lists_learn(lists, 7, 42, 2, NULL, 0);
    assert_int_equal(short_lists_find(lists, 7), 42);
    assert_true(short_lists_vouches(lists, 7, 2));
    short_lists_drop(lists, 7);
    assert_int_equal(short_lists_find(lists, 7), 0);
    short_lists_learn(lists, 7, UINT64_C(1) << 47, 1, NULL, 0); /* more than it can hold */
    assert_int_equal(short_lists_find(lists, 7), 0);
    short_lists_learn(lists, 7, 43, 0, NULL, 0); /* in no cluster */
    assert_int_equal(short_lists_find(lists, 7), 0);
    short_lists_free(lists);
    short_lists_free(NULL);
}

static void test_short_lists__have_a_few_strays(void **state)
{
    const uint64_t named[] = {61, 62, 63, 64};
    uint64_t strays[SHORT_LISTS_STRAYS];
    struct short_lists *lists;
    (void)state;

    assert_int_equal(short_lists_new(0, &lists), 0);
    assert_int_equal(short_lists_strays(lists, 7, strays), 0);
    short_lists_learn(lists, 7, 41, 1, named, 2);
    assert_int_equal(short_lists_find(lists, 7), 41);
    assert_true(short_lists_vouches(lists, 7, 1));
    assert_int_equal(short_lists_strays(lists, 7, strays), 2);
    assert_memory_equal(strays, named, 2 * sizeof(*named));
    short_lists_stray(lists, 7, 63);
    assert_true(short_lists_vouches(lists, 7, 1));
    assert_int_equal(short_lists_strays(lists, 7, strays), 3);
    assert_memory_equal(strays, named, 3 * sizeof(*named));
    short_lists_stray(lists, 7, 64); /* one too many */
    assert_int_equal(short_lists_find(lists, 7), 0);
    assert_false(short_lists_vouches(lists, 7, 1));
    short_lists_learn(lists, 7, 41, 1, named, 4);
    assert_int_equal(short_lists_find(lists, 7), 0);
    short_lists_learn(lists, 7, 41, 1, NULL, 0); /* none of those before */
    assert_int_equal(short_lists_strays(lists, 7, strays), 0);
    short_lists_stray(lists, 8, 61); /* of a list that nothing is known of */
    assert_int_equal(short_lists_find(lists, 8), 0);
    short_lists_free(lists);
}

static void test_short_lists__of_a_cluster_that_was_split_are_void(void **state)
{
    struct short_lists *lists;
    (void)state;

    assert_int_equal(short_lists_new(0, &lists), 0);
    for (unsigned i = 0; i < 200; i++) { /* more splits than a note can count */
        short_lists_learn(lists, 7, 41, 1, NULL, 0);
        short_lists_split(lists, 1);
        assert_false(short_lists_vouches(lists, 7, 1));
        for (unsigned k = 0; k < 70; k++) {
            short_lists_split(lists, 1);
            assert_false(short_lists_vouches(lists, 7, 1));
        }
    }
    short_lists_learn(lists, 7, 41, 1, NULL, 0);
    assert_true(short_lists_vouches(lists, 7, 1));
    short_lists_forget(lists);
    assert_int_equal(short_lists_find(lists, 7), 0);
    short_lists_free(lists);
}

/* Who had to give way is not forgotten quietly: the list is. */
static void test_short_lists__are_void_without_their_strays(void **state)
{
    enum { N = 4000 };
    const uint64_t stray = 9;
    unsigned n_found = 0, n_without = 0;
    struct short_lists *lists;
    (void)state;

    assert_int_equal(short_lists_new(64 << 10, &lists), 0); /* strays of 256 lists */
    for (uint64_t i = 1; i <= N; i++) {
        short_lists_learn(lists, i << 20, i, 1, &stray, 1);
        short_lists_learn(lists, i << 20 | 1, i, 1, NULL, 0);
    }
    for (uint64_t i = 1; i <= N; i++) {
        uint64_t strays[SHORT_LISTS_STRAYS];
        bool found = short_lists_find(lists, i << 20);
        assert_int_equal(short_lists_vouches(lists, i << 20, 1), found);
        assert_int_equal(short_lists_strays(lists, i << 20, strays), found);
        n_found += found;
        n_without += short_lists_find(lists, i << 20 | 1) == i;
    }
    assert_in_range(n_found, 100, 256);
    assert_in_range(n_without, n_found + 100, N);
    short_lists_free(lists);
}

/* A fingerprint as others, but that it has no strays. */
static void test_short_lists__know_fingerprint_zero(void **state)
{
    const uint64_t stray = 9;
    struct short_lists *lists;
    (void)state;

    assert_int_equal(short_lists_new(0, &lists), 0);
    short_lists_learn(lists, 0, 41, 1, &stray, 1);
    assert_int_equal(short_lists_find(lists, 0), 0);
    short_lists_learn(lists, 0, 41, 1, NULL, 0);
    assert_int_equal(short_lists_find(lists, 0), 41);
    assert_true(short_lists_vouches(lists, 0, 1));
    short_lists_stray(lists, 0, stray);
    assert_int_equal(short_lists_find(lists, 0), 0);
    assert_false(short_lists_vouches(lists, 0, 1));
    short_lists_free(lists);
}

/* What happens to clusters of which nothing is noted costs nothing. */
static void test_short_lists__outlast_what_happens_elsewhere(void **state)
{
    enum { N = 1000, MORE = 100 };
    struct short_lists *lists;
    unsigned n_found = 0;
    (void)state;

    assert_int_equal(short_lists_new(0, &lists), 0);
    for (uint64_t i = 1; i <= N; i++)
        short_lists_learn(lists, i << 20, i, i, NULL, 0);
    for (uint64_t cluster = N + 1; cluster <= 2 * N; cluster++)
        for (unsigned i = 0; i < MORE; i++) /* more than a group can count */
            short_lists_split(lists, cluster);
    for (uint64_t i = 1; i <= N; i++)
        n_found += short_lists_vouches(lists, i << 20, i);
    assert_in_range(n_found, N * 9 / 10, N); /* but for those of one group with others */
    short_lists_free(lists);
}

/* Against an array. What was dropped, split or never there is not found; of the rest what was
 * forgotten for want of room is not, and nothing else. */
static void run_model(size_t max_bytes, unsigned n_lists, unsigned *ret_n_found)
{
    enum { N_CLUSTERS = 50 };
    struct fact {
        uint64_t sid, cluster, strays[SHORT_LISTS_STRAYS];
        size_t n_strays;
        unsigned splits;
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
            facts[i] = (struct fact){.sid = 1 + step,
                                     .cluster = cluster,
                                     .strays = {step + 2, step + 3, step + 4},
                                     .n_strays = (random >> 10) % (SHORT_LISTS_STRAYS + 1),
                                     .splits = splits[cluster]};
            short_lists_learn(lists, fingerprint, facts[i].sid, cluster, facts[i].strays,
                              facts[i].n_strays);
            break;
        case 6:
            short_lists_stray(lists, fingerprint, 1 + step);
            if (facts[i].n_strays == SHORT_LISTS_STRAYS)
                facts[i].sid = 0;
            else if (facts[i].sid)
                facts[i].strays[facts[i].n_strays++] = 1 + step;
            break;
        default: {
            uint64_t sid = short_lists_find(lists, fingerprint);
            assert_true(sid == 0 || sid == facts[i].sid);
            uint64_t strays[SHORT_LISTS_STRAYS];
            if (sid) {
                assert_int_equal(short_lists_strays(lists, fingerprint, strays), facts[i].n_strays);
                assert_memory_equal(strays, facts[i].strays, facts[i].n_strays * sizeof(*strays));
            }
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
        cmocka_unit_test(test_short_lists__have_a_few_strays),
        cmocka_unit_test(test_short_lists__of_a_cluster_that_was_split_are_void),
        cmocka_unit_test(test_short_lists__are_void_without_their_strays),
        cmocka_unit_test(test_short_lists__know_fingerprint_zero),
        cmocka_unit_test(test_short_lists__outlast_what_happens_elsewhere),
        cmocka_unit_test(test_short_lists__equal_an_array_and_forget_only_for_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
