#include "engine/index/cluster_hubs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/index/neighbours.h"

enum {
    DEFAULT_FROM = 512,
    N_HUBS = 64,  /* clusters */
    FAR_MAX = 64, /* documents of one that do not resemble its hub */
    TRIES = 3,    /* documents that are tried as the hub */
    COMPARED_AT_ONCE = 64,
    /* Of so many parts of a cluster one may have come since it was last asked for: then it is
     * cheaper to begin anew when it is, than to remember. */
    NEW_SHARE = 4,
};

/* Not a neighbour of the hub, but of one that is. */
struct far {
    uint64_t sid, by; /* by 0: to be found */
};

struct hub {
    uint64_t cluster;      /* 0: unused */
    uint64_t sid;          /* 0: there is none, */
    uint64_t refused_size; /* which was found at this size */
    uint64_t used;         /* when, counted */
    struct sid_vector new_sids;
    struct far far[FAR_MAX];
    size_t n_far;
};

struct cluster_hubs {
    size_t from;
    uint64_t n_used;
    struct hub hubs[N_HUBS];
};

int cluster_hubs_new(size_t from, struct cluster_hubs **ret_hubs)
{
    struct cluster_hubs *hubs = calloc(1, sizeof(*hubs));
    if (!hubs)
        return -ENOMEM;
    hubs->from = from ? from : DEFAULT_FROM;
    *ret_hubs = hubs;
    return 0;
}

static void drop(struct hub *hub)
{
    sid_vector_done(&hub->new_sids);
    *hub = (struct hub){.cluster = 0};
}

void cluster_hubs_forget(struct cluster_hubs *hubs)
{
    for (size_t i = 0; i < N_HUBS; i++)
        drop(&hubs->hubs[i]);
}

void cluster_hubs_free(struct cluster_hubs *hubs)
{
    if (!hubs)
        return;
    cluster_hubs_forget(hubs);
    free(hubs);
}

static struct hub *find(struct cluster_hubs *hubs, uint64_t cluster)
{
    for (size_t i = 0; i < N_HUBS; i++)
        if (cluster && hubs->hubs[i].cluster == cluster)
            return &hubs->hubs[i];
    return NULL;
}

/* In the place of the one not used for longest. */
static struct hub *add(struct cluster_hubs *hubs, uint64_t cluster)
{
    struct hub *hub = &hubs->hubs[0];
    for (size_t i = 1; i < N_HUBS; i++)
        if (hubs->hubs[i].used < hub->used)
            hub = &hubs->hubs[i];
    drop(hub);
    hub->cluster = cluster;
    return hub;
}

/* -- what happens -- */

static void forget_document(struct hub *hub, uint64_t sid)
{
    struct sid_vector *sids = &hub->new_sids;
    size_t n = 0;

    for (size_t i = 0; i < sids->n_sids; i++)
        if (sids->sids[i] != sid)
            sids->sids[n++] = sids->sids[i];
    sids->n_sids = n;
    for (size_t i = 0; i < hub->n_far; i++) {
        if (hub->far[i].by == sid)
            hub->far[i].by = 0;
        if (hub->far[i].sid == sid)
            hub->far[i--] = hub->far[--hub->n_far];
    }
}

void cluster_hubs_moved(struct cluster_hubs *hubs, uint64_t from, uint64_t to,
                        const struct member *members, size_t n_members)
{
    struct hub *left = find(hubs, from), *entered = find(hubs, to);

    if (left && to != 0)
        drop(left);
    for (size_t i = 0; left && left->cluster && i < n_members; i++) {
        if (members[i].sid == left->sid)
            drop(left);
        else
            forget_document(left, members[i].sid);
    }
    for (size_t i = 0; entered && entered->sid && i < n_members; i++)
        if (sid_vector_push(&entered->new_sids, members[i].sid) < 0)
            drop(entered);
}

/* -- who resembles the hub -- */

/* Returns 1, 0 when there are too many far ones, or an error. */
static int add_far(struct hub *hub, uint64_t sid)
{
    if (hub->n_far == FAR_MAX)
        return 0;
    hub->far[hub->n_far++] = (struct far){sid, 0};
    return 1;
}

static int compare_some(const struct graph *graph, struct hub *hub, const struct record *of_hub,
                        const uint64_t *sids, size_t n)
{
    const struct record *records[COMPARED_AT_ONCE];
    int r = records_get(graph->records, sids, n, records);
    if (r < 0)
        return r;
    r = 1;
    for (size_t i = 0; r > 0 && i < n; i++) {
        int near = records[i] && sids[i] != hub->sid
                       ? neighbours_by_tier_r(graph, &of_hub->sketch, &records[i]->sketch)
                       : 1;
        r = near < 0 ? near : near == 0 ? add_far(hub, sids[i]) : 1;
    }
    records_put(graph->records, records, n);
    return r;
}

