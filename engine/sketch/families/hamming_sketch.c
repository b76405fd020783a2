/* The Hamming family estimates the distance of two sets whatever it is: it has parities (hamming.h)
 * at k = 2, 4, 8, ... 2^20, 640 of each, of which 128 serve to choose k and 512 to estimate, so
 * that the choice does not bend the estimate. 1600 bytes.
 *
 * At distance m a share of (1 - (1 - 1/k)^m) / 2 of the parities at k differs. With w = 1 - 2 *
 * share of those seen, m is estimated by log w / log(1 - 1/k), less the average effect of the
 * logarithm's curvature, (1 - w^2) / (2 t w^2). The relative error is smallest, about 2.5 / sqrt(t)
 * or 11 %, for m about 0.8 k. (k, the parities themselves, and a decision between k and 2k with a
 * wanted probability are hamming.h's.)
 *
 * Example: at k = 8, 141 of 512 parities differ, w = 1 - 282/512 = 0.45, and m is estimated by
 * log 0.45 / log 0.875 = 6.0.
 *
 * Cost: some 2000 random numbers an element, and 8 bytes of memory for each until the end, as a
 * second coming would undo the first. Left out: a combination of the estimates at several k.
 */
#include <errno.h>
#include <math.h>

#include "base/bytes.h"
#include "engine/sketch/families/element_set.h"
#include "engine/sketch/families/families.h"
#include "engine/sketch/families/hamming.h"

enum {
    SCALES = 20,
    PILOT_WORDS = 2,
    WORDS = 10,
    PARITIES = 64 * (WORDS - PILOT_WORDS),
    SCALE_BYTES = 8 * WORDS,
    PAYLOAD_BYTES = SCALES * SCALE_BYTES,
};

/* k is large enough where so much of w is left in the pilot: m <= k log(1/0.4) = 0.92 k. */
static const double ENOUGH_LEFT = 0.4;

struct hamming_sketch {
    struct hamming scales[SCALES];
    struct element_set set;
    uint8_t payload[PAYLOAD_BYTES];
};

static void hamming_sketch_free(void *state)
{
    struct hamming_sketch *sketch = state;
    element_set_done(&sketch->set);
    free(sketch);
}

static int hamming_sketch_new(const uint8_t key[SKETCH_KEY_BYTES], void **ret_state)
{
    struct hamming_sketch *sketch = calloc(1, sizeof(*sketch));
    if (!sketch)
        return -ENOMEM;
    for (unsigned i = 0; i < SCALES; i++) {
        int r = hamming_init(&sketch->scales[i], key, (uint32_t)2 << i, 64 * WORDS);
        if (r < 0) {
            free(sketch);
            return r;
        }
    }
    *ret_state = sketch;
    return 0;
}

static void hamming_sketch_begin(void *state)
{
    struct hamming_sketch *sketch = state;
    element_set_clear(&sketch->set);
}

static int hamming_sketch_add(void *state, const uint64_t *elements, size_t n_elements)
{
    struct hamming_sketch *sketch = state;
    return element_set_add(&sketch->set, elements, n_elements);
}

static int hamming_sketch_finish(void *state, struct sketch_payload *ret_payload)
{
    struct hamming_sketch *sketch = state;
    element_set_sort(&sketch->set);
    for (unsigned scale = 0; scale < SCALES; scale++) {
        uint64_t parities[WORDS] = {0};
        hamming_flip(&sketch->scales[scale], sketch->set.elements, sketch->set.n_elements,
                     parities);
        for (unsigned i = 0; i < WORDS; i++)
            put_be64(sketch->payload + SCALE_BYTES * scale + 8 * i, parities[i]);
    }
    *ret_payload = (struct sketch_payload){sketch->payload, PAYLOAD_BYTES};
    return 0;
}

static uint32_t n_different(const uint8_t *a, const uint8_t *b, unsigned from, unsigned to)
{
    uint32_t n = 0;
    for (unsigned i = from; i < to; i++)
        n += (uint32_t)__builtin_popcountll(get_be64(a + 8 * i) ^ get_be64(b + 8 * i));
    return n;
}

static struct estimate distance_at(double k, uint32_t x)
{
    struct estimate share = estimate_of_trials(x, PARITIES);
    double unit = -log1p(-1 / k); /* the fall of log w for each element of difference */
    double w = fmax(1 - 2 * share.value, 1. / PARITIES);
    double curve = (1 - w * w) / (2 * w * w * PARITIES);
    return (struct estimate){
        .value = x ? fmax(-log(w) - curve, 0) / unit : 0,
        .error = 2 * share.error / w / unit,
        .n_samples = PARITIES,
    };
}

static int hamming_sketch_estimate(const struct sketch_payload *a, const struct sketch_payload *b,
                                   struct estimate *ret_estimate)
{
    if (a->size_bytes != PAYLOAD_BYTES || b->size_bytes != PAYLOAD_BYTES)
        return -EUCLEAN;
    for (unsigned scale = 0; scale < SCALES; scale++) {
        const uint8_t *x = a->bytes + SCALE_BYTES * scale, *y = b->bytes + SCALE_BYTES * scale;
        double pilot = n_different(x, y, 0, PILOT_WORDS) / (64. * PILOT_WORDS);
        if (1 - 2 * pilot < ENOUGH_LEFT && scale < SCALES - 1)
            continue;
        *ret_estimate = distance_at(ldexp(2, (int)scale), n_different(x, y, PILOT_WORDS, WORDS));
        break;
    }
    return 0;
}

const struct sketch_family hamming_family = {
    .name = "hamming",
    .summary = "parities of random choices of elements: how many are in one set only",
    .measure = SKETCH_HAMMING,
    .number = 10,
    .state_new = hamming_sketch_new,
    .state_free = hamming_sketch_free,
    .begin = hamming_sketch_begin,
    .add = hamming_sketch_add,
    .finish = hamming_sketch_finish,
    .estimate = hamming_sketch_estimate,
};
