/* Answers that take a reading of all records. Any thread. A part of index.h. */
#ifndef KINFS_ENGINE_INDEX_INDEX_RECORDS_H
#define KINFS_ENGINE_INDEX_INDEX_RECORDS_H

#include <stddef.h>
#include <stdint.h>

struct index;

/* The shingles that most documents have, of the sampled ones (one in m of all). */
enum { COMMON_SHINGLE_PATHS = 3, COMMON_SHINGLES_MAX = 10000 };
struct common_shingle {
    uint64_t fingerprint, n_documents;
    char *text; /* its words with blanks between; NULL: no words (a feature), or not at hand any
                   more */
    size_t n_paths;
    char *paths[COMMON_SHINGLE_PATHS]; /* of some of the documents */
};
struct common_shingles {
    struct common_shingle *shingles; /* the commonest first, none of fewer than two documents */
    size_t n_shingles;
    uint64_t n_documents; /* that were looked at */
    uint64_t missed;      /* one of so many documents or fewer may be lacking */
};
void common_shingles_done(struct common_shingles *list);

/* Returns 0, -EINVAL for a limit that is 0 or above COMMON_SHINGLES_MAX, -ENOMEM, or a store error.
 * Reads all records twice and a document for each shingle; 12 MB. For the owner: names any path. */
int index_common_shingles(struct index *index, size_t limit, struct common_shingles *ret_list);

/* All documents, by their first paths and the sketches that their records have (document_sketch.h,
 * policy.h), in no order of use. Returns 0, what visit returned, -EUCLEAN, -ENOMEM or a store
 * error. Reads all records. For the owner: names any path. */
struct document_sketch;
struct policy;
typedef int (*index_sketch_fn)(void *user, const char *path, const struct document_sketch *sketch);
int index_each_sketch(struct index *index, index_sketch_fn visit, void *user);
const struct policy *index_policy(const struct index *index); /* of the sketches; with its key */

#endif
