/* For each signature and word, r and c are drawn by Gamma(2, 1) and b uniformly, by the word alone.
 * They divide the logarithm of weights into steps of r: t = floor(ln w / r + b) is the step that
 * the weight w is in, y = exp(r (t - b)) the place where the step begins, below w. The word with
 * the least c / (y e^r) is chosen, and the signature is that word and its t.
 *
 * Example: a word of weight 5 in one bag and of 4 in another, r = 1, b = 0.5: ln 5 / r + b is 2.11
 * and ln 4 / r + b is 1.89, so the first has t = 2 and y = e^1.5 = 4.48, the second t = 1 and y =
 * e^0.5 = 1.65. They do not agree, as they shall not in one of five cases.
 *
 * I2CWS draws r and b twice: from one comes z = exp(r (t - b + 1)), by which the word with the
 * least c / z is chosen, from the other the t of the signature.
 *
 * All is computed in logarithms, so that weights of any size do. Cost: three logarithms for each
 * word and signature. Left out: SCWS and other schemes that leave out t (0-bit): they have a bias.
 */
#include "engine/topic/weighted/consistent.h"

#include <math.h>

#include "base/mix.h"
#include "engine/sketch/hash/tabulation.h"

struct consistent_hash {
    uint64_t signatures[BAG_SIGNATURES];
    struct tabulation words;
};

int consistent_hash_new(const uint8_t key[SKETCH_KEY_BYTES], struct consistent_hash **ret_hash)
{
    _cleanup_(consistent_hash_free_p) struct consistent_hash *hash = malloc(sizeof(*hash));
    if (!hash)
        return -ENOMEM;
    int r = sketch_key_derive(key, "signatures of consistent bags", hash->signatures,
                              sizeof(hash->signatures));
    if (r == 0)
        r = tabulation_init(&hash->words, key, "words of consistent bags");
    if (r < 0)
        return r;
    *ret_hash = TAKE_PTR(hash);
    return 0;
}

void consistent_hash_free(struct consistent_hash *hash)
{
    free(hash);
}

/* Above 0 and below 1. */
static double uniform(uint64_t *random)
{
    return ((double)(mix64_next(random) >> 12) + 0.5) * 0x1p-52;
}

static double gamma_2(uint64_t *random)
{
    double first = uniform(random);
    return -log(first * uniform(random));
}

struct steps {
    double r, b;
};

static struct steps draw_steps(uint64_t *random)
{
    double r = gamma_2(random);
    return (struct steps){r, uniform(random)};
}

static double step_of(const struct steps *steps, double log_weight)
{
    return floor(log_weight / steps->r + steps->b);
}

/* Begins what a word draws for a signature, of which the first are the steps of the signature. */
static uint64_t draws_of(const struct consistent_hash *hash, unsigned signature, uint64_t word)
{
    return mix64(tabulate(&hash->words, word) ^ hash->signatures[signature]);
}

/* The logarithm of c / (y e^r), or of c / z. */
static double key_of(uint64_t random, enum consistent_kind kind, double log_weight)
{
    struct steps steps = draw_steps(&random);
    double log_c = log(gamma_2(&random));
    if (kind == CONSISTENT_I2CWS)
        steps = draw_steps(&random);
    return log_c - steps.r * (step_of(&steps, log_weight) - steps.b + 1);
}

static uint64_t signature_of(uint64_t random, const struct bag_word *word)
{
    struct steps steps = draw_steps(&random);
    int64_t step = (int64_t)step_of(&steps, log(word->weight));
    return mix64(mix64(word->word) + (uint64_t)step * UINT64_C(0x9e3779b97f4a7c15));
}

void consistent_sketch(const struct consistent_hash *hash, enum consistent_kind kind,
                       const struct bag *bag, struct bag_sketch *ret_sketch)
{
    double least[BAG_SIGNATURES];
    uint32_t chosen[BAG_SIGNATURES];
    bag_sketch_empty(ret_sketch);
    for (uint32_t j = 0; j < bag->n_words; j++) {
        double log_weight = log(bag->words[j].weight);
        for (unsigned i = 0; i < BAG_SIGNATURES; i++) {
            double key = key_of(draws_of(hash, i, bag->words[j].word), kind, log_weight);
            if (j == 0 || key < least[i]) {
                least[i] = key;
                chosen[i] = j;
            }
        }
    }
    for (unsigned i = 0; bag->n_words && i < BAG_SIGNATURES; i++) {
        const struct bag_word *word = &bag->words[chosen[i]];
        bag_sketch_set(ret_sketch, i, signature_of(draws_of(hash, i, word->word), word));
    }
}
