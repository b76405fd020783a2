#include "engine/cluster/spill.h"

#include <errno.h>

enum { CHUNK_MAX_BYTES = 16 << 10, CHUNK_MIN_RECORDS = 16 };

struct chunk {
    void *memory; /* NULL: in the file, at */
    uint64_t offset;
    uint32_t n_bytes;
};

struct partition {
    struct chunk *chunks;
    uint32_t n_chunks, room;
    uint64_t n_bytes;
};

struct spill {
    struct scratch_file *file;
    size_t record_bytes, chunk_bytes;
    pthread_mutex_t mutex; /* guards all below; held for a list's growth, not for I/O */
    size_t memory_left;
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
    size_t chunk = buffer_bytes / n_partitions;
    if (chunk > CHUNK_MAX_BYTES)
        chunk = CHUNK_MAX_BYTES;
    if (chunk < CHUNK_MIN_RECORDS * record_bytes)
        chunk = CHUNK_MIN_RECORDS * record_bytes;
    spill->chunk_bytes = chunk / record_bytes * record_bytes;
    spill->memory_left = memory_bytes;
    spill->n_partitions = n_partitions;
    spill->partitions = calloc(n_partitions, sizeof(*spill->partitions));
    if (!spill->partitions)
        return -ENOMEM;
    *ret_spill = TAKE_PTR(spill);
    return 0;
}

static void forget(struct partition *partition)
{
    for (uint32_t i = 0; i < partition->n_chunks; i++)
        free(partition->chunks[i].memory);
    free(partition->chunks);
    *partition = (struct partition){0};
}

void spill_end(struct spill *spill)
{
    for (uint32_t i = 0; spill->partitions && i < spill->n_partitions; i++)
        forget(&spill->partitions[i]);
    scratch_file_give_back(spill->file);
}

void spill_free(struct spill *spill)
{
    if (!spill)
        return;
    for (uint32_t i = 0; spill->partitions && i < spill->n_partitions; i++)
        forget(&spill->partitions[i]);
    free(spill->partitions);
    pthread_mutex_destroy(&spill->mutex);
    free(spill);
}

int spill_writer_init(struct spill *spill, struct spill_writer *ret_writer)
{
    struct spill_writer writer = {
        .spill = spill,
        .chunks = malloc(spill->n_partitions * spill->chunk_bytes),
        .n_bytes = calloc(spill->n_partitions, sizeof(uint32_t)),
        .record_bytes = spill->record_bytes,
        .chunk_bytes = spill->chunk_bytes,
    };
    if (!writer.chunks || !writer.n_bytes) {
        spill_writer_done(&writer);
        return -ENOMEM;
    }
    *ret_writer = writer;
    return 0;
}

void spill_writer_done(struct spill_writer *writer)
{
    free(writer->chunks);
    free(writer->n_bytes);
    *writer = (struct spill_writer){0};
}

static bool take_memory(struct spill *spill, size_t size_bytes)
{
    LOCKED(&spill->mutex);
    if (spill->memory_left < size_bytes)
        return false;
    spill->memory_left -= size_bytes;
    return true;
}

static int add_chunk(struct spill *spill, struct partition *partition, const struct chunk *chunk)
{
    LOCKED(&spill->mutex);
    if (partition->n_chunks == partition->room) {
        uint32_t room = partition->room ? 2 * partition->room : 4;
        struct chunk *chunks = reallocarray(partition->chunks, room, sizeof(*chunks));
        if (!chunks)
            return -ENOMEM;
        partition->chunks = chunks;
        partition->room = room;
    }
    partition->chunks[partition->n_chunks++] = *chunk;
    partition->n_bytes += chunk->n_bytes;
    return 0;
}

int spill_hand_over(struct spill_writer *writer, uint32_t partition)
{
    struct spill *spill = writer->spill;
    const uint8_t *data = writer->chunks + partition * writer->chunk_bytes;
    struct chunk chunk = {.n_bytes = writer->n_bytes[partition]};
    if (chunk.n_bytes == 0)
        return 0;
    if (take_memory(spill, chunk.n_bytes)) {
        chunk.memory = malloc(chunk.n_bytes);
        if (!chunk.memory)
            return -ENOMEM;
        memcpy(chunk.memory, data, chunk.n_bytes);
    } else {
        chunk.offset = scratch_file_reserve(spill->file, chunk.n_bytes);
        int r = scratch_file_write(spill->file, chunk.offset, data, chunk.n_bytes);
        if (r < 0)
            return r;
    }
    int r = add_chunk(spill, &spill->partitions[partition], &chunk);
    if (r < 0) {
        free(chunk.memory);
        return r;
    }
    writer->n_bytes[partition] = 0;
    return 0;
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

uint32_t spill_n_partitions(const struct spill *spill)
{
    return spill->n_partitions;
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

int spill_take(struct spill *spill, uint32_t partition, void *ret_records)
{
    struct partition *from = &spill->partitions[partition];
    uint8_t *to = ret_records;
    for (uint32_t i = 0; i < from->n_chunks; i++) {
        const struct chunk *chunk = &from->chunks[i];
        int r = 0;
        if (chunk->memory)
            memcpy(to, chunk->memory, chunk->n_bytes);
        else
            r = scratch_file_read(spill->file, chunk->offset, to, chunk->n_bytes);
        if (r < 0)
            return r;
        to += chunk->n_bytes;
    }
    forget(from);
    return 0;
}
