/* A cluster as it is drawn: some of its members, how much each resembles each other one, an order
 * and places for them. */
#ifndef KINFS_TOOLS_COMMANDS_REPORT_CLUSTER_PICTURE_H
#define KINFS_TOOLS_COMMANDS_REPORT_CLUSTER_PICTURE_H

#include <json-c/json.h>

#include "tools/commands/report/graph_layout.h"

enum { PICTURE_MEMBERS_USUAL = 40, PICTURE_MEMBERS_MOST = 200 };

struct picture_member {
    char *path;
    const char *type; /* of the row */
    uint64_t size_bytes;
    int64_t mtime;
    double resemblance, error; /* to the representative, which is the first */
};

/* Zero-initialised; ends with cluster_picture_done(). */
struct cluster_picture {
    struct json_object *row;
    uint64_t id, size; /* size: of the cluster */
    size_t n;
    struct picture_member *members;
    double *resemblances; /* of i and j at [i * n + j]; NAN where one has gone */
    uint32_t *order;
    struct graph_place *places;
};

void cluster_picture_done(struct cluster_picture *picture);

/* Make one of a row of work_report(), which is borrowed and must not change. Returns 0, -ENOMEM, or
 * -EPROTO for a row that is none. */
int cluster_picture_read(struct json_object *row, struct cluster_picture *ret_picture);

#endif
