/* The links of documents that are sketched are taken on the way, with the words around them, which
 * is what they say of others, and their titles, as a row (tables/fragments.h).
 *
 * Links of HTML are among its tokens, and have the words around them; of a link within a text that
 * an extractor made nothing is said. Links of other formats (engine/topic/links/links.h) have the
 * words by which they link; they are read where the document is at hand, up to 256 KiB.
 *
 * The first ones of a document count: STEM_COUNTS_TOKENS tokens, FRAGMENTS_MOST_TARGETS targets,
 * LINK_FRAGMENTS_MOST links, and of a target FRAGMENTS_MOST_WORDS words; in all
 * LINK_FRAGMENTS_FREE_WORDS words, and LINK_FRAGMENTS_OF_TOKEN for each token, as hundreds of links
 * without a text may stand at the same place. What leads outside of any
 * tree is left out, and what leads to the document itself; the same words around links to the same
 * target count once. With a policy that has tags there are no links of HTML, nor titles.
 *
 * Memory: some 700 KiB. One of these a thread.
 */
#ifndef KINFS_ENGINE_INDEX_EXTRACT_LINK_FRAGMENTS_H
#define KINFS_ENGINE_INDEX_EXTRACT_LINK_FRAGMENTS_H

#include "engine/index/extract/stem_counts.h"
#include "engine/index/tables/fragments.h"
#include "engine/topic/bags/bag_document.h"

enum {
    LINK_FRAGMENTS_MOST = 4096,
    LINK_FRAGMENTS_FREE_WORDS = 256,
    LINK_FRAGMENTS_OF_TOKEN = 2 * BAG_WINDOW_TOKENS + 1, /* the windows that a token can be in */
};

struct link_fragments;

/* From now on the links of each document that is sketched are taken. hash: borrowed, of the policy.
 * stems: of the same sketching, borrowed. ret_fragments gives; freed behind the sketching. Returns
 * 0, -ENOMEM, an error of bag_words_new(). */
int link_fragments_collect(const struct shingle_hash *hash, struct sketching *sketching,
                           struct stem_counts *stems, struct link_fragments **ret_fragments);
void link_fragments_free(struct link_fragments *fragments);
DEFINE_CLEANUP(struct link_fragments *, link_fragments_free);

/* The last document, which was sketched to the end.
 *
 * name     by it a format is known where that is not known by the bytes; NULL: links of HTML alone
 *
 * Returns 0, -ENOMEM; ret_row gives. */
int link_fragments_finish(struct link_fragments *fragments, const struct document_sketch *sketch,
                          const char *name, uint8_t **ret_row, size_t *ret_size_bytes);

#endif
