/* The removal of a named clustering that is not wanted any more takes what is left of it: its
 * members, its clusters, the ids that became others, and last what says that there is such a
 * clustering. */
#include <errno.h>

#include "base/bytes.h"
#include "engine/index/members/cluster_aliases.h"
#include "engine/index/named/named_clusterings_private.h"
#include "engine/index/tables/meta.h"
#include "engine/index/tables/schema.h"

enum { REMOVED_AT_ONCE = 512 }; /* rows looked at */
enum { REMOVE_CLUSTER_OF, REMOVE_MEMBERS, REMOVE_ALIASES, REMOVE_PHASES };

/* Some rows of a phase. Returns 1 when there may be more, 0 or an error. */
static int remove_rows(struct named_clusterings *named, unsigned number)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct kv_page page;
    uint8_t from[8], to[8];
    const unsigned table = named->phase == REMOVE_CLUSTER_OF ? TABLE_CLUSTER_OF : TABLE_MEMBERS;
    const uint64_t mark = named->phase == REMOVE_ALIASES ? CLUSTER_ALIAS_MARK : 0;
    struct kv_range range = {.from = {"", 0}};

    if (!batch)
        return -ENOMEM;
    put_be64(from, mark | clustering_base(number));
    put_be64(to, mark | clustering_base(number + 1));
    if (table == TABLE_MEMBERS)
        range = (struct kv_range){{from, sizeof(from)}, {to, sizeof(to)}};
    if (named->at.data)
        range.from = kv_buf_slice(&named->at);
    int r = kv_scan(named->of.kv, table, &range, REMOVED_AT_ONCE, &page);
    if (r < 0)
        return r;
    for (size_t i = 0; i < page.n_entries; i++) {
        const struct kv_slice *key = &page.entries[i].key;
        if (table == TABLE_MEMBERS ||
            (key->size_bytes == 9 && ((const uint8_t *)key->data)[8] == number))
            kv_batch_delete(batch, table, *key);
    }
    r = kv_apply(named->of.kv, batch);
    bool more = page.more && page.n_entries > 0;
    if (r == 0) {
        kv_buf_done(&named->at);
        named->at = (struct kv_buf){0};
        if (more)
            r = kv_page_cursor(&page, &named->at);
    }
    kv_page_done(&page);
    return r < 0 ? r : more;
}

static int remove_meta(struct named_clusterings *named, unsigned number)
{
    static const char *const names[] = {"next_cluster", "cluster_counts", "remade", "clustering"};
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
        struct clustering_meta meta;
        clustering_meta_key(&meta, names[i], number);
        r = meta_delete(named->of.kv, meta.bytes);
    }
    return r;
}

int named_clusterings_remove_some(struct named_clusterings *named)
{
    unsigned number = named->removing[named->n_removing - 1];

    int r = remove_rows(named, number);
    if (r != 0)
        return r < 0 ? r : 0;
    if (named->phase + 1 < REMOVE_PHASES) {
        named->phase++;
        return 0;
    }
    r = remove_meta(named, number);
    if (r < 0)
        return r;
    named->phase = 0;
    named->n_removing--;
    return 0;
}
