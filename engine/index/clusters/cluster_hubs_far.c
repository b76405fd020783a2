/* Documents of large clusters that are no neighbours of the hub. */
#include "engine/index/clusters/cluster_hubs_private.h"

enum { LOOKED_THROUGH = 1024 /* members, for those on which far ones hang */ };

struct search {
    const struct graph *graph;
    const struct sid_vector *leaving;
    const struct record *of_hub;
    uint64_t cluster, not_by, by;
};

static bool may_be_by(void *user, uint64_t sid, uint64_t cluster)
{
    const struct search *search = user;
    return cluster == search->cluster && sid != search->not_by &&
           !sid_vector_finds(search->leaving, sid);
}

/* Ends at the first one. */
static int is_by(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    struct search *search = user;
    (void)cluster;
    int r = neighbours_by_tier_r(search->graph, &search->of_hub->sketch, &record->sketch);
    if (r > 0)
        search->by = sid;
    return r;
}

static bool is_lost(const struct far *far, const struct sid_vector *leaving)
{
    return !sid_vector_finds(leaving, far->sid) && (!far->by || sid_vector_finds(leaving, far->by));
}

/* Far ones that nobody is known by. */
struct lost {
    struct far *far[FAR_MAX];
    uint64_t sids[FAR_MAX];
    const struct record *records[FAR_MAX];
    size_t n, n_left;
};

/* Those that hang on a document which is near. */
static int hang_on(const struct graph *graph, struct lost *lost, const struct record *of_hub,
                   uint64_t sid, const struct record *record)
{
    int near = -1;
    for (size_t i = 0; i < lost->n; i++) {
        if (lost->far[i]->by || lost->sids[i] == sid)
            continue;
        int r = neighbours_by_tier_r(graph, &lost->records[i]->sketch, &record->sketch);
        if (r > 0 && near < 0)
            r = near = neighbours_by_tier_r(graph, &of_hub->sketch, &record->sketch);
        if (r < 0)
            return r;
        if (r > 0 && near > 0) {
            lost->far[i]->by = sid;
            lost->n_left--;
        }
    }
    return 0;
}

/* Look through members, which is less than reading posting lists in full for
 * each of the lost. */
static int look_through(const struct graph *graph, uint64_t cluster, const struct hub *hub,
                        const struct record *of_hub, const struct sid_vector *leaving,
                        struct lost *lost)
{
    _cleanup_(sid_vector_done) struct sid_vector members = {0};
    int r = membership_list(graph->membership, cluster, LOOKED_THROUGH, &members);

    for (size_t at = 0; r == 0 && lost->n_left > 0 && at < members.n_sids; at += COMPARED_AT_ONCE) {
        const struct record *records[COMPARED_AT_ONCE];
        const uint64_t *sids = members.sids + at;
        size_t n = members.n_sids - at < COMPARED_AT_ONCE ? members.n_sids - at : COMPARED_AT_ONCE;
        r = records_get(graph->records, sids, n, records);
        if (r < 0)
            return r;
        for (size_t i = 0; r == 0 && i < n; i++)
            if (records[i] && sids[i] != hub->sid && !sid_vector_finds(leaving, sids[i]))
                r = hang_on(graph, lost, of_hub, sids[i], records[i]);
        records_put(graph->records, records, n);
    }
    return r;
}

static int search_for(const struct graph *graph, uint64_t cluster, const struct record *of_hub,
                      const struct sid_vector *leaving, struct lost *lost, size_t i)
{
    struct search search = {graph, leaving, of_hub, cluster, lost->sids[i], 0};
    int r = neighbours_find(graph, &lost->records[i]->sketch, may_be_by, is_by, &search, NULL);
    if (r < 0 || search.by == 0)
        return r < 0 ? r : 0;
    lost->far[i]->by = search.by;
    lost->n_left--;
    return 1;
}

static int connect_lost(const struct graph *graph, uint64_t cluster, const struct hub *hub,
                        const struct record *of_hub, const struct sid_vector *leaving,
                        struct lost *lost)
{
    for (size_t i = 0; i < lost->n; i++) {
        if (!lost->records[i])
            return 0;
        lost->far[i]->by = 0;
    }
    int r = look_through(graph, cluster, hub, of_hub, leaving, lost);
    if (r < 0)
        return r;
    r = 1;
    for (size_t i = 0; r > 0 && lost->n_left > 0 && i < lost->n; i++)
        if (!lost->far[i]->by)
            r = search_for(graph, cluster, of_hub, leaving, lost, i);
    return r;
}

int cluster_hubs_connect_far(const struct graph *graph, uint64_t cluster, struct hub *hub,
                             const struct record *of_hub, const struct sid_vector *leaving)
{
    struct lost lost = {.n = 0};

    for (size_t i = 0; i < hub->n_far; i++)
        if (is_lost(&hub->far[i], leaving)) {
            lost.sids[lost.n] = hub->far[i].sid;
            lost.far[lost.n++] = &hub->far[i];
        }
    lost.n_left = lost.n;
    if (lost.n == 0)
        return 1;
    int r = records_get(graph->records, lost.sids, lost.n, lost.records);
    if (r < 0)
        return r;
    r = connect_lost(graph, cluster, hub, of_hub, leaving, &lost);
    records_put(graph->records, lost.records, lost.n);
    return r;
}
