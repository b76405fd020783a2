/* X5: the paper's experiment in small: what tests/bench/bench_topics.c measures. */
#include "tests/lib/trials.h"

#include "tests/bench/topics_run.h"
#include "tests/lib/scratch.h"

/* The clusters are the same for any memory and number of threads, and those that were planted;
 * pairs are found as theory has it (0.911 at 0.3, 0.994 at 0.4). */
static void test_topics_run__finds_what_was_planted_in_any_memory(void **state)
{
    struct topics_options options = {.n_pages = 20000,
                                     .seed = 1,
                                     .memory_bytes = 1 << 30,
                                     .n_threads = 1,
                                     .n_draws = 125,
                                     .k = 3,
                                     .heads = 100,
                                     .threshold = 0.2,
                                     .scratch = *state};
    struct topics_result first, other;
    assert_int_equal(topics_run(&options, &first), 0);
    options.memory_bytes = 100 << 20;
    options.n_threads = 3;
    assert_int_equal(topics_run(&options, &other), 0);
    assert_int_equal(first.digest, other.digest);
    assert_int_equal(first.near.n_kept, other.near.n_kept);
    assert_int_equal(first.n_targets, 60000);
    assert_true(first.n_nodes > 20000 && first.n_clustered > first.n_nodes / 2);
    assert_true(first.n_right > first.n_clustered * 99 / 100);
    for (unsigned i = 4; i < SAMPLE_SIMILARITIES; i++) {
        double recall = (double)first.found[i] / (double)first.pairs[i];
        assert_true(first.pairs[i] < 50 || recall > (i < 6 ? 0.88 : 0.97));
        assert_int_equal(first.found[i], other.found[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_topics_run__finds_what_was_planted_in_any_memory),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
