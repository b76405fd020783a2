/* Documents that are put off have a class and postings, and are in no cluster yet. A run over all
 * documents (recluster.h) finds the clusters of those that had come when it began. Those that have
 * come since are inserted one by one where they are few, as is every document once none is put off;
 * else another run looks at all.
 *
 * Example: a first scan brings 50,000 documents. While it goes on there is a run over the first
 * 1,024, and one over the first 8,192. At its end one over all 50,000 begins; a user writes three
 * more, which are inserted when it is over.
 *
 * One mark, of no cluster (dirty.h), stands all the time, so that a crash loses nothing but what is
 * known of how far the runs have come. What goes marks its cluster, whatever is left of it, and
 * nothing else moves: so a run goes on whatever comes and goes, and is not made again for that.
 *
 * Cost: what a run over all takes, and half as much again for those before it; but neither what an
 * insert takes, nor runs over clusters that grow on. Memory as of any run, for all documents: so
 * these are 2^20 at most. Left out: putting off what a later scan brings, of which views would lose
 * what they have shown; passing over pairs that an earlier run has compared, for which it would
 * have to be known which lists have become long since. */
#include "engine/index/clusters/living_clusters_private.h"

enum {
    PUT_OFF_LEAST = 1024,
    PUT_OFF_MOST = 1 << 20, /* 110 MB */
    PUT_OFF_TIMES = 8,      /* as many as at the last run, when there is another */
    FEW_OF = 8,             /* one of so many is inserted by itself in the time of a run */
    PLACED_AT_ONCE = 64,
};

bool living_clusters_is_put_off(const struct living_clusters *clusters, uint64_t sid)
{
    return sid > clusters->placed_sid && dirty_has(clusters->dirty, DIRTY_PUT_OFF);
}

int living_clusters_put_off(struct living_clusters *clusters)
{
    const uint64_t mark = DIRTY_PUT_OFF;
    int r = living_clusters_recover(clusters);
    if (r < 0 || dirty_has(clusters->dirty, mark) || clusters->last_sid >= PUT_OFF_MOST)
        return r;
    recluster_forget(clusters->run);
    clusters->placed_sid = clusters->last_sid;
    r = dirty_mark(clusters->dirty, &mark, 1);
    clusters->unfinished = r < 0;
    return r;
}

enum living_clusters_due living_clusters_due(const struct living_clusters *clusters)
{
    const uint64_t last = clusters->last_sid, placed = clusters->placed_sid;
    if (!dirty_has(clusters->dirty, DIRTY_PUT_OFF))
        return CLUSTERS_DUE;
    if (last >= PUT_OFF_MOST)
        return CLUSTERS_FULL;
    return recluster_is_at_work(clusters->run) ||
                   (last >= PUT_OFF_LEAST && last >= PUT_OFF_TIMES * placed)
               ? CLUSTERS_DUE
               : CLUSTERS_LATER;
}

static int place_some(struct living_clusters *clusters)
{
    int r = 0;
    for (unsigned n = 0; r == 0 && n < PLACED_AT_ONCE && clusters->placed_sid < clusters->last_sid;
         n++)
        r = living_clusters_insert_again(clusters, ++clusters->placed_sid);
    return r;
}

int living_clusters_place_step(struct living_clusters *clusters)
{
    const uint64_t mark = DIRTY_PUT_OFF, n = clusters->last_sid - clusters->placed_sid;
    int r = 0;
    if (recluster_is_at_work(clusters->run) || n > clusters->placed_sid / FEW_OF)
        r = recluster_all_step(clusters->run, clusters->graph, clusters->last_sid,
                               &clusters->placed_sid);
    else if (n > 0)
        r = place_some(clusters);
    else
        r = dirty_clear(clusters->dirty, &mark, 1, UINT64_MAX);
    return r < 0 ? r : dirty_count(clusters->dirty) > 0;
}
