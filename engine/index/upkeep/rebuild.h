/* The steps that making a store anew (rebuild.c) and mending one (repair.c) share: telling about
 * it, a scan into a database beside the old one, and the exchange of the two. One thread; each call
 * waits for its whole work. */
#ifndef KINFS_ENGINE_INDEX_UPKEEP_REBUILD_H
#define KINFS_ENGINE_INDEX_UPKEEP_REBUILD_H

#include "engine/index/upkeep/kept_ids.h"

struct making {
    const struct index_options *options;
    void (*progress)(void *user, const struct index_status *status);                 /* or NULL */
    int (*stage)(void *user, const char *stage, const char *table, uint64_t n_rows); /* or NULL */
    void *user;
};

void making_tell(const struct making *making, const struct index_status *status);
/* Returns 0, or an error of who is told. */
int making_tell_stage(const struct making *making, const char *stage, const char *table,
                      uint64_t n_rows);

/* Scan the tree into an index, as a first or a later mount does, and stop it. */
int making_scan(const struct making *making, struct index *index);
/* All of it on the disk: 0 or a store error. */
int making_keep(struct index *index);

/* A database beside the old one, of all documents; of those the old one has a sound sketch of none
 * is read, if salvage. Returns 0 or an error; ret_fresh gives, at rest. */
int making_anew(const struct making *making, const struct old_store *old, bool salvage,
                struct index **ret_fresh, char **ret_error);

/* Hold the store, open its database as far as it can be read, and have a new one made beside it.
 *
 * make  returns 1 where there is one that is to take the old one's place, 0 where what is there is
 *       to stay, or an error; nothing it opened is open any more
 * verb  for the message
 *
 * Returns 0 or an error, with a line in *ret_error; then the old one stands. */
int making_replace(const struct making *making, const char *verb,
                   int (*make)(const struct making *making, const struct old_store *old, void *user,
                               char **ret_error),
                   void *user, char **ret_error);

#endif
