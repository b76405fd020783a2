#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "engine/sketch/policy.h"

static struct policy preset(const char *name)
{
    struct policy policy;
    assert_int_equal(policy_preset(name, &policy), 0);
    return policy;
}

static void test_policy__has_the_documented_presets(void **state)
{
    (void)state;
    struct policy policy = preset("default");
    assert_string_equal(policy.name, "default");
    assert_int_equal(policy.w, 5);
    assert_int_equal(policy.s, 128);
    assert_int_equal(policy.m, 25);
    assert_int_equal(policy.v_max, 4096);
    policy = preset("broder1997"); /* B14 */
    assert_int_equal(policy.w, 10);
    assert_int_equal(policy.m, 25);
    assert_int_equal(policy_preset("nonesuch", &policy), -EINVAL);
    assert_int_equal(policy_preset("", &policy), -EINVAL);
}

static void test_policy__every_store_gets_its_own_key(void **state)
{
    (void)state;
    struct policy a = preset("default"), b = preset("default");
    assert_memory_not_equal(a.key, b.key, POLICY_KEY_BYTES);
    assert_true(policy_id(&a) != policy_id(&b));
}

static void test_policy__the_id_depends_on_every_field(void **state)
{
    (void)state;
    struct policy base = preset("default"), p = base;
    assert_true(policy_id(&base) == policy_id(&p));

#define EXPECT_OTHER(change)                                                                       \
    do {                                                                                           \
        p = base;                                                                                  \
        change;                                                                                    \
        assert_true(policy_id(&p) != policy_id(&base));                                            \
    } while (0)
    EXPECT_OTHER(p.name[0] = 'x');
    EXPECT_OTHER(p.tokeniser++);
    EXPECT_OTHER(p.hash++);
    EXPECT_OTHER(p.w++);
    EXPECT_OTHER(p.s++);
    EXPECT_OTHER(p.m++);
    EXPECT_OTHER(p.v_max++);
    EXPECT_OTHER(p.words.stop_list++);
    EXPECT_OTHER(p.words.stemmer++);
    EXPECT_OTHER(p.words.tokens++);
    for (size_t i = 0; i < POLICY_KEY_BYTES; i++)
        EXPECT_OTHER(p.key[i] ^= 1);
#undef EXPECT_OTHER
}

static void test_policy__survives_being_stored(void **state)
{
    (void)state;
    struct policy policy = preset("broder1997"), decoded;
    uint8_t data[POLICY_ENCODED_BYTES];
    policy.words = (struct word_options){STOP_LIST_ENGLISH, N_STEMMERS - 1, TOKENS_WORDS_AND_TAGS};
    policy_encode(&policy, data);
    assert_int_equal(policy_decode(data, sizeof(data), &decoded), 0);
    assert_int_equal(decoded.words.stop_list, STOP_LIST_ENGLISH);
    assert_int_equal(decoded.words.stemmer, N_STEMMERS - 1);
    assert_int_equal(decoded.words.tokens, TOKENS_WORDS_AND_TAGS);
    assert_string_equal(decoded.name, policy.name);
    assert_memory_equal(decoded.key, policy.key, POLICY_KEY_BYTES);
    assert_int_equal(decoded.w, 10);
    assert_true(policy_id(&decoded) == policy_id(&policy));
}

