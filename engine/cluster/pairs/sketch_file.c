/* The sketch file is written in blocks of 1 MiB, each by one thread, which reserves the next block
 * when its own is full. A document is found by its place, one word: 47 bits of offset in words, 17
 * bits of number of values. sketch_file.h has the bytes.
 *
 * Example: a document of 128 values takes 130 words. As the third of its size in the first block
 * (of a file that is not kept) it is at word 260, and its place is 260 << 17 | 128.
 *
 * Cost: adding copies the sketch once; reading is one system call, or nothing where the block is in
 * memory. No sketch is split between blocks, which leaves some 32 KiB of 1 MiB empty at most with
 * the default policy.
 *
 * Left out: compression, as values are random; and a cache of blocks, as the page cache is one.
 */
#include "engine/cluster/pairs/sketch_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "engine/cluster/large/large_array.h"

enum {
    HEAD_WORDS = 2,
    KEPT_WORDS = 6,           /* before the head, in a file that is kept */
    BUFFER_WORDS = 128 << 10, /* 1 MiB: more than the longest sketch */
    N_BITS = 17,              /* of a place: the number of values, at most POLICY_V_MAX */
    FILTERS_AT_ONCE = 256,
};

_Static_assert((int)POLICY_V_MAX < 1 << N_BITS && (int)POLICY_S_MAX < 1 << N_BITS, "");
_Static_assert(BUFFER_WORDS * 8 + FILTERS_AT_ONCE * sizeof(struct overlap_filter) <=
                   SKETCH_WRITER_BYTES,
               "");
_Static_assert((int)KEPT_WORDS + HEAD_WORDS + (int)POLICY_V_MAX < (int)BUFFER_WORDS, "");

int sketch_file_init(struct scratch_file *file, struct scratch_file *filter_file,
                     const struct policy *policy, uint32_t n_documents, bool keeps,
                     size_t memory_bytes, size_t filter_bytes, struct sketch_file *ret_sketches)
{
    size_t n_filters = filter_file ? filter_bytes / sizeof(struct overlap_filter) : 0;
    struct sketch_file sketches = {
        .file = file,
        .policy_id = policy_id(policy),
        .s = policy->s,
        .m = policy->m,
        .n_documents = n_documents,
        .keeps = keeps,
        .places = large_array_new(n_documents * sizeof(uint64_t)),
        .memory_bytes = memory_bytes / (BUFFER_WORDS * 8) * (BUFFER_WORDS * 8),
        .filter_file = filter_file,
        .n_filters = n_filters < n_documents ? (uint32_t)n_filters : n_documents,
    };
    if (sketches.memory_bytes)
        sketches.memory = large_array_new(sketches.memory_bytes);
    if (sketches.n_filters)
        sketches.filters = large_array_new(sketches.n_filters * sizeof(struct overlap_filter));
    if (!sketches.places || (sketches.memory_bytes && !sketches.memory) ||
        (sketches.n_filters && !sketches.filters)) {
        sketch_file_done(&sketches);
        return -ENOMEM;
    }
    *ret_sketches = sketches;
    return 0;
}

void sketch_file_done(struct sketch_file *sketches)
{
    large_array_free(sketches->memory, sketches->memory_bytes);
    large_array_free(sketches->filters, sketches->n_filters * sizeof(struct overlap_filter));
    large_array_free(sketches->places, sketches->n_documents * sizeof(uint64_t));
    *sketches = (struct sketch_file){0};
}

int sketch_writer_init(struct sketch_file *sketches, struct sketch_writer *ret_writer)
{
    struct sketch_writer writer = {
        .sketches = sketches,
        .own = large_array_new(BUFFER_WORDS * 8),
        .filters = malloc(FILTERS_AT_ONCE * sizeof(struct overlap_filter)),
    };
    if (!writer.own || !writer.filters) {
        sketch_writer_done(&writer);
        return -ENOMEM;
    }
    *ret_writer = writer;
    return 0;
}

void sketch_writer_done(struct sketch_writer *writer)
{
    large_array_free(writer->own, BUFFER_WORDS * 8);
    free(writer->filters);
    *writer = (struct sketch_writer){0};
}

static int flush_filters(struct sketch_writer *writer)
{
    size_t each = sizeof(struct overlap_filter);
    int r = 0;
    if (writer->n_filters)
        r = scratch_file_write(writer->sketches->filter_file, writer->first_filter * each,
                               writer->filters, writer->n_filters * each);
    writer->n_filters = 0;
    return r;
}

static uint64_t checksum(const uint64_t *block)
{
    return XXH3_64bits(block, (BUFFER_WORDS - 1) * 8);
}

