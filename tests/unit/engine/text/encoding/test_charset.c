#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <iconv.h>
#include <utf8proc.h>

#include "engine/text/encoding/charset.h"
#include "engine/text/encoding/wide.h"
#include "tests/unit/engine/text/canonical.h"

enum { N_PIECES = 4, TEXT_MAX = 1 << 17 };
static const size_t pieces[N_PIECES] = {1 << 20, 0, 1, 5};

static void expect(const void *bytes, size_t size, const char *tokens, enum text_charset charset)
{
    for (size_t i = 0; i < N_PIECES; i++) {
        struct canonical found = canonical_of(bytes, size, pieces[i]);
        assert_string_equal(found.text, tokens);
        assert_int_equal(found.form.charset, charset);
        canonical_done(&found);
    }
}

static void expect_text(const char *text, const char *tokens, enum text_charset charset)
{
    expect(text, strlen(text), tokens, charset);
}

/* The other route: iconv writes what we read. */
static size_t encode(const char *charset, const char *text, char *ret_bytes)
{
    iconv_t to = iconv_open(charset, "UTF-8");
    assert_true(to != (iconv_t)-1);
    char *in = (char *)(uintptr_t)text, *out = ret_bytes;
    size_t in_bytes = strlen(text), room = TEXT_MAX;
    assert_true(iconv(to, &in, &in_bytes, &out, &room) != (size_t)-1);
    assert_int_equal(iconv(to, NULL, NULL, &out, &room), 0);
    iconv_close(to);
    return (size_t)(out - ret_bytes);
}

static const char *const phrases[] = {
    "Füße über Straßen – naïve façade, “quoted” cœur à cœur; señor € 50",
    "Москва слезам не верит: 7 раз отмерь",
    "日本語の文章、カタカナ。",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐐀𐐨 plain ASCII too",
};

static void repeat(const char *phrase, unsigned times, char *text)
{
    *text = '\0';
    for (unsigned i = 0; i < times; i++)
        text += sprintf(text, "%s %u\n", phrase, i);
}

static void test_charset__utf16_with_a_mark_is_read(void **state)
{
    (void)state;
    static char text[TEXT_MAX], bytes[TEXT_MAX + 2];
    for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
        repeat(phrases[i], i % 2 ? 1 : 300, text);
        struct canonical plain = canonical_of(text, strlen(text), 0);
        memcpy(bytes, "\xff\xfe", 2);
        size_t size = 2 + encode("UTF-16LE", text, bytes + 2);
        expect(bytes, size, plain.text, TEXT_CHARSET_UTF16LE);
        memcpy(bytes, "\xfe\xff", 2);
        size = 2 + encode("UTF-16BE", text, bytes + 2);
        expect(bytes, size, plain.text, TEXT_CHARSET_UTF16BE);
        canonical_done(&plain);
    }
}

static void test_charset__utf16_of_any_bytes_is_read(void **state)
{
    (void)state;
    /* Lone halves of pairs, in both orders, and half a unit, separate. */
    expect("\xff\xfe"
           "a\0"
           "\x00\xd8"
           "b\0"
           "\x00\xdc"
           "c\0"
           "d",
           13, "a b c ", TEXT_CHARSET_UTF16LE);
    expect("\xfe\xff"
           "\0x"
           "\xd8\x01\xd8\x01\xdc\x00"
           "\0y",
           12, "x 𐐨y ", TEXT_CHARSET_UTF16BE);
    expect("\xff\xfe", 2, "", TEXT_CHARSET_UTF16LE);
    struct canonical found = canonical_of("\xff\xfe"
                                          "a\0\0\0b\0",
                                          8, 0);
    assert_int_equal(found.form.type, TEXT_BINARY); /* a character NUL */
    canonical_done(&found);
    expect("\xff\xfe<\0b\0>\0x\0", 10, "x ", TEXT_CHARSET_UTF16LE);
}

