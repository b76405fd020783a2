/* The linking threads take partitions of keys, go through the lists of each, and hand those that
 * need it to comparisons.c. links.h says why the clusters do not depend on the order.
 *
 * Example: in the list 1 2 3, the documents 1 and 2 are in one set. 3 is compared with 1; if they
 * resemble each other the two sets become one and 2 is not compared, else 3 is compared with 2.
 *
 * A list longer than most_compared has representatives, the documents of the smallest rank. Such a
 * list may come in pieces, as there is room for a piece only; its representatives are known at the
 * end of the last piece, so the partition is then gone through once more (link_split).
 *
 * Cost: a look at each posting, and for a list of n documents n^2/2 comparisons at worst, where no
 * two resemble each other; refused pairs are remembered, as two documents that share one
 * fingerprint often share more.
 *
 * Left out: ordering lists by length, so that most joins come first. It needs all lists at once.
 */
#include "engine/cluster/links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cluster/comparisons.h"
#include "engine/cluster/large_array.h"
#include "engine/cluster/parallel.h"

/* A document of a long list, and its place in the order of representatives. */
struct chosen {
    uint64_t rank;
    uint32_t document;
};

/* The representatives of a list that came in several pieces. They are known when the last piece has
 * been seen. */
struct split_list {
    uint64_t number; /* of the list in its partition */
    struct chosen *chosen;
    uint32_t n;
};

struct linker {
    const struct linking *linking;
    struct comparisons *comparisons; /* NULL: none */
    struct key_partition partition;
    struct link_totals totals;
    uint64_t n_lists;      /* of the partition, so far */
    struct chosen *chosen; /* of the list so far, by rank: n_representatives at most */
    uint32_t n_chosen;
    uint32_t *piece; /* representatives, and a piece of their list behind them */
    struct split_list *split;
    size_t n_split, at_split, most_split;
};

struct link_run {
    const struct linking *linking;
    struct refused_pairs refused;
    struct link_totals totals; /* under the mutex */
    pthread_mutex_t mutex;
    uint32_t next;
};

static size_t piece_bytes(const struct linking *linking)
{
    return (key_list_room(linking->most_held) + linking->n_representatives) * sizeof(uint32_t);
}

static void forget_split(struct linker *linker)
{
    for (size_t i = 0; i < linker->n_split; i++)
        free(linker->split[i].chosen);
    linker->n_split = linker->at_split = 0;
}

static void linker_done(struct linker *linker)
{
    key_partition_done(&linker->partition);
    forget_split(linker);
    free(linker->split);
    free(linker->chosen);
    large_array_free(linker->piece, piece_bytes(linker->linking));
    if (linker->comparisons)
        comparisons_done(linker->comparisons);
    free(linker->comparisons);
}

/* Documents that have a super shingle in common are of one cluster. */
static void join_list(struct linker *linker, size_t n)
{
    const uint32_t *list = linker->partition.list;
    for (size_t i = 1; i < n; i++)
        union_find_join(linker->linking->sets, list[0], list[i]);
}

/* -- representatives of a long list: those of the smallest rank -- */

static bool is_before(const struct chosen *a, const struct chosen *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->document < b->document;
}

static void choose(struct linker *linker, const struct chosen *next)
{
    const uint32_t most = linker->linking->n_representatives;
    uint32_t at = linker->n_chosen;
    if (at == most && !is_before(next, &linker->chosen[most - 1]))
        return;
    at -= at == most;
    for (; at > 0 && is_before(next, &linker->chosen[at - 1]); at--)
        linker->chosen[at] = linker->chosen[at - 1];
    linker->chosen[at] = *next;
    linker->n_chosen += linker->n_chosen < most;
}

/* The documents of a list, or of a further piece of it, may become representatives. */
static int choose_some(struct linker *linker, const uint32_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct overlap_filter filter;
        int r = sketch_file_filter(linker->linking->sketches, list[i], &filter);
        if (r < 0)
            return r;
        choose(linker, &(struct chosen){overlap_filter_rank(&filter), list[i]});
    }
    return 0;
}

static bool is_chosen(const struct chosen *chosen, uint32_t n, uint32_t document)
{
    while (n > 0 && chosen[n - 1].document != document)
        n--;
    return n > 0;
}

/* All documents of a long list, or of a piece of it, are compared with its representatives, which
 * stand in front of them. */
