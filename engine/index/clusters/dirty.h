/* Dirty clusters and lists are to be clustered anew: clusters whose documents may not belong
 * together any more, or to others, and posting lists by which other documents are compared than
 * before. Each stands in TABLE_INTENTS (intents.h) before the first write that could make a cluster
 * wrong, and goes when the scope was clustered anew (recluster.h).
 *
 * Marks have numbers that grow: what is marked again while it is being clustered stays dirty.
 * Changed by the committer; anyone may ask. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_DIRTY_H
#define KINFS_ENGINE_INDEX_CLUSTERS_DIRTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/index/tables/number_vector.h"
#include "store/kv.h"

struct dirty;

/* The mark that stands while documents are put off: those in no cluster may belong to one. */
enum { DIRTY_PUT_OFF = 0 };

int dirty_new(struct kv *kv, struct dirty **ret_dirty); /* 0, -ENOMEM; kv is borrowed */
void dirty_free(struct dirty *dirty);                   /* NULL allowed */

/* -- the committer's; return 0, -ENOMEM, -EUCLEAN or a store error -- */

/* As the store says, whatever was known before. */
int dirty_read(struct dirty *dirty);
/* Mark clusters, or lists, any number of them. A write or more where any was not marked before. */
int dirty_mark(struct dirty *dirty, const uint64_t *clusters, size_t n);
int dirty_mark_lists(struct dirty *dirty, const uint64_t *fingerprints, size_t n);
/* The same into a batch of the caller's, which is applied next. */
int dirty_mark_in(struct dirty *dirty, struct kv_batch *batch, const uint64_t *clusters, size_t n);
/* Take marks away that were made up to a number. */
int dirty_clear(struct dirty *dirty, const uint64_t *clusters, size_t n, uint64_t up_to);
int dirty_clear_lists(struct dirty *dirty, const uint64_t *fingerprints, size_t n, uint64_t up_to);
uint64_t dirty_last_mark(const struct dirty *dirty);
/* All of them, ascending: appended. */
int dirty_clusters(const struct dirty *dirty, struct number_vector *clusters);
int dirty_lists(const struct dirty *dirty, struct number_vector *fingerprints);

/* -- anyone's -- */

bool dirty_has(struct dirty *dirty, uint64_t cluster);
/* It was marked after the mark of a number. */
bool dirty_has_since(struct dirty *dirty, uint64_t cluster, uint64_t number);
/* Lists, clusters of the default clustering, and components of it that are divided. */
size_t dirty_count(struct dirty *dirty);

#endif
