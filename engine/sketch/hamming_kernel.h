/* How an element chooses, which the kernels of hamming.c do alike.
 *
 * 64 choices at once: digit for digit a random number below 1 is compared with 1/(2k), from the
 * first binary digit on. Where that is 1, a random bit of 1 is a choice, one of 0 leaves it to the
 * digits that follow; where it is 0, a random 0 is none, a random 1 leaves it to those. What is
 * undecided behind the last digit is none. Each digit halves what is undecided: of 512 choices all
 * are made after ten or so.
 *
 * The random number of digit i of a word, both counted from 0, digits from the last one, is that of
 * the step word * n_digits + i + 1 from the element's seed.
 */
#ifndef KINFS_ENGINE_SKETCH_HAMMING_KERNEL_H
#define KINFS_ENGINE_SKETCH_HAMMING_KERNEL_H

#include "engine/sketch/hamming.h"

enum { HAMMING_WORDS = 8 }; /* at a time */

#define HAMMING_STEP 0x9e3779b97f4a7c15
#define HAMMING_MIX_FIRST 0xbf58476d1ce4e5b9
#define HAMMING_MIX_SECOND 0x94d049bb133111eb

static inline uint64_t hamming_mix(uint64_t z)
{
    z = (z ^ z >> 30) * HAMMING_MIX_FIRST;
    z = (z ^ z >> 27) * HAMMING_MIX_SECOND;
    return z ^ z >> 31;
}

hamming_flip_fn hamming_flip_avx512;

#endif