static int flush_sketches(struct sketch_writer *writer)
{
    size_t n = writer->n_words;
    int r = 0;
    if (n > 0 && writer->sketches->keeps) {
        memset(writer->buffer + n, 0, (BUFFER_WORDS - 1 - n) * 8);
        writer->buffer[BUFFER_WORDS - 1] = checksum(writer->buffer);
        n = BUFFER_WORDS;
    }
    if (n > 0 && writer->buffer == writer->own)
        r = scratch_file_write(writer->sketches->file, writer->begin, writer->own, n * 8);
    writer->n_words = writer->room_words = 0;
    return r;
}

int sketch_writer_flush(struct sketch_writer *writer)
{
    int r = flush_filters(writer);
    return r < 0 ? r : flush_sketches(writer);
}

static int add_filter(struct sketch_writer *writer, uint32_t number,
                      const struct min_sketch *sketch)
{
    struct sketch_file *sketches = writer->sketches;
    if (number < sketches->n_filters) {
        overlap_filter_make(sketch, &sketches->filters[number]);
        return 0;
    }
    if (writer->n_filters == FILTERS_AT_ONCE ||
        (writer->n_filters > 0 && number != writer->first_filter + writer->n_filters)) {
        int r = flush_filters(writer);
        if (r < 0)
            return r;
    }
    if (writer->n_filters == 0)
        writer->first_filter = number;
    overlap_filter_make(sketch, &writer->filters[writer->n_filters++]);
    return 0;
}

/* The writer goes on to the next block of the file, which is in memory where that goes so far. */
static void begin_buffer(struct sketch_writer *writer)
{
    struct sketch_file *sketches = writer->sketches;
    writer->begin = scratch_file_reserve(sketches->file, BUFFER_WORDS * 8);
    writer->room_words = sketches->keeps ? BUFFER_WORDS - 1 : BUFFER_WORDS;
    bool in_memory = writer->begin + BUFFER_WORDS * 8 <= sketches->memory_bytes;
    writer->buffer = in_memory ? (uint64_t *)(sketches->memory + writer->begin) : writer->own;
}

/* The first word of a document is never 0, which stands behind the last document of a block. */
static void put_kept(uint64_t to[KEPT_WORDS], uint32_t number, const struct document_sketch *sketch)
{
    put_be32((uint8_t *)to, number);
    put_be32((uint8_t *)to + 4, 1 + sketch->sketch.n_values);
    memcpy(to + 1,
           sketch->sketch.n_values ? sketch->shingle_fingerprint : sketch->content_fingerprint,
           FINGERPRINT_BYTES);
    memcpy(to + 3, document_equality(sketch), FINGERPRINT_BYTES);
    memcpy(to + 5, sketch->content_fingerprint, 8);
}

/* Sets the place of a document, and returns false when the number had one before. A place of no
 * values marks a number that is taken. */
