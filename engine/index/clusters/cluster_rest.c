/* Where neither the members nor a hub say it, it is found by searching (cluster_parts.h).
 *
 * Where many leave a large cluster, most have the same neighbours, and asking for those of each one
 * is what made a delete among very many similar documents as slow as they are many. So it is tried
 * first to show that the rest holds together, which is all there is to know: the neighbours of one
 * document of the rest are mostly all of it, and from the others it is searched with as many
 * queries as there are documents that leave. If that shows it, there is nothing to split; if not,
 * nothing is concluded, and the neighbours of each are asked for.
 *
 * Measured on a machine at work with other things, 5,000 documents that resemble each other, rm
 * through a mount: one after the other more than 200 s; together 9 s.
 */
#include "engine/index/clusters/cluster_rest.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "engine/index/tables/classes.h"
#include "engine/index/clusters/cluster_hubs.h"
#include "engine/index/clusters/cluster_parts.h"
#include "engine/index/clusters/small_cluster.h"

/* The rest is listed for each time that documents leave it: not for one document of thousands. */
enum { REST_LISTED_PER_LEAVING = 256 };

/* -- the parts -- */

struct part_sizes {
    uint64_t *sizes;              /* documents */
    struct sid_vector *documents; /* ascending; of the part that was not exhausted: none */
    size_t n_parts, rest;         /* the number of that part, or n_parts */
};

static void part_sizes_done(struct part_sizes *sizes)
{
    for (size_t i = 0; sizes->documents && i < sizes->n_parts; i++)
        sid_vector_done(&sizes->documents[i]);
    free(sizes->documents);
    free(sizes->sizes);
}

/* What was not exhausted has what the others have not. */
static int measure_parts(const struct graph *graph, const struct cluster_parts *parts,
                         uint64_t cluster, size_t n_leaving, size_t n_parts,
                         struct part_sizes *sizes)
{
    uint64_t cluster_size, n_documents = n_leaving;

    sizes->sizes = calloc(n_parts, sizeof(*sizes->sizes));
    sizes->documents = calloc(n_parts, sizeof(*sizes->documents));
    sizes->n_parts = sizes->rest = n_parts;
    if (!sizes->sizes || !sizes->documents)
        return -ENOMEM;
    int r = membership_size(graph->membership, cluster, &cluster_size);
    for (size_t i = 0; r == 0 && i < n_parts; i++) {
        struct sid_vector *documents = &sizes->documents[i];
        if (!cluster_parts_exhausted(parts, i)) {
            sizes->rest = i;
            continue;
        }
        r = cluster_parts_documents(parts, i, documents);
        sid_vector_sort_unique(documents);
        sizes->sizes[i] = documents->n_sids;
        n_documents += documents->n_sids;
    }
    if (r == 0 && sizes->rest < n_parts)
        sizes->sizes[sizes->rest] = cluster_size > n_documents ? cluster_size - n_documents : 0;
    return r;
}

static size_t part_of(const struct part_sizes *sizes, uint64_t sid)
{
    for (size_t i = 0; i < sizes->n_parts; i++)
        if (sid_vector_finds(&sizes->documents[i], sid))
            return i;
    return sizes->rest;
}

/* The part that keeps the id: of most documents; among such, that of the first in rank. */
static int choose_part(const struct graph *graph, uint64_t cluster,
                       const struct sid_vector *leaving, const struct part_sizes *sizes,
                       size_t *ret_best)
{
    _cleanup_(sid_vector_done) struct sid_vector members = {0};
    size_t best = 0, n_largest = 0;

    for (size_t i = 0; i < sizes->n_parts; i++)
        if (sizes->sizes[i] > sizes->sizes[best])
            best = i;
    for (size_t i = 0; i < sizes->n_parts; i++)
        n_largest += sizes->sizes[i] == sizes->sizes[best];
    int r = n_largest == 1 ? 0 : membership_list(graph->membership, cluster, 0, &members);
    for (size_t i = 0; r == 0 && i < members.n_sids; i++) {
        if (sid_vector_finds(leaving, members.sids[i]))
            continue;
        size_t part = part_of(sizes, members.sids[i]);
        if (part < sizes->n_parts && sizes->sizes[part] == sizes->sizes[best]) {
            best = part;
            break;
        }
    }
    *ret_best = best;
    return r;
}

static int plan_parts(const struct graph *graph, const struct cluster_parts *parts, size_t n_parts,
                      struct cluster_split *split)
{
    _cleanup_(part_sizes_done) struct part_sizes sizes = {0};
    size_t best = 0;

    int r = measure_parts(graph, parts, split->cluster, split->leaving.n_sids, n_parts, &sizes);
    if (r == 0)
        r = choose_part(graph, split->cluster, &split->leaving, &sizes, &best);
    for (size_t i = 0; i < n_parts && r == 0; i++) {
        uint64_t id = 0;
        if (i == best)
            continue;
        if (sizes.sizes[i] > 1)
            r = cluster_ids_new(&graph->membership->ids, graph->kv, &id);
        if (r == 0)
            r = cluster_split_add_part(split, id, cluster_parts_beginning(parts, i),
                                       &sizes.documents[i]);
    }
    return r;
}

/* -- from all neighbours of what leaves -- */

struct beginning {
    struct cluster_parts *parts;
    const struct sid_vector *leaving;
    uint64_t cluster;
    size_t n;
};

