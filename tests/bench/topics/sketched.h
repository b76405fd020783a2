/* What sketches find of a collection, beside what comparing all with all finds. Three seeds, each
 * of which makes the key, the draws and the order of the documents. */
#ifndef KINFS_TESTS_BENCH_TOPICS_SKETCHED_H
#define KINFS_TESTS_BENCH_TOPICS_SKETCHED_H

#include "tests/bench/topics/all_pairs.h"
#include "tests/bench/topics/collection.h"
#include "tests/bench/topics/gold.h"

/* Prints for content bags, bags of links and both a line for each way to find candidates, at .10
 * and at .20: of all documents' ten nearest of that resemblance at least, how many the way has,
 * under each seed. Returns 0 or an errno. */
int sketched_recall(struct collection *collection);

/* Prints for each of these, and at .10, .15 and .20, the clusters (CENTER) of all pairs and of
 * those that sketches find, under each seed: how many, of 100 documents with a label how many are
 * in them, purity, the same by chance, adjusted Rand index, the best one for such sizes. */
int sketched_clusters(struct collection *collection, const char *gold);

#endif
