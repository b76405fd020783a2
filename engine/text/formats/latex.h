/* LaTeX to the text that is printed, as far as can be told without its macros. Private to
 * engine/text.
 *
 * latex.c          groups, arguments, comments, mathematics
 * latex_command.c  commands and accents
 * latex_sniff.c    tells LaTeX from other texts
 */
#ifndef KINFS_ENGINE_TEXT_FORMATS_LATEX_H
#define KINFS_ENGINE_TEXT_FORMATS_LATEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/text/words/gather.h"

enum {
    LATEX_NAME_BYTES = 23,     /* of a command or an environment; no longer one means anything */
    LATEX_OPTION_BYTES = 1024, /* in brackets; the rest of a longer one is text */
};

enum latex_state {
    LATEX_TEXT,
    LATEX_COMMENT,
    LATEX_BEHIND_COMMENT, /* blanks at the beginning of the next line do not count */
    LATEX_COMMAND,        /* behind a backslash */
    LATEX_NAME,
    LATEX_ARGUMENTS,   /* behind a command */
    LATEX_OPTION,      /* in brackets, dropped */
    LATEX_DROPPED,     /* in braces */
    LATEX_ENVIRONMENT, /* the name in braces, behind \begin or \end */
    LATEX_ACCENT,      /* its letter comes */
    LATEX_VERB,
    LATEX_VERBATIM, /* up to \end{name} */
};

struct latex {
    enum latex_state state;
    bool preamble, ended;      /* before and behind the document */
    bool options, after_brace; /* options that come are dropped; a group has just ended */
    bool closed;               /* a dropped argument or option has just ended */
    bool escaped;              /* the last dropped byte was a backslash */
    bool begins, hidden;       /* \begin, not \end; the verbatim environment is not shown */
    uint8_t n_drop;            /* arguments still to be dropped */
    uint8_t n_name, name[LATEX_NAME_BYTES + 1];
    uint8_t accent, delimiter, n_matched; /* of LATEX_VERBATIM: bytes of "\end{name}" */
    uint32_t depth, n_option; /* open braces in a dropped argument; bytes of an option */
    uint32_t title_depth;     /* of a title that is shown in a preamble; 0: none */
    struct gather gather;
};

/* True when a document with this head is LaTeX: its first line that is no comment is a command, for
 * a heading or another file, or there is the class of a document, or three lines at least begin
 * with commands for structure. */
bool latex_sniff(const uint8_t *head, size_t head_bytes);
/* True when it is a part of one that begins with text: to be asked of what is nothing else. */
bool latex_sniff_part(const uint8_t *head, size_t head_bytes);

void latex_begin(struct latex *latex, struct words *words);
void latex_feed(struct latex *latex, const uint8_t *bytes, size_t size_bytes);
void latex_finish(struct latex *latex);

/* -- between the files of latex -- */

enum {
    LATEX_INLINE = 1, /* a word may go on in it */
    LATEX_KEEPS_OPTION = 2,
    LATEX_SHOWN_IN_PREAMBLE = 4,
    LATEX_IS_ACCENT = 8,
    LATEX_DROP_ALL = 9, /* arguments */
};

struct latex_command {
    char name[LATEX_NAME_BYTES + 1];
    uint8_t n_drop; /* of its arguments, the first */
    uint8_t flags;
    char text[8]; /* UTF-8, in its place */
};

/* The command of a name. One that is not known has no arguments to be dropped. */
const struct latex_command *latex_command(const char *name);

/* The letter with the accent, by the byte behind the backslash, to UTF-8. Returns how many bytes.
 */
enum { LATEX_LETTER_BYTES = 8 };
size_t latex_accent(uint8_t accent, uint8_t letter, uint8_t to[LATEX_LETTER_BYTES]);

#endif
