/* Counting of pairs: each list is expanded to all its pairs, the pairs are sorted, and the count of
 * a pair is how often it is there: the number of fingerprints that the two documents share.
 *
 * Example: the lists 1 2 3 and 1 3 expand to 1-2, 1-3, 2-3 and 1-3. Sorted, 1-3 is there twice;
 * with |V| = 4 for each document its resemblance is 2 / (4 + 4 - 2) = 1/3.
 *
 * A pair is one number, smaller document above the larger one, so that sorting numbers sorts pairs
 * by their first document (section 4: "sorted by the first ID"):
 *
 *    | 64 - 2b bits: 0 | b bits: the smaller | b bits: the larger |     b <= 32
 *
 * Cost: 8 bytes a pair and n^2/2 pairs a list of n, which is why lists longer than the cap are left
 * out. links.c needs neither. This file is there to repeat the paper's experiment, and leaves out
 * nothing of it.
 */
#include "engine/cluster/pairs/pair_counts.h"

#include <errno.h>

#include "base/clock.h"
#include "engine/cluster/large/large_array.h"
#include "engine/cluster/large/parallel.h"

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

/* A list is expanded, unless it is longer than the cap. A list that comes in pieces always is. */
static int expand_list(struct expander *expander, size_t n)
{
    const struct pairing *pairing = expander->pairing;
    const struct key_partition *partition = &expander->partition;
    const uint32_t *list = partition->list;
    struct list_counts *counts = &expander->totals.counts;
    unsigned bits = pairing->number_bits;
    if (partition->more)
        return 0;
    list_counts_note(counts, partition->n_documents);
    if (partition->n_documents > pairing->cap) {
        counts->n_left_out++;
        counts->n_postings_left_out += partition->n_documents;
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
    const uint64_t n_postings = spill_partition_count(pairing->keys, number);
    if (n_postings == 0) /* most, of few documents: to ask for the time would be all that is done */
        return 0;
    double begin_s = parallel_cpu_s();
    expander->totals.counts.n_postings += n_postings;
    int r = key_partition_begin(&expander->partition, number);
    double sorted_s = parallel_cpu_s();
    expander->totals.sort_cpu_s += sorted_s - begin_s;
    int64_t n = 0;
    while (r == 0 && (n = key_partition_next(&expander->partition, pairing->nodes)) > 0)
        r = expand_list(expander, (size_t)n);
    expander->totals.expand_cpu_s += parallel_cpu_s() - sorted_s;
    return n < 0 ? (int)n : r;
}

static void add_totals(struct pair_run *run, const struct pair_totals *totals)
{
    LOCKED(&run->mutex);
    list_counts_add(&run->totals.counts, &totals->counts);
    run->totals.sort_cpu_s += totals->sort_cpu_s;
    run->totals.expand_cpu_s += totals->expand_cpu_s;
}

uint64_t pairs_expand_bytes(uint32_t cap)
{
    return key_list_room(cap) * sizeof(uint32_t);
}

static int make_partition(const struct pairing *pairing, struct key_partition *ret_partition)
{
    _cleanup_(sorted_partition_done) struct sorted_partition sorted = {0};
    int r = sorted_partition_init(&sorting_numbers, pairing->keys, pairing->runs,
                                  pairing->room_bytes, &sorted);
    return r < 0 ? r
                 : key_partition_init(&sorted, pairing->number_bits, key_list_room(pairing->cap), 0,
                                      ret_partition);
}

static int expand_partitions(void *user, unsigned thread, const bool *stop)
{
    struct pair_run *run = user;
    const struct pairing *pairing = run->pairing;
    _cleanup_(expander_done) struct expander expander = {.pairing = pairing};
    int r = spill_writer_init(pairing->pairs, &expander.writer);
    if (r == 0)
        r = make_partition(pairing, &expander.partition);
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
    struct sorted_partition pairs;
    uint8_t *sketches[2];
    size_t sketch_bytes;
    struct pair_writer counted;
    struct pair_totals totals;
};

static void merger_done(struct merger *merger)
{
    sorted_partition_done(&merger->pairs);
    for (unsigned i = 0; i < 2; i++)
        large_array_free(merger->sketches[i], merger->sketch_bytes);
    pair_writer_done(&merger->counted);
}

static uint32_t count_below(const struct min_sketch *sketch, uint64_t below)
{
    uint32_t n = 0;
    while (n < sketch->n_values && sketch->values[n] <= below - 1)
        n++;
    return n;
}

/* |V| of both documents at the modulus of the longer one (section 3), where the moduli differ. */
static int sizes_at_one_modulus(const struct merger *merger, const uint32_t documents[2],
                                uint32_t ret_sizes[2])
{
    struct min_sketch sketches[2];
    for (unsigned i = 0; i < 2; i++) {
        int r = sketch_file_read(merger->pairing->sketches, documents[i], merger->sketches[i],
                                 &sketches[i]);
        if (r < 0)
            return r;
    }
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
    int r = other_modulus ? sizes_at_one_modulus(merger, documents, sizes) : 0;
    if (r < 0)
        return r;
    const struct counted_pair counted = {documents[0], documents[1], count,
                                         sizes[0] + sizes[1] - count};
    if ((double)counted.both / counted.all >= pairing->threshold)
        union_find_join(pairing->sets, documents[0], documents[1]);
    return pairing->counted ? pair_writer_add(&merger->counted, &counted) : 0;
}

/* Equal pairs stand one behind the other and are counted, also across the end of a window. */
static int merge_partition(struct merger *merger, uint32_t number)
{
    const void *records;
    uint64_t pair = 0, count = 0;
    int64_t n;
    int r = 0;
    sorted_partition_begin(&merger->pairs, number);
    while (r == 0 && (n = sorted_partition_next(&merger->pairs, &records)) > 0) {
        const uint64_t *pairs = records;
        for (int64_t i = 0; r == 0 && i < n; i++, count++) {
            if (count && pairs[i] != pair) {
                r = take_pair(merger, pair, (uint32_t)count);
                count = 0;
            }
            pair = pairs[i];
        }
    }
    if (r == 0 && n < 0)
        return (int)n;
    return r == 0 && count ? take_pair(merger, pair, (uint32_t)count) : r;
}

uint64_t pairs_merge_bytes(size_t longest_sketch_bytes)
{
    return 2 * (uint64_t)longest_sketch_bytes + PAIR_WRITER_BYTES;
}

static int make_merger(const struct pairing *pairing, struct merger *merger)
{
    merger->pairing = pairing;
    merger->counted.pairs = pairing->counted;
    merger->sketch_bytes = sketch_file_longest_bytes(pairing->sketches);
    for (unsigned i = 0; i < 2; i++)
        merger->sketches[i] = large_array_new(merger->sketch_bytes);
    if (!merger->sketches[0] || !merger->sketches[1])
        return -ENOMEM;
    return sorted_partition_init(&sorting_numbers, pairing->pairs, pairing->runs,
                                 pairing->room_bytes, &merger->pairs);
}

static int merge_partitions(void *user, unsigned thread, const bool *stop)
{
    struct pair_run *run = user;
    const struct pairing *pairing = run->pairing;
    _cleanup_(merger_done) struct merger merger = {0};
    int r = make_merger(pairing, &merger);
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

int pairs_expand(const struct pairing *pairing, struct pair_totals *totals)
{
    struct pair_run run = {
        .pairing = pairing, .mutex = PTHREAD_MUTEX_INITIALIZER, .totals = *totals};
    double unused = 0;
    int64_t begin_us = clock_now_us();
    int r = parallel_run(pairing->n_threads, expand_partitions, &run, &unused);
    *totals = run.totals;
    totals->expand_wall_s = (double)(clock_now_us() - begin_us) * 1e-6;
    return r;
}

int pairs_merge(const struct pairing *pairing, struct pair_totals *totals)
{
    struct pair_run run = {
        .pairing = pairing, .mutex = PTHREAD_MUTEX_INITIALIZER, .totals = *totals};
    double merge_cpu_s = 0;
    int64_t begin_us = clock_now_us();
    int r = parallel_run(pairing->n_threads, merge_partitions, &run, &merge_cpu_s);
    *totals = run.totals;
    totals->merge_cpu_s = merge_cpu_s;
    totals->merge_wall_s = (double)(clock_now_us() - begin_us) * 1e-6;
    return r;
}
