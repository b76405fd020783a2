#include "engine/index/named_clusterings.h"

#include <errno.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "engine/index/cluster_aliases.h"
#include "engine/index/index_private.h"
#include "engine/index/remade.h"
#include "engine/index/remaking.h"

enum {
    ROW_VERSION = 1,
    ROW_HEAD_BYTES = 10,
    LINKED_AT_ONCE = 64,   /* some milliseconds */
    REMOVED_AT_ONCE = 512, /* rows looked at */
    FAILURE_TEXT_BYTES = 256
};

/* -- rows of TABLE_META -- */

struct row {
    unsigned number;
    enum clustering_state state;
    uint64_t sid;
    struct index_clustering clustering;
};

static int put_row(struct index *index, unsigned number, enum clustering_state state, uint64_t sid,
                   const struct index_clustering *clustering)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    uint8_t value[ROW_HEAD_BYTES + INDEX_CLUSTERING_TEXT_BYTES];
    struct clustering_meta meta;
    char *text = (char *)value + ROW_HEAD_BYTES;

    if (!batch)
        return -ENOMEM;
    value[0] = ROW_VERSION;
    value[1] = (uint8_t)state;
    put_be64(value + 2, sid);
    index_clustering_print(clustering, text);
    kv_batch_put(batch, TABLE_META, clustering_meta_key(&meta, "clustering", number),
                 (struct kv_slice){value, ROW_HEAD_BYTES + strlen(text)});
    return kv_apply(index->kv, batch);
}

/* A rule that this version does not know is none to keep. */
static int parse_row(const struct kv_buf *value, unsigned number, struct row *ret_row)
{
    char text[INDEX_CLUSTERING_TEXT_BYTES] = "";
    const uint8_t *p = value->data;
    _cleanup_free_ char *error = NULL;
    size_t n_text = value->size_bytes - ROW_HEAD_BYTES;

    if (value->size_bytes < ROW_HEAD_BYTES || p[0] != ROW_VERSION || p[1] < CLUSTERING_MAKING ||
        p[1] > CLUSTERING_REMOVING || n_text >= sizeof(text))
        return -EUCLEAN;
    *ret_row = (struct row){number, p[1], get_be64(p + 2), {{0}, 0, 0, 0}};
    memcpy(text, p + ROW_HEAD_BYTES, n_text);
    int r = index_clustering_parse(text, &ret_row->clustering, &error);
    if (r == -EINVAL)
        ret_row->state = CLUSTERING_REMOVING;
    return r == -EINVAL ? 0 : r;
}

/* Returns 1, 0 where there is none, or an error. */
static int read_row(struct kv *kv, unsigned number, struct row *ret_row)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct clustering_meta meta;
    int r = kv_get(kv, TABLE_META, clustering_meta_key(&meta, "clustering", number), &value);
    if (r == 0)
        r = parse_row(&value, number, ret_row);
    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

static int read_rows(struct index *index, struct row rows[CLUSTERING_MAX], size_t *ret_n_rows)
{
    size_t n = 0;

    for (unsigned number = 1; number <= CLUSTERING_MAX; number++) {
        int r = read_row(index->kv, number, &rows[n]);
        if (r < 0)
            return r;
        n += (size_t)r;
    }
    *ret_n_rows = n;
    return 0;
}

/* -- opening -- */

static bool same(const struct index_clustering *a, const struct index_clustering *b)
{
    char x[INDEX_CLUSTERING_TEXT_BYTES], y[INDEX_CLUSTERING_TEXT_BYTES];

    index_clustering_print(a, x);
    index_clustering_print(b, y);
    return strcmp(x, y) == 0;
}

static struct row *find_row(struct row *rows, size_t n_rows,
                            const struct index_clustering *clustering)
{
    for (size_t i = 0; i < n_rows; i++)
        if ((rows[i].state == CLUSTERING_PAUSED || rows[i].state == CLUSTERING_COMPLETE) &&
            same(&rows[i].clustering, clustering))
            return &rows[i];
    return NULL;
}

