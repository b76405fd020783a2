/* Notes are collected as they come, newest first. Only lists with removals need to be put in order:
 * additions alone cannot contradict each other nor the store. */
#include "engine/index/postings/noted_postings.h"

#include <errno.h>
#include <stdlib.h>

#include "base/room.h"

struct noted_posting {
    uint64_t sid;
    uint32_t age; /* smaller is later */
    bool removed;
};

int noted_postings_init(struct noted_postings *noted, size_t n_lists)
{
    *noted = (struct noted_postings){.n_lists = n_lists};
    noted->begin = calloc(n_lists + 1, sizeof(*noted->begin));
    noted->removals = calloc(n_lists + 1, sizeof(*noted->removals));
    return noted->begin && noted->removals ? 0 : -ENOMEM;
}

void noted_postings_done(struct noted_postings *noted)
{
    free(noted->notes);
    free(noted->begin);
    free(noted->removals);
    *noted = (struct noted_postings){0};
}

static int take_note(void *user, uint64_t sid, bool removed)
{
    struct noted_postings *noted = user;

    if (!MAKE_ROOM(noted->notes, noted->capacity, noted->n_notes + 1))
        return -ENOMEM;
    noted->notes[noted->n_notes] = (struct noted_posting){sid, (uint32_t)noted->n_notes, removed};
    noted->n_notes++;
    noted->removals[noted->at] |= removed;
    return noted->most && noted->n_notes - noted->begin[noted->at] > noted->most;
}

int noted_postings_collect(struct noted_postings *noted, uint64_t fingerprint,
                           const struct postings_delta *const deltas[], size_t n_deltas,
                           size_t most)
{
    int r = 0;

    noted->most = most;
    for (size_t i = 0; i < n_deltas && r == 0; i++)
        if (deltas[i])
            r = postings_delta_visit(deltas[i], fingerprint, take_note, noted);
    noted->begin[++noted->at] = noted->n_notes;
    return r < 0 ? r : 0;
}

size_t noted_postings_count(const struct noted_postings *noted, size_t i)
{
    return noted->begin[i + 1] - noted->begin[i];
}

static int compare(const void *a, const void *b)
{
    const struct noted_posting *x = a, *y = b;
    if (x->sid != y->sid)
        return x->sid < y->sid ? -1 : 1;
    return (x->age > y->age) - (x->age < y->age);
}

/* Put notes in order of sid, and let the latest of a sid stand for all of them. */
static void settle(struct noted_posting *notes, size_t n)
{
    qsort(notes, n, sizeof(*notes), compare);
    for (size_t i = 1; i < n; i++)
        if (notes[i].sid == notes[i - 1].sid)
            notes[i].removed = notes[i - 1].removed;
}

void noted_postings_settle(struct noted_postings *noted)
{
    for (size_t i = 0; i < noted->n_lists; i++)
        if (noted->removals[i])
            settle(noted->notes + noted->begin[i], noted_postings_count(noted, i));
}

int noted_postings_take_added(const struct noted_postings *noted, size_t i,
                              struct number_vector *sids)
{
    /* Most were noted once: to sort them once, behind this, is enough. */
    int r = number_vector_make_room(sids, noted_postings_count(noted, i));

    for (size_t j = noted->begin[i]; r == 0 && j < noted->begin[i + 1]; j++)
        if (!noted->notes[j].removed)
            r = number_vector_push(sids, noted->notes[j].sid);
    return r;
}

static int compare_sid(const void *a, const void *b)
{
    const uint64_t sid = *(const uint64_t *)a, other = ((const struct noted_posting *)b)->sid;
    return (sid > other) - (sid < other);
}

bool noted_postings_hide(const struct noted_postings *noted, size_t i, uint64_t sid)
{
    if (!noted->removals[i])
        return false;
    const struct noted_posting *note =
        bsearch(&sid, noted->notes + noted->begin[i], noted_postings_count(noted, i), sizeof(*note),
                compare_sid);
    return note && note->removed; /* all notes of a sid say the same */
}
