/* Classes of equal documents are found by sorting: a record has the fingerprint of the class, and
 * within a class those of text and content, so that equal documents are neighbours.
 *
 * Example: A is "Hello world", B "Hello, world!", and C has A's bytes. All three have one set of
 * shingles and one text, and so are one class: n_identical 1 (C), n_lexical 1 (B), one node, which
 * is the one of the three with the smallest number, marked as mixed as it has two contents.
 *
 * Cost: 40 bytes a document; nearly all of the sorting is that of numbers (sort_numbers.h): 40 bits
 * of the fingerprint above the place of the record. Records that agree in these are sorted by
 * comparison, and are nearly always one class.
 *
 * Left out: a hash table, which takes all classes in memory at once; sorting takes a partition.
 */
#include "engine/cluster/pairs/equivalence.h"

#include "base/bytes.h"
#include "base/sort_numbers.h"
#include "engine/cluster/large/parallel.h"
#include "engine/cluster/large/sorted_partition.h"

enum { INDEX_BITS = 24 };

_Static_assert(EQUIVALENCE_PARTITIONS == 256, "the first byte of a fingerprint is its partition");

int equivalence_add(struct spill_writer *writer, uint32_t document,
                    const struct document_sketch *sketch, bool by_text)
{
    const uint8_t *equality = document_equality(sketch);
    struct equivalence_record record = {
        .text = get_be64(equality),
        .content = get_be64(sketch->content_fingerprint),
        .document = document,
        .is_empty = sketch->sketch.n_values == 0,
    };
    memcpy(record.class, by_text || record.is_empty ? equality : sketch->shingle_fingerprint,
           FINGERPRINT_BYTES);
    return spill_add(writer, record.class[0], &record);
}

/* -- sorting -- */

/* Records are ordered by class, within a class by text, and within a text by content. */
static int compare(const void *a, const void *b)
{
    const struct equivalence_record *x = a, *y = b;
    int order = memcmp(x->class, y->class, FINGERPRINT_BYTES);
    if (order)
        return order;
    if (x->is_empty != y->is_empty)
        return x->is_empty ? 1 : -1;
    if (x->text != y->text)
        return x->text < y->text ? -1 : 1;
    return (x->content > y->content) - (x->content < y->content);
}

static void swap(struct equivalence_record *a, struct equivalence_record *b)
{
    struct equivalence_record record = *a;
    *a = *b;
    *b = record;
}

/* A quicksort in three parts, in place (qsort(3) may want as much memory again). Most records of a
 * run are equal, and those equal to the one in the middle are done after one pass. */
static void sort_run(struct equivalence_record *records, size_t n)
{
    while (n > 1) {
        struct equivalence_record middle = records[n / 2];
        size_t less = 0, more = n;
        for (size_t i = 0; i < more;) {
            int order = compare(&records[i], &middle);
            if (order < 0)
                swap(&records[i++], &records[less++]);
            else if (order > 0)
                swap(&records[i], &records[--more]);
            else
                i++;
        }
        if (less < n - more) { /* the shorter side by recursion, which is so at most log n deep */
            sort_run(records, less);
            records += more;
            n -= more;
        } else {
            sort_run(records + more, n - more);
            n = less;
        }
    }
}

/* Records are sorted by 40 bits of their classes as numbers, which carry the place of the record
 * below; then runs of equal bits, nearly always of one class, are sorted by comparison. The first
 * byte of the class is the partition, which all records have in common, and is left out. */
