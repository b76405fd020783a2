#include "engine/index/clusters/named_clusterings.h"

#include <errno.h>
#include <string.h>

#include "engine/index/clusters/clustering_row.h"
#include "engine/index/clusters/named_clusterings_private.h"
#include "engine/index/tables/meta.h"
#include "engine/index/clusters/remade.h"
#include "engine/index/clusters/remaking.h"

enum { LINKED_AT_ONCE = 64 }; /* some milliseconds */

/* -- opening -- */

static bool same(const struct index_clustering *a, const struct index_clustering *b)
{
    char x[INDEX_CLUSTERING_TEXT_BYTES], y[INDEX_CLUSTERING_TEXT_BYTES];

    index_clustering_print(a, x);
    index_clustering_print(b, y);
    return strcmp(x, y) == 0;
}

static struct clustering_row *find_row(struct clustering_row *rows, size_t n_rows,
                                       const struct index_clustering *clustering)
{
    for (size_t i = 0; i < n_rows; i++)
        if ((rows[i].state == CLUSTERING_PAUSED || rows[i].state == CLUSTERING_COMPLETE) &&
            same(&rows[i].clustering, clustering))
            return &rows[i];
    return NULL;
}

static unsigned unused_number(enum index_clustering_kind kind, const struct clustering_row *rows,
                              size_t n_rows, uint64_t taken)
{
    const bool centres = kind == INDEX_CLUSTERING_CENTER;
    for (size_t i = 0; i < n_rows; i++)
        taken |= UINT64_C(1) << rows[i].number;
    for (unsigned number = 1; number <= CLUSTERING_MAX; number++)
        if (clustering_has_centres(number) == centres && !(taken >> number & 1))
            return number;
    return 0;
}

/* Its members are as they were, whatever came of them since. */
static int want_remade(struct named_clusterings *named, struct named_clustering *wanted,
                       bool is_new)
{
    int r = is_new ? clustering_row_put(named->of.kv, wanted->number, CLUSTERING_COMPLETE, 0,
                                        &wanted->clustering)
                   : 0;
    if (r == 0)
        r = remade_open(named->of.kv, wanted->number, &wanted->remade);
    if (r == 0)
        r = living_clusters_add_remade(named->of.clusters, wanted->number, wanted->remade);
    return r;
}

static int want_followed(struct named_clusterings *named, const struct named_clustering *wanted,
                         const struct clustering_row *row)
{
    const struct edge_rule rule = clustering_rule(&wanted->clustering);
    uint64_t linked = row && row->state == CLUSTERING_PAUSED ? row->sid : 0, sid_end;
    int r = 0;

    if (row && row->state == CLUSTERING_COMPLETE) {
        linked = UINT64_MAX;
    } else {
        r = meta_get_sid(named->of.kv, "sid_end", &sid_end);
        if (r == -ENOENT) { /* there never was a document */
            linked = UINT64_MAX;
            r = 0;
        }
        if (r == 0)
            r = clustering_row_put(named->of.kv, wanted->number,
                                   linked == UINT64_MAX ? CLUSTERING_COMPLETE : CLUSTERING_MAKING,
                                   0, &wanted->clustering);
    }
    return r < 0 ? r : living_clusters_add(named->of.clusters, wanted->number, &rule, linked);
}

/* One that there is, or a new one. The row of the former says nothing any more (row->number is
 * taken). */
static int want(struct named_clusterings *named, const struct index_clustering *clustering,
                struct clustering_row *rows, size_t n_rows, uint64_t *taken)
{
    struct named_clustering *wanted = &named->wanted[named->n_wanted];
    const struct clustering_row *row = find_row(rows, n_rows, clustering);

    *wanted = (struct named_clustering){.clustering = *clustering};
    wanted->number = row ? row->number : unused_number(clustering->kind, rows, n_rows, *taken);
    if (wanted->number == 0)
        return -EBUSY; /* the next start has removed some */
    int r = clustering_is_remade(clustering->kind) ? want_remade(named, wanted, !row)
                                                   : want_followed(named, wanted, row);
    if (r < 0) {
        remade_close(wanted->remade);
        wanted->remade = NULL;
        return r;
    }
    *taken |= UINT64_C(1) << wanted->number;
    named->n_wanted++;
    return 0;
}

