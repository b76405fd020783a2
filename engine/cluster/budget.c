/* The numbers of budget.h.
 *
 * Example: 1,000,000 documents and 256 MiB. The documents take 16.2 MiB, and 2 MiB are for nothing
 * in particular; of the other 237.8 MiB a sixteenth is 14.9 MiB. Sketches and filters have 133.8
 * MiB in memory, keys and equivalences 14.9 MiB each, and the writers 44.6 MiB: with some 2 MiB for
 * each writer as many as there are threads, up to 22.
 *
 * A phase gives each thread the room that it wants for a partition and has as many threads as there
 * is memory for; where the room does not suffice even for one, the threads have some 1 MiB each and
 * sort in parts. Left out: moving memory between phases by what the documents turn out to be like;
 * the bound must hold whatever they are like.
 */
#include "engine/cluster/budget.h"

#include <errno.h>

#include "engine/cluster/pairs/pair_counts.h"
#include "engine/cluster/pairs/sketch_file.h"

enum {
    DOCUMENT_BYTES = 17, /* parent 4, place of the sketch 8, |V| or size of cluster 4, marks 1/4 */
    LEAST_BYTES = 16 << 20,
    NOBODYS_BYTES = 2 << 20,  /* tables of partitions, and memory that malloc(3) keeps */
    THREAD_BYTES = 384 << 10, /* stack: sort_numbers() */
    WRITER_BYTES = 1 << 20,   /* beside its buffer of sketches, where there is to be a second one */
    COMFORT_BYTES = 1 << 20,  /* of a room that does not suffice, where there is a second thread */
    SKETCHES = 9,
    KEYS = 1,
    EQUIVALENCES = 1,
    WRITERS = 3,
    DUPLICATES = 16 - SKETCHES - KEYS - EQUIVALENCES,
    PAIRS = 16 - SKETCHES - KEYS,
};

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t share_of(const struct budget *budget, unsigned sixteenths)
{
    return budget->rest_bytes / 16 * sixteenths;
}

uint64_t budget_least(uint32_t n_documents)
{
    return (uint64_t)DOCUMENT_BYTES * n_documents + LEAST_BYTES;
}

int budget_make(uint64_t memory_bytes, uint32_t n_documents, unsigned n_threads,
                struct budget *ret_budget)
{
    if (memory_bytes < budget_least(n_documents))
        return -E2BIG;
    struct budget budget = {
        .rest_bytes = memory_bytes - (uint64_t)DOCUMENT_BYTES * n_documents - NOBODYS_BYTES,
        .n_threads = n_threads,
    };
    budget.sketch_bytes = share_of(&budget, SKETCHES);
    budget.key_bytes = share_of(&budget, KEYS);
    budget.equivalence_bytes = share_of(&budget, EQUIVALENCES);
    uint64_t writers = share_of(&budget, WRITERS), beside = SKETCH_WRITER_BYTES;
    uint64_t n = writers / (beside + WRITER_BYTES);
    budget.n_writers = n < 1 ? 1 : (unsigned)least_of(n, n_threads);
    uint64_t buffers = writers / budget.n_writers - beside;
    budget.equivalence_buffer_bytes = buffers / 4;
    budget.key_buffer_bytes = buffers / 4 * 3;
    *ret_budget = budget;
    return 0;
}

/* A share has as many threads as can have the room that is wanted; where not even one can, as many
 * as can have COMFORT_BYTES. */
static int deal(uint64_t bytes, unsigned most, uint64_t thread_bytes, uint64_t wanted_bytes,
                struct budget_share *share)
{
    uint64_t each = thread_bytes + THREAD_BYTES;
    uint64_t wanted = wanted_bytes > SORTED_LEAST_BYTES ? wanted_bytes : SORTED_LEAST_BYTES;
    uint64_t n = bytes / (each + wanted);
    if (bytes < each + SORTED_LEAST_BYTES)
        return -E2BIG;
    if (n < 1)
        n = bytes / (each + COMFORT_BYTES);
    share->n_threads = n < 1 ? 1 : (unsigned)least_of(n, most);
    share->room_bytes = bytes / share->n_threads - each;
    return 0;
}

int budget_duplicates(const struct budget *budget, uint64_t wanted_bytes,
                      struct budget_share *ret_share)
{
    *ret_share = (struct budget_share){0};
    return deal(share_of(budget, DUPLICATES), budget->n_threads, 0, wanted_bytes, ret_share);
}

int budget_links(const struct budget *budget, unsigned n_threads, uint64_t thread_bytes,
                 uint64_t wanted_bytes, struct budget_share *ret_share)
{
    uint64_t bytes = share_of(budget, PAIRS);
    uint64_t must = thread_bytes + THREAD_BYTES + SORTED_LEAST_BYTES;
    struct budget_share share = {0};
    if (bytes < must)
        return -E2BIG;
    uint64_t sketches = least_of(bytes / PAIRS, (bytes - must) / 2);
    share.all_bytes = sketches;
    int r = deal(bytes - 2 * sketches, n_threads, thread_bytes, wanted_bytes, &share);
    if (r < 0)
        return r;
    share.sketch_bytes = sketches / share.n_threads;
    *ret_share = share;
    return 0;
}

int budget_expand(const struct budget *budget, uint64_t thread_bytes, uint64_t wanted_bytes,
                  struct budget_share *ret_share)
{
    uint64_t bytes = share_of(budget, PAIRS);
    uint64_t least = spill_least_buffer(sizeof(uint64_t), PAIR_PARTITIONS);
    struct budget_share share = {.all_bytes = bytes / 4};
    int r = deal(bytes - share.all_bytes, budget->n_threads, thread_bytes + least, 2 * wanted_bytes,
                 &share);
    if (r < 0)
        return r;
    uint64_t half = (share.room_bytes - SORTED_LEAST_BYTES) / 2;
    share.buffer_bytes = least + half;
    share.room_bytes -= half;
    *ret_share = share;
    return 0;
}

int budget_merge(const struct budget *budget, uint64_t thread_bytes, uint64_t wanted_bytes,
                 struct budget_share *ret_share)
{
    uint64_t bytes = share_of(budget, PAIRS);
    *ret_share = (struct budget_share){0};
    return deal(bytes - bytes / 4, budget->n_threads, thread_bytes, wanted_bytes, ret_share);
}

unsigned budget_threads(const struct budget *budget, uint64_t thread_bytes)
{
    uint64_t n = budget->rest_bytes / (thread_bytes + THREAD_BYTES);
    return n < 1 ? 1 : (unsigned)least_of(n, budget->n_threads);
}
