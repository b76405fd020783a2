/* Passages that a document shares with others: by its fingerprints the documents that have one of
 * them, and by the places that fingerprints have in both how long the passages are.
 *
 * Example, bound 24: a document has the fingerprints f at word 3, g at 14 and h at 40; another one
 * has f at 103, g at 114 and x at 130. f and g have the same distance in both, 100, and lie next to
 * each other, so words 3 to 21 of the one are about words 103 to 121 of the other: 19 words. What
 * is shared before f and behind g, up to 16 words each, has no fingerprint that both have; who
 * needs the passage to the word reads both texts.
 *
 * Passages that more than query->common others have are common text, of a template or licence: it
 * finds nobody, and counts for nothing. A list is read no further than to tell that. Of those in it
 * the documents count that there are: the removal of one that is gone may stand in a later run, or
 * have been lost with a crash. For who may not read everything a list is read until so many are
 * found that may be read, or to its end, and others count for nothing: neither whether a text is
 * common nor what is found depends on them.
 *
 * Cost: a scan for each fingerprint, some 5 us, and 10 us a document found. Memory: 16 bytes a
 * document found, 40 a fingerprint.
 */
#include "engine/index/answers/shared_passages.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/room.h"
#include "engine/index/tables/sid_tally.h"

enum { REPEATED_MOST = 8 /* places of one fingerprint in the document that are looked at */ };
enum { COUNTS_NOT = 1, COUNTS = 2 };

/* Fingerprints of the document asked about, ascending; of one the first place first. */
struct place {
    uint64_t fingerprint, word;
    bool common;
};

struct share {
    uint64_t sid, longest, n_words;
};

struct sharing {
    struct index *index;
    const struct document *document;
    const struct index_query *query;
    struct path_cache *paths;
    struct place *places;
    size_t n_places;
    uint64_t window;
    struct sid_tally seen; /* COUNTS or COUNTS_NOT */
    struct number_vector found;
    struct share *shares;
    size_t n_shares, shares_room;
    bool stale;
};

static void sharing_done(struct sharing *sharing)
{
    path_cache_free(sharing->paths);
    free(sharing->places);
    sid_tally_done(&sharing->seen);
    number_vector_done(&sharing->found);
    free(sharing->shares);
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->fingerprint != y->fingerprint)
        return x->fingerprint < y->fingerprint ? -1 : 1;
    return (x->word > y->word) - (x->word < y->word);
}

static int take_places(struct sharing *sharing, const struct passage_sketch *sketch)
{
    sharing->n_places = sketch->n_fingerprints;
    sharing->places = calloc(sketch->n_fingerprints + 1, sizeof(*sharing->places));
    if (!sharing->places)
        return -ENOMEM;
    for (size_t i = 0; i < sketch->n_fingerprints; i++)
        sharing->places[i] = (struct place){sketch->fingerprints[i].fingerprint,
                                            sketch->fingerprints[i].word, false};
    qsort(sharing->places, sharing->n_places, sizeof(*sharing->places), compare_places);
    return 0;
}

/* The first place of a fingerprint; n_places: it has none. */
static size_t find_place(const struct sharing *sharing, uint64_t fingerprint)
{
    size_t low = 0, high = sharing->n_places;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sharing->places[middle].fingerprint < fingerprint)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sharing->n_places && sharing->places[low].fingerprint == fingerprint
               ? low
               : sharing->n_places;
}

/* -- who has a fingerprint -- */

/* Returns 0 with the path, -ENOENT where it is not shown, or an error. */
static int show(struct sharing *sharing, const struct document *document, char **ret_path)
{
    int r =
        answer_is_stopped(sharing->query)
            ? -EINTR
            : answer_shown_path(sharing->index, sharing->paths, document, sharing->query, ret_path);
    sharing->stale |= r == -ESTALE;
    return r == -ESTALE ? -ENOENT : r;
}

