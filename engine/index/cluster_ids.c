#include "engine/index/cluster_ids.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/index/schema.h"

enum { IDS_AT_ONCE = 64 }; /* a crash wastes so many at most */

static const struct kv_slice next_key = {"next_cluster", 12};

static int read_next(struct kv *kv, uint64_t *ret_next)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};

    int r = kv_get(kv, TABLE_META, next_key, &value);
    if (r < 0 && r != -ENOENT)
        return r;
    if (r == 0 && value.size_bytes != 8)
        return -EUCLEAN;
    *ret_next = r == 0 ? get_be64(value.data) : 1;
    return 0;
}

static int write_next(struct kv *kv, uint64_t next)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    uint8_t value[8];

    if (!batch)
        return -ENOMEM;
    put_be64(value, next);
    kv_batch_put(batch, TABLE_META, next_key, (struct kv_slice){value, sizeof(value)});
    return kv_apply(kv, batch);
}

int cluster_ids_new(struct cluster_ids *ids, struct kv *kv, uint64_t *ret_id)
{
    if (ids->next == ids->end) {
        uint64_t next = 0;
        int r = read_next(kv, &next);
        if (r == 0)
            r = write_next(kv, next + IDS_AT_ONCE);
        if (r < 0)
            return r;
        *ids = (struct cluster_ids){next, next + IDS_AT_ONCE};
    }
    *ret_id = ids->next++;
    return 0;
}

int cluster_ids_pass(struct cluster_ids *ids, struct kv *kv, uint64_t id)
{
    uint64_t next = 0;
    int r = read_next(kv, &next);

    if (r == 0 && id >= next)
        r = write_next(kv, id + 1);
    if (r == 0 && id >= ids->next)
        ids->next = id < ids->end ? id + 1 : ids->end;
    return r;
}
