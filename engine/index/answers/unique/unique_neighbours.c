/* The neighbours of a text are the others that resemble it, as far as sketches tell, the likeliest
 * first. The documents that one decision looks at have a bound, and those beyond it count as not
 * seen. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "engine/index/answers/matches.h"
#include "engine/index/answers/unique/unique_private.h"
#include "engine/index/postings/candidates.h"

enum {
    NEIGHBOURS_MAX = 256,
    SEEN_MAX = 4096, /* documents of them, but for those of the last one */
};

struct neighbours {
    struct unique_text **texts;
    size_t n, room, n_seen;
};

static void neighbours_done(struct neighbours *neighbours)
{
    free(neighbours->texts);
}

static bool is_full(const struct neighbours *neighbours)
{
    return neighbours->n >= NEIGHBOURS_MAX || neighbours->n_seen >= SEEN_MAX;
}

static int add_neighbour(struct unique_asking *asking, const struct match *match,
                         struct neighbours *neighbours)
{
    struct unique_text *text;
    int r = unique_text_get(asking, match->class, &text);
    if (r < 0 || !text || !unique_is_text(text))
        return r;
    if (!MAKE_ROOM(neighbours->texts, neighbours->room, neighbours->n + 1))
        return -ENOMEM;
    neighbours->texts[neighbours->n++] = text;
    neighbours->n_seen += text->n_seen;
    return 0;
}

/* The record of the text's document. A document that is gone is so in another state of the
 * index. */
static int get_record(struct unique_asking *asking, const struct unique_text *text,
                      struct document *document)
{
    struct index *index = asking->index;
    if (index_unique_state(asking->unique) != asking->state)
        return -EBUSY;
    *document = (struct document){.records = index->records, .sid = text->sid};
    int r = records_borrow(index->records, &text->sid, 1, &document->record);
    return r == 0 && !document->record ? -EBUSY : r;
}

static int search(struct unique_asking *asking, const struct unique_text *text,
                  const struct record *record, double threshold, struct neighbours *neighbours)
{
    struct index *index = asking->index;
    _cleanup_(sid_list_done) struct sid_list candidates = {0};
    _cleanup_(matches_done) struct matches matches = {0};
    int r = candidates_for(index->postings, POSTINGS_TIER_R, &record->sketch, threshold,
                           NEIGHBOURS_MAX, &candidates);
    do {
        if (r == 0)
            r = matches_find(index->records, record, &asking->query, &candidates, &matches);
        for (size_t i = 0; r == 0 && i < matches.n_matches && !is_full(neighbours); i++)
            if (memcmp(matches.matches[i].class, text->class_id, CLASS_BYTES) != 0)
                r = add_neighbour(asking, &matches.matches[i], neighbours);
    } while (r == 0 && matches.more && !is_full(neighbours));
    return r;
}

/* The neighbouring texts that count, each by a document of it. */
static int find_neighbours(struct unique_asking *asking, const struct unique_text *text,
                           double threshold, struct neighbours *neighbours)
{
    _cleanup_(document_done) struct document document = {0};
    asking->query.threshold = threshold;
    if (asking->n_searches_left == 0)
        return -ENOBUFS;
    asking->n_searches_left--;
    int r = get_record(asking, text, &document);
    if (r == 0)
        r = search(asking, text, document.record, threshold, neighbours);
    atomic_fetch_add(&asking->unique->n_searches, 1);
    return r;
}

/* How many there are is what comes first of the most central one. */
static int count_neighbours(struct unique_asking *asking, struct unique_text *text)
{
    _cleanup_(neighbours_done) struct neighbours neighbours = {0};
    if (asking->unique->options.representative != INDEX_STAYS_MOST_CENTRAL ||
        unique_memory_is_counted(asking->memory, text))
        return 0;
    int r = find_neighbours(asking, text, asking->unique->options.near, &neighbours);
    if (r == 0)
        unique_memory_count(asking->memory, text, -(int64_t)neighbours.n);
    return r;
}

static int compare_texts(const void *a, const void *b)
{
    const struct unique_text *const *x = a, *const *y = b;
    return unique_rank_compare(&(*x)->rank, &(*y)->rank);
}

int unique_find_better(struct unique_asking *asking, struct unique_text *text,
                       struct unique_better **ret_better)
{
    _cleanup_(neighbours_done) struct neighbours all = {0};
    size_t n = 0;
    int r = find_neighbours(asking, text, asking->unique->estimated, &all);
    if (r == 0)
        r = count_neighbours(asking, text);
    for (size_t i = 0; r == 0 && i < all.n; i++) {
        r = count_neighbours(asking, all.texts[i]);
        if (r == 0 && unique_rank_compare(&all.texts[i]->rank, &text->rank) < 0)
            all.texts[n++] = all.texts[i];
    }
    if (r < 0)
        return r;
    struct unique_better *better = malloc(unique_better_bytes(n));
    if (!better)
        return -ENOMEM;
    better->n = n;
    if (n)
        memcpy(better->texts, all.texts, n * sizeof(*all.texts));
    qsort(better->texts, n, sizeof(*better->texts), compare_texts);
    *ret_better = better;
    return 0;
}
