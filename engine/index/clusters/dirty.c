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

/* Returns 1 where it is new, 0, or -ENOMEM. */
static int set(struct dirty *dirty, struct marks *marks, uint64_t id)
{
    LOCKED(&dirty->lock);
    struct mark *mark = find(marks, id);
    if (mark) {
        mark->number = ++dirty->last;
        return 0;
    }
    if (!MAKE_ROOM(marks->marks, marks->room, marks->n + 1))
        return -ENOMEM;
    const size_t place = place_of(marks, id);
    memmove(marks->marks + place + 1, marks->marks + place, (marks->n - place) * sizeof(*mark));
    marks->marks[place] = (struct mark){id, ++dirty->last};
    marks->n++;
    return 1;
}

static int put(struct dirty *dirty, enum intent kind, struct marks *marks, struct kv_batch *batch,
               const uint64_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int r = set(dirty, marks, ids[i]);
        if (r < 0)
            return r;
        if (r > 0)
            intent_put(batch, kind, ids[i], (struct kv_slice){"", 0});
    }
    return 0;
}

static int put_now(struct dirty *dirty, enum intent kind, struct marks *marks, const uint64_t *ids,
                   size_t n)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    int r = batch ? put(dirty, kind, marks, batch, ids, n) : -ENOMEM;
    return r < 0 || kv_batch_count(batch) == 0 ? r : kv_apply(dirty->kv, batch);
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
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct mark *mark = find(marks, ids[i]);
        if (mark && mark->number <= up_to)
            intent_drop(batch, kind, ids[i]);
    }
    if (kv_batch_count(batch) == 0)
        return 0;
    int r = kv_apply(dirty->kv, batch);
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
    return put(dirty, INTENT_DIRTY, &dirty->clusters, batch, clusters, n);
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
