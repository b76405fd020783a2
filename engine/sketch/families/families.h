/* The families of family.c, each of which is a file of its own. */
#ifndef KINFS_ENGINE_SKETCH_FAMILIES_FAMILIES_H
#define KINFS_ENGINE_SKETCH_FAMILIES_FAMILIES_H

#include "engine/sketch/families/family.h"

extern const struct sketch_family bottom_k_family;        /* bottom_k.c, over min_sketch.h */
extern const struct sketch_family broder_family;          /* broder_sketch.c */
extern const struct sketch_family min_hash_family;        /* min_hash_sketch.c */
extern const struct sketch_family b_bit_family;           /* b_bit.c */
extern const struct sketch_family one_bit_family;         /* the same */
extern const struct sketch_family one_permutation_family; /* one_permutation.c */
extern const struct sketch_family super_shingle_family;   /* super_shingle.c */
extern const struct sketch_family super_run_family;       /* super_run.c */
extern const struct sketch_family sim_hash_family;        /* sim_hash.c */
extern const struct sketch_family hamming_family;         /* hamming_sketch.c */

#endif
