/* The sketches of many documents, by number: in memory as far as it goes, the rest in a scratch
 * file.
 *
 * A sketch is (in units of 8 bytes, as in memory)  below | v_below | values ..
 * and is found by a number of 8 bytes a document: its place in units of 8, and how many values. */
#ifndef KINFS_ENGINE_CLUSTER_SKETCH_FILE_H
#define KINFS_ENGINE_CLUSTER_SKETCH_FILE_H

#include <stdint.h>

#include "engine/cluster/scratch_file.h"
#include "engine/sketch/min_sketch.h"

struct sketch_file {
    struct scratch_file *file;
    uint64_t policy_id;
    uint32_t s, m;
    uint64_t *places; /* by number; 0: there is none */
    uint8_t *memory;  /* the first memory_bytes of the file are here */
    size_t memory_bytes;
};

/* One a thread. */
struct sketch_writer {
    struct sketch_file *sketches;
    uint64_t *buffer; /* what follows `begin` in the file; in memory where that is */
    uint64_t *own;    /* the buffer that is not */
    uint64_t begin;
    size_t n_words, room_words;
};

/* A file of its own is borrowed: nothing else is in it. Memory: memory_bytes as they are used, and
 * 8 bytes a document. Returns 0, -ENOMEM. */
int sketch_file_init(struct scratch_file *file, const struct policy *policy, uint32_t n_documents,
                     size_t memory_bytes, struct sketch_file *ret_sketches);
void sketch_file_done(struct sketch_file *sketches); /* of zeroes, too */

int sketch_writer_init(struct sketch_file *sketches,
                       struct sketch_writer *ret_writer); /* -ENOMEM */
/* The sketch of a document, which has a shingle. Returns 0 or an error of scratch_file_write(). */
int sketch_writer_add(struct sketch_writer *writer, uint32_t number,
                      const struct min_sketch *sketch);
int sketch_writer_flush(struct sketch_writer *writer); /* the same */
void sketch_writer_done(struct sketch_writer *writer);

/* How much room a sketch takes where it is read into; 0: there is none. */
size_t sketch_file_bytes(const struct sketch_file *sketches, uint32_t number);
/* Whether it is in the file's memory, and takes no room. */
bool sketch_file_in_memory(const struct sketch_file *sketches, uint32_t number);

/* Read a sketch. room: sketch_file_bytes(), aligned to 8; ret_sketch->values are there, or in the
 * file's memory. Any threads, after all writers were flushed. Returns 0, -ENOENT, or an error of
 * scratch_file_read(). */
int sketch_file_read(const struct sketch_file *sketches, uint32_t number, void *room,
                     struct min_sketch *ret_sketch);

#endif
