/* The kin of a document, what contains it and what is contained in it come from the same steps:
 * candidates from the postings, estimates from the full sketches, whole classes at once, and only
 * then paths, best first, until there are enough that the caller may read.
 *
 * Cost: one multi_scan of 16 posting lists (tier R), one record for each candidate class, one path
 * for each answer. Very many lists and records are read by several threads. Who asks for the parts
 * of a document has that read (shingle_set.h).
 */
#include <errno.h>
#include <math.h>

#include "engine/index/answers/answer.h"
#include "engine/index/answers/incomplete.h"
#include "engine/index/answers/matches.h"
#include "engine/index/answers/related.h"
#include "engine/index/answers/shared_passages.h"
#include "engine/index/answers/shingle_set.h"
#include "engine/index/postings/candidates.h"
#include "engine/index/tables/number_vector.h"

static void sort(const struct index_query *query, struct kin_list *list)
{
    if (list->n_kin)
        qsort(list->kin, list->n_kin, sizeof(*list->kin),
              query->relation == INDEX_RESEMBLES ? kin_compare : kin_compare_containment);
}

/* The best that there may be, sorted. */
static void cut(const struct index_query *query, struct kin_list *list)
{
    sort(query, list);
    kin_list_cut(list, query->limit);
}

static int add(const struct index_query *query, struct kin_list *list, struct kin *kin)
{
    int r = kin_list_add(list, kin);
    if (r < 0)
        return r;
    list->n_found++;
    if (query->limit && list->n_kin > LOAD_AT_ONCE &&
        (list->n_kin - LOAD_AT_ONCE) / 2 >= query->limit) /* which may be any number */
        cut(query, list);
    return query->bytes_max && list->n_bytes > query->bytes_max ? -EDQUOT : 0;
}

/* A class on its way to the documents of an answer. */
struct expansion {
    struct index *index;
    uint64_t asked; /* the document */
    const struct record *record;
    const struct index_query *query;
    struct path_cache *paths;
    size_t enough;
    struct kin_list *list;
    bool stale;      /* one was passed over */
    size_t n_looked; /* documents, for their paths */
};

/* The oldest documents of a class, among which the first by their paths are looked for. */
enum { SHOWN_LEAST = 1024 };

/* So many of one class are looked at that are shown: which they are depends on no other. */
static bool has_enough(const struct expansion *expansion, size_t n_shown)
{
    const struct index_query *query = expansion->query;
    if (query->most_compared && expansion->n_looked >= query->most_compared)
        return true;
    return expansion->enough ? expansion->list->n_kin >= expansion->enough
                             : query->limit && !query->counts && n_shown >= query->limit &&
                                   n_shown >= SHOWN_LEAST;
}

/* Returns 1 where it is shown, 0, or an error. */
static int show(struct expansion *expansion, const struct match *match,
                const struct document *document)
{
    struct index *index = expansion->index;
    const struct index_query *query = expansion->query;
    struct estimate estimate;
    _cleanup_free_ char *path = NULL;
    int r = answer_is_stopped(query)
                ? -EINTR
                : record_resemblance(expansion->record, document->record, &estimate);
    if (r == 0)
        r = answer_shown_path(index, expansion->paths, document, query, &path);
    if (r == -ENOENT || r == -ESTALE) {
        expansion->stale |= r == -ESTALE;
        return 0;
    }
    if (r < 0)
        return r;
    struct kin kin = kin_of(document->sid, document->record, &estimate);
    kin.path = TAKE_PTR(path);
    kin.containment = match->containment.value;
    if (!match->containment.exact ||
        estimate.exact) /* else all of both is known of the one alone */
        kin.containment_samples = match->containment.n_samples;
    r = add(query, expansion->list, &kin);
    kin_done(&kin);
    return r < 0 ? r : 1;
}

