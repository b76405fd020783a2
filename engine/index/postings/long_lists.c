#include "engine/index/postings/long_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

enum {
    DEFAULT_LONG_FROM = 256, /* shorter ones are read in one piece, in some 20 us */
    N_LISTS = 4096,
    N_BUCKETS = 8192,
    N_SEEN = 4096,
    CHUNK = 64,
};

struct long_list {
    struct digest digest;  /* first: the caller's digest is the list */
    size_t refused_length; /* not 0: no digest, the list was too diverse at this length */
    TAILQ_ENTRY(long_list) by_use;
    SLIST_ENTRY(long_list) bucket;
};

TAILQ_HEAD(long_list_queue, long_list);
SLIST_HEAD(long_list_bucket, long_list);

struct long_lists {
    size_t long_from, n_lists;
    size_t n_of_tier[POSTINGS_N_TIERS];
    struct long_list_queue by_use; /* the latest first */
    struct long_list_bucket buckets[N_BUCKETS];
    /* Whether a cluster may be in any digest: most clusters are in none. Only forgetting clears. */
    bool seen[N_SEEN];
};

int long_lists_new(size_t long_from, struct long_lists **ret_lists)
{
    struct long_lists *lists = calloc(1, sizeof(*lists));
    if (!lists)
        return -ENOMEM;
    lists->long_from = long_from ? long_from : DEFAULT_LONG_FROM;
    TAILQ_INIT(&lists->by_use);
    *ret_lists = lists;
    return 0;
}

void long_lists_free(struct long_lists *lists)
{
    if (!lists)
        return;
    long_lists_forget(lists);
    free(lists);
}

/* -- the table -- */

static struct long_list_bucket *bucket_of(struct long_lists *lists, uint64_t fingerprint)
{
    return &lists->buckets[(fingerprint * 0x9e3779b97f4a7c15u) >> 51]; /* 2^13 of them */
}

static struct long_list *find(const struct long_lists *lists, enum postings_tier tier,
                              uint64_t fingerprint)
{
    struct long_list *list;
    SLIST_FOREACH(list, bucket_of((struct long_lists *)lists, fingerprint), bucket)
    {
        if (list->digest.fingerprint == fingerprint && list->digest.tier == tier)
            return list;
    }
    return NULL;
}

static void drop(struct long_lists *lists, struct long_list *list)
{
    SLIST_REMOVE(bucket_of(lists, list->digest.fingerprint), list, long_list, bucket);
    TAILQ_REMOVE(&lists->by_use, list, by_use);
    lists->n_of_tier[list->digest.tier]--;
    lists->n_lists--;
    free(list);
}

static struct long_list *add(struct long_lists *lists, enum postings_tier tier,
                             uint64_t fingerprint)
{
    struct long_list *list = calloc(1, sizeof(*list));
    if (!list)
        return NULL;
    list->digest.tier = tier;
    list->digest.fingerprint = fingerprint;
    lists->n_of_tier[tier]++;
    SLIST_INSERT_HEAD(bucket_of(lists, fingerprint), list, bucket);
    TAILQ_INSERT_HEAD(&lists->by_use, list, by_use);
    if (++lists->n_lists > N_LISTS)
        drop(lists, TAILQ_LAST(&lists->by_use, long_list_queue));
    return list;
}

void long_lists_forget(struct long_lists *lists)
{
    while (!TAILQ_EMPTY(&lists->by_use))
        drop(lists, TAILQ_FIRST(&lists->by_use));
    memset(lists->seen, 0, sizeof(lists->seen));
}

static void note_use(struct long_lists *lists, struct long_list *list)
{
    TAILQ_REMOVE(&lists->by_use, list, by_use);
    TAILQ_INSERT_HEAD(&lists->by_use, list, by_use);
}

struct digest *long_lists_find(struct long_lists *lists, enum postings_tier tier,
                               uint64_t fingerprint)
{
    struct long_list *list = find(lists, tier, fingerprint);

    if (!list || list->refused_length)
        return NULL;
    note_use(lists, list);
    return &list->digest;
}

