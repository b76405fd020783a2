/* Measured, 1,000,000 planted documents: see docs/BENCHMARKS.md. What limits it are the lists of a
 * text that many documents begin with, all of whose pairs fail: sketches of one list are therefore
 * read once, before they are compared. */
#include "engine/cluster/links.h"

#include <errno.h>

#include "engine/cluster/parallel.h"
#include "engine/cluster/refused_pairs.h"

enum { AHEAD = 8 };

/* The sketches of a list. */
struct held {
    struct min_sketch *sketches;    /* of the first ones; n_values 0: not read yet */
    struct overlap_filter *filters; /* of these */
    uint32_t *roots;                /* of all; may be those of a while ago */
    size_t room, filters_room, roots_room;
    uint8_t *bytes; /* what of them is read from the file */
    size_t n_bytes;
    uint8_t *one, *other; /* for two that are not held */
    size_t one_bytes, other_bytes;
};

struct linker {
    const struct linking *linking;
    overlap_scan_fn *scan;
    const struct refused_pairs *refused;
    struct held held;
    struct key_partition partition;
    struct link_counts counts;
};

struct link_run {
    const struct linking *linking;
    struct refused_pairs refused;
    struct link_counts counts; /* under the mutex */
    pthread_mutex_t mutex;
    uint32_t next;
};

static void linker_done(struct linker *linker)
{
    struct held *held = &linker->held;
    key_partition_done(&linker->partition);
    free(held->sketches);
    free(held->filters);
    free(held->roots);
    free(held->bytes);
    free(held->one);
    free(held->other);
}

/* Room for so many, of what is forgotten. */
static void *renew(void *array, size_t *room, size_t wanted, size_t each)
{
    if (*room >= wanted)
        return array;
    free(array);
    *room = wanted + wanted / 4;
    array = malloc(*room * each);
    if (!array)
        *room = 0;
    return array;
}

static int begin_list(struct held *held, size_t n, size_t n_held)
{
    held->roots = renew(held->roots, &held->roots_room, n, sizeof(*held->roots));
    held->sketches = renew(held->sketches, &held->room, n_held, sizeof(*held->sketches));
    held->filters = renew(held->filters, &held->filters_room, n_held, sizeof(*held->filters));
    if (!held->roots || !held->sketches || !held->filters)
        return -ENOMEM;
    for (size_t i = 0; i < n_held; i++)
        held->sketches[i].n_values = 0;
    held->n_bytes = 0;
    return 0;
}

/* The sketch of a document of the list; kept for the next time when it is of the first n_held and
 * there is room, else until the next call with the same `spare`. */
static int get(struct linker *linker, size_t i, size_t n_held, uint8_t **spare, size_t *spare_bytes,
               struct min_sketch *ret_sketch)
{
    struct held *held = &linker->held;
    const struct linking *linking = linker->linking;
    if (i < n_held && held->sketches[i].n_values) {
        *ret_sketch = held->sketches[i];
        return 0;
    }
    uint32_t document = linker->partition.list[i];
    size_t size = sketch_file_bytes(linking->sketches, document);
    bool keep = i < n_held && held->n_bytes + size <= linking->room_bytes;
    uint8_t *room = held->bytes + held->n_bytes;
    if (!keep) {
        *spare = renew(*spare, spare_bytes, size, 1);
        if (!*spare)
            return -ENOMEM;
        room = *spare;
    }
    int r = sketch_file_read(linking->sketches, document, room, ret_sketch);
    if (r < 0 || !keep)
        return r;
    held->sketches[i] = *ret_sketch;
    if (!sketch_file_in_memory(linking->sketches, document))
        held->n_bytes += size;
    return 0;
}

/* All that had one of two roots, of the first n, have the new one. */
static void merge_roots(uint32_t *roots, size_t n, uint32_t a, uint32_t b, uint32_t root)
{
    for (size_t i = 0; i < n; i++)
        roots[i] = roots[i] == a || roots[i] == b ? root : roots[i];
}

/* Compare two documents of the list, and join them. a: the sketch of the first; n_values 0: it is
 * not read yet. */
static int compare(struct linker *linker, struct min_sketch *a, size_t i, size_t j, size_t n_held,
                   size_t n)
{
    const struct linking *linking = linker->linking;
    struct held *held = &linker->held;
    const uint32_t *list = linker->partition.list;
    struct min_sketch b;
    struct estimate estimate;
    int r = 0;
    if (refused_pairs_has(linker->refused, list[i], list[j]))
        return 0;
    if (a->n_values == 0)
        r = get(linker, i, n_held, &held->one, &held->one_bytes, a);
    if (r == 0)
        r = get(linker, j, n_held, &held->other, &held->other_bytes, &b);
    if (r < 0)
        return r;
    linker->counts.n_compared++;
    if (min_sketch_reaches(a, &b, linking->threshold, &estimate) != 1) {
        refused_pairs_add(linker->refused, list[i], list[j]);
        return 0;
    }
    linker->counts.n_joined += (uint64_t)union_find_join(linking->sets, list[i], list[j]);
    merge_roots(held->roots, n, held->roots[i], held->roots[j],
                union_find_root(linking->sets, list[i]));
    return 0;
}

