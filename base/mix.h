/* Numbers that look random, from numbers that do not. The functions never change: the features of
 * documents without words, which stores have, depend on them (engine/text/features/chunks.c). */
#ifndef KINFS_BASE_MIX_H
#define KINFS_BASE_MIX_H

#include <stdint.h>

/* A bijection in which each bit depends on all (the end of SplitMix64: Steele, Lea, Flood 2014). */
static inline uint64_t mix64(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* The next of an endless sequence, SplitMix64, which begins anywhere. */
static inline uint64_t mix64_next(uint64_t *state)
{
    return mix64(*state += 0x9e3779b97f4a7c15);
}

#endif
