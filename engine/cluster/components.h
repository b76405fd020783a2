/* Clusters from resembling pairs: the connected components of the graph whose edges are the pairs
 * at or above a threshold (Broder et al. 1997, section 4). Documents given as identical are
 * collapsed into one node first and re-added at the end (section 5.2). */
#ifndef KINFS_ENGINE_CLUSTER_COMPONENTS_H
#define KINFS_ENGINE_CLUSTER_COMPONENTS_H

#include <stddef.h>
#include <stdint.h>

struct resembling_pair {
    uint32_t a, b; /* documents, 0..n-1 */
    double resemblance;
};

/* same_as       n_documents entries, borrowed, or NULL: same_as[i] <= i is the first document
 *               identical to i, i itself if there is none before it
 * ret_cluster   n_documents entries, caller's: the smallest document of i's cluster; i itself when
 *               i resembles nothing
 * Returns the number of clusters of two documents or more, -EINVAL for a pair or same_as out of
 * range, -ENOMEM. Nearly linear in documents plus pairs.
 */
int64_t components_of_pairs(const struct resembling_pair *pairs, size_t n_pairs, double threshold,
                            const uint32_t *same_as, size_t n_documents, uint32_t *ret_cluster);

#endif
