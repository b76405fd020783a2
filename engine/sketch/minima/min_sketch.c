/* Estimates from two sketches.
 *
 * Both estimates rest on one sample: the k smallest fingerprints of the union S(A) u S(B), with
 * k = max(s, number of them below min(v_below(A), v_below(B))). Both sketches are complete that
 * far: the s-th value of the union is at most the s-th of A or of B. Each value of the sample is
 * then known to belong to A, to B, or to both.
 *
 * Why that is unbiased. The fingerprints are a random permutation's (2-independence suffices, see
 * shingle_hash.c). Given the *set* of the union's fingerprints, the subset that belongs to both
 * documents is a uniformly random choice of |A n B| among |A u B|. k is a function of that set and
 * of fixed bounds, so the sample is drawn without replacement. Let x of the sample belong to both
 * documents, and k_A > 0 of it to A. Then
 *
 *   x / k    has mean |A n B| / |A u B|,
 *   x / k_A  has mean |A n B| / |A|: among the sample's values in A, those in B are again a random
 *            choice.
 *
 * Choosing k by one document's values, say all below the s-th value of B for the containment, would
 * break this: the last value then always belongs to B. With k = s this is Broder's theorem part 1,
 * with k the number below the fixed bound part 2, and part 3 for containment. Part 3 is printed
 * without its condition: V(A) may be empty. The answer is then -ENODATA, and the estimate is
 * unbiased given an answer; a caller that counts no answer as 0 must divide by 1 - (1 - 1/m)^n to
 * be unbiased. (v_below itself is halved when V gets larger than v_max, which is a choice by one
 * document's values; it moves the mean by less than 1/v_max.)
 *
 * Standard error: hypergeometric, sqrt(r (1-r) / k * (N-k) / (N-1)) with N the size of the union
 * (of A for containment), where r is replaced by (x+2)/(k+4) (Agresti and Coull 1998): with x/k it
 * would be 0 for x = 0 and x = k, and near them far too small. Measured, six pairs of copyright
 * files of Debian, w = 5, 4000 keys each, all with N > s:
 *
 *        r      N    k   bias/error of mean   scatter/theory   within 1.96 errors   beyond 4
 *   0.0074   1496  128          0.21              0.99              1.000              0
 *   0.0268  10570  423          0.96              0.99              0.958              4
 *   0.0277  10667  426         -1.30              1.01              0.947              5
 *   0.0559   2344  128          1.68              1.00              0.936              1
 *   0.0701   1484  128         -1.20              1.02              0.944              3
 *   0.1054    958  128          0.26              0.99              0.936              4
 *
 * (The estimates beyond 4 errors are 0 to 2 of 128: small counts are skew. All pairs of one store
 * share one key, so a text that many documents have is undersampled in all of them or in none.)
 *
 * Worked example, s = 3: A = {1 4 6 9}, B = {2 4 6 7} in units of 2^-4: A keeps 1 4 6 and is
 * complete below 7, so does B with 2 4 6. The union begins 1 2 4, of which 4 is in both: estimate
 * 1/3, which is also the exact 2/6.
 *
 * Cost: two searches for the common bound and one merge of at most n_values(A) + n_values(B) steps,
 * no allocation. A pair that cannot reach a threshold is given up earlier: min_sketch_reaches().
 *
 * Left out: an estimate from both samples together, for which the proof above does not hold.
 */
#include "engine/sketch/minima/min_sketch.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include <xxhash.h>

#include "engine/sketch/minima/merge_values.h"

#define RANGE 0x1p64

/* Bounds are exclusive and 0 stands for 2^64: shifted by one they compare as they should. */
static inline uint64_t bound_last(uint64_t below)
{
    return below - 1;
}

static inline uint64_t bound_min(uint64_t below_a, uint64_t below_b)
{
    return bound_last(below_a) < bound_last(below_b) ? below_a : below_b;
}

static double bound_share(uint64_t below)
{
    return below ? (double)below / RANGE : 1.0;
}

