/* A pair is one number, smaller document above the larger one, so that sorting numbers sorts pairs
 * by their first document (section 4: "sorted by the first ID"); its count is how often it is
 * there.
 *
 *    | 64 - 2b bits: 0 | b bits: the smaller | b bits: the larger |     b <= 32
 */
#include "engine/cluster/pair_counts.h"

#include <errno.h>

#include "base/clock.h"
#include "engine/cluster/parallel.h"
#include "engine/cluster/sort_numbers.h"

struct pair_run {
    const struct pairing *pairing;
    pthread_mutex_t mutex;
    struct pair_totals totals; /* under the mutex */
    uint32_t next;
};

/* -- lists to pairs -- */

struct expander {
    const struct pairing *pairing;
    struct key_partition partition;
    struct spill_writer writer;
    struct pair_totals totals;
};

static void expander_done(struct expander *expander)
{
    key_partition_done(&expander->partition);
    spill_writer_done(&expander->writer);
}

static int expand_list(struct expander *expander, size_t n)
{
    const struct pairing *pairing = expander->pairing;
    const uint32_t *list = expander->partition.list;
    struct list_counts *counts = &expander->totals.counts;
    unsigned bits = pairing->number_bits;
    list_counts_note(counts, n);
    if (n > pairing->cap) {
        counts->n_left_out++;
        counts->n_postings_left_out += n;
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            uint64_t pair = (uint64_t)list[i] << bits | list[j];
            int r = spill_add(&expander->writer, list[i] >> (bits - PAIR_PARTITION_BITS), &pair);
            if (r < 0)
                return r;
        }
    }
    counts->n_pairs += n * (n - 1) / 2;
    return 0;
}

static int expand_partition(struct expander *expander, uint32_t number)
{
    const struct pairing *pairing = expander->pairing;
    double begin_s = parallel_cpu_s();
    int r = key_partition_load(&expander->partition, pairing->keys, number, pairing->number_bits);
    expander->totals.counts.n_postings += expander->partition.n;
    double sorted_s = parallel_cpu_s();
    expander->totals.sort_cpu_s += sorted_s - begin_s;
    for (size_t n; r == 0 && (n = key_partition_next(&expander->partition, pairing->nodes)) > 0;)
        r = expand_list(expander, n);
    expander->totals.expand_cpu_s += parallel_cpu_s() - sorted_s;
    return r;
}

static void add_totals(struct pair_run *run, const struct pair_totals *totals)
{
    LOCKED(&run->mutex);
    list_counts_add(&run->totals.counts, &totals->counts);
    run->totals.sort_cpu_s += totals->sort_cpu_s;
    run->totals.expand_cpu_s += totals->expand_cpu_s;
}

static int expand_partitions(void *user, unsigned thread, const bool *stop)
{
    struct pair_run *run = user;
    const struct pairing *pairing = run->pairing;
    _cleanup_(expander_done) struct expander expander = {.pairing = pairing};
    int r = spill_writer_init(pairing->pairs, &expander.writer);
    for (uint32_t i; r == 0 && !parallel_stopped(stop) && !parallel_told(pairing->stop) &&
                     (i = parallel_next(&run->next)) < KEY_PARTITIONS;) {
        r = expand_partition(&expander, i);
        if (thread == 0 && pairing->progress)
            pairing->progress(pairing->user, i + 1, KEY_PARTITIONS + PAIR_PARTITIONS);
    }
    if (r == 0)
        r = spill_writer_flush(&expander.writer);
    add_totals(run, &expander.totals);
    return r;
}

/* -- pairs to counts, counts to clusters -- */

struct merger {
    const struct pairing *pairing;
    uint64_t *pairs; /* and as many to sort with */
    size_t room;
    struct pair_writer counted;
    struct pair_totals totals;
};

static void merger_done(struct merger *merger)
{
    free(merger->pairs);
    pair_writer_done(&merger->counted);
}

static uint32_t count_below(const struct min_sketch *sketch, uint64_t below)
{
    uint32_t n = 0;
    while (n < sketch->n_values && sketch->values[n] <= below - 1)
        n++;
    return n;
}

