#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "engine/sketch/estimate.h"

static void expect(struct estimate estimate, double value, double variance, uint32_t n_samples)
{
    assert_true(fabs(estimate.value - value) < 1e-12);
    assert_true(fabs(estimate.error * estimate.error - variance) < 1e-12);
    assert_int_equal(estimate.n_samples, n_samples);
    assert_false(estimate.exact);
}

/* By hand, after Agresti and Coull: of 4 trials 2 succeeded, with two more of each 4 of 8, and the
 * variance is 1/2 1/2 / 4; of 4 none, 2 of 8, 1/4 3/4 / 4. */
static void test_estimate__of_trials_adds_two_of_each(void **state)
{
    (void)state;
    expect(estimate_of_trials(2, 4), 1. / 2, 1. / 16, 4);
    expect(estimate_of_trials(0, 4), 0, 3. / 64, 4);
    expect(estimate_of_trials(4, 4), 1, 3. / 64, 4);
}

/* The hypergeometric factor (N - k) / (N - 1): of 4 from 10 it is 6/9. From no more than the sample
 * is one more, since it is not all: 1/4. */
static void test_estimate__of_a_sample_is_more_certain_the_more_it_has(void **state)
{
    (void)state;
    expect(estimate_of_sample(2, 4, 10), 1. / 2, 1. / 16 * 6 / 9, 4);
    expect(estimate_of_sample(2, 4, 5), 1. / 2, 1. / 16 / 4, 4);
    expect(estimate_of_sample(2, 4, 3), 1. / 2, 1. / 16 / 4, 4);
    expect(estimate_of_sample(0, 4, 10), 0, 3. / 64 * 6 / 9, 4);
}

static void test_estimate__of_fewer_than_eight_samples_is_low(void **state)
{
    (void)state;
    assert_true(estimate_is_low(false, 7) && !estimate_is_low(false, 8));
    assert_true(!estimate_is_low(true, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimate__of_trials_adds_two_of_each),
        cmocka_unit_test(test_estimate__of_a_sample_is_more_certain_the_more_it_has),
        cmocka_unit_test(test_estimate__of_fewer_than_eight_samples_is_low),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