/* The search has three steps: halving down to MANY values, counting in strides of STEP, counting
 * one by one. No step branches on a value, as such a branch would be mispredicted every other time,
 * and in the last two steps no comparison waits for the result of another. */
static uint32_t count_below(const struct min_sketch *sketch, uint64_t below)
{
    enum { MANY = 128, STEP = 16 };
    const uint64_t *values = sketch->values, last = bound_last(below);
    uint32_t n = sketch->n_values, n_steps = 0, n_last = 0;
    for (uint32_t half; n > MANY; n -= half) {
        half = n / 2;
        values += values[half - 1] <= last ? half : 0;
    }
    for (uint32_t i = STEP; i <= n; i += STEP)
        n_steps += values[i - 1] <= last;
    values += n_steps * STEP;
    n -= n_steps * STEP;
    for (uint32_t i = 0; i < (n < STEP ? n : STEP); i++)
        n_last += values[i] <= last;
    return (uint32_t)(values - sketch->values) + n_last;
}

static bool is_exact(const struct min_sketch *a, const struct min_sketch *b)
{
    return a->below == 0 && b->below == 0;
}

static int comparable(const struct min_sketch *a, const struct min_sketch *b)
{
    return a->policy_id == b->policy_id && a->s == b->s ? 0 : -EPROTO;
}

/* The merge begins with the values below the fixed common bound (all values, when exact). */
static struct value_merge merge_fixed(const struct min_sketch *a, const struct min_sketch *b)
{
    uint64_t below = is_exact(a, b) ? 0 : bound_min(a->v_below, b->v_below);
    return (struct value_merge){.a = a->values,
                                .b = b->values,
                                .end_a = count_below(a, below),
                                .end_b = count_below(b, below)};
}

/* The merge goes on past the fixed bound, with all values of both sketches. */
static void merge_unbound(struct value_merge *m, const struct min_sketch *a,
                          const struct min_sketch *b)
{
    m->end_a = a->n_values;
    m->end_b = b->n_values;
}

static struct value_merge sample(const struct min_sketch *a, const struct min_sketch *b)
{
    struct value_merge m = merge_fixed(a, b);
    bool exact = is_exact(a, b);
    if (exact || m.end_a + m.end_b > a->s) /* else the sample is the first s in any case */
        merge_values(&m, UINT32_MAX);
    if (m.u < a->s && !exact) {
        merge_unbound(&m, a, b);
        merge_values(&m, a->s);
    }
    return m;
}

/* The size of the union, estimated from the sample. */
static double union_cardinality(const struct min_sketch *a, const struct min_sketch *b,
                                const struct value_merge *m)
{
    if (m->u > a->s)
        return m->u / bound_share(bound_min(a->v_below, b->v_below));

    uint64_t last_a = m->n_a ? a->values[m->n_a - 1] : 0;
    uint64_t last_b = m->n_b ? b->values[m->n_b - 1] : 0;
    return (m->u - 1) * (RANGE / ((double)(last_a > last_b ? last_a : last_b) + 1));
}

static struct estimate exact_estimate(uint32_t x, uint32_t n)
{
    return (struct estimate){.value = (double)x / n, .n_samples = n, .exact = true};
}

static struct estimate resemblance_of(const struct min_sketch *a, const struct min_sketch *b,
                                      const struct value_merge *m)
{
    if (is_exact(a, b))
        return exact_estimate(m->n_both, m->u);
    return estimate_of_sample(m->n_both, m->u, union_cardinality(a, b, m));
}

int min_sketch_resemblance(const struct min_sketch *a, const struct min_sketch *b,
                           struct estimate *ret_estimate)
{
    if (comparable(a, b) < 0)
        return -EPROTO;
    if (!a->n_values || !b->n_values)
        return -ENODATA;

    struct value_merge m = sample(a, b);
    *ret_estimate = resemblance_of(a, b, &m);
    return 0;
}

int min_sketch_containment(const struct min_sketch *a, const struct min_sketch *b,
                           struct estimate *ret_estimate)
{
    if (comparable(a, b) < 0)
        return -EPROTO;

