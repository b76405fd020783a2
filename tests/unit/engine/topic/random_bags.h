/* Bags of random words, and their similarity by the definition. Included by tests only. */
#ifndef KINFS_TESTS_UNIT_ENGINE_TOPIC_RANDOM_BAGS_H
#define KINFS_TESTS_UNIT_ENGINE_TOPIC_RANDOM_BAGS_H

#include <math.h>
#include <stdbool.h>

#include "engine/topic/bags/bag.h"
#include "tests/lib/trials.h"

enum { RANDOM_BAG_WORDS = 64 };

struct random_bag {
    struct bag_word words[RANDOM_BAG_WORDS];
    struct bag bag;
};

/* Of the words 1 .. RANDOM_BAG_WORDS some, with weights of 1 to 10, or of e^-3 to e^3. */
static inline void random_bag(uint64_t *random, bool is_whole, struct random_bag *ret_bag)
{
    *ret_bag = (struct random_bag){.bag = {.words = ret_bag->words}};
    for (uint64_t word = 1; word <= RANDOM_BAG_WORDS; word++) {
        double number = (double)(mix64_next(random) >> 11) * 0x1p-53;
        if (mix64_next(random) % 3 == 0)
            continue;
        ret_bag->words[ret_bag->bag.n_words++] =
            (struct bag_word){word, is_whole ? 1 + floor(10 * number) : exp(6 * number - 3)};
    }
}

static inline double weight_in(const struct bag *bag, uint64_t word)
{
    for (uint32_t i = 0; i < bag->n_words; i++)
        if (bag->words[i].word == word)
            return bag->words[i].weight;
    return 0;
}

static inline double sum_of_lesser(const struct bag *a, const struct bag *b)
{
    double sum = 0;
    for (uint64_t word = 1; word <= RANDOM_BAG_WORDS; word++)
        sum += fmin(weight_in(a, word), weight_in(b, word));
    return sum;
}

static inline double sum_of_greater(const struct bag *a, const struct bag *b)
{
    double sum = 0;
    for (uint64_t word = 1; word <= RANDOM_BAG_WORDS; word++)
        sum += fmax(weight_in(a, word), weight_in(b, word));
    return sum;
}

static inline double similarity_of(const struct bag *a, const struct bag *b)
{
    return sum_of_lesser(a, b) / sum_of_greater(a, b);
}

#endif
