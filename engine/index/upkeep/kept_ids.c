#include "engine/index/upkeep/kept_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "engine/index/answers/answer.h"
#include "engine/index/clusters/id_votes.h"
#include "engine/index/members/cluster_aliases.h"
#include "engine/index/named/clustering_row.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/number_vector.h"

int old_store_know(struct old_store *old)
{
    if (!old->kv)
        return 0;
    old->next_cluster = salvage_next_cluster(old->kv, 0);
    for (unsigned number = 1; number <= CLUSTERING_MAX && old->n_named < CLUSTERINGS_MOST;
         number++) {
        struct old_clustering *named = &old->named[old->n_named];
        struct clustering_meta meta;
        _cleanup_(kv_buf_done) struct kv_buf row = {0};
        named->number = number;
        const struct kv_slice key = clustering_meta_key(&meta, "clustering", number);
        if (kv_get(old->kv, TABLE_META, key, &row) < 0 ||
            clustering_row_wanted(&row, number, &named->clustering) <= 0)
            continue;
        named->next_cluster = salvage_next_cluster(old->kv, number);
        old->n_named++;
    }
    return salvage_new(old->kv, &old->salvage);
}

void old_store_forget(struct old_store *old)
{
    salvage_free(old->salvage);
    old->salvage = NULL;
    old->n_named = 0;
}

/* Votes of the documents of old clusters that are in new ones. */
struct votes {
    struct id_vote *votes; /* part: the place of the new cluster */
    size_t n, room;
    struct number_vector new_ids;
};

static void votes_done(struct votes *votes)
{
    free(votes->votes);
    number_vector_done(&votes->new_ids);
}

/* old_clustering: the number of the clustering in the old database. */
static int vote_of_cluster(struct index *fresh, const struct old_store *old,
                           unsigned old_clustering, uint64_t old_next, uint64_t id,
                           struct votes *votes)
{
    _cleanup_(sid_list_done) struct sid_list members = {0};
    const uint64_t new_base = clustering_base(cluster_clustering(id));
    const size_t n_before = votes->n;
    int r = living_clusters_members(fresh->clusters, id, 0, &members);
    for (size_t i = 0; r == 0 && i < members.n_sids; i++) {
        _cleanup_(document_done) struct document document = {.records = fresh->records};
        uint64_t old_id = 0;
        r = records_borrow(fresh->records, &members.sids[i], 1, &document.record);
        if (r == 0 && document.record)
            old_id = salvage_cluster(old->salvage, old_clustering, &document.record->key);
        if (r < 0 || old_id == 0 || old_id >= old_next)
            continue;
        if (!MAKE_ROOM(votes->votes, votes->room, votes->n + 1))
            return -ENOMEM;
        votes->votes[votes->n++] =
            (struct id_vote){.cluster = new_base + old_id - clustering_base(old_clustering),
                             .part = (uint32_t)votes->new_ids.n_numbers,
                             .n = 1};
    }
    if (r < 0)
        return r;
    if (votes->n > n_before)
        votes->n = n_before + id_votes_count(votes->votes + n_before, votes->n - n_before);
    return number_vector_push(&votes->new_ids, id);
}

static bool has_cluster(struct index *index, uint64_t id)
{
    _cleanup_(sid_list_done) struct sid_list first = {0};
    return living_clusters_members(index->clusters, id, 1, &first) == 0;
}

/* New ids are all larger than old ones, so an old id is taken when a cluster has it already, and a
 * new cluster has found its old id when it is no longer known by the new one. */
