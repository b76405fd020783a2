/* Comparisons are made for up to 128 documents at once, each with a cursor that goes through the
 * documents before it in its list. In a round every cursor advances, by filters and sets alone, to
 * the next document that it must be compared with, and asks the disk for the two sketches; then all
 * these pairs are compared. The disk so reads many sketches at a time, and no thread waits for one.
 *
 * Example: in the list 1 2 3 the cursors of 2 and 3 advance to 1. Both pairs are compared in one
 * round; if 2 and 3 resemble 1, the next round finds 3 and 2 in one set and ends.
 *
 * Cost: the filters take 72 bytes a look; sketches are read once while there is room, else each
 * time. Measurements are in docs/BENCHMARKS.md: a sketch that the disk is asked for alone takes 9
 * us of processor time, of which a third is going to sleep and waking up.
 *
 * Left out: asynchronous reads. The page cache serves as their buffer, and needs no other limit.
 */
#include "engine/cluster/pairs/comparisons.h"

#include <errno.h>

#include "engine/cluster/large/large_array.h"
#include "engine/cluster/pairs/resembling_pairs.h"

enum { AHEAD = 8, OF_HELD = 0, OF_CURSORS = 1 };

/* The most documents that are held at a time: those of several short lists together, or of a long
 * one. */
static size_t most_held(size_t of_one)
{
    return of_one > COMPARISONS_AT_ONCE ? of_one : COMPARISONS_AT_ONCE;
}

uint64_t comparisons_bytes(size_t of_one, size_t longest_sketch_bytes)
{
    const struct comparisons *comparisons;
    size_t each =
        sizeof(*comparisons->held) + sizeof(*comparisons->filters) + sizeof(*comparisons->roots);
    return sizeof(*comparisons) + most_held(of_one) * each + 2 * (uint64_t)longest_sketch_bytes;
}

int comparisons_init(const struct linking *linking, const struct refused_pairs *refused,
                     struct list_counts *counts, struct comparisons *ret_comparisons)
{
    struct comparisons *comparisons = ret_comparisons;
    size_t n = most_held(linking->most_held);
    *comparisons = (struct comparisons){
        .linking = linking,
        .scan = overlap_scan_of(kernel_in_use()),
        .refused = refused,
        .counts = counts,
        .most_held = n,
        .held = large_array_new(n * sizeof(struct held_document)),
        .filters = large_array_new(n * sizeof(struct overlap_filter)),
        .roots = large_array_new(n * sizeof(uint32_t)),
        .spare_bytes = sketch_file_longest_bytes(linking->sketches),
    };
    bool is_there = comparisons->held && comparisons->filters && comparisons->roots;
    for (unsigned i = 0; i < 2; i++) {
        struct byte_room *room = &comparisons->sketches[i];
        room->room = linking->sketch_bytes / 16 * 8;
        room->bytes = large_array_new(room->room);
        comparisons->spare[i] = large_array_new(comparisons->spare_bytes);
        is_there &= room->bytes && comparisons->spare[i];
    }
    if (!is_there)
        comparisons_done(comparisons);
    return is_there ? 0 : -ENOMEM;
}

void comparisons_done(struct comparisons *comparisons)
{
    size_t n = comparisons->most_held;
    large_array_free(comparisons->held, n * sizeof(*comparisons->held));
    large_array_free(comparisons->filters, n * sizeof(*comparisons->filters));
    large_array_free(comparisons->roots, n * sizeof(*comparisons->roots));
    for (unsigned i = 0; i < 2; i++) {
        large_array_free(comparisons->sketches[i].bytes, comparisons->sketches[i].room);
        large_array_free(comparisons->spare[i], comparisons->spare_bytes);
    }
    *comparisons = (struct comparisons){0};
}

/* -- sketches -- */

static uint32_t document_of(const struct comparisons *comparisons, const struct link_cursor *cursor,
                            uint32_t at)
{
    return comparisons->lists[cursor->list].documents[at];
}

/* The document that is at a place of the cursor's list, if it is held; or NULL. */
static struct held_document *held_at(const struct comparisons *comparisons,
                                     const struct link_cursor *cursor, uint32_t at)
{
    const struct compared_list *list = &comparisons->lists[cursor->list];
    return at < list->n_held ? &comparisons->held[list->held_begin + at] : NULL;
}

/* Returns 1 when there was room for the sketch and it was read, 0 when not, or an error. */
static int read_into(struct comparisons *comparisons, unsigned which, uint32_t document,
                     struct min_sketch *ret_sketch)
{
    const struct sketch_file *file = comparisons->linking->sketches;
    struct byte_room *room = &comparisons->sketches[which];
    size_t size = sketch_file_in_memory(file, document) ? 0 : sketch_file_bytes(file, document);
    if (room->room - room->n < size)
        return 0;
    int r = sketch_file_read(file, document, room->bytes + room->n, ret_sketch);
    room->n += size;
    return r < 0 ? r : 1;
}

