/* A row of an answer about pairs, of documents (work_pairs()) or of directories (work_mirrors()):
 * with how far the work is and what was counted come the pairs, whose members are "a" and "b". */
#ifndef KINFS_TOOLS_COMMANDS_PAIRS_PAIR_ROW_H
#define KINFS_TOOLS_COMMANDS_PAIRS_PAIR_ROW_H

#include <stdbool.h>

#include "tools/commands/command.h"
#include "tools/show/progress.h"

/* Takes note of a row that is no pair. Returns 1, with the counts where it has them (borrowed, else
 * NULL); 0: it is a pair; -EPROTO. */
int pair_row_note(struct json_object *row, struct progress *progress,
                  struct json_object **ret_counts);

/* Makes the paths of a pair absolute, below base. */
void pair_row_make_absolute(struct json_object *row, const char *base);

/* Prints the paths of a pair, with a tab between. */
void pair_row_print_paths(struct json_object *row);

#endif
