/* A document that resembles another has many of its sixteen fingerprints; one that is contained in
 * another has as large a part of its V in common. So of very many candidates the likeliest are
 * those that come in most lists. And the closest relative of one among very many that resemble each
 * other shares what is rare among them: lists that are short are taken whole.
 *
 * Example: a page has 16 fingerprints, three of which are of a frame that 50,000 pages have. The
 * thirteen short lists are read and all in them taken. Of the three long ones the first 16,384 are
 * counted: who is in two or three of them is taken, up to 1,024, who is in one is passed over.
 *
 * Cost: candidates.h has it. Left out: weighing lists by their lengths. Short ones are whole. */
#include "engine/index/postings/candidates.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "engine/cluster/large/parallel.h"
#include "engine/index/tables/sid_tally.h"
#include "engine/index/tables/number_vector.h"

enum {
    LONG_MAX = 64,    /* lists of V read so: its first ones are as good as any */
    LONG_THREADS = 4, /* once it takes longer than a millisecond: who reads from a disk waits */
    ALONE_US = 1000,
};

/* The tally of how often each sid came, and the most that one did. */
struct tally {
    struct sid_tally sids;
    uint32_t highest;
};

static void tally_done(struct tally *tally)
{
    sid_tally_done(&tally->sids);
}

static int tally_add(struct tally *tally, const struct sid_list *list)
{
    for (size_t i = 0; i < list->n_sids; i++) {
        uint32_t *n = sid_tally_of(&tally->sids, list->sids[i]);
        if (!n)
            return -ENOMEM;
        if (++*n > tally->highest)
            tally->highest = *n;
    }
    return 0;
}

static int compare_sids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The likeliest, of those that came at least at_least times; of equals the oldest.
 *
 * most_often  as many of those that came CANDIDATES_IN times or more */
