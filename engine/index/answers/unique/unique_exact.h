/* Files are read in full to leave a document out, once in the life of a store: two texts, which are
 * compared by the sets of their shingles, and the bytes of one that is equal to what stands in. */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_UNIQUE_UNIQUE_EXACT_H
#define KINFS_ENGINE_INDEX_ANSWERS_UNIQUE_UNIQUE_EXACT_H

#include "engine/index/answers/answer.h"
#include "engine/index/tables/compared.h"

/* A set takes 32 bytes a shingle, and as much again while it is sorted: eight threads compare in a
 * gibibyte at most. Of files up to SKETCHING_LONG_BYTES, which unpack to more tokens than that in
 * no case that is sketched as such. */
enum { UNIQUE_TOKENS_MAX = 1 << 20 };

enum { UNIQUE_EXACT_NEVER = 1 };

/* The resemblance of the texts of two documents of classes of texts, which must be known.
 *
 * owner  of both
 *
 * Returns 0; UNIQUE_EXACT_NEVER: one is too long, as it is or unpacked, takes an extractor, or has
 * no shingles; -EAGAIN: one is not what it was when it was sketched, or cannot be read now; -EINTR:
 * nobody waits for the answer any more; -ENOMEM or a store error. Any thread; reads both files, a
 * tenth of a second for a megabyte of words. That it cannot be written down is no error. */
int unique_exact_compare(struct index *index, uid_t owner, const struct document *a,
                         const struct document *b, const struct index_query *query,
                         double *ret_resemblance);

/* The SHA-256 of the bytes of a document. Returns 0, -EAGAIN, -ENOMEM or a store error as above, or
 * -EINTR: nobody waits for the answer any more. Any thread; reads the file, a second for a gigabyte
 * or two. */
int unique_exact_digest(struct index *index, uid_t owner, const struct document *document,
                        const struct index_query *query, uint8_t ret_digest[COMPARED_DIGEST_BYTES]);

#endif