static void test_charset__windows_1252_is_told_from_utf8(void **state)
{
    (void)state;
    static char text[TEXT_MAX], bytes[TEXT_MAX];
    repeat(phrases[0], 300, text);
    struct canonical plain = canonical_of(text, strlen(text), 0);
    assert_int_equal(plain.form.charset, TEXT_CHARSET_UTF8);
    size_t size = encode("WINDOWS-1252", text, bytes);
    expect(bytes, size, plain.text, TEXT_CHARSET_WINDOWS_1252);
    canonical_done(&plain);

    expect_text("caf\xe9", "café ", TEXT_CHARSET_WINDOWS_1252);
    expect_text("caf\xc3\xa9", "café ", TEXT_CHARSET_UTF8);
    expect_text("\x93quoted\x94 \x9cuvre", "quoted œuvre ", TEXT_CHARSET_WINDOWS_1252);
    expect_text("plain", "plain ", TEXT_CHARSET_ASCII);
    expect_text("", "", TEXT_CHARSET_ASCII);
    /* Few bad ones among many good are damage; the other way round it is another charset. */
    expect_text("é ü ß \xe9x é", "é ü ss x é ", TEXT_CHARSET_UTF8);
    expect_text("\xe9t\xe9 \xc3\xa9", "été ã ", TEXT_CHARSET_WINDOWS_1252);
    /* A character cut off at the end speaks against UTF-8 where nothing speaks for it. */
    expect_text("caf\xc3", "cafã ", TEXT_CHARSET_WINDOWS_1252);
    expect_text("é caf\xc3", "é caf ", TEXT_CHARSET_UTF8);
    expect_text("é \xe4\xb8", "é ", TEXT_CHARSET_UTF8);
    expect_text("ü é caf\xc3", "ü é caf ", TEXT_CHARSET_UTF8);
    expect_text("\xef\xbb\xbf"
                "caf\xe9",
                "caf ", TEXT_CHARSET_UTF8); /* by its mark */
}

/* Another route: what utf8proc reads one by one, in texts of sequences at the limits of what is
 * well-formed and past them. */
static void test_charset__well_formed_is_what_utf8proc_reads(void **state)
{
    (void)state;
    static const char *const good[] = {"a",
                                       "ab cd",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xbf",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xc3",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xe2\x82",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf0\x9f\x98",
                                      "\xf5\x80",
                                      "\xff",
                                      "\xe2",
                                      "\xef\xbf"};
    unsigned seed = 5, n_utf8 = 0, n_damaged = 0;
    enum { ROUNDS = 4000 };
    for (unsigned round = 0; round < ROUNDS; round++) {
        char text[1000] = "\xc3\xa9";
        size_t size = 2, wanted = 2 + (size_t)rand_r(&seed) % 900;
        int one_in = round % 4 ? 1 + rand_r(&seed) % 300 : 1 << 30;
        while (size < wanted) {
            const char *next = rand_r(&seed) % one_in == 0
                                   ? bad[(size_t)rand_r(&seed) % (sizeof(bad) / sizeof(bad[0]))]
                                   : good[(size_t)rand_r(&seed) % (sizeof(good) / sizeof(good[0]))];
            size += (size_t)sprintf(text + size, "%s", next);
        }
        unsigned n_good = 0, n_bad = 0;
        for (size_t at = 0; at < size;) {
            utf8proc_int32_t code;
            utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text + at,
                                                  (utf8proc_ssize_t)(size - at), &code);
            n_good += n > 1;
            n_bad += n <= 0;
            at += n > 0 ? (size_t)n : 1;
        }
        bool utf8 = n_bad == 0 || n_good > n_bad;
        struct canonical found = canonical_of(text, size, 0);
        assert_int_equal(found.form.charset, utf8 ? TEXT_CHARSET_UTF8 : TEXT_CHARSET_WINDOWS_1252);
        canonical_done(&found);
        n_utf8 += utf8;
        n_damaged += utf8 && n_bad;
    }
    assert_true(n_damaged > ROUNDS / 10 && n_utf8 < ROUNDS);
}

/* Every byte of Windows-1252, against iconv. */
static void test_charset__windows_1252_is_iconvs(void **state)
{
    (void)state;
    iconv_t from = iconv_open("UTF-8", "WINDOWS-1252");
    for (int c = 0xa0 - 0x20; c < 256; c++) {
        if (c == 0x81 || c == 0x8d || c == 0x8f || c == 0x90 || c == 0x9d)
            continue; /* not assigned */
        char text[4] = {'a', (char)c, 'b', 0}, utf8[16] = {0};
        char *in = text, *out = utf8;
        size_t in_bytes = 3, room = 15;
        assert_int_equal(iconv(from, &in, &in_bytes, &out, &room), 0);
        struct canonical wanted = canonical_of(utf8, strlen(utf8), 0);
        expect(text, 3, wanted.text, TEXT_CHARSET_WINDOWS_1252);
        canonical_done(&wanted);
    }
    iconv_close(from);
}

