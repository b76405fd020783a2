/* SimHash: 1024 bits, each the side of a random hyperplane on which the document's vector of
 * shingles lies. Two vectors at an angle of x lie on different sides with probability x / pi
 * (Charikar 2002, "Similarity estimation techniques from rounding algorithms"); for sets the angle
 * has the cosine |A n B| / sqrt(|A| |B|). 128 bytes.
 *
 * Example: |A| = 9, |B| = 4 and |A n B| = 3 make a cosine of 3 / 6, an angle of 60 degrees and some
 * 341 different bits of 1024.
 *
 * The coordinates of a hyperplane are normal (256 quantiles of the normal distribution, drawn by 8
 * bits each): then the law above holds for small sets as for large ones, which with coordinates of
 * +1 and -1 it does not.
 *
 * The cosine of the estimated angle is off by about -cos(angle) pi^2 p (1-p) / 2 / bits on average,
 * which is added back. Vectors of sets are never at more than a right angle: a value below 0 comes
 * by chance alone, and is handed out as it is. For equal sketches the value is 1.
 *
 * Cost: 128 random numbers and 1024 additions an element, and 8 bytes of memory for each element
 * until the end, as one that came twice must be added once. A comparison is 128 bytes of exclusive
 * or. Left out: weights of shingles by how often they come; the other families are of sets, too.
 */
#include <errno.h>
#include <math.h>

#include "base/mix.h"
#include "engine/sketch/families/element_set.h"
#include "engine/sketch/families/families.h"

enum { BITS = 1024, PAYLOAD_BYTES = BITS / 8, DRAWN_AT_ONCE = 8 };

struct sim_hash {
    uint64_t seed;
    int16_t quantiles[256]; /* of the normal distribution, in units of 2^-12, symmetric */
    struct element_set set;
    int64_t sums[BITS];
    uint8_t payload[PAYLOAD_BYTES];
};

/* x with normal probability p below it, by bisection. */
static double quantile(double p)
{
    double from = -10, to = 10;
    for (unsigned i = 0; i < 60; i++) {
        double middle = (from + to) / 2;
        if (erfc(-middle / sqrt(2)) / 2 < p)
            from = middle;
        else
            to = middle;
    }
    return from;
}

static void sim_hash_free(void *state)
{
    struct sim_hash *sim_hash = state;
    element_set_done(&sim_hash->set);
    free(sim_hash);
}

static int sim_hash_new(const uint8_t key[SKETCH_KEY_BYTES], void **ret_state)
{
    struct sim_hash *sim_hash = calloc(1, sizeof(*sim_hash));
    if (!sim_hash)
        return -ENOMEM;
    int r = sketch_key_derive(key, "hyperplanes", &sim_hash->seed, sizeof(sim_hash->seed));
    if (r < 0) {
        free(sim_hash);
        return r;
    }
    for (unsigned i = 0; i < 128; i++) {
        sim_hash->quantiles[i] = (int16_t)lround(4096 * quantile((i + .5) / 256));
        sim_hash->quantiles[255 - i] = (int16_t)-sim_hash->quantiles[i];
    }
    *ret_state = sim_hash;
    return 0;
}

static void sim_hash_begin(void *state)
{
    struct sim_hash *sim_hash = state;
    element_set_clear(&sim_hash->set);
}

static int sim_hash_add(void *state, const uint64_t *elements, size_t n_elements)
{
    struct sim_hash *sim_hash = state;
    return element_set_add(&sim_hash->set, elements, n_elements);
}

static void add_element(struct sim_hash *sim_hash, uint64_t element)
{
    uint64_t seed = mix64(element ^ sim_hash->seed);
    for (size_t i = 0; i < BITS; i += DRAWN_AT_ONCE) {
        uint64_t drawn = mix64_next(&seed);
        for (unsigned j = 0; j < DRAWN_AT_ONCE; j++)
            sim_hash->sums[i + j] += sim_hash->quantiles[drawn >> 8 * j & 0xff];
    }
}

static int sim_hash_finish(void *state, struct sketch_payload *ret_payload)
{
    struct sim_hash *sim_hash = state;
    for (size_t i = 0; i < BITS; i++)
        sim_hash->sums[i] = 0;
    element_set_sort(&sim_hash->set);
    for (size_t i = 0; i < sim_hash->set.n_elements; i++)
        add_element(sim_hash, sim_hash->set.elements[i]);
    for (size_t i = 0; i < PAYLOAD_BYTES; i++) {
        sim_hash->payload[i] = 0;
        for (size_t bit = 0; bit < 8; bit++)
            sim_hash->payload[i] |= (uint8_t)((sim_hash->sums[8 * i + bit] > 0) << bit);
    }
    *ret_payload = (struct sketch_payload){sim_hash->payload, PAYLOAD_BYTES};
    return 0;
}

static int sim_hash_estimate(const struct sketch_payload *a, const struct sketch_payload *b,
                             struct estimate *ret_estimate)
{
    const double pi = acos(-1);
    uint32_t n_different = 0;
    if (a->size_bytes != PAYLOAD_BYTES || b->size_bytes != PAYLOAD_BYTES)
        return -EUCLEAN;
    for (size_t i = 0; i < PAYLOAD_BYTES; i++)
        n_different += (uint32_t)__builtin_popcount(a->bytes[i] ^ b->bytes[i]);
    struct estimate angle = estimate_of_trials(n_different, BITS);
    double share = angle.value, curve = pi * pi / 2 * share * (1 - share) / (BITS - 1);
    *ret_estimate = (struct estimate){
        .value = cos(pi * share) * (1 + curve),
        /* next to an angle of 0 the cosine is 1 - angle^2 / 2, and the slope is no measure */
        .error = pi * angle.error * fmax(sin(pi * share), pi * angle.error / sqrt(2)),
        .n_samples = BITS,
    };
    return 0;
}

const struct sketch_family sim_hash_family = {
    .name = "simhash",
    .summary = "on which sides of 1024 random hyperplanes the set lies: the cosine",
    .measure = SKETCH_COSINE,
    .number = 9,
    .state_new = sim_hash_new,
    .state_free = sim_hash_free,
    .begin = sim_hash_begin,
    .add = sim_hash_add,
    .finish = sim_hash_finish,
    .estimate = sim_hash_estimate,
};
