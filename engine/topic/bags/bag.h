/* A document as a bag: its words, each with a weight, in no order of the text (Haveliwala, Gionis
 * and Indyk 2000, section 2). A word is the 64-bit fingerprint of its stem (bag_words.h); a weight
 * is a count, or what was made of it.
 *
 * Nothing here has state: any thread, no lock. The memory of a bag is its own, 16 bytes a word.
 */
#ifndef KINFS_ENGINE_TOPIC_BAGS_BAG_H
#define KINFS_ENGINE_TOPIC_BAGS_BAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word of a bag: the 64-bit fingerprint of its stem, and its weight, above 0. */
struct bag_word {
    uint64_t word;
    double weight;
};

/* Words in ascending order, each once. */
struct bag {
    struct bag_word *words;
    uint32_t n_words;
};

void bag_done(struct bag *bag); /* of zeroes, too; leaves zeroes */

/* The bag of n words in any order, each of as much weight as it comes times. n below 2^32. Sorts
 * the words where they are: O(n log n). Returns 0, -ENOMEM; ret_bag gives. */
int bag_count(uint64_t *words, size_t n, struct bag *ret_bag);

/* The sum of two: of a word that both have, the weights are added. O(|a| + |b|). Returns 0,
 * -ENOMEM, -EOVERFLOW past 2^32-1 words; ret_bag gives. */
int bag_merge(const struct bag *a, const struct bag *b, struct bag *ret_bag);

/* sim(a, b): the sum of the lesser weights by the sum of the larger ones, of all words of either:
 * 0 to 1. O(|a| + |b|). Returns 0, or -ENODATA where both are empty. */
int bag_resemblance(const struct bag *a, const struct bag *b, double *ret_value);

/* The way from the frequencies of a collection's bags to weights (section 2 there, which prints no
 * bounds of its own). */
struct bag_weighing {
    uint64_t least_df;    /* words of fewer bags are dropped; 0 and 1: none */
    double most_df_share; /* words of more than this share of all bags are; 1: none */
    bool idf;             /* the weight is f log(N/df), else f */
};

/* The weight of a word of frequency f, which df of the collection's n bags have, 1 <= df <= n; 0
 * where it is dropped, as a word of all bags is with idf. */
double bag_weight(const struct bag_weighing *weighing, double f, uint64_t df, uint64_t n);

/* Make all weights sum to BAG_SUM. In whole numbers: each weight is rounded down, and what then
 * is missing goes to the largest remainders, of equal ones to the smaller words; a word of no
 * weight is left out. The sum is exact, and a bag of more than 100 words keeps 100 at most. In
 * reals: the sum is exact but for rounding. O(n log n), or O(n).
 *
 * The bag stays in its memory. Returns 0, -ENOMEM. */
enum { BAG_SUM = 100 };
enum bag_numbers { BAG_WHOLE, BAG_REAL };
int bag_normalise(struct bag *bag, enum bag_numbers numbers);

#endif