int long_lists_is_common(struct long_lists *lists, uint64_t fingerprint)
{
    struct long_list *list = find(lists, POSTINGS_TIER_R, fingerprint);

    if (!list || list->refused_length <= LONG_LISTS_COMMON_FROM)
        return 0;
    note_use(lists, list);
    return 1;
}

bool long_lists_wants(const struct long_lists *lists, enum postings_tier tier, uint64_t fingerprint,
                      size_t length)
{
    if (length < lists->long_from)
        return false;
    const struct long_list *list = find(lists, tier, fingerprint);
    return !list || !list->refused_length || length >= 2 * list->refused_length;
}

/* -- a digest -- */

static unsigned place_of(const struct digest *digest, uint64_t cluster)
{
    unsigned i = 0;
    while (i < digest->n_clusters && digest->clusters[i] != cluster)
        i++;
    return i;
}

/* Name a document, or the cluster it is in. False: there is no room. */
static bool take(struct digest *digest, uint64_t sid, uint64_t cluster)
{
    if (cluster == 0) {
        if (digest->n_named == DIGEST_NAMED)
            return false;
        digest->named[digest->n_named++] = sid;
        return true;
    }
    unsigned i = place_of(digest, cluster);
    if (i == DIGEST_CLUSTERS)
        return false;
    if (i == digest->n_clusters) {
        digest->clusters[digest->n_clusters++] = cluster;
        memset(digest->examples[i], 0, sizeof(digest->examples[i]));
        digest->examples[i][0] = sid;
    }
    digest->examples[i][DIGEST_EXAMPLES - 1] = sid;
    return true;
}

void digest_promote(struct digest *digest, uint64_t cluster, uint64_t sid)
{
    unsigned i = place_of(digest, cluster);
    if (i < digest->n_clusters)
        digest->examples[i][0] = sid;
}

void digest_remove_named(struct digest *digest, uint64_t sid)
{
    for (unsigned i = 0; i < digest->n_named; i++)
        if (digest->named[i] == sid)
            digest->named[i--] = digest->named[--digest->n_named];
}

int digest_sids(const struct digest *digest, struct sid_vector *sids)
{
    int r = 0;

    for (unsigned i = 0; r == 0 && i < digest->n_named; i++)
        r = sid_vector_push(sids, digest->named[i]);
    for (unsigned i = 0; r == 0 && i < digest->n_clusters; i++)
        for (unsigned k = 0; r == 0 && k < DIGEST_EXAMPLES; k++)
            r = digest->examples[i][k] ? sid_vector_push(sids, digest->examples[i][k]) : 0;
    return r;
}

static void note_seen(struct long_lists *lists, const struct digest *digest)
{
    for (unsigned i = 0; i < digest->n_clusters; i++)
        lists->seen[digest->clusters[i] % N_SEEN] = true;
}

/* Returns 1, 0 when there is no room for all, or an error. */
static int take_all(struct digest *digest, struct membership *membership,
                    const struct sid_list *sids)
{
    digest->n_clusters = digest->n_named = 0;
    for (size_t at = 0; at < sids->n_sids; at += CHUNK) {
        uint64_t clusters[CHUNK];
        size_t n = sids->n_sids - at < CHUNK ? sids->n_sids - at : CHUNK;
        int r = membership_clusters_of(membership, sids->sids + at, n, clusters);
        if (r < 0)
            return r;
        for (size_t i = 0; i < n; i++)
            if (!take(digest, sids->sids[at + i], clusters[i])) {
                digest->n_clusters = digest->n_named = 0;
                return 0;
            }
    }
    return 1;
}

int long_lists_learn(struct long_lists *lists, struct membership *membership,
                     enum postings_tier tier, uint64_t fingerprint, const struct sid_list *sids)
{
    struct long_list *list = find(lists, tier, fingerprint);

    if (!list)
        list = add(lists, tier, fingerprint);
    if (!list)
        return 0; /* it goes without */
    int r = take_all(&list->digest, membership, sids);
    if (r < 0) {
        drop(lists, list);
        return r;
    }
    list->refused_length = r ? 0 : sids->n_sids;
    if (r)
        note_seen(lists, &list->digest);
    return 0;
}

