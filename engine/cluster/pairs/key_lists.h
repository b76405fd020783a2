/* The lists of <shingle, document>, sorted by shingle (Broder et al. 1997, section 4, phase 2).
 *
 * A posting takes 8 bytes. The fingerprint is mixed by a bijection (those of a sketch are the
 * smallest of their documents: their upper bits are all alike), and of the result
 *
 *    | 11 bits: the partition | 64 - b bits in the record | b bits are dropped, b - 11 of them for
 * good record:  64 - b key bits | b bits of the document's number
 *
 * with b as many bits as the numbers have: 25 for 30 million documents, whose keys so keep 50 bits.
 * Two fingerprints that agree in those are in one list: 160 pairs of 600 million are expected to
 * be.
 */
#ifndef KINFS_ENGINE_CLUSTER_PAIRS_KEY_LISTS_H
#define KINFS_ENGINE_CLUSTER_PAIRS_KEY_LISTS_H

#include "engine/cluster/pairs/equivalence.h"
#include "engine/cluster/large/sorted_partition.h"

enum { KEY_PARTITION_BITS = 11, KEY_PARTITIONS = 1 << KEY_PARTITION_BITS };

unsigned key_number_bits(uint32_t n_documents);

static inline uint64_t key_mix(uint64_t fingerprint)
{
    fingerprint = (fingerprint ^ fingerprint >> 31) * 0x9e3779b97f4a7c15u;
    return fingerprint ^ fingerprint >> 32;
}

/* Returns 0 or an error of spill_add(). */
static inline int key_add(struct spill_writer *writer, unsigned number_bits, uint64_t fingerprint,
                          uint32_t document)
{
    uint64_t key = key_mix(fingerprint);
    uint64_t record = key << KEY_PARTITION_BITS >> number_bits << number_bits | document;
    return spill_add(writer, (uint32_t)(key >> (64 - KEY_PARTITION_BITS)), &record);
}

/* The lists of a partition, one after the other. */
struct key_partition {
    struct sorted_partition sorted;
    const uint64_t *records; /* those records of it that are at hand */
    size_t n, at;            /* at: the next one */
    unsigned number_bits;
    uint64_t key; /* of the list */
    uint32_t *list;
    size_t list_room, n_kept;
    uint64_t n_documents; /* of the list so far */
    uint32_t last;        /* the last document of the list so far */
    bool more;            /* more of the list follow */
};

/* Room with which lists up to a length come in one piece. */
static inline size_t key_list_room(uint32_t longest)
{
    return longest < 4096 ? 8192 : 2 * (size_t)longest;
}

/* sorted     by sorting_numbers; gives
 * list_room  of documents: longer lists come in pieces
 * n_kept     fewer: how many of the first ones stand before each further piece
 * Returns 0, -ENOMEM. */
int key_partition_init(struct sorted_partition *sorted, unsigned number_bits, size_t list_room,
                       size_t n_kept, struct key_partition *ret_partition);
void key_partition_done(struct key_partition *partition); /* of zeroes, too */

/* Begins another partition in place of the one before; sorts it, or as much as there is room for.
 * Returns 0 or an error of sorted_partition_next(). */
int key_partition_begin(struct key_partition *partition, uint32_t number);

/* The next list, or piece of one: the numbers of the nodes in it, ascending, each once, in
 * partition->list. Returns how many, at least 2; 0 after the last one; an error of
 * sorted_partition_next(). */
int64_t key_partition_next(struct key_partition *partition, const uint64_t *nodes);

#endif
