/* A hash by fingerprint of chained nodes, the latest first. Nodes are 20 bytes, in pieces of a
 * fixed size so that growth copies nothing; with the 4-byte bucket a note costs 24 bytes. The
 * number of buckets is fixed too: what bounds the notes (a flush) is known when a delta is made,
 * and a rehash would hold readers up for many milliseconds. */
#include "engine/index/postings_delta.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

enum { PIECE_NODES = 4096, MIN_BUCKETS = 64, MAX_BUCKETS = 1 << 24 };

static const uint64_t REMOVED = (uint64_t)1 << 63;
enum { NONE = 0 }; /* nodes are numbered from 1, so that fresh buckets need no filling */

struct posting {
    uint64_t fingerprint, sid_state; /* REMOVED set in a removal */
};

struct __attribute__((packed, aligned(4))) node {
    uint64_t fingerprint, sid_state;
    uint32_t next;
};

struct postings_delta {
    uint32_t *buckets;
    unsigned shift; /* of the hash, down to a bucket */
    struct node **pieces;
    size_t n_pieces, n_nodes;
};

static struct node *node_at(const struct postings_delta *delta, uint32_t i)
{
    return &delta->pieces[(i - 1) / PIECE_NODES][(i - 1) % PIECE_NODES];
}

/* Fingerprints of a tier are small numbers, so their upper bits say little: multiply first. */
static uint32_t *bucket_of(const struct postings_delta *delta, uint64_t fingerprint)
{
    return &delta->buckets[(fingerprint * 0x9e3779b97f4a7c15u) >> delta->shift];
}

int postings_delta_new(size_t n_expected, struct postings_delta **ret_delta)
{
    size_t n_buckets = MIN_BUCKETS;
    unsigned shift = 64 - 6;
    while (n_buckets < n_expected && n_buckets < MAX_BUCKETS) {
        n_buckets *= 2;
        shift--;
    }

    struct postings_delta *delta = calloc(1, sizeof(*delta));
    if (!delta)
        return -ENOMEM;
    delta->shift = shift;
    delta->buckets = calloc(n_buckets, sizeof(*delta->buckets));
    if (!delta->buckets) {
        free(delta);
        return -ENOMEM;
    }
    *ret_delta = delta;
    return 0;
}

void postings_delta_free(struct postings_delta *delta)
{
    if (!delta)
        return;
    for (size_t i = 0; i < delta->n_pieces; i++)
        free(delta->pieces[i]);
    free(delta->pieces);
    free(delta->buckets);
    free(delta);
}

size_t postings_delta_count(const struct postings_delta *delta)
{
    return delta->n_nodes;
}

static int add_piece(struct postings_delta *delta)
{
    if (delta->n_pieces == UINT32_MAX / PIECE_NODES)
        return -ENOMEM;
    struct node **pieces = reallocarray(delta->pieces, delta->n_pieces + 1, sizeof(*delta->pieces));
    if (!pieces)
        return -ENOMEM;
    delta->pieces = pieces;
    pieces[delta->n_pieces] = malloc(PIECE_NODES * sizeof(**pieces));
    if (!pieces[delta->n_pieces])
        return -ENOMEM;
    delta->n_pieces++;
    return 0;
}

int postings_delta_note(struct postings_delta *delta, uint64_t fingerprint, uint64_t sid,
                        bool removed)
{
    assert(sid < REMOVED);
    if (delta->n_nodes == delta->n_pieces * PIECE_NODES) {
        int r = add_piece(delta);
        if (r < 0)
            return r;
    }
    uint32_t *bucket = bucket_of(delta, fingerprint);
    uint32_t i = (uint32_t)++delta->n_nodes;
    *node_at(delta, i) = (struct node){fingerprint, sid | (removed ? REMOVED : 0), *bucket};
    *bucket = i;
    return 0;
}

int postings_delta_visit(const struct postings_delta *delta, uint64_t fingerprint,
                         int (*visit)(void *user, uint64_t sid, bool removed), void *user)
{
    for (uint32_t i = *bucket_of(delta, fingerprint); i != NONE; i = node_at(delta, i)->next) {
        const struct node *node = node_at(delta, i);
        if (node->fingerprint != fingerprint)
            continue;
        int r = visit(user, node->sid_state & ~REMOVED, node->sid_state & REMOVED);
        if (r != 0)
            return r;
    }
    return 0;
}