static void test_policy__refuses_a_damaged_one(void **state)
{
    (void)state;
    struct policy policy = preset("default"), decoded;
    uint8_t data[POLICY_ENCODED_BYTES + 1] = {0};
    policy_encode(&policy, data);
    for (size_t i = 0; i < POLICY_ENCODED_BYTES * 8; i++) {
        data[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(policy_decode(data, POLICY_ENCODED_BYTES, &decoded), -EUCLEAN);
        data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    assert_int_equal(policy_decode(data, POLICY_ENCODED_BYTES - 1, &decoded), -EUCLEAN);
    assert_int_equal(policy_decode(data, POLICY_ENCODED_BYTES + 1, &decoded), -EUCLEAN);
}

/* Its parameters and its key go on, under fingerprints of this version. */
static void test_policy__one_of_another_version_is_told_from_a_damaged_one(void **state)
{
    (void)state;
    struct policy policy = preset("broder1997"), decoded;
    uint8_t data[POLICY_ENCODED_BYTES];
    for (int what = 0; what < 2; what++) {
        struct policy other = policy;
        *(what ? &other.hash : &other.tokeniser) += 100;
        policy_encode(&other, data);
        assert_int_equal(policy_decode(data, sizeof(data), &decoded), 1);
        assert_true(policy_id(&decoded) == policy_id(&policy));
    }
    policy.hash = 1;
    policy.w = 0;
    policy_encode(&policy, data);
    assert_int_equal(policy_decode(data, sizeof(data), &decoded), -EUCLEAN);
}

/* What a kinfs of the first version had stored, written down byte by byte. */
static void test_policy__of_an_earlier_version_is_one_of_another(void **state)
{
    (void)state;
    uint8_t data[POLICY_ENCODED_BYTES] = {0};
    struct policy decoded;
    const uint32_t fields[] = {1, 1, 5, 128, 25, 4096};
    put_be32(data, 1);
    memcpy(data + 4, "default", 7);
    for (size_t i = 0; i < 6; i++)
        put_be32(data + 36 + 4 * i, fields[i]);
    for (size_t i = 0; i < POLICY_KEY_BYTES; i++)
        data[60 + i] = (uint8_t)(3 * i);
    put_be32(data + 92, (uint32_t)XXH3_64bits(data, 92));
    assert_int_equal(policy_decode(data, sizeof(data), &decoded), 1);
    assert_int_equal(decoded.tokeniser, POLICY_TOKENISER_WORDS);
    assert_int_equal(decoded.hash, POLICY_HASH_GF64);
    assert_int_equal(decoded.w, 5);
    assert_memory_equal(decoded.key, data + 60, POLICY_KEY_BYTES);
    assert_false(word_options_filter(&decoded.words));
    assert_int_equal(decoded.words.tokens, TOKENS_WORDS);

    put_be32(data + 40, POLICY_HASH_GF64); /* its tokens alone are others */
    for (uint32_t tokeniser = 1; tokeniser <= 4; tokeniser++) {
        put_be32(data + 36, tokeniser);
        put_be32(data + 92, (uint32_t)XXH3_64bits(data, 92));
        assert_int_equal(policy_decode(data, sizeof(data), &decoded), 1);
        assert_int_equal(decoded.tokeniser, POLICY_TOKENISER_WORDS);
    }
    put_be32(data + 36, POLICY_TOKENISER_WORDS);
    put_be32(data + 92, (uint32_t)XXH3_64bits(data, 92));
    assert_int_equal(policy_decode(data, sizeof(data), &decoded), 0);
}

static void test_policy__refuses_fields_out_of_range(void **state)
{
    (void)state;
    struct policy base = preset("default"), p;
    assert_int_equal(policy_validate(&base), 0);

    /* A5: w is a parameter, 1 to 64 */
    const struct {
        size_t at;
        uint32_t least, most;
    } ranges[] = {
        {offsetof(struct policy, w), 1, 64},
        {offsetof(struct policy, s), 2, 4096},
        {offsetof(struct policy, m), 1, 1 << 20},
        {offsetof(struct policy, v_max), 128, 65536},
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        const uint32_t values[] = {ranges[i].least - 1, ranges[i].least, ranges[i].most,
                                   ranges[i].most + 1};
        const int results[] = {-EINVAL, 0, 0, -EINVAL};
        for (size_t j = 0; j < 4; j++) {
            p = base;
            p.v_max = 65536;
            memcpy((char *)&p + ranges[i].at, &values[j], sizeof(uint32_t));
            assert_int_equal(policy_validate(&p), results[j]);
        }
    }
    p = base;
    p.words.stop_list = N_STOP_LISTS;
    assert_int_equal(policy_validate(&p), -EINVAL);
    p = base;
    p.words.stemmer = N_STEMMERS;
    assert_int_equal(policy_validate(&p), -EINVAL);
    p = base;
    p.words.tokens = N_TOKEN_CHOICES;
    assert_int_equal(policy_validate(&p), -EINVAL);
    p = base;
    memset(p.name, 'x', sizeof(p.name));
    assert_int_equal(policy_validate(&p), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policy__has_the_documented_presets),
        cmocka_unit_test(test_policy__every_store_gets_its_own_key),
        cmocka_unit_test(test_policy__the_id_depends_on_every_field),
        cmocka_unit_test(test_policy__survives_being_stored),
        cmocka_unit_test(test_policy__refuses_a_damaged_one),
        cmocka_unit_test(test_policy__one_of_another_version_is_told_from_a_damaged_one),
        cmocka_unit_test(test_policy__of_an_earlier_version_is_one_of_another),
        cmocka_unit_test(test_policy__refuses_fields_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
