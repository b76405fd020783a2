/* The candidates that answer a question: classes of documents, by the first of each, with how much
 * they resemble the document asked about, or contain it. */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_MATCHES_H
#define KINFS_ENGINE_INDEX_ANSWERS_MATCHES_H

#include "engine/index/index.h"
#include "engine/index/postings/postings.h"
#include "engine/index/tables/number_vector.h"
#include "engine/index/tables/records.h"

struct match {
    uint64_t sid;
    uint8_t class[CLASS_BYTES];
    /* containment: of the document asked about in it, or, INDEX_PARTS, of it in that; its value is
     * NAN when unknown */
    struct estimate resemblance, containment;
};

/* The matches that are kept at once, 5 MB of them; while they are looked for ten times that at
 * most. Of very many candidates, which others may have made, the best are found first, and those
 * behind them by comparing all once more. */
enum { MATCHES_MAX = 1 << 16 };

/* Zero-initialised; ends with matches_done(). */
struct matches {
    struct match *matches;
    size_t n_matches, max_matches;
    size_t n_most; /* another number in place of MATCHES_MAX; 0: none */
    /* All fingerprints of the document asked about, for INDEX_PARTS; NULL: its sketch has to do.
     * Borrowed */
    const struct number_vector *all;
    bool more; /* there are others, behind the last one */
};
void matches_done(struct matches *matches);
int matches_add(struct matches *matches, const struct match *match); /* 0, -ENOMEM */

/* Find the candidates whose resemblance, or containment, as query->relation wants it, reaches
 * query->threshold; those of the highest rank first, of equals the oldest. Of more than MATCHES_MAX
 * the first; where matches->more says so from a call before, those behind the ones that it found,
 * in place of these. Of the query besides only stop is used.
 *
 * Any thread. One record for each candidate, 2 us from memory, 12 from the kernel's and as much as
 * a disk takes from there; what takes more than a millisecond is done by four threads. Returns 0,
 * -EINTR (stopped), -ENOMEM, -EUCLEAN or a store error. */
int matches_find(struct records *records, const struct record *record,
                 const struct index_query *query, const struct sid_list *candidates,
                 struct matches *matches);

/* The measure that is asked for: the resemblance, or the containment. */
static inline double match_rank(const struct index_query *query, const struct match *match)
{
    return query->relation == INDEX_RESEMBLES ? match->resemblance.value : match->containment.value;
}

#endif
