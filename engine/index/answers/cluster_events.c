/* Events of clusters are made out of the changes that were noted (members/member_changes.h).
 *
 * A change is a row that came or went; what is told is what has come of all of them. They are
 * sorted by file and cluster, and of each pair comings and goings are counted up: +1 is a document
 * that joined, -1 one that left, 0 one that was written anew in its place, or came and went. As the
 * index has a step seen whole, a rewrite is never seen by half.
 *
 *   file a  cluster 5  came (sid 8), removed (sid 3)    0: nothing, but a new content
 *   file b  cluster 5  moved in                        +1: b joined 5
 *   file b  cluster 2  left                            -1: b left 2
 *
 * With a decay (the similarity self-join of a stream: De Francisci Morales and Gionis 2016) two
 * documents are near by their resemblance times exp(-decay t), t seconds between their last
 * modifications. So only what is of about the same time is, and no window is kept: the index has
 * all documents, with their times. Each pair is told once, with the later one, whose sid is the
 * larger:
 *
 *   decay 0.1 a day, near from 0.8 on     b, a day after a, resembles it by 0.95: 0.86, told
 *                                         c, two days after a, by 0.95: 0.78, not; to b 0.86, told
 *
 * Cost: two records and a path for each that joined, and for each new content a question, to which
 * NEAR_COMPARED documents are compared. Some hundred changes have an answer of their own
 * (MEMBER_CHANGES_AT_ONCE), so that who watches waits for no more than these, whatever others
 * write. */
#include <errno.h>
#include <math.h>

#include "engine/index/answers/answer.h"
#include "engine/index/members/member_changes.h"

enum { NEAR_COMPARED = 256 };

/* A file and a cluster. */
struct item {
    const struct member_change *last, *going; /* going: the one that knows the path, or NULL */
    uint64_t sid;                             /* of the content that came last */
    int net;
    bool is_new;      /* a content came that was in no cluster */
    uint64_t near_to; /* the document that it was said to be near to; 0: none */
};

struct watching {
    struct index *index;
    const struct index_query *query;
    index_event_fn event;
    void *user;
    struct path_cache *paths;
    struct item *items; /* by file and cluster */
    struct item **in_order;
    size_t n;
};

static void watching_done(struct watching *watching)
{
    if (watching->paths)
        path_cache_free(watching->paths);
    free(watching->items);
    free(watching->in_order);
}

static uint64_t document_of(const struct file_key *file)
{
    return file_key_hash(file) >> 11;
}

static int by_file(const void *left, const void *right)
{
    const struct member_change *a = *(const struct member_change *const *)left;
    const struct member_change *b = *(const struct member_change *const *)right;
    const int by_key = file_key_compare(&a->file, &b->file);
    if (by_key)
        return by_key;
    if (a->cluster != b->cluster)
        return a->cluster < b->cluster ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static int by_number(const void *left, const void *right)
{
    const uint64_t a = (*(const struct item *const *)left)->last->number;
    const uint64_t b = (*(const struct item *const *)right)->last->number;
    return (a > b) - (a < b);
}

static bool is_same_item(const struct member_change *a, const struct member_change *b)
{
    return a->cluster == b->cluster && file_key_equal(&a->file, &b->file);
}

static void count(struct item *item, const struct member_change *change)
{
    const bool comes = change->kind == MEMBER_CAME || change->kind == MEMBER_MOVED_IN;
    item->last = change;
    item->net += comes ? 1 : -1;
    if (comes)
        item->sid = change->sid;
    if (change->kind == MEMBER_CAME)
        item->is_new = true;
    if (change->kind == MEMBER_REMOVED && *change->path)
        item->going = change;
}

static int collect(struct watching *watching, const struct member_change_list *list)
{
    _cleanup_free_ const struct member_change **sorted =
        calloc(list->n_changes + 1, sizeof(*sorted));
    size_t n = 0;
    watching->items = calloc(list->n_changes + 1, sizeof(*watching->items));
    watching->in_order = calloc(list->n_changes + 1, sizeof(*watching->in_order));
    if (!sorted || !watching->items || !watching->in_order)
        return -ENOMEM;
    for (size_t i = 0; i < list->n_changes; i++)
        if (list->changes[i]->kind != MEMBERS_MERGED)
            sorted[n++] = list->changes[i];
    qsort(sorted, n, sizeof(*sorted), by_file);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !is_same_item(sorted[i - 1], sorted[i]))
            watching->n++;
        count(&watching->items[watching->n - 1], sorted[i]);
    }
    for (size_t i = 0; i < watching->n; i++)
        watching->in_order[i] = &watching->items[i];
    qsort(watching->in_order, watching->n, sizeof(*watching->in_order), by_number);
    return 0;
}

