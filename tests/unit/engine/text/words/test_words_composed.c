/* Words of equivalent texts are one: composed, whatever their marks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "engine/text/words/compose.h"
#include "tests/lib/fixtures/words_fixture.h"

/* Characters of all scripts: letters that compose, marks, their forms, what has no width. Without
 * the iota below a letter (U+0345), of which words.c says what it is. */
static uint32_t random_code(unsigned *seed)
{
    static const uint32_t ranges[][2] = {
        {'a', 'z'},         {'A', 'Z'},         {0xc0, 0x17f},      {0x1e00, 0x1eff},
        {0x300, 0x344},     {0x346, 0x36f},     {0x37b, 0x3ff},     {0x400, 0x45f},
        {0x591, 0x5f4},     {0x610, 0x6ff},     {0x900, 0x9ff},     {0xb00, 0xbff},
        {0xc00, 0xdff},     {0xe01, 0xe5b},     {0xf40, 0xfbc},     {0x1000, 0x1049},
        {0x1100, 0x11ff},   {0x1780, 0x17dd},   {0x1b00, 0x1b44},   {0x1f00, 0x1f7d},
        {0x2000, 0x206f},   {0x212a, 0x212b},   {0x2160, 0x217f},   {0x3041, 0x3099},
        {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfb00, 0xfbff},   {0xfe00, 0xfefc},
        {0xff10, 0xffa0},   {0x11080, 0x110ba}, {0x11300, 0x114c3}, {0x1d400, 0x1d7ff},
        {0x2f800, 0x2fa1d}, {0xe0100, 0xe01ef}, {0x1d15e, 0x1d164},
    };
    const uint32_t *range = ranges[(size_t)rand_r(seed) % (sizeof(ranges) / sizeof(ranges[0]))];
    return range[0] + (uint32_t)rand_r(seed) % (range[1] - range[0] + 1);
}

/* Runs of one script and its neighbours with marks of any, so that much of it composes. */
static size_t random_unicode(uint8_t *out, unsigned n_codes, unsigned *seed)
{
    size_t size = 0;
    while (n_codes-- > 0) {
        static const uint32_t marks[] = {
            0x300, 0x301,  0x302,  0x303,  0x304,  0x306,  0x307,  0x308,  0x30a, 0x30c,
            0x316, 0x31b,  0x323,  0x327,  0x328,  0x338,  0x93c,  0x94d,  0x5b0, 0x5bc,
            0x64b, 0x653,  0x654,  0xe48,  0xe38,  0x3099, 0x309a, 0xff9e, 0x9be, 0xbbe,
            0xdcf, 0x102e, 0x1161, 0x11a8, 0x200d, 0xad,   0xfe0f, 0x200b, 0x34f};
        uint32_t code = rand_r(seed) % 3 == 0 ? random_code(seed)
                        : rand_r(seed) % 2
                            ? (uint32_t) "aeiouAEIOUcgklnrstyz"[rand_r(seed) % 20]
                            : marks[(size_t)rand_r(seed) % (sizeof(marks) / sizeof(marks[0]))];
        if (code < 0xd800 || code > 0xdfff)
            size += (size_t)utf8proc_encode_char((utf8proc_int32_t)code, out + size);
    }
    out[size] = '\0';
    return size;
}

static void test_words__are_composed_as_utf8proc_composes_the_whole_text(void **state)
{
    (void)state;
    unsigned seed = 3;
    uint8_t text[400];
    for (unsigned round = 0; round < 40000; round++) {
        /* One word, beginning with a letter that no mark changes into a separator. */
        text[0] = 'x';
        random_unicode(text + 1, 1 + (unsigned)rand_r(&seed) % 12, &seed);
        struct tokens found = by_bytes(kernel_in_use(), text, strlen((char *)text), 1 << 20, round);
        uint8_t *folded = fold_all(text);
        struct tokens expected =
            by_bytes(kernel_in_use(), folded, strlen((char *)folded), 1 << 20, round);
        /* What separates is between them in one and in the folded text. */
        if (strcmp(found.text, expected.text) != 0) {
            print_codes(text);
            fail_msg("round %u: %s, not %s", round, found.text, expected.text);
        }
        /* A word alone is the folded text. */
        size_t size = strlen(found.text);
        if (size > 1 && memchr(found.text, ' ', size) == found.text + size - 1 &&
            strlen((char *)folded) == size - 1)
            assert_memory_equal(found.text, folded, size - 1);
        free(folded);
        tokens_free(&found);
        tokens_free(&expected);
    }
}

/* A letter of Latin, Greek (none with an iota below), Cyrillic or an Indic script that is others
 * composed. */
static uint32_t any_composed(unsigned *seed)
{
    for (;;) {
        uint32_t code = 0xc0 + (uint32_t)rand_r(seed) % 0x1ec0;
        const utf8proc_property_t *property = utf8proc_get_property((utf8proc_int32_t)code);
        if (property->decomp_seqindex != UINT16_MAX && !property->decomp_type &&
            !property->combining_class && property->category <= UTF8PROC_CATEGORY_LO)
            return code;
    }
}

/* But for the iota below, which folds to a letter. */
static uint32_t any_mark(unsigned *seed)
{
    for (;;) {
        uint32_t code = 0x300 + (uint32_t)rand_r(seed) % (rand_r(seed) % 2 ? 0x70 : 0x1e00);
        if (utf8proc_get_property((utf8proc_int32_t)code)->combining_class && code != 0x345)
            return code;
    }
}