/* Some documents of a class. */
static int expand_some(struct expansion *expansion, const struct match *match,
                       const struct sid_list *some, size_t *n_shown)
{
    const struct record *records[LOAD_AT_ONCE];
    struct index_equal *equal = expansion->query->equal;
    int r = records_borrow(expansion->index->records, some->sids, some->n_sids, records);
    if (r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < some->n_sids && !has_enough(expansion, *n_shown); i++) {
        const struct document document = {expansion->index->records, some->sids[i], records[i]};
        if (document.sid == expansion->asked || !records[i])
            continue;
        expansion->n_looked++;
        r = show(expansion, match, &document);
        if (r > 0 && equal)
            *equal = (struct index_equal){record_class_number(match->class), document.sid};
        *n_shown += r > 0;
        r = r > 0 ? 0 : r;
    }
    records_return(expansion->index->records, records, some->n_sids);
    return r;
}

/* The documents of a matching class but the one asked about, with their paths, the oldest first;
 * but from the one on that was shown before, and then from the oldest. */
static int expand(struct expansion *expansion, const struct match *match)
{
    const struct index_equal *equal = expansion->query->equal;
    const bool known = equal && equal->class_number == record_class_number(match->class);
    uint64_t after = known && equal->sid ? equal->sid - 1 : 0;
    bool again = after > 0;
    size_t n_shown = 0;
    while (!has_enough(expansion, n_shown)) {
        _cleanup_(sid_list_done) struct sid_list some = {0};
        int r = living_clusters_class(expansion->index->clusters, match->class, after, LOAD_AT_ONCE,
                                      &some);
        if (r == 0)
            r = expand_some(expansion, match, &some, &n_shown);
        if (r < 0)
            return r;
        after = some.n_sids ? some.sids[some.n_sids - 1] : 0;
        if (some.n_sids < LOAD_AT_ONCE) {
            if (!again)
                break;
            again = false;
            after = 0;
        }
    }
    return 0;
}

/* A document that has few fingerprints in V may have none in what contains it: half of it is missed
 * once in 2^n_v. A whole that is not much longer resembles it, and is found by that, too. */
enum { V_FEW = 16 };

static int wholes_of(struct index *index, const struct min_sketch *sketch, double threshold,
                     size_t most, struct sid_list *ret_list)
{
    _cleanup_(sid_list_done) struct sid_list more = {0};
    _cleanup_(number_vector_done) struct number_vector all = {0};
    int r = candidates_for(index->postings, POSTINGS_TIER_C, sketch, threshold, most, ret_list);
    if (r < 0 || min_sketch_n_v(sketch) >= V_FEW)
        return r;
    r = candidates_for(index->postings, POSTINGS_TIER_R, sketch, threshold, most, &more);
    all = (struct number_vector){ret_list->sids, ret_list->n_sids, ret_list->n_sids};
    *ret_list = (struct sid_list){0};
    for (size_t i = 0; r == 0 && i < more.n_sids; i++)
        r = number_vector_push(&all, more.sids[i]);
    if (r < 0)
        return r;
    number_vector_sort_unique(&all);
    *ret_list = (struct sid_list){all.numbers, all.n_numbers};
    all = (struct number_vector){0};
    return 0;
}

/* All documents that share a fingerprint with what is known of the whole: which of many parts are
 * likely, their lists do not tell. Of one that is short, or was not read, its sketch is known. */
static int parts_of(struct index *index, const struct min_sketch *sketch,
                    const struct shingle_set *set, const struct index_query *query,
                    struct sid_list *ret_list)
{
    return set ? shingle_set_candidates(set, index->postings, query, ret_list)
               : postings_with(index->postings, POSTINGS_TIER_C, sketch->values, sketch->n_values,
                               0, ret_list, NULL);
}

