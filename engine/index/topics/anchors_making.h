/* What others say of each document, out of what all say (tables/fragments.h): links are resolved as
 * the tree is, and the fragments of one document are added up (Haveliwala, Gionis and Indyk 2000,
 * section 2). In bounded memory and scratch files, but for the names (tree_names.h). Anyone's. */
#ifndef KINFS_ENGINE_INDEX_TOPICS_ANCHORS_MAKING_H
#define KINFS_ENGINE_INDEX_TOPICS_ANCHORS_MAKING_H

#include <stdbool.h>

#include "base/files/file_key.h"
#include "store/kv.h"

struct anchors_making_of {
    struct kv *kv, *snapshot; /* rows are put into the first, and read of the second */
    const struct file_key *root;
    const char *scratch;
    uint32_t epoch; /* of the rows that are put, of which there are none */
    size_t memory_bytes;
    const bool *stop; /* as of a background_work */
};

/* Returns 0, -ESHUTDOWN, -ENOMEM, -ENOSPC, -EUCLEAN or another error of the store or of scratch
 * files. Linear in the names, and in the fragments. */
int anchors_making_run(const struct anchors_making_of *of);

#endif
