/* A table of sets of eight lists, found by a hash of the fingerprint. A set that is full gives up a
 * list that was not asked for since the last time it gave one up (second chance). The table doubles
 * when three quarters of it are full and there are bytes left; when there are none, a hand goes
 * round the sets and gives up what was not asked for since it last came by.
 *
 * Example: the lists of a family of near-copies have the same forty sids, and stay, as each new
 * copy asks for all sixteen; the list of a word in common of two letters was asked for once, and
 * goes.
 *
 * Left out: one list for fingerprints that have the same sids. It would take a reference count and
 * a copy at the first difference, for a quarter of the bytes. */
#include "engine/index/postings/list_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS = 8, INSIDE = 3, FIRST_SETS = 1 << 9 };

struct cached_list {
    uint64_t fingerprint;
    uint32_t n;    /* 0: no list is here, as none is empty */
    uint16_t room; /* of the sids outside; 0: they are inside */
    bool whole, asked;
    union {
        uint64_t inside[INSIDE];
        uint64_t *outside;
    } sids;
};

struct list_cache {
    struct cached_list *lists; /* n_sets times WAYS */
    size_t n_sets, n_lists;    /* n_sets: a power of two */
    size_t n_bytes, max_bytes;
    size_t hand; /* the set to be looked at next */
};

static size_t table_bytes(size_t n_sets)
{
    return n_sets * WAYS * sizeof(struct cached_list);
}

int list_cache_new(size_t max_bytes, struct list_cache **ret_cache)
{
    struct list_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return -ENOMEM;
    cache->lists = calloc(FIRST_SETS * WAYS, sizeof(*cache->lists));
    if (!cache->lists) {
        free(cache);
        return -ENOMEM;
    }
    cache->n_sets = FIRST_SETS;
    cache->n_bytes = table_bytes(FIRST_SETS);
    cache->max_bytes = max_bytes;
    *ret_cache = cache;
    return 0;
}

/* -- one list -- */

static uint64_t *sids_of(struct cached_list *list)
{
    return list->room ? list->sids.outside : list->sids.inside;
}

static void drop(struct list_cache *cache, struct cached_list *list)
{
    if (list->room) {
        free(list->sids.outside);
        cache->n_bytes -= list->room * sizeof(uint64_t);
    }
    cache->n_lists -= list->n > 0;
    *list = (struct cached_list){0};
}

/* Room for n sids, at most LIST_CACHE_MOST + 1. Returns false without memory. */
static bool make_room(struct list_cache *cache, struct cached_list *list, size_t n)
{
    if (n <= (list->room ? list->room : INSIDE))
        return true;
    size_t room = n + n / 4 + 3;
    uint64_t *larger = malloc(room * sizeof(*larger));
    if (!larger)
        return false;
    memcpy(larger, sids_of(list), list->n * sizeof(*larger));
    if (list->room)
        free(list->sids.outside);
    cache->n_bytes += (room - list->room) * sizeof(*larger);
    list->sids.outside = larger;
    list->room = (uint16_t)room;
    return true;
}

