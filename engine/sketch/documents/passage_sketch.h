/* A few fingerprints of the words of a document, with their places, by which any passage of some
 * length that two documents share is found: of the fingerprints of all 8 words in a row those that
 * winnowing chooses (winnowing.h).
 *
 * A passage of `bound` words, 24 by default, has bound - 7 such fingerprints, a window; so if two
 * documents share it they share one that is chosen in both. What shares a fingerprint shares 8
 * words. The words are those of the canonical form, whatever a policy makes of them afterwards.
 */
#ifndef KINFS_ENGINE_SKETCH_DOCUMENTS_PASSAGE_SKETCH_H
#define KINFS_ENGINE_SKETCH_DOCUMENTS_PASSAGE_SKETCH_H

#include <stdbool.h>

#include "engine/sketch/hash/shingle_hash.h"

enum {
    PASSAGE_WORDS = 8,
    PASSAGE_BOUND = 24, /* the default */
    PASSAGE_BOUND_MAX = 256,
    PASSAGE_FINGERPRINT_BITS = 40,
    /* A longer document, of five million words at the default bound, loses the rest. */
    PASSAGE_FINGERPRINTS_MAX = 600000,
    PASSAGE_PLACES_MOST = 8, /* that are kept of one fingerprint: the first ones */
};

struct passage_fingerprint {
    uint64_t word;        /* the first of the 8, counted from 0 */
    uint64_t fingerprint; /* below 2^PASSAGE_FINGERPRINT_BITS */
};

/* Ascending by word. Zero-initialised; ends with passage_sketch_done(). */
struct passage_sketch {
    struct passage_fingerprint *fingerprints;
    size_t n_fingerprints;
    uint64_t n_words; /* of the document */
    bool cut;         /* there are more */
};
void passage_sketch_done(struct passage_sketch *sketch);

struct passage_sketcher; /* one per thread */

/* hash  of a policy with w = PASSAGE_WORDS (passage_hash_new()); outlives the sketcher
 * bound  PASSAGE_WORDS to PASSAGE_BOUND_MAX words
 * Returns 0, -ENOMEM. */
int passage_sketcher_new(const struct shingle_hash *hash, unsigned bound,
                         struct passage_sketcher **ret_sketcher);
void passage_sketcher_free(struct passage_sketcher *sketcher);
DEFINE_CLEANUP(struct passage_sketcher *, passage_sketcher_free);

/* The hash of 8 words under the key of a policy. Returns 0, -ENOMEM. */
int passage_hash_new(const struct policy *policy, struct shingle_hash **ret_hash);

/* Begin a document; then its words in order, in pieces of any size (at most TOKEN_BLOCK_MAX), by
 * their fingerprints (shingle_hash_tokens()); then finish. 30 bytes of memory a fingerprint chosen,
 * and a sort of them. finish returns 0, -ENOMEM. */
void passage_sketcher_begin(struct passage_sketcher *sketcher);
void passage_sketcher_add(struct passage_sketcher *sketcher, const uint64_t *words, size_t n);
int passage_sketcher_finish(struct passage_sketcher *sketcher, struct passage_sketch *ret_sketch);

/* -- as it is stored --
 *
 *   version 1 (1) | flags 1 (1: cut) | words 8 | (gap 1 and more, fingerprint 5) each
 *
 * gap: the words between the place before and this one: a byte of 255 for each 255 of them, and one
 * of what is left. Some 6 bytes in 9 words, where the words take 50. */
enum { PASSAGE_SKETCH_HEAD_BYTES = 10, PASSAGE_SKETCH_ENTRY_BYTES = 6 };

/* Returns 0, -ENOMEM; ret_bytes gives. */
int passage_sketch_encode(const struct passage_sketch *sketch, uint8_t **ret_bytes,
                          size_t *ret_size_bytes);
/* Returns 0, -EUCLEAN, -ENOMEM; ret_sketch gives. */
int passage_sketch_decode(const void *bytes, size_t size_bytes, struct passage_sketch *ret_sketch);

#endif
