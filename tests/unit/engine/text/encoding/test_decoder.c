#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/text/encoding/decoder.h"
#include "tests/unit/engine/text/canonical.h"
#include "tests/unit/engine/text/encoding/packed.h"

static void expect(const struct packed *packed, const char *tokens, bool damaged)
{
    for (size_t i = 0; i < PACKED_N_PIECES; i++) {
        struct canonical found = canonical_of(packed->bytes, packed->size, packed_pieces[i]);
        assert_string_equal(found.text, tokens);
        assert_int_equal(found.form.codec, packed->codec);
        assert_int_equal(found.form.damaged, damaged);
        assert_false(found.form.cut);
        canonical_done(&found);
    }
}

static void test_decoder__packed_text_has_the_tokens_of_the_text(void **state)
{
    (void)state;
    static const size_t sizes[] = {40, 1000, 8192, 16 * 1024 + 33, 100000};
    static char text[100000];
    static struct packed packed;
    for (enum text_codec codec = TEXT_CODEC_GZIP; codec < TEXT_N_CODECS; codec++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            size_t size = packed_make_text(text, sizes[i]);
            struct canonical plain = canonical_of(text, size, 0);
            assert_true(plain.size > 0);
            packed = (struct packed){.codec = codec};
            packed_add(&packed, text, size);
            expect(&packed, plain.text, false);
            /* Two members, or frames, are the text twice. */
            packed_add(&packed, text, size);
            char *twice = NULL;
            assert_true(asprintf(&twice, "%s%s", plain.text, plain.text) > 0);
            text[size - 1] = ' ';
            expect(&packed, twice, false);
            free(twice);
            canonical_done(&plain);
        }
    }
}

/* What there is when a piece ends may fill the decoder's buffer to the last byte. */
static void test_decoder__output_that_just_fills_the_buffer_is_whole(void **state)
{
    (void)state;
    enum { BUFFER_BYTES = 16 * 1024, N_BUFFERS = 24 };
    static char text[N_BUFFERS * BUFFER_BYTES];
    static struct packed packed;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = i % 8 ? 'x' : ' ';
    for (size_t size = BUFFER_BYTES; size <= sizeof(text); size += 23 * BUFFER_BYTES) {
        struct canonical plain = canonical_of(text, size, 0);
        for (enum text_codec codec = TEXT_CODEC_GZIP; codec < TEXT_N_CODECS; codec++) {
            packed = (struct packed){.codec = codec};
            packed_add(&packed, text, size);
            expect(&packed, plain.text, false);
        }
        canonical_done(&plain);
    }
}

static void test_decoder__empty_members_and_padding_are_nothing(void **state)
{
    (void)state;
    static struct packed packed;
    for (enum text_codec codec = TEXT_CODEC_GZIP; codec < TEXT_N_CODECS; codec++) {
        packed = (struct packed){.codec = codec};
        packed_add(&packed, "", 0);
        expect(&packed, "", false);
        packed_add(&packed, "one ", 4);
        packed_add(&packed, "", 0);
        packed_add(&packed, "two", 3);
        expect(&packed, "one two ", false);
        if (codec == TEXT_CODEC_ZSTD || codec == TEXT_CODEC_LZ4)
            continue;
        memset(packed.bytes + packed.size, 0, 512);
        packed.size += 512;
        expect(&packed, "one two ", false);
    }
}

/* Cut short anywhere: what came before counts, and is said to be not all. */
static void test_decoder__what_is_cut_short_is_a_beginning(void **state)
{
    (void)state;
    static char text[2000];
    static struct packed packed;
    size_t size = packed_make_text(text, sizeof(text));
    struct canonical plain = canonical_of(text, size, 0);
    for (enum text_codec codec = TEXT_CODEC_GZIP; codec < TEXT_N_CODECS; codec++) {
        packed = (struct packed){.codec = codec};
        packed_add(&packed, text, size);
        for (size_t n = 6; n < packed.size; n++) {
            struct canonical found = canonical_of(packed.bytes, n, n % 3 ? 0 : 1 << 20);
            assert_true(found.form.damaged);
            assert_int_equal(found.form.codec, codec);
            /* The last word may be half of one, and a character half of one. */
            size_t common = found.size;
            while (common > 0 && memcmp(found.text, plain.text, common) != 0)
                common--;
            assert_true(found.size - common < 8);
            canonical_done(&found);
        }
    }
    canonical_done(&plain);
}

