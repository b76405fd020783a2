#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/ratio.h"
#include "engine/index/tables/record.h"

static struct policy policy;

/* A record of a text whose shingles are the numbers first..last, spread over the range. */
static struct record make(unsigned first, unsigned last)
{
    struct record record = {
        .key = {.size_bytes = 20, .bytes = "the key of a file .."},
        .size_bytes = 12345,
        .mtime = {1700000000, 999999999},
        .ctime = {-1, 0},
        .form = {.type = TEXT_PLAIN,
                 .charset = TEXT_CHARSET_UTF16BE,
                 .codec = TEXT_CODEC_ZSTD,
                 .cut = true,
                 .damaged = true},
    };
    struct min_sketch_builder *builder;
    struct min_sketch sketch;
    assert_int_equal(min_sketch_builder_new(&policy, &builder), 0);
    min_sketch_builder_begin(builder);
    for (unsigned i = first; i <= last; i++) {
        uint64_t fingerprint = (i + 1) * 0x9e3779b97f4a7c15u;
        min_sketch_builder_add(builder, &fingerprint, 1);
    }
    min_sketch_builder_finish(builder, last - first + 1, &sketch);
    assert_int_equal(min_sketch_copy(&sketch, &record.sketch), 0);
    min_sketch_builder_free(builder);
    min_sketch_fingerprint(&record.sketch, record.shingle_fingerprint);
    memset(record.content_fingerprint, (int)(first + last), FINGERPRINT_BYTES);
    memset(record.text_fingerprint, (int)(first + last + 1), FINGERPRINT_BYTES);
    return record;
}

static struct record make_binary(uint8_t content)
{
    struct record record = {.key = {.size_bytes = 12}, .form.type = TEXT_BINARY};
    memset(record.content_fingerprint, content, FINGERPRINT_BYTES);
    record.sketch.policy_id = policy_id(&policy);
    return record;
}

static void test_record__comes_back_as_it_was_encoded(void **state)
{
    (void)state;
    struct record record = make(1, 100), decoded;
    struct kv_buf value;
    assert_int_equal(record_encode(&record, &value), 0);
    assert_int_equal(record_decode(value.data, value.size_bytes, &decoded), 0);
    assert_true(file_key_equal(&record.key, &decoded.key));
    assert_int_equal(decoded.size_bytes, record.size_bytes);
    assert_int_equal(decoded.mtime.tv_sec, record.mtime.tv_sec);
    assert_int_equal(decoded.mtime.tv_nsec, record.mtime.tv_nsec);
    assert_int_equal(decoded.ctime.tv_sec, record.ctime.tv_sec);
    char form[2][TEXT_FORM_MAX_BYTES];
    text_form_print(&decoded.form, form[0]);
    text_form_print(&record.form, form[1]);
    assert_string_equal(form[0], form[1]);
    assert_string_equal(form[0], "text, utf-16be, zstd, cut, damaged");
    assert_memory_equal(decoded.content_fingerprint, record.content_fingerprint, 16);
    assert_memory_equal(decoded.text_fingerprint, record.text_fingerprint, 16);
    assert_memory_equal(decoded.shingle_fingerprint, record.shingle_fingerprint, 16);
    assert_int_equal(decoded.sketch.n_values, record.sketch.n_values);
    record_done(&decoded);
    record_done(&record);
    kv_buf_done(&value);
}

static void test_record__no_damage_makes_it_crash(void **state)
{
    (void)state;
    struct record record = make(1, 20), decoded;
    struct kv_buf value;
    assert_int_equal(record_encode(&record, &value), 0);
    for (size_t size = 0; size < value.size_bytes; size++)
        assert_int_equal(record_decode(value.data, size, &decoded), -EUCLEAN);
    for (size_t i = 0; i < value.size_bytes; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            ((uint8_t *)value.data)[i] ^= (uint8_t)(1u << bit);
            int r = record_decode(value.data, value.size_bytes, &decoded);
            assert_true(r == 0 || r == -EUCLEAN);
            if (r == 0)
                record_done(&decoded);
            ((uint8_t *)value.data)[i] ^= (uint8_t)(1u << bit);
        }
    }
    record_done(&record);
    kv_buf_done(&value);
}

static void test_record__one_is_said_only_of_what_is_one(void **state)
{
    (void)state;
    struct estimate estimate;
    /* So many shingles that neither sketch holds all, and all sampled ones are the same. */
    struct record a = make(1, 4000), b = make(1, 4000);
    a.form = b.form = (struct text_form){.type = TEXT_PLAIN};
    memset(b.content_fingerprint, 0xee, FINGERPRINT_BYTES);
    memset(b.text_fingerprint, 0xee, FINGERPRINT_BYTES);
    assert_int_equal(record_resemblance(&a, &b, &estimate), 0);
    assert_false(estimate.exact);
    assert_true(estimate.value < 1.0 && estimate.value > 0.999 && estimate.error > 0.0);

    memcpy(b.text_fingerprint, a.text_fingerprint, FINGERPRINT_BYTES);
    assert_int_equal(record_resemblance(&a, &b, &estimate), 0);
    assert_true(estimate.exact && estimate.value == 1.0);
    /* What the rest of either is, is not known. */
    b.form.cut = true;
    assert_int_equal(record_resemblance(&a, &b, &estimate), 0);
    assert_true(estimate.value < 1.0);
    b.form = (struct text_form){.type = TEXT_PLAIN, .damaged = true};
    assert_int_equal(record_containment(&b, &a, &estimate), 0);
    assert_true(estimate.value < 1.0);
    memcpy(b.content_fingerprint, a.content_fingerprint, FINGERPRINT_BYTES);
    assert_int_equal(record_resemblance(&a, &b, &estimate), 0);
    assert_true(estimate.exact && estimate.value == 1.0);
    record_done(&a);
    record_done(&b);
}

