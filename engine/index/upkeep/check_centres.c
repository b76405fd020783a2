/* Clusters that have centres (cluster_centres.h): each document resembles its centre, and no centre
 * before that one; and no two centres resemble each other. By induction over their order that is
 * the one way in which they can be. Of lists of tier R so long that they may have been common
 * (long_lists.h) a centre may have been missed. Memory: some 40 bytes a document.
 */
#include <errno.h>
#include <string.h>

#include "engine/index/upkeep/check_nodes.h"
#include "engine/index/postings/long_lists.h"
#include "engine/index/tables/member.h"

struct ordered {
    uint8_t order[ORDER_BYTES];
    uint32_t number;
};

struct centres {
    struct check_nodes *nodes;
    struct ordered *ordered; /* first documents of classes, until they have ranks */
    size_t n_ordered, at;
    uint32_t *ranks;   /* by number: the place in their order */
    uint32_t *centres; /* by number: the centre's; itself in no cluster */
    bool whole;        /* long lists have been looked at, too */
};

static void centres_done(struct centres *centres)
{
    free(centres->ordered);
    free(centres->ranks);
    free(centres->centres);
}

/* -- the order -- */

static int take_order(void *user, const struct check_document *document)
{
    struct centres *centres = user;
    size_t number = centres->at++;
    if (number >= centres->nodes->sids.n_sids || centres->nodes->firsts[number] != number)
        return 0;
    struct ordered *ordered = &centres->ordered[centres->n_ordered++];
    ordered->number = (uint32_t)number;
    member_order(ordered->order, document->record);
    return 0;
}

static int compare_orders(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    return memcmp(a->order, b->order, ORDER_BYTES);
}

static int find_ranks(struct centres *centres)
{
    int r = check_each_document(centres->nodes->check, take_order, centres);
    if (r < 0)
        return r;
    if (centres->n_ordered)
        qsort(centres->ordered, centres->n_ordered, sizeof(*centres->ordered), compare_orders);
    for (size_t i = 0; i < centres->n_ordered; i++)
        centres->ranks[centres->ordered[i].number] = (uint32_t)i;
    return 0;
}

/* -- the centres: of each cluster the first -- */

static int compare_places(const void *left, const void *right, void *user)
{
    const struct centres *centres = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const uint64_t x = centres->nodes->clusters[a], y = centres->nodes->clusters[b];
    if (x != y)
        return x < y ? -1 : 1;
    return (centres->ranks[a] > centres->ranks[b]) - (centres->ranks[a] < centres->ranks[b]);
}

static int find_centres(struct centres *centres)
{
    const uint64_t *clusters = centres->nodes->clusters;
    _cleanup_free_ uint32_t *places = calloc(centres->n_ordered + 1, sizeof(*places));
    uint32_t centre = 0;
    if (!places)
        return -ENOMEM;
    for (size_t i = 0; i < centres->n_ordered; i++)
        places[i] = centres->ordered[i].number;
    if (centres->n_ordered)
        qsort_r(places, centres->n_ordered, sizeof(*places), compare_places, centres);
    for (size_t i = 0; i < centres->n_ordered; i++) {
        const uint32_t number = places[i];
        if (i == 0 || clusters[number] == 0 || clusters[number] != clusters[centre])
            centre = number;
        centres->centres[number] = centre;
    }
    return 0;
}

/* -- what must be -- */

static int check_members_of_centres(struct centres *centres)
{
    struct check_nodes *nodes = centres->nodes;
    int r = 0;
    for (size_t i = 0; r == 0 && i < nodes->sids.n_sids; i++) {
        const uint32_t first = nodes->firsts[i];
        if (check_is_underived(nodes->check, nodes->sids.sids[i]))
            continue;
        if (first != i) {
            if (nodes->clusters[i] == 0 || nodes->clusters[i] != nodes->clusters[first])
                r = check_nodes_found(nodes, i, "belongs to those that are the same");
            continue;
        }
        if (centres->centres[i] == i)
            continue;
        r = check_nodes_joined(nodes, i, centres->centres[i]);
        if (r == 0)
            r = check_nodes_found(nodes, i, "does not resemble its centre");
        r = r < 0 ? r : 0;
    }
    return r;
}

/* An earlier centre than its own. */
static int look_for_centre(struct centres *centres, uint64_t number, const uint64_t *numbers,
                           size_t n)
{
    const uint32_t *ranks = centres->ranks;
    for (size_t i = 0; i < n; i++) {
        const uint64_t other = numbers[i];
        if (centres->centres[other] != other || ranks[other] >= ranks[centres->centres[number]])
            continue;
        int r = check_nodes_joined(centres->nodes, number, other);
        if (r != 0)
            return r < 0 ? r
                         : check_nodes_found(centres->nodes, number,
                                             "belongs to a centre before its own");
    }
    return 0;
}

static int look_at_list(void *user, uint64_t *numbers, size_t n, size_t length)
{
    struct centres *centres = user;
    int r = 0;
    if (!centres->whole && length > LONG_LISTS_COMMON_FROM)
        return 0;
    for (size_t i = 0; r == 0 && i < n; i++)
        if (!check_is_underived(centres->nodes->check, centres->nodes->sids.sids[numbers[i]]))
            r = look_for_centre(centres, numbers[i], numbers, n);
    return r;
}

int check_centres(struct check_nodes *nodes)
{
    const size_t n = nodes->sids.n_sids + 1;
    _cleanup_(centres_done) struct centres centres = {
        .nodes = nodes,
        .ordered = calloc(n, sizeof(*centres.ordered)),
        .ranks = calloc(n, sizeof(*centres.ranks)),
        .centres = calloc(n, sizeof(*centres.centres)),
    };
    if (!centres.ordered || !centres.ranks || !centres.centres)
        return -ENOMEM;
    int r = find_ranks(&centres);
    if (r == 0)
        r = find_centres(&centres);
    if (r < 0 || !check_nodes_are_whole(nodes))
        return r;
    r = check_members_of_centres(&centres);
    if (r == 0)
        r = check_nodes_each_list(nodes, TABLE_TIER_R, look_at_list, &centres);
    centres.whole = true;
    if (r == 0 && (nodes->rule.containment > 0 || nodes->rule.super_shingle))
        r = check_nodes_each_list(nodes, TABLE_TIER_C, look_at_list, &centres);
    return r;
}
