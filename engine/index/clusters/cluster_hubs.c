#include "engine/index/clusters/cluster_hubs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/index/clusters/cluster_hubs_private.h"
#include "engine/index/clusters/small_cluster.h"

enum {
    N_HUBS = 256, /* clusters */
    TRIES = 3,    /* documents that are tried as the hub */
    /* Of so many parts of a cluster one may have come since it was last asked for: then it is
     * cheaper to begin anew when it is, than to remember. */
    NEW_SHARE = 4,
};

struct cluster_hubs {
    size_t from;
    uint64_t n_used;
    uint64_t clusters[N_HUBS]; /* 0: unused */
    struct hub hubs[N_HUBS];
};

int cluster_hubs_new(size_t from, struct cluster_hubs **ret_hubs)
{
    struct cluster_hubs *hubs = calloc(1, sizeof(*hubs));
    if (!hubs)
        return -ENOMEM;
    hubs->from = from ? from : SMALL_CLUSTER_MAX + 1;
    *ret_hubs = hubs;
    return 0;
}

static void drop(struct hub *hub)
{
    sid_vector_done(&hub->new_sids);
    *hub = (struct hub){.sid = 0};
}

static void forget(struct cluster_hubs *hubs, size_t i)
{
    if (hubs->clusters[i])
        drop(&hubs->hubs[i]);
    hubs->clusters[i] = 0;
}

void cluster_hubs_forget(struct cluster_hubs *hubs)
{
    for (size_t i = 0; i < N_HUBS; i++)
        forget(hubs, i);
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
    for (size_t i = 0; cluster && i < N_HUBS; i++)
        if (hubs->clusters[i] == cluster)
            return &hubs->hubs[i];
    return NULL;
}

static void forget_cluster(struct cluster_hubs *hubs, uint64_t cluster)
{
    struct hub *hub = find(hubs, cluster);
    if (hub)
        forget(hubs, (size_t)(hub - hubs->hubs));
}

/* In the place of the one not used for longest. */
static struct hub *add(struct cluster_hubs *hubs, uint64_t cluster)
{
    size_t place = 0;
    for (size_t i = 1; i < N_HUBS; i++)
        if (hubs->hubs[i].used < hubs->hubs[place].used)
            place = i;
    forget(hubs, place);
    hubs->clusters[place] = cluster;
    return &hubs->hubs[place];
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
    bool gone = left && to != 0;

