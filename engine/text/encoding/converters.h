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
    bool wanted;      /* by this document */
    const char *name; /* of converters_name() */
};

struct converters {
    unsigned n_open, n_wanted;
    struct converter open[CONVERTERS_MAX];
};

/* Begins another document. The converters are zeroed memory before the first one. */
void converters_begin(struct converters *converters);
void converters_done(struct converters *converters);

/* The one for a charset, in its first state; borrowed until the next document. (iconv_t)-1: nobody
 * converts it, or the document has wanted CONVERTERS_MAX others. */
iconv_t converters_find(struct converters *converters, const char *charset);

/* The name that the C library has for a charset that a document may declare; static. NULL: any
 * other, which counts as if none were declared. */
const char *converters_name(const char *charset);

/* Hyphens, underscores and letter case make no difference. */
bool converters_is_name(const char *a, const char *b);

#endif