static int keep_ids_of(struct index *fresh, unsigned clustering, const struct old_store *old,
                       unsigned old_clustering, uint64_t old_next)
{
    enum { PAGE = 256 };
    _cleanup_(votes_done) struct votes votes = {0};
    uint64_t ids[PAGE], after = clustering_base(clustering);
    int n;
    while ((n = living_clusters_ids(fresh->clusters, after, PAGE, ids)) > 0) {
        for (int i = 0; i < n; i++) {
            int r = vote_of_cluster(fresh, old, old_clustering, old_next, ids[i], &votes);
            if (r < 0)
                return r;
        }
        after = ids[n - 1];
    }
    votes.n = id_votes_count(votes.votes, votes.n);
    for (size_t i = 0; n >= 0 && i < votes.n; i++) {
        const uint64_t old_id = votes.votes[i].cluster,
                       new_id = votes.new_ids.numbers[votes.votes[i].part];
        if (!has_cluster(fresh, old_id) && has_cluster(fresh, new_id))
            n = living_clusters_rename(fresh->clusters, new_id, old_id);
    }
    return n;
}

/* The number in the fresh database of a clustering that the old one had; 0: it is not there. */
static unsigned number_in_fresh(const struct index *fresh, const struct old_clustering *old)
{
    for (size_t i = 0; i < fresh->named.n_wanted; i++)
        if (strcmp(fresh->named.wanted[i].clustering.name, old->clustering.name) == 0)
            return fresh->named.wanted[i].number;
    return 0;
}

static int keep_each(struct index *fresh, const struct old_store *old)
{
    int r = keep_ids_of(fresh, 0, old, 0, old->next_cluster);
    for (size_t i = 0; r == 0 && i < old->n_named; i++) {
        unsigned number = number_in_fresh(fresh, &old->named[i]);
        if (number)
            r = keep_ids_of(fresh, number, old, old->named[i].number, old->named[i].next_cluster);
    }
    return r;
}

struct keeping {
    struct index *fresh;
    const struct old_store *old;
};

/* An id of the old database as it is in the fresh one; 0: of a clustering that is not there. */
static uint64_t id_in_fresh(const struct keeping *keeping, uint64_t id)
{
    const struct old_store *old = keeping->old;
    const unsigned old_number = cluster_clustering(id);
    unsigned number = 0;
    for (size_t i = 0; i < old->n_named; i++)
        if (old->named[i].number == old_number)
            number = number_in_fresh(keeping->fresh, &old->named[i]);
    return old_number && !number ? 0 : clustering_base(number) + id - clustering_base(old_number);
}

/* Ids that the clusters had which are gone, where the clusters they lead to are there again. */
static int keep_alias(void *user, uint64_t alias, uint64_t id)
{
    const struct keeping *keeping = user;
    const uint64_t new_alias = id_in_fresh(keeping, alias), new_id = id_in_fresh(keeping, id);
    int r = new_alias && new_id
                ? living_clusters_keep_alias(keeping->fresh->clusters, new_alias, new_id)
                : 0;
    return r == -EINVAL ? 0 : r;
}

/* New ids will be larger than the old ones. */
static int count_on(struct index *fresh, unsigned clustering, uint64_t next,
                    unsigned old_clustering)
{
    struct clustering_meta meta;
    clustering_meta_key(&meta, "next_cluster", clustering);
    return meta_put_number(fresh->kv, meta.bytes,
                           next - clustering_base(old_clustering) + clustering_base(clustering));
}

int kept_ids_begin(struct index *fresh, const struct old_store *old)
{
    int r = old->kv ? count_on(fresh, 0, old->next_cluster, 0) : 0;
    for (size_t i = 0; r == 0 && i < old->n_named; i++) {
        const unsigned old_number = old->named[i].number,
                       number = number_in_fresh(fresh, &old->named[i]);
        if (number)
            r = count_on(fresh, number, old->named[i].next_cluster, old_number);
    }
    return r;
}

int kept_ids_take(struct index *fresh, const struct old_store *old)
{
    int r = old->kv ? keep_each(fresh, old) : 0;
    if (r < 0 || !old->kv)
        return r;
    r = cluster_aliases_each(old->kv, keep_alias, &(struct keeping){fresh, old});
    return r == -EUCLEAN || r == -EIO ? 0 : r;
}
