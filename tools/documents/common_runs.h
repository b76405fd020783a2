/* The text that two sequences of words have in common: runs of k words or more that stand in
 * both. */
#ifndef KINFS_TOOLS_DOCUMENTS_COMMON_RUNS_H
#define KINFS_TOOLS_DOCUMENTS_COMMON_RUNS_H

#include <stddef.h>
#include <stdint.h>

/* k words that stand in b more often are looked for at the first so many places. */
enum { COMMON_RUNS_PLACES = 64 };

struct common_run {
    size_t a, b, n; /* where it begins in each, and how many words it has */
};

struct common_runs {
    struct common_run *runs; /* the longest first, equal ones in their order in a */
    size_t n_runs;
    size_t n_shared_a, n_shared_b; /* words of each in k words in a row that stand in the other */
};

/* The first words of a that begin k which stand in b are a run with those words of b that go on
 * alike the longest, the first of such; behind it it goes on so. So no word of a is in two runs.
 *
 * a, b  numbers in the place of words, equal ones for equal words
 *
 * Returns 0, -ENOMEM, or -EOVERFLOW for 2^31 words of b or more; end with common_runs_done().
 * Linear in the words; 16 to 20 bytes for each word of b. */
int common_runs_find(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, size_t k,
                     struct common_runs *ret_runs);
void common_runs_done(struct common_runs *runs);

#endif