static int take_likeliest(const struct tally *tally, uint32_t at_least, size_t most,
                          size_t most_often, struct number_vector *found)
{
    _cleanup_free_ uint64_t *equals = calloc(tally->sids.n_sids + 1, sizeof(*equals));
    if (!equals)
        return -ENOMEM;
    size_t n_taken = 0;
    for (uint32_t n = tally->highest; n >= at_least && n > 0; n--) {
        size_t n_equals = 0, room = n >= CANDIDATES_IN ? most_often : most;
        if (n_taken >= room)
            continue;
        for (size_t i = 0; i < tally->sids.n_slots; i++)
            if (tally->sids.slots[i].n == n)
                equals[n_equals++] = tally->sids.slots[i].sid;
        if (n_equals > room - n_taken)
            qsort(equals, n_equals, sizeof(*equals), compare_sids);
        for (size_t i = 0; i < n_equals && n_taken < room; i++, n_taken++) {
            int r = number_vector_push(found, equals[i]);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

/* Long lists, their beginnings. */
struct long_reading {
    struct postings *postings;
    enum postings_tier tier;
    size_t most;
    uint64_t keys[LONG_MAX];
    struct sid_list lists[LONG_MAX];
    uint32_t n, next;
    int64_t until_us; /* of who is alone */
};

static void long_reading_done(struct long_reading *reading)
{
    for (size_t i = 0; i < reading->n; i++)
        sid_list_done(&reading->lists[i]);
}

static int read_some(void *user, unsigned thread, const bool *stop)
{
    struct long_reading *reading = user;
    int r = 0;
    (void)thread;

    while (r == 0 && !parallel_told(stop)) {
        const uint32_t i = parallel_next(&reading->next);
        if (i >= reading->n)
            break;
        r = postings_first(reading->postings, reading->tier, reading->keys[i], reading->most,
                           &reading->lists[i]);
        if (reading->until_us && clock_now_us() >= reading->until_us)
            break;
    }
    return r;
}

static int read_long(struct postings *postings, enum postings_tier tier, const uint64_t *keys,
                     size_t n_keys, const size_t *lengths, size_t most, struct tally *tally)
{
    _cleanup_(long_reading_done) struct long_reading reading = {
        .postings = postings,
        .tier = tier,
        .most = most > CANDIDATES_LIST ? most : CANDIDATES_LIST,
        .until_us = clock_now_us() + ALONE_US};
    double cpu_s = 0;

    for (size_t i = 0; i < n_keys && reading.n < LONG_MAX; i++)
        if (lengths[i] > POSTINGS_PIECE)
            reading.keys[reading.n++] = keys[i];
    int r = read_some(&reading, 0, NULL);
    reading.until_us = 0;
    const uint32_t n_left = reading.next < reading.n ? reading.n - reading.next : 0;
    if (r == 0 && n_left > 0)
        r = parallel_run(n_left < LONG_THREADS ? n_left : LONG_THREADS, read_some, &reading,
                         &cpu_s);
    for (size_t i = 0; r == 0 && i < reading.n; i++)
        r = tally_add(tally, &reading.lists[i]);
    return r;
}

/* Takes what was found. */
static int give(int r, struct number_vector *found, struct sid_list *ret_list)
{
    if (r < 0) {
        number_vector_done(found);
        return r;
    }
    number_vector_sort_unique(found);
    *ret_list = (struct sid_list){found->numbers, found->n_numbers};
    return 0;
}

int candidates_for(struct postings *postings, enum postings_tier tier,
                   const struct min_sketch *sketch, double threshold, size_t most,
                   struct sid_list *ret_list)
{
    _cleanup_free_ size_t *lengths = NULL;
    _cleanup_(sid_list_done) struct sid_list list = {0};
    _cleanup_(tally_done) struct tally tally = {0};
    size_t n = postings_tier_keys(tier, sketch), n_long = 0;

    if (most == 0)
        return postings_candidates(postings, tier, sketch, ret_list);
    most = 2 * most > CANDIDATES_ENOUGH ? 2 * most : CANDIDATES_ENOUGH;
    lengths = calloc(n + 1, sizeof(*lengths));
    if (!lengths)
        return -ENOMEM;
    int r = postings_with(postings, tier, sketch->values, n, POSTINGS_PIECE, &list, lengths);
    for (size_t i = 0; i < n; i++)
        n_long += lengths[i] > POSTINGS_PIECE;
    /* Where other lists are enough, only who comes in several of the long ones counts. */
    const uint32_t at_least = threshold >= 0.25 && n - n_long >= CANDIDATES_KEYS ? 2 : 1;
    if (r == 0 && n_long >= at_least)
        r = read_long(postings, tier, sketch->values, n, lengths, most, &tally);
    if (r < 0)
        return r;
    struct number_vector found = {list.sids, list.n_sids, list.n_sids};
    list = (struct sid_list){0};
    /* Where thousands come often, the relatives of a document are anywhere among them. */
    r = take_likeliest(&tally, at_least, most, most > CANDIDATES_OFTEN ? most : CANDIDATES_OFTEN,
                       &found);
    return give(r, &found, ret_list);
}

int candidates_likeliest(struct postings *postings, const struct min_sketch *sketch, size_t most,
                         struct sid_list *ret_list)
{
    _cleanup_(tally_done) struct tally whole = {0}, cut = {0};
    struct number_vector found = {0};
    const size_t n = postings_tier_keys(POSTINGS_TIER_R, sketch);
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        _cleanup_(sid_list_done) struct sid_list list = {0};
        r = postings_first(postings, POSTINGS_TIER_R, sketch->values[i], CANDIDATES_FIRST, &list);
        if (r == 0)
            r = tally_add(list.n_sids < CANDIDATES_FIRST ? &whole : &cut, &list);
    }
    if (r == 0)
        r = take_likeliest(&whole, 1, most, most, &found);
    if (r == 0)
        r = take_likeliest(&cut, 1, most - found.n_numbers, most - found.n_numbers, &found);
    return give(r, &found, ret_list);
}

/* The chance that a candidate is missed. */
static const double MISSED = 0.01;

uint64_t candidates_certain_shingles(double modulus)
{
    return modulus > 1 ? (uint64_t)ceil(log(MISSED) / log1p(-1.0 / modulus)) : 1;
}

double candidates_certain_resemblance(void)
{
    return round(100 * (1 - pow(MISSED, 1.0 / POSTINGS_TIER_R_KEYS))) / 100;
}
