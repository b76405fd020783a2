/* Clusters against what a batch makes of the records: those that follow every change, and those of
 * named clusterings that are said to be of now. What differs is what would have to be moved. To be
 * mended named ones need only be made anew, which is what comes of rows of members that are wrong.
 */
#include <errno.h>

#include "base/bytes.h"
#include "engine/index/upkeep/check.h"
#include "engine/index/named/clustering_row.h"
#include "engine/index/members/member.h"
#include "engine/index/named/remaking.h"

static int read_policy(struct check *check, struct policy *ret_policy)
{
    static const char name[] = "policy";
    const struct kv_slice key = {name, sizeof(name) - 1};
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = check_look_up(check, TABLE_META, &key, 1, &value);
    if (r < 0)
        return r;
    return r == 0 && value.data && policy_decode(value.data, value.size_bytes, ret_policy) == 0;
}

/* Returns 0 with the cluster that a document is in, 0: none; or an error. */
static int stored_cluster(struct check *check, unsigned clustering, uint64_t sid,
                          uint64_t *ret_cluster)
{
    uint8_t bytes[CLUSTER_OF_KEY_BYTES];
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    const struct kv_slice key = member_cluster_of_key(bytes, sid, clustering);
    int r = check_look_up(check, TABLE_CLUSTER_OF, &key, 1, &value);
    *ret_cluster = value.data && value.size_bytes == 8 ? get_be64(value.data) : 0;
    return r < 0 ? r : 0;
}

/* The components that are divided are the default clustering's, too. */
static bool is_default(unsigned clustering)
{
    return clustering == 0 || clustering == CLUSTERING_DIVIDED;
}

/* A difference in clusters that follow every change; what was not derived yet is let pass. */
static int found_default(struct check *check, unsigned clustering, const struct move_plan *plan,
                         const struct planned_move *move)
{
    const uint64_t sid = plan->sids.numbers[move->number];
    _cleanup_(record_done) struct record record = {0};
    uint64_t cluster = 0;
    if (check_is_underived(check, sid))
        return 0;
    int r = check_record(check, sid, &record);
    if (r > 0)
        r = stored_cluster(check, clustering, sid, &cluster);
    if (r < 0)
        return r;
    return check_found(check, CHECK_COMPONENTS, TABLE_CLUSTER_OF, &record.key,
                       "document %llu, in cluster %llu, belongs to %s", (unsigned long long)sid,
                       (unsigned long long)shown_ids_show(&check->shown_ids, cluster),
                       move->group == MOVE_PLAN_ALONE ? "nobody"
                       : cluster                      ? "documents of another one"
                                                      : "others");
}

static int found_move(struct check *check, unsigned clustering, const struct move_plan *plan,
                      const struct planned_move *move)
{
    const uint64_t sid = plan->sids.numbers[move->number];
    _cleanup_(record_done) struct record record = {0};
    uint64_t cluster = 0;
    int r = check_record(check, sid, &record);
    if (r <= 0)
        return r;
    r = stored_cluster(check, clustering, sid, &cluster);
    if (r < 0)
        return r;
    const unsigned long long shown =
        (unsigned long long)shown_ids_show(&check->shown_ids, cluster) & INDEX_CLUSTER_MAX;
    if (!cluster)
        return check_found(check, CHECK_MEMBERS, TABLE_MEMBERS, &record.key,
                           "is in no cluster of clustering %u, and should be in one", clustering);
    return check_found(check, CHECK_MEMBERS, TABLE_MEMBERS, &record.key,
                       move->group == MOVE_PLAN_ALONE
                           ? "is in cluster %llu of clustering %u, and should be in none"
                           : "is in cluster %llu of clustering %u, and should be in another",
                       shown, clustering);
}

static int compare(struct check *check, unsigned clustering, struct remaking_task *task)
{
    struct move_plan *plan = &task->plan;
    int r = remaking_work(task, NULL);
    if (r == -EUCLEAN && check->wrong)
        return 0; /* of what has been told nothing can be made */
    if (r == -EUCLEAN || r == -EIO)
        return check_read_failed(check, TABLE_RECORDS, r);
    for (size_t i = 0; r == 0 && i < plan->n_moves; i++)
        r = is_default(clustering) ? found_default(check, clustering, plan, &plan->moves[i])
                                   : found_move(check, clustering, plan, &plan->moves[i]);
    const bool of_default = is_default(clustering);
    for (size_t i = 0; r == 0 && i < plan->n_joins && (!of_default || !check->interrupted); i++)
        r = check_found(
            check, of_default ? CHECK_COMPONENTS : CHECK_MEMBERS,
            of_default ? TABLE_CLUSTER_OF : TABLE_MEMBERS, NULL,
            "cluster %llu of clustering %u should be part of another",
            (unsigned long long)shown_ids_show(&check->shown_ids, plan->joins[i].cluster) &
                INDEX_CLUSTER_MAX,
            clustering);
    move_plan_done(plan);
    return r;
}

/* Returns 1 when the task says how the clusters of a clustering are made, 0 where there is none, or
 * it is not of now, or an error. */
static int how_made(struct check *check, unsigned number, struct remaking_task *task)
{
    struct index_clustering clustering;
    if (number == 0 || number == CLUSTERING_DIVIDED) {
        task->how = (struct batch_options){.mode = BATCH_FAST,
                                           .threshold = check->threshold,
                                           .loose_only = number == CLUSTERING_DIVIDED};
        return !check->repairing; /* else what is to be the same is being made so */
    }
    int r = clustering_row_current(check->kv, number, &clustering);
    if (r > 0)
        task->how = clustering_batch(&clustering);
    task->is_topics = r > 0 && clustering_is_of_topics(&clustering);
    task->is_fine = r > 0 && clustering.kind == INDEX_CLUSTERING_SUBTOPICS;
    return r;
}

int check_clusterings(struct check *check)
{
    struct policy policy;
    int r = read_policy(check, &policy);
    if (r <= 0)
        return r;
    for (unsigned number = 0; r >= 0 && number <= CLUSTERING_MAX; number++) {
        struct remaking_task task = {.kv = check->kv,
                                     .policy = &policy,
                                     .is_unchanging = true,
                                     .scratch = check->options->scratch,
                                     .number = number};
        r = how_made(check, number, &task);
        if (r > 0)
            r = compare(check, number, &task);
        else if (r == -EUCLEAN || r == -EIO)
            r = check_read_failed(check, TABLE_META, r);
    }
    return r < 0 ? r : 0;
}
