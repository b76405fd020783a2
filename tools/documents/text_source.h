/* A file as the index reads it: its own bytes, or the text that an extractor makes of them. For
 * those who compare two files without an index. */
#ifndef KINFS_TOOLS_DOCUMENTS_TEXT_SOURCE_H
#define KINFS_TOOLS_DOCUMENTS_TEXT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sketch/documents/document_sketch.h"
#include "tools/options/configuration.h"

struct text_source {
    int fd;                   /* the file, or its text */
    const enum text_type *as; /* canon_begin_as() of what is text already; NULL: not known */
    bool cut;                 /* there was more text */
};

/* Open the text of a document.
 *
 * fd        of the document, seekable
 * until_ms  of clock_now_ms(), to when its extractor is to end; 0: it has its own time alone
 *
 * The text is in a file without a name. Returns 0, -EBADMSG (its extractor failed), -ETIMEDOUT,
 * -ENOMEM or an errno, with a line in *ret_error; end with text_source_done(). */
#define TEXT_SOURCE_LATE "%s: reading it takes too long"
int text_source_open(const char *path, int fd, const struct configuration *configuration,
                     int64_t until_ms, struct text_source *ret_text, char **ret_error);
void text_source_done(struct text_source *text);

/* The two have the same canonical text, and any, all of which is known: by fingerprints of 128 bits
 * of all of it, under a key of this call. Reads both. Returns 1, 0 or an errno. */
int text_source_equal(const struct text_source *a, const struct text_source *b,
                      const struct word_options *words);

#endif