/* The sketch of a held document, or of the cursor's own document, which may be held, too. A sketch
 * for which there is no room is read each time. */
static int get_sketch(struct comparisons *comparisons, struct link_cursor *cursor, uint32_t at,
                      struct min_sketch *ret_sketch)
{
    bool is_own = at == cursor->at;
    uint32_t document = document_of(comparisons, cursor, at);
    struct held_document *held = held_at(comparisons, cursor, at);
    int r = 0;
    if (held && held->sketch.n_values == 0)
        r = read_into(comparisons, OF_HELD, document, &held->sketch);
    if (r >= 0 && held && held->sketch.n_values) {
        *ret_sketch = held->sketch;
        return 0;
    }
    if (r == 0 && is_own && cursor->sketch.n_values == 0)
        r = read_into(comparisons, OF_CURSORS, document, &cursor->sketch);
    if (r >= 0 && is_own && cursor->sketch.n_values) {
        *ret_sketch = cursor->sketch;
        return 0;
    }
    return r < 0 ? r
                 : sketch_file_read(comparisons->linking->sketches, document,
                                    comparisons->spare[is_own ? OF_CURSORS : OF_HELD], ret_sketch);
}

static void ask_for(const struct comparisons *comparisons, struct link_cursor *cursor, uint32_t at)
{
    struct held_document *held = held_at(comparisons, cursor, at);
    bool *is_asked_for = held ? &held->is_asked_for : &cursor->is_asked_for;
    if (!*is_asked_for)
        sketch_file_ask_for(comparisons->linking->sketches, document_of(comparisons, cursor, at));
    *is_asked_for = true;
}

/* -- comparing -- */

/* Every document of the cursor's list that had one of the two roots gets the new one. */
static void merge_roots(struct comparisons *comparisons, struct link_cursor *cursor,
                        uint32_t other_root, uint32_t root)
{
    const struct compared_list *list = &comparisons->lists[cursor->list];
    uint32_t *roots = comparisons->roots + list->held_begin, old = cursor->root;
    for (size_t i = 0; i < list->n_held; i++)
        roots[i] = roots[i] == old || roots[i] == other_root ? root : roots[i];
    cursor->root = root;
}

static uint32_t root_at(const struct comparisons *comparisons, const struct link_cursor *cursor,
                        uint32_t at)
{
    return comparisons->roots[comparisons->lists[cursor->list].held_begin + at];
}

/* True when two documents are of one cluster by now, or are known not to resemble each other. */
static bool is_decided(struct comparisons *comparisons, struct link_cursor *cursor)
{
    struct union_find *sets = comparisons->linking->sets;
    uint32_t a = document_of(comparisons, cursor, cursor->at),
             b = document_of(comparisons, cursor, cursor->other), root = union_find_root(sets, a);
    if (root == union_find_root(sets, b)) {
        merge_roots(comparisons, cursor, root_at(comparisons, cursor, cursor->other), root);
        return true;
    }
    return refused_pairs_has(comparisons->refused, a, b);
}

/* A cursor goes on to the next document that it must be compared with. Returns false when there is
 * none. */
static bool advance(struct comparisons *comparisons, struct link_cursor *cursor)
{
    const struct linking *linking = comparisons->linking;
    const struct compared_list *list = &comparisons->lists[cursor->list];
    uint32_t n_before = cursor->at < list->n_held ? cursor->at : list->n_held;
    while (cursor->next < n_before) {
        cursor->next = (uint32_t)comparisons->scan(
            &cursor->filter, cursor->root, comparisons->filters + list->held_begin,
            comparisons->roots + list->held_begin, cursor->next, n_before, linking->sketches->s,
            linking->containment > 0 ? 0 : linking->threshold, &comparisons->counts->n_candidates);
        if (cursor->next == n_before)
            return false;
        cursor->other = cursor->next++;
        if (!is_decided(comparisons, cursor))
            return true;
    }
    return false;
}

static bool is_contained(const struct min_sketch *a, const struct min_sketch *b, double at_least)
{
    struct estimate estimate;
    return min_sketch_containment(a, b, &estimate) == 0 && estimate.value >= at_least;
}

static bool are_joined(const struct linking *linking, const struct min_sketch *a,
                       const struct min_sketch *b)
{
    struct estimate estimate;
    if (linking->threshold < 1 && min_sketch_reaches(a, b, linking->threshold, &estimate) == 1)
        return true;
    return linking->containment > 0 &&
           (is_contained(a, b, linking->containment) || is_contained(b, a, linking->containment));
}

/* A pair is compared once, whatever comes of it, as far as pairs are remembered. */
static int keep_pair(struct comparisons *comparisons, uint32_t a, uint32_t b,
                     const struct min_sketch sketches[2])
{
    struct estimate estimate;
    const struct linking *linking = comparisons->linking;
    refused_pairs_add(comparisons->refused, a, b);
    if (min_sketch_reaches(&sketches[0], &sketches[1], linking->threshold, &estimate) != 1 ||
        fmin(estimate.value, RATIO_BELOW_ONE) < linking->threshold)
        return 0;
    return resembling_pair_add(comparisons->pairs, linking->number_bits, a, b, estimate.value);
}

