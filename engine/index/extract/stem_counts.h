/* The stems of documents that are sketched, counted on the way: what the bag of each is made of
 * (tables/bags.h). Words are as engine/topic/bags/bag_words.h has them: letters alone, no stop
 * words of English, Porter's stemmer; but a token with a digit is no word, as numbers, versions and
 * digests are not.
 *
 * The first STEM_COUNTS_TOKENS of a document count, which bounds time and memory. One of these a
 * thread.
 */
#ifndef KINFS_ENGINE_INDEX_EXTRACT_STEM_COUNTS_H
#define KINFS_ENGINE_INDEX_EXTRACT_STEM_COUNTS_H

#include "engine/index/extract/sketching.h"
#include "engine/index/tables/bags.h"

enum { STEM_COUNTS_TOKENS = 1 << 14 };

struct stem_counts;

/* From now on each document that is sketched is counted. hash: borrowed, of the policy. ret_counts
 * gives; freed behind the sketching. Returns 0, or an error of bag_words_new(). */
int stem_counts_collect(const struct shingle_hash *hash, struct sketching *sketching,
                        struct stem_counts **ret_counts);
void stem_counts_free(struct stem_counts *counts);
DEFINE_CLEANUP(struct stem_counts *, stem_counts_free);

/* The words of the documents that follow, as they come.
 *
 * begin  called when a document begins: what came before is to be forgotten
 * word   a word of the token that comes
 * token  that has come; of a document STEM_COUNTS_TOKENS at most */
struct stem_words {
    void (*begin)(void *user);
    void (*word)(void *user, uint64_t fingerprint);
    void (*token)(void *user);
    void *user;
};
void stem_counts_on_words(struct stem_counts *counts, const struct stem_words *words);

/* The error by which the last document was not counted to its end: 0 or -ENOMEM. */
int stem_counts_error(const struct stem_counts *counts);
/* The bag of the last document, as a row. Returns 0, -ENOMEM; ret_row gives. */
int stem_counts_finish(struct stem_counts *counts, uint8_t **ret_row, size_t *ret_size_bytes);

#endif
