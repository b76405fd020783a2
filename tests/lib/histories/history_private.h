/* What the parts of histories share. */
#ifndef KINFS_TESTS_LIB_HISTORIES_HISTORY_PRIVATE_H
#define KINFS_TESTS_LIB_HISTORIES_HISTORY_PRIVATE_H

#include "engine/index/index.h"
#include "tests/lib/histories/history.h"

/* In a child: what cannot be opened ends it. */
struct backing *history_open_tree(const struct history *history);
struct index *history_open_index(const struct history *history, struct backing *backing,
                                 const char *store);

/* Returns whether the child ended with 0. */
bool history_in_child(void (*run)(struct history *history, void *user), struct history *history,
                      void *user);

#endif
