/* Places of documents in a picture, near to each other as far as they resemble each other. */
#ifndef KINFS_TOOLS_COMMANDS_REPORT_GRAPH_LAYOUT_H
#define KINFS_TOOLS_COMMANDS_REPORT_GRAPH_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

struct graph_place {
    double x, y; /* 0 to 1 */
};

/* resemblances  of i and j at [i * n + j], symmetric; NAN counts as 0
 * order         seriation_find()'s, where it begins from
 *
 * The places depend on these alone. Returns 0 or -ENOMEM. 300 n^2 steps, 16 n bytes. */
int graph_layout(const double *resemblances, const uint32_t *order, size_t n,
                 struct graph_place *ret_places);

#endif
