/* The commonest shingles: headers and footers, licences, what programs generate (Broder et al.
 * 1997, section 5.1). Records are read twice: which fingerprints may be the most frequent, in
 * bounded memory; and how frequent those are. Then, of each, a document is read for the words. */
#include <errno.h>

#include "engine/cluster/frequent.h"
#include "engine/index/answers/answer.h"
#include "engine/index/intake/open_key.h"
#include "engine/index/intake/open_soon.h"
#include "engine/sketch/documents/shingle_text.h"

enum { N_COUNTERS = 1 << 16 };

void common_shingles_done(struct common_shingles *list)
{
    for (size_t i = 0; i < list->n_shingles; i++) {
        free(list->shingles[i].text);
        for (size_t j = 0; j < list->shingles[i].n_paths; j++)
            free(list->shingles[i].paths[j]);
    }
    free(list->shingles);
    *list = (struct common_shingles){0};
}

/* -- which may be -- */

static int count_roughly(void *user, uint64_t sid, const struct record *record)
{
    struct frequent *frequent = user;
    const uint32_t n = min_sketch_n_v(&record->sketch);
    (void)sid;
    for (uint32_t i = 0; i < n; i++)
        frequent_add(frequent, record->sketch.values[i]);
    return 0;
}

/* -- how frequent they are -- */

struct exact {
    uint64_t fingerprint, n_documents;
    uint64_t sids[COMMON_SHINGLE_PATHS];
};

struct counting {
    struct exact *exact; /* ascending by fingerprint */
    size_t n_exact;
    uint64_t n_documents;
};

static int compare_fingerprints(const void *a, const void *b)
{
    const struct exact *x = a, *y = b;
    return (x->fingerprint > y->fingerprint) - (x->fingerprint < y->fingerprint);
}

static int compare_counts(const void *a, const void *b)
{
    const struct exact *x = a, *y = b;
    if (x->n_documents != y->n_documents)
        return x->n_documents < y->n_documents ? 1 : -1;
    return compare_fingerprints(a, b);
}

static int count(void *user, uint64_t sid, const struct record *record)
{
    struct counting *counting = user;
    const uint32_t n = min_sketch_n_v(&record->sketch);
    counting->n_documents++;
    for (uint32_t i = 0; i < n; i++) {
        const struct exact key = {.fingerprint = record->sketch.values[i]};
        struct exact *exact =
            bsearch(&key, counting->exact, counting->n_exact, sizeof(key), compare_fingerprints);
        if (!exact)
            continue;
        if (exact->n_documents < COMMON_SHINGLE_PATHS)
            exact->sids[exact->n_documents] = sid;
        exact->n_documents++;
    }
    return 0;
}

static int count_exactly(struct index *index, struct frequent *frequent, size_t limit,
                         struct counting *counting)
{
    struct frequent_value *values = calloc(2 * N_COUNTERS, sizeof(*values));
    counting->exact = calloc(2 * N_COUNTERS, sizeof(*counting->exact));
    if (!values || !counting->exact) {
        free(values);
        return -ENOMEM;
    }
    counting->n_exact = frequent_candidates(frequent, limit, values, 2 * N_COUNTERS);
    for (size_t i = 0; i < counting->n_exact; i++)
        counting->exact[i].fingerprint = values[i].value;
    free(values);
    if (counting->n_exact)
        qsort(counting->exact, counting->n_exact, sizeof(*counting->exact), compare_fingerprints);
    int r = records_each(index->kv, 1, count, counting);
    if (r == 0 && counting->n_exact)
        qsort(counting->exact, counting->n_exact, sizeof(*counting->exact), compare_counts);
    return r;
}

/* -- what they are -- */

/* The words of a shingle are read from the first of the documents at hand that still has it. */
static int read_text(struct index *index, const struct exact *exact, const struct file_key *file,
                     struct common_shingle *shingle)
{
    _cleanup_(opened_close) struct opened opened = {
        index, open_document_soon(index, NULL, file, OPEN_TO_READ)};
    if (opened.fd < 0)
        return 0;
    int r =
        shingle_text(opened.fd, &index->policy, index->hash, exact->fingerprint, &shingle->text);
    return r == -ENOMEM ? r : 0;
}

static int describe(struct index *index, struct path_cache *paths, const struct exact *exact,
                    struct common_shingle *shingle)
{
    const struct record *records[COMMON_SHINGLE_PATHS];
    size_t n =
        exact->n_documents < COMMON_SHINGLE_PATHS ? exact->n_documents : COMMON_SHINGLE_PATHS;
    shingle->fingerprint = exact->fingerprint;
    shingle->n_documents = exact->n_documents;
    int r = records_borrow(index->records, exact->sids, n, records);
    if (r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < n; i++) {
        if (!records[i])
            continue;
        r = answer_path(index, paths, &records[i]->key, &shingle->paths[shingle->n_paths]);
        if (r == 0)
            shingle->n_paths++;
        if (r == 0 && !shingle->text)
            r = read_text(index, exact, &records[i]->key, shingle);
        if (r == -ENOENT)
            r = 0;
    }
    records_return(index->records, records, n);
    return r;
}

static void counting_done(struct counting *counting)
{
    free(counting->exact);
}

int index_common_shingles(struct index *index, size_t limit, struct common_shingles *ret_list)
{
    _cleanup_(frequent_free_p) struct frequent *frequent = NULL;
    _cleanup_(counting_done) struct counting counting = {0};
    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    _cleanup_(common_shingles_done) struct common_shingles list = {0};
    if (limit == 0 || limit > COMMON_SHINGLES_MAX)
        return -EINVAL;
    int r = frequent_new(N_COUNTERS, &frequent);
    if (r == 0)
        r = records_each(index->kv, 1, count_roughly, frequent);
    if (r == 0)
        r = count_exactly(index, frequent, limit, &counting);
    if (r == 0)
        r = path_cache_new(index->kv, backing_root_key(index->backing), &paths);
    if (r == 0 && !(list.shingles = calloc(limit, sizeof(*list.shingles))))
        r = -ENOMEM;
    list.n_documents = counting.n_documents;
    list.missed = frequent ? frequent_missed(frequent) : 0;
    for (size_t i = 0; r == 0 && i < counting.n_exact && i < limit; i++) {
        if (counting.exact[i].n_documents < 2)
            break;
        if (change_queue_is_shut_down(index->queue))
            return -ESHUTDOWN;
        r = describe(index, paths, &counting.exact[i], &list.shingles[list.n_shingles++]);
    }
    if (r < 0)
        return r;
    *ret_list = list;
    list = (struct common_shingles){0};
    return 0;
}