/* A document is there, and the asker may know of it: 1; 0, or an error. */
static int counts(struct sharing *sharing, uint64_t sid)
{
    _cleanup_(document_done) struct document document = {.records = sharing->index->records,
                                                         .sid = sid};
    _cleanup_free_ char *path = NULL;
    uint32_t *seen = sid_tally_of(&sharing->seen, sid);
    if (!seen)
        return -ENOMEM;
    if (*seen)
        return *seen == COUNTS;
    int r = records_borrow(sharing->index->records, &sid, 1, &document.record);
    if (r == 0 && !document.record)
        r = -ENOENT;
    if (r == 0 && sharing->query->may_read)
        r = show(sharing, &document, &path);
    if (r < 0 && r != -ENOENT)
        return r;
    *seen = r == 0 ? COUNTS : COUNTS_NOT;
    return r == 0;
}

/* The documents that count, of those that a list names, up to one more than most. */
static int take_counting(struct sharing *sharing, const struct number_vector *sids, size_t most,
                         struct number_vector *found)
{
    int r = 0;
    found->n_numbers = 0;
    for (size_t i = 0; r >= 0 && i < sids->n_numbers && found->n_numbers <= most; i++) {
        if (sids->numbers[i] == sharing->document->sid)
            continue;
        r = counts(sharing, sids->numbers[i]);
        if (r > 0)
            r = number_vector_push(found, sids->numbers[i]);
    }
    return r < 0 ? r : 0;
}

/* Those who have a fingerprint, but no more than show that it is common. Where many who are gone
 * come first, more of the list is read. */
static int read_list(struct sharing *sharing, uint64_t fingerprint, size_t most,
                     struct number_vector *found)
{
    _cleanup_(number_vector_done) struct number_vector sids = {0};
    const size_t all = SIZE_MAX / 4;
    size_t limit = sharing->query->may_read || most >= all ? all : most + 1;
    for (;;) {
        const int more = answer_is_stopped(sharing->query)
                             ? -EINTR
                             : passages_with(sharing->index->passages, fingerprint, limit, &sids);
        const int r = more < 0 ? more : take_counting(sharing, &sids, most, found);
        if (r < 0 || more == 0 || found->n_numbers > most)
            return r;
        limit = limit < all / 2 ? 2 * limit : all;
    }
}

static int find_candidates(struct sharing *sharing)
{
    const size_t most = sharing->query->common ? sharing->query->common : INDEX_PASSAGES_COMMON;
    int r = 0;
    for (size_t i = 0, n; r == 0 && i < sharing->n_places; i += n) {
        _cleanup_(number_vector_done) struct number_vector found = {0};
        struct place *place = &sharing->places[i];
        for (n = 1; i + n < sharing->n_places && place[n].fingerprint == place->fingerprint; n++)
            ;
        r = read_list(sharing, place->fingerprint, most, &found);
        const bool common = found.n_numbers > most;
        for (size_t k = 0; k < n; k++)
            place[k].common = common;
        for (size_t k = 0; r == 0 && !common && k < found.n_numbers; k++)
            r = number_vector_push_set(&sharing->found, found.numbers[k]);
    }
    if (r == 0)
        number_vector_sort_unique(&sharing->found);
    return r;
}

/* -- how long their passages are -- */

/* A fingerprint's place in both; those of one passage have the same shift. */
struct pair {
    uint64_t shift, word; /* word: in the document asked about */
};

struct pairs {
    struct pair *pairs;
    size_t n_pairs, room;
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->shift != y->shift)
        return x->shift < y->shift ? -1 : 1;
    return (x->word > y->word) - (x->word < y->word);
}

static int compare_words(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return (x->word > y->word) - (x->word < y->word);
}

