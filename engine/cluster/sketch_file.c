#include "engine/cluster/sketch_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    HEAD_WORDS = 2,
    BUFFER_WORDS = 128 << 10, /* 1 MiB: more than the longest sketch */
    N_BITS = 17,              /* of a place: the number of values, at most POLICY_V_MAX */
};

_Static_assert((int)POLICY_V_MAX < 1 << N_BITS && (int)POLICY_S_MAX < 1 << N_BITS, "");
_Static_assert((int)HEAD_WORDS + (int)POLICY_V_MAX <= (int)BUFFER_WORDS, "");

int sketch_file_init(struct scratch_file *file, const struct policy *policy, uint32_t n_documents,
                     size_t memory_bytes, struct sketch_file *ret_sketches)
{
    struct sketch_file sketches = {
        .file = file,
        .policy_id = policy_id(policy),
        .s = policy->s,
        .m = policy->m,
        .places = calloc(n_documents ? n_documents : 1, sizeof(uint64_t)),
        .memory_bytes = memory_bytes / (BUFFER_WORDS * 8) * (BUFFER_WORDS * 8),
    };
    if (!sketches.places)
        return -ENOMEM;
    if (sketches.memory_bytes) { /* pages come as they are touched */
        void *memory = mmap(NULL, sketches.memory_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            free(sketches.places);
            return -ENOMEM;
        }
        sketches.memory = memory;
    }
    *ret_sketches = sketches;
    return 0;
}

void sketch_file_done(struct sketch_file *sketches)
{
    if (sketches->memory)
        munmap(sketches->memory, sketches->memory_bytes);
    free(sketches->places);
    *sketches = (struct sketch_file){0};
}

int sketch_writer_init(struct sketch_file *sketches, struct sketch_writer *ret_writer)
{
    uint64_t *own = malloc(BUFFER_WORDS * 8);
    if (!own)
        return -ENOMEM;
    *ret_writer = (struct sketch_writer){.sketches = sketches, .own = own};
    return 0;
}

void sketch_writer_done(struct sketch_writer *writer)
{
    free(writer->own);
    *writer = (struct sketch_writer){0};
}

int sketch_writer_flush(struct sketch_writer *writer)
{
    int r = 0;
    if (writer->n_words > 0 && writer->buffer == writer->own)
        r = scratch_file_write(writer->sketches->file, writer->begin, writer->own,
                               writer->n_words * 8);
    writer->n_words = writer->room_words = 0;
    return r;
}

/* The next part of the file: in memory, where that goes so far. */
static void begin_buffer(struct sketch_writer *writer)
{
    struct sketch_file *sketches = writer->sketches;
    writer->begin = scratch_file_reserve(sketches->file, BUFFER_WORDS * 8);
    writer->room_words = BUFFER_WORDS;
    bool in_memory = writer->begin + BUFFER_WORDS * 8 <= sketches->memory_bytes;
    writer->buffer = in_memory ? (uint64_t *)(sketches->memory + writer->begin) : writer->own;
}

int sketch_writer_add(struct sketch_writer *writer, uint32_t number,
                      const struct min_sketch *sketch)
{
    size_t n = HEAD_WORDS + sketch->n_values;
    if (writer->room_words - writer->n_words < n) {
        int r = sketch_writer_flush(writer);
        if (r < 0)
            return r;
        begin_buffer(writer);
    }
    uint64_t *to = writer->buffer + writer->n_words;
    to[0] = sketch->below;
    to[1] = sketch->v_below;
    memcpy(to + HEAD_WORDS, sketch->values, sketch->n_values * sizeof(uint64_t));
    uint64_t place = writer->begin / 8 + writer->n_words;
    writer->sketches->places[number] = place << N_BITS | sketch->n_values;
    writer->n_words += n;
    return 0;
}

size_t sketch_file_bytes(const struct sketch_file *sketches, uint32_t number)
{
    uint64_t n = sketches->places[number] & ((1 << N_BITS) - 1);
    return n ? (HEAD_WORDS + n) * 8 : 0;
}

static uint64_t offset_of(const struct sketch_file *sketches, uint32_t number)
{
    return (sketches->places[number] >> N_BITS) * 8;
}

bool sketch_file_in_memory(const struct sketch_file *sketches, uint32_t number)
{
    uint64_t end = offset_of(sketches, number) + sketch_file_bytes(sketches, number);
    return end <= sketches->memory_bytes;
}

int sketch_file_read(const struct sketch_file *sketches, uint32_t number, void *room,
                     struct min_sketch *ret_sketch)
{
    size_t size = sketch_file_bytes(sketches, number);
    if (!size)
        return -ENOENT;
    uint64_t offset = offset_of(sketches, number);
    const uint64_t *words = room;
    if (sketch_file_in_memory(sketches, number)) {
        words = (const uint64_t *)(sketches->memory + offset);
    } else {
        int r = scratch_file_read(sketches->file, offset, room, size);
        if (r < 0)
            return r;
    }
    *ret_sketch = (struct min_sketch){
        .policy_id = sketches->policy_id,
        .below = words[0],
        .v_below = words[1],
        .s = sketches->s,
        .m = sketches->m,
        .n_values = (uint32_t)(size / 8 - HEAD_WORDS),
        .values = words + HEAD_WORDS,
    };
    return 0;
}
