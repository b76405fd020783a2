#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/bench/broder_run.h"
#include "tests/lib/scratch.h"
#include "tests/lib/trials.h"

enum { N = 300000, SEED = 1996 };

static struct broder_result run(enum batch_mode mode, uint64_t memory_bytes, const char *scratch)
{
    const struct batch_options options = {
        .scratch = scratch,
        .memory_bytes = memory_bytes,
        .n_threads = 2,
        .mode = mode,
        .threshold = 0.5,
        .n_documents = N,
    };
    struct broder_result result;
    assert_int_equal(broder_run(&options, SEED, &result), 0);
    return result;
}

/* X1 to X3 in small: 300,000 documents streamed. 99 % of the links planted at 0.6 and more are
 * found, by both modes, nothing else is joined, and clusters are as many as were planted (X2); with
 * the least memory, most of it in files, they are the same. */
static void test_broder__three_hundred_thousand_documents(void **state)
{
    struct broder_result exact = run(BATCH_EXACT, (uint64_t)1 << 30, *state);
    assert_true(exact.text_bytes > (uint64_t)1 << 30);
    assert_int_equal(exact.totals.n_documents, N);
    assert_int_equal(exact.totals.scratch_bytes > 0, true);
    expect_ratio((double)exact.totals.n_identical_clusters, 21000, 0.02);
    expect_ratio((double)exact.totals.n_clusters, 36000, 0.03);
    assert_true(exact.totals.largest > 1000);

    struct broder_result small = run(BATCH_EXACT, batch_least_memory(N), *state);
    assert_true(small.totals.scratch_bytes > exact.totals.scratch_bytes);
    assert_int_equal(small.digest, exact.digest);

    struct broder_result fast = run(BATCH_FAST, (uint64_t)1 << 30, *state);
    const struct planted_check checks[] = {exact.check, fast.check};
    for (unsigned i = 0; i < 2; i++) {
        assert_true(checks[i].n_links > 70000);
        assert_int_equal(checks[i].n_wrong, 0);
        assert_true(checks[i].n_found * 100 >= checks[i].n_links * 99);
    }
}

static int make(void **state)
{
    static char path[64];
    scratch_make(path);
    *state = path;
    return 0;
}

static int take_away(void **state)
{
    scratch_remove(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broder__three_hundred_thousand_documents),
    };
    return cmocka_run_group_tests(tests, make, take_away);
}