static unsigned unused_number(enum index_clustering_kind kind, const struct row *rows,
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

static struct edge_rule rule_of(const struct index_clustering *clustering)
{
    return (struct edge_rule){.resemblance = clustering->resemblance,
                              .containment = clustering->containment,
                              .super_shingle = clustering->kind == INDEX_CLUSTERING_SUPERSHINGLE};
}

static bool is_remade(enum index_clustering_kind kind)
{
    return kind == INDEX_CLUSTERING_EXACT || kind == INDEX_CLUSTERING_FAST ||
           kind == INDEX_CLUSTERING_BRODER1997;
}

int named_clusterings_parse(const struct kv_buf *row, unsigned number,
                            struct index_clustering *ret_clustering)
{
    struct row parsed;
    int r = parse_row(row, number, &parsed);
    if (r < 0 || parsed.state == CLUSTERING_REMOVING)
        return r;
    *ret_clustering = parsed.clustering;
    return 1;
}

/* Of one that is complete. Returns 1, 0 where there is none such, or an error. */
static int read_complete(struct kv *kv, unsigned number, struct index_clustering *ret_clustering)
{
    struct row row;
    int r = read_row(kv, number, &row);
    if (r <= 0)
        return r;
    *ret_clustering = row.clustering;
    return row.state == CLUSTERING_COMPLETE;
}

int named_clusterings_read(struct kv *kv, unsigned number, struct edge_rule *ret_rule)
{
    struct index_clustering clustering;
    int r = read_complete(kv, number, &clustering);
    if (r <= 0 || is_remade(clustering.kind))
        return r < 0 ? r : 0;
    *ret_rule = rule_of(&clustering);
    return 1;
}

static enum batch_mode mode_of(enum index_clustering_kind kind)
{
    return kind == INDEX_CLUSTERING_EXACT  ? BATCH_EXACT
           : kind == INDEX_CLUSTERING_FAST ? BATCH_FAST
                                           : BATCH_BRODER1997;
}

int named_clusterings_read_current(struct kv *kv, unsigned number, enum batch_mode *ret_mode,
                                   double *ret_threshold)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct index_clustering clustering;
    struct clustering_meta meta;
    int r = read_complete(kv, number, &clustering);
    if (r <= 0 || !is_remade(clustering.kind))
        return r < 0 ? r : 0;
    *ret_mode = mode_of(clustering.kind);
    *ret_threshold = clustering.resemblance;
    r = kv_get(kv, TABLE_META, clustering_meta_key(&meta, "remade", number), &value);
    return r < 0 ? (r == -ENOENT ? 0 : r) : remade_read_row(&value);
}

/* Its members are as they were, whatever came of them since. */
static int want_remade(struct index *index, struct named_clustering *wanted, bool is_new)
{
    int r =
        is_new ? put_row(index, wanted->number, CLUSTERING_COMPLETE, 0, &wanted->clustering) : 0;
    if (r == 0)
        r = remade_open(index->kv, wanted->number, &wanted->remade);
    if (r == 0)
        r = living_clusters_add_remade(index->clusters, wanted->number, wanted->remade);
    return r;
}

static int want_followed(struct index *index, const struct named_clustering *wanted,
                         const struct row *row)
{
    const struct edge_rule rule = rule_of(&wanted->clustering);
    uint64_t linked = row && row->state == CLUSTERING_PAUSED ? row->sid : 0, sid_end;
    int r = 0;

    if (row && row->state == CLUSTERING_COMPLETE) {
        linked = UINT64_MAX;
    } else {
        r = identity_get_number(index, "sid_end", &sid_end);
        if (r == -ENOENT) { /* there never was a document */
            linked = UINT64_MAX;
            r = 0;
        }
        if (r == 0)
            r = put_row(index, wanted->number,
                        linked == UINT64_MAX ? CLUSTERING_COMPLETE : CLUSTERING_MAKING, 0,
                        &wanted->clustering);
    }
    return r < 0 ? r : living_clusters_add(index->clusters, wanted->number, &rule, linked);
}

