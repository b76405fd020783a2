#include "engine/cluster/equivalence.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/cluster/parallel.h"
#include "engine/cluster/sort_numbers.h"

enum { INDEX_BITS = 24 };

_Static_assert(EQUIVALENCE_PARTITIONS == 256, "the first byte of a fingerprint is its partition");

int equivalence_add(struct spill_writer *writer, uint32_t document,
                    const struct document_sketch *sketch)
{
    struct equivalence_record record = {
        .text = get_be64(sketch->text_fingerprint),
        .content = get_be64(sketch->content_fingerprint),
        .document = document,
        .is_empty = sketch->sketch.n_values == 0,
    };
    memcpy(record.shingles,
           record.is_empty ? sketch->content_fingerprint : sketch->shingle_fingerprint,
           FINGERPRINT_BYTES);
    return spill_add(writer, record.shingles[0], &record);
}

struct joining {
    struct spill *spill;
    struct union_find *sets;
    struct equivalence_marks *marks;
    struct equivalence_counts counts; /* by atomic operations */
    uint32_t next;
};

static int compare(const void *a, const void *b)
{
    const struct equivalence_record *x = a, *y = b;
    int order = memcmp(x->shingles, y->shingles, FINGERPRINT_BYTES);
    if (order)
        return order;
    if (x->is_empty != y->is_empty)
        return x->is_empty ? 1 : -1;
    if (x->text != y->text)
        return x->text < y->text ? -1 : 1;
    if (x->content != y->content)
        return x->content < y->content ? -1 : 1;
    return (x->document > y->document) - (x->document < y->document);
}

static bool same_shingles(const struct equivalence_record *a, const struct equivalence_record *b)
{
    return a->is_empty == b->is_empty && memcmp(a->shingles, b->shingles, FINGERPRINT_BYTES) == 0;
}

/* A class: sorted by text, then by content. */
static void join_class(struct joining *joining, const struct equivalence_record *records, size_t n,
                       struct equivalence_counts *counts)
{
    uint32_t first = records[0].document;
    size_t n_texts = 1, n_contents = 1;
    for (size_t i = 1; i < n; i++) {
        bool other_text = records[i].text != records[i - 1].text;
        n_texts += other_text;
        n_contents += other_text || records[i].content != records[i - 1].content;
        if (records[i].document < first)
            first = records[i].document;
    }
    for (size_t i = 0; i < n; i++)
        union_find_join(joining->sets, first, records[i].document);
    counts->n_identical += n - n_contents;
    if (records[0].is_empty)
        return; /* of one content, and no node */
    mark_set(joining->marks->node, first);
    if (n_contents > 1)
        mark_set(joining->marks->mixed, first);
    counts->n_lexical += n_contents - n_texts;
    counts->n_shingles += n_texts - 1;
    counts->n_nodes++;
}

/* Records whose keys are equal: of one class, but for what 40 bits cannot tell apart. */
static void join_run(struct joining *joining, struct equivalence_record *records, size_t n,
                     struct equivalence_counts *counts)
{
    if (n > 1)
        qsort(records, n, sizeof(*records), compare);
    for (size_t from = 0, i = 1; i <= n; i++) {
        if (i < n && same_shingles(&records[i], &records[from]))
            continue;
        join_class(joining, records + from, i - from, counts);
        from = i;
    }
}

static int join_partition(struct joining *joining, uint32_t partition,
                          struct equivalence_counts *counts)
{
    size_t n = spill_partition_count(joining->spill, partition);
    if (n == 0)
        return 0;
    if (n >= (size_t)1 << INDEX_BITS)
        return -EOVERFLOW; /* of 4 billion documents */
    _cleanup_free_ struct equivalence_record *records = malloc(n * sizeof(*records));
    _cleanup_free_ struct equivalence_record *sorted = malloc(n * sizeof(*sorted));
    _cleanup_free_ uint64_t *keys = malloc(2 * n * sizeof(*keys));
    if (!records || !sorted || !keys)
        return -ENOMEM;
    int r = spill_take(joining->spill, partition, records);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        keys[i] = get_be64(records[i].shingles + 1) >> INDEX_BITS << INDEX_BITS | i;
    sort_numbers(keys, n, keys + n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = records[keys[i] & (((size_t)1 << INDEX_BITS) - 1)];
    for (size_t from = 0, i = 1; i <= n; i++) {
        if (i < n && keys[i] >> INDEX_BITS == keys[from] >> INDEX_BITS)
            continue;
        join_run(joining, sorted + from, i - from, counts);
        from = i;
    }
    return 0;
}

static int join_partitions(void *user, unsigned thread, const bool *stop)
{
    struct joining *joining = user;
    struct equivalence_counts counts = {0};
    (void)thread;
    for (uint32_t i;
         !parallel_stopped(stop) && (i = parallel_next(&joining->next)) < EQUIVALENCE_PARTITIONS;) {
        int r = join_partition(joining, i, &counts);
        if (r < 0)
            return r;
    }
    __atomic_fetch_add(&joining->counts.n_identical, counts.n_identical, __ATOMIC_RELAXED);
    __atomic_fetch_add(&joining->counts.n_lexical, counts.n_lexical, __ATOMIC_RELAXED);
    __atomic_fetch_add(&joining->counts.n_shingles, counts.n_shingles, __ATOMIC_RELAXED);
    __atomic_fetch_add(&joining->counts.n_nodes, counts.n_nodes, __ATOMIC_RELAXED);
    return 0;
}

int equivalence_join(struct spill *spill, unsigned n_threads, struct union_find *sets,
                     struct equivalence_marks *marks, struct equivalence_counts *ret_counts,
                     double *cpu_s)
{
    struct joining joining = {.spill = spill, .sets = sets, .marks = marks};
    int r = parallel_run(n_threads, join_partitions, &joining, cpu_s);
    if (r == 0)
        *ret_counts = joining.counts;
    return r;
}
