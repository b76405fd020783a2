/* Two known documents, compared by their sketches. */
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
