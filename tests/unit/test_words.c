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
#include "engine/text/words/words.h"

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

static bool is_word_or_mark(uint32_t code)
{
    return strchr("LNM", utf8proc_category_string((utf8proc_int32_t)code)[0]) || code == '_';
}

/* Whether a character is a form that is folded to what it is a form of, and *ret_what that is. */
static bool is_form_of(uint32_t code, uint8_t **ret_what)
{
    static const utf8proc_propval_t types[] = {
        UTF8PROC_DECOMP_TYPE_FONT,  UTF8PROC_DECOMP_TYPE_INITIAL,  UTF8PROC_DECOMP_TYPE_MEDIAL,
        UTF8PROC_DECOMP_TYPE_FINAL, UTF8PROC_DECOMP_TYPE_ISOLATED, UTF8PROC_DECOMP_TYPE_COMPAT,
        UTF8PROC_DECOMP_TYPE_WIDE,  UTF8PROC_DECOMP_TYPE_NARROW};
    utf8proc_propval_t type = utf8proc_get_property((utf8proc_int32_t)code)->decomp_type;
    bool wide = type == UTF8PROC_DECOMP_TYPE_WIDE || type == UTF8PROC_DECOMP_TYPE_NARROW;
    bool found = false;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        found |= types[i] == type;
    if (!found || !(wide || is_word_or_mark(code) || (code >= 0x2e80 && code < 0x2fe0)))
        return false;
    if (code == 0xe33 || code == 0xeb3 || code == 0xedc || code == 0xedd)
        return false; /* of several letters that are tokens */
    uint8_t bytes[5] = {0};
    bytes[utf8proc_encode_char((utf8proc_int32_t)code, bytes)] = '\0';
    assert_true(utf8proc_map(bytes, 0, ret_what,
                             UTF8PROC_NULLTERM | UTF8PROC_STABLE | UTF8PROC_COMPAT |
                                 UTF8PROC_DECOMPOSE) > 0);
    bool good = true;
    utf8proc_int32_t part;
    for (uint8_t *p = *ret_what; good && *p; p += utf8proc_iterate(p, -1, &part)) {
        utf8proc_iterate(p, -1, &part);
        bool several = p != *ret_what || p[utf8proc_iterate(p, -1, &part)];
        bool solo = (part >= 0x3041 && part < 0x3100) || (part >= 0x3400 && part < 0xa000);
        good = is_word_or_mark((uint32_t)part) && !(several && solo) &&
               !(part >= 0x1100 && part < 0x1200); /* single letters of Hangul */
    }
    if (!good)
        free(*ret_what);
    return good;
}

static uint8_t *normalise(const uint8_t *text, int options)
{
    uint8_t *normal = NULL;
    assert_true(utf8proc_map(text, 0, &normal,
                             (utf8proc_option_t)(UTF8PROC_NULLTERM | UTF8PROC_STABLE | options)) >=
                0);
    return normal;
}

/* The other route: a text without forms, case folded and composed by utf8proc. */
static uint8_t *fold_all(const uint8_t *text)
{
    uint8_t *all = normalise(text, UTF8PROC_DECOMPOSE), *folded = NULL, *what;
    uint8_t *plain = calloc(1, 16 * strlen((char *)all) + 1);
    size_t n_plain = 0;
    utf8proc_int32_t code;
    for (size_t at = 0; all[at]; at += (size_t)utf8proc_iterate(all + at, -1, &code)) {
        utf8proc_iterate(all + at, -1, &code);
        if (is_form_of((uint32_t)code, &what)) {
            strcpy((char *)plain + n_plain, (char *)what);
            n_plain += strlen((char *)what);
            free(what);
        } else {
            n_plain += (size_t)utf8proc_encode_char(code, plain + n_plain);
        }
    }
    assert_true(utf8proc_map(plain, 0, &folded,
                             UTF8PROC_NULLTERM | UTF8PROC_STABLE | UTF8PROC_COMPOSE |
                                 UTF8PROC_CASEFOLD | UTF8PROC_IGNORE) >= 0);
    free(plain);
    free(all);
    return folded;
}