/* Of what was packed twice all may be there but the sum behind it. */
static void test_decoder__damage_of_the_outer_packing_is_told(void **state)
{
    (void)state;
    static struct packed once, twice;
    once = (struct packed){.codec = TEXT_CODEC_GZIP};
    packed_add(&once, "packed words", 12);
    twice = (struct packed){.codec = TEXT_CODEC_GZIP};
    packed_add(&twice, once.bytes, once.size);
    twice.bytes[twice.size - 8] ^= 1;
    expect(&twice, "packed words ", true);
}

static void test_decoder__damage_is_told_and_does_not_depend_on_the_pieces(void **state)
{
    (void)state;
    static char text[20000];
    static struct packed packed;
    unsigned seed = 3, n_damaged = 0;
    for (unsigned round = 0; round < 200; round++) {
        size_t size = packed_make_text(text, sizeof(text));
        packed = (struct packed){.codec = TEXT_CODEC_GZIP + round % (TEXT_N_CODECS - 1)};
        packed_add(&packed, text, size);
        packed.bytes[6 + (size_t)rand_r(&seed) % (packed.size - 6)] ^=
            (uint8_t)(1 + rand_r(&seed) % 255);
        struct canonical whole = canonical_of(packed.bytes, packed.size, 1 << 20);
        struct canonical parts = canonical_of(packed.bytes, packed.size, 0);
        assert_string_equal(whole.text, parts.text);
        assert_int_equal(whole.form.damaged, parts.form.damaged);
        n_damaged += packed.codec != TEXT_CODEC_ZSTD && whole.form.damaged;
        canonical_done(&whole);
        canonical_done(&parts);
    }
    /* Of 160: gzip's header has bytes that nothing checks. (zstd checks nothing unless told to.) */
    assert_true(n_damaged > 145);
}

static void test_decoder__packed_twice_is_text_and_three_times_binary(void **state)
{
    (void)state;
    static struct packed once, twice, thrice;
    once = (struct packed){.codec = TEXT_CODEC_ZSTD};
    packed_add(&once, "packed words", 12);
    twice = (struct packed){.codec = TEXT_CODEC_XZ};
    packed_add(&twice, once.bytes, once.size);
    expect(&twice, "packed words ", false);
    thrice = (struct packed){.codec = TEXT_CODEC_GZIP};
    packed_add(&thrice, twice.bytes, twice.size);
    struct canonical found = canonical_of(thrice.bytes, thrice.size, 0);
    assert_int_equal(found.form.type, TEXT_BINARY);
    assert_int_equal(found.form.codec, TEXT_CODEC_GZIP);
    canonical_done(&found);
}

static void test_decoder__markup_inside_is_seen(void **state)
{
    (void)state;
    static struct packed packed;
    packed = (struct packed){.codec = TEXT_CODEC_GZIP};
    packed_add(&packed, "<html><b>x</b> y", 16);
    expect(&packed, "x y ", false);
    struct canonical found = canonical_of(packed.bytes, packed.size, 0);
    char form[TEXT_FORM_MAX_BYTES];
    text_form_print(&found.form, form);
    assert_string_equal(form, "html, gzip");
    canonical_done(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decoder__packed_text_has_the_tokens_of_the_text),
        cmocka_unit_test(test_decoder__output_that_just_fills_the_buffer_is_whole),
        cmocka_unit_test(test_decoder__empty_members_and_padding_are_nothing),
        cmocka_unit_test(test_decoder__what_is_cut_short_is_a_beginning),
        cmocka_unit_test(test_decoder__damage_of_the_outer_packing_is_told),
        cmocka_unit_test(test_decoder__damage_is_told_and_does_not_depend_on_the_pieces),
        cmocka_unit_test(test_decoder__packed_twice_is_text_and_three_times_binary),
        cmocka_unit_test(test_decoder__markup_inside_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