static void *sort(void *from, size_t n, void *scratch)
{
    const struct equivalence_record *records = from;
    struct equivalence_record *sorted = scratch;
    uint64_t *keys = (uint64_t *)(sorted + n);
    for (size_t i = 0; i < n; i++)
        keys[i] = get_be64(records[i].class + 1) >> INDEX_BITS << INDEX_BITS | i;
    sort_numbers(keys, n, keys + n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = records[keys[i] & (((size_t)1 << INDEX_BITS) - 1)];
    for (size_t begin = 0, i = 1; i <= n; i++) {
        if (i < n && keys[i] >> INDEX_BITS == keys[begin] >> INDEX_BITS)
            continue;
        sort_run(sorted + begin, i - begin);
        begin = i;
    }
    return sorted;
}

static const struct sorting sorting = {
    .record_bytes = sizeof(struct equivalence_record),
    .scratch_bytes = sizeof(struct equivalence_record) + 2 * sizeof(uint64_t),
    .most = ((size_t)1 << INDEX_BITS) - 1,
    .sort = sort,
    .compare = compare,
};

uint64_t equivalence_partition_bytes(uint64_t n_records)
{
    return sorted_partition_bytes(&sorting, n_records);
}

/* -- joining -- */

struct joining {
    const struct equivalence_joining *task;
    struct equivalence_counts counts; /* by atomic operations */
    uint32_t next;
};

/* A class, as far as its records have been seen. */
struct class
{
    struct equivalence_record last;
    uint32_t first; /* the least document */
    uint64_t n;     /* 0: there is none */
    uint64_t n_texts, n_contents;
};

static void end_class(const struct joining *joining, struct class *class,
                      struct equivalence_counts *counts)
{
    if (class->n == 0)
        return;
    counts->n_identical += class->n - class->n_contents;
    if (class->last.is_empty)
        return; /* a class without shingles is of one content, and no node */
    mark_set(joining->task->marks->node, class->first);
    if (class->n_contents > 1)
        mark_set(joining->task->marks->mixed, class->first);
    counts->n_lexical += class->n_contents - class->n_texts;
    counts->n_shingles += class->n_texts - 1;
    counts->n_nodes++;
}

static void take_record(const struct joining *joining, struct class *class,
                        const struct equivalence_record *record, struct equivalence_counts *counts)
{
    const struct equivalence_record *last = &class->last;
    bool is_of_it = class->n && last->is_empty == record->is_empty &&
                    memcmp(last->class, record->class, FINGERPRINT_BYTES) == 0;
    if (!is_of_it) {
        end_class(joining, class, counts);
        *class = (struct class){*record, record->document, 1, 1, 1};
        return;
    }
    bool other_text = last->text != record->text;
    class->n++;
    class->n_texts += other_text;
    class->n_contents += other_text || last->content != record->content;
    union_find_join(joining->task->sets, class->first, record->document);
    if (record->document < class->first)
        class->first = record->document;
    class->last = *record;
}

static int join_partition(const struct joining *joining, struct sorted_partition *sorted,
                          uint32_t partition, struct equivalence_counts *counts)
{
    struct class class = {0};
    const void *records;
    int64_t n;
    sorted_partition_begin(sorted, partition);
    while ((n = sorted_partition_next(sorted, &records)) > 0)
        for (int64_t i = 0; i < n; i++)
            take_record(joining, &class, (const struct equivalence_record *)records + i, counts);
    end_class(joining, &class, counts);
    return (int)n;
}

static int join_partitions(void *user, unsigned thread, const bool *stop)
{
    struct joining *joining = user;
    const struct equivalence_joining *task = joining->task;
    struct equivalence_counts counts = {0};
    _cleanup_(sorted_partition_done) struct sorted_partition sorted = {0};
    (void)thread;
    int r = sorted_partition_init(&sorting, task->spill, task->runs, task->room_bytes, &sorted);
    for (uint32_t i; r == 0 && !parallel_stopped(stop) &&
                     (i = parallel_next(&joining->next)) < EQUIVALENCE_PARTITIONS;)
        r = join_partition(joining, &sorted, i, &counts);
    __atomic_fetch_add(&joining->counts.n_identical, counts.n_identical, __ATOMIC_RELAXED);
    __atomic_fetch_add(&joining->counts.n_lexical, counts.n_lexical, __ATOMIC_RELAXED);
    __atomic_fetch_add(&joining->counts.n_shingles, counts.n_shingles, __ATOMIC_RELAXED);
    __atomic_fetch_add(&joining->counts.n_nodes, counts.n_nodes, __ATOMIC_RELAXED);
    return r;
}

int equivalence_join(const struct equivalence_joining *task, struct equivalence_counts *ret_counts,
                     double *cpu_s)
{
    struct joining joining = {.task = task};
    int r = parallel_run(task->n_threads, join_partitions, &joining, cpu_s);
    if (r == 0)
        *ret_counts = joining.counts;
    return r;
}