static int add_pairs(const struct sharing *sharing, const struct passage_fingerprint *other,
                     struct pairs *pairs)
{
    const size_t first = find_place(sharing, other->fingerprint);
    for (size_t i = first; i < sharing->n_places && i < first + REPEATED_MOST; i++) {
        const struct place *place = &sharing->places[i];
        if (place->fingerprint != other->fingerprint || place->common)
            break;
        if (!MAKE_ROOM(pairs->pairs, pairs->room, pairs->n_pairs + 1))
            return -ENOMEM;
        pairs->pairs[pairs->n_pairs++] = (struct pair){other->word - place->word, place->word};
    }
    return 0;
}

/* Each run of pairs becomes one, with its length for its shift. */
static void join_runs(struct pairs *pairs, uint64_t window)
{
    size_t n_runs = 0;
    for (size_t i = 0, n; i < pairs->n_pairs; i += n) {
        const struct pair *run = &pairs->pairs[i];
        for (n = 1; i + n < pairs->n_pairs && run[n].shift == run->shift &&
                    run[n].word - run[n - 1].word <= window;
             n++)
            ;
        const uint64_t n_words = run[n - 1].word - run->word + PASSAGE_WORDS;
        pairs->pairs[n_runs++] = (struct pair){n_words, run->word};
    }
    pairs->n_pairs = n_runs;
}

/* Words of the document that are in some run, each once. */
static struct share share_of(uint64_t sid, const struct pairs *runs)
{
    struct share share = {.sid = sid};
    uint64_t end = 0;
    for (size_t i = 0; i < runs->n_pairs; i++) {
        const struct pair *run = &runs->pairs[i];
        const uint64_t n_words = run->shift, run_end = run->word + n_words;
        if (n_words > share.longest)
            share.longest = n_words;
        if (run_end > end)
            share.n_words += run_end - (run->word > end ? run->word : end);
        end = run_end > end ? run_end : end;
    }
    return share;
}

static int measure(struct sharing *sharing, uint64_t sid)
{
    _cleanup_(passage_sketch_done) struct passage_sketch other = {0};
    struct pairs pairs = {0};
    int r = answer_is_stopped(sharing->query) ? -EINTR
                                              : passages_get(sharing->index->passages, sid, &other);
    for (size_t i = 0; r == 0 && i < other.n_fingerprints; i++)
        r = add_pairs(sharing, &other.fingerprints[i], &pairs);
    if (r == 0 && pairs.n_pairs &&
        !MAKE_ROOM(sharing->shares, sharing->shares_room, sharing->n_shares + 1))
        r = -ENOMEM;
    if (r == 0 && pairs.n_pairs) {
        qsort(pairs.pairs, pairs.n_pairs, sizeof(*pairs.pairs), compare_pairs);
        join_runs(&pairs, sharing->window);
        qsort(pairs.pairs, pairs.n_pairs, sizeof(*pairs.pairs), compare_words);
        sharing->shares[sharing->n_shares++] = share_of(sid, &pairs);
    }
    free(pairs.pairs);
    return r == -ENOENT ? 0 : r; /* gone, and its postings are not yet */
}

static int compare_shares(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    if (x->longest != y->longest)
        return x->longest < y->longest ? 1 : -1;
    if (x->n_words != y->n_words)
        return x->n_words < y->n_words ? 1 : -1;
    return 0;
}

/* -- the answer -- */

static int add(struct sharing *sharing, const struct share *share, uint64_t n_words,
               struct kin_list *list)
{
    _cleanup_(document_done) struct document document = {.records = sharing->index->records,
                                                         .sid = share->sid};
    struct kin kin = {.sid = share->sid,
                      .resemblance = NAN,
                      .error = NAN,
                      .containment = (double)share->n_words / (double)n_words,
                      .shared_words = share->n_words,
                      .longest_passage = share->longest};
    int r = records_borrow(sharing->index->records, &share->sid, 1, &document.record);
    if (r == 0)
        r = document.record ? show(sharing, &document, &kin.path) : -ENOENT;
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    kin.key = document.record->key;
    kin.size_bytes = document.record->size_bytes;
    kin.mtime = document.record->mtime;
    kin.type = document.record->form.type;
    r = kin_list_add(list, &kin);
    kin_done(&kin);
    list->n_found += r == 0;
    return r == 0 && sharing->query->bytes_max && list->n_bytes > sharing->query->bytes_max
               ? -EDQUOT
               : r;
}

