/* Clusters that follow every insert, rewrite and delete: the connected components of the documents
 * whose resemblance (record_resemblance) is at least the threshold, among candidates; where a
 * component is loose, its stars (engine/cluster/stars.h).
 *
 * Whatever the history, they equal this when nothing is dirty: components over all live documents,
 * those that are loose divided into stars; an edge between two of one class, and an edge between
 * two classes when their first documents are candidates of each other and their resemblance reaches
 * the threshold. Candidates share one of their 16 smallest fingerprints; where more than 1,000
 * classes have it, one of the two is among the 64 oldest of these. Only the first live document
 * (smallest sid) of a class has postings. A batch of mode fast of all records makes the same.
 *
 * Clusters and lists are dirty (dirty.h) of which an insert or a delete leaves something to be
 * found out later: a merge or a split of clusters that are not small, and lists that become long or
 * get other heads.
 *
 * Beside them stand the clusters of clusterings that a batch makes anew (remade.h); of these only
 * what leaves, and what comes in its place, is followed.
 *
 * Ids: given when two documents first join (from a counter, never reused); a merge keeps the id of
 * the side with more documents (tie: the smaller id); a split leaves it with the part with more
 * documents (tie: the one whose representative comes first); a cluster that shrinks to one document
 * is gone, but when that document soon is the first to be joined by another, its id comes back. An
 * id lost in a merge leads to the cluster that has the documents, as long as there is that cluster
 * (cluster_aliases.h).
 * Representative: the member with most tokens; ties by content fingerprint, then by file key,
 * so that it depends on the members alone.
 */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_LIVING_CLUSTERS_H
#define KINFS_ENGINE_INDEX_CLUSTERS_LIVING_CLUSTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/index/postings/postings.h"
#include "engine/index/tables/record.h"
#include "engine/index/tables/records.h"
#include "store/kv.h"

struct living_clusters;
struct remade;
struct member_changes;
struct move_plan;

/* Named ways of clustering beside the default one. */
enum { LIVING_CLUSTERINGS_MAX = 10 };

/* Bounds of the work that is done at once; 0: as is best. */
struct cluster_bounds {
    size_t most_compared; /* longer posting lists have heads; at most 1,000 */
    size_t n_heads;       /* of such a list, its first documents */
    size_t at_once; /* documents that are clustered anew within a change; more are afterwards */
    bool whole;     /* components are not divided */
};

/* kv, records, postings borrowed. bounds: NULL or copied. Returns 0, -ENOMEM or a store error;
 * ret_clusters gives. */
int living_clusters_open(struct kv *kv, struct records *records, struct postings *postings,
                         double threshold, const struct cluster_bounds *bounds,
                         struct living_clusters **ret_clusters);
void living_clusters_close(struct living_clusters *clusters);

/* Another clustering over the same documents, which a batch makes anew (remade, borrowed): what
 * comes is in none of its clusters until then, but in place of a document that was. Before anything
 * else is asked or done.
 *
 * number  1 to CLUSTERING_MAX, of none that is there
 *
 * Returns 0, -ENOMEM or a store error. */
int living_clusters_add(struct living_clusters *clusters, unsigned number, struct remade *remade);

/* From now on the changes of the default clustering are noted (borrowed). Before any thread runs.
 */
void living_clusters_tell(struct living_clusters *clusters, struct member_changes *changes);

/* -- the committer's; one thread -- */

/* When one of these fails, what is stored can be completed: each begins by finishing what the one
 * before left undone, and the caller repeats the one that failed, or deletes the document. Passing
 * errors of the store (-EAGAIN, -ETIMEDOUT) are sat out inside. */

/* A document was committed: its record is in TABLE_RECORDS. Enters its class, adds its postings
 * when it is the first of it, links it to those before it. Idempotent: after a crash or a failure
 * it is called again for the same sid, and then for all larger ones that are there. Sids come in
 * ascending order. */
int living_clusters_insert(struct living_clusters *clusters, uint64_t sid,
                           const struct record *record);
/* The same for documents that come together, in ascending order; cheaper. After a failure those
 * that were not reached yet are inserted by the repetition, too. */
int living_clusters_insert_all(struct living_clusters *clusters, const uint64_t *sids,
                               const struct record *const *records, size_t n);

/* A document is going: its record is still in TABLE_RECORDS and is removed by this call.
 * Idempotent; record is its decoded record. */
int living_clusters_delete(struct living_clusters *clusters, uint64_t sid,
                           const struct record *record);

/* The same for documents that go together: what their clusters fall into is looked at once.
 * Repeated after a failure, some of them may be gone already. */
int living_clusters_delete_all(struct living_clusters *clusters, const uint64_t *sids,
                               const struct record *const *records, size_t n);

/* A document was rewritten: insert the new sid, then delete the old one (usually no split, and the
 * cluster id stays). */
int living_clusters_replace(struct living_clusters *clusters, uint64_t old_sid,
                            const struct record *old_record, uint64_t new_sid,
                            const struct record *new_record);

