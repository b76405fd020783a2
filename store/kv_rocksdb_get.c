/* Reads of single keys, of the store as it is or of a snapshot. */
#include "store/kv_rocksdb.h"

DEFINE_CLEANUP(rocksdb_pinnableslice_t *, rocksdb_pinnableslice_destroy);

static int copy_pinned(const rocksdb_pinnableslice_t *pinned, struct kv_buf *ret_value)
{
    struct kv_slice value;
    value.data = rocksdb_pinnableslice_value(pinned, &value.size_bytes);
    return slice_copy(value, ret_value);
}

int kv_rocksdb_get_in_use(struct kv_rocksdb *store, const rocksdb_readoptions_t *options,
                          unsigned table, struct kv_slice key, struct kv_buf *ret_value)
{
    char *message = NULL;
    int r = kv_rocksdb_check_readable(store);
    if (r < 0)
        return r;
    _cleanup_(rocksdb_pinnableslice_destroy_p) rocksdb_pinnableslice_t *pinned =
        rocksdb_get_pinned_cf(store->db, options ? options : store->read_options,
                              store->handles[table], kv_rocksdb_bytes(key), key.size_bytes,
                              &message);
    if (message)
        return kv_rocksdb_take_error(message);
    return pinned ? copy_pinned(pinned, ret_value) : -ENOENT;
}

int kv_rocksdb_multi_get_in_use(struct kv_rocksdb *store, const rocksdb_readoptions_t *options,
                                unsigned table, const struct kv_slice *keys, size_t n_keys,
                                struct kv_buf *ret_values)
{
    _cleanup_free_ const char **key_bytes = calloc(n_keys, sizeof(*key_bytes));
    _cleanup_free_ size_t *key_sizes = calloc(n_keys, sizeof(*key_sizes));
    _cleanup_free_ rocksdb_pinnableslice_t **pinned = calloc(n_keys, sizeof(*pinned));
    _cleanup_free_ char **messages = calloc(n_keys, sizeof(*messages));
    if (!key_bytes || !key_sizes || !pinned || !messages)
        return -ENOMEM;
    for (size_t i = 0; i < n_keys; i++) {
        key_bytes[i] = kv_rocksdb_bytes(keys[i]);
        key_sizes[i] = keys[i].size_bytes;
    }
    int error = kv_rocksdb_check_readable(store);
    if (error < 0)
        return error;
    rocksdb_batched_multi_get_cf(store->db, options ? options : store->read_options,
                                 store->handles[table], n_keys, key_bytes, key_sizes, pinned,
                                 messages, false);
    int n_present = 0;
    for (size_t i = 0; i < n_keys; i++) {
        int r = kv_rocksdb_take_error(messages[i]);
        if (pinned[i]) {
            if (r == 0 && error == 0)
                r = copy_pinned(pinned[i], &ret_values[i]);
            rocksdb_pinnableslice_destroy(pinned[i]);
            n_present++;
        }
        if (error == 0)
            error = r;
    }
    return error < 0 ? error : n_present;
}
