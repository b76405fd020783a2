/* The linking threads take partitions of keys, go through the lists of each, and hand those that
 * need it to comparisons.c. links.h says why the clusters do not depend on the order.
 *
 * Example: in the list 1 2 3, the documents 1 and 2 are in one set. 3 is compared with 1; if they
 * resemble each other the two sets become one and 2 is not compared, else 3 is compared with 2.
 *
 * A list longer than most_compared has heads, its first documents. Such a list may come in pieces,
 * as there is room for a piece only; its heads stand in front of each piece.
 *
 * Cost: a look at each posting, and for a list of n documents n^2/2 comparisons at worst, where no
 * two resemble each other; refused pairs are remembered, as two documents that share one
 * fingerprint often share more.
 *
 * Left out: ordering lists by length, so that most joins come first. It needs all lists at once.
 */
#include "engine/cluster/pairs/links.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/cluster/pairs/comparisons.h"
#include "engine/cluster/large/parallel.h"

struct linker {
    const struct linking *linking;
    struct comparisons *comparisons; /* NULL: none */
    struct spill_writer pairs;       /* of zeroes: documents are joined */
    struct key_partition partition;
    struct link_totals totals;
};

struct link_run {
    const struct linking *linking;
    struct refused_pairs refused;
    struct link_totals totals; /* under the mutex */
    pthread_mutex_t mutex;
    uint32_t next;
};

static void linker_done(struct linker *linker)
{
    key_partition_done(&linker->partition);
    if (linker->comparisons)
        comparisons_done(linker->comparisons);
    free(linker->comparisons);
    spill_writer_done(&linker->pairs);
}

/* Documents that have a super shingle in common are of one cluster. */
static void join_list(struct linker *linker, size_t n)
{
    const uint32_t *list = linker->partition.list;
    for (size_t i = 1; i < n; i++)
        union_find_join(linker->linking->sets, list[0], list[i]);
}

/* -- lists -- */

static bool is_one_set(const struct linking *linking, const uint32_t *list, size_t n)
{
    const uint32_t first = union_find_root(linking->sets, list[0]);
    size_t i = 1;
    while (i < n && union_find_root(linking->sets, list[i]) == first)
        i++;
    return i == n;
}

/* A list, or a piece of a long one. */
static int link_list(struct linker *linker, size_t n)
{
    const struct linking *linking = linker->linking;
    const struct key_partition *partition = &linker->partition;
    const bool is_long = partition->n_documents > linking->most_compared || partition->more;
    const size_t most_held = is_long ? linking->n_heads : n;
    if (!partition->more)
        list_counts_note(&linker->totals.counts, partition->n_documents);
    if (!linking->sketches) {
        join_list(linker, n);
        return 0;
    }
    linker->totals.counts.n_shortened += is_long && !partition->more;
    if (is_one_set(linking, partition->list, n))
        return 0;
    return comparisons_add(linker->comparisons, partition->list, n, n < most_held ? n : most_held);
}

static int link_partition(struct linker *linker, uint32_t number)
{
    const uint64_t n_postings = spill_partition_count(linker->linking->keys, number);
    if (n_postings == 0) /* most, of few documents: to ask for the time would be all that is done */
        return 0;
    const double begin_s = parallel_cpu_s();
    int64_t n = 0;
    linker->totals.counts.n_postings += n_postings;
    int r = key_partition_begin(&linker->partition, number);
    linker->totals.sort_cpu_s += parallel_cpu_s() - begin_s;
    while (r == 0 && (n = key_partition_next(&linker->partition, linker->linking->nodes)) > 0)
        r = link_list(linker, (size_t)n);
    if (n < 0)
        return (int)n;
    return r == 0 && linker->comparisons ? comparisons_flush(linker->comparisons) : r;
}

static void add_totals(struct link_run *run, const struct link_totals *totals)
{
    LOCKED(&run->mutex);
    list_counts_add(&run->totals.counts, &totals->counts);
    run->totals.sort_cpu_s += totals->sort_cpu_s;
}

uint64_t links_thread_bytes(uint32_t most_held, size_t longest_sketch_bytes)
{
    return key_list_room(most_held) * sizeof(uint32_t) +
           comparisons_bytes(most_held, longest_sketch_bytes);
}

static int make_partition(const struct linking *linking, struct key_partition *ret_partition)
{
    _cleanup_(sorted_partition_done) struct sorted_partition sorted = {0};
    int r = sorted_partition_init(&sorting_numbers, linking->keys, linking->runs,
                                  linking->room_bytes, &sorted);
    return r < 0 ? r
                 : key_partition_init(&sorted, linking->number_bits,
                                      key_list_room(linking->most_held), linking->n_heads,
                                      ret_partition);
}

static int link_partitions(void *user, unsigned thread, const bool *stop)
{
    struct link_run *run = user;
    const struct linking *linking = run->linking;
    _cleanup_(linker_done) struct linker linker = {.linking = linking};
    int r = make_partition(linking, &linker.partition);
    if (r == 0 && linking->pairs)
        r = spill_writer_init(linking->pairs, &linker.pairs);
    if (r == 0 && linking->sketches) {
        linker.comparisons = malloc(sizeof(*linker.comparisons));
        if (!linker.comparisons)
            return -ENOMEM;
        r = comparisons_init(linking, &run->refused, &linker.totals.counts, linker.comparisons);
        linker.comparisons->pairs = linking->pairs ? &linker.pairs : NULL;
    }
    for (uint32_t i; r == 0 && !parallel_stopped(stop) && !parallel_told(linking->stop) &&
                     (i = parallel_next(&run->next)) < KEY_PARTITIONS;) {
        r = link_partition(&linker, i);
        if (thread == 0 && linking->progress)
            linking->progress(linking->user, i + 1, KEY_PARTITIONS);
    }
    if (r == 0 && linking->pairs)
        r = spill_writer_flush(&linker.pairs);
    add_totals(run, &linker.totals);
    return r;
}

int links_join(const struct linking *linking, struct link_totals *ret_totals, double *cpu_s)
{
    struct link_run run = {.linking = linking, .mutex = PTHREAD_MUTEX_INITIALIZER};
    int r = refused_pairs_init(linking->sketches ? linking->refused_bytes : 0, &run.refused);
    if (r == 0)
        r = parallel_run(linking->n_threads, link_partitions, &run, cpu_s);
    refused_pairs_done(&run.refused);
    if (r == 0)
        *ret_totals = run.totals;
    return r;
}
