/* A hash table with a list in order of use. A first list never changes but in whether the list goes
 * on behind it, which is the table's; so it is read without the lock, by whoever holds a reference.
 *
 * Sids as differences from the one that could come next, in groups of 7 bits, the lowest first,
 * with the eighth bit set in all groups but the last. Example: 5 6 300 are 5, 0, 293: 05 00 a5 02.
 *
 * Why none is stale: who reads collects the notes first, and a change calls
 * first_postings_changed() before its notes go. So who misses the notes finds what was kept after
 * the change, and what was read before it is refused by the count of changes. Who still has the
 * notes may read either: they say the same of what the change touches.
 */
#include "engine/index/postings/first_postings.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

enum {
    BUCKET_BITS = 14,
    LISTS_MAX = 4096, /* each is looked for in each run */
    ONE_OF = 64,
    GROUP_BITS = 7,
    GROUP_MORE = 1 << GROUP_BITS,
};

struct first_list {
    enum postings_tier tier;
    uint64_t fingerprint, last_sid;
    size_t n_sids, n_bytes;
    bool ends;          /* the table's */
    atomic_uint n_refs; /* one of the table's while it keeps it */
    TAILQ_ENTRY(first_list) by_use;
    SLIST_ENTRY(first_list) bucket;
    uint8_t bytes[];
};

TAILQ_HEAD(first_list_queue, first_list);
SLIST_HEAD(first_list_bucket, first_list);

struct first_postings {
    size_t max_bytes, size_bytes;
    uint64_t n_changes;
    atomic_size_t n_lists;
    pthread_mutex_t lock;           /* a leaf */
    struct first_list_queue by_use; /* the latest first */
    struct first_list_bucket buckets[1 << BUCKET_BITS];
};

int first_postings_new(size_t max_bytes, struct first_postings **ret_first)
{
    struct first_postings *first = calloc(1, sizeof(*first));
    if (!first)
        return -ENOMEM;
    first->max_bytes = max_bytes;
    TAILQ_INIT(&first->by_use);
    pthread_mutex_init(&first->lock, NULL);
    *ret_first = first;
    return 0;
}

/* -- the table -- */

static struct first_list_bucket *bucket_of(struct first_postings *first, uint64_t fingerprint)
{
    return &first->buckets[(fingerprint * 0x9e3779b97f4a7c15u) >> (64 - BUCKET_BITS)];
}

static struct first_list *find(struct first_postings *first, enum postings_tier tier,
                               uint64_t fingerprint)
{
    struct first_list *list;
    SLIST_FOREACH(list, bucket_of(first, fingerprint), bucket)
    {
        if (list->fingerprint == fingerprint && list->tier == tier)
            return list;
    }
    return NULL;
}

static size_t size_of(const struct first_list *list)
{
    return sizeof(*list) + list->n_bytes;
}

static void unref(struct first_list *list)
{
    if (atomic_fetch_sub(&list->n_refs, 1) == 1)
        free(list);
}

static void add(struct first_postings *first, struct first_list *list)
{
    SLIST_INSERT_HEAD(bucket_of(first, list->fingerprint), list, bucket);
    TAILQ_INSERT_HEAD(&first->by_use, list, by_use);
    first->size_bytes += size_of(list);
    atomic_fetch_add(&first->n_lists, 1);
}

static void drop(struct first_postings *first, struct first_list *list)
{
    SLIST_REMOVE(bucket_of(first, list->fingerprint), list, first_list, bucket);
    TAILQ_REMOVE(&first->by_use, list, by_use);
    first->size_bytes -= size_of(list);
    atomic_fetch_sub(&first->n_lists, 1);
    unref(list);
}

static void note_use(struct first_postings *first, struct first_list *list)
{
    TAILQ_REMOVE(&first->by_use, list, by_use);
    TAILQ_INSERT_HEAD(&first->by_use, list, by_use);
}

void first_postings_free(struct first_postings *first)
{
    if (!first)
        return;
    while (!TAILQ_EMPTY(&first->by_use))
        drop(first, TAILQ_FIRST(&first->by_use));
    pthread_mutex_destroy(&first->lock);
    free(first);
}

/* -- reading -- */

uint64_t first_postings_changes(struct first_postings *first)
{
    LOCKED(&first->lock);
    return first->n_changes;
}

void first_postings_read(struct first_postings *first, enum postings_tier tier,
                         uint64_t fingerprint, struct first_reading *ret_reading)
{
    *ret_reading = (struct first_reading){.list = NULL};
    LOCKED(&first->lock);
    struct first_list *list = find(first, tier, fingerprint);
    if (!list)
        return;
    note_use(first, list);
    atomic_fetch_add(&list->n_refs, 1);
    *ret_reading = (struct first_reading){
        .list = list, .at = list->bytes, .end = list->bytes + list->n_bytes, .ends = list->ends};
}

