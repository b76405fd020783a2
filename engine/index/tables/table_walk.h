/* Rows of a table in their order, a page at a time. */
#ifndef KINFS_ENGINE_INDEX_TABLES_TABLE_WALK_H
#define KINFS_ENGINE_INDEX_TABLES_TABLE_WALK_H

#include "store/kv.h"

struct table_walk {
    struct kv *kv;
    unsigned table;
    struct kv_page page;
    size_t at;
    struct kv_buf from;
    bool ended;
};

/* from: where to begin; data NULL: at the first row. Copied. Returns 0 or -ENOMEM. */
int table_walk_begin(struct table_walk *walk, struct kv *kv, unsigned table, struct kv_slice from);
/* Returns 1 with the next row, valid until the next call, 0 at the end, or an error, after which
 * the walk can be told nothing more. */
int table_walk_next(struct table_walk *walk, struct kv_entry *ret_entry);
void table_walk_done(struct table_walk *walk);

/* Visit those of a range, until visit returns another value than 0. Returns that, 0 or an error. */
typedef int (*table_row_fn)(void *user, const struct kv_entry *row);
int table_each_row(struct kv *kv, unsigned table, struct kv_range range, table_row_fn visit,
                   void *user);

/* Remove all rows of a table: a quarter of a second a million. Not atomic. Returns 0 or an error.
 */
int table_remove_all(struct kv *kv, unsigned table);

#endif
