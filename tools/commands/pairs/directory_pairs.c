#include "tools/commands/pairs/directory_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file_key.h"
#include "base/room.h"

enum { NONE = DIRECTORY_PAIRS_NONE, LOOK_EVERY = 4096 };

int directory_pairs_look(struct directory_pairs *pairs)
{
    const struct directory_pairs_input *input = pairs->input;
    const bool looks = pairs->n_steps++ % LOOK_EVERY == 0 && input->stop;
    return looks && input->stop(input->user) ? -ECANCELED : 0;
}

/* -- directories -- */

static bool is_in(const struct directory_pairs *pairs, uint32_t inner, uint32_t outer)
{
    return inner >= outer && inner < pairs->directories[outer].end;
}

bool directory_pairs_apart(const struct directory_pairs *pairs, uint32_t a, uint32_t b)
{
    return !is_in(pairs, a, b) && !is_in(pairs, b, a);
}

static int count_below(struct directory_pairs *pairs)
{
    const struct directory_pairs_input *input = pairs->input;
    const uint32_t n = input->n_directories;
    struct paired_directory *all = pairs->directories = calloc(n + (size_t)1, sizeof(*all));
    if (!all)
        return -ENOMEM;
    for (uint32_t i = 0; i < input->n_documents; i++) {
        const enum alike_kind kind = alike_kind(input->alike, i);
        all[input->directories[i]].n_documents += kind == ALIKE_ALONE || kind == ALIKE_SOME;
    }
    for (uint32_t i = 0; i < n; i++) {
        all[i].first = NONE;
        all[i].end = i + 1;
        all[i].depth = i ? all[input->parents[i]].depth + 1 : 0;
    }
    for (uint32_t i = n; i-- > 1;) {
        struct paired_directory *parent = &all[input->parents[i]];
        parent->n_documents += all[i].n_documents;
        if (parent->end < all[i].end)
            parent->end = all[i].end;
    }
    return 0;
}

/* -- pairs -- */

/* Others make directories, and could make those that fall on one slot. */
static uint64_t slot_of(const struct directory_pairs *pairs, uint32_t a, uint32_t b)
{
    const uint64_t mixed = (((uint64_t)a << 32 | b) ^ file_key_secret) * 0x9e3779b97f4a7c15;
    return (mixed ^ mixed >> 32) & (pairs->n_slots - 1);
}

/* The slot of an entry, or the one it would have. */
static uint32_t *find(const struct directory_pairs *pairs, uint32_t a, uint32_t b)
{
    for (uint64_t i = slot_of(pairs, a, b);; i = (i + 1) & (pairs->n_slots - 1)) {
        uint32_t *slot = &pairs->slots[i];
        const struct directory_pair *entry = *slot == NONE ? NULL : &pairs->entries[*slot];
        if (!entry || (entry->a == a && entry->b == b))
            return slot;
    }
}

static int grow_slots(struct directory_pairs *pairs)
{
    if (pairs->n_entries < pairs->n_slots / 2)
        return 0;
    const uint64_t n = pairs->n_slots ? 2 * pairs->n_slots : 1024;
    free(pairs->slots);
    pairs->slots = malloc(n * sizeof(*pairs->slots));
    if (!pairs->slots)
        return -ENOMEM;
    memset(pairs->slots, 0xff, n * sizeof(*pairs->slots)); /* NONE */
    pairs->n_slots = n;
    for (uint32_t i = 0; i < pairs->n_entries; i++)
        *find(pairs, pairs->entries[i].a, pairs->entries[i].b) = i;
    return 0;
}

static int count(struct directory_pairs *pairs, uint32_t a, uint32_t b, uint32_t n_common,
                 uint64_t bytes, uint32_t *ret_entry)
{
    int r = grow_slots(pairs);
    if (r < 0)
        return r;
    uint32_t *slot = find(pairs, a, b);
    if (*slot == NONE) {
        if (pairs->n_entries == 2 * DIRECTORY_PAIRS_MOST)
            return -EOVERFLOW;
        if (!MAKE_ROOM(pairs->entries, pairs->entries_room, pairs->n_entries + (size_t)1))
            return -ENOMEM;
        *slot = pairs->n_entries++;
        pairs->entries[*slot] = (struct directory_pair){.a = a,
                                                        .b = b,
                                                        .next_of_a = pairs->directories[a].first,
                                                        .first_below = NONE,
                                                        .sibling = NONE};
        pairs->directories[a].first = *slot;
    }
    pairs->entries[*slot].n_common += n_common;
    pairs->entries[*slot].common_bytes += bytes;
    *ret_entry = *slot;
    return 0;
}

