/* The words of a document, and where they stand: for who shows them in their text. */
#ifndef KINFS_TOOLS_DOCUMENTS_WORD_PLACES_H
#define KINFS_TOOLS_DOCUMENTS_WORD_PLACES_H

#include <stdint.h>

#include "tools/documents/text_source.h"

struct word_place {
    uint32_t begin, end; /* in the text, with the white space before and what belongs to no word */
    uint32_t line;       /* of the document, unpacked, or of what an extractor made of it; from 1 */
};

struct word_places {
    char *text; /* what the words are taken from, without markup; no NUL in it, one behind it */
    uint64_t *words; /* equal numbers for equal words, of all documents that this process reads */
    struct word_place *places;
    size_t n;       /* words */
    bool has_words; /* false: it is a table, binary, or lines of an extractor */
};

/* The words of a text. Of a text of more than most_bytes, or one that is unpacked to more than
 * WORD_PLACES_UNPACKED times as much, which may all be markup: -E2BIG, before more of it is kept.
 * After until_ms, of clock_now_ms(), 0: never: -ETIMEDOUT. Takes some 30 bytes of memory for each
 * of a text of words of a letter. Returns 0, -ENOMEM or an error of reading; end with
 * word_places_done().
 *
 * A document that somebody named has another bound than those that an answer has, which anybody
 * may have written. */
enum { WORD_PLACES_NAMED_BYTES = 256 << 20, WORD_PLACES_FOUND_BYTES = 16 << 20 };
enum { WORD_PLACES_UNPACKED = 16 };
int word_places_read(const struct text_source *source, size_t most_bytes, int64_t until_ms,
                     struct word_places *ret_places);
void word_places_done(struct word_places *places);

#endif
