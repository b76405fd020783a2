/* The shingles of a document as elements of a set, for the families of family.h. (The sketches of
 * the index are made by document_sketch.h.) */
#ifndef KINFS_ENGINE_SKETCH_DOCUMENTS_DOCUMENT_ELEMENTS_H
#define KINFS_ENGINE_SKETCH_DOCUMENTS_DOCUMENT_ELEMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/sketch/families/family.h"
#include "engine/text/type.h"
#include "engine/text/words/word_options.h"

/* Takes elements; returns 0 or an error, which ends the reading. */
typedef int (*element_sink)(void *user, const uint64_t *elements, size_t n_elements);

/* Read a document from fd as base/files/fd_whole.h does and hand out the fingerprints of its
 * w-shingles under the key, of a document of 0 < n < w tokens that of all of them. With `rabin`
 * they are Rabin fingerprints of the shingles' text, by the polynomial that broder_sketch.c draws
 * from this key, else those of shingle_hash.h. words: how the words are filtered before (NULL: not
 * at all). as: that of canon_begin_as(), NULL when the type is not known. Fixed memory.
 *
 * Returns 0, -EINVAL for w out of range, -ENOMEM, an errno of pread(2) or of word_filter_new(), or
 * what the sink returned.
 */
int document_elements(int fd, const enum text_type *as, unsigned w,
                      const struct word_options *words, const uint8_t key[SKETCH_KEY_BYTES],
                      bool rabin, element_sink sink, void *user);

/* A sketch of a document: the above into a sketcher. ret_sketch gives. */
int sketch_document(int fd, const enum text_type *as, unsigned w, const struct word_options *words,
                    const struct sketch_family *family, const uint8_t key[SKETCH_KEY_BYTES],
                    struct sketch *ret_sketch);

#endif
