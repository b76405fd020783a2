/* An order of documents in which those that resemble each other stand together, so that a matrix of
 * their resemblances shows groups as squares along its diagonal. */
#ifndef KINFS_TOOLS_COMMANDS_REPORT_SERIATION_H
#define KINFS_TOOLS_COMMANDS_REPORT_SERIATION_H

#include <stddef.h>
#include <stdint.h>

/* resemblances  of i and j at [i * n + j], symmetric; NAN counts as 0
 * ret_order     n numbers, each below n once
 *
 * The order depends on the resemblances alone. Returns 0 or -ENOMEM. n^3 steps, 8 n^2 bytes. */
int seriation_find(const double *resemblances, size_t n, uint32_t *ret_order);

#endif