    struct value_merge m = sample(a, b);
    if (!m.n_a)
        return -ENODATA;
    *ret_estimate = is_exact(a, b) ? exact_estimate(m.n_both, m.n_a)
                                   : estimate_of_sample(m.n_both, m.n_a, min_sketch_cardinality(a));
    return 0;
}

/* Here a's own values may choose the sample: which shingles of a are its smallest is chance,
 * whatever subset of them is in b, and each value of it is known to be in b or not. */
int min_sketch_containment_in(const struct min_sketch *a, const uint64_t *all, size_t n_all,
                              struct estimate *ret_estimate)
{
    uint32_t n_both = 0;
    if (!a->n_values)
        return -ENODATA;
    for (uint32_t i = 0; i < a->n_values && n_all > 0; i++) {
        /* Values below this one are below those that follow. */
        size_t from = 0, to = n_all;
        while (from < to) {
            const size_t middle = from + (to - from) / 2;
            if (all[middle] < a->values[i])
                from = middle + 1;
            else
                to = middle;
        }
        all += from;
        n_all -= from;
        n_both += n_all > 0 && all[0] == a->values[i];
    }
    *ret_estimate = a->below == 0
                        ? exact_estimate(n_both, a->n_values)
                        : estimate_of_sample(n_both, a->n_values, min_sketch_cardinality(a));
    return 0;
}

/* An upper bound of n_both / u when the merge goes on to its end: every value left in the shorter
 * rest would have to be in the longer rest, too. */
static double at_most_fixed(const struct value_merge *m)
{
    uint32_t left_a = m->end_a - m->n_a, left_b = m->end_b - m->n_b;
    uint32_t fewer = left_a < left_b ? left_a : left_b;
    uint32_t more = left_a < left_b ? left_b : left_a;
    return (double)(m->n_both + fewer) / (m->u + more);
}

/* An upper bound of n_both / u when the merge goes on to u = s. */
static double at_most_first(const struct value_merge *m, uint32_t s)
{
    return m->u < s ? (double)(m->n_both + (s - m->u)) / s : 0;
}

/* The number of merge steps after which at_most_fixed() can first fall below at_least: a step takes
 * at most 1 from the numerator and adds at most 1 to the denominator. */
static uint32_t stride_fixed(const struct value_merge *m, double at_least)
{
    uint32_t left_a = m->end_a - m->n_a, left_b = m->end_b - m->n_b;
    uint32_t fewer = left_a < left_b ? left_a : left_b;
    uint32_t more = left_a < left_b ? left_b : left_a;
    double spare = (m->n_both + fewer) - at_least * (m->u + more);
    return 1 + (uint32_t)(spare > 0 ? spare / (1 + at_least) : 0);
}

static uint32_t stride_first(const struct value_merge *m, uint32_t s, double at_least)
{
    double spare = m->u < s ? m->n_both + (s - m->u) - at_least * s : 0;
    return 1 + (uint32_t)(spare > 0 ? spare : 0);
}

/* The sample is merged as in sample(), but the merge is given up when n_both / u cannot reach
 * at_least any more. The bound is evaluated only after as many steps as it needs at least to fall
 * below at_least. (Division rounds monotonously, so a rounded bound is never less than the rounded
 * value that it bounds.) */
static bool sample_reaching(const struct min_sketch *a, const struct min_sketch *b, double at_least,
                            struct value_merge *m)
{
    enum { MIN_STRIDE = 32 }; /* fewer at a time would be merged one by one */

    /* The sample is either all values below the common bound or the first s of the union. The two
     * flags are both true only while the number of values below the bound may be on either side of
     * s. */
    *m = merge_fixed(a, b);
    bool exact = is_exact(a, b);
    bool maybe_first = !exact && m->end_a < a->s && m->end_b < a->s;
    bool maybe_fixed = exact || m->end_a + m->end_b > a->s;
    while (m->n_a < m->end_a || m->n_b < m->end_b) {
        double most = maybe_fixed ? at_most_fixed(m) : 0;
        uint32_t stride = maybe_fixed ? stride_fixed(m, at_least) : MIN_STRIDE;
        if (maybe_first) {
            most = fmax(most, at_most_first(m, a->s));
            uint32_t other = stride_first(m, a->s, at_least);
            stride = other > stride ? other : stride;
        }
        if (most < at_least)
            return false;
        merge_values(m, m->u + (stride > MIN_STRIDE ? stride : MIN_STRIDE));
    }
    if (exact || m->u >= a->s)
        return true;

