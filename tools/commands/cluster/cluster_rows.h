/* Clusters as they are printed: a row for each of their members. */
#ifndef KINFS_TOOLS_COMMANDS_CLUSTER_CLUSTER_ROWS_H
#define KINFS_TOOLS_COMMANDS_CLUSTER_CLUSTER_ROWS_H

#include "tools/commands/cluster/cluster_options.h"

struct cluster_rows {
    const struct cluster_options *options;
    uint32_t n;
    const uint32_t *clusters; /* of each of n its first member */
    /* How one is called; ret_member: of JSON, "path" until it is set. Gives; NULL: -ENOMEM. */
    char *(*name)(void *user, uint32_t number, const char **ret_member);
    void *user;
};

enum { CLUSTER_ROWS_BYTES = 2 * sizeof(uint32_t) }; /* for each of n */

struct cluster_rows_printed {
    uint64_t n_clusters, n_members;
};

/* Print those of two and more members, in the order of their first ones. Returns 0, -ENOMEM. */
int cluster_rows_print(const struct cluster_rows *rows, struct cluster_rows_printed *ret_printed);

#endif
