/* Documents are compared with each other by these bounds wherever clusters are made, by the batch
 * (mode fast) and by the index. */
#ifndef KINFS_ENGINE_CLUSTER_PAIRS_LINKS_BOUNDS_H
#define KINFS_ENGINE_CLUSTER_PAIRS_LINKS_BOUNDS_H

enum {
    LINKS_KEYS = 16, /* those that share one of so many smallest fingerprints: two of resemblance r
                        share none with probability (1 - r)^16 at most */
    LINKS_MOST_COMPARED = 1000, /* a longer list of those that have a fingerprint is long: */
    LINKS_HEADS = 64,           /* all are compared with the first ones of it only */
};

#endif
