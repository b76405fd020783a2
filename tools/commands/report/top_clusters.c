#include "tools/commands/report/top_clusters.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/room.h"

static void cluster_done(struct top_cluster *cluster)
{
    free(cluster->representative);
    *cluster = (struct top_cluster){0};
}

void top_clusters_done(struct top_clusters *top)
{
    for (size_t i = 0; i < top->n; i++)
        cluster_done(&top->clusters[i]);
    free(top->clusters);
    *top = (struct top_clusters){0};
}

static int compare(const void *a, const void *b)
{
    const struct top_cluster *x = a, *y = b;
    const int order = cost_compare(&x->cost, &y->cost);
    if (order)
        return order;
    if (x->cost.documents != y->cost.documents)
        return x->cost.documents < y->cost.documents ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Twice as many as are kept have come: so each is sorted a few times. */
static void cut(struct top_clusters *top)
{
    if (top->n)
        qsort(top->clusters, top->n, sizeof(*top->clusters), compare);
    while (top->n > top->most)
        cluster_done(&top->clusters[--top->n]);
}

bool top_clusters_is_first(const struct top_clusters *top, uint64_t id)
{
    return !top->is_open || top->clusters[top->n - 1].id != id;
}

static int begin(struct top_clusters *top, const struct top_member *member)
{
    if (top->n >= 2 * top->most)
        cut(top);
    if (!MAKE_ROOM(top->clusters, top->room, top->n + 1))
        return -ENOMEM;
    struct top_cluster cluster = {.id = member->id,
                                  .resemblance_min = 1,
                                  .first = member->mtime,
                                  .last = member->mtime,
                                  .representative = strdup(member->path)};
    if (!cluster.representative)
        return -ENOMEM;
    top->clusters[top->n++] = cluster;
    top->n_all++;
    top->is_open = true;
    return 0;
}

int top_clusters_add(struct top_clusters *top, const struct top_member *member)
{
    const bool is_first = top_clusters_is_first(top, member->id);
    int r = is_first ? begin(top, member) : 0;
    if (r < 0)
        return r;
    struct top_cluster *cluster = &top->clusters[top->n - 1];
    cluster->cost.documents++;
    cluster->cost.bytes += member->size_bytes;
    if (member->mtime < cluster->first)
        cluster->first = member->mtime;
    if (member->mtime > cluster->last)
        cluster->last = member->mtime;
    if (is_first)
        return 0;
    const enum cost_kind kind = cost_kind_of(member->resemblance);
    cluster->cost.copies[kind]++;
    cluster->cost.copy_bytes[kind] += member->size_bytes;
    cluster->resemblance_sum += member->resemblance;
    if (member->resemblance < cluster->resemblance_min)
        cluster->resemblance_min = member->resemblance;
    return 0;
}

void top_clusters_finish(struct top_clusters *top)
{
    top->is_open = false;
    cut(top);
}
