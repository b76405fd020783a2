/* Bags as sorted arrays: counting is sorting, and all that is asked of two is one pass over both.
 *
 * Example: of "a rose is a rose" the stems a, rose, is, a, rose are the bag {a 2, is 1, rose 2}.
 * With "a rose" it has 1 + 0 + 1 of 2 + 1 + 2 in common: sim is 2/5. Normalised in whole numbers it
 * is {40, 20, 40}; three words of weight 1 are {34, 33, 33}, the first of equal ones has what is
 * left of 100.
 *
 * Cost: a sort, or a pass. Left out: bags that are packed; a bag lives as long as its document is
 * read, and what stays is its sketch.
 */
#include "engine/topic/bags/bag.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sort_numbers.h"

void bag_done(struct bag *bag)
{
    free(bag->words);
    *bag = (struct bag){0};
}

/* Memory that nothing else is kept in. Returns NULL without memory. */
static struct bag_word *words_new(size_t n)
{
    return calloc(n ? n : 1, sizeof(struct bag_word));
}

int bag_count(uint64_t *words, size_t n, struct bag *ret_bag)
{
    struct bag_word *counted = words_new(n);
    uint32_t n_words = 0;
    if (!counted)
        return -ENOMEM;
    sort_numbers(words, n, (uint64_t *)counted);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || words[i] != words[i - 1])
            counted[n_words++] = (struct bag_word){words[i], 0};
        counted[n_words - 1].weight++;
    }
    *ret_bag = (struct bag){counted, n_words};
    return 0;
}

/* -- two bags -- */

/* The least word of two bags that has not been seen: *at and *bt go past it. */
static bool next_of_two(const struct bag *a, const struct bag *b, uint32_t *at, uint32_t *bt,
                        uint64_t *ret_word, double *ret_a, double *ret_b)
{
    const struct bag_word *x = *at < a->n_words ? &a->words[*at] : NULL,
                          *y = *bt < b->n_words ? &b->words[*bt] : NULL;
    if (!x && !y)
        return false;
    bool of_a = x && (!y || x->word <= y->word), of_b = y && (!x || y->word <= x->word);
    *ret_word = of_a ? x->word : y->word;
    *ret_a = of_a ? x->weight : 0;
    *ret_b = of_b ? y->weight : 0;
    *at += of_a;
    *bt += of_b;
    return true;
}

int bag_merge(const struct bag *a, const struct bag *b, struct bag *ret_bag)
{
    struct bag_word *words = words_new((size_t)a->n_words + b->n_words);
    uint32_t at = 0, bt = 0;
    uint64_t n = 0, word;
    double of_a, of_b;
    if (!words)
        return -ENOMEM;
    for (; next_of_two(a, b, &at, &bt, &word, &of_a, &of_b); n++)
        words[n] = (struct bag_word){word, of_a + of_b};
    if (n > UINT32_MAX) {
        free(words);
        return -EOVERFLOW;
    }
    *ret_bag = (struct bag){words, (uint32_t)n};
    return 0;
}

int bag_resemblance(const struct bag *a, const struct bag *b, double *ret_value)
{
    double least = 0, most = 0, of_a, of_b;
    uint32_t at = 0, bt = 0;
    uint64_t word;
    while (next_of_two(a, b, &at, &bt, &word, &of_a, &of_b)) {
        least += of_a < of_b ? of_a : of_b;
        most += of_a < of_b ? of_b : of_a;
    }
    if (most == 0)
        return -ENODATA;
    *ret_value = least / most;
    return 0;
}

/* -- weights -- */

double bag_weight(const struct bag_weighing *weighing, double f, uint64_t df, uint64_t n)
{
    if (df < weighing->least_df || (double)df > weighing->most_df_share * (double)n)
        return 0;
    return weighing->idf ? f * log((double)n / (double)df) : f;
}

struct remainder {
    double rest; /* of the sum */
    uint32_t at; /* which word */
};

/* The largest first; of equal ones the one of the smaller word. */
static int compare_remainders(const void *a, const void *b)
{
    const struct remainder *x = a, *y = b;
    if (x->rest != y->rest)
        return x->rest < y->rest ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Whole and remainder are exact where the weights are whole numbers, so that equal remainders are
 * equal: that of w is 100 w modulo the sum. */
static int make_whole(struct bag *bag, double sum)
{
    _cleanup_free_ struct remainder *rests =
        calloc(bag->n_words ? bag->n_words : 1, sizeof(*rests));
    uint32_t n_kept = 0, missing = BAG_SUM;
    if (!rests)
        return -ENOMEM;
    for (uint32_t i = 0; i < bag->n_words; i++) {
        double share = bag->words[i].weight * BAG_SUM, rest = fmod(share, sum);
        rests[i] = (struct remainder){rest, i};
        bag->words[i].weight = round((share - rest) / sum);
        missing -= (uint32_t)bag->words[i].weight;
    }
    qsort(rests, bag->n_words, sizeof(*rests), compare_remainders);
    for (uint32_t i = 0; i < missing && i < bag->n_words; i++)
        bag->words[rests[i].at].weight++;
    for (uint32_t i = 0; i < bag->n_words; i++)
        if (bag->words[i].weight > 0)
            bag->words[n_kept++] = bag->words[i];
    bag->n_words = n_kept;
    return 0;
}

int bag_normalise(struct bag *bag, enum bag_numbers numbers)
{
    double sum = 0;
    for (uint32_t i = 0; i < bag->n_words; i++)
        sum += bag->words[i].weight;
    if (numbers == BAG_WHOLE)
        return make_whole(bag, sum);
    for (uint32_t i = 0; i < bag->n_words; i++)
        bag->words[i].weight = bag->words[i].weight * BAG_SUM / sum;
    return 0;
}
