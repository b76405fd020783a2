/* RTF (Rich Text Format 1.9.1) to the text that is shown. Private to engine/text.
 *
 * rtf.c            groups and control words
 * rtf_character.c  characters
 */
#ifndef KINFS_ENGINE_TEXT_FORMATS_RTF_H
#define KINFS_ENGINE_TEXT_FORMATS_RTF_H

#include <iconv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/text/words/gather.h"

enum {
    RTF_PAGE_OF_WINDOWS = 1252,
    RTF_DEPTH = 128,     /* groups in each other; deeper groups have the properties of the last */
    RTF_FONTS = 64,      /* fonts of another charset than the document's; further ones have that */
    RTF_PAGES = 8,       /* code pages of a document; in further ones only ASCII is read */
    RTF_WORD_BYTES = 15, /* of a control word; no longer one means anything */
};

struct rtf_group {
    bool hidden, fonts; /* its kind of group is not shown; it is the table of fonts */
    bool left_out;      /* the text that comes was deleted, or is hidden */
    uint8_t n_fallback; /* characters behind one in Unicode, for readers without that */
    uint16_t page;      /* 0: the document's */
};

struct rtf_page {
    uint16_t number;
    iconv_t iconv; /* (iconv_t)-1: there is no converter */
};

struct rtf {
    enum {
        RTF_TEXT,
        RTF_CONTROL, /* behind a backslash */
        RTF_WORD,
        RTF_NUMBER,
        RTF_HEX,
        RTF_BINARY,
    } state;
    bool ignorable; /* the next control word names a group that not all readers know */
    bool negative;
    uint8_t n_word, word[RTF_WORD_BYTES];
    uint32_t number,
        n_digits;         /* of the control word; of RTF_HEX the byte; of RTF_BINARY the rest */
    uint32_t n_skip;      /* characters of a fallback */
    uint16_t surrogate;   /* the first half of a pair, or 0 */
    uint16_t page, font;  /* the document's; in the table of fonts */
    uint8_t n_lead, lead; /* the first byte of two */
    uint32_t n_groups, n_deeper;
    struct rtf_group groups[RTF_DEPTH];
    uint32_t n_fonts, n_pages;
    struct {
        uint16_t number, page;
    } fonts[RTF_FONTS];
    struct rtf_page pages[RTF_PAGES];
    struct gather gather;
};

bool rtf_sniff(const uint8_t *head, size_t head_bytes); /* "{\rtf" */

/* rtf is zeroed memory. */
void rtf_done(struct rtf *rtf);

void rtf_begin(struct rtf *rtf, struct words *words);
void rtf_feed(struct rtf *rtf, const uint8_t *bytes, size_t size_bytes);
void rtf_finish(struct rtf *rtf);

/* -- between the files of rtf -- */

static inline struct rtf_group *rtf_group(struct rtf *rtf)
{
    return &rtf->groups[rtf->n_groups - 1];
}

void rtf_show(struct rtf *rtf, const uint8_t *bytes, size_t n); /* UTF-8 */

/* Takes a character of the text, or a byte of one, by its code page. In a fallback it is passed
 * over. */
void rtf_take_byte(struct rtf *rtf, uint8_t byte);
void rtf_take_space(struct rtf *rtf);
void rtf_take_unicode(struct rtf *rtf, uint32_t number); /* behind "\\u" */
void rtf_end_surrogate(struct rtf *rtf);                 /* the next character is no second half */

#endif
