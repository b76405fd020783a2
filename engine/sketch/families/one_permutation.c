/* One-permutation hashing: k = 128 bins, each of which holds the least value of the elements that
 * fall into it. A bin that nothing fell into takes the value of another one, the first non-empty
 * bin of a sequence of bins that is drawn for it and is the same for every set ("optimal
 * densification": Shrivastava 2017, "Optimal densification for fast and accurate minwise hashing").
 * Two sets then agree in a bin with probability r.
 *
 * Example with 4 bins of the range 0..1: the values 0.1, 0.2 and 0.3 leave 0.1 in bin 0 and 0.3 in
 * bin 1. Bins 2 and 3 are empty; where the sequence of bin 2 is 3 1 ... and that of bin 3 is 0 ...,
 * bin 2 takes the value of bin 1 and bin 3 that of bin 0.
 *
 * Error. Let M bins of the union be non-empty. Their minima are M of the N elements of the union,
 * drawn without replacement; each of the k - M others is one of these, drawn with replacement. (The
 * union's sequence decides: where its first non-empty bin has a least value that only A has, A and
 * B end at different elements.) The variance is therefore
 *
 *     r (1-r) ((N-M)/(N-1)/M + (1 - 1/M) (k-M)/k^2)
 *
 * M is known from the bins that are a set's own, N is estimated from it: M = k (1 - (1-1/k)^N).
 *
 * Cost: one hash an element instead of k (eight table look-ups); finishing takes k / M draws on
 * average for an empty bin; a comparison is 128 numbers. Left out: the containment, and rotation in
 * place of drawn sequences, which is simpler but has a larger variance for short documents.
 *
 * Payload: k values of 8 bytes, then k bits, lowest first: the bin is the set's own.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mix.h"
#include "engine/sketch/families/families.h"
#include "engine/sketch/hash/tabulation.h"

enum { BIN_BITS = 7, K = 1 << BIN_BITS, OWN_AT = 8 * K, PAYLOAD_BYTES = OWN_AT + K / 8 };

struct one_permutation {
    struct tabulation permutation;
    uint64_t detours[K]; /* the seed of the sequence of bins that bin i follows when empty */
    uint64_t bins[K];    /* UINT64_MAX: empty */
    uint8_t payload[PAYLOAD_BYTES];
};

static void one_permutation_begin(void *state)
{
    struct one_permutation *one = state;
    memset(one->bins, 0xff, sizeof(one->bins));
}

static int one_permutation_new(const uint8_t key[SKETCH_KEY_BYTES], void **ret_state)
{
    struct one_permutation *one = malloc(sizeof(*one));
    if (!one)
        return -ENOMEM;
    int r = tabulation_init(&one->permutation, key, "one permutation");
    if (r == 0)
        r = sketch_key_derive(key, "densification", one->detours, sizeof(one->detours));
    if (r < 0) {
        free(one);
        return r;
    }
    *ret_state = one;
    return 0;
}

static int one_permutation_add(void *state, const uint64_t *elements, size_t n_elements)
{
    struct one_permutation *one = state;
    for (size_t i = 0; i < n_elements; i++) {
        uint64_t hash = tabulate(&one->permutation, elements[i]);
        size_t bin = hash >> (64 - BIN_BITS);
        uint64_t value = hash << BIN_BITS; /* never UINT64_MAX */
        if (value < one->bins[bin])
            one->bins[bin] = value;
    }
    return 0;
}

/* The bin whose value a bin has: itself, or the first non-empty one of its sequence. At least one
 * bin is non-empty. */
static size_t donor(const struct one_permutation *one, size_t bin)
{
    uint64_t detour = one->detours[bin];
    while (one->bins[bin] == UINT64_MAX)
        bin = mix64_next(&detour) >> (64 - BIN_BITS);
    return bin;
}

static int one_permutation_finish(void *state, struct sketch_payload *ret_payload)
{
    struct one_permutation *one = state;
    memset(one->payload + OWN_AT, 0, K / 8);
    for (size_t i = 0; i < K; i++) {
        size_t from = donor(one, i);
        /* The bin is a part of the value: bins hold the lower bits of their elements only. */
        put_be64(one->payload + 8 * i, one->bins[from] | from);
        one->payload[OWN_AT + i / 8] |= (uint8_t)((from == i) << i % 8);
    }
    *ret_payload = (struct sketch_payload){one->payload, PAYLOAD_BYTES};
    return 0;
}

static double variance(double r, double m)
{
    if (m < 2) /* one non-empty bin: its minimum is a single trial, however large the union is */
        return r * (1 - r);
    double n = m < K ? log1p(-m / K) / log1p(-1. / K) : INFINITY;
    double fewer = isinf(n) ? 1 : fmax(n - m, 0) / (n - 1);
    return r * (1 - r) * (fewer / m + (1 - 1 / m) * (K - m) / ((double)K * K));
}

static int one_permutation_estimate(const struct sketch_payload *a, const struct sketch_payload *b,
                                    struct estimate *ret_estimate)
{
    uint32_t n_equal = 0, n_own = 0;
    if (a->size_bytes != PAYLOAD_BYTES || b->size_bytes != PAYLOAD_BYTES)
        return -EUCLEAN;
    for (size_t i = 0; i < K; i++)
        n_equal += get_be64(a->bytes + 8 * i) == get_be64(b->bytes + 8 * i);
    for (size_t i = OWN_AT; i < PAYLOAD_BYTES; i++)
        n_own += (uint32_t)__builtin_popcount(a->bytes[i] | b->bytes[i]);
    if (n_own == 0)
        return -EUCLEAN;
    *ret_estimate = (struct estimate){
        .value = (double)n_equal / K,
        .error = sqrt(variance((n_equal + 2.) / (K + 4.), n_own)),
        .n_samples = n_own,
    };
    return 0;
}

const struct sketch_family one_permutation_family = {
    .name = "one-permutation",
    .summary = "the least value in each of 128 bins under one permutation",
    .measure = SKETCH_RESEMBLANCE,
    .number = 6,
    .state_new = one_permutation_new,
    .state_free = free,
    .begin = one_permutation_begin,
    .add = one_permutation_add,
    .finish = one_permutation_finish,
    .estimate = one_permutation_estimate,
};
