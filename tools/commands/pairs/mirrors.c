#include "tools/commands/pairs/mirrors.h"

#include <errno.h>
#include <stdlib.h>

#include "base/room.h"

enum { NONE = DIRECTORY_PAIRS_NONE };

struct candidate {
    int64_t worth;
    uint32_t n_documents, depth, entry, other; /* of both; the entries of either side */
};

struct finding {
    struct directory_pairs pairs;
    const struct mirrors_least *least;
    struct candidate *candidates;
    size_t n_candidates, candidates_room;
    uint32_t *stack;
    size_t n_stack, stack_room;
};

static void finding_done(struct finding *finding)
{
    directory_pairs_done(&finding->pairs);
    free(finding->candidates);
    free(finding->stack);
}

static int compare_candidates(const void *a, const void *b, void *user)
{
    const struct candidate *x = a, *y = b;
    const struct directory_pair *entries = user, *p = &entries[x->entry], *q = &entries[y->entry];
    if (x->worth != y->worth)
        return x->worth > y->worth ? -1 : 1;
    if (x->n_documents != y->n_documents)
        return x->n_documents < y->n_documents ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth > y->depth ? -1 : 1;
    return p->a != q->a ? (p->a > q->a) - (p->a < q->a) : (p->b > q->b) - (p->b < q->b);
}

static int find_candidates(struct finding *finding)
{
    const struct mirrors_least *least = finding->least;
    for (uint32_t i = 0; i < finding->pairs.n_entries; i++) {
        const struct directory_pair *entry = &finding->pairs.entries[i];
        if (entry->a > entry->b)
            continue;
        const uint32_t other = directory_pairs_find(&finding->pairs, entry->b, entry->a);
        if (other == NONE) /* those of b are in too many directories */
            continue;
        const struct paired_directory *a = &finding->pairs.directories[entry->a],
                                      *b = &finding->pairs.directories[entry->b];
        const uint32_t n_other = finding->pairs.entries[other].n_common;
        const struct candidate candidate = {
            .worth = (int64_t)MIRRORS_UNITS * ((int64_t)entry->n_common + n_other) -
                     (int64_t)least->share * ((int64_t)a->n_documents + b->n_documents),
            .n_documents = a->n_documents + b->n_documents,
            .depth = a->depth + b->depth,
            .entry = i,
            .other = other};
        if (candidate.worth < 0 || entry->n_common < least->n_documents ||
            n_other < least->n_documents)
            continue;
        if (!MAKE_ROOM(finding->candidates, finding->candidates_room, finding->n_candidates + 1))
            return -ENOMEM;
        finding->candidates[finding->n_candidates++] = candidate;
    }
    if (finding->n_candidates)
        qsort_r(finding->candidates, finding->n_candidates, sizeof(*finding->candidates),
                compare_candidates, finding->pairs.entries);
    return 0;
}

/* The entry of a pair whose a is the smaller. */
static uint32_t entry_of(const struct finding *finding, uint32_t a, uint32_t b)
{
    return directory_pairs_find(&finding->pairs, a < b ? a : b, a < b ? b : a);
}

static int push(struct finding *finding, uint32_t entry)
{
    if (entry == NONE)
        return 0;
    if (!MAKE_ROOM(finding->stack, finding->stack_room, finding->n_stack + 1))
        return -ENOMEM;
    finding->stack[finding->n_stack++] = entry;
    return 0;
}

static int push_below(struct finding *finding, uint32_t a, uint32_t b)
{
    const struct directory_pair *entries = finding->pairs.entries;
    const uint32_t of = directory_pairs_find(&finding->pairs, a, b);
    int r = 0;
    for (uint32_t i = of == NONE ? NONE : entries[of].first_below; r == 0 && i != NONE;
         i = entries[i].sibling)
        r = push(finding, entry_of(finding, entries[i].a, b));
    return r;
}

static int push_above(struct finding *finding, uint32_t a, uint32_t b)
{
    const uint32_t above = finding->pairs.input->parents[a];
    return directory_pairs_apart(&finding->pairs, above, b)
               ? push(finding, entry_of(finding, above, b))
               : 0;
}