static int candidates_of(struct index *index, const struct min_sketch *sketch,
                         const struct shingle_set *set, const struct index_query *query,
                         size_t most, struct sid_list *ret_list)
{
    switch (query->relation) {
    case INDEX_PARTS: return parts_of(index, sketch, set, query, ret_list);
    case INDEX_WHOLES: return wholes_of(index, sketch, query->threshold, most, ret_list);
    case INDEX_SHARES:  /* shared_passages.h */
    case INDEX_RELATED: /* related.h */
    case INDEX_RESEMBLES: break;
    }
    if (query->most_compared)
        return candidates_likeliest(index->postings, sketch, query->most_compared, ret_list);
    return candidates_for(index->postings, POSTINGS_TIER_R, sketch, query->threshold, most,
                          ret_list);
}

/* The next match; where those that were found are used up, those behind them are looked for.
 * Returns 1, 0 where there is none, or as matches_find(). */
static int next_match(struct index *index, const struct record *record,
                      const struct index_query *query, const struct sid_list *candidates,
                      struct matches *matches, size_t *at, const struct match **ret_match)
{
    if (*at == matches->n_matches && matches->more) {
        int r = matches_find(index->records, record, query, candidates, matches);
        if (r < 0)
            return r;
        *at = 0;
    }
    if (*at == matches->n_matches)
        return 0;
    *ret_match = &matches->matches[(*at)++];
    return 1;
}

/* enough  stop when this many were found, whichever they are (0: the best query->limit)
 * set     all shingles of the document, or NULL
 *
 * For who may not read everything all candidates are compared: the likeliest may be hidden, and
 * which they are depends on hidden documents. Returns 1 where something was left out that is not
 * what it was when it was sketched. */
static int answer(struct index *index, const struct document *document,
                  const struct shingle_set *set, const struct index_query *query, size_t enough,
                  struct kin_list *ret_list)
{
    const size_t most = query->may_read || query->counts ? 0 : enough ? enough : query->limit;
    _cleanup_(sid_list_done) struct sid_list candidates = {0};
    _cleanup_(matches_done) struct matches matches = {.all = set ? &set->fingerprints : NULL};
    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    _cleanup_(kin_list_done) struct kin_list list = {0};
    struct match own = {.resemblance = {.value = 1.0, .exact = true},
                        .containment = {.value = 1.0, .exact = true}};

    const struct record *record = document->record;
    int r = 0;
    if (query->relation == INDEX_SHARES)
        return shared_passages(index, document, query, enough, ret_list);
    if (query->relation == INDEX_RELATED)
        return related(index, document, query, enough, ret_list);
    record_class(record, own.class);
    if (record->sketch.n_values == 0)
        r = matches_add(&matches, &own);
    else
        r = candidates_of(index, &record->sketch, set, query, most, &candidates);
    if (r == 0 && record->sketch.n_values)
        r = matches_find(index->records, record, query, &candidates, &matches);
    if (r == 0 && matches.n_matches)
        r = path_cache_new(index->kv, backing_root_key(index->backing), &paths);

    /* Whole classes of one rank, so that which of them are cut off by the limit is decided by their
     * paths; but of a class of very many the oldest. */
    struct expansion expansion = {.index = index,
                                  .asked = document->sid,
                                  .record = record,
                                  .query = query,
                                  .paths = paths,
                                  .enough = enough,
                                  .list = &list};
    const struct match *match;
    double rank = NAN; /* of the one before */
    for (size_t at = 0; r == 0; rank = match_rank(query, match)) {
        r = next_match(index, record, query, &candidates, &matches, &at, &match);
        if (r <= 0)
            break;
        const bool next_rank = match_rank(query, match) != rank;
        if ((enough && list.n_kin >= enough) ||
            (next_rank && query->limit && !query->counts && list.n_kin >= query->limit))
            break;
        r = expand(&expansion, match);
    }
    if (r < 0)
        return r;
    cut(query, &list);
    incomplete_say(index, &record->sketch, set != NULL, query, list.incomplete);
    *ret_list = list;
    list = (struct kin_list){0};
    return expansion.stale;
}

