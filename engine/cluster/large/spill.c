/* A spill deals records to partitions in one pass. Each writer has a chunk in memory for each
 * partition; a full chunk is handed over to the common memory or, when that is full, to the file,
 * and behind it stands the place of the partition's chunk before: a list that is read backwards.
 *
 * Example with chunks of two records of 8 bytes: 1 2 3 go to partition 0. "1 2" is handed over to
 * place 0, with "none" behind it; at the end "3" goes to place 32, with "place 0" behind it. The
 * partition is known by its last place alone, 32, and is read as 3 1 2.
 *
 * Cost: two copies of a record, a lock for each chunk of up to 16 KiB (not held while it is
 * written), and 16 bytes for each chunk. Left out: a table of chunks, which grows with the data.
 */
#include "engine/cluster/large/spill.h"

#include <errno.h>

#include "engine/cluster/large/large_array.h"

/* The place of a chunk: below memory_bytes in memory, from there on in the file. */
struct place {
    uint64_t at;
    uint32_t n_bytes; /* 0: there is none */
    uint32_t reserved;
};

_Static_assert(sizeof(struct place) == SPILL_BEHIND_BYTES, "");

struct partition {
    struct place last;
    uint64_t n_bytes;
};

struct spill {
    struct scratch_file *file;
    size_t record_bytes, chunk_bytes;
    uint8_t *memory;
    size_t memory_bytes;
    pthread_mutex_t mutex; /* guards all below; not held for I/O */
    size_t n_used;         /* of memory */
    uint32_t n_partitions;
    struct partition *partitions;
};

int spill_new(struct scratch_file *file, size_t record_bytes, uint32_t n_partitions,
              size_t buffer_bytes, size_t memory_bytes, struct spill **ret_spill)
{
    _cleanup_(spill_free_p) struct spill *spill = calloc(1, sizeof(*spill));
    if (!spill)
        return -ENOMEM;
    pthread_mutex_init(&spill->mutex, NULL);
    spill->file = file;
    spill->record_bytes = record_bytes;
    size_t beside = SPILL_BEHIND_BYTES + sizeof(uint32_t), each = buffer_bytes / n_partitions;
    size_t chunk = each > beside ? each - beside : 0;
    if (chunk > SPILL_CHUNK_MAX_BYTES)
        chunk = SPILL_CHUNK_MAX_BYTES;
    if (chunk < SPILL_LEAST_RECORDS * record_bytes)
        chunk = SPILL_LEAST_RECORDS * record_bytes;
    spill->chunk_bytes = chunk / record_bytes * record_bytes;
    spill->memory_bytes = memory_bytes;
    spill->n_partitions = n_partitions;
    spill->partitions = calloc(n_partitions, sizeof(*spill->partitions));
    spill->memory = large_array_new(memory_bytes);
    if (!spill->partitions || !spill->memory)
        return -ENOMEM;
    *ret_spill = TAKE_PTR(spill);
    return 0;
}

static void free_memory(struct spill *spill)
{
    large_array_free(spill->memory, spill->memory_bytes);
    spill->memory = NULL;
    spill->memory_bytes = 0;
}

void spill_end(struct spill *spill)
{
    memset(spill->partitions, 0, spill->n_partitions * sizeof(*spill->partitions));
    free_memory(spill);
    scratch_file_give_back(spill->file);
}

void spill_free(struct spill *spill)
{
    if (!spill)
        return;
    free(spill->partitions);
    free_memory(spill);
    pthread_mutex_destroy(&spill->mutex);
    free(spill);
}

static size_t writer_bytes(const struct spill_writer *writer)
{
    return writer->spill->n_partitions * (writer->chunk_bytes + SPILL_BEHIND_BYTES);
}

int spill_writer_init(struct spill *spill, struct spill_writer *ret_writer)
{
    struct spill_writer writer = {
        .spill = spill,
        .n_bytes = calloc(spill->n_partitions, sizeof(uint32_t)),
        .record_bytes = spill->record_bytes,
        .chunk_bytes = spill->chunk_bytes,
    };
    writer.chunks = large_array_new(writer_bytes(&writer));
    if (!writer.chunks || !writer.n_bytes) {
        spill_writer_done(&writer);
        return -ENOMEM;
    }
    *ret_writer = writer;
    return 0;
}

void spill_writer_done(struct spill_writer *writer)
{
    if (writer->spill)
        large_array_free(writer->chunks, writer_bytes(writer));
    free(writer->n_bytes);
    *writer = (struct spill_writer){0};
}

/* Gives a chunk its place, and makes it the last one of its partition. Returns the place of the one
 * that was the last before. */
static struct place append(struct spill *spill, uint32_t number, uint32_t n_bytes,
                           struct place *ret_here)
{
    LOCKED(&spill->mutex);
    struct partition *partition = &spill->partitions[number];
    struct place before = partition->last;
    size_t size = n_bytes + SPILL_BEHIND_BYTES;
    if (spill->memory_bytes - spill->n_used >= size) {
        partition->last.at = spill->n_used;
        spill->n_used += size;
    } else {
        partition->last.at = spill->memory_bytes + scratch_file_reserve(spill->file, size);
    }
    partition->last.n_bytes = n_bytes;
    partition->n_bytes += n_bytes;
    *ret_here = partition->last;
    return before;
}

int spill_hand_over(struct spill_writer *writer, uint32_t partition)
{
    struct spill *spill = writer->spill;
    uint8_t *data = writer->chunks + partition * (writer->chunk_bytes + SPILL_BEHIND_BYTES);
    uint32_t n_bytes = writer->n_bytes[partition];
    if (n_bytes == 0)
        return 0;
    struct place here, before = append(spill, partition, n_bytes, &here);
    memcpy(data + n_bytes, &before, sizeof(before));
    writer->n_bytes[partition] = 0;
    if (here.at < spill->memory_bytes) {
        memcpy(spill->memory + here.at, data, n_bytes + sizeof(before));
        return 0;
    }
    return scratch_file_write(spill->file, here.at - spill->memory_bytes, data,
                              n_bytes + sizeof(before));
}

int spill_writer_flush(struct spill_writer *writer)
{
    for (uint32_t i = 0; i < writer->spill->n_partitions; i++) {
        int r = spill_hand_over(writer, i);
        if (r < 0)
            return r;
    }
    return 0;
}

uint64_t spill_partition_count(const struct spill *spill, uint32_t partition)
{
    return spill->partitions[partition].n_bytes / spill->record_bytes;
}

uint64_t spill_count(const struct spill *spill)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < spill->n_partitions; i++)
        n += spill_partition_count(spill, i);
    return n;
}

int64_t spill_take(struct spill *spill, uint32_t number, void *ret_records, size_t room_bytes)
{
    struct partition *partition = &spill->partitions[number];
    uint8_t *to = ret_records;
    size_t n = 0;
    while (partition->last.n_bytes &&
           room_bytes - n >= partition->last.n_bytes + SPILL_BEHIND_BYTES) {
        struct place here = partition->last;
        size_t size = here.n_bytes + SPILL_BEHIND_BYTES;
        int r = 0;
        if (here.at < spill->memory_bytes)
            memcpy(to + n, spill->memory + here.at, size);
        else
            r = scratch_file_read(spill->file, here.at - spill->memory_bytes, to + n, size);
        if (r < 0)
            return r;
        n += here.n_bytes;
        memcpy(&partition->last, to + n, sizeof(partition->last));
        partition->n_bytes -= here.n_bytes;
    }
    return (int64_t)(n / spill->record_bytes);
}