/* |V| of both at the longer one's modulus (section 3), where they have not the same. */
static int sizes_at_one_modulus(const struct pairing *pairing, const uint32_t documents[2],
                                uint32_t ret_sizes[2])
{
    struct min_sketch sketches[2];
    _cleanup_free_ void *first = malloc(sketch_file_bytes(pairing->sketches, documents[0]));
    _cleanup_free_ void *second = malloc(sketch_file_bytes(pairing->sketches, documents[1]));
    if (!first || !second)
        return -ENOMEM;
    int r = sketch_file_read(pairing->sketches, documents[0], first, &sketches[0]);
    if (r == 0)
        r = sketch_file_read(pairing->sketches, documents[1], second, &sketches[1]);
    if (r < 0)
        return r;
    uint64_t below = sketches[0].v_below - 1 < sketches[1].v_below - 1 ? sketches[0].v_below
                                                                       : sketches[1].v_below;
    for (unsigned i = 0; i < 2; i++)
        ret_sizes[i] = count_below(&sketches[i], below);
    return 0;
}

static int take_pair(struct merger *merger, uint64_t pair, uint32_t count)
{
    const struct pairing *pairing = merger->pairing;
    unsigned bits = pairing->number_bits;
    uint32_t documents[2] = {(uint32_t)(pair >> bits),
                             (uint32_t)(pair & (((uint64_t)1 << bits) - 1))};
    uint32_t sizes[2] = {pairing->sizes[documents[0]], pairing->sizes[documents[1]]};
    merger->totals.counts.n_counted++;
    bool other_modulus = (sizes[0] | sizes[1]) & 1;
    for (unsigned i = 0; i < 2; i++)
        sizes[i] >>= 1;
    int r = other_modulus ? sizes_at_one_modulus(pairing, documents, sizes) : 0;
    if (r < 0)
        return r;
    const struct counted_pair counted = {documents[0], documents[1], count,
                                         sizes[0] + sizes[1] - count};
    if ((double)counted.both / counted.all >= pairing->threshold)
        union_find_join(pairing->sets, documents[0], documents[1]);
    return pairing->counted ? pair_writer_add(&merger->counted, &counted) : 0;
}

static int merge_partition(struct merger *merger, uint32_t number)
{
    struct spill *spill = merger->pairing->pairs;
    size_t n = spill_partition_count(spill, number);
    if (n > merger->room) {
        free(merger->pairs);
        merger->room = n + n / 8;
        merger->pairs = malloc(2 * merger->room * sizeof(uint64_t));
        if (!merger->pairs) {
            merger->room = 0;
            return -ENOMEM;
        }
    }
    int r = n ? spill_take(spill, number, merger->pairs) : 0;
    if (r == 0)
        sort_numbers(merger->pairs, n, merger->pairs + merger->room);
    for (size_t from = 0, i = 1; r == 0 && from < n; i++) {
        if (i < n && merger->pairs[i] == merger->pairs[from])
            continue;
        r = take_pair(merger, merger->pairs[from], (uint32_t)(i - from));
        from = i;
    }
    return r;
}

static int merge_partitions(void *user, unsigned thread, const bool *stop)
{
    struct pair_run *run = user;
    const struct pairing *pairing = run->pairing;
    _cleanup_(merger_done) struct merger merger = {.pairing = pairing,
                                                   .counted = {.pairs = pairing->counted}};
    int r = 0;
    for (uint32_t i; r == 0 && !parallel_stopped(stop) && !parallel_told(pairing->stop) &&
                     (i = parallel_next(&run->next)) < PAIR_PARTITIONS;) {
        r = merge_partition(&merger, i);
        if (thread == 0 && pairing->progress)
            pairing->progress(pairing->user, KEY_PARTITIONS + i + 1,
                              KEY_PARTITIONS + PAIR_PARTITIONS);
    }
    if (r == 0)
        r = pair_writer_flush(&merger.counted);
    add_totals(run, &merger.totals);
    return r;
}

int pairs_join(const struct pairing *pairing, struct pair_totals *ret_totals)
{
    struct pair_run run = {.pairing = pairing, .mutex = PTHREAD_MUTEX_INITIALIZER};
    double unused = 0, merge_cpu_s = 0;
    int64_t begin_us = clock_now_us();
    int r = parallel_run(pairing->n_threads, expand_partitions, &run, &unused);
    if (r < 0)
        return r;
    int64_t expanded_us = clock_now_us();
    spill_end(pairing->keys);
    run.next = 0;
    r = parallel_run(pairing->n_threads, merge_partitions, &run, &merge_cpu_s);
    if (r < 0)
        return r;
    run.totals.merge_cpu_s = merge_cpu_s;
    run.totals.expand_wall_s = (double)(expanded_us - begin_us) * 1e-6;
    run.totals.merge_wall_s = (double)(clock_now_us() - expanded_us) * 1e-6;
    *ret_totals = run.totals;
    return 0;
}
