#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "engine/text/html/html_reference.h"

/* What "&" and these bytes stand for, with what is left of them. */
static void expect(const char *bytes, bool in_attribute, const char *text)
{
    struct html_reference reference;
    char found[200];
    bool ends = false, used = false;
    size_t at = 0;
    html_reference_begin(&reference, in_attribute);
    for (; bytes[at] && !ends; at++)
        used = html_reference_feed(&reference, (uint8_t)bytes[at], &ends);
    if (!ends)
        html_reference_end(&reference);
    snprintf(found, sizeof(found), "%.*s%s", (int)reference.n_bytes, reference.bytes,
             bytes + at - (ends && !used));
    assert_string_equal(found, text);
}

static void test_html_reference__every_name_is_found(void **state)
{
    (void)state;
    const char *name = html_names;
    size_t n_legacy = 0;
    XXH64_hash_t digest = 0;
    assert_int_equal(html_n_reference_names, 2125);
    for (size_t i = 0; i < html_n_reference_names; i++, name += strlen(name) + 1) {
        const struct html_reference_name *found =
            html_reference_find((const uint8_t *)name, strlen(name));
        char bytes[64], text[64];
        assert_ptr_equal(found, &html_reference_names[i]);
        n_legacy += found->legacy;
        digest = XXH3_64bits_withSeed(name, strlen(name), digest);
        digest = XXH3_64bits_withSeed(found->text, sizeof(found->text), digest);
        snprintf(bytes, sizeof(bytes), "%s;x", name);
        snprintf(text, sizeof(text), "%sx", found->text);
        expect(bytes, false, text);
        expect(bytes, true, text);
        if (!found->legacy)
            continue;
        snprintf(bytes, sizeof(bytes), "%s-", name);
        snprintf(text, sizeof(text), "%s-", found->text);
        expect(bytes, false, text);
        expect(bytes, true, text);
        /* Only for text is it there when it goes on. */
        snprintf(bytes, sizeof(bytes), "%s=", name);
        snprintf(text, sizeof(text), "%s=", found->text);
        expect(bytes, false, text);
        snprintf(text, sizeof(text), "&%s=", name);
        expect(bytes, true, text);
    }
    assert_int_equal(n_legacy, 106);
    /* The canonical form is of these names and texts: other ones would be another form. */
    assert_int_equal(digest, UINT64_C(0x55725efeba4926a0));
    assert_null(html_reference_find((const uint8_t *)"", 0));
    assert_null(html_reference_find((const uint8_t *)"zzzz", 4));
    assert_null(html_reference_find((const uint8_t *)"AElix", 5));
}

static void test_html_reference__characters_are_those_of_the_standard(void **state)
{
    (void)state;
    expect("Eacute;", false, "É");
    expect("ngE;", false, "≧̸"); /* two characters */
    expect("CounterClockwiseContourIntegral;", false, "∳");
    expect("Afr;", false, "𝔄");
    expect("notin;", false, "∉");
    expect("notit;", false, "¬it;");
    expect("notit;", true, "&notit;");
}

/* Each number, against UTF-8 by the definition; 13.2.5.80 for those that are none. */
static void test_html_reference__numbers_are_utf8(void **state)
{
    (void)state;
    for (uint32_t code = 1; code < 0x120000; code += 1 + code / 300) {
        char bytes[32], text[8] = "\xef\xbf\xbd";
        if (code >= 0x80 && code <= 0x9f)
            continue;
        if (code < 0x80)
            snprintf(text, sizeof(text), "%c", (int)code);
        else if (code < 0x800)
            snprintf(text, sizeof(text), "%c%c", 0xc0 + (int)code / 64, 0x80 + (int)code % 64);
        else if (code < 0x10000 && (code < 0xd800 || code > 0xdfff))
            snprintf(text, sizeof(text), "%c%c%c", 0xe0 + (int)code / 4096,
                     0x80 + (int)code / 64 % 64, 0x80 + (int)code % 64);
        else if (code >= 0x10000 && code < 0x110000)
            snprintf(text, sizeof(text), "%c%c%c%c", 0xf0 + (int)code / 262144,
                     0x80 + (int)code / 4096 % 64, 0x80 + (int)code / 64 % 64,
                     0x80 + (int)code % 64);
        snprintf(bytes, sizeof(bytes), "#%u;", code);
        expect(bytes, false, text);
        snprintf(bytes, sizeof(bytes), "#x%X;", code);
        expect(bytes, true, text);
        snprintf(bytes, sizeof(bytes), "#X%x", code);
        expect(bytes, false, text);
    }
    expect("#0;", false, "\xef\xbf\xbd");
    expect("#4294967361;", false, "\xef\xbf\xbd");
}

/* The table of 13.2.5.80. */
static void test_html_reference__of_windows_1252(void **state)
{
    (void)state;
    static const char *const characters[32] = {
        "€",  NULL, "‚", "ƒ", "„", "…", "†", "‡", "ˆ", "‰", "Š", "‹", "Œ", NULL, "Ž", NULL,
        NULL, "‘",  "’", "“", "”", "•", "–", "—", "˜", "™", "š", "›", "œ", NULL, "ž", "Ÿ",
    };
    for (unsigned i = 0; i < 32; i++) {
        char bytes[8], same[3] = {(char)0xc2, (char)(0x80 + i), '\0'};
        snprintf(bytes, sizeof(bytes), "#%u;", 0x80 + i);
        expect(bytes, false, characters[i] ? characters[i] : same);
    }
}

static void test_html_reference__what_is_none_is_text(void **state)
{
    (void)state;
    static const char *const none[] = {"",
                                       ";",
                                       "#",
                                       "#;",
                                       "#x",
                                       "#x;",
                                       "#xg",
                                       "#a;",
                                       " amp",
                                       "nope;",
                                       "nope",
                                       "Amp;",
                                       "1;",
                                       "<p>",
                                       "é",
                                       "#-1;",
                                       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        char text[64];
        snprintf(text, sizeof(text), "&%s", none[i]);
        expect(none[i], false, text);
        expect(none[i], true, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_html_reference__every_name_is_found),
        cmocka_unit_test(test_html_reference__characters_are_those_of_the_standard),
        cmocka_unit_test(test_html_reference__numbers_are_utf8),
        cmocka_unit_test(test_html_reference__of_windows_1252),
        cmocka_unit_test(test_html_reference__what_is_none_is_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
