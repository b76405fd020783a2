/* The links of a document, and their words: those of HTML, Markdown, wiki markup, Org,
 * reStructuredText, manual pages, mail, C, LaTeX, and lists of files.
 *
 * (Haveliwala, Gionis, Indyk 2000, section 3.1 has links of HTML alone; others say as much of what
 * they lead to.)
 */
#ifndef KINFS_ENGINE_TOPIC_LINKS_LINKS_H
#define KINFS_ENGINE_TOPIC_LINKS_LINKS_H

#include <stdbool.h>

#include "engine/topic/links/link.h"

/* Of a longer document, packed or not, the rest is not read. */
enum { LINKS_MOST_BYTES = 16 << 20 };

/* Hand out the links of a document.
 *
 * bytes  all of it, as it is on the disk: packed once or not, in any charset
 * name   by its last component the format is known where that is not known by the bytes
 * sink   borrowed, called in this thread
 * ret_cut  it was longer than LINKS_MOST_BYTES, or damaged: links may be missing
 *
 * A document of no format that is known has none. Returns 0 or -ENOMEM. Any thread. Time is linear
 * in the bytes, also where somebody has made them to take long; memory is some three times the
 * unpacked bytes. */
int links_read(const void *bytes, size_t n_bytes, const char *name, const struct link_sink *sink,
               bool *ret_cut);

#endif
