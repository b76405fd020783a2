/* What others say of each document, out of what all say (tables/fragments.h): links are resolved as
 * the tree is, and the fragments of one document are added up (Haveliwala, Gionis and Indyk 2000,
 * section 2). In bounded memory and scratch files, but for the names (tree_names.h). Anyone's. */
#ifndef KINFS_ENGINE_INDEX_TOPICS_ANCHORS_MAKING_H
#define KINFS_ENGINE_INDEX_TOPICS_ANCHORS_MAKING_H

#include "engine/index/topics/tree_names.h"

struct anchors_making_of {
    struct kv *kv, *snapshot; /* rows are put into the first, and read of the second */
    const struct file_key *root;
    const char *scratch;
    uint32_t epoch; /* of the rows that are put, of which there are none */
    size_t memory_bytes;
    struct tree_stop stop;
};

/* Returns 0, -EINTR, -ENOMEM, -ENOSPC, -EUCLEAN or another error of the store or of scratch
 * files. Linear in the names, and in the fragments. */
int anchors_making_run(const struct anchors_making_of *of);

/* The same of one name of the tree, be something there or not: what is said of it now, as a row of
 * TABLE_ANCHORS. Of `of` the snapshot, the root and stop count. Returns 0, also where nothing is
 * said, or as above; ret_row gives. As long, without rows. */
int anchors_making_of_name(const struct anchors_making_of *of, const char *name,
                           struct kv_buf *ret_row);

#endif