static size_t place_of(struct cached_list *list, uint64_t sid)
{
    const uint64_t *sids = sids_of(list);
    size_t low = 0, high = list->n;
    if (high && sids[high - 1] < sid)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sids[middle] < sid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct posting_list as_posting_list(struct cached_list *list)
{
    return (struct posting_list){sids_of(list), list->n, list->whole};
}

/* -- the table -- */

static struct cached_list *set_of(const struct list_cache *cache, uint64_t fingerprint)
{
    const uint64_t hash = fingerprint * UINT64_C(0x9e3779b97f4a7c15);
    return cache->lists + ((size_t)(hash >> 20) & (cache->n_sets - 1)) * WAYS;
}

static struct cached_list *find(const struct list_cache *cache, uint64_t fingerprint)
{
    struct cached_list *set = set_of(cache, fingerprint);
    for (unsigned i = 0; i < WAYS; i++)
        if (set[i].n && set[i].fingerprint == fingerprint)
            return &set[i];
    return NULL;
}

bool list_cache_find(struct list_cache *cache, uint64_t fingerprint, struct posting_list *ret_list)
{
    struct cached_list *list = find(cache, fingerprint);
    if (!list)
        return false;
    list->asked = true;
    *ret_list = as_posting_list(list);
    return true;
}

/* A place for a list: an empty one, or that of one that was not asked for lately. */
static struct cached_list *place_in(struct list_cache *cache, struct cached_list *set)
{
    for (unsigned i = 0; i < WAYS; i++)
        if (set[i].n == 0)
            return &set[i];
    struct cached_list *oldest = &set[0];
    for (unsigned i = WAYS; i-- > 0;) {
        if (!set[i].asked)
            oldest = &set[i];
        set[i].asked = false;
    }
    drop(cache, oldest);
    return oldest;
}

/* Without memory it stays as it is. */
static void grow(struct list_cache *cache)
{
    struct list_cache larger = *cache;
    larger.n_sets = 2 * cache->n_sets;
    larger.lists = calloc(larger.n_sets * WAYS, sizeof(*larger.lists));
    if (!larger.lists)
        return;
    for (size_t i = 0; i < cache->n_sets * WAYS; i++) {
        struct cached_list *list = &cache->lists[i];
        if (list->n)
            *place_in(&larger, set_of(&larger, list->fingerprint)) = *list;
    }
    free(cache->lists);
    larger.n_bytes += table_bytes(cache->n_sets);
    *cache = larger;
}

/* At most two rounds: the first takes the marks away. */
static void keep_to_bound(struct list_cache *cache)
{
    for (size_t n = 0; cache->n_bytes > cache->max_bytes && n < 2 * cache->n_sets; n++) {
        struct cached_list *set = cache->lists + cache->hand * WAYS;
        cache->hand = (cache->hand + 1) & (cache->n_sets - 1);
        for (unsigned i = 0; i < WAYS; i++) {
            if (set[i].n && set[i].room && !set[i].asked)
                drop(cache, &set[i]);
            set[i].asked = false;
        }
    }
}

bool list_cache_put(struct list_cache *cache, uint64_t fingerprint, const struct posting_list *list,
                    struct posting_list *ret_list)
{
    struct cached_list *old = find(cache, fingerprint);
    if (old)
        drop(cache, old);
    if (list->n == 0 || list->n > LIST_CACHE_MOST)
        return false;
    keep_to_bound(cache);
    if (cache->n_lists > cache->n_sets * WAYS / 4 * 3 &&
        cache->n_bytes + table_bytes(cache->n_sets) <= cache->max_bytes)
        grow(cache);
    struct cached_list *to = place_in(cache, set_of(cache, fingerprint));
    if (!make_room(cache, to, list->n))
        return false;
    memcpy(sids_of(to), list->sids, list->n * sizeof(*list->sids));
    to->fingerprint = fingerprint;
    to->n = (uint32_t)list->n;
    to->whole = list->whole;
    to->asked = true;
    cache->n_lists++;
    *ret_list = as_posting_list(to);
    return true;
}

/* -- what happens -- */

void list_cache_add(struct list_cache *cache, uint64_t fingerprint, uint64_t sid)
{
    struct cached_list *list = find(cache, fingerprint);
    if (!list)
        return;
    const size_t place = place_of(list, sid);
    if (place < list->n ? sids_of(list)[place] == sid : !list->whole)
        return;
    if (!make_room(cache, list, list->n + 1)) {
        drop(cache, list);
        return;
    }
    uint64_t *sids = sids_of(list);
    memmove(sids + place + 1, sids + place, (list->n - place) * sizeof(*sids));
    sids[place] = sid;
    if (list->n < LIST_CACHE_MOST)
        list->n++;
    else
        list->whole = false;
}

void list_cache_remove(struct list_cache *cache, uint64_t fingerprint, uint64_t sid)
{
    struct cached_list *list = find(cache, fingerprint);
    const size_t place = list ? place_of(list, sid) : 0;
    if (!list || place == list->n || sids_of(list)[place] != sid)
        return;
    uint64_t *sids = sids_of(list);
    memmove(sids + place, sids + place + 1, (list->n - place - 1) * sizeof(*sids));
    if (list->n == 1 || (!list->whole && list->n <= LIST_CACHE_LEAST))
        drop(cache, list);
    else
        list->n--;
}

void list_cache_clear(struct list_cache *cache)
{
    for (size_t i = 0; i < cache->n_sets * WAYS; i++)
        drop(cache, &cache->lists[i]);
}

void list_cache_free(struct list_cache *cache)
{
    if (!cache)
        return;
    list_cache_clear(cache);
    free(cache->lists);
    free(cache);
}
