#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "engine/text/words.h"

/* The tokens, each followed by a space; none has one. */
struct tokens {
    char *text;
    size_t size, room;
};

static void tokens_free(struct tokens *tokens)
{
    free(tokens->text);
}

static void collect(void *user, const struct token_block *block)
{
    struct tokens *tokens = user;
    uint32_t at = 0;
    assert_in_range(block->n_tokens, 1, TOKEN_BLOCK_MAX);
    size_t n = block->ends[block->n_tokens - 1] + block->n_tokens + 1;
    if (tokens->size + n > tokens->room) {
        tokens->room = 2 * (tokens->room + n);
        tokens->text = realloc(tokens->text, tokens->room);
        assert_non_null(tokens->text);
    }
    for (size_t i = 0; i < block->n_tokens; at = block->ends[i++]) {
        size_t size = block->ends[i] - at;
        assert_in_range(size, 1, CANON_TOKEN_MAX_BYTES);
        memcpy(tokens->text + tokens->size, block->bytes + at, size);
        tokens->size += size;
        tokens->text[tokens->size++] = ' ';
    }
    tokens->text[tokens->size] = '\0';
    volatile uint8_t sum = 0; /* what may be read behind the last token */
    for (size_t i = 0; i < TOKEN_BLOCK_SLACK_BYTES; i++)
        sum = (uint8_t)(sum + block->bytes[at + i]);
}

static struct words *new_words(struct tokens *tokens, enum kernel kernel)
{
    struct words *words = calloc(1, sizeof(*words));
    assert_non_null(words);
    words_init(words, &(struct canon_sink){collect, NULL, tokens});
    assert_ptr_equal(words->take_ascii, ascii_words(kernel_in_use()));
    words->take_ascii = ascii_words(kernel);
    words_begin(words);
    return words;
}

static int has_kernel(enum kernel kernel)
{
    return kernel_is_there(kernel) && ascii_words(kernel) != NULL;
}

/* Pieces of piece_bytes; 0: of random size. */
static struct tokens by_bytes(enum kernel kernel, const uint8_t *bytes, size_t size_bytes,
                              size_t piece_bytes, unsigned seed)
{
    struct tokens tokens = {0};
    struct words *words = new_words(&tokens, kernel);
    for (size_t at = 0, n; at < size_bytes; at += n) {
        n = piece_bytes ? piece_bytes : (size_t)rand_r(&seed) % 200;
        if (n > size_bytes - at)
            n = size_bytes - at;
        uint8_t *piece = malloc(n ? n : 1); /* a byte read past it is noticed */
        memcpy(piece, bytes + at, n);
        words_feed(words, piece, n);
        free(piece);
    }
    words_finish(words);
    free(words);
    if (!tokens.text)
        tokens.text = strdup("");
    return tokens;
}

/* Another route: characters as utf8proc reads them, one by one; no kernel, no table of bytes. */
static struct tokens by_characters(const uint8_t *bytes, size_t size_bytes)
{
    struct tokens tokens = {0};
    struct words *words = new_words(&tokens, KERNEL_SCALAR);
    for (size_t at = 0; at < size_bytes;) {
        utf8proc_int32_t code;
        utf8proc_ssize_t n =
            utf8proc_iterate(bytes + at, (utf8proc_ssize_t)(size_bytes - at), &code);
        if (n > 0)
            words_feed_code(words, (uint32_t)code);
        else
            words_separate(words);
        at += n > 0 ? (size_t)n : 1;
    }
    words_finish(words);
    free(words);
    if (!tokens.text)
        tokens.text = strdup("");
    return tokens;
}

/* -- A1: every character, by the table and by utf8proc -- */

static bool is_one_of(uint32_t code, const uint32_t *ends, size_t n)
{
    bool within = false;
    for (size_t i = 0; i < n && code >= ends[i]; i++)
        within = !within;
    return within;
}

#define IS_ONE_OF(code, ends) is_one_of(code, ends, sizeof(ends) / sizeof((ends)[0]))

/* What "xCy" is as tokens, each followed by a space. */
static void expected_tokens(uint32_t code, char *out)
{
    /* The first of a range, and the first past it, in order. */
    static const uint32_t han_and_kana[] = {
        0x3005, 0x3008, 0x3021, 0x302a, 0x3038, 0x303c, 0x3041, 0x3100,  0x31f0,  0x3200,  0x3400,
        0x4dc0, 0x4e00, 0xa000, 0xf900, 0xfb00, 0xff66, 0xffa0, 0x1aff0, 0x1b170, 0x20000, 0x40000};
    static const uint32_t south_east[] = {0xe00,  0xf00,  0x1000, 0x10a0, 0x1780,  0x1800,
                                          0xa9e0, 0xaa00, 0xaa60, 0xaa80, 0x116d0, 0x11700};
    const char *category = utf8proc_category_string((utf8proc_int32_t)code);
    bool letter = category[0] == 'L', number = category[0] == 'N';

    if (strcmp(category, "Cf") == 0 && code != 0x200b) {
        strcpy(out, "xy ");
        return;
    }
    if (!letter && !number && category[0] != 'M' && code != '_') {
        strcpy(out, "x y ");
        return;
    }
    uint8_t bytes[5] = {0}, *folded = NULL;
    bytes[utf8proc_encode_char((utf8proc_int32_t)code, bytes)] = '\0';
    assert_true(utf8proc_map(bytes, 0, &folded, UTF8PROC_NULLTERM | UTF8PROC_CASEFOLD) > 0);
    bool sign = code == 0xe33 || code == 0xeb3; /* the vowel "am" */
    bool solo = ((letter || number) && IS_ONE_OF(code, han_and_kana)) ||
                (letter && !sign && IS_ONE_OF(code, south_east));
    sprintf(out, solo ? "x %s y " : "x%sy ", folded);
    free(folded);
}

