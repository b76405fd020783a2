#include "engine/index/clusters/cluster_link.h"

#include "engine/index/clusters/cluster_change.h"
#include "engine/index/clusters/cluster_hubs.h"

struct linking {
    struct joining joining;
    struct lists_read read;
    uint64_t sid, not_with; /* not_with: is about to go, and is in no cluster; 0: none */
    uint64_t by;            /* a neighbour; 0: none was found yet */
};

/* What comes later is inserted again after it: a crash leaves them known, and ids depend on the
 * order in which they join. */
static bool may_link(void *user, uint64_t sid, uint64_t cluster)
{
    const struct linking *linking = user;
    return sid < linking->sid && (sid == 0 || sid != linking->not_with) &&
           (cluster == 0 || !sid_vector_has(&linking->joining.clusters, cluster));
}

static int link_to(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    struct linking *linking = user;
    (void)record;
    linking->by = sid;
    return joining_add(&linking->joining, sid, cluster);
}

/* The first document of its class: look for neighbours. Postings of dead documents (a crash forgets
 * removals) are dropped on the way. */
static int link_first(const struct graph *graph, struct linking *linking,
                      const struct record *record)
{
    _cleanup_(sid_vector_done) struct sid_vector dead = {0};

    int r =
        neighbours_reach(graph, &record->sketch, may_link, link_to, linking, &dead, &linking->read);
    for (size_t i = 0; i < dead.n_sids && r == 0; i++)
        r = postings_remove(graph->postings, dead.sids[i], &record->sketch);
    return r;
}

/* One of the class is there before it, and has the postings: join its cluster. */
static int link_twin(const struct graph *graph, struct linking *linking, uint64_t twin)
{
    uint64_t cluster;
    int r = membership_clusters_of(graph->membership, &twin, 1, &cluster);

    linking->by = twin;
    return r < 0 ? r : joining_add(&linking->joining, twin, cluster);
}

/* What is known of the cluster it has come into. */
static int tell_hub(const struct graph *graph, const struct linking *linking,
                    const struct record *record)
{
    uint64_t cluster;

    if (linking->by == 0)
        return 0;
    int r = membership_clusters_of(graph->membership, &linking->sid, 1, &cluster);
    return r < 0 || cluster == 0
               ? r
               : cluster_hubs_came(graph, cluster, linking->sid, record, linking->by);
}

static void linking_done(struct linking *linking)
{
    joining_done(&linking->joining);
    lists_read_done(&linking->read);
}

/* What is in no cluster has no id to keep, and with what comes in its place it
 * would only found a cluster to leave it. */
int cluster_link(const struct graph *graph, const struct coming *coming)
{
    _cleanup_(linking_done) struct linking linking = {.sid = coming->sid};
    uint64_t cluster = 0;
    int r = 0;

    if (coming->replaced)
        r = membership_clusters_of(graph->membership, &coming->replaced, 1, &cluster);
    if (r == 0 && coming->replaced && cluster == 0) {
        linking.not_with = coming->replaced;
        dissolved_clusters_replace(&graph->membership->dissolved, coming->replaced, coming->sid);
    }
    cluster = 0;
    if (r == 0 && coming->may_be_in)
        r = membership_clusters_of(graph->membership, &coming->sid, 1, &cluster);
    if (r == 0)
        r = joining_add(&linking.joining, coming->sid, cluster);
    if (r == 0 && coming->first == coming->sid)
        r = link_first(graph, &linking, coming->record);
    else if (r == 0 && coming->first != linking.not_with)
        r = link_twin(graph, &linking, coming->first);
    if (r == 0)
        r = cluster_change_join(graph, &linking.joining);
    if (r == 0)
        r = tell_hub(graph, &linking, coming->record);
    return r < 0 ? r : neighbours_learn(graph, coming->sid, &linking.read);
}

int cluster_link_in_place(const struct graph *graph, const struct coming *coming)
{
    _cleanup_(joining_done) struct joining joining = {0};
    const uint64_t sids[2] = {coming->replaced, coming->sid};
    uint64_t clusters[2];

    if (coming->replaced == 0)
        return 0;
    int r = membership_clusters_of(graph->membership, sids, 2, clusters);
    if (r < 0 || clusters[1])
        return r;
    if (clusters[0] == 0) {
        dissolved_clusters_replace(&graph->membership->dissolved, sids[0], sids[1]);
        return 0;
    }
    r = joining_add(&joining, sids[0], clusters[0]);
    if (r == 0)
        r = joining_add(&joining, sids[1], 0);
    return r < 0 ? r : cluster_change_join(graph, &joining);
}