/* After a crash: bring back the postings that were in memory only, and finish what TABLE_INTENTS
 * says was interrupted. After a failure of the store: the latter. The others do it themselves when
 * it was not called. The documents that may not have been inserted are then inserted again by the
 * caller. */
int living_clusters_recover(struct living_clusters *clusters);
/* Never to give out the next n ids of any clustering; before any is given out. Returns 0, -ENOMEM,
 * -EUCLEAN or a store error. */
int living_clusters_pass_ids(struct living_clusters *clusters, uint64_t n);

/* Flush the postings, and remember how far they are in the store. Returns 0, -ENOMEM or a store
 * error; then nothing is lost and it can be repeated. To be done when it is due: when there are
 * many postings, or many documents went. */
enum { LIVING_CLUSTERS_DELETED_MAX = 1 << 16 }; /* some seconds of an opening, after a crash */
bool living_clusters_flush_due(const struct living_clusters *clusters);
int living_clusters_flush_postings(struct living_clusters *clusters);

/* Documents that come from now on are put off: they are in no cluster, and all are dirty, until
 * clustering anew has looked at all that there are. For a first scan: that takes a fraction of what
 * one after the other takes. Nothing where it is so, or there are very many. Returns 0, -ENOMEM or
 * a store error. */
int living_clusters_put_off(struct living_clusters *clusters);
/* So many are put off that they should be looked at while more come: eight times as many have
 * come as when they were looked at last; or, full, as many as may be. */
enum living_clusters_due { CLUSTERS_LATER, CLUSTERS_DUE, CLUSTERS_FULL };
enum living_clusters_due living_clusters_due(const struct living_clusters *clusters);
/* A document is put off; UINT64_MAX: those that come are. */
bool living_clusters_is_put_off(const struct living_clusters *clusters, uint64_t sid);

/* A step of clustering anew what is dirty (recluster.h), of some milliseconds. Returns 1 when there
 * is more to do, 0 when nothing is left, or an error, after which it can be repeated. */
int living_clusters_recluster(struct living_clusters *clusters);

/* A step of move_plan_step(), of a clustering that is made anew; returns as that. */
int living_clusters_remake(struct living_clusters *clusters, unsigned number,
                           struct move_plan *plan);

/* Let an id that is no cluster's lead to one that is; else nothing is done. Returns 0, -EINVAL (of
 * two clusterings, or none) or a store error. */
int living_clusters_keep_alias(struct living_clusters *clusters, uint64_t alias, uint64_t id);

/* Give a cluster another id (a rebuild keeps those of before). Returns 0, -ENOENT, -EEXIST,
 * -EINVAL, or a store error. */
int living_clusters_rename(struct living_clusters *clusters, uint64_t id, uint64_t new_id);

/* -- anyone's -- */

/* A cluster that is dirty may be more than one, or part of another, which is being found out; and
 * so many clusters and lists are dirty. Of documents in none: 0. While any document is put off all
 * are. */
bool living_clusters_is_dirty(struct living_clusters *clusters, uint64_t id);
size_t living_clusters_n_dirty(struct living_clusters *clusters);

/* As living_clusters_of() and living_clusters_count(), of one clustering. */
int living_clusters_of_in(struct living_clusters *clusters, unsigned number, uint64_t sid,
                          uint64_t *ret_id, uint64_t *ret_size);
void living_clusters_count_in(struct living_clusters *clusters, unsigned number,
                              uint64_t *ret_clusters, uint64_t *ret_documents);

/* Returns 0 with *ret_id 0 for a document in no cluster, or an error. */
int living_clusters_of(struct living_clusters *clusters, uint64_t sid, uint64_t *ret_id,
                       uint64_t *ret_size);

/* Returns 1 for a document in a cluster, 0, or an error. */
int living_clusters_has(struct living_clusters *clusters, uint64_t sid);

/* The number of documents in a cluster, 0 where there is no such cluster. Returns 0, -ENOENT for an
 * id of no clustering, or an error. */
int living_clusters_size(struct living_clusters *clusters, uint64_t id, uint64_t *ret_size);

/* Sids of a cluster, the representative first; up to limit (0: all). Returns 0, -ENOENT. */
int living_clusters_members(struct living_clusters *clusters, uint64_t id, size_t limit,
                            struct sid_list *ret_members);

/* Up to limit ids greater than after, which is an id of the clustering or clustering_base().
 * Returns how many or an error. */
int living_clusters_ids(struct living_clusters *clusters, uint64_t after, size_t limit,
                        uint64_t *ret_ids);

/* The cluster that one with another id became part of. Returns 0, -ENOENT, or an error. */
int living_clusters_alias(struct living_clusters *clusters, uint64_t id, uint64_t *ret_id);

/* Live sids of the class of a record (its own among them), as classes_list(). */
int living_clusters_class(struct living_clusters *clusters, const uint8_t class_id[CLASS_BYTES],
                          uint64_t after, size_t limit, struct sid_list *ret_sids);

void living_clusters_count(struct living_clusters *clusters, uint64_t *ret_clusters,
                           uint64_t *ret_documents);

#endif