static uint64_t shown(const struct watching *watching, uint64_t cluster)
{
    return shown_ids_show(&watching->index->shown_ids, cluster);
}

/* The representative of a cluster, and how a document resembles it; nothing where one of them is no
 * more. */
static int look_at_cluster(struct watching *watching, uint64_t cluster, uint64_t sid,
                           char **ret_path, double *ret_resemblance)
{
    struct index *index = watching->index;
    _cleanup_(sid_list_done) struct sid_list first = {0};
    const struct record *records[2];
    *ret_resemblance = NAN;
    int r = living_clusters_members(index->clusters, cluster, 1, &first);
    if (r < 0 || first.n_sids == 0)
        return r == -ENOENT ? 0 : r;
    const uint64_t sids[2] = {first.sids[0], sid};
    const size_t n = sid ? 2 : 1;
    r = records_borrow(index->records, sids, n, records);
    if (r < 0)
        return r;
    if (records[0])
        r = answer_path(index, watching->paths, &records[0]->key, ret_path);
    if (r == 0 && n == 2 && records[0] && records[1]) {
        struct estimate estimate;
        r = record_resemblance(records[0], records[1], &estimate);
        if (r == 0)
            *ret_resemblance = estimate.value;
    }
    records_return(index->records, records, n);
    return r == -ENOENT ? 0 : r;
}

static int find_path(struct watching *watching, const struct item *item, char **ret_path)
{
    int r = answer_path(watching->index, watching->paths, &item->last->file, ret_path);
    if (r != -ENOENT)
        return r;
    if (!item->going)
        return 0;
    r = path_cache_entry(watching->paths, &item->going->above, item->going->path, ret_path);
    return r == -ENOENT || r == -ENAMETOOLONG ? 0 : r;
}

static int tell(struct watching *watching, const struct item *item, enum index_event_kind kind)
{
    _cleanup_free_ char *path = NULL, *other = NULL;
    double resemblance;
    int r = find_path(watching, item, &path);
    if (r == 0)
        r = look_at_cluster(watching, item->last->cluster, item->net > 0 ? item->sid : 0, &other,
                            &resemblance);
    if (r < 0)
        return r;
    const struct index_event event = {.kind = kind,
                                      .document = document_of(&item->last->file),
                                      .path = path,
                                      .cluster = shown(watching, item->last->cluster),
                                      .other = other,
                                      .resemblance = resemblance,
                                      .decayed = NAN};
    return watching->event(watching->user, &event);
}

/* The event of the other of two documents that came has already said that it is near to this
 * one. */
static bool is_told(const struct watching *watching, const struct file_key *other,
                    uint64_t document)
{
    size_t from = 0, to = watching->n;
    while (from < to) {
        const size_t at = from + (to - from) / 2;
        if (file_key_compare(&watching->items[at].last->file, other) < 0)
            from = at + 1;
        else
            to = at;
    }
    for (; from < watching->n; from++) {
        const struct item *item = &watching->items[from];
        if (!file_key_equal(&item->last->file, other))
            return false;
        if (item->near_to == document)
            return true;
    }
    return false;
}

static int tell_near(struct watching *watching, struct item *item)
{
    _cleanup_(kin_list_done) struct kin_list list = {0};
    _cleanup_free_ char *path = NULL;
    const struct file_key *file = &item->last->file;
    const uint64_t document = document_of(file);
    struct index_query query = *watching->query;
    query.most_compared = NEAR_COMPARED;
    int r = answer_nearest(watching->index, file, &query, &list);
    if (r == -ENOENT || r == -ESTALE)
        return 0;
    if (r < 0 || list.n_kin == 0 || is_told(watching, &list.kin[0].key, document))
        return r;
    r = find_path(watching, item, &path);
    if (r < 0)
        return r;
    item->near_to = document_of(&list.kin[0].key);
    const struct index_event event = {.kind = INDEX_EVENT_NEAR,
                                      .document = document,
                                      .path = path,
                                      .cluster = shown(watching, item->last->cluster),
                                      .other = list.kin[0].path,
                                      .resemblance = list.kin[0].resemblance,
                                      .decayed = NAN};
    return watching->event(watching->user, &event);
}

/* -- what is near by time, too -- */

