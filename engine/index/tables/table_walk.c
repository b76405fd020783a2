#include "engine/index/tables/table_walk.h"

#include <errno.h>
#include <string.h>

enum { PAGE_ROWS = 4096 };

int table_walk_begin(struct table_walk *walk, struct kv *kv, unsigned table, struct kv_slice from)
{
    *walk = (struct table_walk){.kv = kv, .table = table};
    if (from.size_bytes == 0)
        return 0;
    walk->from.data = malloc(from.size_bytes);
    if (!walk->from.data)
        return -ENOMEM;
    memcpy(walk->from.data, from.data, from.size_bytes);
    walk->from.size_bytes = from.size_bytes;
    return 0;
}

static int next_page(struct table_walk *walk)
{
    struct kv_page page = {0};
    const struct kv_range range = {.from = kv_buf_slice(&walk->from)};
    int r = kv_scan(walk->kv, walk->table, &range, PAGE_ROWS, &page);
    if (r < 0)
        return r;
    kv_page_done(&walk->page);
    walk->page = page;
    walk->at = 0;
    walk->ended = !page.more || page.n_entries == 0;
    if (walk->ended)
        return 0;
    kv_buf_done(&walk->from);
    return kv_page_cursor(&page, &walk->from);
}

int table_walk_next(struct table_walk *walk, struct kv_entry *ret_entry)
{
    while (walk->at == walk->page.n_entries) {
        if (walk->ended)
            return 0;
        int r = next_page(walk);
        if (r < 0) {
            walk->ended = true;
            return r;
        }
    }
    *ret_entry = walk->page.entries[walk->at++];
    return 1;
}

void table_walk_done(struct table_walk *walk)
{
    kv_page_done(&walk->page);
    kv_buf_done(&walk->from);
}

static int next_removed(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    *ret_delete = true;
    return table_walk_next(user, ret_entry);
}

int table_remove_all(struct kv *kv, unsigned table)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    int r = table_walk_begin(&walk, kv, table, (struct kv_slice){0});
    return r < 0 ? r : kv_bulk_load(kv, table, next_removed, &walk);
}
