/* Derived tables say nothing that the others do not, and are made anew in a copy of a database in
 * which some are wrong: postings and classes from records, members and the documents' clusters from
 * each other. What the copy then is has to be checked, for what both sides had wrong is wrong in
 * it, too.
 */
#ifndef KINFS_ENGINE_INDEX_UPKEEP_DERIVED_TABLES_H
#define KINFS_ENGINE_INDEX_UPKEEP_DERIVED_TABLES_H

#include <stdbool.h>

#include "store/kv.h"

/* wrong: a bit for each table, as check_store() gives them. */
bool derived_tables_have_all(unsigned wrong);
/* Clusters can be others for the tables that are wrong. */
bool derived_tables_have_clusters(unsigned wrong);

/* Copy a database into an empty one.
 *
 * progress  called every some ten thousand rows; an error it returns ends the copy
 *
 * Postings and classes, if they are wrong, are left out and derived by whoever opens the copy.
 * Returns 0, -EUCLEAN or -EIO where what is to be copied cannot be read, -ENOMEM or a store error
 * of the copy's. Each table is read once, and of a document that has lost its cluster a row looked
 * up; memory is fixed. */
int derived_tables_copy(struct kv *old, struct kv *copy, unsigned wrong,
                        int (*progress)(void *user, const char *table, uint64_t n_rows),
                        void *user);

#endif