/* One that there is, or a new one. The row of the former says nothing any more (row->number is
 * taken). */
static int want(struct index *index, const struct index_clustering *clustering, struct row *rows,
                size_t n_rows, uint64_t *taken)
{
    struct named_clusterings *named = &index->named;
    struct named_clustering *wanted = &named->wanted[named->n_wanted];
    const struct row *row = find_row(rows, n_rows, clustering);

    *wanted = (struct named_clustering){.clustering = *clustering};
    wanted->number = row ? row->number : unused_number(clustering->kind, rows, n_rows, *taken);
    if (wanted->number == 0)
        return -EBUSY; /* the next start has removed some */
    int r = is_remade(clustering->kind) ? want_remade(index, wanted, !row)
                                        : want_followed(index, wanted, row);
    if (r < 0) {
        remade_close(wanted->remade);
        wanted->remade = NULL;
        return r;
    }
    *taken |= UINT64_C(1) << wanted->number;
    named->n_wanted++;
    return 0;
}

static int remove_others(struct index *index, const struct row *rows, size_t n_rows, uint64_t taken)
{
    struct named_clusterings *named = &index->named;
    int r = 0;

    for (size_t i = 0; r == 0 && i < n_rows; i++) {
        if (taken >> rows[i].number & 1)
            continue;
        if (rows[i].state != CLUSTERING_REMOVING)
            r = put_row(index, rows[i].number, CLUSTERING_REMOVING, 0, &rows[i].clustering);
        named->removing[named->n_removing++] = rows[i].number;
    }
    return r;
}

static int compare_names(const void *a, const void *b)
{
    const struct named_clustering *x = a, *y = b;
    return strcmp(x->clustering.name, y->clustering.name);
}

int named_clusterings_open(struct index *index, const struct index_options *options)
{
    struct named_clusterings *named = &index->named;
    struct row rows[CLUSTERING_MAX];
    size_t n_rows = 0;
    uint64_t taken = 0;

    int r = read_rows(index, rows, &n_rows);
    for (size_t i = 0; r == 0 && i < options->n_clusterings; i++)
        r = named->n_wanted == INDEX_CLUSTERINGS_MAX
                ? -EINVAL
                : want(index, &options->clusterings[i], rows, n_rows, &taken);
    for (size_t i = 0; r == 0 && !options->clusterings && i < n_rows; i++)
        if (rows[i].state != CLUSTERING_REMOVING && named->n_wanted < INDEX_CLUSTERINGS_MAX)
            r = want(index, &rows[i].clustering, rows, n_rows, &taken);
    if (r == 0)
        r = remove_others(index, rows, n_rows, taken);
    if (named->n_wanted)
        qsort(named->wanted, named->n_wanted, sizeof(named->wanted[0]), compare_names);
    index->redoing = !named_clusterings_is_idle(index);
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

static const struct named_clustering *find_unfinished(const struct index *index)
{
    for (size_t i = 0; i < index->named.n_wanted; i++) {
        const struct named_clustering *wanted = &index->named.wanted[i];
        if (!wanted->remade &&
            living_clusters_linked(index->clusters, wanted->number) != UINT64_MAX)
            return wanted;
    }
    return NULL;
}

static int make_some(struct index *index, const struct named_clustering *wanted)
{
    char text[INDEX_CLUSTERING_TEXT_BYTES];
    int r = living_clusters_link_more(index->clusters, wanted->number, LINKED_AT_ONCE);

    if (r == 0)
        r = put_row(index, wanted->number, CLUSTERING_COMPLETE, 0, &wanted->clustering);
    if (r != 0)
        return r < 0 ? r : 0;
    index_clustering_print(&wanted->clustering, text);
    index_log(index, INDEX_LOG_INFO, "clustering %s: all documents are in it", text);
    return 0;
}

int named_clusterings_store(struct index *index)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < index->named.n_wanted; i++) {
        const struct named_clustering *wanted = &index->named.wanted[i];
        uint64_t linked = living_clusters_linked(index->clusters, wanted->number);
        if (!wanted->remade && linked != UINT64_MAX)
            r = put_row(index, wanted->number, CLUSTERING_PAUSED, linked, &wanted->clustering);
    }
    return r;
}