static int compare(struct comparisons *comparisons, struct link_cursor *cursor)
{
    const struct linking *linking = comparisons->linking;
    uint32_t a = document_of(comparisons, cursor, cursor->at),
             b = document_of(comparisons, cursor, cursor->other);
    struct min_sketch sketches[2];
    if (is_decided(comparisons, cursor)) /* by one that was compared meanwhile */
        return 0;
    int r = get_sketch(comparisons, cursor, cursor->at, &sketches[0]);
    if (r == 0)
        r = get_sketch(comparisons, cursor, cursor->other, &sketches[1]);
    if (r < 0)
        return r;
    comparisons->counts->n_compared++;
    if (comparisons->pairs)
        return keep_pair(comparisons, a, b, sketches);
    if (!are_joined(linking, &sketches[0], &sketches[1])) {
        refused_pairs_add(comparisons->refused, a, b);
        return 0;
    }
    union_find_join(linking->sets, a, b);
    merge_roots(comparisons, cursor, root_at(comparisons, cursor, cursor->other),
                union_find_root(linking->sets, a));
    return 0;
}

/* All cursors run to their ends, in rounds: those that have another document to be compared with
 * ask for the sketches, then all these pairs are compared. */
static int run_cursors(struct comparisons *comparisons)
{
    bool asks = sketch_file_is_on_disk(comparisons->linking->sketches);
    int r = 0;
    while (r == 0 && comparisons->n_cursors > 0) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < comparisons->n_cursors; i++) {
            struct link_cursor *cursor = &comparisons->cursors[i];
            if (!advance(comparisons, cursor))
                continue;
            if (asks) {
                ask_for(comparisons, cursor, cursor->at);
                ask_for(comparisons, cursor, cursor->other);
            }
            if (n != i)
                comparisons->cursors[n] = *cursor;
            n++;
        }
        comparisons->n_cursors = n;
        for (uint32_t i = 0; r == 0 && i < n; i++)
            r = compare(comparisons, &comparisons->cursors[i]);
    }
    comparisons->n_cursors = 0;
    comparisons->sketches[OF_CURSORS].n = 0;
    return r;
}

/* -- lists -- */

/* A document of a list gets a cursor, and is held where others are compared with it. All documents
 * before it have been taken. */
static int take_document(struct comparisons *comparisons, uint32_t number, uint32_t at)
{
    const struct compared_list *list = &comparisons->lists[number];
    const struct linking *linking = comparisons->linking;
    struct link_cursor *cursor = &comparisons->cursors[comparisons->n_cursors];
    *cursor = (struct link_cursor){.list = number, .at = at};
    if (at + AHEAD < list->n)
        sketch_file_prefetch_filter(linking->sketches, list->documents[at + AHEAD]);
    int r = sketch_file_filter(linking->sketches, list->documents[at], &cursor->filter);
    if (r < 0)
        return r;
    cursor->root = union_find_root(linking->sets, list->documents[at]);
    if (at < list->n_held) {
        comparisons->roots[list->held_begin + at] = cursor->root;
        comparisons->filters[list->held_begin + at] = cursor->filter;
        comparisons->held[list->held_begin + at] = (struct held_document){0};
    }
    comparisons->n_cursors += at > 0;
    return comparisons->n_cursors == COMPARISONS_AT_ONCE ? run_cursors(comparisons) : 0;
}

int comparisons_flush(struct comparisons *comparisons)
{
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < comparisons->n_lists; i++)
        for (uint32_t at = 0; r == 0 && at < comparisons->lists[i].n; at++)
            r = take_document(comparisons, i, at);
    if (r == 0)
        r = run_cursors(comparisons);
    comparisons->n_lists = comparisons->n_documents = 0;
    comparisons->sketches[OF_HELD].n = 0;
    return r;
}

int comparisons_add(struct comparisons *comparisons, const uint32_t *list, size_t n, size_t n_held)
{
    bool is_short = n <= COMPARISONS_AT_ONCE;
    int r = 0;
    if (!is_short || comparisons->n_documents + n > COMPARISONS_AT_ONCE)
        r = comparisons_flush(comparisons);
    if (r < 0)
        return r;
    uint32_t held_begin = 0;
    if (comparisons->n_lists) {
        const struct compared_list *last = &comparisons->lists[comparisons->n_lists - 1];
        held_begin = last->held_begin + last->n_held;
    }
    uint32_t *documents = comparisons->documents + comparisons->n_documents;
    for (size_t i = 0; is_short && i < n; i++)
        documents[i] = list[i];
    comparisons->lists[comparisons->n_lists++] = (struct compared_list){
        is_short ? documents : list, (uint32_t)n, (uint32_t)n_held, held_begin};
    comparisons->n_documents += is_short ? (uint32_t)n : 0;
    return is_short ? 0 : comparisons_flush(comparisons);
}
