/* RTF by groups and control words. The text of a document is that of the groups that are shown: not
 * of tables of fonts and styles, pictures, headers and footers, instructions of fields, numbers of
 * lists, text that was deleted or is hidden, nor of any group that begins with \*. Footnotes are
 * shown where they are referred to.
 *
 * A character that is not ASCII is a byte of the font's code page, or the document's, or a number
 * in Unicode with a fallback behind it for readers that do not know that. Ends of lines mean
 * nothing; paragraphs, cells and the like separate words, and so does every other character that a
 * control word stands for, as these are punctuation.
 *
 * Example: {\rtf1{\fonttbl{\f0 Arial;}}\b Caf\'e9\b0 \u8364?10\par} shows "Caf<U+00E9> <U+20AC>10".
 *
 * Cost: a state machine, one look at each byte; a stack of RTF_DEPTH groups. Left out: documents
 * within documents (\objdata), which are binary.
 */
#include "engine/text/formats/rtf.h"

#include <string.h>

bool rtf_sniff(const uint8_t *head, size_t head_bytes)
{
    return head_bytes >= 5 && memcmp(head, "{\\rtf", 5) == 0;
}

/* -- groups -- */

static void begin_group(struct rtf *rtf)
{
    rtf->n_skip = 0;
    rtf->n_lead = 0;
    if (rtf->n_groups == RTF_DEPTH) {
        rtf->n_deeper += rtf->n_deeper < UINT32_MAX;
        return;
    }
    rtf->groups[rtf->n_groups] = *rtf_group(rtf);
    rtf->n_groups++;
}

static void end_group(struct rtf *rtf)
{
    rtf->n_skip = 0;
    rtf->n_lead = 0;
    if (rtf->n_deeper)
        rtf->n_deeper--;
    else if (rtf->n_groups > 1)
        rtf->n_groups--;
}

/* -- fonts -- */

static uint16_t page_of_charset(uint32_t charset)
{
    static const struct {
        uint8_t charset;
        uint16_t page;
    } pages[] = {{77, 10000}, {128, 932},  {129, 949},  {130, 1361}, {134, 936},
                 {136, 950},  {161, 1253}, {162, 1254}, {163, 1258}, {177, 1255},
                 {178, 1256}, {186, 1257}, {204, 1251}, {222, 874},  {238, 1250}};
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
        if (pages[i].charset == charset)
            return pages[i].page;
    return 0;
}

static void define_font(struct rtf *rtf, uint32_t charset)
{
    const uint16_t page = page_of_charset(charset);
    if (!page || rtf->n_fonts == RTF_FONTS)
        return;
    rtf->fonts[rtf->n_fonts].number = rtf->font;
    rtf->fonts[rtf->n_fonts++].page = page;
}

static uint16_t page_of_font(const struct rtf *rtf, uint16_t font)
{
    for (uint32_t i = 0; i < rtf->n_fonts; i++)
        if (rtf->fonts[i].number == font)
            return rtf->fonts[i].page;
    return 0;
}

/* -- control words -- */

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (**words == *word && strcmp(word, *words) == 0)
            return true;
    return false;
}

static bool begins_hidden(const char *word)
{
    static const char *const words[] = {
        "colortbl",   "filetbl",  "fldinst", "fonttbl", "footer",  "footerf", "footerl",
        "footerr",    "header",   "headerf", "headerl", "headerr", "info",    "listtext",
        "nonshppict", "objdata",  "pict",    "pntext",  "revtbl",  "rxe",     "stylesheet",
        "tc",         "template", "txe",     "xe",      NULL};
    return is_one_of(word, words);
}

/* Takes the other control words that stand for a character. */
static bool is_space(const char *word)
{
    static const char *const words[] = {
        "bullet",    "cell", "column", "emdash",   "emspace", "endash", "enspace", "footnote",
        "ldblquote", "line", "lquote", "nestcell", "nestrow", "page",   "par",     "qmspace",
        "rdblquote", "row",  "rquote", "sect",     "tab",     NULL};
    return is_one_of(word, words);
}

static void end_word(struct rtf *rtf)
{
    char word[RTF_WORD_BYTES + 1] = {0};
    const uint32_t number = rtf->negative ? 0 - rtf->number : rtf->number;
    const bool has_number = rtf->n_digits > 0, ignorable = rtf->ignorable;
    memcpy(word, rtf->word, rtf->n_word);
    rtf->state = RTF_TEXT;
    rtf->ignorable = false;
    if (ignorable) {
        rtf_group(rtf)->hidden = true;
    } else if (strcmp(word, "u") == 0 && has_number) {
        if (rtf->n_skip)
            rtf->n_skip--;
        else
            rtf_take_unicode(rtf, number);
    } else if (strcmp(word, "bin") == 0) {
        rtf->state = number ? RTF_BINARY : RTF_TEXT;
        rtf->number = rtf->negative ? 0 : number;
    } else if (is_space(word)) {
        rtf_take_space(rtf);
    } else if (begins_hidden(word)) {
        rtf_group(rtf)->hidden = true;
        rtf_group(rtf)->fonts = strcmp(word, "fonttbl") == 0;
    } else if (strcmp(word, "deleted") == 0 || strcmp(word, "v") == 0) {
        rtf_group(rtf)->left_out = !has_number || number;
    } else if (strcmp(word, "uc") == 0) {
        rtf_group(rtf)->n_fallback = number < UINT8_MAX ? (uint8_t)number : UINT8_MAX;
    } else if (strcmp(word, "ansicpg") == 0 && number && number <= UINT16_MAX) {
        rtf->page = (uint16_t)number;
    } else if (strcmp(word, "mac") == 0) {
        rtf->page = 10000;
    } else if (strcmp(word, "pc") == 0 || strcmp(word, "pca") == 0) {
        rtf->page = strcmp(word, "pc") == 0 ? 437 : 850;
    } else if (strcmp(word, "plain") == 0) {
        rtf_group(rtf)->page = 0;
        rtf_group(rtf)->left_out = false;
    } else if (strcmp(word, "f") == 0 && rtf_group(rtf)->fonts) {
        rtf->font = (uint16_t)number;
    } else if (strcmp(word, "fcharset") == 0 && rtf_group(rtf)->fonts) {
        define_font(rtf, number);
    } else if (strcmp(word, "f") == 0) {
        rtf->n_lead = 0;
        rtf_group(rtf)->page = page_of_font(rtf, (uint16_t)number);
    }
}

