/* The builder of sketches: from the fingerprints of a document's shingles, or from two sketches.
 *
 * The builder keeps the values below a falling cut and drops the rest at one comparison each. At
 * the start the cut is 2^64. The sketch of all values so far needs only those below
 * max(v_below, x_(s) + 1), which only falls as values are added, so no value is dropped that the
 * end still needs as long as the cut stays above it, and the result does not depend on the order.
 *
 * Example, s = 2 and v_below next to 0: 9 3 7 1 have come. The smallest two are 1 and 3, so the cut
 * falls from 2^64 to 4 and 1 3 stay. The next values are 8, dropped at once, and 2, kept. At the
 * end 1 2 3 are cut exactly: values 1 2, below = 3.
 *
 * Until the cut has come down to v_below it is lowered whenever some values have gathered, without
 * sorting them: the range below the cut is divided into equal parts, each part that holds a value
 * is marked, and below the end of the s-th marked part there are at least s different values. The
 * values are sorted, made unique and cut exactly only at the end, or when memory is full.
 *
 * Cost: one comparison for almost every fingerprint (select_values.h), as the cut falls quickly: of
 * n distinct fingerprints some s log(n/s) get below it, and those below v_below.
 *
 * Memory: v_max + 1 values are the most a sketch can need before v_below is halved, and as many
 * again (at least MIN_GATHER) can gather before the next sort, so that a sort of 2n values is paid
 * for by n additions.
 *
 * Left out: a heap of the s smallest values. It costs a branch on a random value and log s steps
 * for every value it takes, and needs a hash table besides to refuse duplicates.
 */
#include "engine/sketch/minima/min_sketch.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "engine/sketch/minima/select_values.h"

enum {
    MIN_GATHER = 256,     /* lowering the cut for fewer costs more than it saves */
    MAX_BUCKET_BITS = 13, /* of a sort: 32 KiB of bucket starts */
    MANY_MOVES = 8,       /* moves a value in a sort: more than random values need */
    PARTS_PER_VALUE = 32, /* parts of the range for each of s: two of s are rarely in one part */
};

struct min_sketch_builder {
    uint64_t policy_id;
    select_values_fn *select;
    uint32_t s, m, v_max;
    uint64_t v_below, cut; /* 0: 2^64 */
    uint32_t n_sorted;     /* the first so many values are sorted and unique */
    uint32_t n_values, settle_at, capacity;
    unsigned part_bits;
    uint64_t *values, *scratch; /* capacity each and slack; scratch takes part in sorting only */
    uint64_t *occupied;         /* a bit for each of 2^part_bits parts of the range */
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

/* A bucket sort of values of which none exceeds last. Fingerprints are uniform below it, so their
 * upper bits put them next to their places and an insertion sort moves only some neighbours. Values
 * that an adversary chose, who must know the key for it, are sorted by qsort(3) instead. */
static void sort_values(uint64_t *values, uint32_t n, uint64_t last, uint64_t *scratch)
{
    uint32_t starts[(1 << MAX_BUCKET_BITS) + 1];
    unsigned bits = 1;
    while (bits < MAX_BUCKET_BITS && (uint32_t)1 << bits < 2 * n)
        bits++;
    unsigned used = last ? 64 - __builtin_clzll(last) : 1;
    unsigned shift = used > bits ? used - bits : 0;
    uint32_t n_buckets = (uint32_t)(last >> shift) + 1, sum = 0;

    memset(starts, 0, n_buckets * sizeof(*starts));
    for (uint32_t i = 0; i < n; i++)
        starts[values[i] >> shift]++;
    for (uint32_t i = 0; i < n_buckets; i++) {
        uint32_t in_bucket = starts[i];
        starts[i] = sum;
        sum += in_bucket;
    }
    for (uint32_t i = 0; i < n; i++)
        scratch[starts[values[i] >> shift]++] = values[i];
    uint64_t moves = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t value = scratch[i];
        uint32_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
        moves += i - at;
        if (moves > (uint64_t)MANY_MOVES * n) { /* the values are not random */
            memcpy(values + i + 1, scratch + i + 1, (n - i - 1) * sizeof(*values));
            qsort(values, n, sizeof(*values), compare_values);
            return;
        }
    }
}

/* The number of sorted values that are below a bound (0: 2^64). */
static uint32_t n_below(const uint64_t *values, uint32_t n, uint64_t below)
{
    while (n > 0 && below && values[n - 1] >= below)
        n--;
    return n;
}