static bool put_place(struct sketch_file *sketches, uint32_t number, uint64_t at, uint32_t n_values)
{
    uint32_t most = __atomic_load_n(&sketches->most_values, __ATOMIC_RELAXED);
    uint64_t before =
        __atomic_exchange_n(&sketches->places[number], at << N_BITS | n_values, __ATOMIC_RELAXED);
    while (n_values > most && !__atomic_compare_exchange_n(&sketches->most_values, &most, n_values,
                                                           0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return before == 0;
}

int sketch_writer_add(struct sketch_writer *writer, uint32_t number,
                      const struct document_sketch *document)
{
    struct sketch_file *sketches = writer->sketches;
    const struct min_sketch *sketch = &document->sketch;
    size_t n_before = sketches->keeps ? KEPT_WORDS : 0;
    size_t n = n_before + (sketch->n_values ? HEAD_WORDS + sketch->n_values : 0);
    if (writer->room_words - writer->n_words < n) {
        int r = flush_sketches(writer);
        if (r < 0)
            return r;
        begin_buffer(writer);
    }
    if (n_before)
        put_kept(writer->buffer + writer->n_words, number, document);
    if (sketch->n_values == 0) {
        writer->n_words += n;
        return 0;
    }
    uint64_t *to = writer->buffer + writer->n_words + n_before;
    to[0] = sketch->below;
    to[1] = sketch->v_below;
    memcpy(to + HEAD_WORDS, sketch->values, sketch->n_values * sizeof(uint64_t));
    put_place(sketches, number, writer->begin / 8 + writer->n_words + n_before, sketch->n_values);
    writer->n_words += n;
    return sketches->filter_file ? add_filter(writer, number, sketch) : 0;
}

/* -- kept -- */

int sketch_file_keep(struct sketch_file *sketches)
{
    uint64_t size = sketches->file->size_bytes, n = sketches->memory_bytes;
    return scratch_file_write(sketches->file, 0, sketches->memory, n < size ? n : size);
}

uint64_t sketch_file_n_blocks(uint64_t file_bytes)
{
    return file_bytes / (BUFFER_WORDS * 8);
}

static struct min_sketch sketch_of(const struct sketch_file *sketches, const uint64_t *words,
                                   uint32_t n_values)
{
    return (struct min_sketch){
        .policy_id = sketches->policy_id,
        .below = words[0],
        .v_below = words[1],
        .s = sketches->s,
        .m = sketches->m,
        .n_values = n_values,
        .values = words + HEAD_WORDS,
    };
}

/* Reads the document that begins at a word of a block. Returns false for one that no run has
 * written: a checksum tells of damage, but a file that somebody else made may have a good one. */
static bool get_kept(const struct sketch_file *sketches, const uint64_t *words, size_t n_left,
                     uint32_t *ret_number, struct document_sketch *ret_sketch)
{
    uint32_t n_values = get_be32((const uint8_t *)words + 4) - 1; /* 0 becomes too many */
    size_t n_words = KEPT_WORDS + (n_values ? HEAD_WORDS + (size_t)n_values : 0);
    *ret_number = get_be32((const uint8_t *)words);
    if (n_values > POLICY_V_MAX || n_left < n_words || *ret_number >= sketches->n_documents)
        return false;
    *ret_sketch = (struct document_sketch){0};
    memcpy(ret_sketch->text_fingerprint, words + 3, FINGERPRINT_BYTES);
    memcpy(ret_sketch->content_fingerprint, n_values ? words + 5 : words + 1,
           n_values ? 8 : FINGERPRINT_BYTES);
    if (n_values) {
        memcpy(ret_sketch->shingle_fingerprint, words + 1, FINGERPRINT_BYTES);
        ret_sketch->sketch = sketch_of(sketches, words + KEPT_WORDS, n_values);
    }
    return n_values == 0 || min_sketch_is_sound(&ret_sketch->sketch);
}

int sketch_writer_load(struct sketch_writer *writer, uint64_t block, sketch_take_fn take,
                       void *user)
{
    struct sketch_file *sketches = writer->sketches;
    uint64_t begin = block * BUFFER_WORDS * 8;
    bool in_memory = begin + BUFFER_WORDS * 8 <= sketches->memory_bytes;
    uint64_t *words = in_memory ? (uint64_t *)(sketches->memory + begin) : writer->own;
    int r = scratch_file_read(sketches->file, begin, words, BUFFER_WORDS * 8);
    if (r < 0)
        return r;
    if (words[BUFFER_WORDS - 1] != checksum(words))
        return -EUCLEAN;
    for (size_t at = 0; r == 0 && at < BUFFER_WORDS - 1 && words[at];) {
        uint32_t number;
        struct document_sketch document;
        if (!get_kept(sketches, words + at, BUFFER_WORDS - 1 - at, &number, &document))
            return -EUCLEAN;
        at += KEPT_WORDS;
        if (!put_place(sketches, number, begin / 8 + at, document.sketch.n_values))
            return -EUCLEAN;
        if (document.sketch.n_values) {
            at += HEAD_WORDS + document.sketch.n_values;
            if (sketches->filter_file)
                r = add_filter(writer, number, &document.sketch);
        }
        if (r == 0)
            r = take(user, number, &document);
    }
    return r;
}

/* -- reading -- */

size_t sketch_file_bytes(const struct sketch_file *sketches, uint32_t number)
{
    uint64_t n = sketches->places[number] & ((1 << N_BITS) - 1);
    return n ? (HEAD_WORDS + n) * 8 : 0;
}

size_t sketch_file_longest_bytes(const struct sketch_file *sketches)
{
    bool reads = sketch_file_is_on_disk(sketches);
    return reads ? (HEAD_WORDS + (size_t)sketches->most_values) * 8 : 0;
}

static uint64_t offset_of(const struct sketch_file *sketches, uint32_t number)
{
    return (sketches->places[number] >> N_BITS) * 8;
}

bool sketch_file_is_on_disk(const struct sketch_file *sketches)
{
    return sketches->file->size_bytes > sketches->memory_bytes;
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
    *ret_sketch = sketch_of(sketches, words, (uint32_t)(size / 8 - HEAD_WORDS));
    return 0;
}

void sketch_file_ask_for(const struct sketch_file *sketches, uint32_t number)
{
    if (!sketch_file_in_memory(sketches, number))
        scratch_file_ask_for(sketches->file, offset_of(sketches, number),
                             sketch_file_bytes(sketches, number));
}

int sketch_file_filter(const struct sketch_file *sketches, uint32_t number,
                       struct overlap_filter *ret_filter)
{
    if (number < sketches->n_filters) {
        *ret_filter = sketches->filters[number];
        return 0;
    }
    return scratch_file_read(sketches->filter_file, (uint64_t)number * sizeof(*ret_filter),
                             ret_filter, sizeof(*ret_filter));
}
