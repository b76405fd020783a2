/* A hash table of two generations: notes are made in the younger one, and come over from the elder
 * one when they are asked for. When the younger is full, the elder goes.
 *
 * Clusters are told apart by a few bits of their ids, and each such group counts how often one of
 * it was split. A note holds the group and its count when it was made: it is void once a cluster of
 * its group was split, or its document is in a cluster of another group.
 */
#include "engine/index/short_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_MAX_BYTES = 256 << 20,
    FIRST_BUCKETS = 1 << 10,
    BUCKET_NOTES = 4, /* a cache line */
    N_GROUPS = 1 << 10,
    SID_BITS = 48,
    COUNT_BITS = 6,
    N_COUNTS = 1 << COUNT_BITS,
};

struct note {
    uint64_t fingerprint;
    uint64_t word; /* sid | group and count of splits; 0: nothing */
};

struct generation {
    struct note *notes;
    size_t n_buckets, n_notes;
};

struct short_lists {
    struct generation younger, elder;
    size_t max_buckets; /* of a generation */
    uint8_t n_splits[N_GROUPS];
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
    return (uint64_t)(group << COUNT_BITS | lists->n_splits[group]) << SID_BITS;
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

uint64_t short_lists_find(struct short_lists *lists, uint64_t fingerprint)
{
    const struct note *note = find(lists, fingerprint);
    return note ? note->word & ((UINT64_C(1) << SID_BITS) - 1) : 0;
}

bool short_lists_vouches(struct short_lists *lists, uint64_t fingerprint, uint64_t cluster)
{
    const struct note *note = find(lists, fingerprint);
    return cluster && note && note->word >> SID_BITS == stamp_of(lists, cluster) >> SID_BITS;
}

void short_lists_learn(struct short_lists *lists, uint64_t fingerprint, uint64_t sid,
                       uint64_t cluster)
{
    short_lists_drop(lists, fingerprint);
    if (sid > 0 && sid >> SID_BITS == 0 && cluster)
        put(lists, (struct note){fingerprint, sid | stamp_of(lists, cluster)});
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
    uint8_t *n_splits = &lists->n_splits[group_of(cluster)];

    *n_splits = (*n_splits + 1) % N_COUNTS;
    if (*n_splits == 0) /* older notes would come true again */
        short_lists_forget(lists);
}
