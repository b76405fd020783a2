/* Roff (man pages, mdoc pages, documents for other macro packages) to the text it shows; private to
 * engine/text.
 *
 * roff.c            lines, requests and conditions
 * roff_macro.c      macros and their arguments
 * roff_condition.c  conditions
 * roff_escape.c     escapes and special characters
 * roff_sniff.c      tells roff from other texts
 * roff_string.c     strings
 *
 * It is no formatter: macros and registers that a document defines are not expanded, and
 * nothing that a macro says of itself is shown. roff.c has the list.
 */
#ifndef KINFS_ENGINE_TEXT_FORMATS_ROFF_H
#define KINFS_ENGINE_TEXT_FORMATS_ROFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/text/words/gather.h"
#include "engine/text/formats/line.h"
#include "engine/text/formats/roff_rest.h"

enum {
    ROFF_NAME_MAX_BYTES = 63,
    ROFF_STRINGS = 64,
    ROFF_STRING_NAME_BYTES = 14,
    ROFF_STRING_BYTES = 64,
    ROFF_SHOWS = 32, /* the most bytes of strings that are shown for one of a line, on average */
};

struct roff_string {
    bool known;
    uint8_t n_name, n_value;
    uint8_t name[ROFF_STRING_NAME_BYTES], value[ROFF_STRING_BYTES];
};

enum roff_table_at { ROFF_NO_TABLE, ROFF_TABLE_OPTIONS, ROFF_TABLE_FORMAT, ROFF_TABLE_ROWS };

struct roff {
    bool space;      /* the next text is another word than the last */
    bool joined;     /* the line ends in \c, and its last word goes on */
    bool raw;        /* between .eo and .ec: no escapes */
    bool unspaced;   /* after mdoc's .Sm off */
    bool drops_line; /* with the rest of it */
    enum roff_table_at table_at;
    uint8_t table_separator;
    uint32_t skip_depth; /* of braces, in a branch that is not taken */
    uint32_t taken;     /* of the open .ie, the innermost in the lowest bit: its branch was taken */
    uint8_t n_end_name; /* nothing is shown before the macro of this name */
    uint8_t n_name;     /* of the command an mdoc page is about */
    uint8_t end_name[ROFF_NAME_MAX_BYTES + 1], name[ROFF_NAME_MAX_BYTES + 1];
    bool in_string;
    uint32_t shows; /* bytes of strings that the line may show yet */
    uint32_t n_strings;
    struct roff_string strings[ROFF_STRINGS];
    struct line_reader
        reader; /* the rest of a line that is cut is shown as text, or dropped with the line */
    struct gather gather;
};

/* True when a document with this head is roff: it begins with a comment or a macro, and other
 * macros, or one that only man pages have, follow. */
bool roff_sniff(const uint8_t *head, size_t head_bytes);

void roff_begin(struct roff *roff, struct words *words);
void roff_feed(struct roff *roff, const uint8_t *bytes, size_t size_bytes);
void roff_finish(struct roff *roff);

/* -- between the files of roff -- */

enum {
    ROFF_DROP = 1,      /* no argument is text */
    ROFF_FIRST = 2,     /* the first argument is text */
    ROFF_JOINED = 4,    /* the arguments are parts of one word */
    ROFF_PARSED = 8,    /* arguments that name callable macros are not text */
    ROFF_CALLABLE = 16, /* the macro may be an argument of a parsed one */
    ROFF_INLINE = 32,   /* a word may go on in it */
    ROFF_NO_SPACE = 64, /* the text before it and behind it are parts of one word */
    ROFF_PREFIX = 128,  /* its first argument and the text behind it are */
    ROFF_SWAPPED = 256, /* the second argument is shown before the first */
    ROFF_OPTIONS = 512, /* arguments that begin with a dash are no text */
};

/* Feeds text to the words, as it stands; and with its escapes. */
void roff_put(struct roff *roff, const uint8_t *bytes, size_t size_bytes);
void roff_show(struct roff *roff, struct rest text);

/* Defines a string by the rest of a line ".ds", and shows one. A string that is not known shows a
 * space, as most of these stand for quotes and dashes. */
void roff_define_string(struct roff *roff, struct rest rest);
void roff_show_string(struct roff *roff, const struct rest *name);

/* Takes a condition from the front of a rest. Returns true when the condition holds. */
bool roff_take_condition(struct rest *rest);

/* The next argument of a macro; within quotes a doubled one stays so, which separates words as well
 * as a single one. Returns false when there is none. */
bool roff_take_argument(struct rest *rest, struct rest *ret_argument, bool *ret_quoted);

/* Keeps a name of the document, which is shown or compared later. Returns the number of bytes. */
uint8_t roff_keep_name(uint8_t kept[ROFF_NAME_MAX_BYTES + 1], const struct rest *name);

/* A macro of the packages man, mdoc, ms and of pod2man. */
struct roff_macro {
    char name[10];
    uint16_t flags;
    char text[11]; /* shown before its arguments */
};

/* The macro of a name, or NULL. */
const struct roff_macro *roff_macro_find(const uint8_t *name, size_t n_bytes);
/* Shows the line of a macro; macro: NULL for one that is not known. */
void roff_macro_line(struct roff *roff, const struct roff_macro *macro, struct rest rest);

enum roff_escape_is {
    ROFF_ESCAPE_NOTHING, /* fonts, motions, numbers */
    ROFF_ESCAPE_TEXT,
    ROFF_ESCAPE_SPACE, /* also a character that is not known: most are punctuation */
    ROFF_ESCAPE_STRING,
    ROFF_ESCAPE_JOIN,    /* \c */
    ROFF_ESCAPE_COMMENT, /* to the end of the line */
};

enum { ROFF_ESCAPE_TEXT_MAX = 16 };

struct roff_escape {
    enum roff_escape_is is;
    size_t n_bytes; /* all of it, with the backslash */
    uint8_t n_text, text[ROFF_ESCAPE_TEXT_MAX];
    struct rest name; /* of a string */
};

/* Reads the escape at the front of a line's rest, which begins with a backslash. An escape that the
 * end of the line cuts off counts as complete. */
struct roff_escape roff_escape_read(const uint8_t *p, size_t n_bytes);

#endif
