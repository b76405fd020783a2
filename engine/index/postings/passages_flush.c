/* Notes of passages become a run: sorted by fingerprint, they go into rows (passages_rows.c). They
 * are sorted by their digits, 10 bits at a time, which keeps the order of those of one fingerprint:
 * of an addition and a removal the later one counts. */
#include "engine/index/postings/passages_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/index/tables/meta.h"
#include "engine/index/tables/schema.h"

/* Rows of notes, and how many of them go in one write. Documents of a few words have a row, and no
 * notes. */
enum { NOTED_MOST = 1 << 16, NOTED_AT_ONCE = 1 << 12 };

bool passages_flush_due(const struct passages *passages)
{
    return passages->n_notes >= PASSAGES_FLUSH_AFTER || passages->noted.n_numbers >= NOTED_MOST;
}

/* By fingerprint, in the order they are in where it is the same: digit by digit, the lowest first.
 * Returns where they are then. */
static struct note *sort_notes(struct note *notes, struct note *scratch, size_t n)
{
    enum { DIGIT_BITS = 10, N_PASSES = PASSAGE_FINGERPRINT_BITS / DIGIT_BITS };
    enum { N_DIGITS = 1 << DIGIT_BITS };
    for (unsigned pass = 0; pass < N_PASSES; pass++) {
        size_t begin[N_DIGITS + 1] = {0};
        const unsigned shift = pass * DIGIT_BITS;
        for (size_t i = 0; i < n; i++)
            begin[(notes[i].fingerprint >> shift) % N_DIGITS + 1]++;
        for (unsigned digit = 1; digit <= N_DIGITS; digit++)
            begin[digit] += begin[digit - 1];
        for (size_t i = 0; i < n; i++)
            scratch[begin[(notes[i].fingerprint >> shift) % N_DIGITS]++] = notes[i];
        struct note *sorted = scratch;
        scratch = notes;
        notes = sorted;
    }
    return notes;
}

struct sorted {
    const struct note *notes;
    size_t n_notes, at;
};

static int next_note(void *user, struct passages_entry *ret_entry)
{
    struct sorted *sorted = user;
    if (sorted->at == sorted->n_notes)
        return 0;
    const struct note *note = &sorted->notes[sorted->at++];
    *ret_entry = (struct passages_entry){note->fingerprint, note->sid_state & ~PASSAGES_REMOVED, 0,
                                         note->sid_state & PASSAGES_REMOVED};
    return 1;
}

static int write_sorted(struct passages *passages, struct sorted *sorted)
{
    _cleanup_free_ struct passages_rows *rows = malloc(sizeof(*rows));
    unsigned n_tries = 0;
    if (!rows)
        return -ENOMEM;
    rows->next = next_note;
    rows->user = sorted;
    rows->run = passages->next_run;
    int r = meta_put_number(passages->kv, PASSAGES_RUNS_META, passages->next_run + 1);
    if (r < 0)
        return r;
    do {
        sorted->at = 0;
        r = passages_write_rows(passages->kv, rows);
    } while (kv_retry_wanted(r, &n_tries));
    passages->next_run += r == 0;
    return r;
}

/* The number of a run is taken in the store before it is written: what a crash leaves of one is
 * older than what is noted again. The notes are this thread's to change. */
static int write_run(struct passages *passages)
{
    const size_t n = passages->n_notes;
    _cleanup_free_ struct note *notes = malloc(n * sizeof(*notes)),
                               *scratch = malloc(n * sizeof(*scratch));
    if (!notes || !scratch)
        return -ENOMEM;
    memcpy(notes, passages->notes, n * sizeof(*notes));
    struct sorted sorted = {sort_notes(notes, scratch, n), n, 0};
    return write_sorted(passages, &sorted);
}

static int drop_noted(struct passages *passages)
{
    struct number_vector *noted = &passages->noted;
    while (noted->n_numbers > 0) {
        _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
        size_t left = noted->n_numbers < NOTED_AT_ONCE ? 0 : noted->n_numbers - NOTED_AT_ONCE;
        if (!batch)
            return -ENOMEM;
        for (size_t i = left; i < noted->n_numbers; i++) {
            uint8_t key[8];
            kv_batch_delete(batch, TABLE_PASSAGES_OF, passages_number_key(key, noted->numbers[i]));
        }
        int r = kv_apply(passages->kv, batch);
        if (r < 0)
            return r;
        noted->n_numbers = left;
    }
    return 0;
}

static void drop_notes(struct passages *passages)
{
    struct postings_delta *delta;
    {
        LOCKED(&passages->lock);
        delta = passages->delta;
        passages->delta = NULL;
        passages->n_notes = passages->n_sought = 0;
    }
    postings_delta_free(delta);
}

int passages_flush(struct passages *passages)
{
    int r = passages->n_notes ? write_run(passages) : 0;
    if (r == 0)
        r = drop_noted(passages);
    if (r == 0)
        drop_notes(passages);
    return r;
}
