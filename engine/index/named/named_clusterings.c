#include "engine/index/named/named_clusterings.h"

#include <errno.h>
#include <string.h>

#include "engine/index/named/clustering_row.h"
#include "engine/index/named/named_clusterings_private.h"
#include "engine/index/clusters/remade.h"
#include "engine/index/topics/topics.h"

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
        if (rows[i].state == CLUSTERING_WANTED && same(&rows[i].clustering, clustering))
            return &rows[i];
    return NULL;
}

static unsigned unused_number(enum index_clustering_kind kind, const struct clustering_row *rows,
                              size_t n_rows, uint64_t taken)
{
    const bool centres = kind == INDEX_CLUSTERING_CENTER;
    taken |= UINT64_C(1) << CLUSTERING_DIVIDED;
    for (size_t i = 0; i < n_rows; i++)
        taken |= UINT64_C(1) << rows[i].number;
    for (unsigned number = 1; number <= CLUSTERING_MAX; number++)
        if (clustering_has_centres(number) == centres && !(taken >> number & 1))
            return number;
    return 0;
}

/* Its members are as they were, whatever came of them since. */
static int add(struct named_clusterings *named, struct named_clustering *wanted, bool is_new)
{
    int r = is_new ? clustering_row_put(named->of.kv, wanted->number, CLUSTERING_WANTED,
                                        &wanted->clustering)
                   : 0;
    if (r == 0)
        r = remade_open(named->of.kv, wanted->number, &wanted->remade);
    if (r == 0 && clustering_is_of_topics(&wanted->clustering)) {
        topics_decide(named->of.topics, wanted->remade);
        if (topics_epoch(named->of.topics).epoch == 0) /* they may be of other words */
            r = remade_changed(wanted->remade);
    }
    if (r == 0)
        r = living_clusters_add(named->of.clusters, wanted->number, wanted->remade);
    return r;
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
    int r = add(named, wanted, !row);
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
            r = clustering_row_put(named->of.kv, rows[i].number, CLUSTERING_REMOVING,
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
    for (size_t i = 0; r == 0 && named->of.topics && i < CLUSTERINGS_OF_TOPICS; i++)
        r = want(named, &clusterings_of_topics[i], rows, n_rows, &taken);
    const size_t most = named->n_wanted + INDEX_CLUSTERINGS_MAX;
    for (size_t i = 0; r == 0 && i < options->n_clusterings; i++)
        r = named->n_wanted == most ? -EINVAL
                                    : want(named, &options->clusterings[i], rows, n_rows, &taken);
    for (size_t i = 0; r == 0 && !options->clusterings && i < n_rows; i++)
        if (rows[i].state != CLUSTERING_REMOVING && named->n_wanted < most &&
            !clustering_is_of_topics(&rows[i].clustering))
            r = want(named, &rows[i].clustering, rows, n_rows, &taken);
    if (r == 0)
        r = remove_others(named, rows, n_rows, taken);
    if (named->n_wanted)
        qsort(named->wanted, named->n_wanted, sizeof(named->wanted[0]), compare_names);
    return r;
}

void named_clusterings_stop(struct named_clusterings *named)
{
    background_task_free(named->remaking);
    move_plan_done(&named->task.plan);
    move_plan_done(&named->task.also_plan);
    named->remaking = NULL;
    named->also_remade = NULL;
}

void named_clusterings_done(struct named_clusterings *named)
{
    named_clusterings_stop(named);
    for (size_t i = 0; i < named->n_wanted; i++)
        remade_close(named->wanted[i].remade);
    named->n_wanted = 0;
    kv_buf_done(&named->at);
}

/* -- in the background -- */

/* Topics of what others say wait for lists that could not be made. */
static bool waits_in_vain(const struct named_clusterings *named,
                          const struct named_clustering *wanted)
{
    return clustering_is_of_topics(&wanted->clustering) && !topics_may_decide(named->of.topics) &&
           topics_is_idle(named->of.topics);
}

bool named_clusterings_is_idle(const struct named_clusterings *named)
{
    for (size_t i = 0; i < named->n_wanted; i++)
        if (!remade_is_idle(named->wanted[i].remade) && !waits_in_vain(named, &named->wanted[i]))
            return false;
    return named->n_removing == 0 && !named->remaking;
}

bool named_clusterings_has_work(const struct named_clusterings *named, bool rests, bool wanted)
{
    if (named->n_removing > 0)
        return true;
    return named->remaking ? background_task_is_ready(named->remaking)
                           : named_clusterings_is_due(named, rests, wanted);
}

int named_clusterings_step(struct named_clusterings *named, bool rests, bool wanted)
{
    return named->n_removing > 0 ? named_clusterings_remove_some(named)
                                 : named_clusterings_remake_some(named, rests, wanted);
}
