/* Tables that a store keeps or not, by a number in meta: none are kept without it. A store that
 * comes to keep other rows, or none, removes those that there are. */
#ifndef KINFS_ENGINE_INDEX_TABLES_OPTIONAL_TABLES_H
#define KINFS_ENGINE_INDEX_TABLES_OPTIONAL_TABLES_H

#include "store/kv.h"

/* In the number: all rows are being removed. */
#define OPTIONAL_TABLES_REMOVING ((uint64_t)1 << 63)

struct optional_tables {
    const char *name, *what; /* of the number; what rows are of */
    uint64_t least, most;    /* the number */
    unsigned tables[4], n_tables;
    int (*forget)(struct kv *kv); /* removes what there is of them in other tables */
};

/* Returns 0 with the number, 0: none are kept; -EUCLEAN or a store error. */
int optional_tables_read(struct kv *kv, const struct optional_tables *tables, uint64_t *ret_number);
/* wanted  0: none; more than most: what the store has, which it then is
 *
 * Rows of another number are removed. Before any thread runs. Returns 0, -EUCLEAN or a store error.
 */
int optional_tables_open(struct kv *kv, const struct optional_tables *tables, uint64_t *wanted);

#endif
