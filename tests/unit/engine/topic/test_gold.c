/* The gold standards of tests/bench/topics. */
#include "tests/lib/trials.h"

#include <errno.h>

#include "tests/bench/topics/gold.h"
#include "tests/lib/scratch.h"

enum { D, B, C, A, E, N };
static char texts[N][2] = {"d", "b", "c", "a", "e"};
static char *names[N] = {texts[D], texts[B], texts[C], texts[A], texts[E]};

static void test_gold__has_documents_with_a_label_in_common(void **state)
{
    const char *path = scratch_path(*state, "gold");
    struct gold gold;
    scratch_write(path, "a\tred\nb\tblue\nb\tred\nunknown\tred\nc\tblue\ne\tgreen");
    assert_int_equal(gold_read(path, names, N, &gold), 0);
    assert_int_equal(gold.n_labels, 3);
    assert_int_equal(gold.n_labelled, 4);
    assert_string_equal(gold.names[gold_label(&gold, B)], "blue");
    assert_string_equal(gold.names[gold_label(&gold, E)], "green");
    assert_true(gold_label(&gold, D) == GOLD_NONE);
    static const uint8_t expected[N][N] = {
        [B] = {[A] = 1, [C] = 1}, [C] = {[B] = 1}, [A] = {[B] = 1}};
    for (uint32_t i = 0; i < N; i++) {
        uint8_t marks[N] = {0};
        assert_int_equal(gold_mark(&gold, i, 1, marks), i == B ? 2 : i == A || i == C);
        assert_memory_equal(marks, expected[i], N);
    }
    gold_done(&gold);
}

static void test_gold__that_is_none_is_refused(void **state)
{
    const char *path = scratch_path(*state, "none");
    struct gold gold = {0};
    assert_int_equal(gold_read(path, names, N, &gold), -ENOENT);
    scratch_write(path, "a\tred\nb\n");
    assert_int_equal(gold_read(path, names, N, &gold), -EINVAL);
    scratch_write(path, "");
    assert_int_equal(gold_read(path, names, N, &gold), 0);
    assert_int_equal(gold.n_labelled, 0);
    gold_done(&gold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gold__has_documents_with_a_label_in_common),
        cmocka_unit_test(test_gold__that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
