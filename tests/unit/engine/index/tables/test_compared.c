/* What was read in full, and how it makes room. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tests/lib/fixtures/compared_fixture.h"
#include "tests/lib/fixtures/memory_store.h"

enum { MINE = 1000, THEIRS = 1001 };

static void make_class(unsigned number, uint8_t class_id[CLASS_BYTES])
{
    memset(class_id, 0, CLASS_BYTES);
    class_id[0] = 'T';
    memcpy(class_id + CLASS_BYTES - sizeof(number), &number, sizeof(number));
}

static int put(struct kv *kv, uid_t owner, unsigned a, unsigned b)
{
    uint8_t class_a[CLASS_BYTES], class_b[CLASS_BYTES];
    make_class(a, class_a);
    make_class(b, class_b);
    return compared_put(kv, owner, class_a, class_b, 1.0 / (1 + a + b));
}

static int get(struct kv *kv, uid_t owner, unsigned a, unsigned b)
{
    uint8_t class_a[CLASS_BYTES], class_b[CLASS_BYTES];
    double resemblance;
    make_class(a, class_a);
    make_class(b, class_b);
    int r = compared_get(kv, owner, class_a, class_b, &resemblance);
    if (r == 0)
        assert_true(resemblance == 1.0 / (1 + a + b));
    return r;
}

static void test_compared__is_found_either_way_round_and_of_one_owner(void **state)
{
    struct kv *kv = *state;
    assert_int_equal(put(kv, MINE, 1, 2), 0);
    assert_int_equal(get(kv, MINE, 1, 2), 0);
    assert_int_equal(get(kv, MINE, 2, 1), 0);
    assert_int_equal(get(kv, THEIRS, 1, 2), -ENOENT);
    assert_int_equal(get(kv, MINE, 1, 3), -ENOENT);
    assert_int_equal(put(kv, MINE, 2, 1), 0);
    assert_int_equal(compared_count(kv), 1);
}

static void test_compared__a_long_content_is_none_that_was_compared(void **state)
{
    struct kv *kv = *state;
    struct record record = {.size_bytes = 1};
    uint8_t digest[COMPARED_DIGEST_BYTES] = "digest", found[COMPARED_DIGEST_BYTES];
    assert_int_equal(compared_is_long(kv, MINE, &record), 0);
    assert_int_equal(compared_put_long(kv, MINE, &record), 0);
    assert_int_equal(compared_is_long(kv, MINE, &record), 1);
    assert_int_equal(compared_is_long(kv, THEIRS, &record), 0);
    assert_int_equal(compared_get_digest(kv, MINE, &record, found), -ENOENT);
    assert_int_equal(compared_put_digest(kv, MINE, &record, digest), 0);
    assert_int_equal(compared_get_digest(kv, MINE, &record, found), 0);
    assert_memory_equal(found, digest, sizeof(found));
    compared_begin_generation(kv, MINE);
    assert_int_equal(compared_is_long(kv, MINE, &record), 1);
}

/* Of three generations the second is read, and of the third each row that is put takes some. */
static void test_compared__what_is_not_asked_for_goes_and_what_is_stays(void **state)
{
    struct kv *kv = *state;
    enum { N = 100, ASKED = 10 };
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(put(kv, MINE, i, N), 0);
    assert_int_equal(put(kv, THEIRS, 0, N), 0);
    compared_begin_generation(kv, MINE);
    for (unsigned i = 0; i < ASKED; i++) /* they are put again */
        assert_int_equal(get(kv, MINE, i, N), 0);
    assert_int_equal(compared_count(kv), N + ASKED + 1);
    compared_begin_generation(kv, MINE);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(get(kv, MINE, i, N), i < ASKED ? 0 : -ENOENT);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(put(kv, MINE, i, N + 1), 0);
    assert_int_equal(compared_count(kv), 2 * ASKED + N + 1);
    assert_int_equal(get(kv, THEIRS, 0, N), 0);
    /* However long that goes on. */
    for (unsigned round = 2; round < 12; round++) {
        compared_begin_generation(kv, MINE);
        for (unsigned i = 0; i < N; i++)
            assert_int_equal(put(kv, MINE, i, N + round), 0);
        assert_in_range(compared_count(kv), N, 2 * N + 2 * ASKED + 1);
    }
}

static void test_compared__rows_are_checked(void **state)
{
    (void)state;
    enum { HEAD = 5 };
    uint8_t key[HEAD + CLASS_BYTES + FINGERPRINT_BYTES] = {0},
                                     value[COMPARED_DIGEST_BYTES + 1] = {0};
    struct kv_entry row = {.key = {key, sizeof(key)}, .value = {value, COMPARED_DIGEST_BYTES}};
    key[HEAD] = 'T';
    assert_int_equal(compared_check(&row), 0);
    key[HEAD] = 'C';
    assert_int_equal(compared_check(&row), 0);
    key[HEAD] = 'B';
    assert_int_equal(compared_check(&row), -EUCLEAN);
    key[HEAD] = 'C';
    key[HEAD - 1] = 3; /* a generation that there is not */
    assert_int_equal(compared_check(&row), -EUCLEAN);
    key[HEAD - 1] = 2;
    for (size_t i = 0; i < 2; i++) {
        row.value.size_bytes = COMPARED_DIGEST_BYTES - 1 + 2 * i;
        assert_int_equal(compared_check(&row), -EUCLEAN);
    }
    row.value.size_bytes = COMPARED_DIGEST_BYTES;
    row.key.size_bytes--;
    assert_int_equal(compared_check(&row), -EUCLEAN);
    /* One that is too long has no value. */
    uint8_t longer[HEAD + CLASS_BYTES + FINGERPRINT_BYTES + 1] = {0};
    longer[HEAD] = 'T';
    longer[sizeof(longer) - 1] = 'N';
    struct kv_entry long_row = {.key = {longer, sizeof(longer)}, .value = {value, 0}};
    assert_int_equal(compared_check(&long_row), 0);
    long_row.value.size_bytes = 1;
    assert_int_equal(compared_check(&long_row), -EUCLEAN);
    long_row.value.size_bytes = 0;
    longer[sizeof(longer) - 1] = 0;
    assert_int_equal(compared_check(&long_row), -EUCLEAN);
    /* How far an owner is. */
    key[HEAD - 1] = 255;
    assert_int_equal(compared_check(&row), -EUCLEAN);
    row.key.size_bytes = HEAD;
    row.value.size_bytes = 9;
    assert_int_equal(compared_check(&row), 0);
    value[0] = 3;
    assert_int_equal(compared_check(&row), -EUCLEAN);
    value[0] = 0;
    row.value.size_bytes = 8;
    assert_int_equal(compared_check(&row), -EUCLEAN);
    row.key.size_bytes = HEAD - 1;
    assert_int_equal(compared_check(&row), -EUCLEAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_compared__is_found_either_way_round_and_of_one_owner,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_compared__what_is_not_asked_for_goes_and_what_is_stays,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_compared__a_long_content_is_none_that_was_compared,
                                        setup, teardown),
        cmocka_unit_test(test_compared__rows_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
