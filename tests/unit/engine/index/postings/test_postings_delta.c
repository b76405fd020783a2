/* What a flush writes of what was noted. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/index/postings/postings_delta.h"

/* The last note of each counts, in whatever order they came. */
static void test_postings_delta__has_the_latest_of_each(void **state)
{
    enum { N_FINGERPRINTS = 7, N_SIDS = 50, N_NOTES = 5000 };
    static const uint64_t bases[] = {1, UINT64_C(1) << 30, UINT64_C(1) << 50, UINT64_C(1) << 62};
    struct postings_delta *delta;
    (void)state;
    for (size_t b = 0; b < sizeof(bases) / sizeof(bases[0]); b++) {
        enum { NONE, THERE, REMOVED } expected[N_FINGERPRINTS][N_SIDS] = {0};
        struct postings_run run;
        uint64_t fingerprint, sid, random = 1;
        bool removed;
        assert_int_equal(postings_delta_new(64, &delta), 0);
        for (unsigned i = 0; i < N_NOTES; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            const unsigned f = (random >> 33) % N_FINGERPRINTS, s = (random >> 40) % N_SIDS;
            if (s == 13)
                continue;
            removed = random >> 63;
            expected[f][s] = removed ? REMOVED : THERE;
            assert_int_equal(
                postings_delta_note(delta, f * UINT64_C(0x2492492492492492), bases[b] + s, removed),
                0);
        }
        assert_int_equal(postings_run_init(&run, delta), 0);
        for (unsigned round = 0; round < 2; round++) {
            for (unsigned f = 0; f < N_FINGERPRINTS; f++)
                for (unsigned s = 0; s < N_SIDS; s++) {
                    if (expected[f][s] == NONE)
                        continue;
                    assert_true(postings_run_next(&run, &fingerprint, &sid, &removed));
                    assert_int_equal(fingerprint, f * UINT64_C(0x2492492492492492));
                    assert_int_equal(sid, bases[b] + s);
                    assert_int_equal(removed, expected[f][s] == REMOVED);
                }
            assert_false(postings_run_next(&run, &fingerprint, &sid, &removed));
            postings_run_rewind(&run);
        }
        postings_run_done(&run);
        postings_delta_free(delta);
    }
}

/* Who makes and removes very many documents that are nearly equal keeps nobody's from being
 * indexed: a run does not look for the last note of each among those of all. */
static void test_postings_delta__is_not_looked_through_for_what_came_and_went(void **state)
{
    enum { N = 5000 };
    struct postings_delta *delta;
    struct postings_run run;
    uint64_t fingerprint, sid;
    bool removed;
    (void)state;
    assert_int_equal(postings_delta_new(2 * N, &delta), 0);
    for (unsigned i = 0; i < 2 * N; i++)
        assert_int_equal(postings_delta_note(delta, 7, i % N + 1, i >= N), 0);
    assert_int_equal(postings_run_init(&run, delta), 0);
    postings_delta_free(delta);
    run.delta = NULL;
    for (unsigned i = 0; i < N; i++) {
        assert_true(postings_run_next(&run, &fingerprint, &sid, &removed));
        assert_int_equal(sid, i + 1);
        assert_true(removed);
    }
    assert_false(postings_run_next(&run, &fingerprint, &sid, &removed));
    postings_run_done(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_postings_delta__has_the_latest_of_each),
        cmocka_unit_test(test_postings_delta__is_not_looked_through_for_what_came_and_went),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
