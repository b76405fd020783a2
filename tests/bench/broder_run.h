/* The paper's experiment with planted documents: streamed through generating, sketching and all
 * phases of the batch; nothing of the text is kept. */
#ifndef KINFS_TESTS_BENCH_BRODER_RUN_H
#define KINFS_TESTS_BENCH_BRODER_RUN_H

#include "engine/cluster/batch.h"
#include "tests/lib/documents/planted.h"

enum { BRODER_N_RESEMBLANCES = 8, BRODER_N_LENGTHS = 3, BRODER_MOST_LISTED = 5000000 };
extern const double broder_resemblances[BRODER_N_RESEMBLANCES]; /* from here on */
extern const uint32_t broder_lengths[BRODER_N_LENGTHS];         /* from so many shingles on */

struct broder_result {
    double generate_cpu_s, sketch_cpu_s; /* of all threads; sketching includes adding */
    double stream_wall_s, all_wall_s;    /* generating and sketching; and all phases after that */
    uint64_t text_bytes;
    struct batch_totals totals;
    struct planted_check check; /* of links of 0.6 and more */
    uint64_t digest;            /* equal for equal clusters */
    /* Planted links by resemblance and by length of the larger document; of up to five million
     * documents. */
    struct planted_check links[BRODER_N_RESEMBLANCES][BRODER_N_LENGTHS];
};

/* Once more from the sketches that options->keep has of a broder_run() of that seed: nothing is
 * generated or sketched. */
int broder_resume(const struct batch_options *options, uint64_t seed,
                  struct broder_result *ret_result);

/* Policy broder1997, w = 10, with a key that is always the same. options->n_documents documents of
 * the seed. Returns 0 or an error of planted_new() or batch.h. */
int broder_run(const struct batch_options *options, uint64_t seed,
               struct broder_result *ret_result);

#endif