    for (size_t i = 0; left && !gone && i < n_members; i++) {
        gone = members[i].sid == left->sid;
        if (!gone)
            forget_document(left, members[i].sid);
    }
    if (gone)
        forget_cluster(hubs, from);
    for (size_t i = 0; entered && entered->sid && i < n_members; i++)
        if (sid_vector_push(&entered->new_sids, members[i].sid) < 0)
            forget_cluster(hubs, to);
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

/* Those that came since, as many as may be. What leaves now is among them, and
 * forgotten when it has left. Returns as add_far(), or -EINPROGRESS when some are
 * left. */
static int compare_new(const struct graph *graph, struct hub *hub, const struct record *of_hub,
                       size_t most)
{
    struct sid_vector *sids = &hub->new_sids;
    int r = 1;

    while (r > 0 && sids->n_sids > 0) {
        size_t n = sids->n_sids < COMPARED_AT_ONCE ? sids->n_sids : COMPARED_AT_ONCE;
        n = n < most ? n : most;
        if (n == 0)
            return -EINPROGRESS;
        r = compare_some(graph, hub, of_hub, sids->sids + sids->n_sids - n, n);
        sids->n_sids -= n;
        most -= n;
    }
    if (r > 0)
        sid_vector_done(sids);
    return r;
}

/* -- asking -- */

/* Returns 1, 0 when this one is not the hub of the others, -EINPROGRESS when `most`
 * comparisons do not tell, or an error. */
static int holds(const struct graph *graph, uint64_t cluster, struct hub *hub,
                 const struct sid_vector *leaving, size_t most)
{
    const struct record *record;
    int r = records_get(graph->records, &hub->sid, 1, &record);
    if (r < 0)
        return r;
    if (!record)
        return 0;
    r = compare_new(graph, hub, record, most);
    if (r > 0)
        r = cluster_hubs_connect_far(graph, cluster, hub, record, leaving);
    records_put(graph->records, &record, 1);
    return r;
}

/* The next one that stays, from anywhere in the cluster, with which all are to
 * be compared. Returns 1, 0 when enough were tried, or an error. */
static int choose(const struct graph *graph, uint64_t cluster, struct hub *hub,
                  const struct sid_vector *leaving)
{
    _cleanup_(sid_vector_done) struct sid_vector members = {0};
    int r = hub->n_tried < TRIES ? membership_list(graph->membership, cluster, 0, &members) : 0;

    hub->sid = 0;
    hub->n_far = 0;
    while (r == 0 && hub->at < members.n_sids) {
        uint64_t sid = members.sids[++hub->at * (members.n_sids / (TRIES + 1)) % members.n_sids];
        if (sid_vector_finds(leaving, sid))
            continue;
        hub->n_tried++;
        hub->sid = sid;
        sid_vector_done(&hub->new_sids);
        hub->new_sids = members;
        members = (struct sid_vector){0};
        return 1;
    }
    return r;
}

/* Returns as holds(). */
static int look_for(const struct graph *graph, uint64_t cluster, struct hub *hub,
                    const struct sid_vector *leaving, size_t most)
{
    int r = hub->sid ? holds(graph, cluster, hub, leaving, most) : 0;
    while (r == 0 && (r = choose(graph, cluster, hub, leaving)) > 0)
        r = holds(graph, cluster, hub, leaving, most);
    if (r > 0)
        hub->n_tried = hub->at = 0;
    return r;
}

static void refuse(struct hub *hub, uint64_t size)
{
    const uint64_t used = hub->used;
    drop(hub);
    hub->used = used;
    hub->refused_size = size;
}

static bool is_refused(const struct hub *hub, uint64_t size)
{
    return hub->sid == 0 && hub->n_tried == 0 && size < 2 * hub->refused_size &&
           2 * size > hub->refused_size;
}

int cluster_hubs_hold(const struct graph *graph, uint64_t cluster, uint64_t size,
                      const struct sid_vector *leaving)
{
    struct cluster_hubs *hubs = graph->membership->hubs;
    struct hub *hub = find(hubs, cluster);

    if (size < hubs->from || (hub && is_refused(hub, size)))
        return 0;
    if (!hub)
        hub = add(hubs, cluster);
    hub->used = ++hubs->n_used;
    bool grown = hub->n_tried == 0 && hub->new_sids.n_sids > size / NEW_SHARE;
    if (sid_vector_finds(leaving, hub->sid) || grown) {
        hub->sid = 0;
        hub->n_tried = hub->at = 0;
    }
    int r = look_for(graph, cluster, hub, leaving, cluster_repairs_at_once(graph->repairs));
    if (r == -EINPROGRESS) { /* later, piece by piece */
        hub->is_later = true;
        r = cluster_repairs_note(graph, cluster);
        return r < 0 ? r : 1;
    }
    if (r == 0)
        refuse(hub, size);
    return r;
}

bool cluster_hubs_is_later(struct cluster_hubs *hubs, uint64_t cluster)
{
    const struct hub *hub = find(hubs, cluster);
    return hub && hub->is_later;
}

void cluster_hubs_give_up(struct cluster_hubs *hubs, uint64_t cluster)
{
    struct hub *hub = find(hubs, cluster);
    if (hub)
        hub->is_later = false;
}

int cluster_hubs_step(const struct graph *graph, uint64_t cluster)
{
    static const struct sid_vector nobody;
    struct hub *hub = find(graph->membership->hubs, cluster);
    uint64_t size = 0;

    int r = look_for(graph, cluster, hub, &nobody, cluster_repairs_at_once(graph->repairs));
    if (r == 0)
        r = membership_size(graph->membership, cluster, &size);
    else if (r > 0)
        hub->is_later = false;
    if (r == 0)
        refuse(hub, size);
    return r;
}

/* -- who comes -- */

/* Returns whether the document hangs on another that is near, or an error. */
static int hangs_on(const struct graph *graph, const struct record *of_hub,
                    const struct record *record, uint64_t by)
{
    const struct record *of_by;
    int r = records_get(graph->records, &by, 1, &of_by);
    if (r < 0)
        return r;
    if (of_by)
        r = neighbours_by_tier_r(graph, &of_hub->sketch, &of_by->sketch);
    if (r > 0)
        r = neighbours_by_tier_r(graph, &record->sketch, &of_by->sketch);
    records_put(graph->records, &of_by, 1);
    return r;
}

/* The last of the new ones. */
static int compare_last(const struct graph *graph, struct hub *hub, const struct record *record,
                        uint64_t by)
{
    const uint64_t sid = hub->new_sids.sids[hub->new_sids.n_sids - 1];
    const struct record *of_hub;
    int r = records_get(graph->records, &hub->sid, 1, &of_hub);
    if (r < 0 || !of_hub)
        return r;
    r = neighbours_by_tier_r(graph, &of_hub->sketch, &record->sketch);
    if (r == 0 && hub->n_far < FAR_MAX) {
        r = by && by != sid ? hangs_on(graph, of_hub, record, by) : 0;
        if (r >= 0)
            hub->far[hub->n_far++] = (struct far){sid, r > 0 ? by : 0};
        r = r < 0 ? r : 1;
    }
    if (r > 0)
        hub->new_sids.n_sids--;
    records_put(graph->records, &of_hub, 1);
    return r < 0 ? r : 0;
}

int cluster_hubs_came(const struct graph *graph, uint64_t cluster, uint64_t sid,
                      const struct record *record, uint64_t by)
{
    static const struct sid_vector nobody;
    struct cluster_hubs *hubs = graph->membership->hubs;
    struct hub *hub = find(hubs, cluster);
    uint64_t size = 0;

    if (hub && hub->sid && hub->n_tried == 0 && hub->new_sids.n_sids > 0 &&
        hub->new_sids.sids[hub->new_sids.n_sids - 1] == sid)
        return compare_last(graph, hub, record, by);
    int r = hub ? 0 : membership_known_size(graph->membership, cluster, &size);
    if (r < 0 || size < hubs->from || size >= 2 * hubs->from ||
        size > cluster_repairs_at_once(graph->repairs))
        return r;
    r = cluster_hubs_hold(graph, cluster, size, &nobody);
    return r < 0 ? r : 0;
}
