#include "engine/index/members/cluster_ids.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid.h"

enum { IDS_AT_ONCE = 64 }; /* a crash wastes so many at most */

struct kv_slice clustering_meta_key(struct clustering_meta *meta, const char *name,
                                    unsigned clustering)
{
    if (clustering)
        snprintf(meta->bytes, sizeof(meta->bytes), "%s.%u", name, clustering);
    else
        snprintf(meta->bytes, sizeof(meta->bytes), "%s", name);
    return (struct kv_slice){meta->bytes, strlen(meta->bytes)};
}

static struct kv_slice next_key(struct clustering_meta *meta, const struct cluster_ids *ids)
{
    return clustering_meta_key(meta, "next_cluster", ids->clustering);
}

int cluster_ids_decode_next(struct kv_slice value, unsigned clustering, uint64_t *ret_next)
{
    const uint64_t base = clustering_base(clustering);
    const uint64_t next = value.size_bytes == 8 ? get_be64(value.data) : 0;
    if (next <= base || next - base > NEXT_MAX)
        return -EUCLEAN;
    *ret_next = next;
    return 0;
}

static int read_next(const struct cluster_ids *ids, struct kv *kv, uint64_t *ret_next)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct clustering_meta meta;

    int r = kv_get(kv, TABLE_META, next_key(&meta, ids), &value);
    if (r < 0 && r != -ENOENT)
        return r;
    if (r == 0)
        return cluster_ids_decode_next(kv_buf_slice(&value), ids->clustering, ret_next);
    *ret_next = clustering_base(ids->clustering) + 1;
    return 0;
}

static int write_next(const struct cluster_ids *ids, struct kv *kv, uint64_t next)
{
    struct clustering_meta meta;
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    uint8_t value[8];

    if (!batch)
        return -ENOMEM;
    put_be64(value, next);
    kv_batch_put(batch, TABLE_META, next_key(&meta, ids), (struct kv_slice){value, sizeof(value)});
    return kv_apply(kv, batch);
}

int cluster_ids_new(struct cluster_ids *ids, struct kv *kv, uint64_t *ret_id)
{
    if (ids->next == ids->end) {
        uint64_t next = 0;
        int r = read_next(ids, kv, &next);
        if (r == 0)
            r = write_next(ids, kv, next + IDS_AT_ONCE);
        if (r < 0)
            return r;
        ids->next = next;
        ids->end = next + IDS_AT_ONCE;
    }
    *ret_id = ids->next++;
    return 0;
}

int cluster_ids_pass_over(const struct cluster_ids *ids, struct kv *kv, uint64_t n)
{
    uint64_t next = 0;
    int r = read_next(ids, kv, &next);
    return r < 0 ? r : write_next(ids, kv, next + n);
}

int cluster_ids_pass(struct cluster_ids *ids, struct kv *kv, uint64_t id)
{
    uint64_t next = 0;
    int r = read_next(ids, kv, &next);

    if (r == 0 && id >= next)
        r = write_next(ids, kv, id + 1);
    if (r == 0 && id >= ids->next)
        ids->next = id < ids->end ? id + 1 : ids->end;
    return r;
}
