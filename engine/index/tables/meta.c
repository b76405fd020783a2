#include "engine/index/tables/meta.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid.h"

int meta_get_number(struct kv *kv, const char *name, uint64_t *ret_value)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(kv, TABLE_META, meta_key(name), &value);
    if (r < 0)
        return r;
    if (value.size_bytes != sizeof(uint64_t))
        return -EUCLEAN;
    *ret_value = get_be64(value.data);
    return 0;
}

int meta_get_sid(struct kv *kv, const char *name, uint64_t *ret_sid)
{
    uint64_t sid;
    int r = meta_get_number(kv, name, &sid);
    if (r < 0)
        return r;
    if (sid > NEXT_MAX)
        return -EUCLEAN;
    *ret_sid = sid;
    return 0;
}

int meta_put(struct kv *kv, const char *name, struct kv_slice value)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    kv_batch_put(batch, TABLE_META, meta_key(name), value);
    return kv_apply(kv, batch);
}

int meta_put_number(struct kv *kv, const char *name, uint64_t value)
{
    uint8_t bytes[sizeof(uint64_t)];
    put_be64(bytes, value);
    return meta_put(kv, name, (struct kv_slice){bytes, sizeof(bytes)});
}

int meta_delete(struct kv *kv, const char *name)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    kv_batch_delete(batch, TABLE_META, meta_key(name));
    return kv_apply(kv, batch);
}
