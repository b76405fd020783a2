/* Known documents, compared by their sketches: two, or all pairs of some. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/index/answers/answer.h"

_Static_assert((int)INDEX_CONFIDENT_SAMPLES == (int)ESTIMATE_CONFIDENT_SAMPLES, "one bound");

static void put_estimate(int r, const struct estimate *estimate, double *ret_value,
                         double *ret_error, uint32_t *ret_samples)
{
    *ret_value = r < 0 ? NAN : estimate->value;
    *ret_error = r < 0 ? NAN : estimate->error;
    *ret_samples = r < 0 ? 0 : estimate->n_samples;
}

int index_compare(struct index *index, const struct file_key *a, const struct file_key *b,
                  const struct index_query *query, struct comparison *ret_comparison)
{
    _cleanup_(document_done) struct document da = {0}, db = {0};
    struct comparison out = {0};
    struct estimate estimate = {0};
    int r = answer_document(index, a, query, &da);
    if (r == 0)
        r = answer_document(index, b, query, &db);
    if (r < 0)
        return r;
    const struct record *x = da.record, *y = db.record;
    out.same_content =
        memcmp(x->content_fingerprint, y->content_fingerprint, FINGERPRINT_BYTES) == 0;
    out.same_text = record_same_text(x, y);
    /* Equal samples say nothing of the shingles that are in neither. */
    out.same_shingles =
        out.same_text ||
        (x->sketch.n_values && x->sketch.below == 0 && y->sketch.below == 0 &&
         memcmp(x->shingle_fingerprint, y->shingle_fingerprint, FINGERPRINT_BYTES) == 0);

    r = record_resemblance(x, y, &estimate);
    put_estimate(r, &estimate, &out.resemblance, &out.resemblance_error, &out.resemblance_samples);
    out.exact = r == 0 && estimate.exact;
    r = record_containment(x, y, &estimate);
    put_estimate(r, &estimate, &out.containment_ab, &out.containment_ab_error,
                 &out.containment_ab_samples);
    r = record_containment(y, x, &estimate);
    put_estimate(r, &estimate, &out.containment_ba, &out.containment_ba_error,
                 &out.containment_ba_samples);
    *ret_comparison = out;
    return 0;
}

static int compare_all(const struct record *const *records, size_t n, double *resemblances)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            struct estimate estimate = {.value = 1};
            if (!records[i] || !records[j])
                estimate.value = NAN;
            int r = i == j || isnan(estimate.value)
                        ? 0
                        : record_resemblance(records[i], records[j], &estimate);
            if (r < 0)
                return r;
            resemblances[i * n + j] = resemblances[j * n + i] = estimate.value;
        }
    return 0;
}

int index_resemblances(struct index *index, const uint64_t *sids, size_t n,
                       double *ret_resemblances)
{
    const struct record *records[INDEX_RESEMBLANCES_MAX];
    if (n > INDEX_RESEMBLANCES_MAX)
        return -EINVAL;
    int r = records_borrow(index->records, sids, n, records);
    if (r < 0)
        return r;
    r = compare_all(records, n, ret_resemblances);
    records_return(index->records, records, n);
    return r;
}
