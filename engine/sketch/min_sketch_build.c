/* Sketches from fingerprints, and from sketches.
 *
 * The builder keeps the values below a falling cut and drops the rest at one comparison each. At
 * the start the cut is 2^64. Whenever some more values have gathered they are sorted, made unique,
 * and the cut falls to what the sketch of all values so far needs: max(v_below, x_(s) + 1). Both
 * only fall as values are added, so no value is dropped that the end still needs, and the result
 * does not depend on the order or on when the sorting took place.
 *
 * Memory: v_max + 1 values are the most a sketch can need before v_below is halved, and as many
 * again (at least MIN_GATHER) can gather before the next sort, so that a sort of 2n values is paid
 * for by n additions.
 */
#include "engine/sketch/min_sketch.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
    MIN_GATHER = 256,     /* sorting fewer at a time costs more than it saves */
    MAX_BUCKET_BITS = 11, /* bucket starts of a sort: 8 KiB, beside the values in the first cache */
    SMALL_SORT = 24,      /* from here on qsort() is faster than insertion */
};

struct min_sketch_builder {
    uint64_t policy_id;
    uint32_t s, m, v_max;
    uint64_t v_below, cut; /* 0: 2^64 */
    uint32_t n_sorted;     /* the first so many values are sorted and unique */
    uint32_t n_values, sort_at, capacity;
    uint64_t *values, *scratch; /* capacity each; scratch takes part in sorting only */
};

/* 2^64 / m, 0 for 2^64 itself. */
static uint64_t modulus_bound(uint32_t m)
{
    return (uint64_t)(((unsigned __int128)1 << 64) / m);
}

/* The greatest power of two below a bound (0: 2^64). */
static uint64_t next_lower_power(uint64_t below)
{
    return (uint64_t)1 << (63 - (below ? __builtin_clzll(below - 1) : 0));
}

