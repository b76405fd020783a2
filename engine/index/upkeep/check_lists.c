/* Posting lists as --deep compares their documents. In the order of the table, which is that of
 * hashes, each list would be of documents from anywhere, and beyond what is kept of records each
 * comparison two reads. But those of one family share many lists. */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/upkeep/check_nodes.h"

enum { POSTING_KEY_BYTES = 16, KEPT_BYTES = 64 << 20, NUMBERS_MIN = 1 << 12, LISTS_MIN = 1 << 10 };

struct kept_list {
    uint32_t first, n; /* the smallest of its documents, and how many they are */
    size_t at, length; /* the others; as check_list_fn has it */
};

struct kept_lists {
    struct kept_list *lists;
    uint32_t *numbers;
    size_t n_lists, max_lists, n_numbers, max_numbers;
};

struct list_walk {
    struct check_nodes *nodes;
    struct sid_vector numbers; /* of the list that is being read, or visited */
    size_t length;
    uint64_t fingerprint;
    check_list_fn visit;
    void *user;
    struct kept_lists kept;
    /* Tier C is read beside tier R, which has postings of V as well: its next one, while it has
     * one. */
    struct table_walk beside;
    uint64_t beside_fingerprint, beside_sid;
    bool has_beside;
};

static void list_walk_done(struct list_walk *walk)
{
    free(walk->kept.lists);
    free(walk->kept.numbers);
    sid_vector_done(&walk->numbers);
    table_walk_done(&walk->beside);
}

/* -- lists that are kept until there are many -- */

static int make_room(struct kept_lists *kept, size_t n_numbers)
{
    if (kept->n_lists == kept->max_lists) {
        size_t max = kept->max_lists ? 2 * kept->max_lists : LISTS_MIN;
        struct kept_list *larger = reallocarray(kept->lists, max, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        kept->lists = larger;
        kept->max_lists = max;
    }
    if (kept->n_numbers + n_numbers > kept->max_numbers) {
        size_t max = kept->max_numbers ? 2 * kept->max_numbers : NUMBERS_MIN;
        while (max < kept->n_numbers + n_numbers)
            max *= 2;
        uint32_t *larger = reallocarray(kept->numbers, max, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        kept->numbers = larger;
        kept->max_numbers = max;
    }
    return 0;
}

static int compare_lists(const void *left, const void *right)
{
    const struct kept_list *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static int visit_kept(struct list_walk *walk)
{
    struct kept_lists *kept = &walk->kept;
    int r = 0;
    if (kept->n_lists)
        qsort(kept->lists, kept->n_lists, sizeof(*kept->lists), compare_lists);
    for (size_t i = 0; r == 0 && i < kept->n_lists; i++) {
        const struct kept_list *list = &kept->lists[i];
        walk->numbers.n_sids = 0;
        for (size_t k = 0; r == 0 && k < list->n; k++)
            r = sid_vector_push(&walk->numbers, kept->numbers[list->at + k]);
        if (r == 0)
            r = walk->visit(walk->user, walk->numbers.sids, list->n, list->length);
    }
    kept->n_lists = kept->n_numbers = 0;
    return r;
}

static bool is_full(const struct kept_lists *kept, size_t n_numbers)
{
    return (kept->n_lists + 1) * sizeof(*kept->lists) +
               (kept->n_numbers + n_numbers) * sizeof(*kept->numbers) >
           KEPT_BYTES;
}

static int keep(struct list_walk *walk)
{
    struct kept_lists *kept = &walk->kept;
    const struct sid_vector *numbers = &walk->numbers;
    int r = make_room(kept, numbers->n_sids);
    if (r < 0)
        return r;
    struct kept_list *list = &kept->lists[kept->n_lists++];
    *list = (struct kept_list){.first = (uint32_t)numbers->sids[0],
                               .n = (uint32_t)numbers->n_sids,
                               .at = kept->n_numbers,
                               .length = walk->length};
    for (size_t i = 0; i < numbers->n_sids; i++) {
        const uint32_t number = (uint32_t)numbers->sids[i];
        kept->numbers[kept->n_numbers++] = number;
        if (number < list->first)
            list->first = number;
    }
    return 0;
}

/* -- reading them -- */

static int end_list(struct list_walk *walk)
{
    const size_t n = walk->numbers.n_sids;
    int r = 0;
    if (n > 1 && n * sizeof(*walk->kept.numbers) > KEPT_BYTES / 2) {
        r = walk->visit(walk->user, walk->numbers.sids, n, walk->length);
    } else if (n > 1) {
        struct sid_vector numbers = walk->numbers;
        if (is_full(&walk->kept, n)) {
            walk->numbers = (struct sid_vector){0};
            r = visit_kept(walk);
            sid_vector_done(&walk->numbers);
            walk->numbers = numbers;
        }
        if (r == 0)
            r = keep(walk);
    }
    walk->numbers.n_sids = walk->length = 0;
    return r;
}

static int take_sid(struct list_walk *walk, uint64_t sid)
{
    size_t number;
    walk->length++;
    if (!check_nodes_find(walk->nodes, sid, &number) || walk->nodes->firsts[number] != number)
        return 0;
    return sid_vector_push(&walk->numbers, number);
}

static int next_beside(struct list_walk *walk)
{
    struct kv_entry row = {0};
    int r;
    do
        r = table_walk_next(&walk->beside, &row);
    while (r > 0 && row.key.size_bytes != POSTING_KEY_BYTES);
    walk->has_beside = r > 0;
    if (r <= 0)
        return r < 0 ? check_read_failed(walk->nodes->check, TABLE_TIER_R, r) : 0;
    walk->beside_fingerprint = get_be64(row.key.data);
    walk->beside_sid = get_be64((const uint8_t *)row.key.data + 8);
    return 0;
}

/* What tier R has of the list. */
static int take_beside(struct list_walk *walk)
{
    int r = 0;
    while (r == 0 && walk->has_beside && walk->beside_fingerprint <= walk->fingerprint) {
        if (walk->beside_fingerprint == walk->fingerprint)
            r = take_sid(walk, walk->beside_sid);
        if (r == 0)
            r = next_beside(walk);
    }
    return r;
}

static int take_posting(void *user, const struct kv_entry *row)
{
    struct list_walk *walk = user;
    const uint8_t *p = row->key.data;
    int r = 0;
    if (row->key.size_bytes != POSTING_KEY_BYTES)
        return 0;
    if (get_be64(p) != walk->fingerprint || walk->length == 0) {
        r = end_list(walk);
        walk->fingerprint = get_be64(p);
        if (r == 0)
            r = take_beside(walk);
    }
    return r < 0 ? r : take_sid(walk, get_be64(p + 8));
}

int check_nodes_each_list(struct check_nodes *nodes, unsigned table, check_list_fn visit,
                          void *user)
{
    struct list_walk walk = {.nodes = nodes, .visit = visit, .user = user};
    int r = 0;
    if (table == TABLE_TIER_C)
        r = table_walk_begin(&walk.beside, nodes->check->kv, TABLE_TIER_R, (struct kv_slice){0});
    if (r == 0 && table == TABLE_TIER_C)
        r = next_beside(&walk);
    if (r == 0)
        r = check_each_row(nodes->check, table, (struct kv_slice){0}, take_posting, &walk);
    if (r == 0)
        r = end_list(&walk);
    if (r == 0)
        r = visit_kept(&walk);
    list_walk_done(&walk);
    return r;
}