/* Takes a control symbol: a backslash and a character that begins no word. */
static void take_symbol(struct rtf *rtf, uint8_t c)
{
    rtf->state = RTF_TEXT;
    if (c == '\'') {
        rtf->state = RTF_HEX;
        rtf->number = rtf->n_digits = 0;
    } else if (c == '*') {
        rtf->ignorable = true;
    } else if (c == '\\' || c == '{' || c == '}' || c == '~' || c == '_' || c == '\n' ||
               c == '\r') {
        rtf_take_space(rtf); /* symbols that stand for no letter separate words */
    }
}

static bool is_letter(uint8_t c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static int digit_of(uint8_t c)
{
    const uint8_t lower = c | 0x20;
    return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* -- bytes; each function returns the number of those it took -- */

static size_t feed_text(struct rtf *rtf, const uint8_t *p, size_t n)
{
    size_t i = 0;
    const bool plain = !rtf->n_skip && !rtf->n_lead && !rtf->surrogate;
    while (plain && i < n && p[i] < 0x80 && p[i] != '\\' && p[i] != '{' && p[i] != '}' &&
           p[i] != '\r' && p[i] != '\n')
        i++;
    if (i > 0) {
        rtf_show(rtf, p, i);
        return i;
    }
    switch (p[0]) {
    case '\\': rtf->state = RTF_CONTROL; break;
    case '{': begin_group(rtf); break;
    case '}': end_group(rtf); break;
    case '\r':
    case '\n': break;
    default: rtf_take_byte(rtf, p[0]); break;
    }
    return 1;
}

static size_t feed_control(struct rtf *rtf, uint8_t c)
{
    if (!is_letter(c)) {
        take_symbol(rtf, c);
        return 1;
    }
    rtf->state = RTF_WORD;
    rtf->n_word = 0;
    rtf->number = rtf->n_digits = 0;
    rtf->negative = false;
    return 0;
}

/* Takes a byte of a control word's number. A blank behind the word is part of it. */
static size_t feed_word(struct rtf *rtf, uint8_t c)
{
    if (rtf->state == RTF_WORD && is_letter(c)) {
        if (rtf->n_word < RTF_WORD_BYTES)
            rtf->word[rtf->n_word++] = c;
        return 1;
    }
    if (rtf->state == RTF_WORD && c == '-') {
        rtf->state = RTF_NUMBER;
        rtf->negative = true;
        return 1;
    }
    if (c >= '0' && c <= '9') {
        rtf->state = RTF_NUMBER;
        rtf->n_digits += rtf->n_digits < UINT32_MAX;
        rtf->number = rtf->number < UINT32_MAX / 16 ? rtf->number * 10 + (c - '0') : rtf->number;
        return 1;
    }
    end_word(rtf);
    return c == ' ';
}

static size_t feed_hex(struct rtf *rtf, uint8_t c)
{
    const int digit = digit_of(c);
    if (digit >= 0)
        rtf->number = rtf->number << 4 | (uint32_t)digit;
    if (digit < 0 || ++rtf->n_digits == 2) {
        rtf->state = RTF_TEXT;
        rtf_take_byte(rtf, digit < 0 ? ' ' : (uint8_t)rtf->number);
    }
    return digit >= 0;
}

static size_t feed_binary(struct rtf *rtf, size_t n)
{
    size_t n_skipped = n < rtf->number ? n : rtf->number;
    rtf->number -= (uint32_t)n_skipped;
    if (!rtf->number)
        rtf->state = RTF_TEXT;
    return n_skipped;
}

void rtf_begin(struct rtf *rtf, struct words *words)
{
    rtf_done(rtf);
    memset(rtf, 0, offsetof(struct rtf, gather));
    rtf->page = RTF_PAGE_OF_WINDOWS;
    rtf->n_groups = 1;
    rtf->groups[0].n_fallback = 1;
    gather_begin(&rtf->gather, words);
}

void rtf_feed(struct rtf *rtf, const uint8_t *bytes, size_t size_bytes)
{
    while (size_bytes > 0) {
        size_t n = 0;
        switch (rtf->state) {
        case RTF_TEXT: n = feed_text(rtf, bytes, size_bytes); break;
        case RTF_CONTROL: n = feed_control(rtf, *bytes); break;
        case RTF_WORD:
        case RTF_NUMBER: n = feed_word(rtf, *bytes); break;
        case RTF_HEX: n = feed_hex(rtf, *bytes); break;
        case RTF_BINARY: n = feed_binary(rtf, size_bytes); break;
        }
        bytes += n;
        size_bytes -= n;
    }
}

void rtf_finish(struct rtf *rtf)
{
    rtf_end_surrogate(rtf);
    gather_separate(&rtf->gather);
    gather_flush(&rtf->gather);
}