static int compare_with(struct linker *linker, const struct chosen *chosen, uint32_t n_chosen,
                        size_t n)
{
    const uint32_t *list = linker->partition.list;
    size_t n_piece = 0;
    for (uint32_t i = 0; i < n_chosen; i++)
        linker->piece[n_piece++] = chosen[i].document;
    for (size_t i = 0; i < n; i++)
        if (!is_chosen(chosen, n_chosen, list[i]))
            linker->piece[n_piece++] = list[i];
    return comparisons_add(linker->comparisons, linker->piece, n_piece, n_chosen);
}

/* The representatives of a list in pieces are kept for the second way through the partition. */
static int keep_split(struct linker *linker)
{
    if (linker->n_split == linker->most_split) {
        size_t most = linker->most_split ? 2 * linker->most_split : 4;
        struct split_list *larger = reallocarray(linker->split, most, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        linker->split = larger;
        linker->most_split = most;
    }
    struct chosen *chosen = malloc(linker->n_chosen * sizeof(*chosen));
    if (!chosen)
        return -ENOMEM;
    memcpy(chosen, linker->chosen, linker->n_chosen * sizeof(*chosen));
    linker->split[linker->n_split++] =
        (struct split_list){linker->n_lists, chosen, linker->n_chosen};
    return 0;
}

static int link_long_list(struct linker *linker, size_t n)
{
    const struct key_partition *partition = &linker->partition;
    const bool is_first = partition->n_before == 0;
    if (is_first)
        linker->n_chosen = 0;
    int r = choose_some(linker, partition->list, n);
    if (r < 0 || partition->more)
        return r;
    linker->totals.counts.n_shortened++;
    return is_first ? compare_with(linker, linker->chosen, linker->n_chosen, n)
                    : keep_split(linker);
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

/* The first way through a partition: a list, or a piece of one. */
static int link_list(struct linker *linker, size_t n)
{
    const struct linking *linking = linker->linking;
    const struct key_partition *partition = &linker->partition;
    const bool is_long = partition->n_documents > linking->most_compared || partition->more;
    if (!partition->more)
        list_counts_note(&linker->totals.counts, partition->n_documents);
    if (!linking->sketches) {
        join_list(linker, n);
        return 0;
    }
    if (!partition->more && partition->n_before == 0 && is_one_set(linking, partition->list, n))
        return 0;
    return is_long ? link_long_list(linker, n)
                   : comparisons_add(linker->comparisons, partition->list, n, n);
}

/* The second way through a partition: a list that came in pieces comes again, now that its
 * representatives are known. */
static int link_split(struct linker *linker, size_t n)
{
    if (linker->at_split == linker->n_split ||
        linker->split[linker->at_split].number != linker->n_lists)
        return 0;
    const struct split_list *split = &linker->split[linker->at_split];
    linker->at_split += !linker->partition.more;
    return compare_with(linker, split->chosen, split->n, n);
}

static int go_through(struct linker *linker, uint32_t number,
                      int (*link)(struct linker *linker, size_t n))
{
    const double begin_s = parallel_cpu_s();
    int64_t n = 0;
    int r = key_partition_begin(&linker->partition, number);
    linker->totals.sort_cpu_s += parallel_cpu_s() - begin_s;
    linker->n_lists = 0;
    while (r == 0 && (n = key_partition_next(&linker->partition, linker->linking->nodes)) > 0) {
        r = link(linker, (size_t)n);
        linker->n_lists += !linker->partition.more;
    }
    return n < 0 ? (int)n : r;
}

static int link_partition(struct linker *linker, uint32_t number)
{
    linker->totals.counts.n_postings += spill_partition_count(linker->linking->keys, number);
    int r = go_through(linker, number, link_list);
    if (r == 0 && linker->n_split)
        r = go_through(linker, number, link_split);
    forget_split(linker);
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
    return 2 * key_list_room(most_held) * sizeof(uint32_t) +
           comparisons_bytes(most_held, longest_sketch_bytes);
}

static int make_partition(const struct linking *linking, struct key_partition *ret_partition)
{
    _cleanup_(sorted_partition_done) struct sorted_partition sorted = {0};
    int r = sorted_partition_init(&sorting_numbers, linking->keys, linking->runs,
                                  linking->room_bytes, &sorted);
    return r < 0 ? r
                 : key_partition_init(&sorted, linking->number_bits,
                                      key_list_room(linking->most_held), 0, ret_partition);
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
        linker.chosen = calloc(linking->n_representatives, sizeof(*linker.chosen));
        linker.piece = large_array_new(piece_bytes(linking));
        if (!linker.chosen || !linker.piece)
            r = -ENOMEM;
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