static void test_charset__first_letter_that_tells_may_come_late(void **state)
{
    (void)state;
    static char text[TEXT_MAX], tokens[TEXT_MAX];
    for (size_t before = 4094; before < 70000; before += before < 4100 ? 1 : 21961) {
        memset(text, '.', before);
        strcpy(text + before, "x\xe9y \xff");
        strcpy(tokens, "xéy ÿ ");
        expect_text(text, tokens, TEXT_CHARSET_WINDOWS_1252);
        strcpy(text + before, "xéy ÿ");
        expect_text(text, tokens, TEXT_CHARSET_UTF8);
    }
}

static void test_charset__declared_one_is_obeyed(void **state)
{
    (void)state;
    static char text[TEXT_MAX], bytes[TEXT_MAX], head[200];
    static const struct {
        const char *name;
        size_t phrase;
    } cases[] = {{"koi8-r", 1}, {"Windows-1251", 1}, {"shift_jis", 2},
                 {"EUC-JP", 2}, {"ISO-2022-JP", 2},  {"gb18030", 3}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        repeat(phrases[cases[i].phrase], 300, text);
        struct canonical plain = canonical_of(text, strlen(text), 0);
        for (int way = 0; way < 3; way++) {
            snprintf(head, sizeof(head),
                     way == 0   ? "<html><meta charset=%s>\n"
                     : way == 1 ? "<!doctype html><META content='text/html; charset=%s'>\n"
                                : "<?xml version='1.0' encoding=\"%s\"?><html>\n",
                     cases[i].name);
            strcpy(bytes, head);
            size_t size = strlen(head) + encode(cases[i].name, text, bytes + strlen(head));
            expect(bytes, size, plain.text, TEXT_CHARSET_DECLARED);
        }
        canonical_done(&plain);
    }
    expect_text("<html><meta charset=latin1>\xe9", "é ", TEXT_CHARSET_WINDOWS_1252);
    expect_text("<html><meta charset=utf-8>\xe9x é", "x é ", TEXT_CHARSET_UTF8);
    /* A name nobody knows, or one that cannot be, is none. */
    expect_text("<html><meta charset=klingon>\xe9", "é ", TEXT_CHARSET_WINDOWS_1252);
    expect_text("<html><meta charset=utf-16>é", "é ", TEXT_CHARSET_UTF8);
    /* Bytes that the declared one has not separate. */
    expect_text("<html><meta charset=iso-8859-6>a\xa1"
                "b",
                "a b ", TEXT_CHARSET_DECLARED);
    /* What glibc reads beyond the end, or never ends to write: the rare ones are nobody's. */
    expect_text("<html><meta charset=iso-2022-cn-ext><body>a\x0e", "a ", TEXT_CHARSET_ASCII);
    expect_text("<?xml version='1.0' encoding='ISO-2022-CN-EXT'?><html><body>\xe9\x0e", "é ",
                TEXT_CHARSET_WINDOWS_1252);
    strcpy(bytes, "<html><meta charset=shift_jisx0213><body>");
    for (int n = 0; n < 700; n++)
        strcat(bytes, "\x82\xf5");
    struct canonical endless = canonical_of(bytes, strlen(bytes), 0);
    canonical_done(&endless);
    for (const char *const *name =
             (const char *const[]){"KOI8-R", "koi8_u", "ISO-8859-15", "latin2", "Windows-1251",
                                   "CP850", "IBM866", "Shift_JIS", "EUC-KR", "Big5-HKSCS", NULL};
         *name; name++)
        assert_non_null(converters_name(*name));
    for (const char *const *name =
             (const char *const[]){"", "iso-2022-cn-ext", "EUC-JISX0213", "shift_jisx0213",
                                   "IBM1390", "CP1255//TRANSLIT", "iso-8859-1//IGNORE", "UTF-7",
                                   "cp930", "cp80000001", "koi8rrrrr", NULL};
         *name; name++)
        assert_null(converters_name(*name));
    /* Plain text declares nothing. */
    expect_text("see <meta charset=koi8-r> \xe9", "see meta charset koi8 r é ",
                TEXT_CHARSET_WINDOWS_1252);
}

/* -- without a mark or a declaration -- */

