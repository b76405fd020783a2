#include "engine/cluster/links.h"

#include <errno.h>

#include "engine/cluster/comparisons.h"
#include "engine/cluster/parallel.h"

struct linker {
    const struct linking *linking;
    struct comparisons *comparisons; /* NULL: none */
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
}

/* Of super shingles: who has one in common is of one cluster. */
static void join_list(struct linker *linker, size_t n)
{
    const uint32_t *list = linker->partition.list;
    for (size_t i = 1; i < n; i++)
        union_find_join(linker->linking->sets, list[0], list[i]);
}

/* A list, or a piece of one that is so long that all are compared with representatives, which stand
 * before each piece. */
static int link_list(struct linker *linker, size_t n)
{
    const struct linking *linking = linker->linking;
    const struct key_partition *partition = &linker->partition;
    const uint32_t *list = partition->list;
    uint32_t first = union_find_root(linking->sets, list[0]);
    size_t i = 1;
    if (!partition->more)
        list_counts_note(&linker->totals.counts, partition->n_documents);
    if (!linking->sketches) {
        join_list(linker, n);
        return 0;
    }
    while (i < n && union_find_root(linking->sets, list[i]) == first)
        i++;
    if (i == n)
        return 0;

    size_t n_held = n;
    if (partition->n_documents > linking->most_held) {
        n_held = linking->n_representatives;
        linker->totals.counts.n_shortened += partition->n_before == 0;
    }
    return comparisons_add(linker->comparisons, list, n, n_held);
}

static int link_partition(struct linker *linker, uint32_t number)
{
    const struct linking *linking = linker->linking;
    double begin_s = parallel_cpu_s();
    linker->totals.counts.n_postings += spill_partition_count(linking->keys, number);
    int r = key_partition_begin(&linker->partition, number);
    linker->totals.sort_cpu_s += parallel_cpu_s() - begin_s;
    int64_t n = 0;
    while (r == 0 && (n = key_partition_next(&linker->partition, linking->nodes)) > 0)
        r = link_list(linker, (size_t)n);
    r = n < 0 ? (int)n : r;
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
                                      key_list_room(linking->most_held), linking->n_representatives,
                                      ret_partition);
}

static int link_partitions(void *user, unsigned thread, const bool *stop)
{
    struct link_run *run = user;
    const struct linking *linking = run->linking;
    _cleanup_(linker_done) struct linker linker = {.linking = linking};
    int r = 0;
    r = make_partition(linking, &linker.partition);
    if (r == 0 && linking->sketches) {
        linker.comparisons = malloc(sizeof(*linker.comparisons));
        if (!linker.comparisons)
            return -ENOMEM;
        r = comparisons_init(linking, &run->refused, &linker.totals.counts, linker.comparisons);
    }
    for (uint32_t i; r == 0 && !parallel_stopped(stop) && !parallel_told(linking->stop) &&
                     (i = parallel_next(&run->next)) < KEY_PARTITIONS;) {
        r = link_partition(&linker, i);
        if (thread == 0 && linking->progress)
            linking->progress(linking->user, i + 1, KEY_PARTITIONS);
    }
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
