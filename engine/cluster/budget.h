/* The budget divides the memory that a batch is given among its parts. It is numbers only: nothing
 * is allocated here. A phase never has more than its share, whatever the documents are like; a
 * phase that would need more has fewer threads, or less room and more in files.
 *
 * 17 bytes are for each document, 2 MiB for nothing in particular; the rest, in sixteenths:
 *
 *                           adding  duplicates  pairs  expanding, merging (broder1997)
 *   sketches, their filters    9         9        9       9
 *   keys in memory             1         1        1       1
 *   equivalences in memory     1         1
 *   writers                    3
 *   the phase itself                     5        6       6
 */
#ifndef KINFS_ENGINE_CLUSTER_BUDGET_H
#define KINFS_ENGINE_CLUSTER_BUDGET_H

#include <stddef.h>
#include <stdint.h>

struct budget {
    uint64_t rest_bytes; /* without the bytes of each document and the 2 MiB */
    unsigned n_threads;  /* at most */
    /* The shares while documents are added. */
    unsigned n_writers;
    uint64_t sketch_bytes, key_bytes, equivalence_bytes; /* in memory */
    uint64_t key_buffer_bytes, equivalence_buffer_bytes; /* of a writer */
};

/* The share of a phase. */
struct budget_share {
    unsigned n_threads;
    size_t room_bytes;   /* of a thread, for a partition: SORTED_LEAST_BYTES at least */
    size_t buffer_bytes; /* of a thread, for a spill's writer */
    size_t sketch_bytes; /* of a thread, for sketches that are read */
    uint64_t all_bytes;  /* of all threads: for pairs in memory, or for refused pairs */
};

uint64_t budget_least(uint32_t n_documents);

/* Returns 0, or -E2BIG for less than the least. */
int budget_make(uint64_t memory_bytes, uint32_t n_documents, unsigned n_threads,
                struct budget *ret_budget);

/* thread_bytes  memory of a thread beside its share and its stack
 * wanted_bytes  room in which a partition needs no file
 * Return 0, or -E2BIG when there is not enough for a single thread. */
int budget_duplicates(const struct budget *budget, uint64_t wanted_bytes,
                      struct budget_share *ret_share);
/* n_threads: at most; budget->n_threads, or more where threads wait for the disk. */
int budget_links(const struct budget *budget, unsigned n_threads, uint64_t thread_bytes,
                 uint64_t wanted_bytes, struct budget_share *ret_share);
int budget_expand(const struct budget *budget, uint64_t thread_bytes, uint64_t wanted_bytes,
                  struct budget_share *ret_share);
/* The share of merging, while the pairs in memory stay. */
int budget_merge(const struct budget *budget, uint64_t thread_bytes, uint64_t wanted_bytes,
                 struct budget_share *ret_share);

/* The threads of a phase that has all memory but that of the documents. */
unsigned budget_threads(const struct budget *budget, uint64_t thread_bytes);

#endif