static const struct {
    const char *text;
    const char *charsets[5];
} texts[] = {
    {"Москва слезам не верит: семь раз отмерь, один раз отрежь. Без труда не вытащишь и рыбку из "
     "пруда",
     {"KOI8-R", "WINDOWS-1251", "ISO-8859-5", "IBM866"}},
    {"Українська мова є державною: її ґрунт, їжа і люди відомі кожному", {"KOI8-U"}},
    {"日本語の文章、カタカナとひらがなを混ぜて書く。彼女は毎日学校へ行きます",
     {"SHIFT_JIS", "EUC-JP"}},
    {"中文的文章很多人都会读，今天天气非常好，我们一起去公园散步吧", {"GB18030"}},
    {"繁體中文的文章很多人都會讀，今天天氣非常好，我們一起去公園散步吧", {"BIG5"}},
    {"한국어 문장은 많은 사람들이 읽을 수 있습니다. 오늘은 날씨가 아주 좋습니다", {"EUC-KR"}},
    {"Zażółć gęślą jaźń, a potem pójdź, kińże tę chmurność w głąb flaszy; żółw i łódź są już w "
     "środku",
     {"ISO-8859-2", "WINDOWS-1250"}},
    {"Η γλώσσα αυτή είναι αρχαία και την μιλούν πολλοί άνθρωποι σε όλο τον κόσμο σήμερα",
     {"ISO-8859-7"}},
};

static void test_charset__is_told_by_the_bytes(void **state)
{
    (void)state;
    static char text[TEXT_MAX], bytes[TEXT_MAX];
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (size_t times = 3; times < 1000; times += 500) { /* in less than the window, in more */
            *text = '\0';
            for (size_t at = 0, n = 0; n < times && at < TEXT_MAX / 4; n++)
                at += (size_t)sprintf(text + at, "%s %zu\n", texts[i].text, n);
            struct canonical plain = canonical_of(text, strlen(text), 0);
            for (const char *const *charset = texts[i].charsets; *charset; charset++) {
                size_t size = encode(*charset, text, bytes);
                expect(bytes, size, plain.text, TEXT_CHARSET_GUESSED);
            }
            canonical_done(&plain);
        }
    }
}

static void test_charset__of_a_document_so_many_bytes_tell(void **state)
{
    (void)state;
    enum { N_FULL = CHARSET_GUESSES_BYTES / CHARSET_GUESS_BYTES };
    static uint8_t full[CHARSET_GUESS_BYTES];
    char other[TEXT_MAX], one[TEXT_MAX];
    struct charset_guesser guesser = {0};
    const size_t one_bytes = encode("KOI8-R", texts[0].text, one);
    const size_t other_bytes = encode("WINDOWS-1251", texts[0].text, other);
    for (size_t i = 0; i < sizeof(full); i++)
        full[i] = (uint8_t)one[i % one_bytes];
    for (int document = 0; document < 2; document++) {
        charset_guess_begin(&guesser);
        for (int i = 1; i <= N_FULL; i++) {
            assert_string_equal(charset_guess(&guesser, full, sizeof(full)), "KOI8-U");
            const char *found = charset_guess(&guesser, (uint8_t *)other, other_bytes);
            assert_string_equal(found, i < N_FULL ? "WINDOWS-1251" : "KOI8-U");
        }
    }
    charset_guess_done(&guesser);
}

static void test_charset__of_few_letters_is_windows_1252(void **state)
{
    (void)state;
    static char text[TEXT_MAX], bytes[TEXT_MAX];
    size_t size = encode("KOI8-R", "слово", bytes);
    expect(bytes, size, "óìï ï ", TEXT_CHARSET_WINDOWS_1252);
    /* One letter in hundreds. */
    for (size_t at = 0, n = 0; at < 20000; n++)
        at +=
            (size_t)sprintf(text + at, "%s and so on, and so on, and so on, and so on, and more\n",
                            n % 4 ? "A long line without any of them" : "Het is één verhaal");
    struct canonical plain = canonical_of(text, strlen(text), 0);
    size = encode("WINDOWS-1252", text, bytes);
    expect(bytes, size, plain.text, TEXT_CHARSET_WINDOWS_1252);
    canonical_done(&plain);
}

/* All of the window says whether it is UTF-8, and what is behind it does not. */
static void test_charset__a_window_says_whether_it_is_utf8(void **state)
{
    (void)state;
    static char text[2 * CHARSET_WINDOW_BYTES];
    for (size_t behind = 0; behind < 2; behind++) {
        memset(text, ' ', sizeof(text));
        memcpy(text, "\u00e9", 2);
        for (size_t i = 0; i < 8; i++)
            text[CHARSET_WINDOW_BYTES - 2 * i - 2 + behind * CHARSET_WINDOW_BYTES / 2] = (char)0xe9;
        struct canonical found = canonical_of(text, sizeof(text), 0);
        if (behind)
            assert_int_equal(found.form.charset, TEXT_CHARSET_UTF8);
        else
            assert_int_not_equal(found.form.charset, TEXT_CHARSET_UTF8);
        canonical_done(&found);
    }
}