/* The bounds of a sketch, and the number of values that it keeps.
 *
 * values   values of the document, sorted and unique: all of those below *below (0: all of them),
 *          and maybe some more
 * v_below  in: the bound of V so far; out: the same or a lower one
 * below    in: the bound under which values is complete; out: that of the sketch
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
    builder->select = select_values_of(kernel_in_use());
    builder->part_bits = 6;
    while ((uint32_t)1 << builder->part_bits < PARTS_PER_VALUE * builder->s)
        builder->part_bits++;
    size_t size = (builder->capacity + SELECT_VALUES_SLACK) * sizeof(uint64_t);
    builder->values = malloc(size);
    builder->scratch = malloc(size);
    builder->occupied = malloc(((size_t)1 << builder->part_bits) / 8);
    if (!builder->values || !builder->scratch || !builder->occupied)
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
    free(builder->occupied);
    free(builder);
}

/* The next settling comes when the values have doubled, or when memory is full. Where the cut has
 * reached v_below it cannot fall any further, and memory may fill up first. */
static void plan_settling(struct min_sketch_builder *builder)
{
    uint32_t least = 4 * builder->s > MIN_GATHER ? 4 * builder->s : MIN_GATHER;
    uint32_t at = 2 * builder->n_values > least ? 2 * builder->n_values : least;
    if (at > builder->capacity || builder->cut == builder->v_below)
        at = builder->capacity;
    builder->settle_at = at;
}

void min_sketch_builder_begin(struct min_sketch_builder *builder)
{
    builder->v_below = modulus_bound(builder->m);
    builder->cut = 0;
    builder->n_values = builder->n_sorted = 0;
    plan_settling(builder);
}

static void settle(struct min_sketch_builder *builder)
{
    if (builder->n_values == builder->n_sorted)
        return;
    uint64_t *values = builder->values;
    sort_values(values, builder->n_values, builder->cut - 1, builder->scratch);
    uint32_t n = 1;
    uint64_t before = values[0];
    for (uint32_t i = 1; i < builder->n_values; i++) {
        uint64_t value = values[i];
        values[n] = value;
        n += value != before;
        before = value;
    }
    builder->n_values = builder->n_sorted =
        cut_values(values, n, builder->s, builder->v_max, &builder->v_below, &builder->cut);
}

/* A lower cut: the end of the s-th occupied part of the range, but at least v_below; 0: there is no
 * such bound below the present cut. */
static uint64_t lower_cut(struct min_sketch_builder *builder)
{
    uint64_t last = builder->cut - 1, *occupied = builder->occupied;
    unsigned used = 64 - __builtin_clzll(last | 1);
    unsigned shift = used > builder->part_bits ? used - builder->part_bits : 0;
    size_t n_words = ((size_t)(last >> shift) >> 6) + 1;
    memset(occupied, 0, n_words * sizeof(*occupied));
    for (uint32_t i = 0; i < builder->n_values; i++) {
        uint64_t part = builder->values[i] >> shift;
        occupied[part >> 6] |= (uint64_t)1 << (part & 63);
    }

    uint32_t wanted = builder->s;
    for (size_t i = 0; i < n_words; i++) {
        uint32_t n = (uint32_t)__builtin_popcountll(occupied[i]);
        if (n < wanted) {
            wanted -= n;
            continue;
        }
        uint64_t word = occupied[i];
        for (; wanted > 1; wanted--)
            word &= word - 1;
        uint64_t bound = (((uint64_t)i << 6) + (uint64_t)__builtin_ctzll(word) + 1) << shift;
        if (builder->v_below - 1 > bound - 1)
            bound = builder->v_below;
        return bound - 1 < last ? bound : 0;
    }
    return 0;
}

/* The cut is lowered, without sorting, where that leaves fewer values. */
static void lower(struct min_sketch_builder *builder)
{
    uint64_t cut = builder->cut == builder->v_below ? 0 : lower_cut(builder);
    if (!cut)
        return;
    uint32_t n =
        (uint32_t)builder->select(builder->values, builder->n_values, cut - 1, builder->values);
    if (n == builder->n_values) /* maybe the document has no others: its sketch stays complete */
        return;
    builder->cut = cut;
    builder->n_values = n;
    builder->n_sorted = 0;
}

static void make_room(struct min_sketch_builder *builder)
{
    lower(builder);
    if (builder->n_values > builder->settle_at / 2)
        settle(builder);
    plan_settling(builder);
}

void min_sketch_builder_add(struct min_sketch_builder *builder, const uint64_t *fingerprints,
                            size_t n_fingerprints)
{
    while (n_fingerprints > 0) {
        /* A piece is as many as fit even if all of them are kept. */
        size_t n = builder->settle_at - builder->n_values;
        if (n > n_fingerprints)
            n = n_fingerprints;
        builder->n_values += (uint32_t)builder->select(fingerprints, n, builder->cut - 1,
                                                       builder->values + builder->n_values);
        if (builder->n_values == builder->settle_at)
            make_room(builder);
        fingerprints += n;
        n_fingerprints -= n;
    }
}

void min_sketch_builder_finish(struct min_sketch_builder *builder, uint64_t n_tokens,
                               struct min_sketch *ret_sketch)
{
    if (builder->n_values > builder->s + builder->s / 4)
        lower(builder);
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
