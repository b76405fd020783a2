/* Documents are parts of a whole, and found to be, where all of the whole is known.
 *
 * A posting says that a fingerprint is among the 16 smallest of a document. Those of a part are
 * shingles of the whole, so each of them finds it; of the whole's own sketch only those do that the
 * sketch happens to have. Example: a book of 100,000 shingles has 4,000 of them in V; a note of 46
 * in it has none there once in six times (0.96^46), and of the 16 smallest of the note all are
 * among the 100,000.
 *
 * Cost: nearly all of the whole's shingles nobody else has among the smallest, and the filter of
 * fingerprints (fingerprint_filter.h) knows that without reading.
 *
 * Left out: to keep all shingles of what is long, or postings of more than 16 of what is short,
 * which every document would pay for, where one that is asked pays here.
 */
#include "engine/index/answers/shingle_set.h"
#include "engine/index/intake/open_key.h"
#include "engine/index/intake/open_soon.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { KEYS_AT_ONCE = 256 }; /* asked of the postings, before who waits is asked */

void shingle_set_done(struct shingle_set *set)
{
    number_vector_done(&set->fingerprints);
    *set = (struct shingle_set){0};
}

static void take(void *user, const uint64_t *fingerprints, size_t n)
{
    struct shingle_set *set = user;
    set->n_taken += n;
    if (set->n_taken > SHINGLE_SET_MAX && !set->is_over) {
        set->is_over = true;
        number_vector_done(&set->fingerprints);
        set->fingerprints = (struct number_vector){0};
    }
    for (size_t i = 0; i < n && !set->is_over && set->error == 0; i++)
        set->error = number_vector_push(&set->fingerprints, fingerprints[i]);
}

void shingle_set_collect(struct shingle_set *set, struct sketching *sketching)
{
    sketching_on_shingles(sketching, take, set);
}

int shingle_set_finish(struct shingle_set *set)
{
    if (set->error < 0)
        return set->error;
    number_vector_sort_unique(&set->fingerprints);
    return !set->is_over;
}

static bool is_over(void *user)
{
    const struct shingle_set *set = user;
    return set->is_over || set->error < 0 || answer_is_stopped(set->query);
}

/* A document may be read where its words bound the memory, and no extractor is run. */
static int may_be_read(struct index *index, const struct record *record)
{
    struct file_row row;
    int r = catalogue_get_file(index->kv, &record->key, &row);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    return record->sketch.n_tokens <= SHINGLE_SET_MAX &&
           record->size_bytes <= SKETCHING_LONG_BYTES && row.read_by == 0;
}

static int read_document(struct index *index, const struct record *record, struct shingle_set *set)
{
    _cleanup_(sketching_free_p) struct sketching *sketching = NULL;
    struct sketching_by by = index_sketching_by(index, true);
    char reason[SKETCHING_REASON_BYTES];
    struct document_sketch sketch;
    _cleanup_(opened_close) struct opened opened = {
        index, open_document_soon(index, set->query->looking, &record->key, OPEN_TO_READ)};
    if (opened.fd < 0)
        return 0;
    by.runs_none = true; /* but for what the row says, the configuration is another by now */
    int r = sketching_new(&by, is_over, set, &sketching);
    if (r < 0)
        return r;
    shingle_set_collect(set, sketching);
    r = sketching_run(sketching, opened.fd, SKETCHING_LONG_BYTES, &sketch, reason);
    if (r != 0)
        return set->error < 0                  ? set->error
               : answer_is_stopped(set->query) ? -EINTR
               : r == -ENOMEM                  ? r
                                               : 0;
    return memcmp(sketch.content_fingerprint, record->content_fingerprint, FINGERPRINT_BYTES) == 0
               ? shingle_set_finish(set)
               : 0;
}

int shingle_set_read(struct index *index, const struct document *document,
                     const struct index_query *query, struct shingle_set *set)
{
    int r = may_be_read(index, document->record);
    if (r <= 0)
        return r;
    set->query = query;
    return read_document(index, document->record, set);
}

int shingle_set_candidates(const struct shingle_set *set, struct postings *postings,
                           const struct index_query *query, struct sid_list *ret_list)
{
    _cleanup_(number_vector_done) struct number_vector found = {0};
    const struct number_vector *all = &set->fingerprints;
    int r = 0;
    for (size_t at = 0, n; r == 0 && at < all->n_numbers; at += n) {
        _cleanup_(sid_list_done) struct sid_list some = {0};
        n = all->n_numbers - at < KEYS_AT_ONCE ? all->n_numbers - at : KEYS_AT_ONCE;
        r = answer_is_stopped(query)
                ? -EINTR
                : postings_with(postings, POSTINGS_TIER_R, all->numbers + at, n, 0, &some, NULL);
        for (size_t i = 0; r == 0 && i < some.n_sids; i++)
            r = number_vector_push_set(&found, some.sids[i]);
    }
    if (r < 0)
        return r;
    number_vector_sort_unique(&found);
    *ret_list = (struct sid_list){found.numbers, found.n_numbers};
    found = (struct number_vector){0};
    return 0;
}