static void test_charset__wide_text_needs_no_mark(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum text_charset charset;
    } wide[] = {{"UTF-16LE", TEXT_CHARSET_UTF16LE},
                {"UTF-16BE", TEXT_CHARSET_UTF16BE},
                {"UTF-32LE", TEXT_CHARSET_UTF32LE},
                {"UTF-32BE", TEXT_CHARSET_UTF32BE}};
    static char text[TEXT_MAX], bytes[TEXT_MAX + 4];
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < sizeof(texts) / sizeof(texts[0]); j++) {
            repeat(texts[j].text, j % 2 ? 2 : 60, text);
            struct canonical plain = canonical_of(text, strlen(text), 0);
            size_t size = encode(wide[i].name, text, bytes);
            expect(bytes, size, plain.text, wide[i].charset);
            /* With a mark, too. */
            static char with_mark[TEXT_MAX];
            size_t n = encode(wide[i].name, "\xef\xbb\xbf", with_mark);
            memmove(bytes + n, bytes, size);
            memcpy(bytes, with_mark, n);
            expect(bytes, n + size, plain.text, wide[i].charset);
            canonical_done(&plain);
        }
        size_t size = encode(wide[i].name, "plain words of ASCII", bytes);
        expect(bytes, size, "plain words of ascii ", wide[i].charset);
        size = encode(wide[i].name, "<html><p>seen<!-- not --></p>", bytes);
        struct canonical html = canonical_of(bytes, size, 0);
        assert_int_equal(html.form.type, TEXT_HTML);
        canonical_done(&html);
    }
}

static void expect_binary(const void *bytes, size_t size)
{
    struct canonical found = canonical_of(bytes, size, 0);
    assert_int_equal(found.form.type, TEXT_BINARY);
    canonical_done(&found);
}

/* Units that are halves of characters: the first and the last that there are, and some between. */
static void test_charset__wide_text_has_pairs(void **state)
{
    (void)state;
    static const char *const names[] = {"UTF-16LE", "UTF-16BE"};
    static char text[TEXT_MAX], bytes[TEXT_MAX];
    repeat("\U00010000 \U0001f3ff \U0001f400 \U0002a6a5 and words", 20, text);
    struct canonical plain = canonical_of(text, strlen(text), 0);
    for (unsigned big = 0; big < 2; big++) {
        size_t size = encode(names[big], text, bytes);
        expect(bytes, size, plain.text, big ? TEXT_CHARSET_UTF16BE : TEXT_CHARSET_UTF16LE);
        /* Cut between halves, in the head's last unit, it is still told by the others. */
        for (size_t n = 2; n < 40; n += 2)
            assert_int_equal(wide_sniff((uint8_t *)bytes, size / 4 * 2 - n),
                             big ? TEXT_CHARSET_UTF16BE : TEXT_CHARSET_UTF16LE);
        /* Halves by themselves are no text. */
        static const uint16_t halves[] = {0xd800, 0xdbff, 0xdc00, 0xdfff};
        for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
            size = encode(names[big], "a text of words, of which there are enough to tell", bytes);
            bytes[20 + !big] = (char)(halves[i] >> 8);
            bytes[20 + big] = (char)halves[i];
            expect_binary(bytes, size);
        }
        /* Nor is one with another character behind it, at the end. */
        size = encode(names[big], "a text of words, of which there are enough to tell", bytes);
        bytes[size - 4 + !big] = (char)0xd8;
        bytes[size - 4 + big] = 0;
        expect_binary(bytes, size);
    }
    canonical_done(&plain);
}

/* A bell, or a bullet of a font's own, is no reason to take it for bytes; many are, and so is one
 * that is no character. */
