/* A thread takes a draw, deals the numbers of all nodes (draws.h) to parts by their first bits, and
 * sorts one part after the other; nodes with the same upper bits are then in a row, and each is
 * paired with those before it, but with the first `heads` of them alone.
 *
 * Example with two heads: the nodes 3 5 8 9 agree in a draw. 5 is paired with 3, 8 with 3 and 5, 9
 * with 3 and 5. If 3 is a head in the first draw, and 8 agrees with it there, that has paired them,
 * and no other draw does. So copies are paired once, as
 * far as their heads are heads there, and not in each draw.
 *
 * So of a row no more than its heads is ever in memory, and it may come in pieces, as it does when
 * it is longer than the room (sorted_partition.h).
 *
 * Cost: for each node and draw some 3 ns to make the number and 40 ns to sort it; 8 bytes a node
 * and thread, in a file where there is no memory for them, and 4 bytes and a bit a node. Left out:
 * telling in how many draws a pair came, which the filter knows better; and not putting out what
 * any earlier draw has found, for which each pair would be compared in all draws before.
 */
#include "engine/topic/near/candidates.h"

#include <errno.h>
#include <pthread.h>

#include "engine/cluster/large/large_array.h"
#include "engine/cluster/large/parallel.h"
#include "engine/cluster/large/sorted_partition.h"

enum { PART_NODES = 32 << 10, MOST_BITS = 9, CHUNK_BYTES = 2 << 10 };

struct run {
    const struct candidate_search *search;
    unsigned node_bits, part_bits;
    uint32_t *firsts;      /* of each node draw_first() */
    uint64_t *heads;       /* of each node a bit: it is a head in the first draw */
    pthread_mutex_t mutex; /* guards the totals */
    struct candidate_totals totals;
    uint32_t next, n_draws;
};

struct searcher {
    const struct run *run;
    struct scratch_file places, runs;
    struct spill_writer pairs;
    struct draw_numbers *numbers;
    uint32_t *heads;
    size_t room_bytes, buffer_bytes, memory_bytes;
    struct candidate_totals totals;
};

static void searcher_done(struct searcher *searcher)
{
    scratch_file_done(&searcher->places);
    scratch_file_done(&searcher->runs);
    spill_writer_done(&searcher->pairs);
    free(searcher->numbers);
    free(searcher->heads);
}

/* Divides a thread's memory: the room, the writer, and the rest for places. */
static void share_out(struct searcher *searcher)
{
    const struct candidate_search *search = searcher->run->search;
    const uint64_t n = search->signatures->n_nodes, n_parts = 1u << searcher->run->part_bits;
    uint64_t rest = search->thread_bytes - sizeof(*searcher->numbers),
             room = sorted_partition_bytes(&sorting_numbers, 2 * (n / n_parts + 1)),
             buffer = n_parts * CHUNK_BYTES, places = n * 8 + n / 64 + buffer;
    room = room < rest / 4 ? room : rest / 4;
    room = room > SORTED_LEAST_BYTES ? room : SORTED_LEAST_BYTES;
    buffer = buffer < rest / 4 ? buffer : rest / 4;
    rest -= room + buffer;
    searcher->room_bytes = room;
    searcher->buffer_bytes = buffer;
    searcher->memory_bytes = places < rest ? places : rest;
}

static int searcher_init(const struct run *run, struct searcher *searcher)
{
    const struct candidate_search *search = run->search;
    searcher->run = run;
    share_out(searcher);
    searcher->numbers = malloc(sizeof(*searcher->numbers));
    searcher->heads = calloc(search->heads, sizeof(*searcher->heads));
    if (!searcher->numbers || !searcher->heads)
        return -ENOMEM;
    int r = scratch_file_open(search->scratch, &searcher->places);
    if (r == 0)
        r = scratch_file_open(search->scratch, &searcher->runs);
    return r < 0 ? r : spill_writer_init(search->pairs, &searcher->pairs);
}

/* -- places -- */

static int deal(struct searcher *searcher, unsigned draw, struct spill *spill)
{
    const struct candidate_search *search = searcher->run->search;
    const unsigned bits = searcher->run->part_bits;
    struct draw_numbers *numbers = searcher->numbers;
    _cleanup_(spill_writer_done) struct spill_writer writer = {0};
    int r = spill_writer_init(spill, &writer);
    for (uint32_t block = 0; r == 0 && block < search->signatures->n_blocks; block++) {
        r = draw_block(search->draws, draw, search->signatures, block, numbers);
        for (uint32_t i = 0; r == 0 && i < numbers->n; i++)
            r = spill_add(&writer, bits ? (uint32_t)(numbers->numbers[i] >> (64 - bits)) : 0,
                          &numbers->numbers[i]);
    }
    return r < 0 ? r : spill_writer_flush(&writer);
}

/* -- pairs -- */

/* Nodes in a row that agree, so far. */
struct row {
    uint64_t place;
    uint32_t length;
    unsigned draw;
};

static void end_row(struct searcher *searcher, const struct row *row)
{
    struct candidate_totals *totals = &searcher->totals;
    totals->n_shortened += row->length > searcher->run->search->heads;
    totals->longest = row->length > totals->longest ? row->length : totals->longest;
}

static bool is_first_head(const struct run *run, uint32_t node)
{
    return run->heads[node / 64] >> node % 64 & 1;
}

