/* The data of a report: asked of an index, and read from documents of its tree. Of one thread. */
#ifndef KINFS_TOOLS_COMMANDS_REPORT_REPORT_DATA_H
#define KINFS_TOOLS_COMMANDS_REPORT_REPORT_DATA_H

#include "tools/commands/report/cluster_picture.h"
#include "tools/commands/report/cost_table.h"
#include "tools/commands/report/top_clusters.h"
#include "tools/options/configuration.h"
#include "tools/questions/locate.h"
#include "tools/show/progress.h"

struct report_most {
    size_t clusters, members, passages; /* of each cluster; pairs of documents */
};

struct report {
    struct report_most most;
    struct json_object *about;
    struct cost_table costs;
    struct top_clusters top;
    struct cluster_picture *pictures; /* of those of top; of no member where one is not drawn */
    uint64_t n_documents, n_left_out; /* left out: pictures for which there is no room */
    struct json_object *passages;
    uint64_t n_without_passages; /* pairs of which none are shown */
    /* private */
    const char *what;
    struct progress progress;
    uint64_t n_told, generation, path_bytes;
};

void report_done(struct report *report);

/* Ask for all. most is set, the rest zero. Returns 0, or an error, with *ret_error. */
int report_ask(struct report *report, const struct location *at, char **ret_error);

/* Read passages of pairs of documents that are drawn: of each cluster, in order, the representative
 * with the one that resembles it least, then of each with the one that does most, where these are
 * not equal. It begins no more of them after half a minute. Returns 0, or an error, with
 * *ret_error. */
int report_read_passages(struct report *report, const struct location *at,
                         const struct configuration *configuration, char **ret_error);

/* All of it. Gives; NULL without memory. */
struct json_object *report_json(const struct report *report);

#endif