/* -- removing -- */

enum { REMOVE_CLUSTER_OF, REMOVE_MEMBERS, REMOVE_ALIASES, REMOVE_PHASES };

/* Some rows of a phase. Returns 1 when there may be more, 0 or an error. */
static int remove_rows(struct index *index, unsigned number)
{
    struct named_clusterings *named = &index->named;
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct kv_page page;
    uint8_t from[8], to[8];
    const unsigned table = named->phase == REMOVE_CLUSTER_OF ? TABLE_CLUSTER_OF : TABLE_MEMBERS;
    const uint64_t mark = named->phase == REMOVE_ALIASES ? CLUSTER_ALIAS_MARK : 0;
    struct kv_range range = {.from = {"", 0}};

    if (!batch)
        return -ENOMEM;
    put_be64(from, mark | clustering_base(number));
    put_be64(to, mark | clustering_base(number + 1));
    if (table == TABLE_MEMBERS)
        range = (struct kv_range){{from, sizeof(from)}, {to, sizeof(to)}};
    if (named->at.data)
        range.from = kv_buf_slice(&named->at);
    int r = kv_scan(index->kv, table, &range, REMOVED_AT_ONCE, &page);
    if (r < 0)
        return r;
    for (size_t i = 0; i < page.n_entries; i++) {
        const struct kv_slice *key = &page.entries[i].key;
        if (table == TABLE_MEMBERS ||
            (key->size_bytes == 9 && ((const uint8_t *)key->data)[8] == number))
            kv_batch_delete(batch, table, *key);
    }
    r = kv_apply(index->kv, batch);
    bool more = page.more && page.n_entries > 0;
    if (r == 0) {
        kv_buf_done(&named->at);
        named->at = (struct kv_buf){0};
        if (more)
            r = kv_page_cursor(&page, &named->at);
    }
    kv_page_done(&page);
    return r < 0 ? r : more;
}

static int remove_meta(struct index *index, unsigned number)
{
    static const char *const names[] = {"next_cluster", "cluster_counts", "remade", "clustering"};
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
        struct clustering_meta meta;
        clustering_meta_key(&meta, names[i], number);
        r = identity_delete(index, meta.bytes);
    }
    return r;
}

static int remove_some(struct index *index)
{
    struct named_clusterings *named = &index->named;
    unsigned number = named->removing[named->n_removing - 1];

    int r = remove_rows(index, number);
    if (r != 0)
        return r < 0 ? r : 0;
    if (named->phase + 1 < REMOVE_PHASES) {
        named->phase++;
        return 0;
    }
    r = remove_meta(index, number);
    if (r < 0)
        return r;
    named->phase = 0;
    named->n_removing--;
    return 0;
}

/* -- making anew -- */

static const struct named_clustering *find_due(const struct index *index, bool rests, bool wanted)
{
    const int64_t now_ms = clock_now_ms();
    for (size_t i = 0; i < index->named.n_wanted; i++) {
        struct remade *remade = index->named.wanted[i].remade;
        if (remade && remade_is_due(remade, rests, wanted, now_ms))
            return &index->named.wanted[i];
    }
    return NULL;
}