/* Compare document i of the list with those before it that are held, or the representatives. */
static int link_one(struct linker *linker, size_t i, size_t n, size_t n_held)
{
    const struct linking *linking = linker->linking;
    struct held *held = &linker->held;
    size_t n_before = i < n_held ? i : n_held;
    struct overlap_filter filter;
    struct min_sketch a = {0};
    int r = sketch_file_filter(linking->sketches, linker->partition.list[i], &filter);
    for (size_t j = 0; r == 0; j++) {
        j = linker->scan(&filter, held->roots[i], held->filters, held->roots, j, n_before,
                         linking->sketches->s, linking->threshold, &linker->counts.n_candidates);
        if (j == n_before)
            break;
        r = compare(linker, &a, i, j, n_held, n);
    }
    if (i < n_held)
        held->filters[i] = filter;
    return r;
}

/* Of super shingles: who has one in common is of one cluster. */
static void join_list(struct linker *linker, size_t n)
{
    const uint32_t *list = linker->partition.list;
    for (size_t i = 1; i < n; i++)
        linker->counts.n_joined +=
            (uint64_t)union_find_join(linker->linking->sets, list[0], list[i]);
}

static int link_list(struct linker *linker, size_t n)
{
    const struct linking *linking = linker->linking;
    const uint32_t *list = linker->partition.list;
    struct link_counts *counts = &linker->counts;
    uint32_t first = union_find_root(linking->sets, list[0]);
    size_t i = 1;
    counts->n_lists++;
    if (n > counts->longest)
        counts->longest = n;
    if (!linking->sketches) {
        join_list(linker, n);
        return 0;
    }
    while (i < n && union_find_root(linking->sets, list[i]) == first)
        i++;
    if (i == n)
        return 0;

    size_t n_held = n;
    if (n > linking->most_compared && n > linking->n_representatives) {
        n_held = linking->n_representatives;
        counts->n_shortened++;
    }
    int r = begin_list(&linker->held, n, n_held);
    for (i = 0; r == 0 && i < n; i++)
        linker->held.roots[i] = union_find_root(linking->sets, list[i]);
    for (i = 0; r == 0 && i < n; i++) {
        if (i + AHEAD < n)
            sketch_file_prefetch_filter(linking->sketches, list[i + AHEAD]);
        r = link_one(linker, i, n, n_held);
    }
    return r;
}

static int link_partition(struct linker *linker, uint32_t number)
{
    const struct linking *linking = linker->linking;
    double begin_s = parallel_cpu_s();
    int r = key_partition_load(&linker->partition, linking->keys, number, linking->number_bits);
    linker->counts.n_postings += linker->partition.n;
    linker->counts.sort_cpu_s += parallel_cpu_s() - begin_s;
    for (size_t n; r == 0 && (n = key_partition_next(&linker->partition, linking->nodes)) > 0;)
        r = link_list(linker, n);
    return r;
}

static void add_counts(struct link_run *run, const struct link_counts *counts)
{
    LOCKED(&run->mutex);
    run->counts.n_postings += counts->n_postings;
    run->counts.n_lists += counts->n_lists;
    run->counts.n_shortened += counts->n_shortened;
    run->counts.n_candidates += counts->n_candidates;
    run->counts.n_compared += counts->n_compared;
    run->counts.n_joined += counts->n_joined;
    run->counts.sort_cpu_s += counts->sort_cpu_s;
    if (counts->longest > run->counts.longest)
        run->counts.longest = counts->longest;
}

static int link_partitions(void *user, unsigned thread, const bool *stop)
{
    struct link_run *run = user;
    const struct linking *linking = run->linking;
    _cleanup_(linker_done) struct linker linker = {
        .linking = linking, .scan = overlap_scan_of(kernel_in_use()), .refused = &run->refused};
    linker.held.bytes = malloc(linking->room_bytes ? linking->room_bytes : 1);
    if (!linker.held.bytes)
        return -ENOMEM;
    int r = 0;
    for (uint32_t i; r == 0 && !parallel_stopped(stop) && !parallel_told(linking->stop) &&
                     (i = parallel_next(&run->next)) < KEY_PARTITIONS;) {
        r = link_partition(&linker, i);
        if (thread == 0 && linking->progress)
            linking->progress(linking->user, i + 1, KEY_PARTITIONS);
    }
    add_counts(run, &linker.counts);
    return r;
}

int links_join(const struct linking *linking, struct link_counts *ret_counts, double *cpu_s)
{
    struct link_run run = {.linking = linking, .mutex = PTHREAD_MUTEX_INITIALIZER};
    int r = refused_pairs_init(linking->sketches ? linking->refused_bytes : 0, &run.refused);
    if (r == 0)
        r = parallel_run(linking->n_threads, link_partitions, &run, cpu_s);
    refused_pairs_done(&run.refused);
    if (r == 0)
        *ret_counts = run.counts;
    return r;
}
