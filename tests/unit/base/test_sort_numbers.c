#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/sort_numbers.h"
#include "tests/lib/trials.h"

enum { N = 300000 };

enum shape { UNIFORM, LOW, EQUAL, FEW_VALUES, ONE_FAR_AWAY, ASCENDING, N_SHAPES };

static uint64_t number_of(enum shape shape, size_t i, uint64_t *x)
{
    uint64_t random = mix64_next(x);
    switch (shape) {
    case UNIFORM: return random;
    case LOW: return random >> 40;
    case EQUAL: return 7;
    case FEW_VALUES: return random % 5 << 60;
    case ONE_FAR_AWAY: return i ? random >> 50 : UINT64_MAX;
    default: return i;
    }
}

/* The same as qsort(), whatever the numbers are like. */
static void test_sort_numbers__sorts_whatever_they_are_like(void **state)
{
    (void)state;
    static uint64_t numbers[N], expected[N], scratch[N];
    const size_t sizes[] = {0, 1, 2, 24, 25, 1000, 32 << 10, (32 << 10) + 1, N};
    uint64_t x = 1;
    for (enum shape shape = 0; shape < N_SHAPES; shape++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            for (size_t j = 0; j < sizes[i]; j++)
                numbers[j] = expected[j] = number_of(shape, j, &x);
            qsort(expected, sizes[i], sizeof(uint64_t), trial_compare);
            sort_numbers(numbers, sizes[i], scratch);
            assert_memory_equal(numbers, expected, sizes[i] * sizeof(uint64_t));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort_numbers__sorts_whatever_they_are_like),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
