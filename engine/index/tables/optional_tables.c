#include "engine/index/tables/optional_tables.h"

#include <errno.h>

#include "engine/index/tables/meta.h"
#include "engine/index/tables/table_walk.h"

int optional_tables_read(struct kv *kv, const struct optional_tables *tables, uint64_t *ret_number)
{
    int r = meta_get_number(kv, tables->name, ret_number);
    if (r < 0 && r != -ENOENT)
        return r;
    if (r == -ENOENT || *ret_number & OPTIONAL_TABLES_REMOVING)
        *ret_number = 0;
    return *ret_number && (*ret_number < tables->least || *ret_number > tables->most) ? -EUCLEAN
                                                                                      : 0;
}

/* The mark is put before the first row goes: what is left counts as none. */
static int remove_all(struct kv *kv, const struct optional_tables *tables)
{
    uint64_t number;
    int r = meta_get_number(kv, tables->name, &number);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    r = meta_put_number(kv, tables->name, number | OPTIONAL_TABLES_REMOVING);
    if (r == 0)
        r = tables->forget(kv);
    for (unsigned i = 0; r == 0 && i < tables->n_tables; i++)
        r = table_remove_all(kv, tables->tables[i]);
    return r < 0 ? r : meta_delete(kv, tables->name);
}

int optional_tables_open(struct kv *kv, const struct optional_tables *tables, uint64_t *wanted)
{
    uint64_t stored;
    int r = optional_tables_read(kv, tables, &stored);
    if (r < 0)
        return r;
    if (*wanted > tables->most)
        *wanted = stored;
    if (*wanted != stored || !stored)
        r = remove_all(kv, tables);
    return r < 0 || !*wanted || *wanted == stored ? r : meta_put_number(kv, tables->name, *wanted);
}
