/* A hash by fingerprint of chained blocks, the latest first: a fingerprint's first block has room
 * for one note, and each further one for twice as many, so that what very many documents have in
 * common is read in order and not from all over the memory. Blocks stand one after the other in
 * pieces of a fixed size, so that growth copies nothing; with the 4-byte bucket the first note of a
 * fingerprint costs 28 bytes, and of many each 8. The number of buckets is fixed too: what bounds
 * the notes (a flush) is known when a delta is made, and a rehash would hold readers up for many
 * milliseconds. */
#include "engine/index/postings/postings_delta.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

enum { PIECE_WORDS = 1 << 14, BLOCK_NOTES_MAX = 256, MIN_BUCKETS = 64, MAX_BUCKETS = 1 << 24 };

static const uint64_t REMOVED = (uint64_t)1 << 63;
enum { NONE = 0 }; /* places are counted from 1, so that fresh buckets need no filling */

struct posting {
    uint64_t fingerprint, sid_state; /* REMOVED set in a removal */
};

struct block {
    uint64_t fingerprint;
    uint32_t next;
    uint16_t n_notes, capacity;
    uint64_t sid_states[];
};

struct piece {
    size_t n_words;
    uint64_t words[PIECE_WORDS];
};

struct postings_delta {
    uint32_t *buckets;
    unsigned shift; /* of the hash, down to a bucket */
    struct piece **pieces;
    size_t n_pieces, n_notes;
    uint64_t last_sid, highest_sid;
    bool descends; /* a sid was less than the one before */
};

static struct block *block_at(const struct postings_delta *delta, uint32_t place)
{
    return (struct block *)&delta->pieces[(place - 1) / PIECE_WORDS]
        ->words[(place - 1) % PIECE_WORDS];
}

/* The latest block of a fingerprint from a place on; NULL: there is none. */
static struct block *find(const struct postings_delta *delta, uint64_t fingerprint, uint32_t place)
{
    struct block *block = NULL;
    for (; place != NONE; place = block->next) {
        block = block_at(delta, place);
        if (block->fingerprint == fingerprint)
            return block;
    }
    return NULL;
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
    return delta->n_notes;
}

static int add_piece(struct postings_delta *delta)
{
    if (delta->n_pieces == UINT32_MAX / PIECE_WORDS)
        return -ENOMEM;
    struct piece **pieces =
        reallocarray(delta->pieces, delta->n_pieces + 1, sizeof(*delta->pieces));
    if (!pieces)
        return -ENOMEM;
    delta->pieces = pieces;
    pieces[delta->n_pieces] = malloc(sizeof(**pieces));
    if (!pieces[delta->n_pieces])
        return -ENOMEM;
    pieces[delta->n_pieces++]->n_words = 0;
    return 0;
}

/* Room for so many notes of a fingerprint, found before the earlier ones. NULL without memory. */
static struct block *add_block(struct postings_delta *delta, uint64_t fingerprint,
                               uint16_t capacity)
{
    const size_t n_words = sizeof(struct block) / sizeof(uint64_t) + capacity;
    if ((delta->n_pieces == 0 ||
         PIECE_WORDS - delta->pieces[delta->n_pieces - 1]->n_words < n_words) &&
        add_piece(delta) < 0)
        return NULL;
    struct piece *piece = delta->pieces[delta->n_pieces - 1];
    uint32_t *bucket = bucket_of(delta, fingerprint);
    const uint32_t place = (uint32_t)((delta->n_pieces - 1) * PIECE_WORDS + piece->n_words + 1);
    struct block *block = block_at(delta, place);
    *block = (struct block){.fingerprint = fingerprint, .next = *bucket, .capacity = capacity};
    piece->n_words += n_words;
    *bucket = place;
    return block;
}

int postings_delta_note(struct postings_delta *delta, uint64_t fingerprint, uint64_t sid,
                        bool removed)
{
    assert(sid < REMOVED);
    struct block *block = find(delta, fingerprint, *bucket_of(delta, fingerprint));
    if (!block || block->n_notes == block->capacity) {
        const unsigned capacity = block ? 2u * block->capacity : 1;
        block = add_block(delta, fingerprint,
                          (uint16_t)(capacity < BLOCK_NOTES_MAX ? capacity : BLOCK_NOTES_MAX));
        if (!block)
            return -ENOMEM;
    }
    block->sid_states[block->n_notes++] = sid | (removed ? REMOVED : 0);
    delta->n_notes++;
    delta->descends |= sid < delta->last_sid;
    delta->last_sid = sid;
    delta->highest_sid = sid > delta->highest_sid ? sid : delta->highest_sid;
    return 0;
}

