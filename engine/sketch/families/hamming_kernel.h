/* The drawing of choices, which all kernels of hamming.c do alike: for each of t parities, an
 * element takes part in it with probability 1/(2k).
 *
 * 64 choices are drawn at once. A random number below 1 is compared with 1/(2k) digit for digit,
 * from the first binary digit on. At a digit of 1 a random bit of 1 makes the element take part,
 * and a 0 leaves the choice to the digits that follow; at a digit of 0 a random 0 makes it not take
 * part, and a 1 leaves the choice open. An element undecided behind the last digit does not take
 * part. Each digit halves the undecided choices: of 512 choices all are made after ten or so.
 *
 * Example: for k = 2, 1/4 is 0.01 in binary. The bits 1 1 take part; 1 0 and 0 do not: one in four.
 *
 * The random number of digit i of a word, both counted from 0, digits from the last one, is that of
 * the step word * n_digits + i + 1 from the element's seed.
 */
#ifndef KINFS_ENGINE_SKETCH_FAMILIES_HAMMING_KERNEL_H
#define KINFS_ENGINE_SKETCH_FAMILIES_HAMMING_KERNEL_H

#include "engine/sketch/families/hamming.h"

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
