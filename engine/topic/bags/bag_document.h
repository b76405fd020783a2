/* One pass over a document for bags (Haveliwala, Gionis and Indyk 2000, section 2): its
 * content bag, its title as a fragment of the document itself, and of each link the words around
 * it, a fragment of the bag of what the link leads to, be that there or not. Nothing of the
 * document is kept.
 *
 * The paper leaves open, and here it is so:
 * - A window has so many tokens of the document before and behind the link's text as they stand
 *   there, stop words among them; then stop words are left out. It ends at the document's ends, and
 *   goes over whatever stands between, other links among it.
 * - A link whose text is empty has the tokens around its place.
 * - A token counts once for a target, however many links to that target stand around it: where two
 *   of their windows overlap, the second begins where the first ends.
 * - A link of a document to itself makes no window: what others say of it is asked for.
 * - A window has no more than the last BAG_WINDOW_MOST_WORDS words of it, as when a link's text is
 *   half of the document, since it was not closed.
 * - Of more than BAG_LINKS_AT_ONCE links within a block of tokens (TOKEN_BLOCK_MAX, and a window)
 * the last ones are left out, and counted.
 *
 * Memory: some 300 KiB, and 32 bytes or less for each different word up to most_words. One thread.
 * Time: linear in the document's tokens, and for each link BAG_LINKS_AT_ONCE steps at most.
 */
#ifndef KINFS_ENGINE_TOPIC_BAGS_BAG_DOCUMENT_H
#define KINFS_ENGINE_TOPIC_BAGS_BAG_DOCUMENT_H

#include "engine/topic/bags/bag.h"
#include "engine/topic/bags/bag_words.h"
#include "engine/topic/bags/link_windows.h"

struct bag_document_options {
    struct word_options words;
    const struct shingle_hash *hash; /* borrowed */
    uint32_t before, after;          /* tokens of a window */
    uint32_t most_words;             /* different ones of the content bag, 1 to 2^30 */
};

struct bag_document_sink {
    /* What a link leads to: the fingerprint of the resolved name. Not asked of one that leads to
     * the document itself as it stands there: empty, or "#" and more. NULL: links make no windows.
     */
    uint64_t (*target)(void *user, const char *href, size_t href_bytes);
    /* The words of a window, any; valid during the call. Not NULL where target is not. */
    void (*window)(void *user, uint64_t target, const struct bag *fragment);
    /* A word that the content bag did not have. NULL: not wanted. */
    bag_word_fn word;
    void *user;
};

struct bag_document_counts {
    uint64_t n_tokens, n_words; /* of the content; words without those past most_words */
    uint64_t n_links, n_own;    /* links, and those of the document to itself */
    uint64_t n_windows;         /* handed out */
    uint64_t n_left_out;        /* links, as too many were near */
    bool cut;                   /* there were more different words */
};

struct bag_document;

/* options, sink: copied. Returns 0, -EINVAL, an error of bag_words_new(); gives. */
int bag_document_new(const struct bag_document_options *options,
                     const struct bag_document_sink *sink, struct bag_document **ret_document);
void bag_document_free(struct bag_document *document);
DEFINE_CLEANUP(struct bag_document *, bag_document_free);

/* The sink that takes a document's canonical form, for canon_new(). Links that canonical form does
 * not give may be handed to its links() by who knows their places among the tokens, before the
 * first token behind their text is. */
struct canon_sink bag_document_sink(struct bag_document *document);

/* Begins a document; one that was not finished is dropped. own: what leads to it is a link to
 * itself; BAG_NO_TARGET: not known. */
void bag_document_begin(struct bag_document *document, uint64_t own);

/* The document has ended; the last windows are handed out before this returns. ret_title is empty
 * where there is no title. Returns 0 or -ENOMEM, and then nothing is given; ret_content, ret_title
 * give. */
int bag_document_finish(struct bag_document *document, struct bag *ret_content,
                        struct bag *ret_title, struct bag_document_counts *ret_counts);

#endif
