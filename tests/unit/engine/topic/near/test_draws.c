#include "tests/unit/engine/topic/near/planted_sketches.h"

#include <errno.h>

/* Each draw has k different signatures, of all 80 as often as of any other. */
static void test_draws__have_different_signatures(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= DRAWS_MOST_SIGNATURES; k++) {
        unsigned n_drawn[BAG_SIGNATURES] = {0};
        static struct draws draws;
        assert_int_equal(draws_init(DRAWS_MOST, k, k, &draws), 0);
        for (unsigned i = 0; i < DRAWS_MOST; i++)
            for (unsigned j = 0; j < k; j++) {
                n_drawn[draws.signatures[i][j]]++;
                for (unsigned l = 0; l < j; l++)
                    assert_int_not_equal(draws.signatures[i][j], draws.signatures[i][l]);
            }
        double each = DRAWS_MOST * k / (double)BAG_SIGNATURES;
        for (unsigned i = 0; i < BAG_SIGNATURES; i++)
            assert_true(fabs(n_drawn[i] - each) < 5 * sqrt(each));
    }
}

/* Two nodes have the same upper bits exactly when they agree in the signatures of the draw; the
 * lower ones are the node; an empty bag has no number. One bag alone has the number of its node. */
static void test_draws__number_what_agrees_alike(void **state)
{
    enum { N = 5000, DRAWS = 10 };
    static struct bag_sketch sketches[N];
    static struct draws draws;
    static uint64_t numbers[N];
    _cleanup_(signatures_done) struct signatures signatures;
    _cleanup_free_ struct draw_numbers *of_block = malloc(sizeof(*of_block));
    const unsigned bits = draw_node_bits(N);
    assert_non_null(of_block);
    assert_int_equal(bits, 13);
    for (uint32_t i = 0; i < N; i++)
        plant_sketch(i, 50, 70, &sketches[i]);
    put_sketches(sketches, N, 0, *state, &signatures);
    assert_int_equal(draws_init(DRAWS, 3, 1, &draws), 0);
    for (unsigned draw = 0; draw < DRAWS; draw++) {
        uint32_t n = 0;
        memset(numbers, 0, sizeof(numbers));
        for (uint32_t block = 0; block < signatures.n_blocks; block++) {
            assert_int_equal(draw_block(&draws, draw, &signatures, block, of_block), 0);
            for (uint32_t i = 0; i < of_block->n; i++, n++) {
                uint32_t node = of_block->numbers[i] & ((1u << bits) - 1);
                assert_true(node < N);
                numbers[node] = of_block->numbers[i];
                assert_int_equal(draw_of(&draws, draw, &sketches[node]) >> bits,
                                 numbers[node] >> bits);
            }
        }
        assert_int_equal(n, N - N / 97);
        for (uint32_t a = 0; a < N; a++)
            for (uint32_t b = a / 50 * 50; numbers[a] && b < a; b++) {
                bool agree = true;
                for (unsigned j = 0; j < 3; j++) {
                    unsigned i = draws.signatures[draw][j];
                    agree = agree && bag_sketch_signature(&sketches[a], i) ==
                                         bag_sketch_signature(&sketches[b], i);
                }
                assert_int_equal(numbers[a] >> bits == numbers[b] >> bits, agree);
            }
    }
}

static void test_draws__refuse_what_is_out_of_range(void **state)
{
    static struct draws draws;
    (void)state;
    assert_int_equal(draws_init(0, 3, 1, &draws), -EINVAL);
    assert_int_equal(draws_init(DRAWS_MOST + 1, 3, 1, &draws), -EINVAL);
    assert_int_equal(draws_init(1, 0, 1, &draws), -EINVAL);
    assert_int_equal(draws_init(1, DRAWS_MOST_SIGNATURES + 1, 1, &draws), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws__have_different_signatures),
        cmocka_unit_test(test_draws__number_what_agrees_alike),
        cmocka_unit_test(test_draws__refuse_what_is_out_of_range),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