static void test_charset__wide_text_has_few_odd_characters(void **state)
{
    (void)state;
    static const char *const odd[] = {"\a", "\uf0b7", "\xc2\x85"}, *const none[] = {"\u0378",
                                                                                    "\uffff"};
    static char text[TEXT_MAX], bytes[TEXT_MAX];
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        for (int n = 63; n <= 128; n++) {
            sprintf(text, "%s%s%0*d", n > 100 ? odd[i] : " ", odd[i], n - 2, n);
            text[10] = ' ';
            size_t size = encode("UTF-16LE", text, bytes);
            assert_int_equal(size, 2 * n);
            assert_int_equal(wide_sniff((uint8_t *)bytes, size),
                             n > 100  ? (n < 128 ? TEXT_CHARSET_ASCII : TEXT_CHARSET_UTF16LE)
                             : n < 64 ? TEXT_CHARSET_ASCII
                                      : TEXT_CHARSET_UTF16LE);
        }
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        sprintf(text, "%s %0200d", none[i], 1);
        expect_binary(bytes, encode("UTF-16LE", text, bytes));
    }
    sprintf(text, "\uf0b7 one thing of many\n\uf0b7 another thing%0100d\n", 7);
    struct canonical plain = canonical_of(text, strlen(text), 0);
    expect(bytes, encode("UTF-16BE", text, bytes), plain.text, TEXT_CHARSET_UTF16BE);
    canonical_done(&plain);
}

static void test_charset__wide_numbers_are_no_text(void **state)
{
    (void)state;
    uint16_t numbers[1000];
    for (uint16_t i = 0; i < 1000; i++)
        numbers[i] = i; /* controls and a zero among letters */
    expect_binary(numbers, sizeof(numbers));
    for (uint16_t i = 0; i < 1000; i++)
        numbers[i] = (uint16_t)(256 + i); /* letters, none of which is a space */
    expect_binary(numbers, sizeof(numbers));
    for (uint16_t i = 0; i < 1000; i++)
        numbers[i] = i % 10 ? (uint16_t)(i * 7919) : ' '; /* halves of pairs */
    expect_binary(numbers, sizeof(numbers));
    uint32_t offsets[1000];
    for (uint32_t i = 0; i < 1000; i++)
        offsets[i] = 1000 + 20 * i;
    expect_binary(offsets, sizeof(offsets));
    expect_binary("a\0 \0b\0 \0", 8); /* too little to tell */
    static char few[TEXT_MAX];
    expect_binary(few, encode("UTF-16LE", "слова из букв которых мало", few));
    expect_binary("text\0with a NUL, and more text behind it", 40);
}

static void test_charset__declarations_are_found_where_they_may_stand(void **state)
{
    (void)state;
    static const struct {
        const char *head, *name;
    } cases[] = {
        {"<meta charset=\"KOI8-R\">", "koi8-r"},
        {"<meta http-equiv=content-type content='text/html;charset = koi8-r'>", "koi8-r"},
        {"<?xml version='1.0' encoding = 'x'?><meta charset=y>", "x"},
        {"<?xml version='1.0'?><meta charset=y>", "y"},
        {"<meta name=a><meta charset=y>", "y"},
        {"<meta name=a> charset=y", NULL},
        {"charset=y", NULL},
        {"<meta charset>", NULL},
        {"<meta charset=''>", NULL},
        {"<meta charset=0123456789012345678901234567890123456789>", NULL},
        {"<meta charset=cut", "cut"},
        {"<meta", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[CHARSET_NAME_MAX + 1];
        bool found = charset_declared((const uint8_t *)cases[i].head, strlen(cases[i].head), name);
        assert_int_equal(found, cases[i].name != NULL);
        if (found)
            assert_string_equal(name, cases[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_charset__utf16_with_a_mark_is_read),
        cmocka_unit_test(test_charset__utf16_of_any_bytes_is_read),
        cmocka_unit_test(test_charset__windows_1252_is_told_from_utf8),
        cmocka_unit_test(test_charset__well_formed_is_what_utf8proc_reads),
        cmocka_unit_test(test_charset__windows_1252_is_iconvs),
        cmocka_unit_test(test_charset__first_letter_that_tells_may_come_late),
        cmocka_unit_test(test_charset__declared_one_is_obeyed),
        cmocka_unit_test(test_charset__is_told_by_the_bytes),
        cmocka_unit_test(test_charset__of_a_document_so_many_bytes_tell),
        cmocka_unit_test(test_charset__of_few_letters_is_windows_1252),
        cmocka_unit_test(test_charset__a_window_says_whether_it_is_utf8),
        cmocka_unit_test(test_charset__wide_text_needs_no_mark),
        cmocka_unit_test(test_charset__wide_text_has_pairs),
        cmocka_unit_test(test_charset__wide_text_has_few_odd_characters),
        cmocka_unit_test(test_charset__wide_numbers_are_no_text),
        cmocka_unit_test(test_charset__declarations_are_found_where_they_may_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
