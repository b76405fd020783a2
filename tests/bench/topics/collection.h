/* The bags of a directory of documents, made in several ways. */
#ifndef KINFS_TESTS_BENCH_TOPICS_COLLECTION_H
#define KINFS_TESTS_BENCH_TOPICS_COLLECTION_H

#include "engine/sketch/policy.h"
#include "engine/topic/bags/bag.h"
#include "tools/commands/cluster/cluster_options.h"
#include "tools/documents/document_list.h"

struct collection {
    const char *tree; /* borrowed */
    struct document_list list;
    char **names; /* of documents, below the tree */
    uint32_t n;
};

/* Returns 0 or an errno; collection_done() ends it, also after an error. */
int collection_open(const char *tree, struct collection *ret_collection);
void collection_done(struct collection *collection);

/* The directory of scratch files: $TMPDIR, or /tmp. */
const char *collection_scratch(void);

/* Weighted, with the sum 100 in whole numbers; of a document without words empty. */
struct bags {
    struct bag *bags;
    uint32_t n;       /* documents */
    uint64_t n_other; /* bags of targets that are no documents */
};

void bags_done(struct bags *bags); /* of zeroes, too */

/* As `kinfs cluster --mode=haveliwala2000` makes them. */
struct bags_way {
    enum topics_bags kind;
    uint32_t window;
    bool idf;
};

/* Returns 0 or an errno; ret_bags gives. */
int bags_of_links(struct collection *collection, const struct bags_way *way, struct bags *ret_bags);

/* As an index makes them that has this policy.
 *
 * weighing  another one than that of an index; NULL: none
 * Returns 0 or an errno; ret_bags gives. */
int bags_of_index(struct collection *collection, const struct policy *policy,
                  const struct bag_weighing *weighing, struct bags *ret_bags);

#endif
