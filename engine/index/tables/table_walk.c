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

int table_each_row(struct kv *kv, unsigned table, struct kv_range range, table_row_fn visit,
                   void *user)
{
    enum { ROWS_AT_ONCE = 256 };
    _cleanup_(kv_buf_done) struct kv_buf from = {0};
    int r = 0;
    for (bool more = true; r == 0 && more;) {
        _cleanup_(kv_page_done) struct kv_page page = {0};
        r = kv_scan(kv, table, &range, ROWS_AT_ONCE, &page);
        for (size_t i = 0; r == 0 && i < page.n_entries; i++)
            r = visit(user, &page.entries[i]);
        more = r == 0 && page.more && page.n_entries > 0;
        if (more) {
            kv_buf_done(&from);
            r = kv_page_cursor(&page, &from);
            range.from = kv_buf_slice(&from);
        }
    }
    return r;
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
