/* The words that a fingerprint stands for: those of the first shingle of a document that has it. */
#ifndef KINFS_ENGINE_SKETCH_DOCUMENTS_SHINGLE_TEXT_H
#define KINFS_ENGINE_SKETCH_DOCUMENTS_SHINGLE_TEXT_H

#include "engine/sketch/hash/shingle_hash.h"

/* A user waits for the answer: the rest of a larger document is not read, nor of one that is packed
 * more than so much unpacked. */
enum { SHINGLE_TEXT_READ_MAX_BYTES = 16 << 20 };

/* Read the document that is open as fd and find the first shingle with a fingerprint. hash is that
 * of policy.
 *
 * ret_text  its canonical tokens with blanks between; gives
 *
 * Returns 0, -ENOENT (no such shingle in what was read; the fingerprint may be that of a feature,
 * or of text that an extractor makes),
 * -ENOMEM, an error of unlocked_read() or an errno of word_filter_new(). Linear in the bytes up to
 * there, in fixed memory. */
int shingle_text(int fd, const struct policy *policy, const struct shingle_hash *hash,
                 uint64_t fingerprint, char **ret_text);

#endif
