/* How well answers and clusters agree with a gold standard. */
#ifndef KINFS_TESTS_BENCH_TOPICS_AGREEMENT_H
#define KINFS_TESTS_BENCH_TOPICS_AGREEMENT_H

#include <stdint.h>

/* -- answers -- */

enum { RANKS = 101 }; /* what two bags that sum to 100 have in common */

/* Of one document's others how many have how much in common with it, and are about the same. */
struct ranks {
    uint32_t all[RANKS], relevant[RANKS];
};

/* How many of the n nearest are about the same, by n. Of those of one rank any order is as likely
 * as any other, and this is the mean over all. Who has nothing in common is not near: with fewer
 * than n others the rest counts as wrong. */
double precision_at(const struct ranks *ranks, unsigned n);

/* The same of an order by chance, and of the best one, where so many of n_others are about the
 * same. */
double precision_by_chance(uint32_t n_relevant, uint32_t n_others);
double precision_at_best(uint32_t n_relevant, unsigned n);

/* -- clusters -- */

/* Of documents that have a label. */
struct agreement {
    uint32_t n, n_clusters, n_clustered; /* clusters of two or more; documents in these */
    double purity;   /* of those in clusters, how many have the label that most there have */
    double ari;      /* the adjusted Rand index of all, who is alone being a cluster */
    double best_ari; /* no clusters of these sizes have a greater one; 1 where it would be more */
};

/* Clusters and labels are any numbers; n documents. Returns 0 or -ENOMEM. */
int agreement_of(const uint32_t *clusters, const uint32_t *labels, uint32_t n,
                 struct agreement *ret_agreement);

/* The mean purity with the labels dealt at random, so many times. Returns 0 or -ENOMEM. */
int purity_by_chance(const uint32_t *clusters, const uint32_t *labels, uint32_t n, unsigned times,
                     uint64_t seed, double *ret_purity);

#endif