static int remove_others(struct named_clusterings *named, const struct clustering_row *rows,
                         size_t n_rows, uint64_t taken)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < n_rows; i++) {
        if (taken >> rows[i].number & 1)
            continue;
        if (rows[i].state != CLUSTERING_REMOVING)
            r = clustering_row_put(named->of.kv, rows[i].number, CLUSTERING_REMOVING, 0,
                                   &rows[i].clustering);
        named->removing[named->n_removing++] = rows[i].number;
    }
    return r;
}

static int compare_names(const void *a, const void *b)
{
    const struct named_clustering *x = a, *y = b;
    return strcmp(x->clustering.name, y->clustering.name);
}

int named_clusterings_open(struct named_clusterings *named, const struct named_clusterings_of *of,
                           const struct index_options *options)
{
    struct clustering_row rows[CLUSTERING_MAX];
    size_t n_rows = 0;
    uint64_t taken = 0;

    named->of = *of;
    int r = clustering_rows_get(named->of.kv, rows, &n_rows);
    for (size_t i = 0; r == 0 && i < options->n_clusterings; i++)
        r = named->n_wanted == INDEX_CLUSTERINGS_MAX
                ? -EINVAL
                : want(named, &options->clusterings[i], rows, n_rows, &taken);
    for (size_t i = 0; r == 0 && !options->clusterings && i < n_rows; i++)
        if (rows[i].state != CLUSTERING_REMOVING && named->n_wanted < INDEX_CLUSTERINGS_MAX)
            r = want(named, &rows[i].clustering, rows, n_rows, &taken);
    if (r == 0)
        r = remove_others(named, rows, n_rows, taken);
    if (named->n_wanted)
        qsort(named->wanted, named->n_wanted, sizeof(named->wanted[0]), compare_names);
    return r;
}

void named_clusterings_stop(struct named_clusterings *named)
{
    remaking_free(named->remaking);
    named->remaking = NULL;
}

void named_clusterings_done(struct named_clusterings *named)
{
    named_clusterings_stop(named);
    for (size_t i = 0; i < named->n_wanted; i++)
        remade_close(named->wanted[i].remade);
    named->n_wanted = 0;
    kv_buf_done(&named->at);
}

/* -- making -- */

static const struct named_clustering *find_unfinished(const struct named_clusterings *named)
{
    for (size_t i = 0; i < named->n_wanted; i++) {
        const struct named_clustering *wanted = &named->wanted[i];
        if (!wanted->remade &&
            living_clusters_linked(named->of.clusters, wanted->number) != UINT64_MAX)
            return wanted;
    }
    return NULL;
}

static int make_some(struct named_clusterings *named, const struct named_clustering *wanted)
{
    char text[INDEX_CLUSTERING_TEXT_BYTES];
    int r = living_clusters_link_more(named->of.clusters, wanted->number, LINKED_AT_ONCE);

    if (r == 0)
        r = clustering_row_put(named->of.kv, wanted->number, CLUSTERING_COMPLETE, 0,
                               &wanted->clustering);
    if (r != 0)
        return r < 0 ? r : 0;
    index_clustering_print(&wanted->clustering, text);
    messages_log(named->of.messages, INDEX_LOG_INFO, "clustering %s: all documents are in it",
                 text);
    return 0;
}

int named_clusterings_store(struct named_clusterings *named)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < named->n_wanted; i++) {
        const struct named_clustering *wanted = &named->wanted[i];
        uint64_t linked = living_clusters_linked(named->of.clusters, wanted->number);
        if (!wanted->remade && linked != UINT64_MAX)
            r = clustering_row_put(named->of.kv, wanted->number, CLUSTERING_PAUSED, linked,
                                   &wanted->clustering);
    }
    return r;
}

/* -- in the background -- */

bool named_clusterings_is_idle(const struct named_clusterings *named)
{
    for (size_t i = 0; i < named->n_wanted; i++)
        if (named->wanted[i].remade && !remade_is_idle(named->wanted[i].remade))
            return false;
    return named->n_removing == 0 && !named->remaking && !find_unfinished(named);
}

bool named_clusterings_has_work(const struct named_clusterings *named, bool rests, bool wanted)
{
    if (named->n_removing > 0 || find_unfinished(named))
        return true;
    return named->remaking ? remaking_is_ready(named->remaking)
                           : named_clusterings_is_due(named, rests, wanted);
}

int named_clusterings_step(struct named_clusterings *named, bool rests, bool wanted)
{
    const struct named_clustering *unfinished = find_unfinished(named);
    if (unfinished)
        return make_some(named, unfinished);
    return named->n_removing > 0 ? named_clusterings_remove_some(named)
                                 : named_clusterings_remake_some(named, rests, wanted);
}
