/* The C library's converters to UTF-8, for the charsets that a document declares. Private to
 * engine/text.
 *
 * Each converter is a module that is loaded when it is first opened, which takes some 80 us, and a
 * mail may name another charset for each word of its subject. A document therefore gets its first
 * few, and any further name counts as if none were declared; open converters are used again by the
 * next document.
 */
#ifndef KINFS_ENGINE_TEXT_ENCODING_CONVERTERS_H
#define KINFS_ENGINE_TEXT_ENCODING_CONVERTERS_H

#include <iconv.h>
#include <stdbool.h>

enum { CHARSET_NAME_MAX = 31, CONVERTERS_MAX = 8 };

struct converter {
    iconv_t iconv;
    bool wanted;                     /* by this document */
    char name[CHARSET_NAME_MAX + 1]; /* as it is spelled first */
};

struct converters {
    unsigned n_open, n_wanted;
    struct converter open[CONVERTERS_MAX];
};

/* Begins another document. The converters are zeroed memory before the first one. */
void converters_begin(struct converters *converters);
void converters_done(struct converters *converters);

/* The one for a charset, in its first state; borrowed until the next document. (iconv_t)-1: nobody
 * converts it, or the document has wanted CONVERTERS_MAX others. name has CHARSET_NAME_MAX bytes at
 * most. */
iconv_t converters_find(struct converters *converters, const char *name);

/* True when a charset of this name is read where a document declares it; any other name counts as
 * if none were declared. Hyphens, underscores and letter case make no difference. */
bool converters_know(const char *name);

#endif