static int compare_values(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort_few(uint64_t *values, uint32_t n)
{
    if (n > SMALL_SORT) { /* chance or an attack put many into one bucket */
        qsort(values, n, sizeof(*values), compare_values);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        uint64_t value = values[i];
        uint32_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

/* Sort values of which none exceeds last. They are uniform below it, so that their upper bits put
 * them nearly into place. */
static void sort_values(uint64_t *values, uint32_t n, uint64_t last, uint64_t *scratch)
{
    uint32_t starts[(1 << MAX_BUCKET_BITS) + 1] = {0};
    unsigned bits = 1;
    while (bits < MAX_BUCKET_BITS && (uint32_t)2 << bits < n)
        bits++;
    unsigned used = last ? 64 - __builtin_clzll(last) : 1;
    unsigned shift = used > bits ? used - bits : 0;
    uint32_t n_buckets = (uint32_t)(last >> shift) + 1;

    for (uint32_t i = 0; i < n; i++)
        starts[(values[i] >> shift) + 1]++;
    for (uint32_t i = 0; i < n_buckets; i++)
        starts[i + 1] += starts[i];
    for (uint32_t i = 0; i < n; i++)
        scratch[starts[values[i] >> shift]++] = values[i];
    uint32_t from = 0; /* starts[i] has become the end of bucket i */
    for (uint32_t i = 0; i < n_buckets; from = starts[i++])
        sort_few(scratch + from, starts[i] - from);
    memcpy(values, scratch, n * sizeof(*values));
}

/* How many of the sorted values are below a bound. */
static uint32_t n_below(const uint64_t *values, uint32_t n, uint64_t below)
{
    while (n > 0 && below && values[n - 1] >= below)
        n--;
    return n;
}

/* Find the bounds of a sketch and how many values it keeps.
 *
 * values   of the document, sorted and unique: all below *below (0: all there are), maybe some more
 * v_below  of the sketch so far, falls
 * below    in: as said; out: that of the sketch
 */
static uint32_t cut_values(const uint64_t *values, uint32_t n, uint32_t s, uint32_t v_max,
                           uint64_t *v_below, uint64_t *below)
{
    uint32_t n_v = n_below(values, n, *v_below);
    while (n_v > v_max) {
        *v_below = next_lower_power(*v_below);
        n_v = n_below(values, n_v, *v_below);
    }
    if (*below == 0 && (n <= s || *v_below == 0))
        return n;
    assert(n >= s);
    uint64_t after_s = values[s - 1] + 1; /* no overflow: the document has greater values */
    *below = *v_below > after_s ? *v_below : after_s;
    return n_v > s ? n_v : s;
}

int min_sketch_builder_new(const struct policy *policy, struct min_sketch_builder **ret_builder)
{
    if (policy_validate(policy) < 0)
        return -EINVAL;

    _cleanup_(min_sketch_builder_free_p) struct min_sketch_builder *builder =
        calloc(1, sizeof(*builder));
    if (!builder)
        return -ENOMEM;
    builder->policy_id = policy_id(policy);
    builder->s = policy->s;
    builder->m = policy->m;
    builder->v_max = policy->v_max;
    builder->capacity =
        policy->v_max + (policy->v_max > MIN_GATHER ? policy->v_max : MIN_GATHER) + 1;
    builder->values = malloc(builder->capacity * sizeof(uint64_t));
    builder->scratch = malloc(builder->capacity * sizeof(uint64_t));
    if (!builder->values || !builder->scratch)
        return -ENOMEM;
    min_sketch_builder_begin(builder);
    *ret_builder = TAKE_PTR(builder);
    return 0;
}

void min_sketch_builder_free(struct min_sketch_builder *builder)
{
    if (!builder)
        return;
    free(builder->values);
    free(builder->scratch);
    free(builder);
}

/* When to sort next: after as many additions as there are values, within the memory. */
static void plan_sort(struct min_sketch_builder *builder)
{
    uint32_t gather = builder->n_values > MIN_GATHER ? builder->n_values : MIN_GATHER;
    uint32_t room = builder->capacity - builder->n_values;
    builder->sort_at = builder->n_values + (gather < room ? gather : room);
}

void min_sketch_builder_begin(struct min_sketch_builder *builder)
{
    builder->v_below = modulus_bound(builder->m);
    builder->cut = 0;
    builder->n_values = builder->n_sorted = 0;
    plan_sort(builder);
}

static void settle(struct min_sketch_builder *builder)
{
    if (builder->n_values == builder->n_sorted)
        return;
    uint64_t *values = builder->values;
    sort_values(values, builder->n_values, builder->cut - 1, builder->scratch);
    uint32_t n = 1;
    for (uint32_t i = 1; i < builder->n_values; i++) {
        values[n] = values[i];
        n += values[i] != values[n - 1];
    }
    builder->n_values = builder->n_sorted =
        cut_values(values, n, builder->s, builder->v_max, &builder->v_below, &builder->cut);
    plan_sort(builder);
}

void min_sketch_builder_add(struct min_sketch_builder *builder, const uint64_t *fingerprints,
                            size_t n_fingerprints)
{
    while (n_fingerprints > 0) {
        /* As many as fit even if all of them are kept. */
        size_t n = builder->sort_at - builder->n_values;
        if (n > n_fingerprints)
            n = n_fingerprints;
        uint64_t last = builder->cut - 1;
        uint64_t *values = builder->values;
        uint32_t n_values = builder->n_values;
        for (size_t i = 0; i < n; i++) {
            values[n_values] = fingerprints[i];
            n_values += fingerprints[i] <= last;
        }
        builder->n_values = n_values;
        if (n_values == builder->sort_at)
            settle(builder);
        fingerprints += n;
        n_fingerprints -= n;
    }
}

void min_sketch_builder_finish(struct min_sketch_builder *builder, uint64_t n_tokens,
                               struct min_sketch *ret_sketch)
{
    settle(builder);
    *ret_sketch = (struct min_sketch){
        .policy_id = builder->policy_id,
        .n_tokens = n_tokens,
        .below = builder->cut,
        .v_below = builder->v_below,
        .s = builder->s,
        .m = builder->m,
        .n_values = builder->n_values,
        .values = builder->values,
    };
}

int min_sketch_merge(const struct policy *policy, const struct min_sketch *a,
                     const struct min_sketch *b, struct min_sketch *ret_sketch)
{
    uint64_t id = policy_id(policy);
    if (a->policy_id != id || b->policy_id != id)
        return -EPROTO;

    struct min_sketch sketch = *a;
    size_t most = (size_t)a->n_values + b->n_values;
    _cleanup_free_ uint64_t *values = malloc((most ? most : 1) * sizeof(uint64_t));
    if (!values)
        return -ENOMEM;

    uint32_t n = 0;
    for (uint32_t i = 0, j = 0; i < a->n_values || j < b->n_values; n++) {
        bool from_a = j == b->n_values || (i < a->n_values && a->values[i] <= b->values[j]);
        bool from_b = i == a->n_values || (j < b->n_values && b->values[j] <= a->values[i]);
        values[n] = from_a ? a->values[i] : b->values[j];
        i += from_a;
        j += from_b;
    }
    if (b->v_below - 1 < sketch.v_below - 1)
        sketch.v_below = b->v_below;
    if (b->below - 1 < sketch.below - 1)
        sketch.below = b->below;
    sketch.n_tokens = a->n_tokens + b->n_tokens;
    sketch.n_values =
        cut_values(values, n, policy->s, policy->v_max, &sketch.v_below, &sketch.below);
    sketch.values = TAKE_PTR(values);
    *ret_sketch = sketch;
    return 0;
}
