/* A hash table of two generations: notes are made in the younger one, and come over from the elder
 * one when they are asked for. When the younger is full, the elder goes.
 *
 * Clusters are told apart by a few bits of their ids, and each such group counts how often one of
 * it was split, or went into another. A note holds the group and its count when it was made: it is
 * void once that happened to a cluster of its group, or while its document is in a cluster of
 * another group. What happens again before a note was made of the group need not be counted.
 *
 * Strays stand beside it: a note that has some, and whose strays had to give way to those of
 * another list, is void.
 */
#include "engine/index/postings/short_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/index/tables/id_cache.h"

enum {
    DEFAULT_MAX_BYTES = 256 << 20,
    STRAYS_PART = 8, /* of the most bytes */
    STRAYS_FIRST = 1 << 8,
    FIRST_BUCKETS = 1 << 10,
    BUCKET_NOTES = 4, /* a cache line */
    GROUP_BITS = 17,
    COUNT_BITS = 6,
    STAMP_AT = 64 - GROUP_BITS - COUNT_BITS,
    SID_BITS = STAMP_AT - 1,
    N_GROUPS = 1 << GROUP_BITS,
    N_COUNTS = 1 << COUNT_BITS,
};

static const uint64_t HAS_STRAYS = UINT64_C(1) << SID_BITS;

struct group {
    uint8_t count : COUNT_BITS;
    bool is_noted : 1; /* with this count */
};

struct note {
    uint64_t fingerprint;
    uint64_t word; /* sid | HAS_STRAYS | group and count of splits; 0: nothing */
};

struct strays {
    uint64_t sids[SHORT_LISTS_STRAYS]; /* 0: none */
};

struct generation {
    struct note *notes;
    size_t n_buckets, n_notes;
};

struct short_lists {
    struct generation younger, elder;
    size_t max_buckets; /* of a generation */
    struct id_cache strays;
    struct group groups[N_GROUPS];
};

int short_lists_new(size_t max_bytes, struct short_lists **ret_lists)
{
    struct short_lists *lists = calloc(1, sizeof(*lists));
    if (!lists)
        return -ENOMEM;
    if (max_bytes == 0)
        max_bytes = DEFAULT_MAX_BYTES;
    lists->max_buckets = FIRST_BUCKETS;
    while (4 * lists->max_buckets * BUCKET_NOTES * sizeof(struct note) <= max_bytes)
        lists->max_buckets *= 2;
    size_t max_strays = STRAYS_FIRST;
    while (2 * max_strays * (sizeof(struct strays) + 8) <= max_bytes / STRAYS_PART)
        max_strays *= 2;
    if (id_cache_init(&lists->strays, SHORT_LISTS_STRAYS, STRAYS_FIRST, max_strays) < 0) {
        free(lists);
        return -ENOMEM;
    }
    *ret_lists = lists;
    return 0;
}

void short_lists_forget(struct short_lists *lists)
{
    free(lists->younger.notes);
    free(lists->elder.notes);
    lists->younger = lists->elder = (struct generation){0};
}

void short_lists_free(struct short_lists *lists)
{
    if (!lists)
        return;
    short_lists_forget(lists);
    id_cache_done(&lists->strays);
    free(lists);
}

/* -- notes -- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return x ^ x >> 29;
}

static unsigned group_of(uint64_t cluster)
{
    return mix(cluster) % N_GROUPS;
}

static uint64_t stamp_of(const struct short_lists *lists, uint64_t cluster)
{
    unsigned group = group_of(cluster);
    return (uint64_t)(group << COUNT_BITS | lists->groups[group].count) << STAMP_AT;
}

static struct note *bucket_of(const struct generation *generation, uint64_t fingerprint)
{
    return &generation->notes[(mix(fingerprint) & (generation->n_buckets - 1)) * BUCKET_NOTES];
}

static struct note *find_in(const struct generation *generation, uint64_t fingerprint)
{
    if (generation->n_buckets == 0)
        return NULL;
    struct note *bucket = bucket_of(generation, fingerprint);
    for (unsigned i = 0; i < BUCKET_NOTES; i++)
        if (bucket[i].word && bucket[i].fingerprint == fingerprint)
            return &bucket[i];
    return NULL;
}

/* The elder generation goes; the next one is twice as large, up to the most. */
static bool turn(struct short_lists *lists)
{
    size_t n = lists->younger.n_buckets ? 2 * lists->younger.n_buckets : FIRST_BUCKETS;
    if (n > lists->max_buckets)
        n = lists->max_buckets;
    struct note *notes = calloc(n * BUCKET_NOTES, sizeof(*notes));
    if (!notes)
        return false;
    free(lists->elder.notes);
    lists->elder = lists->younger;
    lists->younger = (struct generation){.notes = notes, .n_buckets = n};
    return true;
}

