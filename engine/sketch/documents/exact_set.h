/* The full shingle set of a document, nothing sampled: its resemblances are the values that the
 * sketches estimate. Shingles are told apart by 128-bit hashes of their text (two shingles of a
 * million documents of a thousand shingles collide with probability below 10^-20), which are keyed:
 * sets of two processes do not compare. */
#ifndef KINFS_ENGINE_SKETCH_DOCUMENTS_EXACT_SET_H
#define KINFS_ENGINE_SKETCH_DOCUMENTS_EXACT_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "engine/text/canon.h"
#include "engine/text/words/word_options.h"

struct exact_set;

/* The set of the w-shingles of a document read from fd as base/files/fd_whole.h does. as: that of
 * canon_begin_as(), NULL when the type is not known. words: how its words are filtered before
 * (NULL: not at all). Memory: 16 to 32 bytes for each different shingle, and as much again while
 * they are sorted; shingles that come again take none. Returns 0, -EINVAL for w out of range,
 * -ENOMEM, -EIO, -E2BIG as soon as there are more than `most` different shingles, an error of
 * unlocked_read() or of word_filter_new(); ret_set gives. A binary document has the set of its
 * features. A document of 0 < n < w tokens has one shingle, of all of them. */
int exact_set_read(int fd, const enum text_type *as, unsigned w, const struct word_options *words,
                   size_t most, struct exact_set **ret_set);

/* The bounds of what is read of a document. */
struct exact_set_bounds {
    size_t most_shingles;     /* different ones: -E2BIG */
    uint64_t most_bytes;      /* unpacked: -EFBIG */
    bool (*stop)(void *user); /* asked from time to time; true: -EINTR. NULL: never */
    void *user;
};

/* The same within bounds. */
int exact_set_read_within(int fd, const enum text_type *as, unsigned w,
                          const struct word_options *words, const struct exact_set_bounds *bounds,
                          struct exact_set **ret_set);
void exact_set_free(struct exact_set *set);
DEFINE_CLEANUP(struct exact_set *, exact_set_free);

size_t exact_set_count(const struct exact_set *set);

bool exact_set_equal(const struct exact_set *a, const struct exact_set *b);

/* The shingles' hashes, exact_set_count() of them, ascending. */
void exact_set_features(const struct exact_set *set, struct feature *ret_features);

/* |A n B| / |A u B| and |A n B| / |A|. Return 0, or -ENODATA when the denominator is empty. */
int exact_set_resemblance(const struct exact_set *a, const struct exact_set *b, double *ret_value);
int exact_set_containment(const struct exact_set *a, const struct exact_set *b, double *ret_value);

#endif
