/* Each word of weight w has an exponential variable of rate w for each signature, and the word with
 * the least one is the signature. (The logarithm of its inverse is a Gumbel variable plus ln w,
 * whence the name.)
 *
 * A word's 80 variables are drawn in ascending order: the next of the n that are left comes after
 * an exponential time of rate n w, and belongs to one of the n signatures by chance. So all that
 * come after a time at which each signature has one need not be drawn. That time is near (ln 80) /
 * W for the sum W of all weights; it is taken 3 / W longer, which suffices in 19 cases of 20, and
 * else doubled until it does.
 *
 * Example: weights 3 and 1, W = 4: the time is 7.4 / 4 = 1.85. The first word has 80 (1 - e^(-3 *
 * 1.85)), nearly all 80 of its variables before it, the second 80 (1 - e^-1.85) = 67. With 100
 * words each has 6 of 80.
 *
 * Cost: 80 (ln 80 + 3) = 590 logarithms at most, and one a word. Left out: the paper's turns among
 * words, which save the 3 / W where there are few words and cost a list of them.
 */
#include "engine/topic/weighted/gumbel.h"

#include <float.h>
#include <math.h>

#include "base/mix.h"

int gumbel_hash_init(const uint8_t key[SKETCH_KEY_BYTES], struct gumbel_hash *ret_hash)
{
    return sketch_key_derive(key, "words of Gumbel bags", ret_hash, sizeof(*ret_hash));
}

/* The variables of a word, in ascending order. */
struct arrivals {
    uint64_t random;
    double weight, at;
    unsigned n;                         /* drawn so far */
    uint8_t signatures[BAG_SIGNATURES]; /* the first n are those drawn */
};

static void arrivals_begin(const struct gumbel_hash *hash, const struct bag_word *word,
                           struct arrivals *ret_arrivals)
{
    ret_arrivals->random = mix64(mix64(word->word ^ hash->first) ^ hash->second);
    ret_arrivals->weight = word->weight;
    ret_arrivals->at = 0;
    ret_arrivals->n = 0;
    for (unsigned i = 0; i < BAG_SIGNATURES; i++)
        ret_arrivals->signatures[i] = (uint8_t)i;
}

/* Draws the next one. Returns its signature. */
static unsigned arrivals_next(struct arrivals *arrivals)
{
    unsigned n_left = BAG_SIGNATURES - arrivals->n;
    double number = ((double)(mix64_next(&arrivals->random) >> 12) + 0.5) * 0x1p-52;
    unsigned chosen =
        arrivals->n + (unsigned)((mix64_next(&arrivals->random) >> 32) * n_left >> 32);
    uint8_t signature = arrivals->signatures[chosen];
    arrivals->at -= log(number) / (arrivals->weight * n_left);
    arrivals->signatures[chosen] = arrivals->signatures[arrivals->n];
    arrivals->signatures[arrivals->n++] = signature;
    return signature;
}

/* Draws all variables until a time. Returns how many signatures have none. */
static unsigned draw(const struct gumbel_hash *hash, const struct bag *bag, double until,
                     struct bag_sketch *ret_sketch)
{
    double least[BAG_SIGNATURES];
    unsigned n_open = BAG_SIGNATURES;
    for (unsigned i = 0; i < BAG_SIGNATURES; i++)
        least[i] = INFINITY;
    for (uint32_t j = 0; j < bag->n_words; j++) {
        struct arrivals arrivals;
        arrivals_begin(hash, &bag->words[j], &arrivals);
        while (arrivals.n < BAG_SIGNATURES) {
            unsigned i = arrivals_next(&arrivals);
            if (arrivals.at > until)
                break;
            n_open -= least[i] == INFINITY;
            if (arrivals.at < least[i]) {
                least[i] = arrivals.at;
                bag_sketch_set(ret_sketch, i, mix64(bag->words[j].word));
            }
        }
    }
    return n_open;
}

void gumbel_sketch(const struct gumbel_hash *hash, const struct bag *bag,
                   struct bag_sketch *ret_sketch)
{
    double sum = 0;
    bag_sketch_empty(ret_sketch);
    for (uint32_t j = 0; j < bag->n_words; j++)
        sum += bag->words[j].weight;
    for (double until = (log(BAG_SIGNATURES) + 3) / sum;
         bag->n_words && draw(hash, bag, until, ret_sketch); until *= 2) {
    }
}

void gumbel_sketch_naive(const struct gumbel_hash *hash, const struct bag *bag,
                         struct bag_sketch *ret_sketch)
{
    bag_sketch_empty(ret_sketch);
    (void)draw(hash, bag, DBL_MAX, ret_sketch);
}
