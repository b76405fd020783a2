#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/text/features/cell.h"
#include "engine/text/words/compose.h"
#include "engine/text/words/words.h"

enum { CELL_BYTES = 1024 };

static size_t form_of(const char *cell, size_t size, uint8_t to[CELL_FORM_BYTES(CELL_BYTES)])
{
    uint8_t bytes[CELL_BYTES + UTF8_MAX_BYTES];
    assert_true(size <= CELL_BYTES);
    for (size_t i = 0; i < size; i++)
        bytes[i] = cell_form_ascii((uint8_t)cell[i]);
    memset(bytes + size, 0, UTF8_MAX_BYTES);
    return cell_form(bytes, size, to);
}

static void test_cell__is_one_in_all_its_forms(void **state)
{
    (void)state;
    static const char *const forms[][2] = {
        {"", ""},
        {"Name: A_b [Z@`{", "name: a_b [z@`{"},
        {"\u00e9t\u00e9", "\u00e9t\u00e9"},
        {"e\u0301te\u0301", "\u00e9t\u00e9"},
        {"\u00c9T\u00c9", "\u00e9t\u00e9"},
        {"Stra\u00dfe", "strasse"},
        {"of\ufb01ce", "office"},
        {"\uff11\uff12\uff0e\uff15 \uff05", "12.5 %"},
        {"\uff01\uff5e", "!~"},
        {"\u200ba\u200d\u00ad\ufeffb", "ab"},
        {"1\u00a0000\u202f000\u3000m", "1 000 000 m"},
        {"=\u0338", "\u2260"},
        {"a\u0323\u0301 b", "\u1ea1\u0301 b"},
        {"a\u0301\u0323 b", "\u1ea1\u0301 b"},
        {"\u0301a", "\u0301a"},
        {"\u1112\u1161\u11ab", "\ud55c"},
        {"\uac01\u11a8", "\uac01\u11a8"},
        {"m\u00b2 \u2010 \u00bd", "m\u00b2 \u2010 \u00bd"}, /* something else */
        {"x\xff\xe9y\xf0\x90\x80", "x  y   "},
        {"\x80\u0301", " \u0301"},
        {"\xed\xa0\x80", "   "},
    };
    uint8_t form[CELL_FORM_BYTES(CELL_BYTES)];
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t n = form_of(forms[i][0], strlen(forms[i][0]), form);
        assert_int_equal(n, strlen(forms[i][1]));
        assert_memory_equal(form, forms[i][1], n);
    }
}

struct tokens {
    size_t n;
    uint8_t bytes[CELL_FORM_BYTES(CELL_BYTES)];
};

static void collect(void *user, const struct token_block *block)
{
    struct tokens *tokens = user;
    memcpy(tokens->bytes + tokens->n, block->bytes, block->ends[block->n_tokens - 1]);
    tokens->n += block->ends[block->n_tokens - 1];
}

static void expect_words(struct words *words, struct tokens *tokens, const uint8_t *bytes, size_t n)
{
    uint8_t form[CELL_FORM_BYTES(CELL_BYTES)];
    tokens->n = 0;
    words_begin(words);
    words_feed(words, bytes, n);
    words_finish(words);
    assert_int_equal(form_of((const char *)bytes, n, form), tokens->n);
    assert_memory_equal(form, tokens->bytes, tokens->n);
}

static bool is_of_words(uint32_t code)
{
    unsigned class = unicode_property(code)->class;
    return class != UNICODE_SEPARATOR && class != UNICODE_HYPHEN;
}

/* Of characters that nothing separates: each, by itself and behind a letter, and some together. */
static void test_cell__is_what_words_are(void **state)
{
    (void)state;
    enum { LONG = 12, N_RANDOM = 200000 };
    static struct words words;
    static struct tokens tokens;
    static uint32_t joining[UNICODE_END];
    uint8_t bytes[(LONG + 1) * UTF8_MAX_BYTES];
    size_t n_joining = 0;
    unsigned seed = 1;
    words_init(&words, &(struct canon_sink){.tokens = collect, .user = &tokens});
    for (uint32_t code = 0; code < UNICODE_END; code++) {
        if (!is_of_words(code))
            continue;
        bytes[0] = 'a';
        expect_words(&words, &tokens, bytes, 1 + utf8_put(bytes + 1, code));
        const unsigned class = unicode_property(code)->class;
        if (class == UNICODE_WORD || class == UNICODE_SOLO || class == UNICODE_COMPOSING_WORD)
            expect_words(&words, &tokens, bytes + 1, utf8_put(bytes + 1, code));
        if (class >= UNICODE_MARK || code < 0x250)
            joining[n_joining++] = code;
    }
    for (size_t i = 0; i < N_RANDOM; i++) {
        size_t n = 1;
        for (size_t j = 0; j < LONG; j++)
            n += utf8_put(bytes + n, joining[(size_t)rand_r(&seed) % n_joining]);
        expect_words(&words, &tokens, bytes, n);
    }
}

/* Marks past the limit are left as they come. */
static void test_cell__sorts_no_more_marks_than_it_may(void **state)
{
    (void)state;
    enum { N_MARKS = COMPOSE_MARKS_MAX + 10 };
    char cell[CELL_BYTES] = "a", wanted[CELL_BYTES] = "\u00e1";
    uint8_t form[CELL_FORM_BYTES(CELL_BYTES)];
    for (size_t i = 0; i < N_MARKS; i++) {
        strcat(cell, "\u0301");
        strcat(wanted, i > 0 ? "\u0301" : "");
    }
    strcat(cell, "\u0323");
    strcat(wanted, "\u0323");
    assert_int_equal(form_of(cell, strlen(cell), form), strlen(wanted));
    assert_memory_equal(form, wanted, strlen(wanted));
}

/* As much room as the longest takes, and marks without end. */
static void test_cell__has_room_for_what_expands(void **state)
{
    (void)state;
    static const char *const repeated[] = {"\u0390", "\u0130", "\ufb03",
                                           "\u0301", "\u0344", "\xf0"};
    uint8_t *form = malloc(CELL_FORM_BYTES(CELL_BYTES));
    for (size_t i = 0; i < sizeof(repeated) / sizeof(repeated[0]); i++) {
        char cell[CELL_BYTES];
        size_t n = 0, size = strlen(repeated[i]);
        for (; n + size <= sizeof(cell); n += size)
            memcpy(cell + n, repeated[i], size);
        assert_in_range(form_of(cell, n, form), n / 2, CELL_FORM_BYTES(n));
    }
    free(form);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cell__is_one_in_all_its_forms),
        cmocka_unit_test(test_cell__is_what_words_are),
        cmocka_unit_test(test_cell__sorts_no_more_marks_than_it_may),
        cmocka_unit_test(test_cell__has_room_for_what_expands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
