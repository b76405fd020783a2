/* The costs of each phase of --mode=haveliwala2000, beside those of 2000. */
#ifndef KINFS_TOOLS_COMMANDS_CLUSTER_TOPICS_COSTS_H
#define KINFS_TOOLS_COMMANDS_CLUSTER_TOPICS_COSTS_H

#include "engine/topic/bags/target_bags.h"
#include "engine/topic/near/near.h"
#include "tools/commands/cluster/cluster_rows.h"

enum topics_phase {
    TOPICS_BAGS, /* reading the documents */
    TOPICS_SORT_BAGS,
    TOPICS_SIGNATURES,
    TOPICS_PAIRS,
    TOPICS_FILTER,
    TOPICS_SORT,
    TOPICS_CENTER,
    TOPICS_N_PHASES,
};

const char *topics_phase_name(enum topics_phase phase);

struct topics_totals {
    struct near_cost cost[TOPICS_N_PHASES];
    struct target_bags_counts bags;
    struct near_totals near;
    uint64_t n_documents, n_links, n_windows, n_others; /* the last: targets without a document */
    struct cluster_rows_printed printed;
};

/* On standard error. */
void topics_costs_print(const struct topics_totals *totals, bool json);

#endif
