#include "engine/index/members/cluster_heads.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/index/members/cluster_ids.h"
#include "engine/index/tables/schema.h"

void cluster_heads_init(struct cluster_heads *heads, struct kv *kv, uint64_t after,
                        size_t page_rows)
{
    const uint64_t until = clustering_base(cluster_clustering(after) + 1);
    *heads = (struct cluster_heads){
        .kv = kv, .page_rows = page_rows, .last = after, .until = until, .more = after + 1 < until};
}

static int next_page(struct cluster_heads *heads)
{
    uint8_t from[HEAD_KEY_BYTES], to[HEAD_KEY_BYTES];

    put_be64(from, heads->last + 1);
    put_be64(to, heads->until);
    struct kv_range range = {{from, HEAD_KEY_BYTES}, {to, HEAD_KEY_BYTES}};
    kv_page_done(&heads->page);
    heads->page = (struct kv_page){0};
    heads->at = 0;
    int r = kv_scan(heads->kv, TABLE_MEMBERS, &range, heads->page_rows, &heads->page);
    if (r == 0)
        heads->more = heads->page.more;
    return r;
}

int cluster_heads_next(struct cluster_heads *heads, uint64_t *ret_id, uint64_t *ret_size)
{
    for (;;) {
        while (heads->at < heads->page.n_entries) {
            const struct kv_entry *entry = &heads->page.entries[heads->at++];
            if (entry->key.size_bytes < HEAD_KEY_BYTES)
                return -EUCLEAN;
            heads->last = get_be64(entry->key.data);
            if (entry->key.size_bytes > HEAD_KEY_BYTES)
                continue;
            if (entry->value.size_bytes != HEAD_VALUE_BYTES)
                return -EUCLEAN;
            *ret_id = heads->last;
            *ret_size = get_be64(entry->value.data);
            return 1;
        }
        if (!heads->more || heads->last + 1 == heads->until)
            return 0;
        int r = next_page(heads);
        if (r < 0)
            return r;
    }
}

void cluster_heads_done(struct cluster_heads *heads)
{
    kv_page_done(&heads->page);
    heads->page = (struct kv_page){0};
}