/* Of few classes, so that most marks stand behind others of their class and ahead of later ones. */
static void test_words__letters_of_many_marks_are_composed_as_utf8proc_does(void **state)
{
    (void)state;
    enum { MARKS_MAX = COMPOSE_MARKS_MAX - 3 /* that a letter brings */ };
    static const uint32_t letters[] = {'a', 'o', 'x', 0xe1, 0x1ead, 0x1ee3, 0x1f04, 0x105, 0x3b9};
    static const uint32_t marks[] = {0x301, 0x302, 0x308, 0x304, 0x323, 0x316, 0x331, 0x327,
                                     0x328, 0x321, 0x31b, 0x338, 0x334, 0x315, 0x5b0, 0x35c};
    unsigned seed = 7;
    uint8_t text[4 * (1 + MARKS_MAX) + 1];
    for (unsigned round = 0; round < 40000; round++) {
        const bool any = round % 2; /* that Unicode has */
        uint32_t letter =
            any ? any_composed(&seed)
                : letters[(size_t)rand_r(&seed) % (sizeof(letters) / sizeof(*letters))];
        size_t size = (size_t)utf8proc_encode_char((utf8proc_int32_t)letter, text);
        unsigned n_kinds = 1 + (unsigned)rand_r(&seed) % 16, first = (unsigned)rand_r(&seed) % 16;
        for (int n = rand_r(&seed) % (MARKS_MAX + 1); n > 0; n--) {
            uint32_t mark =
                any ? any_mark(&seed) : marks[(first + (unsigned)rand_r(&seed) % n_kinds) % 16];
            size += (size_t)utf8proc_encode_char((utf8proc_int32_t)mark, text + size);
        }
        text[size] = '\0';
        uint8_t *folded = fold_all(text);
        struct tokens found = by_bytes(kernel_in_use(), text, size, 1 << 20, round);
        if (strncmp(found.text, (char *)folded, found.size - 1) != 0 ||
            strlen((char *)folded) != strlen(found.text) - 1) {
            print_codes(text);
            print_codes((uint8_t *)found.text);
            print_codes(folded);
            fail_msg("round %u", round);
        }
        free(folded);
        tokens_free(&found);
    }
}

static void test_words__equivalent_texts_are_one(void **state)
{
    (void)state;
    unsigned seed = 4;
    uint8_t text[8000];
    for (unsigned round = 0; round < 3000; round++) {
        size_t size = random_unicode(text, 1 + (unsigned)rand_r(&seed) % 40, &seed);
        if (round % 5 == 0) /* letters that a kernel takes before and behind it */
            strcpy((char *)text + size, "cafe\xcc\x81 resume\xcc\x81 and so on, and so on");
        uint8_t *composed = normalise(text, UTF8PROC_COMPOSE);
        uint8_t *decomposed = normalise(text, UTF8PROC_DECOMPOSE);
        struct tokens tokens =
            by_bytes(kernel_in_use(), composed, strlen((char *)composed), 1 << 20, round);
        expect_tokens(composed, tokens.text, round);
        expect_tokens(decomposed, tokens.text, round);
        expect_tokens(text, tokens.text, round);
        free(composed);
        free(decomposed);
        tokens_free(&tokens);
    }
}

/* Where a word is longer than a token may be, it is cut where it is cut composed. */
static void test_words__equivalent_long_words_are_cut_alike(void **state)
{
    (void)state;
    static const char *const ends[] = {"\xc3\xa9",         "\xe1\xbb\x87", "\xcc\xa7\xcc\x81",
                                       "\xea\xb0\x81",     "\xe3\x81\x8c", "\xe1\xb8\xb9",
                                       "x\xcc\x96\xcc\x81"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        for (size_t length = 240; length < 262; length++) {
            uint8_t text[400];
            memset(text, 'b', length);
            sprintf((char *)text + length, "%sx y", ends[i]);
            uint8_t *composed = normalise(text, UTF8PROC_COMPOSE);
            uint8_t *decomposed = normalise(text, UTF8PROC_DECOMPOSE);
            struct tokens tokens =
                by_bytes(KERNEL_SCALAR, composed, strlen((char *)composed), 1 << 20, 0);
            expect_tokens(composed, tokens.text, (unsigned)length);
            expect_tokens(decomposed, tokens.text, (unsigned)length);
            free(composed);
            free(decomposed);
            tokens_free(&tokens);
        }
    }
}

static void test_words__marks_without_end_are_taken_as_they_come(void **state)
{
    (void)state;
    uint8_t text[8002] = "a";
    for (size_t i = 1; i < 7999; i += 2)
        memcpy(text + i, i % 4 == 1 ? "\xcc\x81" : "\xcc\xa3", 3);
    struct tokens tokens = by_bytes(KERNEL_SCALAR, text, strlen((char *)text), 1 << 20, 0);
    assert_int_equal(utf8proc_iterate((uint8_t *)tokens.text, -1, &(utf8proc_int32_t){0}), 3);
    expect_tokens(text, tokens.text, 0);
    tokens_free(&tokens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words__are_composed_as_utf8proc_composes_the_whole_text),
        cmocka_unit_test(test_words__letters_of_many_marks_are_composed_as_utf8proc_does),
        cmocka_unit_test(test_words__equivalent_texts_are_one),
        cmocka_unit_test(test_words__equivalent_long_words_are_cut_alike),
        cmocka_unit_test(test_words__marks_without_end_are_taken_as_they_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
