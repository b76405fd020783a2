/* The sketches of many documents, by number: in memory as far as it goes, the rest in a scratch
 * file.
 *
 * A sketch is (in units of 8 bytes, as in memory)  below | v_below | values ..
 * and is found by a number of 8 bytes a document: its place in units of 8, and how many values.
 *
 * A file that is kept has before each sketch the other data of a document that a batch needs, so it
 * can be read from its beginning:
 *     number, 1 + number of values (4 bytes each) | fingerprint of the shingles, 16 |
 *     document_equality(), 16 | first 8 of the content's
 * A document without shingles has only that, with the whole fingerprint of the content in place of
 * that of the shingles. Blocks have 1 MiB, a word of zeroes after the last document, and a checksum
 * at the end.
 *
 * Most documents are only asked for their filter (overlap_filter.h). Filters are kept apart: those
 * of the first documents in memory, as far as it goes, the others in a file of their own, where
 * fifty are in a page. */
#ifndef KINFS_ENGINE_CLUSTER_PAIRS_SKETCH_FILE_H
#define KINFS_ENGINE_CLUSTER_PAIRS_SKETCH_FILE_H

#include <stdint.h>

#include "engine/cluster/pairs/overlap_filter.h"
#include "engine/cluster/large/scratch_file.h"
#include "engine/sketch/documents/document_sketch.h"

struct sketch_file {
    struct scratch_file *file;
    uint64_t policy_id;
    uint32_t s, m;
    uint32_t n_documents;
    bool keeps;
    uint64_t
        *places;     /* by number; 0: there is none. By atomic operations while there are writers */
    uint8_t *memory; /* the first memory_bytes of the file are here */
    size_t memory_bytes;
    struct scratch_file *filter_file; /* NULL: there are no filters */
    struct overlap_filter *filters;   /* of the first n_filters documents */
    uint32_t n_filters;
    uint32_t most_values; /* of a sketch */
};

/* A writer belongs to one thread. */
struct sketch_writer {
    struct sketch_file *sketches;
    uint64_t *buffer; /* the block at `begin`: in the file's memory, or own */
    uint64_t *own;    /* a buffer of the writer's, for blocks behind the file's memory */
    uint64_t begin;
    size_t n_words, room_words;
    struct overlap_filter *filters; /* of documents one behind the other, not written yet */
    uint32_t first_filter, n_filters;
};

/* Files of their own are borrowed: nothing else is in them. filter_file: NULL for no filters.
 * keeps: the file can be kept.
 * Memory: memory_bytes and filter_bytes as they are used, and 8 bytes a document. Returns 0,
 * -ENOMEM. */
int sketch_file_init(struct scratch_file *file, struct scratch_file *filter_file,
                     const struct policy *policy, uint32_t n_documents, bool keeps,
                     size_t memory_bytes, size_t filter_bytes, struct sketch_file *ret_sketches);
void sketch_file_done(struct sketch_file *sketches); /* of zeroes, too */

/* The longest sketch there can be, where it is read into. */
enum { SKETCH_FILE_LONGEST_BYTES = 8 * (2 + POLICY_V_MAX) };

/* The memory of a writer. */
enum { SKETCH_WRITER_BYTES = (1 << 20) + (20 << 10) };

int sketch_writer_init(struct sketch_file *sketches,
                       struct sketch_writer *ret_writer); /* -ENOMEM */
/* The sketch of a document, which has a shingle unless the file keeps. Returns 0 or an error of
 * scratch_file_write(). */
int sketch_writer_add(struct sketch_writer *writer, uint32_t number,
                      const struct document_sketch *sketch);
int sketch_writer_flush(struct sketch_writer *writer); /* the same */
void sketch_writer_done(struct sketch_writer *writer);

/* Writes to the file the blocks that are in memory only, after all writers were flushed. */
int sketch_file_keep(struct sketch_file *sketches);

/* Loads the documents of one block of a kept file, instead of adding them, and hands each to take;
 * sketch->sketch and the fingerprints as far as they are kept are filled in, and the values are the
 * writer's. Returns 0, -EUCLEAN (damaged), an error of reading, or what take returned. */
uint64_t sketch_file_n_blocks(uint64_t file_bytes);
typedef int (*sketch_take_fn)(void *user, uint32_t number, const struct document_sketch *sketch);
int sketch_writer_load(struct sketch_writer *writer, uint64_t block, sketch_take_fn take,
                       void *user);

/* The room that a sketch takes when it is read; 0: the document has none. */
size_t sketch_file_bytes(const struct sketch_file *sketches, uint32_t number);
/* The room of the longest sketch there is; 0 when all are in memory. */
size_t sketch_file_longest_bytes(const struct sketch_file *sketches);
bool sketch_file_is_on_disk(const struct sketch_file *sketches); /* some of them */
/* True when a sketch is in the file's memory and takes no room. */
bool sketch_file_in_memory(const struct sketch_file *sketches, uint32_t number);

/* Read a sketch. room: sketch_file_bytes(), aligned to 8; ret_sketch->values are there, or in the
 * file's memory. Any threads, after all writers were flushed. Returns 0, -ENOENT, or an error of
 * scratch_file_read(). */
int sketch_file_read(const struct sketch_file *sketches, uint32_t number, void *room,
                     struct min_sketch *ret_sketch);

/* Asks for a sketch that is read soon, where it is in the file only. */
void sketch_file_ask_for(const struct sketch_file *sketches, uint32_t number);

/* Fetches a filter in memory that is read soon into the processor's cache. */
static inline void sketch_file_prefetch_filter(const struct sketch_file *sketches, uint32_t number)
{
    if (number < sketches->n_filters) {
        __builtin_prefetch(&sketches->filters[number]);
        __builtin_prefetch((const uint8_t *)&sketches->filters[number + 1] - 1);
    }
}

/* Reads the filter of a document that has a sketch, where filters are kept. Threads and errors are
 * those of sketch_file_read(). */
int sketch_file_filter(const struct sketch_file *sketches, uint32_t number,
                       struct overlap_filter *ret_filter);

#endif