/* Where a bucket is full one of it goes. */
static void put(struct short_lists *lists, struct note note)
{
    struct generation *younger = &lists->younger;
    struct note *place = find_in(younger, note.fingerprint);

    if (!place && younger->n_notes >= younger->n_buckets * BUCKET_NOTES / 4 * 3 && !turn(lists))
        return;
    for (unsigned i = 0; !place && i < BUCKET_NOTES; i++) {
        struct note *free_one = &bucket_of(younger, note.fingerprint)[i];
        if (free_one->word)
            continue;
        place = free_one;
        younger->n_notes++;
    }
    if (!place)
        place = &bucket_of(younger, note.fingerprint)[mix(note.word) % BUCKET_NOTES];
    *place = note;
}

static struct note *find(struct short_lists *lists, uint64_t fingerprint)
{
    struct note *note = find_in(&lists->younger, fingerprint);
    if (note)
        return note;
    note = find_in(&lists->elder, fingerprint);
    if (!note)
        return NULL;
    struct note moving = *note;
    note->word = 0;
    put(lists, moving);
    return find_in(&lists->younger, fingerprint);
}

void short_lists_expect(const struct short_lists *lists, uint64_t fingerprint)
{
    if (lists->younger.n_buckets)
        __builtin_prefetch(bucket_of(&lists->younger, fingerprint));
    if (lists->elder.n_buckets)
        __builtin_prefetch(bucket_of(&lists->elder, fingerprint));
}

/* Whether a note says all that there is to say. */
static bool is_whole(const struct short_lists *lists, const struct note *note)
{
    return note &&
           (!(note->word & HAS_STRAYS) || id_cache_find(&lists->strays, mix(note->fingerprint)));
}

uint64_t short_lists_find(struct short_lists *lists, uint64_t fingerprint)
{
    const struct note *note = find(lists, fingerprint);
    return is_whole(lists, note) ? note->word & (HAS_STRAYS - 1) : 0;
}

bool short_lists_vouches(struct short_lists *lists, uint64_t fingerprint, uint64_t cluster)
{
    const struct note *note = find(lists, fingerprint);
    return cluster && is_whole(lists, note) &&
           note->word >> STAMP_AT == stamp_of(lists, cluster) >> STAMP_AT;
}

size_t short_lists_strays(struct short_lists *lists, uint64_t fingerprint,
                          uint64_t ret_strays[SHORT_LISTS_STRAYS])
{
    const struct note *note = find(lists, fingerprint);
    const struct strays *strays =
        note && note->word & HAS_STRAYS ? id_cache_find(&lists->strays, mix(fingerprint)) : NULL;
    size_t n = 0;

    while (strays && n < SHORT_LISTS_STRAYS && strays->sids[n]) {
        ret_strays[n] = strays->sids[n];
        n++;
    }
    return n;
}

/* For strays. A cache cannot tell 0 from nothing. */
static size_t room_for(uint64_t fingerprint)
{
    return fingerprint ? SHORT_LISTS_STRAYS : 0;
}

void short_lists_learn(struct short_lists *lists, uint64_t fingerprint, uint64_t sid,
                       uint64_t cluster, const uint64_t *strays, size_t n_strays)
{
    short_lists_drop(lists, fingerprint);
    if (sid == 0 || sid >> SID_BITS || !cluster || n_strays > room_for(fingerprint))
        return;
    if (n_strays > 0) {
        struct strays *kept = id_cache_put(&lists->strays, mix(fingerprint));
        *kept = (struct strays){{0}};
        memcpy(kept->sids, strays, n_strays * sizeof(*strays));
    }
    lists->groups[group_of(cluster)].is_noted = true;
    put(lists,
        (struct note){fingerprint, sid | (n_strays ? HAS_STRAYS : 0) | stamp_of(lists, cluster)});
}

void short_lists_stray(struct short_lists *lists, uint64_t fingerprint, uint64_t sid)
{
    uint64_t sids[SHORT_LISTS_STRAYS];
    struct note *note = find(lists, fingerprint);
    size_t n = short_lists_strays(lists, fingerprint, sids);

    if (!is_whole(lists, note) || n == room_for(fingerprint)) {
        short_lists_drop(lists, fingerprint);
        return;
    }
    struct strays *strays = id_cache_put(&lists->strays, mix(fingerprint));
    *strays = (struct strays){{0}};
    memcpy(strays->sids, sids, n * sizeof(*sids));
    strays->sids[n] = sid;
    note->word |= HAS_STRAYS;
}

void short_lists_drop(struct short_lists *lists, uint64_t fingerprint)
{
    struct note *note = find_in(&lists->elder, fingerprint);
    if (note)
        note->word = 0;
    note = find_in(&lists->younger, fingerprint);
    if (note) {
        note->word = 0;
        lists->younger.n_notes--;
    }
}

void short_lists_split(struct short_lists *lists, uint64_t cluster)
{
    struct group *group = &lists->groups[group_of(cluster)];

    if (!group->is_noted)
        return;
    *group = (struct group){.count = (group->count + 1) % N_COUNTS};
    if (group->count == 0) /* older notes would come true again */
        short_lists_forget(lists);
}
