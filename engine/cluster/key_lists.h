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
#ifndef KINFS_ENGINE_CLUSTER_KEY_LISTS_H
#define KINFS_ENGINE_CLUSTER_KEY_LISTS_H

#include "engine/cluster/equivalence.h"
#include "engine/cluster/spill.h"

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

/* A partition, sorted. */
struct key_partition {
    uint64_t *records, *scratch;
    size_t n, room, at; /* at: the next list begins here */
    unsigned number_bits;
    uint32_t *list; /* as many as records */
};

void key_partition_done(struct key_partition *partition); /* of zeroes, too */

/* Read and sort one in place of what was there before; its memory is used again. Returns 0,
 * -ENOMEM, an error of spill_take(). */
int key_partition_load(struct key_partition *partition, struct spill *spill, uint32_t number,
                       unsigned number_bits);

/* The next list: the numbers of the nodes in it, ascending, each once, in partition->list. Returns
 * how many, at least 2; 0 after the last one. */
size_t key_partition_next(struct key_partition *partition, const uint64_t *nodes);

#endif