bool first_reading_next(struct first_reading *reading, uint64_t *ret_sid)
{
    uint64_t difference = 0;
    unsigned shift = 0;

    if (reading->at == reading->end)
        return false;
    for (; *reading->at & GROUP_MORE; shift += GROUP_BITS)
        difference |= (uint64_t)(*reading->at++ & (GROUP_MORE - 1)) << shift;
    difference |= (uint64_t)*reading->at++ << shift;
    *ret_sid = reading->next_sid + difference;
    reading->next_sid = *ret_sid + 1;
    return true;
}

void first_reading_done(struct first_reading *reading)
{
    if (reading->list)
        unref(reading->list);
    *reading = (struct first_reading){.list = NULL};
}

void first_postings_have(struct first_postings *first, enum postings_tier tier,
                         const uint64_t *fingerprints, size_t n, bool *ret_have)
{
    memset(ret_have, 0, n * sizeof(*ret_have));
    if (atomic_load(&first->n_lists) == 0)
        return;
    LOCKED(&first->lock);
    for (size_t i = 0; i < n; i++) {
        struct first_list *list = find(first, tier, fingerprints[i]);
        ret_have[i] = list;
        if (list)
            note_use(first, list);
    }
}

/* -- keeping -- */

static size_t bytes_of(uint64_t difference)
{
    size_t n = 1;
    while (difference >>= GROUP_BITS)
        n++;
    return n;
}

static uint8_t *put_difference(uint8_t *at, uint64_t difference)
{
    for (; difference >= GROUP_MORE; difference >>= GROUP_BITS)
        *at++ = (uint8_t)(difference | GROUP_MORE);
    *at++ = (uint8_t)difference;
    return at;
}

/* The first list of what was read and of the sids behind it, or as many as may be in one; NULL:
 * too few, no more than there are, or no memory. */
static struct first_list *make(const struct first_postings *first,
                               const struct first_reading *reading, const uint64_t *sids,
                               size_t n_sids, bool ends)
{
    const size_t n_before = reading->list ? reading->list->n_bytes : 0;
    const size_t before = reading->list ? reading->list->n_sids : 0;
    const size_t most = first->max_bytes / ONE_OF;
    size_t n_bytes = n_before, n = 0;
    uint64_t next_sid = reading->next_sid;

    for (; n < n_sids; n++) {
        const size_t more = bytes_of(sids[n] - next_sid);
        if (n_bytes + more > most)
            break;
        n_bytes += more;
        next_sid = sids[n] + 1;
    }
    if (n == 0 || before + n <= POSTINGS_PIECE)
        return NULL;
    struct first_list *list = malloc(sizeof(*list) + n_bytes);
    if (!list)
        return NULL;
    *list = (struct first_list){.n_sids = before + n,
                                .n_bytes = n_bytes,
                                .last_sid = next_sid - 1,
                                .ends = ends && n == n_sids};
    atomic_init(&list->n_refs, 1);
    if (n_before)
        memcpy(list->bytes, reading->list->bytes, n_before);
    uint8_t *at = list->bytes + n_before;
    next_sid = reading->next_sid;
    for (size_t i = 0; i < n; i++) {
        at = put_difference(at, sids[i] - next_sid);
        next_sid = sids[i] + 1;
    }
    return list;
}

void first_postings_keep(struct first_postings *first, uint64_t changes, enum postings_tier tier,
                         uint64_t fingerprint, const struct first_reading *reading,
                         const uint64_t *sids, size_t n_sids, bool ends)
{
    struct first_list *list = make(first, reading, sids, n_sids, ends);
    if (!list)
        return;
    list->tier = tier;
    list->fingerprint = fingerprint;

    LOCKED(&first->lock);
    struct first_list *kept = find(first, tier, fingerprint);
    if (first->n_changes != changes || (kept && kept->last_sid > list->last_sid)) {
        unref(list);
        return;
    }
    if (kept)
        drop(first, kept);
    add(first, list);
    while (first->size_bytes > first->max_bytes || atomic_load(&first->n_lists) > LISTS_MAX)
        drop(first, TAILQ_LAST(&first->by_use, first_list_queue));
}

void first_postings_changed(struct first_postings *first, enum postings_tier tier,
                            first_postings_smallest_fn smallest, void *user)
{
    LOCKED(&first->lock);
    first->n_changes++;
    for (struct first_list *list = TAILQ_FIRST(&first->by_use), *next; list; list = next) {
        uint64_t sid;
        next = TAILQ_NEXT(list, by_use);
        if (list->tier != tier || !smallest(user, list->fingerprint, &sid))
            continue;
        if (sid <= list->last_sid)
            drop(first, list);
        else
            list->ends = false;
    }
}