static void test_words__every_character_is_what_unicode_says(void **state)
{
    (void)state;
    struct tokens tokens[3] = {0};
    struct words *words[3];
    for (size_t i = 0; i < 3; i++)
        words[i] = new_words(&tokens[i], KERNEL_SCALAR);
    for (uint32_t code = 0; code < 0x110000; code++) {
        if (code == 0xd800)
            code = 0xe000;
        char text[16] = "x";
        int n = 1 + (int)utf8proc_encode_char((utf8proc_int32_t)code, (uint8_t *)text + 1);
        memcpy(text + n, "y ", 3);
        n += 2;
        words_feed_code(words[0], 'x');
        words_feed_code(words[0], code);
        words_feed_code(words[0], 'y');
        words_feed_code(words[0], ' ');
        for (int i = 0; i < n; i++)
            words_feed(words[1], (uint8_t *)text + i, 1);
        memcpy(text + n, "........", 8); /* so far it looks ahead */
        words_feed(words[2], (uint8_t *)text, (size_t)n + 8);

        char at_once[64];
        expected_tokens(code, at_once);
        for (size_t i = 0; i < 3; i++)
            tokens[i].size = 0;
        for (size_t i = 0; i < 3; i++) {
            words_finish(words[i]);
            words_begin(words[i]);
            if (strcmp(tokens[i].text, at_once) != 0)
                fail_msg("U+%04X: %s, not %s", (unsigned)code, tokens[i].text, at_once);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        free(words[i]);
        tokens_free(&tokens[i]);
    }
}

static void expect(const char *text, const char *expected)
{
    for (int kernel = 0; kernel < KERNEL_N; kernel++) {
        if (!has_kernel((enum kernel)kernel))
            continue;
        for (size_t piece = 1; piece < 100; piece += 7) {
            struct tokens tokens =
                by_bytes((enum kernel)kernel, (const uint8_t *)text, strlen(text), piece, 0);
            assert_string_equal(tokens.text, expected);
            tokens_free(&tokens);
        }
    }
}

static void test_words__of_scripts_without_spaces_are_letters_with_their_marks(void **state)
{
    (void)state;
    expect("กิน น้ำ", "กิ น น้ำ ");            /* Thai: am is a letter, and joins */
    expect("เด็ก ๒๕๖๗ ๆ", "เ ด็ ก ๒๕๖๗ ๆ "); /* a vowel before its consonant; digits; repetition */
    expect("ລາວ ນ້ຳ ໑໒", "ລ າ ວ ນ້ຳ ໑໒ ");   /* Lao */
    expect("ភាសា ខ្មែរ ១២", "ភា សា ខ្ មែ រ ១២ "); /* Khmer */
    expect("မြန်မာ ၁၂", "မြ န် မာ ၁၂ ");          /* Burmese */
    expect("Thaiไทยx1ก2", "thai ไ ท ย x1 ก 2 ");
    expect("ไ\xe2\x80\x8bท", "ไ ท ");               /* zero width space */
    expect("ab\xe0\xb8\xb4กิ", "ab\xe0\xb8\xb4 กิ "); /* a mark on another script's letter */
}

/* -- kernels -- */

static size_t append(uint8_t *to, const char *text)
{
    memcpy(to, text, strlen(text));
    return strlen(text);
}

/* Words and spaces of lengths that kernels find hard, in stretches of ASCII and of the rest. */
static size_t random_text(uint8_t *out, size_t room, unsigned *seed)
{
    static const char *const others[] = {"é",
                                         "É",
                                         "漢",
                                         "か\xe3\x82\x99",
                                         "ж",
                                         "Ж",
                                         "ß",
                                         "กิ",
                                         "\xf0\x90\x90\x80",
                                         "\xc2\xad",
                                         "\xe2\x80\x8b",
                                         "\xcc\x81",
                                         "\xc3",
                                         "\xe2\x82",
                                         "\xf0\x9f\x98",
                                         "\xff",
                                         "\x80",
                                         "한국",
                                         "ΐ",
                                         "\xe2\x80\xa6",
                                         "\xef\xac\x80"};
    static const char letters[] = "abcXYZ019_zZaA", separators[] = " \n.,-/@[`{\x7f\x01";
    size_t size = 0;
    unsigned plain = (unsigned)rand_r(seed) % 40; /* others come one in so many */
    while (size + 700 < room) {
        unsigned kind = (unsigned)rand_r(seed) % 64;
        if (kind < 60) {
            size_t n = 1 + (size_t)rand_r(seed) % (kind < 50 ? 12 : kind < 58 ? 70 : 600);
            for (size_t i = 0; i < n; i++)
                out[size++] = (uint8_t)letters[(size_t)rand_r(seed) % (sizeof(letters) - 1)];
            n = 1 + (size_t)rand_r(seed) % (kind < 40 ? 2 : 70);
            for (size_t i = 0; kind > 3 && i < n && size < room - 16; i++)
                out[size++] = (uint8_t)separators[(size_t)rand_r(seed) % (sizeof(separators) - 1)];
        }
        for (unsigned i = 0; rand_r(seed) % (int)(plain + 1) == 0 && i < 20 && size < room - 16;
             i++)
            size += append(out + size,
                           others[(size_t)rand_r(seed) % (sizeof(others) / sizeof(others[0]))]);
    }
    return size;
}

static void test_words__kernels_agree_wherever_pieces_are_cut(void **state)
{
    (void)state;
    enum { ROOM = 40000 };
    uint8_t *text = malloc(ROOM);
    unsigned seed = 1;
    for (unsigned round = 0; round < 150; round++) {
        static const size_t pieces[] = {ROOM, 0, 1, 63, 64, 65, 95, 96, 97, 128, 4096};
        size_t size = random_text(text, round % 10 ? 2000 : ROOM, &seed);
        struct tokens expected = by_characters(text, size);
        for (int kernel = 0; kernel < KERNEL_N; kernel++) {
            if (!has_kernel((enum kernel)kernel))
                continue;
            for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
                struct tokens tokens = by_bytes((enum kernel)kernel, text, size, pieces[i], round);
                if (strcmp(tokens.text, expected.text) != 0)
                    fail_msg("round %u, %s, pieces of %zu", round, kernel_name((enum kernel)kernel),
                             pieces[i]);
                tokens_free(&tokens);
            }
        }
        tokens_free(&expected);
    }
    free(text);
}

