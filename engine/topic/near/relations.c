/* Partitions of a spill, each of nodes in a row, are sorted one by one and written to their places
 * in one file; how many relations are in those before is known.
 *
 * Example: the pairs 1 7 (of 30 signatures) and 1 4 (of 20) are the relations 1 7, 1 4, 4 1, 7 1.
 *
 * Of each 512 relations the first is in memory, 1/64 of a byte each: a question finds the last one
 * that comes before the node and reads on from there.
 *
 * Cost: a write and a read of 8 bytes a relation, and one write more. Left out: packing; lists of
 * ten near nodes could have four bytes each.
 */
#include "engine/topic/near/relations.h"

#include "engine/cluster/large/large_array.h"
#include "engine/cluster/large/parallel.h"
#include "engine/cluster/large/sorted_partition.h"

static size_t firsts_bytes(const struct relations *relations)
{
    return (relations->n + RELATIONS_STEP - 1) / RELATIONS_STEP * sizeof(uint64_t);
}

void relations_done(struct relations *relations)
{
    large_array_free(relations->firsts, firsts_bytes(relations));
    scratch_file_done(&relations->file);
    *relations = (struct relations){0};
}

int relations_read(struct relations *relations, uint64_t from, size_t n, uint64_t *ret_relations)
{
    return scratch_file_read(&relations->file, from * sizeof(uint64_t), ret_relations,
                             n * sizeof(uint64_t));
}

/* The last step that begins before the node. */
static uint64_t step_before(const struct relations *relations, uint32_t node)
{
    uint64_t least = 0, most = firsts_bytes(relations) / sizeof(uint64_t);
    while (most - least > 1) {
        uint64_t middle = least + (most - least) / 2;
        if (relation_from(relations->firsts[middle]) < node)
            least = middle;
        else
            most = middle;
    }
    return least;
}

int64_t relations_of(struct relations *relations, uint32_t node, uint64_t *ret_relations,
                     size_t most)
{
    size_t n_found = 0;
    uint64_t step[RELATIONS_STEP];
    for (uint64_t at = step_before(relations, node) * RELATIONS_STEP; at < relations->n;
         at += RELATIONS_STEP) {
        size_t n = relations->n - at < RELATIONS_STEP ? relations->n - at : RELATIONS_STEP;
        int r = relations_read(relations, at, n, step);
        if (r < 0)
            return r;
        for (size_t i = 0; i < n && relation_from(step[i]) <= node; i++)
            if (relation_from(step[i]) == node) {
                if (n_found < most)
                    ret_relations[n_found] = step[i];
                n_found++;
            }
        if (relation_from(step[n - 1]) > node)
            break;
    }
    return (int64_t)n_found;
}

/* -- making -- */

struct run {
    const struct relations_sorting *sorting;
    struct relations *relations;
    struct scratch_file file; /* parts of partitions that do not fit into the room */
    uint64_t *begins;
    uint32_t next;
};

static int put(struct relations *relations, uint64_t at, const uint64_t *numbers, size_t n)
{
    for (uint64_t step = (at + RELATIONS_STEP - 1) / RELATIONS_STEP; step * RELATIONS_STEP < at + n;
         step++)
        relations->firsts[step] = numbers[step * RELATIONS_STEP - at];
    return scratch_file_write(&relations->file, at * sizeof(uint64_t), numbers,
                              n * sizeof(uint64_t));
}

static int sort_partitions(void *user, unsigned thread, const bool *stop)
{
    struct run *run = user;
    const struct relations_sorting *sorting = run->sorting;
    _cleanup_(sorted_partition_done) struct sorted_partition sorted = {0};
    (void)thread;
    int r = sorted_partition_init(&sorting_numbers, sorting->spill, &run->file, sorting->room_bytes,
                                  &sorted);
    for (uint32_t i; r == 0 && !parallel_stopped(stop) && !parallel_told(sorting->stop) &&
                     (i = parallel_next(&run->next)) < sorting->n_partitions;) {
        const void *numbers;
        uint64_t at = run->begins[i];
        int64_t n = 0;
        sorted_partition_begin(&sorted, i);
        for (; r == 0 && (n = sorted_partition_next(&sorted, &numbers)) > 0; at += (uint64_t)n)
            r = put(run->relations, at, numbers, (size_t)n);
        r = n < 0 ? (int)n : r;
    }
    return r;
}

int relations_sort(const struct relations_sorting *sorting, struct relations *ret_relations,
                   double *cpu_s, uint64_t *read_bytes, uint64_t *written_bytes)
{
    _cleanup_(relations_done) struct relations relations = {.n = spill_count(sorting->spill)};
    _cleanup_free_ uint64_t *begins = calloc(sorting->n_partitions, sizeof(*begins));
    struct run run = {.sorting = sorting, .relations = &relations, .begins = begins};
    relations.firsts = large_array_new(firsts_bytes(&relations));
    if (!begins || !relations.firsts)
        return -ENOMEM;
    for (uint32_t i = 1; i < sorting->n_partitions; i++)
        begins[i] = begins[i - 1] + spill_partition_count(sorting->spill, i - 1);
    int r = scratch_file_open(sorting->scratch, &relations.file);
    if (r == 0)
        r = scratch_file_open(sorting->scratch, &run.file);
    if (r == 0)
        r = parallel_run(sorting->n_threads, sort_partitions, &run, cpu_s);
    if (r == 0 && parallel_told(sorting->stop))
        r = -ECANCELED;
    *read_bytes += run.file.read_bytes;
    *written_bytes += run.file.written_bytes + relations.file.written_bytes;
    scratch_file_done(&run.file);
    if (r < 0)
        return r;
    (void)scratch_file_reserve(&relations.file, relations.n * sizeof(uint64_t));
    *ret_relations = relations;
    relations = (struct relations){0};
    return 0;
}
