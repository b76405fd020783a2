/* The characters of RTF: bytes of code pages, one or two for a character, and numbers of UTF-16
 * with a fallback behind them.
 *
 * Example: \'93\'fa in code page 932 is U+65E5; "\u26085?" is the same, and its fallback "?" is
 * passed over. Cost: bytes of Windows-1252 by a table, others by iconv(3), whose converters stay
 * open for the document. */
#include <errno.h>
#include <stdio.h>

#include "engine/text/encoding/charset.h"
#include "engine/text/formats/rtf.h"
#include "engine/text/encoding/utf8.h"

void rtf_show(struct rtf *rtf, const uint8_t *bytes, size_t n)
{
    if (!rtf_group(rtf)->hidden && !rtf_group(rtf)->left_out)
        gather_put(&rtf->gather, bytes, n);
}

static void show_code(struct rtf *rtf, uint32_t code)
{
    uint8_t bytes[UTF8_MAX_BYTES];
    rtf_show(rtf, bytes, utf8_put(bytes, code));
}

static void show_space(struct rtf *rtf)
{
    rtf_show(rtf, (const uint8_t *)" ", 1);
}

static iconv_t find_page(struct rtf *rtf, uint16_t number)
{
    char name[16];
    for (uint32_t i = 0; i < rtf->n_pages; i++)
        if (rtf->pages[i].number == number)
            return rtf->pages[i].iconv;
    if (rtf->n_pages == RTF_PAGES)
        return (iconv_t)-1;
    snprintf(name, sizeof(name), number == 10000 ? "MACINTOSH" : "CP%u", number);
    const char *known = converters_name(name);
    struct rtf_page *page = &rtf->pages[rtf->n_pages++];
    *page = (struct rtf_page){number, known ? iconv_open("UTF-8", known) : (iconv_t)-1};
    return page->iconv;
}

/* Takes a byte of a code page that has one byte or two for a character. */
static void show_in_page(struct rtf *rtf, iconv_t iconv_, uint8_t byte)
{
    char in[2] = {(char)rtf->lead, (char)byte}, out[2 * UTF8_MAX_BYTES];
    char *from = rtf->n_lead ? in : in + 1, *to = out;
    size_t n_in = 1 + (size_t)rtf->n_lead, n_out = sizeof(out);
    iconv(iconv_, NULL, NULL, NULL, NULL);
    const size_t r = iconv(iconv_, &from, &n_in, &to, &n_out);
    if (r == (size_t)-1 && rtf->n_lead == 0 && n_in == 1 && errno == EINVAL) {
        rtf->lead = byte;
        rtf->n_lead = 1;
        return;
    }
    rtf->n_lead = 0;
    if (r == (size_t)-1)
        show_space(rtf);
    else
        rtf_show(rtf, (const uint8_t *)out, (size_t)(to - out));
}

static void show_byte(struct rtf *rtf, uint8_t byte)
{
    const uint16_t page = rtf_group(rtf)->page ? rtf_group(rtf)->page : rtf->page;
    if (rtf_group(rtf)->hidden || rtf_group(rtf)->left_out)
        return;
    if (page == RTF_PAGE_OF_WINDOWS || (byte < 0x80 && !rtf->n_lead)) {
        show_code(rtf, byte < 0x80 ? byte : charset_windows_1252(byte));
        return;
    }
    iconv_t iconv_ = find_page(rtf, page);
    if (iconv_ != (iconv_t)-1)
        show_in_page(rtf, iconv_, byte);
    else
        show_space(rtf);
}

void rtf_end_surrogate(struct rtf *rtf)
{
    if (rtf->surrogate)
        show_space(rtf);
    rtf->surrogate = 0;
}

void rtf_take_byte(struct rtf *rtf, uint8_t byte)
{
    if (rtf->n_skip) {
        rtf->n_skip--;
        return;
    }
    rtf_end_surrogate(rtf);
    show_byte(rtf, byte);
}

void rtf_take_space(struct rtf *rtf)
{
    rtf->n_lead = 0;
    rtf_take_byte(rtf, ' ');
}

void rtf_take_unicode(struct rtf *rtf, uint32_t number)
{
    const uint16_t unit = (uint16_t)number; /* a negative number is its unit less 65,536 */
    rtf->n_lead = 0;
    if (rtf->surrogate && unit >= 0xdc00 && unit < 0xe000) {
        const uint32_t high = rtf->surrogate - 0xd800u;
        rtf->surrogate = 0;
        show_code(rtf, 0x10000 + (high << 10 | (unit - 0xdc00u)));
    } else {
        rtf_end_surrogate(rtf);
        if (unit >= 0xd800 && unit < 0xdc00)
            rtf->surrogate = unit;
        else
            show_code(rtf, unit < ' ' || (unit >= 0xdc00 && unit < 0xe000) ? ' ' : unit);
    }
    rtf->n_skip = rtf_group(rtf)->n_fallback;
}

void rtf_done(struct rtf *rtf)
{
    for (uint32_t i = 0; i < rtf->n_pages; i++)
        if (rtf->pages[i].iconv != (iconv_t)-1)
            iconv_close(rtf->pages[i].iconv);
    rtf->n_pages = 0;
}
