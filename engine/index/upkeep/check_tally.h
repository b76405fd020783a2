/* A tally tells if two walks of any order came by the same things: each is put into the pan of the
 * one or of the other walk, as a 128-bit hash that is added or taken off, in one of many buckets by
 * a number that both walks know of it. A bucket at zero had the same in both pans (but for a chance
 * of 2^-128 a bucket); what is in another one is looked up one by one. So two tables of different
 * orders are compared by reading each of them once, in its order, in fixed memory.
 *
 * Whoever looks up takes off what he finds to lack its other side: a bucket that is even then has
 * nothing else in it, and where all are, the other table need not be looked through. Its rows stand
 * in no order of what they are of, so each would be a read from anywhere.
 *
 * (Sums as hashes of multisets: Clarke et al. 2003, "Incremental multiset hash functions"; left
 * out: its key, there is no adversary here, XXH3 in place of its hash.)
 */
#ifndef KINFS_ENGINE_INDEX_UPKEEP_CHECK_TALLY_H
#define KINFS_ENGINE_INDEX_UPKEEP_CHECK_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_tally; /* 1 MiB */

struct check_tally *check_tally_new(void); /* NULL without memory */
void check_tally_free(struct check_tally *tally);

void check_tally_add(struct check_tally *tally, uint64_t number, const void *thing, size_t n);
void check_tally_take(struct check_tally *tally, uint64_t number, const void *thing, size_t n);

/* The things that were added with this number (and some others) were all taken, and no more. */
bool check_tally_is_even(const struct check_tally *tally, uint64_t number);
bool check_tally_all_even(const struct check_tally *tally);

#endif