/* All documents of the answer still are as they were sketched. */
static bool all_current(struct index *index, const struct index_query *query,
                        const struct kin_list *list)
{
    bool current = true;
    for (size_t i = 0; i < list->n_kin && !answer_is_stopped(query); i++)
        current &= answer_is_current(index, &list->kin[i].key, list->kin[i].sid, query->looking);
    return current;
}

/* An answer with all shingles of the document, where its parts are asked for and they can be had.
 */
static int answer_of_document(struct index *index, const struct document *document,
                              const struct index_query *query, size_t enough,
                              struct kin_list *ret_list)
{
    _cleanup_(shingle_set_done) struct shingle_set set = {0};
    int r = 0;
    if (query->relation == INDEX_PARTS && document->record->sketch.below != 0)
        r = shingle_set_read(index, document, query, &set);
    return r < 0 ? r : answer(index, document, r > 0 ? &set : NULL, query, enough, ret_list);
}

static int answer_of_file(struct index *index, const struct file_key *file,
                          const struct index_query *query, size_t enough, struct kin_list *ret_list)
{
    _cleanup_(document_done) struct document document = {0};
    int r = answer_document(index, file, query, &document);
    if (r == -ESTALE) {
        *ret_list = (struct kin_list){0}; /* what it held before is not told */
        return 1;
    }
    return r < 0 ? r : answer_of_document(index, &document, query, enough, ret_list);
}

bool answer_look_again(struct index *index, const struct index_query *query)
{
    if (!index->started || query->wait_ms <= 0)
        return false;
    index_settle(index, INDEX_LANE_FOREGROUND, query->wait_ms);
    return true;
}

/* Given once more, of the contents of now, when some of it turns out to have changed behind our
 * back.
 *
 * file     NULL: a foreign document is asked about, with its set, or NULL */
static int answer_twice(struct index *index, const struct file_key *file,
                        const struct document *foreign, const struct shingle_set *set,
                        const struct index_query *query, struct kin_list *ret_list)
{
    struct kin_list list = {0};
    int r;
    for (bool again = false;; again = true) {
        r = file ? answer_of_file(index, file, query, 0, &list)
                 : answer(index, foreign, set, query, 0, &list);
        if (r < 0)
            return r;
        if (again || (r == 0 && all_current(index, query, &list)) ||
            !answer_look_again(index, query))
            break;
        kin_list_done(&list);
    }
    *ret_list = list;
    return 0;
}

int answer_foreign(struct index *index, const struct document *foreign,
                   const struct shingle_set *set, const struct index_query *query,
                   struct kin_list *ret_list)
{
    return answer_twice(index, NULL, foreign, set, query, ret_list);
}

int index_similar(struct index *index, const struct file_key *file, const struct index_query *query,
                  struct kin_list *ret_list)
{
    return answer_twice(index, file, NULL, NULL, query, ret_list);
}

int answer_nearest(struct index *index, const struct file_key *file,
                   const struct index_query *query, struct kin_list *ret_list)
{
    int r = answer_of_file(index, file, query, 1, ret_list);
    return r < 0 ? r : 0;
}

int index_has_kin(struct index *index, const struct file_key *file, const struct index_query *query)
{
    _cleanup_(kin_list_done) struct kin_list list = {0};
    struct file_row row;
    int r = catalogue_get_file(index->kv, file, &row);
    if (r < 0 || !row.sid)
        return r == -ENOENT || r == 0 ? 0 : r;
    /* A member of a cluster has a neighbour at the cluster's threshold or above. */
    if (query->relation == INDEX_RESEMBLES && !query->may_read &&
        query->threshold <= INDEX_CLUSTER_THRESHOLD) {
        r = living_clusters_has(index->clusters, row.sid);
        if (r != 0)
            return r;
    }
    r = answer_of_file(index, file, query, 1, &list);
    if (r == 1 && list.n_kin == 0 && answer_look_again(index, query)) {
        kin_list_done(&list);
        r = answer_of_file(index, file, query, 1, &list);
    }
    return r == -ENOENT ? 0 : r < 0 ? r : list.n_kin > 0;
}