static bool is_removed(const struct postings_delta *delta, uint64_t fingerprint, uint64_t sid)
{
    for (uint32_t i = *bucket_of(delta, fingerprint); i != NONE; i = node_at(delta, i)->next) {
        const struct node *node = node_at(delta, i);
        if (node->fingerprint == fingerprint && (node->sid_state & ~REMOVED) == sid)
            return node->sid_state & REMOVED;
    }
    return false;
}

static int compare(const void *a, const void *b)
{
    const struct posting *x = a, *y = b;
    if (x->fingerprint != y->fingerprint)
        return x->fingerprint < y->fingerprint ? -1 : 1;
    uint64_t i = x->sid_state & ~REMOVED, j = y->sid_state & ~REMOVED;
    return (i > j) - (i < j);
}

/* By fingerprint, in the order they are in where it is the same: digit by digit, the lowest first;
 * an even number of passes. */
static void sort_by_fingerprint(struct posting *postings, struct posting *scratch, size_t n)
{
    enum { DIGIT_BITS = 11, N_PASSES = 6, N_DIGITS = 1 << DIGIT_BITS };
    for (unsigned pass = 0; pass < N_PASSES; pass++) {
        uint32_t begin[N_DIGITS + 1] = {0};
        unsigned shift = pass * DIGIT_BITS;
        for (size_t i = 0; i < n; i++)
            begin[(postings[i].fingerprint >> shift) % N_DIGITS + 1]++;
        for (unsigned digit = 1; digit <= N_DIGITS; digit++)
            begin[digit] += begin[digit - 1];
        for (size_t i = 0; i < n; i++)
            scratch[begin[(postings[i].fingerprint >> shift) % N_DIGITS]++] = postings[i];
        struct posting *sorted = scratch;
        scratch = postings;
        postings = sorted;
    }
}

/* While documents only come, their sids ascend. */
static bool sids_ascend(const struct posting *postings, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if ((postings[i].sid_state & ~REMOVED) < (postings[i - 1].sid_state & ~REMOVED))
            return false;
    return true;
}

int postings_run_init(struct postings_run *run, const struct postings_delta *delta)
{
    _cleanup_free_ struct posting *scratch = NULL;
    struct posting *postings = malloc((delta->n_nodes + 1) * sizeof(*postings));
    if (!postings)
        return -ENOMEM;
    for (uint32_t i = 0; i < delta->n_nodes; i++) {
        const struct node *node = node_at(delta, i + 1);
        postings[i] = (struct posting){node->fingerprint, node->sid_state};
    }
    if (sids_ascend(postings, delta->n_nodes))
        scratch = malloc((delta->n_nodes + 1) * sizeof(*scratch));
    if (scratch)
        sort_by_fingerprint(postings, scratch, delta->n_nodes);
    else
        qsort(postings, delta->n_nodes, sizeof(*postings), compare);
    *run = (struct postings_run){delta, postings, delta->n_nodes, 0};
    return 0;
}

void postings_run_rewind(struct postings_run *run)
{
    run->at = 0;
}

bool postings_run_next(struct postings_run *run, uint64_t *ret_fingerprint, uint64_t *ret_sid,
                       bool *ret_removed)
{
    if (run->at == run->n_postings)
        return false;
    const struct posting *posting = &run->postings[run->at++];
    bool repeated = false, removed = posting->sid_state & REMOVED;
    for (; run->at < run->n_postings && compare(posting, &run->postings[run->at]) == 0; run->at++)
        repeated = true;
    *ret_fingerprint = posting->fingerprint;
    *ret_sid = posting->sid_state & ~REMOVED;
    *ret_removed = repeated ? is_removed(run->delta, *ret_fingerprint, *ret_sid) : removed;
    return true;
}

bool postings_run_smallest(const struct postings_run *run, uint64_t fingerprint, uint64_t *ret_sid)
{
    size_t low = 0, high = run->n_postings;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->postings[middle].fingerprint < fingerprint)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == run->n_postings || run->postings[low].fingerprint != fingerprint)
        return false;
    *ret_sid = run->postings[low].sid_state & ~REMOVED;
    return true;
}

void postings_run_done(struct postings_run *run)
{
    free(run->postings);
    *run = (struct postings_run){0};
}
