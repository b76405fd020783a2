/* What was declared of two files, and how another file in the place of one has it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "engine/index/tables/distinct.h"
#include "tests/lib/fixtures/memory_store.h"

/* Every other one is longer, so that one key may begin as another one does. */
static struct file_key file(unsigned number)
{
    struct file_key key = {.size_bytes = (uint8_t)(FILE_KEY_MIN_BYTES + number % 2)};
    memcpy(key.bytes, &number, sizeof(number));
    return key;
}

static void declare(struct kv *kv, unsigned a, unsigned b, bool distinct)
{
    const struct file_key files[] = {file(a), file(b)};
    assert_int_equal(distinct_set(kv, &files[0], &files[1], distinct), 0);
}

static int has(struct kv *kv, unsigned a, unsigned b)
{
    const struct file_key files[] = {file(a), file(b)};
    const int r = distinct_has(kv, &files[0], &files[1]);
    assert_int_equal(distinct_has(kv, &files[1], &files[0]), r);
    return r;
}

static int any(struct kv *kv, unsigned number)
{
    const struct file_key key = file(number);
    return distinct_any(kv, &key);
}

static int carry(struct kv *kv, unsigned from, unsigned to, bool from_goes)
{
    const struct file_key files[] = {file(from), file(to)};
    return distinct_carry(kv, &files[0], &files[1], from_goes);
}

static void test_distinct__is_known_of_both_until_it_is_taken_back(void **state)
{
    struct kv *kv = *state;
    declare(kv, 2, 1, true);
    declare(kv, 2, 3, true);
    assert_int_equal(has(kv, 1, 2), 1);
    assert_int_equal(has(kv, 1, 3), 0);
    for (unsigned i = 1; i <= 3; i++)
        assert_int_equal(any(kv, i), 1);
    assert_int_equal(any(kv, 4), 0);
    declare(kv, 1, 2, false);
    declare(kv, 1, 2, false);
    assert_int_equal(has(kv, 1, 2), 0);
    assert_int_equal(any(kv, 1), 0);
    assert_int_equal(has(kv, 3, 2), 1);
}

static void test_distinct__what_takes_the_place_of_a_file_has_what_was_declared_of_it(void **state)
{
    struct kv *kv = *state;
    declare(kv, 1, 2, true);
    declare(kv, 3, 1, true);
    assert_int_equal(carry(kv, 1, 4, true), 0);
    assert_int_equal(carry(kv, 1, 4, true), 0);
    assert_int_equal(has(kv, 4, 2) && has(kv, 4, 3), 1);
    assert_int_equal(any(kv, 1), 0);
    /* One that has another name as well. */
    assert_int_equal(carry(kv, 2, 5, false), 0);
    assert_int_equal(has(kv, 4, 2) && has(kv, 4, 5), 1);
    /* One in the place of whom it was declared of, and nothing of nothing. */
    assert_int_equal(carry(kv, 4, 3, true), 0);
    assert_int_equal(has(kv, 3, 2) && has(kv, 3, 5), 1);
    assert_int_equal(has(kv, 4, 2) || has(kv, 4, 5), 0);
    assert_int_equal(carry(kv, 6, 7, true), 0);
    assert_int_equal(any(kv, 7), 0);
}

/* Two files that get each other's names, in either order. */
static void test_distinct__an_exchange_of_names_ends_nothing(void **state)
{
    struct kv *kv = *state;
    declare(kv, 1, 2, true);
    assert_int_equal(carry(kv, 1, 2, true), 0);
    assert_int_equal(carry(kv, 2, 1, false), 0);
    assert_int_equal(has(kv, 1, 2), 1);
    assert_int_equal(carry(kv, 2, 1, true), 0);
    assert_int_equal(carry(kv, 1, 2, false), 0);
    assert_int_equal(has(kv, 1, 2), 1);
}

/* Whoever saves again and again leaves no rows behind. */
static void test_distinct__saving_again_and_again_takes_no_room(void **state)
{
    enum { SAVES = 3 * DISTINCT_CARRIED_MAX };
    struct kv *kv = *state;
    declare(kv, 0, SAVES + 1, true);
    for (unsigned i = 0; i < SAVES; i++)
        assert_int_equal(carry(kv, i, i + 1, true), 0);
    assert_int_equal(carry(kv, SAVES + 1, SAVES + 2, true), 0);
    assert_int_equal(has(kv, SAVES, SAVES + 2), 1);
    for (unsigned i = 0; i < SAVES; i++)
        assert_int_equal(any(kv, i), 0);
}

static void test_distinct__a_damaged_row_is_said(void **state)
{
    struct kv *kv = *state;
    const struct file_key key = file(1);
    uint8_t damaged[2 + FILE_KEY_MIN_BYTES + 1] = {key.size_bytes};
    memcpy(damaged + 1, key.bytes, key.size_bytes);
    damaged[1 + key.size_bytes] = FILE_KEY_MAX_BYTES + 1;
    const struct kv_entry row = {.key = {damaged, 2u + key.size_bytes}, .value = {"", 0}};
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    kv_batch_put(batch, TABLE_DISTINCT, row.key, row.value);
    assert_int_equal(kv_apply(kv, batch), 0);
    assert_int_equal(distinct_check(&row), -EUCLEAN);
    assert_int_equal(carry(kv, 1, 2, true), -EUCLEAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_distinct__is_known_of_both_until_it_is_taken_back,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_distinct__what_takes_the_place_of_a_file_has_what_was_declared_of_it, setup,
            teardown),
        cmocka_unit_test_setup_teardown(test_distinct__an_exchange_of_names_ends_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_distinct__saving_again_and_again_takes_no_room, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_distinct__a_damaged_row_is_said, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