/* The best of them, and all that are as good as the last. */
static int add_best(struct sharing *sharing, size_t enough, uint64_t n_words, struct kin_list *list)
{
    const struct index_query *query = sharing->query;
    int r = 0;
    if (sharing->n_shares)
        qsort(sharing->shares, sharing->n_shares, sizeof(*sharing->shares), compare_shares);
    for (size_t i = 0; r == 0 && i < sharing->n_shares; i++) {
        const struct share *share = &sharing->shares[i];
        if ((enough && list->n_kin >= enough) ||
            (query->limit && !query->counts && list->n_kin >= query->limit &&
             compare_shares(share - 1, share) != 0))
            break;
        r = add(sharing, share, n_words, list);
    }
    if (r == 0 && list->n_kin)
        qsort(list->kin, list->n_kin, sizeof(*list->kin), kin_compare_passages);
    if (r == 0)
        kin_list_cut(list, query->limit);
    return r;
}

/* Words of the document that are common text: from one fingerprint that is to the next, where no
 * other lies between. */
static int say_common(const struct sharing *sharing, const struct passage_sketch *sketch,
                      struct kin_list *list)
{
    size_t room = 0;
    bool goes_on = false;
    list->n_words = sketch->n_words;
    for (size_t i = 0; i < sketch->n_fingerprints; i++) {
        const struct passage_fingerprint *of = &sketch->fingerprints[i];
        const bool common = sharing->places[find_place(sharing, of->fingerprint)].common;
        if (common && !goes_on) {
            if (!MAKE_ROOM(list->common, room, list->n_common + 1))
                return -ENOMEM;
            list->common[list->n_common++] = (struct index_words){of->word, 0};
        }
        if (common)
            list->common[list->n_common - 1].end = of->word + PASSAGE_WORDS;
        goes_on = common;
    }
    return 0;
}

static int find(struct sharing *sharing, const struct passage_sketch *sketch, size_t enough,
                struct kin_list *list)
{
    int r = path_cache_new(sharing->index->kv, backing_root_key(sharing->index->backing),
                           &sharing->paths);
    if (r == 0)
        r = take_places(sharing, sketch);
    if (r == 0)
        r = find_candidates(sharing);
    for (size_t i = 0; r == 0 && i < sharing->found.n_numbers; i++)
        r = measure(sharing, sharing->found.numbers[i]);
    if (r == 0)
        r = add_best(sharing, enough, sketch->n_words, list);
    return r < 0 ? r : say_common(sharing, sketch, list);
}

unsigned index_passages_words(const struct index *index)
{
    return index->passages ? passages_bound(index->passages) : 0;
}

int shared_passages(struct index *index, const struct document *document,
                    const struct index_query *query, size_t enough, struct kin_list *ret_list)
{
    _cleanup_(passage_sketch_done) struct passage_sketch own = {0};
    _cleanup_(kin_list_done) struct kin_list list = {0};
    _cleanup_(sharing_done) struct sharing sharing = {
        .index = index, .document = document, .query = query};
    const struct passage_sketch *sketch = document->passages;
    if (!index->passages)
        return -EOPNOTSUPP;
    int r = 0;
    if (!sketch) {
        r = passages_get(index->passages, document->sid, &own);
        sketch = &own;
    }
    if (r < 0)
        return r;
    sharing.window = passages_bound(index->passages) - PASSAGE_WORDS + 1;
    r = find(&sharing, sketch, enough, &list);
    if (r < 0)
        return r;
    if (sketch->cut)
        snprintf(list.incomplete, sizeof(list.incomplete),
                 "not complete: passages behind its first %u are not looked for",
                 (unsigned)PASSAGE_FINGERPRINTS_MAX);
    *ret_list = list;
    list = (struct kin_list){0};
    return sharing.stale;
}