/* All shingles of one, or of both, are in the other, as far as samples tell or for certain: they
 * differ for all that. */
static void test_record__one_is_not_said_of_what_contains_all_of_it(void **state)
{
    (void)state;
    static const unsigned lasts[][2] = {{50, 50}, {50, 90}, {4000, 4000}, {4000, 9000}};
    for (size_t i = 0; i < sizeof(lasts) / sizeof(lasts[0]); i++) {
        struct estimate estimate;
        struct record a = make(1, lasts[i][0]), b = make(1, lasts[i][1]);
        a.form = b.form = (struct text_form){.type = TEXT_PLAIN};
        memset(b.content_fingerprint, 0xee, FINGERPRINT_BYTES);
        memset(b.text_fingerprint, 0xee, FINGERPRINT_BYTES);
        assert_int_equal(record_containment(&a, &b, &estimate), 0);
        assert_string_equal(ratio_text(estimate.value).text, "0.9999");
        assert_int_equal(record_resemblance(&a, &b, &estimate), 0);
        assert_in_range(ratio_percent(estimate.value), 30, 99);
        memcpy(b.text_fingerprint, a.text_fingerprint, FINGERPRINT_BYTES);
        assert_int_equal(record_containment(&a, &b, &estimate), 0);
        assert_true(estimate.exact && estimate.value == 1.0 && estimate.error == 0.0);
        record_done(&a);
        record_done(&b);
    }
}

static void test_record__binaries_resemble_only_their_identical_twins(void **state)
{
    (void)state;
    struct estimate estimate;
    struct record a = make_binary(1), twin = make_binary(1), other = make_binary(2);
    struct record text = make(1, 50);
    assert_int_equal(record_resemblance(&a, &twin, &estimate), 0);
    assert_true(estimate.value == 1.0);
    assert_int_equal(record_resemblance(&a, &other, &estimate), 0);
    assert_true(estimate.value == 0.0);
    assert_int_equal(record_resemblance(&a, &text, &estimate), 0);
    assert_true(estimate.value == 0.0);
    record_done(&text);
}

static void test_record__class_is_by_text_and_never_by_a_sample_or_the_empty_set(void **state)
{
    (void)state;
    uint8_t x[CLASS_BYTES], y[CLASS_BYTES];
    struct record a = make(1, 50), b = make(1, 50), c = make(1, 51);
    a.form = b.form = c.form = (struct text_form){.type = TEXT_PLAIN};
    memset(b.content_fingerprint, 0xee, FINGERPRINT_BYTES);
    record_class(&a, x);
    record_class(&b, y);
    assert_memory_equal(x, y, CLASS_BYTES);
    record_class(&c, y);
    assert_memory_not_equal(x, y, CLASS_BYTES);
    memset(b.text_fingerprint, 0xee, FINGERPRINT_BYTES); /* of the same shingles */
    record_class(&b, y);
    assert_memory_not_equal(x, y, CLASS_BYTES);
    memcpy(b.text_fingerprint, a.text_fingerprint, FINGERPRINT_BYTES);
    b.form.cut = true; /* what follows could differ */
    record_class(&b, y);
    assert_memory_not_equal(x, y, CLASS_BYTES);

    struct record empty = make_binary(1), other = make_binary(2); /* J6 */
    record_class(&empty, x);
    record_class(&other, y);
    assert_memory_not_equal(x, y, CLASS_BYTES);
    record_done(&a);
    record_done(&b);
    record_done(&c);
}

static void test_record__two_policies_never_compare(void **state)
{
    (void)state;
    struct estimate estimate;
    struct record a = make(1, 50), b = make(1, 50);
    b.sketch.policy_id++;
    assert_int_equal(record_resemblance(&a, &b, &estimate), -EPROTO);
    record_done(&a);
    record_done(&b);
}

static int make_policy(void **state)
{
    (void)state;
    return policy_preset("default", &policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record__comes_back_as_it_was_encoded),
        cmocka_unit_test(test_record__no_damage_makes_it_crash),
        cmocka_unit_test(test_record__one_is_said_only_of_what_is_one),
        cmocka_unit_test(test_record__binaries_resemble_only_their_identical_twins),
        cmocka_unit_test(test_record__one_is_not_said_of_what_contains_all_of_it),
        cmocka_unit_test(test_record__class_is_by_text_and_never_by_a_sample_or_the_empty_set),
        cmocka_unit_test(test_record__two_policies_never_compare),
    };
    return cmocka_run_group_tests(tests, make_policy, NULL);
}
