/* Pairs that samples have found, compared by their texts. */
#ifndef KINFS_TOOLS_COMMANDS_PAIRS_EXACT_PAIRS_H
#define KINFS_TOOLS_COMMANDS_PAIRS_EXACT_PAIRS_H

#include "tools/commands/command.h"
#include "tools/show/progress.h"

struct exact_pairs;

/* location: of the tree; borrowed. Returns 0, or as store_words_ask(). */
int exact_pairs_new(const struct location *location, struct exact_pairs **ret_pairs,
                    char **ret_error);
void exact_pairs_free(struct exact_pairs *pairs); /* NULL allowed */
DEFINE_CLEANUP(struct exact_pairs *, exact_pairs_free);

/* The estimate from which pairs are to be looked at so that of those of this resemblance fewer than
 * one in a thousand is not: three standard errors and more. */
double exact_pairs_least_estimate(double least);

/* A row of work_pairs(); takes it. Returns 0, -EPROTO, -ENOMEM, -EFBIG: there are too many. */
int exact_pairs_add(struct exact_pairs *pairs, struct json_object *row);

/* Compare all of them, and hand out a row for each that reaches the least resemblance, the best
 * first. A document that cannot be read is complained of, and its pairs are left out. Returns 0, an
 * error of print, -ENOMEM. Reads a document once, as long as all fit some memory. */
int exact_pairs_each(struct exact_pairs *pairs, double least, struct progress *progress,
                     row_fn print, void *user, char **ret_error);

#endif