static bool may_begin(void *user, uint64_t sid, uint64_t cluster)
{
    const struct beginning *beginning = user;
    return cluster == beginning->cluster && !sid_vector_finds(beginning->leaving, sid) &&
           !cluster_parts_has(beginning->parts, sid);
}

static int begin_from(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    struct beginning *beginning = user;
    (void)cluster;
    beginning->n++;
    return cluster_parts_begin_from(beginning->parts, sid, record);
}

/* As much as is done at once, of which a node may take a millisecond. */
static int search_at_once(const struct graph *graph, struct cluster_parts *parts)
{
    enum { SOME = 64, AT_ONCE_US = 250 * 1000 };
    const int64_t until_us = clock_now_us() + AT_ONCE_US;
    size_t n_left = cluster_repairs_at_once(graph->repairs);
    int r;

    do {
        const size_t n = n_left < SOME ? n_left : SOME;
        r = cluster_parts_search(parts, false, n);
        n_left -= n;
    } while (r == -E2BIG && n_left > 0 && clock_now_us() < until_us);
    return r;
}

static int plan_by_neighbours(const struct graph *graph, struct cluster_split *split)
{
    _cleanup_(cluster_parts_free_p) struct cluster_parts *parts = NULL;
    const struct sid_vector *leaving = &split->leaving;

    int r = cluster_parts_new(graph, leaving, &split->cluster, 1, &parts);
    if (r < 0)
        return r;
    struct beginning beginning = {parts, leaving, split->cluster, 0};
    for (size_t i = 0; i < leaving->n_sids && r == 0; i++) {
        const struct record *record = NULL;
        r = records_get(graph->records, &leaving->sids[i], 1, &record);
        if (r == 0 && record)
            r = neighbours_find(graph, &record->sketch, may_begin, begin_from, &beginning, NULL);
        records_put(graph->records, &record, 1);
    }
    if (r < 0 || beginning.n < 2)
        return r;
    int n_parts = search_at_once(graph, parts);
    if (n_parts == -E2BIG) /* later, piece by piece */
        return cluster_repairs_note(graph, split->cluster);
    return n_parts < 2 ? (n_parts < 0 ? n_parts : 0)
                       : plan_parts(graph, parts, (size_t)n_parts, split);
}

/* -- the rest as a whole -- */

/* Begin from the node of a document, if it is not found yet. Returns 1 when it was not, 0, or an
 * error. */
static int begin_from_document(const struct graph *graph, struct cluster_parts *parts, uint64_t sid)
{
    _cleanup_(sid_vector_done) struct sid_vector class = {0};
    uint8_t class_id[CLASS_BYTES];
    const struct record *record;

    if (cluster_parts_has(parts, sid))
        return 0;
    int r = records_get(graph->records, &sid, 1, &record);
    if (r < 0 || !record)
        return r < 0 ? r : -EUCLEAN;
    record_class(record, class_id);
    r = classes_list(graph->kv, class_id, 1, &class);
    if (r == 0 && class.n_sids == 0)
        r = -EUCLEAN;
    if (r == 0 && !cluster_parts_has(parts, class.sids[0])) {
        r = cluster_parts_begin_from(parts, class.sids[0], record);
        if (r == 0)
            r = 1;
    }
    records_put(graph->records, &record, 1);
    return r;
}

/* Returns 1 when the rest of a cluster is known to hold together, 0 when it may not, or an error.
 */
static int rest_is_connected(const struct graph *graph, uint64_t cluster,
                             const struct sid_vector *leaving, uint64_t size)
{
    _cleanup_(cluster_parts_free_p) struct cluster_parts *parts = NULL;
    _cleanup_(sid_vector_done) struct sid_vector members = {0};
    size_t n_begun = 0;

    if (leaving->n_sids == 1 || size / leaving->n_sids > REST_LISTED_PER_LEAVING)
        return 0;
    int r = cluster_parts_new(graph, leaving, &cluster, 1, &parts);
    if (r == 0)
        r = membership_list(graph->membership, cluster, 0, &members);
    for (size_t i = 0; r >= 0 && i < members.n_sids; i++) {
        if (sid_vector_finds(leaving, members.sids[i]))
            continue;
        r = begin_from_document(graph, parts, members.sids[i]);
        n_begun += r == 1;
        if (n_begun > leaving->n_sids)
            return 0;
        if (r == 1 && n_begun == 1)
            r = cluster_parts_widen(parts);
    }
    if (r < 0)
        return r;
    r = cluster_parts_search(parts, false, leaving->n_sids);
    return r < 0 && r != -E2BIG ? r : r == 1;
}

int cluster_rest_plan(const struct graph *graph, struct cluster_split *split)
{
    uint64_t size = 0;

    if (cluster_repairs_has(graph->repairs, split->cluster))
        return 0; /* which sees what is left */
    int r = membership_size(graph->membership, split->cluster, &size);
    if (r == 0 && size <= split->leaving.n_sids + 1)
        return 0;
    if (r == 0)
        r = small_cluster_plan(graph, size, split);
    if (r == 0)
        r = cluster_hubs_hold(graph, split->cluster, size, &split->leaving);
    if (r == 0)
        r = rest_is_connected(graph, split->cluster, &split->leaving, size);
    if (r == 0)
        r = plan_by_neighbours(graph, split);
    return r < 0 ? r : 0;
}