/* A pair that overlaps one that is reported is not reported. From the pair each of the two
 * directories goes up or down; marks are of each of these four ways apart, as behind what is marked
 * all is. On the way to a pair that has documents in common from both sides are only such, so that
 * none is missed where there is no entry. */
static int settle(struct finding *finding, uint8_t *marks, uint32_t entry, bool a_up, bool b_up)
{
    const uint8_t mark = (uint8_t)(1 << (2 * a_up + b_up));
    int r = push(finding, entry);
    while (r == 0 && finding->n_stack) {
        const uint32_t i = finding->stack[--finding->n_stack];
        if (marks[i] & mark)
            continue;
        marks[i] |= mark;
        const uint32_t a = finding->pairs.entries[i].a, b = finding->pairs.entries[i].b;
        r = a_up ? push_above(finding, a, b) : push_below(finding, a, b);
        if (r == 0)
            r = b_up ? push_above(finding, b, a) : push_below(finding, b, a);
        if (r == 0)
            r = directory_pairs_look(&finding->pairs);
    }
    return r;
}

static int settle_all(struct finding *finding, uint8_t *marks, uint32_t entry)
{
    int r = 0;
    for (unsigned way = 0; r == 0 && way < 4; way++)
        r = settle(finding, marks, entry, way & 2, way & 1);
    return r;
}

static struct mirror_side side_of(const struct finding *finding, uint32_t entry)
{
    const struct directory_pair *of = &finding->pairs.entries[entry];
    return (struct mirror_side){.directory = of->a,
                                .n_documents = finding->pairs.directories[of->a].n_documents,
                                .n_common = of->n_common,
                                .common_bytes = of->common_bytes};
}

static int compare_mirrors(const void *a, const void *b)
{
    const struct mirror_side *x = ((const struct mirror *)a)->sides,
                             *y = ((const struct mirror *)b)->sides;
    const uint64_t x_common = (uint64_t)x[0].n_common + x[1].n_common,
                   y_common = (uint64_t)y[0].n_common + y[1].n_common,
                   x_all = (uint64_t)x[0].n_documents + x[1].n_documents,
                   y_all = (uint64_t)y[0].n_documents + y[1].n_documents;
    if (x_common != y_common)
        return x_common > y_common ? -1 : 1;
    if (x_all != y_all)
        return x_all < y_all ? -1 : 1;
    for (unsigned i = 0; i < 2; i++)
        if (x[i].directory != y[i].directory)
            return x[i].directory < y[i].directory ? -1 : 1;
    return 0;
}

static int choose(struct finding *finding, struct mirror **ret_mirrors, size_t *ret_n)
{
    _cleanup_free_ uint8_t *marks = calloc(finding->pairs.n_entries + (size_t)1, 1);
    _cleanup_free_ struct mirror *mirrors = NULL;
    size_t n = 0, room = 0;
    int r = marks ? find_candidates(finding) : -ENOMEM;
    for (size_t i = 0; r == 0 && i < finding->n_candidates; i++) {
        const struct candidate *candidate = &finding->candidates[i];
        if (marks[candidate->entry])
            continue;
        if (!MAKE_ROOM(mirrors, room, n + 1))
            return -ENOMEM;
        mirrors[n++] = (struct mirror){
            {side_of(finding, candidate->entry), side_of(finding, candidate->other)}};
        r = settle_all(finding, marks, candidate->entry);
    }
    if (r < 0)
        return r;
    if (n)
        qsort(mirrors, n, sizeof(*mirrors), compare_mirrors);
    *ret_mirrors = TAKE_PTR(mirrors);
    *ret_n = n;
    return 0;
}

int mirrors_find(const struct directory_pairs_input *input, const struct mirrors_least *least,
                 struct mirror **ret_mirrors, size_t *ret_n)
{
    _cleanup_(finding_done) struct finding finding = {.least = least};
    int r = directory_pairs_count(input, &finding.pairs);
    return r == 0 ? choose(&finding, ret_mirrors, ret_n) : r;
}
