/* Where a link of a document in a tree leads: as the program has it that shows such documents. */
#ifndef KINFS_ENGINE_TOPIC_LINKS_LINK_PLACE_H
#define KINFS_ENGINE_TOPIC_LINKS_LINK_PLACE_H

#include <stdbool.h>

#include "engine/topic/links/link.h"

enum link_is { LINK_IS_NOTHING, LINK_IS_FILE, LINK_IS_DIRECTORY };

/* A tree that links lead about in. Names are relative to it, without "." and "..": "docs/a.md"; ""
 * is its top. */
struct link_tree {
    enum link_is (*is)(void *user, const char *name);
    void *user;
    bool is_root; /* it is all of the file system: paths from the root lead into it, and nothing is
                     above */
};

enum { LINK_NAME_MAX_BYTES = 4095 };

/* A link leads outside of any tree by what it says alone: to a URL with a scheme or a host, or a
 * message. Of a tree that is all of the file system "file:///" leads into it. */
bool link_is_outside(const struct link *link);

struct link_place {
    bool outside; /* the name is a URL, "mid:" and the id of a message, or what the document has */
    enum link_is is;                    /* within the tree */
    char name[LINK_NAME_MAX_BYTES + 1]; /* within the tree, where nothing is, too */
};

/* The fingerprint of a name, not 0: the same in each run, and nobody finds a name that has that of
 * another one's document, which would be taken for one with it. outside: of the tree, as a URL. A
 * third of a microsecond. */
uint64_t link_name_fingerprint(bool outside, const char *name);

/* Resolve a link.
 *
 * document   the name of the document in the tree
 * ret_place  what the link leads to; of several names that would do, the first that something has,
 *            or, where nothing has one of them, the first
 *
 * The kinds, in the order of what is tried:
 *   url       fragment and query dropped, percent signs replaced, relative to the document's
 *             directory, with a slash before it to the top; of a directory index.html or index.htm.
 *             With a scheme or a host it is outside. A place in the document is the document.
 *   path      relative to the document's directory; so symbolic
 *   page      blanks as they are, as _ and as -; the first letter as it is, as a capital and small;
 *             with the document's own ending, those of wikis, and none. /name: below the document
 *   document  relative to the document's directory, or the top, with the endings of
 *             reStructuredText and Markdown
 *   include   the document's directory; then it and each above it, and include/ there, the nearest
 *             first. system: the same, without the first; where nothing is it is outside
 *   tex       the document's directory and each above it, with endings and without
 *   manual    name(3): man3/name.3 beside the document's directory, above that (as languages have
 *             it); with the endings of packers, and letters behind the section. Of a document in no
 *             such directory in its own and below that; where nothing is it is outside
 *   source    the directory above the document's, then its own, packed or not
 *   message   outside
 *   listed    the document's directory
 * A link that leads above the tree is outside.
 *
 * Returns 0, -ENOENT (it is no link: a listed name that is no file, or the document's own), or
 * -ENAMETOOLONG. Any thread; asks for at most LINK_PLACE_TRIALS names. */
enum { LINK_PLACE_TRIALS = 256 };
int link_place_find(const struct link *link, const char *document, const struct link_tree *tree,
                    struct link_place *ret_place);

#endif
