/* Words are of characters as Unicode says. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "engine/text/words/words.h"
#include "tests/lib/fixtures/words_fixture.h"

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
    struct tokens tokens[2] = {0};
    struct words *words[2];
    for (size_t i = 0; i < 2; i++)
        words[i] = new_words(&tokens[i], KERNEL_SCALAR);
    for (uint32_t code = 0; code < 0x110000; code++) {
        if (code == 0xd800)
            code = 0xe000;
        char text[16] = "x";
        int n = 1 + (int)utf8proc_encode_char((utf8proc_int32_t)code, (uint8_t *)text + 1);
        memcpy(text + n, "y ", 3);
        n += 2;
        for (int i = 0; i < n; i++)
            words_feed(words[0], (uint8_t *)text + i, 1);
        memcpy(text + n, "........", 8); /* so far it looks ahead */
        words_feed(words[1], (uint8_t *)text, (size_t)n + 8);

        char at_once[64];
        expected_tokens(code, at_once);
        for (size_t i = 0; i < 2; i++)
            tokens[i].size = 0;
        for (size_t i = 0; i < 2; i++) {
            words_finish(words[i]);
            words_begin(words[i]);
            if (strcmp(tokens[i].text, at_once) != 0)
                fail_msg("U+%04X: %s, not %s", (unsigned)code, tokens[i].text, at_once);
        }
    }
    for (size_t i = 0; i < 2; i++) {
        free(words[i]);
        tokens_free(&tokens[i]);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words__every_character_is_what_unicode_says),
        cmocka_unit_test(test_words__of_scripts_without_spaces_are_letters_with_their_marks),
        cmocka_unit_test(test_words__of_the_same_letters_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
