#include "engine/index/members/cluster_sizes.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/index/members/cluster_ids.h"
#include "engine/index/tables/schema.h"

void cluster_sizes_init(struct cluster_sizes *sizes, struct kv *kv, uint64_t after,
                        size_t page_rows)
{
    const uint64_t until = clustering_base(cluster_clustering(after) + 1);
    *sizes = (struct cluster_sizes){
        .kv = kv, .page_rows = page_rows, .last = after, .until = until, .more = after + 1 < until};
}

static int next_page(struct cluster_sizes *sizes)
{
    uint8_t from[SIZE_KEY_BYTES], to[SIZE_KEY_BYTES];

    put_be64(from, sizes->last + 1);
    put_be64(to, sizes->until);
    struct kv_range range = {{from, SIZE_KEY_BYTES}, {to, SIZE_KEY_BYTES}};
    kv_page_done(&sizes->page);
    sizes->page = (struct kv_page){0};
    sizes->at = 0;
    int r = kv_scan(sizes->kv, TABLE_MEMBERS, &range, sizes->page_rows, &sizes->page);
    if (r == 0)
        sizes->more = sizes->page.more;
    return r;
}

int cluster_sizes_next(struct cluster_sizes *sizes, uint64_t *ret_id, uint64_t *ret_size)
{
    for (;;) {
        while (sizes->at < sizes->page.n_entries) {
            const struct kv_entry *entry = &sizes->page.entries[sizes->at++];
            if (entry->key.size_bytes < SIZE_KEY_BYTES)
                return -EUCLEAN;
            sizes->last = get_be64(entry->key.data);
            if (entry->key.size_bytes > SIZE_KEY_BYTES)
                continue;
            if (entry->value.size_bytes != SIZE_VALUE_BYTES)
                return -EUCLEAN;
            *ret_id = sizes->last;
            *ret_size = get_be64(entry->value.data);
            return 1;
        }
        if (!sizes->more || sizes->last + 1 == sizes->until)
            return 0;
        int r = next_page(sizes);
        if (r < 0)
            return r;
    }
}

void cluster_sizes_done(struct cluster_sizes *sizes)
{
    kv_page_done(&sizes->page);
    sizes->page = (struct kv_page){0};
}
