/* Candidates are compared a piece at a time, for a millisecond by the asking thread alone, then by
 * four. Matches are collected up to twice the number that is kept, and then cut to the best.
 *
 * Example: of 3,000,000 candidates 200,000 match. Each thread has 131,072 at most, of which it
 * leaves the best 65,536, and the search the best of all threads'. Who wants those behind them asks
 * again: all are compared, and what comes up to the last one that was given is passed over.
 *
 * Cost: matches.h has it. Left out: a heap of the best. What is kept is sorted in the end anyhow,
 * and most questions have fewer matches than that. */
#include "engine/index/answers/matches.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/room.h"
#include "engine/cluster/large/parallel.h"
#include "engine/index/answers/answer.h"

enum {
    PIECE = 64, /* candidates that are looked at at once */
    /* From then on by several threads. What is in memory is done by then, mostly. */
    ALONE_US = 1000,
    MOST_THREADS = 4, /* more than there may be processors: who reads from a disk waits */
};

void matches_done(struct matches *matches)
{
    free(matches->matches);
    *matches = (struct matches){0};
}

int matches_add(struct matches *matches, const struct match *match)
{
    if (!MAKE_ROOM(matches->matches, matches->max_matches, matches->n_matches + 1))
        return -ENOMEM;
    matches->matches[matches->n_matches++] = *match;
    return 0;
}

/* The order in which they are given. */
static int compare_ranks(const struct match *x, const struct match *y, double a, double b)
{
    if (a != b)
        return a < b ? 1 : -1;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

static int compare_resemblances(const void *a, const void *b)
{
    const struct match *x = a, *y = b;
    return compare_ranks(x, y, x->resemblance.value, y->resemblance.value);
}

static int compare_containments(const void *a, const void *b)
{
    const struct match *x = a, *y = b;
    return compare_ranks(x, y, x->containment.value, y->containment.value);
}

static int (*order_of(const struct index_query *query))(const void *a, const void *b)
{
    return query->relation == INDEX_RESEMBLES ? compare_resemblances : compare_containments;
}

static void sort(const struct index_query *query, struct matches *matches)
{
    if (matches->n_matches)
        qsort(matches->matches, matches->n_matches, sizeof(*matches->matches), order_of(query));
}

/* -- comparing -- */

struct search {
    struct records *records;
    const struct record *record;
    const struct index_query *query;
    const struct sid_list *candidates;
    const struct match *after; /* those up to it are not wanted; NULL: all are */
    size_t n_most;
    uint32_t next;    /* piece */
    int64_t until_us; /* of who is alone */
    pthread_mutex_t lock;
    struct matches *matches; /* under it */
};

/* Leaves the best. */
static void cut(const struct search *search, struct matches *matches)
{
    sort(search->query, matches);
    if (matches->n_matches <= search->n_most)
        return;
    matches->n_matches = search->n_most;
    matches->more = true;
}

static int add(const struct search *search, const struct match *match, struct matches *matches)
{
    if (matches->n_matches == 2 * search->n_most)
        cut(search, matches);
    return matches_add(matches, match);
}

static int containment(const struct search *search, const struct record *other,
                       struct estimate *ret_estimate)
{
    const struct record *record = search->record;
    const struct number_vector *all = search->matches->all;
    if (search->query->relation != INDEX_PARTS)
        return record_containment(record, other, ret_estimate);
    return all ? record_containment_in(other, record, all->numbers, all->n_numbers, ret_estimate)
               : record_containment(other, record, ret_estimate);
}

static int compare_one(const struct search *search, uint64_t sid, const struct record *other,
                       struct matches *matches)
{
    const struct record *record = search->record;
    struct match match = {.sid = sid};

    if (search->query->relation == INDEX_RESEMBLES) {
        /* Most candidates are far from it, and that is seen after a few values. */
        int r = min_sketch_reaches(&record->sketch, &other->sketch, search->query->threshold,
                                   &match.resemblance);
        if (r <= 0)
            return r == -ENODATA || r == -EPROTO ? 0 : r;
    }
    if (record_resemblance(record, other, &match.resemblance) < 0)
        return 0;
    if (containment(search, other, &match.containment) < 0)
        match.containment = (struct estimate){.value = NAN};
    if (!(match_rank(search->query, &match) >= search->query->threshold)) /* as it is shown */
        return 0;
    if (search->after && order_of(search->query)(&match, search->after) <= 0)
        return 0;
    record_class(other, match.class);
    return add(search, &match, matches);
}

static int compare_piece(const struct search *search, const uint64_t *sids, size_t n,
                         struct matches *matches)
{
    const struct record *others[PIECE];
    int r = records_borrow(search->records, sids, n, others);

    if (r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < n; i++)
        if (others[i])
            r = compare_one(search, sids[i], others[i], matches);
    records_return(search->records, others, n);
    return r;
}

/* The matches of a thread go to the search. */
static int hand_over(struct search *search, const struct matches *matches)
{
    int r = 0;
    LOCKED(&search->lock);
    search->matches->more |= matches->more;
    for (size_t i = 0; r == 0 && i < matches->n_matches; i++)
        r = add(search, &matches->matches[i], search->matches);
    return r;
}

static uint32_t n_pieces(const struct search *search)
{
    return (uint32_t)((search->candidates->n_sids + PIECE - 1) / PIECE);
}

static int compare_some(void *user, unsigned thread, const bool *stop)
{
    _cleanup_(matches_done) struct matches matches = {0};
    struct search *search = user;
    const struct sid_list *candidates = search->candidates;
    int r = 0;
    (void)thread;

    while (r == 0 && !parallel_told(stop)) {
        const uint32_t piece = parallel_next(&search->next);
        if (piece >= n_pieces(search))
            break;
        if (answer_is_stopped(search->query))
            return -EINTR;
        const size_t at = (size_t)piece * PIECE, n_left = candidates->n_sids - at;
        r = compare_piece(search, candidates->sids + at, n_left < PIECE ? n_left : PIECE, &matches);
        if (search->until_us && clock_now_us() >= search->until_us)
            break;
    }
    return r < 0 ? r : hand_over(search, &matches);
}

int matches_find(struct records *records, const struct record *record,
                 const struct index_query *query, const struct sid_list *candidates,
                 struct matches *matches)
{
    const struct match last =
        matches->more ? matches->matches[matches->n_matches - 1] : (struct match){0};
    struct search search = {.records = records,
                            .record = record,
                            .query = query,
                            .candidates = candidates,
                            .after = matches->more ? &last : NULL,
                            .n_most = matches->n_most ? matches->n_most : MATCHES_MAX,
                            .until_us = clock_now_us() + ALONE_US,
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .matches = matches};
    double cpu_s = 0;

    matches->n_matches = 0;
    matches->more = false;
    int r = compare_some(&search, 0, NULL);
    search.until_us = 0;
    const uint32_t n = n_pieces(&search);
    const uint32_t n_left = search.next < n ? n - search.next : 0;
    if (r == 0 && n_left > 0)
        r = parallel_run(n_left < MOST_THREADS ? n_left : MOST_THREADS, compare_some, &search,
                         &cpu_s);
    cut(&search, matches);
    return r;
}