/* Every pattern of word bytes and separators in 16 bytes, wherever it stands in a step. */
static void test_words__kernels_agree_on_every_pattern(void **state)
{
    (void)state;
    enum { N = 1 << 16, EACH = 19 };
    uint8_t *text = malloc(N * EACH);
    size_t size = 0;
    for (unsigned pattern = 0; pattern < N; pattern++) {
        for (unsigned i = 0; i < 16; i++)
            text[size++] = pattern >> i & 1 ? (uint8_t)('A' + (pattern + i) % 26) : ' ';
        size += append(text + size, pattern % 64 ? "" : "é ");
        text[size++] = pattern % 3 ? ' ' : 'w';
    }
    struct tokens expected = by_characters(text, size);
    for (int kernel = 0; kernel < KERNEL_N; kernel++) {
        if (!has_kernel((enum kernel)kernel))
            continue;
        struct tokens tokens = by_bytes((enum kernel)kernel, text, size, size, 0);
        assert_string_equal(tokens.text, expected.text);
        tokens_free(&tokens);
    }
    tokens_free(&expected);
    free(text);
}

static void test_words__kernels_cut_long_words_alike(void **state)
{
    (void)state;
    for (int kernel = 0; kernel < KERNEL_N; kernel++) {
        if (!has_kernel((enum kernel)kernel))
            continue;
        for (size_t before = 0; before < 70; before += 3) {
            for (size_t length = 180; length < 600; length += 7) {
                char text[1024], expected[1024], *out = expected;
                memset(text, ' ', before);
                memset(text + before, 'Q', length);
                strcpy(text + before + length, " x");
                for (size_t i = 0; i < length; i++) {
                    if (i && i % CANON_TOKEN_MAX_BYTES == 0)
                        *out++ = ' ';
                    *out++ = 'q';
                }
                strcpy(out, " x ");
                struct tokens tokens =
                    by_bytes((enum kernel)kernel, (uint8_t *)text, strlen(text), 4096, 0);
                assert_string_equal(tokens.text, expected);
                tokens_free(&tokens);
            }
        }
    }
}

static void test_words__one_kernel_at_least_is_there(void **state)
{
    (void)state;
    assert_true(has_kernel(KERNEL_SCALAR));
    assert_true(has_kernel(kernel_in_use()));
    assert_null(ascii_words(KERNEL_N));
    for (int kernel = 0; kernel < KERNEL_N; kernel++)
        if (kernel_is_there((enum kernel)kernel))
            assert_non_null(ascii_words((enum kernel)kernel));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words__every_character_is_what_unicode_says),
        cmocka_unit_test(test_words__of_scripts_without_spaces_are_letters_with_their_marks),
        cmocka_unit_test(test_words__kernels_agree_wherever_pieces_are_cut),
        cmocka_unit_test(test_words__kernels_agree_on_every_pattern),
        cmocka_unit_test(test_words__kernels_cut_long_words_alike),
        cmocka_unit_test(test_words__one_kernel_at_least_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
