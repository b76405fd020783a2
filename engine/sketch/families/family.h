/* Every way to sketch a set that kinfs knows, behind one small interface: phi makes a sketch of a
 * document's set of shingles, psi estimates a measure of two documents from their sketches.
 *
 *     phi: {0,1}^n -> a few hundred bytes       psi: (phi(A), phi(B)) -> estimate of f(A, B)
 *
 * (phi, psi and f are the same for everybody who sketches; all random choices follow from a key.)
 * The index of a tree uses one family, min_sketch.h, which is the first of the list. The others are
 * there to compare with: `kinfs compare --sketch=NAME`.
 *
 * The elements of a set are 64-bit fingerprints of shingles (shingle_hash.h, rabin.h).
 */
#ifndef KINFS_ENGINE_SKETCH_FAMILIES_FAMILY_H
#define KINFS_ENGINE_SKETCH_FAMILIES_FAMILY_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "engine/sketch/estimate.h"
#include "engine/sketch/hash/sketch_key.h"

/* The measure f that psi estimates, for sets A and B with resemblance r = |A n B| / |A u B|. */
enum sketch_measure {
    SKETCH_RESEMBLANCE, /* r */
    SKETCH_SUPER,       /* r^14: the share of super shingles of 14 that are common */
    SKETCH_RUNS,        /* the share of common runs of 14 in the sorted sketch: no closed form */
    SKETCH_HAMMING,     /* |A \ B| + |B \ A|, a count */
    SKETCH_COSINE,      /* |A n B| / sqrt(|A| |B|) */
};

/* The part of a sketch that is the family's own. */
struct sketch_payload {
    const uint8_t *bytes;
    size_t size_bytes; /* 0: nothing was selected */
};

typedef int (*sketch_psi)(const struct sketch_payload *a, const struct sketch_payload *b,
                          struct estimate *ret_estimate);

/* The functions of a family. Those that return int return 0, -ENOMEM, or as noted. */
struct sketch_family {
    const char *name, *summary;
    enum sketch_measure measure;
    uint16_t number;        /* in the stored form; never used for another */
    bool of_rabin_elements; /* its elements are Rabin fingerprints of the shingles' text (rabin.h),
                               not keyed ones */

    int (*state_new)(const uint8_t key[SKETCH_KEY_BYTES], void **ret_state);
    void (*state_free)(void *state);
    void (*begin)(void *state);
    /* Elements come in any order, in any pieces, and each any number of times. */
    int (*add)(void *state, const uint64_t *elements, size_t n_elements);
    /* finish is called after at least one element was added. The payload is owned by the state and
     * valid until the next begin. */
    int (*finish)(void *state, struct sketch_payload *ret_payload);

    /* Neither set is empty here. -EUCLEAN: no payload of this family; -ENODATA: no answer. */
    sketch_psi estimate;
    sketch_psi containment; /* |A n B| / |A|; NULL: the sketch does not tell */
};

/* All families, the one of the index first, NULL behind the last. */
extern const struct sketch_family *const sketch_families[];

/* The family of this name, or NULL. */
const struct sketch_family *sketch_family_find(const char *name);

/* -- phi -- */

struct sketcher; /* one per thread */

/* A sketch, in its stored form: family, version, id of the key, payload and check sum. */
struct sketch {
    uint8_t *bytes;
    size_t size_bytes;
};

void sketch_done(struct sketch *sketch);

/* The family and the key decide which sketches compare. Returns 0, -ENOMEM; ret_sketcher gives. */
int sketcher_new(const struct sketch_family *family, const uint8_t key[SKETCH_KEY_BYTES],
                 struct sketcher **ret_sketcher);
void sketcher_free(struct sketcher *sketcher);
DEFINE_CLEANUP(struct sketcher *, sketcher_free);

/* Begin a set; add its elements in any order and in pieces of any size, duplicates welcome; then
 * finish. The sketch depends on the set alone. add and finish return 0 or -ENOMEM; ret_sketch
 * gives, end with sketch_done(). */
void sketcher_begin(struct sketcher *sketcher);
int sketcher_add(struct sketcher *sketcher, const uint64_t *elements, size_t n_elements);
int sketcher_finish(struct sketcher *sketcher, struct sketch *ret_sketch);

/* -- psi -- */

/* Estimate the family's measure from two sketches.
 *
 * Returns 0, -EUCLEAN when either is no sketch or damaged, -EPROTO when their families or keys
 * differ, -ENODATA when there is no answer: one of the sets is empty, or the sketches of sets that
 * are not have selected nothing. Reads only its arguments: any thread, no lock. Time and memory are
 * linear in the sketches.
 */
int sketch_estimate(const struct sketch *a, const struct sketch *b, struct estimate *ret_estimate);

/* The same for |A n B| / |A|. Besides: -EOPNOTSUPP where sketches of this family do not tell. */
int sketch_containment(const struct sketch *a, const struct sketch *b,
                       struct estimate *ret_estimate);

#endif