/* All that came since. What leaves now is among them, and forgotten when it has left. Returns as
 * add_far(). */
static int compare_new(const struct graph *graph, struct hub *hub, const struct record *of_hub)
{
    struct sid_vector *sids = &hub->new_sids;
    int r = 1;

    for (size_t at = 0; r > 0 && at < sids->n_sids; at += COMPARED_AT_ONCE) {
        size_t n = sids->n_sids - at < COMPARED_AT_ONCE ? sids->n_sids - at : COMPARED_AT_ONCE;
        r = compare_some(graph, hub, of_hub, sids->sids + at, n);
    }
    if (r > 0)
        sid_vector_done(sids);
    return r;
}

/* -- far ones -- */

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

/* Returns 1, 0 when one is not known to be connected, or an error. */
static int connect_far(const struct graph *graph, struct hub *hub, const struct record *of_hub,
                       const struct sid_vector *leaving)
{
    for (size_t i = 0; i < hub->n_far; i++) {
        struct far *far = &hub->far[i];
        struct search search = {graph, leaving, of_hub, hub->cluster, far->sid, 0};
        const struct record *record;
        if (sid_vector_finds(leaving, far->sid) || (far->by && !sid_vector_finds(leaving, far->by)))
            continue;
        int r = records_get(graph->records, &far->sid, 1, &record);
        if (r == 0 && record)
            r = neighbours_find(graph, &record->sketch, may_be_by, is_by, &search, NULL);
        records_put(graph->records, &record, r < 0 ? 0 : 1);
        if (r < 0 || search.by == 0)
            return r < 0 ? r : 0;
        far->by = search.by;
    }
    return 1;
}

/* -- asking -- */

/* Returns 1, 0 when this one is not the hub of the others, or an error. */
static int holds(const struct graph *graph, struct hub *hub, const struct sid_vector *leaving)
{
    const struct record *record;
    int r = records_get(graph->records, &hub->sid, 1, &record);
    if (r < 0)
        return r;
    if (!record)
        return 0;
    r = compare_new(graph, hub, record);
    if (r > 0)
        r = connect_far(graph, hub, record, leaving);
    records_put(graph->records, &record, 1);
    return r;
}

/* Some that stay are tried, from anywhere in the cluster. Returns as holds(). */
static int choose(const struct graph *graph, struct hub *hub, const struct sid_vector *leaving)
{
    _cleanup_(sid_vector_done) struct sid_vector members = {0};
    int r = membership_list(graph->membership, hub->cluster, 0, &members);
    for (size_t i = 0, n_tried = 0; r == 0 && i < members.n_sids && n_tried < TRIES; i++) {
        uint64_t sid = members.sids[(i + 1) * (members.n_sids / (TRIES + 1)) % members.n_sids];
        if (sid_vector_finds(leaving, sid))
            continue;
        n_tried++;
        hub->sid = sid;
        hub->n_far = 0;
        hub->new_sids.n_sids = 0;
        for (size_t k = 0; r == 0 && k < members.n_sids; k++)
            r = sid_vector_push(&hub->new_sids, members.sids[k]);
        if (r == 0)
            r = holds(graph, hub, leaving);
    }
    return r;
}

int cluster_hubs_hold(const struct graph *graph, uint64_t cluster, uint64_t size,
                      const struct sid_vector *leaving)
{
    struct cluster_hubs *hubs = graph->membership->hubs;
    struct hub *hub = find(hubs, cluster);
    int r = 0;

    if (size < hubs->from)
        return 0;
    if (hub && hub->sid == 0 && size < 2 * hub->refused_size && 2 * size > hub->refused_size)
        return 0;
    if (!hub)
        hub = add(hubs, cluster);
    hub->used = ++hubs->n_used;
    bool grown = hub->new_sids.n_sids > size / NEW_SHARE;
    if (hub->sid && !sid_vector_finds(leaving, hub->sid) && !grown)
        r = holds(graph, hub, leaving);
    if (r == 0)
        r = choose(graph, hub, leaving);
    if (r > 0)
        return 1;
    drop(hub);
    hub->cluster = cluster;
    hub->used = hubs->n_used;
    hub->refused_size = size;
    return r;
}
