#include "engine/index/clusters/dirty.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/room.h"
#include "engine/index/clusters/intents.h"
#include "engine/index/members/cluster_ids.h"

struct mark {
    uint64_t id, number;
};

/* Ascending by id. */
struct marks {
    struct mark *marks;
    size_t n, room;
};

struct dirty {
    struct kv *kv;
    pthread_mutex_t lock; /* of marks, which the committer alone changes */
    struct marks clusters, lists;
    uint64_t last; /* mark */
};

int dirty_new(struct kv *kv, struct dirty **ret_dirty)
{
    struct dirty *dirty = calloc(1, sizeof(*dirty));
    if (!dirty)
        return -ENOMEM;
    dirty->kv = kv;
    pthread_mutex_init(&dirty->lock, NULL);
    *ret_dirty = dirty;
    return 0;
}

void dirty_free(struct dirty *dirty)
{
    if (!dirty)
        return;
    pthread_mutex_destroy(&dirty->lock);
    free(dirty->clusters.marks);
    free(dirty->lists.marks);
    free(dirty);
}

/* -- marks -- */

static size_t place_of(const struct marks *marks, uint64_t id)
{
    size_t low = 0, high = marks->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (marks->marks[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct mark *find(const struct marks *marks, uint64_t id)
{
    const size_t place = place_of(marks, id);
    return place < marks->n && marks->marks[place].id == id ? &marks->marks[place] : NULL;
}

/* Puts marks that are new, each once, ascending, among the others: as many as somebody has clusters
 * may come at once, and the others move once. */
static int merge(struct dirty *dirty, struct marks *marks, const struct number_vector *added)
{
    size_t n_old = marks->n, n_added = added->n_numbers;
    if (!MAKE_ROOM(marks->marks, marks->room, n_old + n_added))
        return -ENOMEM;
    marks->n += n_added;
    for (size_t at = marks->n; n_added > 0; at--) {
        const uint64_t id = added->numbers[n_added - 1];
        const bool is_old = n_old > 0 && marks->marks[n_old - 1].id > id;
        marks->marks[at - 1] = is_old ? marks->marks[--n_old] : (struct mark){id, ++dirty->last};
        n_added -= !is_old;
    }
    return 0;
}

/* Marks all; ret_added gets those that are new, ascending. */
static int set(struct dirty *dirty, struct marks *marks, const uint64_t *ids, size_t n,
               struct number_vector *ret_added)
{
    LOCKED(&dirty->lock);
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        struct mark *mark = find(marks, ids[i]);
        if (mark)
            mark->number = ++dirty->last;
        else
            r = number_vector_push(ret_added, ids[i]);
    }
    number_vector_sort_unique(ret_added);
    return r < 0 || ret_added->n_numbers == 0 ? r : merge(dirty, marks, ret_added);
}

static int put_now(struct dirty *dirty, enum intent kind, struct marks *marks, const uint64_t *ids,
                   size_t n)
{
    _cleanup_(number_vector_done) struct number_vector added = {0};
    int r = set(dirty, marks, ids, n, &added);
    return r < 0 ? r : intents_put(dirty->kv, kind, &added);
}

static void unset(struct dirty *dirty, struct marks *marks, const uint64_t *ids, size_t n,
                  uint64_t up_to)
{
    LOCKED(&dirty->lock);
    size_t n_left = 0;
    for (size_t i = 0; i < n; i++) {
        struct mark *mark = find(marks, ids[i]);
        if (mark && mark->number <= up_to)
            mark->number = 0;
    }
    for (size_t i = 0; i < marks->n; i++)
        if (marks->marks[i].number)
            marks->marks[n_left++] = marks->marks[i];
    marks->n = n_left;
}

static int drop(struct dirty *dirty, enum intent kind, struct marks *marks, const uint64_t *ids,
                size_t n, uint64_t up_to)
{
    _cleanup_(number_vector_done) struct number_vector dropped = {0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct mark *mark = find(marks, ids[i]);
        if (mark && mark->number <= up_to)
            r = number_vector_push(&dropped, ids[i]);
    }
    if (r < 0 || dropped.n_numbers == 0)
        return r;
    r = intents_drop(dirty->kv, kind, &dropped);
    if (r == 0)
        unset(dirty, marks, ids, n, up_to);
    return r;
}

static int list(const struct marks *marks, struct number_vector *ids)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < marks->n; i++)
        r = number_vector_push(ids, marks->marks[i].id);
    return r;
}

