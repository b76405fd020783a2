/* A file is no document because a rule says so, of types and sizes: nothing is wrong with it. */
#ifndef KINFS_ENGINE_INDEX_TABLES_LEFT_OUT_H
#define KINFS_ENGINE_INDEX_TABLES_LEFT_OUT_H

#include <stdbool.h>
#include <string.h>

/* How the reason in its row begins, for which it has no record. */
#define LEFT_OUT_REASON "left out: "
static inline bool is_left_out(const char *reason)
{
    return strncmp(reason, LEFT_OUT_REASON, strlen(LEFT_OUT_REASON)) == 0;
}

#endif