int postings_delta_visit(const struct postings_delta *delta, uint64_t fingerprint,
                         int (*visit)(void *user, uint64_t sid, bool removed), void *user)
{
    for (const struct block *block = find(delta, fingerprint, *bucket_of(delta, fingerprint));
         block; block = find(delta, fingerprint, block->next)) {
        for (unsigned i = block->n_notes; i > 0; i--) {
            const uint64_t sid_state = block->sid_states[i - 1];
            int r = visit(user, sid_state & ~REMOVED, sid_state & REMOVED);
            if (r != 0)
                return r;
        }
    }
    return 0;
}

struct state {
    uint64_t sid;
    bool removed;
};

static int take_state(void *user, uint64_t sid, bool removed)
{
    struct state *state = user;
    if (sid == state->sid)
        state->removed = removed;
    return sid == state->sid;
}

/* Looks at all notes of the fingerprint behind that one. */
static bool is_removed(const struct postings_delta *delta, uint64_t fingerprint, uint64_t sid)
{
    struct state state = {.sid = sid};
    postings_delta_visit(delta, fingerprint, take_state, &state);
    return state.removed;
}

static int compare(const void *a, const void *b)
{
    const struct posting *x = a, *y = b;
    if (x->fingerprint != y->fingerprint)
        return x->fingerprint < y->fingerprint ? -1 : 1;
    uint64_t i = x->sid_state & ~REMOVED, j = y->sid_state & ~REMOVED;
    return (i > j) - (i < j);
}

enum { DIGIT_BITS = 11, N_PASSES = 6, N_DIGITS = 1 << DIGIT_BITS };

static unsigned digit_of(const struct posting *posting, bool by_sid, unsigned shift)
{
    const uint64_t number = by_sid ? posting->sid_state & ~REMOVED : posting->fingerprint;
    return (unsigned)(number >> shift) % N_DIGITS;
}

/* By fingerprint or by sid, in the order they are in where it is the same: digit by digit, the
 * lowest first; an even number of passes. */
static void sort_by(bool by_sid, struct posting *postings, struct posting *scratch, size_t n,
                    unsigned n_passes)
{
    for (unsigned pass = 0; pass < n_passes; pass++) {
        uint32_t begin[N_DIGITS + 1] = {0};
        unsigned shift = pass * DIGIT_BITS;
        for (size_t i = 0; i < n; i++)
            begin[digit_of(&postings[i], by_sid, shift) + 1]++;
        for (unsigned digit = 1; digit <= N_DIGITS; digit++)
            begin[digit] += begin[digit - 1];
        for (size_t i = 0; i < n; i++)
            scratch[begin[digit_of(&postings[i], by_sid, shift)]++] = postings[i];
        struct posting *sorted = scratch;
        scratch = postings;
        postings = sorted;
    }
}

/* The latest note of a posting behind the others. */
static void sort(const struct postings_delta *delta, struct posting *postings,
                 struct posting *scratch)
{
    unsigned n_passes = 2;
    while (n_passes < N_PASSES && delta->highest_sid >> n_passes * DIGIT_BITS)
        n_passes += 2;
    if (delta->descends) /* else documents only came */
        sort_by(true, postings, scratch, delta->n_notes, n_passes);
    sort_by(false, postings, scratch, delta->n_notes, N_PASSES);
}

/* All notes; those of a fingerprint in the order they came in. */
static void take_notes(const struct postings_delta *delta, struct posting *postings)
{
    for (size_t i = 0, n = 0; i < delta->n_pieces; i++) {
        const struct piece *piece = delta->pieces[i];
        for (size_t at = 0; at < piece->n_words;) {
            const struct block *block = (const struct block *)&piece->words[at];
            for (unsigned k = 0; k < block->n_notes; k++)
                postings[n++] = (struct posting){block->fingerprint, block->sid_states[k]};
            at += sizeof(*block) / sizeof(uint64_t) + block->capacity;
        }
    }
}

int postings_run_init(struct postings_run *run, const struct postings_delta *delta)
{
    _cleanup_free_ struct posting *scratch = NULL;
    struct posting *postings = malloc((delta->n_notes + 1) * sizeof(*postings));
    if (!postings)
        return -ENOMEM;
    take_notes(delta, postings);
    scratch = malloc((delta->n_notes + 1) * sizeof(*scratch));
    if (scratch)
        sort(delta, postings, scratch);
    else
        qsort(postings, delta->n_notes, sizeof(*postings), compare);
    *run = (struct postings_run){delta, postings, delta->n_notes, 0, scratch != NULL};
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
    const struct posting *latest = posting;
    for (; run->at < run->n_postings && compare(posting, &run->postings[run->at]) == 0; run->at++)
        latest = &run->postings[run->at];
    *ret_fingerprint = posting->fingerprint;
    *ret_sid = posting->sid_state & ~REMOVED;
    *ret_removed = latest == posting || run->is_latest_last
                       ? latest->sid_state & REMOVED
                       : is_removed(run->delta, *ret_fingerprint, *ret_sid);
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