/* -- the committer's -- */

static int read_marks(struct dirty *dirty, enum intent kind, struct marks *marks)
{
    _cleanup_(number_vector_done) struct number_vector ids = {0};
    int r = intents_list(dirty->kv, kind, &ids);
    struct mark *read = r == 0 ? calloc(ids.n_numbers + 1, sizeof(*read)) : NULL;
    if (!read)
        return r < 0 ? r : -ENOMEM;
    LOCKED(&dirty->lock);
    for (size_t i = 0; i < ids.n_numbers; i++)
        read[i] = (struct mark){ids.numbers[i], ++dirty->last};
    free(marks->marks);
    *marks = (struct marks){read, ids.n_numbers, ids.n_numbers + 1};
    return 0;
}

int dirty_read(struct dirty *dirty)
{
    int r = read_marks(dirty, INTENT_DIRTY, &dirty->clusters);
    return r < 0 ? r : read_marks(dirty, INTENT_LIST, &dirty->lists);
}

int dirty_mark_in(struct dirty *dirty, struct kv_batch *batch, const uint64_t *clusters, size_t n)
{
    _cleanup_(number_vector_done) struct number_vector added = {0};
    int r = set(dirty, &dirty->clusters, clusters, n, &added);
    for (size_t i = 0; r == 0 && i < added.n_numbers; i++)
        intent_put(batch, INTENT_DIRTY, added.numbers[i], (struct kv_slice){"", 0});
    return r;
}

int dirty_mark(struct dirty *dirty, const uint64_t *clusters, size_t n)
{
    return put_now(dirty, INTENT_DIRTY, &dirty->clusters, clusters, n);
}

int dirty_mark_lists(struct dirty *dirty, const uint64_t *fingerprints, size_t n)
{
    return put_now(dirty, INTENT_LIST, &dirty->lists, fingerprints, n);
}

int dirty_clear(struct dirty *dirty, const uint64_t *clusters, size_t n, uint64_t up_to)
{
    return drop(dirty, INTENT_DIRTY, &dirty->clusters, clusters, n, up_to);
}

int dirty_clear_lists(struct dirty *dirty, const uint64_t *fingerprints, size_t n, uint64_t up_to)
{
    return drop(dirty, INTENT_LIST, &dirty->lists, fingerprints, n, up_to);
}

uint64_t dirty_last_mark(const struct dirty *dirty)
{
    return dirty->last;
}

int dirty_clusters(const struct dirty *dirty, struct number_vector *clusters)
{
    return list(&dirty->clusters, clusters);
}

int dirty_lists(const struct dirty *dirty, struct number_vector *fingerprints)
{
    return list(&dirty->lists, fingerprints);
}

/* -- anyone's -- */

bool dirty_has(struct dirty *dirty, uint64_t cluster)
{
    LOCKED(&dirty->lock);
    return find(&dirty->clusters, cluster) != NULL;
}

bool dirty_has_since(struct dirty *dirty, uint64_t cluster, uint64_t number)
{
    LOCKED(&dirty->lock);
    const struct mark *mark = find(&dirty->clusters, cluster);
    return mark && mark->number > number;
}

size_t dirty_count(struct dirty *dirty)
{
    LOCKED(&dirty->lock);
    const struct marks *clusters = &dirty->clusters;
    return place_of(clusters, clustering_base(1)) + dirty->lists.n +
           place_of(clusters, clustering_base(CLUSTERING_DIVIDED + 1)) -
           place_of(clusters, clustering_base(CLUSTERING_DIVIDED));
}