static int begin_remaking(struct index *index, const struct named_clustering *due)
{
    struct named_clusterings *named = &index->named;
    const struct remaking_task task = {
        .kv = index->kv,
        .policy = &index->policy,
        .scratch = index->store_path,
        .niceness = &index->niceness,
        .number = due->number,
        .mode = mode_of(due->clustering.kind),
        .threshold = due->clustering.resemblance,
    };
    named->remade = due;
    named->n_changes = remade_n_changes(due->remade);
    named->began_ms = clock_now_ms();
    return remaking_start(&task, &named->remaking);
}

/* For want of room, and not of the store: that is damaged, or fails, for all. */
static bool is_for_want_of_room(int error)
{
    return error == -ENOSPC || error == -EDQUOT || error == -EFBIG || error == -ENOMEM ||
           error == -E2BIG || error == -EAGAIN || error == -EMFILE || error == -ENFILE;
}

static void failure_text(const struct named_clustering *failed, int error,
                         char ret_text[FAILURE_TEXT_BYTES])
{
    snprintf(ret_text, FAILURE_TEXT_BYTES,
             "clustering %s: %s; it stays as it was before the last changes, until the next one, "
             "or kinfs settle",
             failed->clustering.name, strerror(-error));
}

static int end_failed(struct index *index, int error)
{
    struct named_clusterings *named = &index->named;
    const struct named_clustering *failed = named->remade;
    named_clusterings_stop(named);
    if (!is_for_want_of_room(error))
        return error;
    bool is_told = remade_error(failed->remade) == error;
    remade_failed(failed->remade, error);
    if (is_told)
        return 0;
    char text[FAILURE_TEXT_BYTES];
    failure_text(failed, error, text);
    index_log(index, INDEX_LOG_ERROR, "%s", text);
    return 0;
}

static int complete_remaking(struct index *index, const struct index_clustering_loss *loss)
{
    struct named_clusterings *named = &index->named;
    const struct named_clustering *done = named->remade;
    char text[INDEX_CLUSTERING_TEXT_BYTES], failure[FAILURE_TEXT_BYTES];
    struct index_clustering_loss before;
    const int error = remade_error(done->remade);
    bool first = !remade_get_loss(done->remade, &before);
    int r = remade_complete(done->remade, named->n_changes, loss, clock_now_ms() - named->began_ms);
    named_clusterings_stop(named);
    if (r == 0 && error) {
        failure_text(done, error, failure);
        index_error_over(index, failure);
    }
    if (r < 0 || !first)
        return r;
    index_clustering_print(&done->clustering, text);
    index_log(index, INDEX_LOG_INFO, "clustering %s: all documents are in it", text);
    return 0;
}

static int go_on_remaking(struct index *index)
{
    struct named_clusterings *named = &index->named;
    struct index_clustering_loss loss;
    struct remake_plan *plan;
    int r = remaking_result(named->remaking, &plan, &loss);
    if (r < 0)
        return end_failed(index, r);
    r = living_clusters_remake(index->clusters, named->remade->number, plan);
    if (r == 0)
        return complete_remaking(index, &loss);
    if (r < 0)
        named_clusterings_stop(named); /* what was done counts */
    return r < 0 ? r : 0;
}

static int remake_some(struct index *index, bool rests, bool wanted)
{
    const struct named_clustering *due;
    if (index->named.remaking)
        return go_on_remaking(index);
    due = find_due(index, rests, wanted);
    int r = due ? begin_remaking(index, due) : 0;
    return r < 0 ? end_failed(index, r) : 0;
}

/* -- in the background -- */

bool named_clusterings_is_idle(const struct index *index)
{
    const struct named_clusterings *named = &index->named;
    for (size_t i = 0; i < named->n_wanted; i++)
        if (named->wanted[i].remade && !remade_is_idle(named->wanted[i].remade))
            return false;
    return named->n_removing == 0 && !named->remaking && !find_unfinished(index);
}

