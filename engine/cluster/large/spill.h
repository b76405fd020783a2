/* Records of one size, dealt to partitions: in memory as far as it goes, the rest in a scratch
 * file. Several threads write; then a partition at a time is read, in no particular order.
 *
 * One write-combining pass: each writer gathers a chunk for each partition and hands it over when
 * it is full, so that memory and disk see nothing smaller. Behind each chunk stands the place of
 * the chunk before it in its partition, so that a partition is known by its last chunk: however
 * many chunks there are, they take no other memory. (Broder et al. 1997, section 4, phase 2, sorts
 * by merging; here the reader of a partition sorts it, in the cache: sorted_partition.h.) */
#ifndef KINFS_ENGINE_CLUSTER_LARGE_SPILL_H
#define KINFS_ENGINE_CLUSTER_LARGE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/cluster/large/scratch_file.h"

struct spill;

enum {
    SPILL_CHUNK_MAX_BYTES = 16 << 10, /* without SPILL_BEHIND_BYTES */
    SPILL_LEAST_RECORDS = 16,         /* of a chunk */
    SPILL_BEHIND_BYTES = 16,          /* behind a chunk: the place of the one before it */
};

/* Least buffer_bytes. */
static inline size_t spill_least_buffer(size_t record_bytes, uint32_t n_partitions)
{
    return n_partitions *
           (SPILL_LEAST_RECORDS * record_bytes + SPILL_BEHIND_BYTES + sizeof(uint32_t));
}

/* file          borrowed; outlives the spill; nothing else is in it
 * n_partitions  1 to 65536
 * buffer_bytes  the memory of a writer, or the least if that is more
 * memory_bytes  full chunks beyond this go to the file
 * Returns 0, -ENOMEM; gives. */
int spill_new(struct scratch_file *file, size_t record_bytes, uint32_t n_partitions,
              size_t buffer_bytes, size_t memory_bytes, struct spill **ret_spill);
void spill_free(struct spill *spill);
DEFINE_CLEANUP(struct spill *, spill_free);

/* A writer belongs to one thread, and ends before the first partition is read. */
struct spill_writer {
    struct spill *spill;
    uint8_t *chunks;   /* one for each partition, with SPILL_BEHIND_BYTES */
    uint32_t *n_bytes; /* in each chunk so far */
    size_t record_bytes, chunk_bytes;
};

int spill_writer_init(struct spill *spill, struct spill_writer *ret_writer); /* -ENOMEM */
/* Hands over all chunks. Returns 0 or an error of scratch_file_write(). */
int spill_writer_flush(struct spill_writer *writer);
void spill_writer_done(struct spill_writer *writer); /* of zeroes, too; drops unflushed records */

int spill_hand_over(struct spill_writer *writer, uint32_t partition);

/* Returns 0 or as spill_writer_flush(). */
static inline int spill_add(struct spill_writer *writer, uint32_t partition, const void *record)
{
    size_t at = writer->n_bytes[partition];
    memcpy(writer->chunks + partition * (writer->chunk_bytes + SPILL_BEHIND_BYTES) + at, record,
           writer->record_bytes);
    writer->n_bytes[partition] = (uint32_t)(at + writer->record_bytes);
    if (at + 2 * writer->record_bytes <= writer->chunk_bytes)
        return 0;
    return spill_hand_over(writer, partition);
}

uint64_t spill_count(const struct spill *spill); /* records, all that were handed over */
uint64_t spill_partition_count(const struct spill *spill, uint32_t partition);

/* Reads some records of a partition, and forgets them. Any threads, each for other partitions.
 *
 * room_bytes  at least SPILL_CHUNK_MAX_BYTES and SPILL_BEHIND_BYTES; for all of it what the records
 *             take and SPILL_BEHIND_BYTES
 * Returns how many records, 0 when there is none left, or an error of scratch_file_read(). */
int64_t spill_take(struct spill *spill, uint32_t partition, void *ret_records, size_t room_bytes);

/* Gives back the memory and the file, in which there is nothing else, when all partitions were read
 * or will not be. No writers and readers meanwhile. */
void spill_end(struct spill *spill);

#endif
