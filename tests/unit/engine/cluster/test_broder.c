#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/bench/broder_run.h"
#include "tests/lib/scratch.h"
#include "tests/lib/trials.h"

enum { SEED = 1996 };

static uint32_t n;

static struct broder_result run(enum batch_mode mode, uint64_t memory_bytes, const char *scratch)
{
    const struct batch_options options = {
        .scratch = scratch,
        .memory_bytes = memory_bytes,
        .n_threads = 2,
        .mode = mode,
        .threshold = 0.5,
        .n_documents = n,
        .whole = true, /* copies of copies are planted: links, and not stars */
    };
    struct broder_result result;
    assert_int_equal(broder_run(&options, SEED, &result), 0);
    return result;
}

/* X1 to X3 in small: 300,000 documents streamed. 99 % of the links planted at 0.6 and more are
 * found, by both modes, nothing else is joined, and clusters are as many as were planted (X2); with
 * the least memory, most of it in files, they are the same. */
static void test_broder__finds_what_was_planted(void **state)
{
    n = part_of(part_of(300000)); /* of which each is written and sketched three times */
    const uint64_t some = batch_least_memory(n) + (uint64_t)n * 1000;
    struct broder_result exact = run(BATCH_EXACT, some, *state);
    assert_true(exact.text_bytes > (uint64_t)n * 3000);
    assert_int_equal(exact.totals.n_documents, n);
    assert_true(exact.totals.scratch_bytes > 0);
    expect_ratio((double)exact.totals.n_identical_clusters, n * 0.07, 0.02);
    expect_ratio((double)exact.totals.n_clusters, n * 0.12, 0.03);
    assert_true(exact.totals.largest > n / 300);

    struct broder_result small = run(BATCH_EXACT, batch_least_memory(n), *state);
    assert_true(small.totals.scratch_bytes > exact.totals.scratch_bytes);
    assert_int_equal(small.digest, exact.digest);

    struct broder_result fast = run(BATCH_FAST, some, *state);
    const struct planted_check checks[] = {exact.check, fast.check};
    for (unsigned i = 0; i < 2; i++) {
        assert_true(checks[i].n_links > n / 5);
        assert_int_equal(checks[i].n_wrong, 0);
        assert_true(checks[i].n_found * 100 >= checks[i].n_links * 99);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broder__finds_what_was_planted),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
