/* A link of a document to another, as it is written there. */
#ifndef KINFS_ENGINE_TOPIC_LINKS_LINK_H
#define KINFS_ENGINE_TOPIC_LINKS_LINK_H

#include <stddef.h>
#include <stdint.h>

enum {
    LINK_TARGET_MAX_BYTES = 2048, /* a longer target makes no link */
    LINK_TEXT_MAX_BYTES = 1024,   /* of a longer text the rest is dropped */
};

/* The kind of a target, by which it is resolved (link_place.h). */
enum link_kind {
    LINK_URL,      /* a reference to a URL, relative or not: HTML, Markdown, reStructuredText */
    LINK_PATH,     /* a path as it is: Org's file links, what reStructuredText includes */
    LINK_PAGE,     /* the name of a page: wiki markup, double brackets in Markdown */
    LINK_DOCUMENT, /* a path without the ending: Sphinx's doc and toctree */
    LINK_INCLUDE,  /* #include "name" */
    LINK_SYSTEM,   /* #include <name> */
    LINK_TEX,      /* a path whose ending may be missing: \input, \include, \includegraphics */
    LINK_MANUAL,   /* a manual page, "name(section)" */
    LINK_SOURCE,   /* the path behind .so of a manual page */
    LINK_MESSAGE,  /* the id of a message: References, In-Reply-To */
    LINK_LISTED,   /* what may be the name of a file, in a line of a README or an index */
    LINK_SYMBOLIC, /* what a symbolic link holds */
    LINK_N_KINDS,
};

/* "url", "path", "page", "document", "include", "system", "tex", "manual", "source", "message",
 * "listed", "symbolic" */
const char *link_kind_name(enum link_kind kind);

/* Neither text ends with NUL, and the target has none in it. */
struct link {
    enum link_kind kind;
    const char *target; /* as it stands there, references to characters replaced */
    size_t target_bytes;
    const char *text; /* the words by which it links, UTF-8: markup may be in it; of HTML canonical
                         tokens and blanks */
    size_t text_bytes;
    uint64_t line; /* in which it begins, of HTML ends, of the unpacked text, from 1 */
};

/* The receiver of links, in the order of their lines; those of a list come behind all others. The
 * link is valid during the call. */
struct link_sink {
    void (*link)(void *user, const struct link *link);
    void *user;
};

#endif
