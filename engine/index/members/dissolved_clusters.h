/* Clusters that shrank to one document a short while ago, so that they can come back under their
 * id: an editor that writes a new file and renames it over the old one takes the old document away
 * before the new one is known, and a cluster of two is gone in between.
 *
 * In memory only, and only the last ones: what is forgotten gets a new id. So does a document that
 * has been in another cluster since.
 */
#ifndef KINFS_ENGINE_INDEX_MEMBERS_DISSOLVED_CLUSTERS_H
#define KINFS_ENGINE_INDEX_MEMBERS_DISSOLVED_CLUSTERS_H

#include <stdint.h>

enum { DISSOLVED_MAX = 1024 };

/* By sid, the newer one where two fall on one place. All zero: nothing. The committer's. */
struct dissolved_clusters {
    struct {
        uint64_t sid, id; /* the document that stayed, the cluster's id; sid 0: nothing */
    } last[DISSOLVED_MAX];
};

void dissolved_clusters_note(struct dissolved_clusters *dissolved, uint64_t sid, uint64_t id);
/* The id of the cluster that dissolved around a document, 0: none that is known. */
uint64_t dissolved_clusters_id(const struct dissolved_clusters *dissolved, uint64_t sid);
/* A document has come into a cluster. */
void dissolved_clusters_forget(struct dissolved_clusters *dissolved, uint64_t sid);
/* A document has become another. */
void dissolved_clusters_replace(struct dissolved_clusters *dissolved, uint64_t old_sid,
                                uint64_t new_sid);

#endif