bool named_clusterings_has_work(const struct index *index, bool rests, bool wanted)
{
    const struct named_clusterings *named = &index->named;
    if (named->n_removing > 0 || find_unfinished(index))
        return true;
    return named->remaking ? remaking_is_ready(named->remaking)
                           : find_due(index, rests, wanted) != NULL;
}

int named_clusterings_step(struct index *index, bool rests, bool wanted)
{
    const struct named_clustering *unfinished = find_unfinished(index);
    if (unfinished)
        return make_some(index, unfinished);
    return index->named.n_removing > 0 ? remove_some(index) : remake_some(index, rests, wanted);
}

/* -- anyone's -- */

void named_clusterings_retry(struct index *index)
{
    bool retries = false;
    for (size_t i = 0; i < index->named.n_wanted; i++)
        if (index->named.wanted[i].remade && remade_retry(index->named.wanted[i].remade))
            retries = true;
    if (!retries)
        return;
    LOCKED(&index->lock);
    index->redoing = !index->damaged;
    pthread_cond_signal(&index->wake_committer);
}

static void show(struct index *index, const struct named_clustering *wanted,
                 struct index_clustering_status *ret_status)
{
    const uint64_t linked = living_clusters_linked(index->clusters, wanted->number);
    const uint64_t last = atomic_load(&index->last_sid);
    struct index_clustering_status status = {.clustering = wanted->clustering,
                                             .base = clustering_base(wanted->number),
                                             .current = linked == UINT64_MAX,
                                             .remade = wanted->remade != NULL};

    if (wanted->remade) {
        status.current = remade_is_current(wanted->remade);
        status.made = remade_get_loss(wanted->remade, &status.loss);
        status.error = status.current ? 0 : remade_error(wanted->remade);
    }
    status.percent = status.current ? 100 : last ? (unsigned)(linked * 100 / last) : 0;
    if (!status.current && status.percent > 99)
        status.percent = 99;
    living_clusters_count_in(index->clusters, wanted->number, &status.clusters,
                             &status.clustered_documents);
    *ret_status = status;
}

size_t index_get_clusterings(struct index *index,
                             struct index_clustering_status ret_clusterings[INDEX_CLUSTERINGS_MAX])
{
    for (size_t i = 0; i < index->named.n_wanted; i++)
        show(index, &index->named.wanted[i], &ret_clusterings[i]);
    return index->named.n_wanted;
}

int index_find_clustering(struct index *index, const char *name,
                          struct index_clustering_status *ret_clustering)
{
    for (size_t i = 0; i < index->named.n_wanted; i++)
        if (strcmp(index->named.wanted[i].clustering.name, name) == 0) {
            show(index, &index->named.wanted[i], ret_clustering);
            return 0;
        }
    return -ENOENT;
}

static const struct named_clustering *find_number(const struct index *index, unsigned number)
{
    for (size_t i = 0; i < index->named.n_wanted; i++)
        if (index->named.wanted[i].number == number)
            return &index->named.wanted[i];
    return NULL;
}

bool named_clusterings_is_stale(const struct index *index, uint64_t cluster)
{
    const struct named_clustering *wanted = find_number(index, cluster_clustering(cluster));
    return wanted && wanted->remade && !remade_is_current(wanted->remade);
}

bool named_clusterings_loss(const struct index *index, uint64_t cluster,
                            struct index_clustering_loss *ret_loss)
{
    const struct named_clustering *wanted = find_number(index, cluster_clustering(cluster));
    return wanted && wanted->clustering.kind == INDEX_CLUSTERING_BRODER1997 &&
           remade_get_loss(wanted->remade, ret_loss);
}

double named_clusterings_threshold(const struct index *index, uint64_t cluster)
{
    const struct named_clustering *wanted = find_number(index, cluster_clustering(cluster));
    return wanted && wanted->clustering.resemblance > 0 ? wanted->clustering.resemblance
                                                        : INDEX_CLUSTER_THRESHOLD;
}