static double seconds_between(const struct timespec *a, const struct timespec *b)
{
    return fabs((double)(a->tv_sec - b->tv_sec) + (double)(a->tv_nsec - b->tv_nsec) * 1e-9);
}

/* Returns 1, or 0 where that content is no more. */
static int modified_at(struct index *index, uint64_t sid, struct timespec *ret_mtime)
{
    const struct record *record;
    int r = records_borrow(index->records, &sid, 1, &record);
    if (r < 0)
        return r;
    if (record)
        *ret_mtime = record->mtime;
    r = record != NULL;
    records_return(index->records, &record, 1);
    return r;
}

static int tell_recent(struct watching *watching, const struct item *item)
{
    _cleanup_(kin_list_done) struct kin_list list = {0};
    _cleanup_free_ char *path = NULL;
    const struct file_key *file = &item->last->file;
    struct index_query query = *watching->query;
    struct timespec mtime = {0};
    query.most_compared = NEAR_COMPARED;
    int r = modified_at(watching->index, item->sid, &mtime);
    if (r > 0)
        r = index_similar(watching->index, file, &query, &list);
    if (r < 0 || list.n_kin == 0)
        return r == -ENOENT || r == -ESTALE ? 0 : r;
    r = find_path(watching, item, &path);
    for (size_t i = 0; r == 0 && i < list.n_kin; i++) {
        const struct kin *kin = &list.kin[i];
        const struct index_event event = {
            .kind = INDEX_EVENT_NEAR,
            .document = document_of(file),
            .path = path,
            .cluster = shown(watching, item->last->cluster),
            .other = kin->path,
            .resemblance = kin->resemblance,
            .decayed = kin->resemblance * exp(-query.decay * seconds_between(&mtime, &kin->mtime))};
        if (kin->sid < item->sid && event.decayed >= query.threshold)
            r = watching->event(watching->user, &event);
    }
    return r;
}

static int tell_missed(struct watching *watching, uint64_t n_missed)
{
    const struct index_event event = {
        .kind = INDEX_EVENT_MISSED, .n_missed = n_missed, .resemblance = NAN, .decayed = NAN};
    return n_missed ? watching->event(watching->user, &event) : 0;
}

static int tell_merged(struct watching *watching, const struct member_change_list *list)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < list->n_changes; i++) {
        const struct member_change *change = list->changes[i];
        if (change->kind != MEMBERS_MERGED)
            continue;
        const struct index_event event = {.kind = INDEX_EVENT_MERGED,
                                          .cluster = shown(watching, change->to),
                                          .from = shown(watching, change->cluster),
                                          .resemblance = NAN,
                                          .decayed = NAN};
        r = watching->event(watching->user, &event);
    }
    return r;
}

static int tell_all(struct watching *watching, const struct member_change_list *list)
{
    int r = tell_missed(watching, list->n_missing);
    for (size_t i = 0; r == 0 && i < watching->n; i++)
        if (watching->in_order[i]->net < 0)
            r = answer_is_stopped(watching->query)
                    ? -EINTR
                    : tell(watching, watching->in_order[i], INDEX_EVENT_LEFT);
    for (size_t i = 0; r == 0 && i < watching->n; i++) {
        struct item *item = watching->in_order[i];
        if (answer_is_stopped(watching->query))
            return -EINTR;
        if (item->net > 0)
            r = tell(watching, item, INDEX_EVENT_JOINED);
        if (r == 0 && item->net >= 0 && item->is_new)
            r = watching->query->decay > 0 ? tell_recent(watching, item)
                                           : tell_near(watching, item);
    }
    return r == 0 ? tell_merged(watching, list) : r;
}

int index_watch(struct index *index, struct index_cursor *cursor, const struct index_query *query,
                index_event_fn event, void *user)
{
    _cleanup_(member_change_list_done) struct member_change_list list = {0};
    _cleanup_(watching_done) struct watching watching = {
        .index = index, .query = query, .event = event, .user = user};
    const uint64_t instance = member_changes_instance(index->changes);
    if (cursor->instance && cursor->instance != instance)
        return -ESTALE;
    int r = member_changes_since(index->changes, cursor->next, &list);
    if (r == 0)
        r = collect(&watching, &list);
    if (r == 0 && list.n_changes > 0)
        r = path_cache_new(index->kv, backing_root_key(index->backing), &watching.paths);
    if (r == 0)
        r = tell_all(&watching, &list);
    if (r == 0)
        *cursor = (struct index_cursor){instance, list.next, list.more};
    return r;
}
