/* The costs of the phases of `kinfs cluster`, on standard error. */
#ifndef KINFS_TOOLS_COMMANDS_CLUSTER_CLUSTER_COSTS_H
#define KINFS_TOOLS_COMMANDS_CLUSTER_CLUSTER_COSTS_H

#include <stdbool.h>

#include "engine/cluster/batch.h"

/* sketch  of reading and sketching documents; of zeroes where that was not done
 * json    an object a phase, and one of what was found; else a table, beside what the paper's
 *         computers took for as many documents */
void cluster_costs_print(const struct batch_cost *sketch, const struct batch_totals *totals,
                         bool json);

#endif