    merge_unbound(m, a, b);
    while (m->u < a->s) {
        if (at_most_first(m, a->s) < at_least)
            return false;
        uint32_t left = a->s - m->u, stride = stride_first(m, a->s, at_least);
        if (stride < MIN_STRIDE)
            stride = MIN_STRIDE;
        merge_values(m, m->u + (left < stride ? left : stride));
    }
    return true;
}

int min_sketch_reaches(const struct min_sketch *a, const struct min_sketch *b, double at_least,
                       struct estimate *ret_estimate)
{
    if (comparable(a, b) < 0)
        return -EPROTO;
    if (!a->n_values || !b->n_values)
        return -ENODATA;
    assert(is_exact(a, b) || a->n_values >= a->s || b->n_values >= b->s);

    struct value_merge m;
    if (!sample_reaching(a, b, at_least, &m))
        return 0;
    struct estimate estimate = resemblance_of(a, b, &m);
    if (estimate.value < at_least)
        return 0;
    *ret_estimate = estimate;
    return 1;
}

uint32_t min_sketch_n_v(const struct min_sketch *sketch)
{
    return count_below(sketch, sketch->v_below);
}

uint32_t min_sketch_modulus(const struct min_sketch *sketch)
{
    const double modulus = round(1 / bound_share(sketch->v_below));
    return modulus < UINT32_MAX ? (uint32_t)modulus : UINT32_MAX;
}

double min_sketch_cardinality(const struct min_sketch *sketch)
{
    if (sketch->below == 0)
        return sketch->n_values;
    uint32_t n_v = min_sketch_n_v(sketch);
    if (n_v > sketch->s)
        return n_v / bound_share(sketch->v_below);
    assert(sketch->n_values >= sketch->s);
    return (sketch->s - 1) * (RANGE / ((double)sketch->values[sketch->s - 1] + 1));
}

void min_sketch_fingerprint(const struct min_sketch *sketch, uint8_t ret_fingerprint[16])
{
    /* The bounds are hashed, too: equal fingerprints then mean that every estimate is the same for
     * both documents. */
    const uint64_t bounds[] = {sketch->below, sketch->v_below};
    XXH128_hash_t values = XXH3_128bits(sketch->values, sketch->n_values * sizeof(uint64_t));
    const uint64_t all[] = {values.low64, values.high64, bounds[0], bounds[1]};
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(all, sizeof(all)));
    memcpy(ret_fingerprint, canonical.digest, 16);
}

/* V is bounded by a power of two (V_i), so by the largest one that the values left reach. */
struct min_sketch min_sketch_shortened(const struct min_sketch *sketch)
{
    struct min_sketch shortened = *sketch;
    if (sketch->n_values <= sketch->s)
        return shortened;
    const uint64_t after_s = sketch->values[sketch->s - 1] + 1;
    const uint64_t reached = UINT64_C(1) << (63 - __builtin_clzll(after_s));
    shortened.n_values = sketch->s;
    shortened.below = after_s;
    if (bound_last(reached) < bound_last(sketch->v_below))
        shortened.v_below = reached;
    return shortened;
}

int min_sketch_copy(const struct min_sketch *sketch, struct min_sketch *ret_copy)
{
    size_t size = sketch->n_values * sizeof(uint64_t);
    uint64_t *values = NULL;
    if (size) {
        values = malloc(size);
        if (!values)
            return -ENOMEM;
        memcpy(values, sketch->values, size);
    }
    *ret_copy = *sketch;
    ret_copy->values = values;
    return 0;
}

void min_sketch_done(struct min_sketch *owned)
{
    free((void *)owned->values);
    owned->values = NULL;
    owned->n_values = 0;
}
