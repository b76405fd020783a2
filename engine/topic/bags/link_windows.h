/* The words around links, as a document goes by (Haveliwala, Gionis and Indyk 2000, section 2): of
 * each link those of its text, and of so many tokens before and behind that. bag_document.h has
 * what the paper leaves open.
 *
 * Memory: some 240 KiB. One thread. Time: for each link BAG_LINKS_AT_ONCE steps at most.
 */
#ifndef KINFS_ENGINE_TOPIC_BAGS_LINK_WINDOWS_H
#define KINFS_ENGINE_TOPIC_BAGS_LINK_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

enum {
    BAG_WINDOW_TOKENS = 8, /* the paper's, before and behind */
    BAG_WINDOW_MOST_WORDS = 8192,
    BAG_LINKS_AT_ONCE = 2048,
};

/* No target: such a link makes no window; the title has it. */
#define BAG_NO_TARGET ((uint64_t)0)

/* Takes the words of a window in their order, one or more, valid during the call, in which they may
 * be changed. */
typedef void (*link_window_fn)(void *user, uint64_t target, uint64_t *words, size_t n);

struct link_windows;

/* before, after: tokens of a window. Returns 0, -ENOMEM; gives. */
int link_windows_new(uint32_t before, uint32_t after, link_window_fn take, void *user,
                     struct link_windows **ret_windows);
void link_windows_free(struct link_windows *windows);
DEFINE_CLEANUP(struct link_windows *, link_windows_free);

/* Begins a document; one that was not ended is dropped. */
void link_windows_begin(struct link_windows *windows);
/* A word of the token that comes; then that has come. */
void link_windows_word(struct link_windows *windows, uint64_t word);
void link_windows_token(struct link_windows *windows);
/* A link whose text is the tokens [first, end), before the first token behind its text has come, or
 * in the block (canon.h) that this one is in. Returns false where too many are near: it is left
 * out. */
bool link_windows_link(struct link_windows *windows, uint64_t target, uint64_t first, uint64_t end);
/* The title is a window without tokens before and behind. */
void link_windows_title(struct link_windows *windows, uint64_t first, uint64_t end);
/* The document has ended: the last windows are handed out. */
void link_windows_end(struct link_windows *windows);

#endif