static int add_to_row(struct searcher *searcher, struct row *row, uint32_t node)
{
    const struct candidate_search *search = searcher->run->search;
    const uint32_t *firsts = searcher->run->firsts;
    uint32_t n_heads = row->length < search->heads ? row->length : search->heads;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < n_heads; i++) {
        const uint32_t head = searcher->heads[i];
        const uint64_t pair = (uint64_t)head << 32 | node;
        if (row->draw > 0 && firsts[head] == firsts[node] && is_first_head(searcher->run, head))
            continue;
        r = spill_add(&searcher->pairs, pair_part(search->parts, head, node), &pair);
        searcher->totals.n_candidates++;
    }
    if (row->length < search->heads) {
        searcher->heads[row->length] = node;
        if (row->draw == 0)
            searcher->run->heads[node / 64] |= UINT64_C(1) << node % 64;
    }
    row->length++;
    return r;
}

static int pair_part_of_draw(struct searcher *searcher, unsigned draw,
                             struct sorted_partition *sorted, uint32_t part)
{
    const uint64_t node_mask = ((uint64_t)1 << searcher->run->node_bits) - 1;
    struct row row = {.draw = draw};
    const void *records;
    int64_t n;
    int r = 0;
    sorted_partition_begin(sorted, part);
    while (r == 0 && (n = sorted_partition_next(sorted, &records)) != 0) {
        const uint64_t *numbers = records;
        if (n < 0)
            return (int)n;
        for (int64_t i = 0; r == 0 && i < n; i++) {
            if (row.length == 0 || (numbers[i] & ~node_mask) != row.place) {
                end_row(searcher, &row);
                row = (struct row){numbers[i] & ~node_mask, 0, draw};
            }
            r = add_to_row(searcher, &row, (uint32_t)(numbers[i] & node_mask));
        }
    }
    end_row(searcher, &row);
    return r;
}

static int search_draw(struct searcher *searcher, unsigned draw, const bool *stop)
{
    const uint32_t n_parts = 1u << searcher->run->part_bits;
    _cleanup_(spill_free_p) struct spill *spill = NULL;
    _cleanup_(sorted_partition_done) struct sorted_partition sorted = {0};
    int r = spill_new(&searcher->places, sizeof(uint64_t), n_parts, searcher->buffer_bytes,
                      searcher->memory_bytes, &spill);
    if (r == 0)
        r = deal(searcher, draw, spill);
    if (r == 0)
        r = sorted_partition_init(&sorting_numbers, spill, &searcher->runs, searcher->room_bytes,
                                  &sorted);
    for (uint32_t i = 0; r == 0 && i < n_parts && !parallel_stopped(stop) &&
                         !parallel_told(searcher->run->search->stop);
         i++)
        r = pair_part_of_draw(searcher, draw, &sorted, i);
    if (spill)
        spill_end(spill);
    return r;
}

static int search_draws(void *user, unsigned thread, const bool *stop)
{
    struct run *run = user;
    const struct candidate_search *search = run->search;
    _cleanup_(searcher_done) struct searcher searcher = {0};
    (void)thread;
    int r = searcher_init(run, &searcher);
    for (uint32_t draw; r == 0 && !parallel_stopped(stop) && !parallel_told(search->stop) &&
                        (draw = parallel_next(&run->next)) < run->n_draws;)
        r = search_draw(&searcher, draw, stop);
    if (r == 0)
        r = spill_writer_flush(&searcher.pairs);
    LOCKED(&run->mutex);
    struct candidate_totals *totals = &run->totals, *own = &searcher.totals;
    totals->n_candidates += own->n_candidates;
    totals->n_shortened += own->n_shortened;
    totals->longest = totals->longest > own->longest ? totals->longest : own->longest;
    totals->read_bytes += searcher.places.read_bytes + searcher.runs.read_bytes;
    totals->written_bytes += searcher.places.written_bytes + searcher.runs.written_bytes;
    return r;
}

static int take_firsts(const struct run *run)
{
    const struct candidate_search *search = run->search;
    const uint64_t node_mask = ((uint64_t)1 << run->node_bits) - 1;
    _cleanup_free_ struct draw_numbers *numbers = malloc(sizeof(*numbers));
    int r = run->firsts && run->heads && numbers ? 0 : -ENOMEM;
    for (uint32_t block = 0; r == 0 && block < search->signatures->n_blocks; block++) {
        r = draw_block(search->draws, 0, search->signatures, block, numbers);
        for (uint32_t i = 0; r == 0 && i < numbers->n; i++)
            run->firsts[numbers->numbers[i] & node_mask] = draw_first(numbers->numbers[i]);
    }
    return r;
}

int candidates_find(const struct candidate_search *search, struct candidate_totals *ret_totals,
                    double *cpu_s)
{
    const uint32_t n = search->signatures->n_nodes;
    struct run run = {
        .search = search, .node_bits = draw_node_bits(n), .mutex = PTHREAD_MUTEX_INITIALIZER};
    while (run.part_bits < MOST_BITS && n >> run.part_bits > PART_NODES)
        run.part_bits++;
    const size_t size_bytes = ((size_t)n + 1) * sizeof(*run.firsts),
                 heads_bytes = ((size_t)n / 64 + 1) * sizeof(*run.heads);
    const double begin_s = parallel_cpu_s();
    run.firsts = large_array_new(size_bytes);
    run.heads = large_array_new(heads_bytes);
    int r = take_firsts(&run);
    *cpu_s += parallel_cpu_s() - begin_s;
    run.n_draws = 1; /* the others ask what it has found */
    for (int i = 0; r == 0 && i < 2; i++) {
        r = parallel_run(search->n_threads, search_draws, &run, cpu_s);
        run.n_draws = search->draws->n;
        run.next = 1;
    }
    large_array_free(run.firsts, size_bytes);
    large_array_free(run.heads, heads_bytes);
    *ret_totals = run.totals;
    return r;
}
