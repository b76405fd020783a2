/* The words of a text by each kernel, and by another route. Included behind cmocka.h. */
#ifndef KINFS_TESTS_LIB_WORDS_FIXTURE_H
#define KINFS_TESTS_LIB_WORDS_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "engine/text/words/words.h"

/* The tokens, each followed by a space; none has one. */
struct tokens {
    char *text;
    size_t size, room;
};

static inline void tokens_free(struct tokens *tokens)
{
    free(tokens->text);
}

static inline void collect(void *user, const struct token_block *block)
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

static inline struct words *new_words(struct tokens *tokens, enum kernel kernel)
{
    struct words *words = calloc(1, sizeof(*words));
    assert_non_null(words);
    words_init(words, &(struct canon_sink){collect, NULL, tokens});
    assert_ptr_equal(words->take_ascii, ascii_words(kernel_in_use()));
    words->take_ascii = ascii_words(kernel);
    words_begin(words);
    return words;
}

static inline int has_kernel(enum kernel kernel)
{
    return kernel_is_there(kernel) && ascii_words(kernel) != NULL;
}

/* Pieces of piece_bytes; 0: of random size. */
static inline struct tokens by_bytes(enum kernel kernel, const uint8_t *bytes, size_t size_bytes,
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

static inline bool is_word_or_mark(uint32_t code)
{
    return strchr("LNM", utf8proc_category_string((utf8proc_int32_t)code)[0]) || code == '_';
}

/* Whether a character is a form that is folded to what it is a form of, and *ret_what that is. */
static inline bool is_form_of(uint32_t code, uint8_t **ret_what)
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

static inline uint8_t *normalise(const uint8_t *text, int options)
{
    uint8_t *normal = NULL;
    assert_true(utf8proc_map(text, 0, &normal,
                             (utf8proc_option_t)(UTF8PROC_NULLTERM | UTF8PROC_STABLE | options)) >=
                0);
    return normal;
}

/* The other route: a text without forms, case folded and composed by utf8proc. */
static inline uint8_t *fold_all(const uint8_t *text)
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

static inline void print_codes(const uint8_t *text)
{
    utf8proc_int32_t code;
    for (; *text; text += utf8proc_iterate(text, -1, &code)) {
        utf8proc_iterate(text, -1, &code);
        fprintf(stderr, "%04X ", (unsigned)code);
    }
    fprintf(stderr, "\n");
}

/* By every kernel, in pieces of any size, they are these tokens. */
static inline void expect_tokens(const uint8_t *text, const char *tokens, unsigned round)
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

static inline void expect(const char *text, const char *expected)
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

#endif
