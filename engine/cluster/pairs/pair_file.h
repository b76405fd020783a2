/* Counted pairs that are kept, <ID, ID, in both, in either>, in no order: another threshold then
 * takes the last phase only (Broder et al. 1997, section 6.1).
 *
 * A block of 1 MiB is: number of pairs, 8 bytes | 16 bytes each | 0 .. | checksum, 8 bytes. */
#ifndef KINFS_ENGINE_CLUSTER_PAIRS_PAIR_FILE_H
#define KINFS_ENGINE_CLUSTER_PAIRS_PAIR_FILE_H

#include "engine/cluster/large/scratch_file.h"

struct counted_pair {
    uint32_t a, b, both, all;
};

struct pair_file {
    struct scratch_file file;
};

enum { PAIR_WRITER_BYTES = 1 << 20 };

/* A writer belongs to one thread, and is zeroes at first, but for the file. */
struct pair_writer {
    struct pair_file *pairs;
    struct pair_block *block;
};

/* Return 0, -ENOMEM, an error of scratch_file_write(). */
int pair_writer_add(struct pair_writer *writer, const struct counted_pair *pair);
int pair_writer_flush(struct pair_writer *writer);
void pair_writer_done(struct pair_writer *writer);

/* Hands all pairs of a file to take, by several threads. Returns 0, what take returned, -EUCLEAN
 * (damaged), -ENOMEM, an error of scratch_file_read(). */
typedef int (*pair_take_fn)(void *user, const struct counted_pair *pair);
int pair_file_each(struct pair_file *pairs, unsigned n_threads, pair_take_fn take, void *user,
                   double *cpu_s);

#endif