int long_lists_judge(struct long_lists *lists, struct membership *membership, uint64_t fingerprint,
                     const struct sid_list *first)
{
    struct digest digest;
    int r = take_all(&digest, membership, first);
    if (r != 0)
        return r < 0 ? r : 0;
    struct long_list *list = find(lists, POSTINGS_TIER_R, fingerprint);
    if (!list)
        list = add(lists, POSTINGS_TIER_R, fingerprint);
    if (list)
        list->refused_length = LONG_LISTS_COMMON_FROM + 1;
    return 1;
}

int digest_tidy(struct long_lists *lists, struct digest *digest, struct membership *membership)
{
    uint64_t named[DIGEST_NAMED], clusters[DIGEST_NAMED];
    unsigned n = digest->n_named;

    if (n == 0)
        return 0;
    memcpy(named, digest->named, n * sizeof(*named));
    int r = membership_clusters_of(membership, named, n, clusters);
    if (r < 0)
        return r;
    digest->n_named = 0;
    for (unsigned i = 0; i < n; i++)
        if (!take(digest, named[i], clusters[i]))
            take(digest, named[i], 0); /* as before */
    note_seen(lists, digest);
    return 0;
}

/* -- what happens elsewhere -- */

static void posted_in(struct long_lists *lists, enum postings_tier tier, uint64_t sid,
                      const struct min_sketch *sketch)
{
    size_t n = lists->n_of_tier[tier] ? postings_tier_keys(tier, sketch) : 0;

    for (size_t i = 0; i < n; i++) {
        struct long_list *list = find(lists, tier, sketch->values[i]);
        if (list && !list->refused_length && !take(&list->digest, sid, 0))
            drop(lists, list);
    }
}

void long_lists_posted(struct long_lists *lists, uint64_t sid, const struct min_sketch *sketch)
{
    posted_in(lists, POSTINGS_TIER_R, sid, sketch);
    posted_in(lists, POSTINGS_TIER_C, sid, sketch);
}

/* Of two clusters that are one the first one's examples do. */
static void join_in(struct digest *digest, uint64_t from, uint64_t to)
{
    unsigned i = place_of(digest, from);

    if (i == digest->n_clusters)
        return;
    if (place_of(digest, to) == digest->n_clusters) {
        digest->clusters[i] = to;
        return;
    }
    unsigned last = --digest->n_clusters;
    digest->clusters[i] = digest->clusters[last];
    memcpy(digest->examples[i], digest->examples[last], sizeof(digest->examples[i]));
}

void long_lists_joined(struct long_lists *lists, uint64_t from, uint64_t to)
{
    struct long_list *list;

    if (!lists->seen[from % N_SEEN])
        return;
    lists->seen[to % N_SEEN] = true;
    TAILQ_FOREACH(list, &lists->by_use, by_use)
    join_in(&list->digest, from, to);
}

/* Wherever the one is the other may be, too. */
void long_lists_moved(struct long_lists *lists, uint64_t from, uint64_t to)
{
    struct long_list *list, *next;

    if (!lists->seen[from % N_SEEN])
        return;
    lists->seen[to % N_SEEN] = true;
    for (list = TAILQ_FIRST(&lists->by_use); list; list = next) {
        next = TAILQ_NEXT(list, by_use);
        if (place_of(&list->digest, from) < list->digest.n_clusters &&
            place_of(&list->digest, to) == list->digest.n_clusters && !take(&list->digest, 0, to))
            drop(lists, list);
    }
}

void long_lists_split(struct long_lists *lists, uint64_t cluster)
{
    struct long_list *list, *next;

    if (!lists->seen[cluster % N_SEEN])
        return;
    for (list = TAILQ_FIRST(&lists->by_use); list; list = next) {
        next = TAILQ_NEXT(list, by_use);
        if (place_of(&list->digest, cluster) < list->digest.n_clusters)
            drop(lists, list);
    }
}
