/* Rows of lists of words: there and back, and damaged ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mix.h"
#include "engine/index/tables/sid.h"
#include "engine/index/tables/word_lists.h"

enum { MOST = 500 };

static void test_word_lists__a_key_is_what_it_was_made_of(void **state)
{
    uint8_t key[WORD_LISTS_KEY_BYTES];
    uint32_t epoch, part;
    uint64_t word;
    (void)state;
    const struct kv_slice slice = word_lists_key(key, 7, UINT64_C(0x1234567890) << 24, 3);
    assert_int_equal(word_lists_decode_key(slice, &epoch, &word, &part), 0);
    assert_int_equal(epoch, 7);
    assert_true(word == UINT64_C(0x1234567890) << 24);
    assert_int_equal(part, 3);
    assert_int_equal(
        word_lists_decode_key((struct kv_slice){key, sizeof(key) - 1}, &epoch, &word, &part),
        -EUCLEAN);
}

static void test_word_lists__entries_come_back(void **state)
{
    static uint8_t value[WORD_LISTS_DF_BYTES + MOST * WORD_LISTS_ENTRY_MAX_BYTES];
    uint64_t seed = 1;
    (void)state;
    for (unsigned bits = 1; bits < 54; bits += 4)
        for (uint32_t part = 0; part < 2; part++) {
            uint64_t sids[MOST], sid = 0;
            size_t n_bytes = part ? 0 : WORD_LISTS_DF_BYTES;
            struct word_list list;
            uint32_t df;
            put_be32(value, 1000);
            for (size_t i = 0; i < MOST; i++) {
                sids[i] = sid + 1 + mix64_next(&seed) % ((uint64_t)1 << bits);
                n_bytes += word_lists_put(value + n_bytes, sid, sids[i], (uint8_t)(1 + i % 100));
                sid = sids[i];
            }
            const struct kv_slice slice = {value, n_bytes};
            assert_int_equal(word_list_begin(&list, slice, part, &df), 0);
            assert_int_equal(df, part ? 0 : 1000);
            for (size_t i = 0; i < MOST; i++) {
                assert_int_equal(word_list_next(&list), 1);
                assert_true(list.sid == sids[i] && list.weight == 1 + i % 100);
            }
            assert_int_equal(word_list_next(&list), 0);
        }
}

static int read_all(const uint8_t *value, size_t n_bytes, uint32_t part)
{
    struct word_list list;
    uint32_t df;
    int r = word_list_begin(&list, (struct kv_slice){value, n_bytes}, part, &df);
    while (r >= 0 && (r = word_list_next(&list)) > 0)
        continue;
    return r;
}

static void test_word_lists__damaged_values_are_refused(void **state)
{
    static const uint8_t endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                      0x80, 0x80, 0x80, 0x80, 1,    1};
    static const uint8_t same[] = {5, 1, 0, 1}, weightless[] = {5, 0}, heavy[] = {5, 101},
                         cut[] = {5, 1, 6}, open[] = {0x85}, sound[] = {5, 1, 6, 100};
    static const uint8_t of_one[] = {0, 0, 0, 1, 5, 1};
    (void)state;
    assert_int_equal(read_all(sound, sizeof(sound), 1), 0);
    assert_int_equal(read_all(endless, sizeof(endless), 1), -EUCLEAN);
    assert_int_equal(read_all(same, sizeof(same), 1), -EUCLEAN);
    assert_int_equal(read_all(weightless, sizeof(weightless), 1), -EUCLEAN);
    assert_int_equal(read_all(heavy, sizeof(heavy), 1), -EUCLEAN);
    assert_int_equal(read_all(cut, sizeof(cut), 1), -EUCLEAN);
    assert_int_equal(read_all(open, sizeof(open), 1), -EUCLEAN);
    assert_int_equal(read_all(sound, 0, 1), -EUCLEAN);
    assert_int_equal(read_all(sound, 3, 0), -EUCLEAN);
    assert_int_equal(read_all(of_one, sizeof(of_one), 0), -EUCLEAN);
    /* No sid is past the last one. */
    uint8_t value[2 * WORD_LISTS_ENTRY_MAX_BYTES];
    size_t n = word_lists_put(value, 0, SID_MAX, 1);
    assert_int_equal(read_all(value, n, 1), 0);
    n += word_lists_put(value + n, 0, 1, 1);
    assert_int_equal(read_all(value, n, 1), -EUCLEAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_word_lists__a_key_is_what_it_was_made_of),
        cmocka_unit_test(test_word_lists__entries_come_back),
        cmocka_unit_test(test_word_lists__damaged_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