/* Documents of one directory and one set: the directories that have one like them are those of the
 * set, and all above, each once. */
static int count_documents(struct directory_pairs *pairs, uint32_t directory, uint32_t set,
                           uint32_t n_documents, uint64_t bytes)
{
    uint32_t n, entry;
    const uint32_t *numbers = alike_directories(pairs->input->alike, set, &n);
    pairs->round++;
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < n; i++)
        for (uint32_t b = numbers[i]; r == 0 && directory_pairs_apart(pairs, directory, b);
             b = pairs->input->parents[b]) {
            if (pairs->directories[b].seen == pairs->round)
                break;
            pairs->directories[b].seen = pairs->round;
            r = count(pairs, directory, b, n_documents, bytes, &entry);
            if (r == 0)
                r = directory_pairs_look(pairs);
        }
    return r;
}

static int compare_places(const void *a, const void *b, void *user)
{
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct directory_pairs_input *input = user;
    if (input->directories[i] != input->directories[j])
        return input->directories[i] < input->directories[j] ? -1 : 1;
    const uint32_t x = alike_set(input->alike, i), y = alike_set(input->alike, j);
    return (x > y) - (x < y);
}

static int count_all_documents(struct directory_pairs *pairs)
{
    const struct directory_pairs_input *input = pairs->input;
    _cleanup_free_ uint32_t *order = malloc((input->n_documents + (size_t)1) * sizeof(*order));
    if (!order)
        return -ENOMEM;
    uint32_t n = 0;
    for (uint32_t i = 0; i < input->n_documents; i++)
        if (alike_kind(input->alike, i) == ALIKE_SOME)
            order[n++] = i;
    qsort_r(order, n, sizeof(*order), compare_places, (void *)input);
    int r = 0;
    for (uint32_t at = 0, end; r == 0 && at < n; at = end) {
        uint64_t bytes = 0;
        for (end = at; end < n && compare_places(&order[at], &order[end], (void *)input) == 0;
             end++)
            bytes += input->sizes[order[end]];
        r = count_documents(pairs, input->directories[order[at]],
                            alike_set(input->alike, order[at]), end - at, bytes);
    }
    return r;
}

/* Documents that are common to a directory and another are common to the one above and that, too:
 * those further down first, whose counts are whole by then. */
static int hand_up(struct directory_pairs *pairs)
{
    int r = 0;
    for (uint32_t a = pairs->input->n_directories; r == 0 && a-- > 1;) {
        const uint32_t above = pairs->input->parents[a];
        for (uint32_t i = pairs->directories[a].first, to; r == 0 && i != NONE;
             i = pairs->entries[i].next_of_a) {
            const struct directory_pair below = pairs->entries[i];
            if (!directory_pairs_apart(pairs, above, below.b))
                continue;
            r = count(pairs, above, below.b, below.n_common, below.common_bytes, &to);
            if (r < 0)
                break;
            pairs->entries[i].sibling = pairs->entries[to].first_below;
            pairs->entries[to].first_below = i;
            r = directory_pairs_look(pairs);
        }
    }
    return r;
}

uint32_t directory_pairs_find(const struct directory_pairs *pairs, uint32_t a, uint32_t b)
{
    return *find(pairs, a, b);
}

void directory_pairs_done(struct directory_pairs *pairs)
{
    free(pairs->directories);
    free(pairs->entries);
    free(pairs->slots);
    *pairs = (struct directory_pairs){0};
}

int directory_pairs_count(const struct directory_pairs_input *input,
                          struct directory_pairs *ret_pairs)
{
    _cleanup_(directory_pairs_done) struct directory_pairs pairs = {.input = input};
    int r = count_below(&pairs);
    if (r == 0)
        r = grow_slots(&pairs);
    if (r == 0)
        r = count_all_documents(&pairs);
    if (r == 0)
        r = hand_up(&pairs);
    if (r < 0)
        return r;
    *ret_pairs = pairs;
    pairs = (struct directory_pairs){0};
    return 0;
}
