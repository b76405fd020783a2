#include "engine/index/answers/incomplete.h"

#include <stdio.h>

#include "engine/index/postings/candidates.h"

/* The longest document decides up to which length of documents an answer is certain. Its length is
 * nobody's to know, so who may not read everything is told the same whatever there is, unless the
 * question is long enough for documents of LONGEST_SHINGLES. Those are a hundred megabytes of
 * words; without an end no answer would be complete. */
enum { LONGEST_SHINGLES = 1 << 24 };

static void say_of_containers(struct index *index, double n_shingles,
                              const struct index_query *query, char ret_why[KIN_LIST_WHY_BYTES])
{
    const struct policy *policy = &index->policy;
    const uint64_t certain = candidates_certain_shingles(
        query->may_read ? policy->m : atomic_load(&index->largest_modulus));
    if (n_shingles < (double)certain)
        snprintf(ret_why, KIN_LIST_WHY_BYTES,
                 "too short to tell: what contains it is found by chance below %llu shingles, %llu "
                 "words",
                 (unsigned long long)certain, (unsigned long long)(certain + policy->w - 1));
    else if (query->may_read &&
             n_shingles < (double)candidates_certain_shingles(LONGEST_SHINGLES / policy->v_max))
        snprintf(ret_why, KIN_LIST_WHY_BYTES,
                 "not complete: certain only of documents of up to %llu shingles",
                 (unsigned long long)policy->v_max * policy->m);
}

/* A part of a whole that was not read is found by those of the part's fingerprints that the whole's
 * sketch covers, and each of them is one of these with their share of all. */
static void say_of_parts(struct index *index, const struct min_sketch *sketch, bool all_known,
                         const struct index_query *query, char ret_why[KIN_LIST_WHY_BYTES])
{
    const uint64_t certain =
        candidates_certain_shingles(sketch->below ? 0x1p64 / (double)sketch->below : 1);
    if (!all_known && certain > 1)
        snprintf(ret_why, KIN_LIST_WHY_BYTES,
                 "not complete: parts of less than %llu shingles, %llu words, are found by chance",
                 (unsigned long long)certain, (unsigned long long)(certain + index->policy.w - 1));
    else if (query->threshold < candidates_certain_resemblance())
        snprintf(ret_why, KIN_LIST_WHY_BYTES,
                 "not complete: what is contained in it by less than %.2f is found by chance",
                 candidates_certain_resemblance());
}

void incomplete_say(struct index *index, const struct min_sketch *sketch, bool all_known,
                    const struct index_query *query, char ret_why[KIN_LIST_WHY_BYTES])
{
    if (sketch->n_values == 0) /* only what is equal is wanted, and found */
        return;
    if (query->relation == INDEX_WHOLES)
        say_of_containers(index, min_sketch_cardinality(sketch), query, ret_why);
    else if (query->relation == INDEX_PARTS)
        say_of_parts(index, sketch, all_known, query, ret_why);
    else if (query->threshold < candidates_certain_resemblance())
        snprintf(ret_why, KIN_LIST_WHY_BYTES,
                 "not complete: what resembles it by less than %.2f is found by chance",
                 candidates_certain_resemblance());
}
