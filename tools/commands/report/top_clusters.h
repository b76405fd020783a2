/* The clusters whose near-duplicates take most bytes, of all clusters, whose members come one by
 * one. Of one thread at a time; memory is linear in how many are kept. */
#ifndef KINFS_TOOLS_COMMANDS_REPORT_TOP_CLUSTERS_H
#define KINFS_TOOLS_COMMANDS_REPORT_TOP_CLUSTERS_H

#include <stdbool.h>

#include "tools/commands/report/cost_table.h"

struct top_cluster {
    uint64_t id;
    struct cost cost;
    double resemblance_min, resemblance_sum; /* of the copies to the representative */
    int64_t first, last;                     /* change of a member, seconds since 1970 */
    char *representative;
};

/* Zero-initialised but for `most`, above 0; ends with top_clusters_done(). */
struct top_clusters {
    size_t most;
    struct top_cluster *clusters; /* in order, once finished */
    size_t n, room;
    uint64_t n_all;
    bool is_open; /* the last one may get more members */
};

void top_clusters_done(struct top_clusters *top);

/* The next member, the representative of its cluster first. Returns 0 or -ENOMEM. */
struct top_member {
    uint64_t id; /* of the cluster */
    const char *path;
    uint64_t size_bytes;
    int64_t mtime;
    double resemblance;
};
int top_clusters_add(struct top_clusters *top, const struct top_member *member);
/* A member would be the first of its cluster, and so the representative. */
bool top_clusters_is_first(const struct top_clusters *top, uint64_t id);
void top_clusters_finish(struct top_clusters *top);

#endif