/* What "xCy" is as tokens, each followed by a space. */
static void expected_tokens(uint32_t code, char *out)
{
    /* The first of a range, and the first past it, in order. */
    static const uint32_t han_and_kana[] = {
        0x3005, 0x3008, 0x3021, 0x302a, 0x3038, 0x303c, 0x3041, 0x3100,  0x31f0,  0x3200,  0x3400,
        0x4dc0, 0x4e00, 0xa000, 0xf900, 0xfb00, 0xff66, 0xffa0, 0x1aff0, 0x1b170, 0x20000, 0x40000};
    static const uint32_t south_east[] = {0xe00,  0xf00,  0x1000, 0x10a0, 0x1780,  0x1800,
                                          0xa9e0, 0xaa00, 0xaa60, 0xaa80, 0x116d0, 0x11700};
    uint8_t bytes[5] = {0}, *what;
    utf8proc_int32_t first = (utf8proc_int32_t)code;
    bytes[utf8proc_encode_char(first, bytes)] = '\0';
    if (strcmp(utf8proc_category_string(first), "Cf") == 0 ||
        utf8proc_get_property(first)->ignorable) {
        strcpy(out, "xy ");
        return;
    }
    if (is_form_of(code, &what)) {
        utf8proc_iterate(what, -1, &first);
        free(what);
    }
    code = (uint32_t)first;
    const char *category = utf8proc_category_string(first);
    bool letter = category[0] == 'L', number = category[0] == 'N';
    if (!letter && !number && category[0] != 'M' && code != '_') {
        strcpy(out, "x y ");
        return;
    }
    char with_x[8] = "x";
    strcpy(with_x + 1, (char *)bytes);
    bool sign = code == 0xe33 || code == 0xeb3; /* the vowel "am" */
    bool solo = ((letter || number) && IS_ONE_OF(code, han_and_kana)) ||
                (letter && !sign && IS_ONE_OF(code, south_east));
    uint8_t *folded = solo ? fold_all(bytes) : fold_all((uint8_t *)with_x);
    sprintf(out, solo ? "x %s y " : "%sy ", folded);
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

/* -- one text, one form -- */

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

static void print_codes(const uint8_t *text)
{
    utf8proc_int32_t code;
    for (; *text; text += utf8proc_iterate(text, -1, &code)) {
        utf8proc_iterate(text, -1, &code);
        fprintf(stderr, "%04X ", (unsigned)code);
    }
    fprintf(stderr, "\n");
}

/* By every kernel, in pieces of any size, they are these tokens. */
static void expect_tokens(const uint8_t *text, const char *tokens, unsigned round)
{
    for (int kernel = 0; kernel < KERNEL_N; kernel++) {
        if (!has_kernel((enum kernel)kernel))
            continue;
        for (size_t piece = 0; piece < 3; piece++) {
            struct tokens found = by_bytes((enum kernel)kernel, text, strlen((const char *)text),
                                           piece == 2 ? 1 << 20 : piece, round);
            if (strcmp(found.text, tokens) != 0) {
                print_codes(text);
                print_codes((uint8_t *)found.text);
                print_codes((const uint8_t *)tokens);
                fail_msg("round %u, %s, pieces of %zu: %s, not %s", round,
                         kernel_name((enum kernel)kernel), piece, found.text, tokens);
            }
            tokens_free(&found);
        }
    }
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

static void test_words__of_the_same_letters_are_one(void **state)
{
    (void)state;
    expect("cafe\xcc\x81 CAFE\xcc\x81 caf\xc3\xa9", "café café café ");
    expect("a\xcc\x83\xcc\x82 a\xcc\x82\xcc\x83", "ã̂ ẫ "); /* their order is the text's */
    expect("o\xcc\x9b\xcc\xa3 o\xcc\xa3\xcc\x9b \xc6\xa1\xcc\xa3 \xe1\xbb\xa3", "ợ ợ ợ ợ ");
    expect("\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab\xe1\x84\x80\xe1\x85\xae\xe1\x86\xa8", "한국 ");
    expect("か\xe3\x82\x99 ｶﾞ ガ ﾊﾟ", "が ガ ガ パ ");
    expect("ＡＢＣｘｙｚ０１２＿ ａｂｃ！ｄ", "abcxyz012_ abc d ");
    expect("oﬃce ﬁnd ﬀ ĳs Ⅳ ŉ", "office find ff ijs iv ʼn ");
    expect("𝐛𝐨𝐥𝐝 𝔘𝔫𝔦 𝟙𝟚", "bold uni 12 ");
    expect("ﺳﻼﻡ ﷲ", "سلام الله ");  /* presentation forms */
    expect("⼀⻳ 丽", "一 龟 丽 "); /* radicals, compatibility ideographs */
    expect("Å Å Ω Ω K", "å å ω ω k ");
    expect("क़ क\xe0\xa4\xbc", "क़ क़ ");
    /* What means something else. */
    expect("x² ½ ① ㎏ ﷺ", "x² ½ ① ﷺ ");
    expect("กำ ກຳ", "กำ ກຳ ");
    /* What has no width, within words. */
    expect("in\xe2\x80\x8bvis\xc2\xadi\xef\xbb\xbf"
           "ble \xe2\x80\x8dw\xe2\x81\xa0o\xcd\x8frd\xef\xb8\x8f \xe2\x80\x8b",
           "invisible word ");
    expect("e\xe2\x80\x8d\xcc\x81", "é ");
    expect("\xcc\x81 \xcc\x81x =\xcc\xb8y", "x y "); /* nothing to join */
}

/* -- hyphens at the ends of lines -- */

/* One such line before, without which none is joined. */
#define BROKEN "hy-\nphen "
#define BROKEN_TOKENS "hy phen "

static void test_words__go_on_behind_a_hyphen_at_the_end_of_a_line(void **state)
{
    (void)state;
    expect("a docu-\nment of state-\nments, well-known ones",
           "a docu ment of statements well known ones ");
    expect(BROKEN "docu-\r\nment, docu-\rment, docu-\n \tment, docu-\n\fment",
           BROKEN_TOKENS "document document document document ");
    expect(BROKEN
           "Stra\xc3\x9f"
           "en-\nb\xc3\xa4ume, \xd1\x81\xd0\xbb\xd0\xbe-\n\xd0\xb2\xd0\xbe docu\xe2\x80\x90\nment",
           BROKEN_TOKENS "strassenbäume слово document ");
    expect(BROKEN "GNU-\nlinux", BROKEN_TOKENS "gnulinux ");
    /* What begins so is no rest of a word, or no beginning of one stands before it. */
    expect(BROKEN "docu-\nMent docu-\n\n\nment docu-\n1 docu- \n\nMent docu -\nment docu-",
           BROKEN_TOKENS "docu ment docu ment docu 1 docu ment docu ment docu ");
    expect(BROKEN "docu-\r\n\r\n\r\nment docu-\r\rment", BROKEN_TOKENS "docu ment docu ment ");
    expect(BROKEN "x-\nray 12-\nment, a1-\nb, --\nment -\nment",
           BROKEN_TOKENS "x ray 12 ment a1 b ment ment ");
    expect(BROKEN "docu-\n\xff"
                  "ment, docu-\n\xe6\xbc\xa2",
           BROKEN_TOKENS "docu ment docu 漢 ");
    expect(BROKEN "e-mail docu-ment a-\xc3\xa9", BROKEN_TOKENS "e mail docu ment a é ");
}

/* Blanks that an editor or a scan left there, and every other line empty. */
static void test_words__go_on_over_blanks_and_an_empty_line(void **state)
{
    (void)state;
    expect(BROKEN "docu- \nment, docu-\t \nment, docu-  \r\n  ment, docu-\t\rment",
           BROKEN_TOKENS "document document document document ");
    expect(BROKEN "docu-\n\nment docu-\r\n\r\nment docu- \n \t\n\fment docu-\n \r\n ment",
           BROKEN_TOKENS "document document document document ");
    expect(BROKEN "docu- ment docu-\tment docu-  -\nment docu- ",
           BROKEN_TOKENS "docu ment docu ment docu ment docu ");
    expect(BROKEN "docu- \n \n \nment docu-\f\nment x- \ny",
           BROKEN_TOKENS "docu ment docu ment x y ");
    expect("well- \nknown", "well known ");
}

static void test_words__soft_hyphens_are_never_there(void **state)
{
    (void)state;
    expect("docu\xc2\xadment do\xc2\xad"
           "cu\xc2\xad\nment do\xc2\xad\r\n  Cument x\xc2\xad\ny",
           "document document document xy ");
    expect("docu\xc2\xad\n\n\nment docu\xc2\xad\n1 docu\xc2\xad ment docu\xc2\xad",
           "docu ment docu 1 docu ment docu ");
    expect("docu\xc2\xad \nment docu\xc2\xad\n\nment", "document document ");
    expect("\xc2\xad\nment \xc2\xad-\xc2\xad docu\xc2\xad\xcc\x81", "ment doc\xc3\xba ");
}

/* Compounds of a text that nobody hyphenated stay two words. */
static void test_words__broken_lines_tell_only_what_is_near(void **state)
{
    (void)state;
    for (size_t n = 295; n <= 303; n++) {
        char text[2048] = "well-\nknown", expected[2048] = "well known ";
        for (size_t i = 0; i < n; i++) {
            strcat(text, " x");
            strcat(expected, "x ");
        }
        strcat(text, " state-\nment");
        /* The number of the word with the hyphen, less that of the one before. */
        strcat(expected, n + 2 <= 300 ? "statement " : "state ment ");
        expect(text, expected);
    }
}

/* Words broken anywhere, by every kernel, wherever pieces are cut: only the first stays in two. */
static void test_words__broken_anywhere_are_whole(void **state)
{
    (void)state;
    static const char *const breaks_of_lines[] = {"-\n", "-\r\n   ", "- \n", "-\n\n", "-\t\r\n"};
    enum { N_BREAKS = sizeof(breaks_of_lines) / sizeof(breaks_of_lines[0]) };
    unsigned seed = 6;
    for (unsigned round = 0; round < 300; round++) {
        uint8_t text[6000], *to = text;
        char expected[6000], *out = expected;
        bool broken = false;
        for (unsigned n = 0; n < 300; n++) {
            size_t size = 1 + (size_t)rand_r(&seed) % 14, at = 2 + (size_t)rand_r(&seed) % 8;
            bool breaks = rand_r(&seed) % 8 == 0 && at < size;
            for (size_t i = 0; i < size; i++) {
                char letter = (char)('a' + rand_r(&seed) % 26);
                if (breaks && i == at) {
                    to += sprintf((char *)to, "%s", breaks_of_lines[round % N_BREAKS]);
                    if (!broken)
                        *out++ = ' ';
                    broken = true;
                }
                *to++ = (uint8_t)letter;
                *out++ = letter;
            }
            *to++ = n % 9 ? ' ' : '\n';
            *out++ = ' ';
        }
        *to = '\0';
        *out = '\0';
        expect_tokens(text, expected, round);
    }
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

/* A byte that is none of UTF-8 there, in front of a letter, a control character or another: all
 * kernels stop at it. */
static void test_words__kernels_stop_at_each_malformed_byte(void **state)
{
    (void)state;
    static const uint8_t behind[] = {'a', '\n', ' ', '-', 0xff};
    for (unsigned byte = 0x80; byte < 0x100; byte++)
        for (size_t at = 1; at < 34; at++)
            for (size_t i = 0; i < sizeof(behind); i++) {
                uint8_t text[81];
                char tokens[96] = {0};
                memset(text, 'x', sizeof(text) - 1);
                text[80] = 0;
                text[at] = (uint8_t)byte;
                text[at + 1] = behind[i];
                memset(tokens, 'x', at);
                tokens[at] = ' ';
                size_t n = at + 1;
                if (behind[i] == 'a')
                    tokens[n++] = 'a';
                memset(tokens + n, 'x', 80 - at - 2);
                tokens[n + 80 - at - 2] = ' ';
                expect_tokens(text, tokens, 1);
            }
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
        cmocka_unit_test(test_words__are_composed_as_utf8proc_composes_the_whole_text),
        cmocka_unit_test(test_words__letters_of_many_marks_are_composed_as_utf8proc_does),
        cmocka_unit_test(test_words__equivalent_texts_are_one),
        cmocka_unit_test(test_words__equivalent_long_words_are_cut_alike),
        cmocka_unit_test(test_words__marks_without_end_are_taken_as_they_come),
        cmocka_unit_test(test_words__of_the_same_letters_are_one),
        cmocka_unit_test(test_words__go_on_behind_a_hyphen_at_the_end_of_a_line),
        cmocka_unit_test(test_words__go_on_over_blanks_and_an_empty_line),
        cmocka_unit_test(test_words__soft_hyphens_are_never_there),
        cmocka_unit_test(test_words__broken_lines_tell_only_what_is_near),
        cmocka_unit_test(test_words__broken_anywhere_are_whole),
        cmocka_unit_test(test_words__kernels_agree_wherever_pieces_are_cut),
        cmocka_unit_test(test_words__kernels_agree_on_every_pattern),
        cmocka_unit_test(test_words__kernels_stop_at_each_malformed_byte),
        cmocka_unit_test(test_words__kernels_cut_long_words_alike),
        cmocka_unit_test(test_words__one_kernel_at_least_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
