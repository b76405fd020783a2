/* A snapshot is a moment of the store, kept readable while the store is written. RocksDB's own
 * snapshot belongs to the opened database and ends with it: kv_resume() may have to open the
 * database anew, after which reads of this snapshot fail with -ESTALE.
 *
 * Example: a check of the store takes a snapshot and reads all tables for minutes; documents that
 * are written meanwhile are not in it, and its records and postings agree. Cost: microseconds;
 * entries that are deleted meanwhile stay on the disk until it is closed.
 */
#include "store/kv_rocksdb.h"

struct kv_rocksdb_snapshot {
    struct kv kv;
    struct kv_rocksdb *store;
    LIST_ENTRY(kv_rocksdb_snapshot) link;
    const rocksdb_snapshot_t *snapshot; /* NULL: gone */
    rocksdb_readoptions_t *options;
};

static struct kv_rocksdb_snapshot *snapshot_of(struct kv *kv)
{
    return (struct kv_rocksdb_snapshot *)kv;
}

static int check(const struct kv_rocksdb_snapshot *snapshot)
{
    return snapshot->snapshot ? 0 : -ESTALE;
}

static int snapshot_get(struct kv *kv, unsigned table, struct kv_slice key,
                        struct kv_buf *ret_value)
{
    struct kv_rocksdb_snapshot *snapshot = snapshot_of(kv);
    IN_USE(snapshot->store);
    int r = check(snapshot);
    return r < 0 ? r
                 : kv_rocksdb_get_in_use(snapshot->store, snapshot->options, table, key, ret_value);
}

static int snapshot_multi_get(struct kv *kv, unsigned table, const struct kv_slice *keys,
                              size_t n_keys, struct kv_buf *ret_values)
{
    struct kv_rocksdb_snapshot *snapshot = snapshot_of(kv);
    IN_USE(snapshot->store);
    int r = check(snapshot);
    return r < 0 ? r
                 : kv_rocksdb_multi_get_in_use(snapshot->store, snapshot->options, table, keys,
                                               n_keys, ret_values);
}

static int snapshot_multi_scan(struct kv *kv, unsigned table, const struct kv_range *ranges,
                               size_t n_ranges, size_t limit, struct kv_page *ret_pages)
{
    struct kv_rocksdb_snapshot *snapshot = snapshot_of(kv);
    IN_USE(snapshot->store);
    int r = check(snapshot);
    return r < 0 ? r
                 : kv_rocksdb_multi_scan_in_use(snapshot->store, snapshot->snapshot, table, ranges,
                                                n_ranges, limit, ret_pages);
}

static int snapshot_usage(struct kv *kv, uint64_t *ret_size_bytes)
{
    return kv_usage(&snapshot_of(kv)->store->kv, ret_size_bytes);
}

static void release(struct kv_rocksdb_snapshot *snapshot)
{
    if (snapshot->snapshot)
        rocksdb_release_snapshot(snapshot->store->db, snapshot->snapshot);
    snapshot->snapshot = NULL;
}

static void snapshot_close(struct kv *kv)
{
    struct kv_rocksdb_snapshot *snapshot = snapshot_of(kv);
    {
        IN_USE(snapshot->store);
        LOCKED(&snapshot->store->snapshots_lock);
        LIST_REMOVE(snapshot, link);
        release(snapshot);
    }
    rocksdb_readoptions_destroy(snapshot->options);
    free(snapshot);
}

void kv_rocksdb_release_snapshots(struct kv_rocksdb *store)
{
    struct kv_rocksdb_snapshot *snapshot;
    LIST_FOREACH(snapshot, &store->snapshots, link)
    release(snapshot);
}

/* A snapshot has only the operations of reading: kv.c passes no write on to a read-only store. */
static const struct kv_ops snapshot_ops = {
    .close = snapshot_close,
    .get = snapshot_get,
    .multi_get = snapshot_multi_get,
    .multi_scan = snapshot_multi_scan,
    .usage = snapshot_usage,
};

int kv_rocksdb_take_snapshot(struct kv *kv, struct kv **ret_snapshot)
{
    struct kv_rocksdb *store = kv_rocksdb_of(kv);
    struct kv_rocksdb_snapshot *snapshot = calloc(1, sizeof(*snapshot));
    if (!snapshot)
        return -ENOMEM;
    IN_USE(store);
    int r = kv_rocksdb_check_readable(store);
    if (r < 0) {
        free(snapshot);
        return r;
    }
    snapshot->kv = store->kv;
    snapshot->kv.ops = &snapshot_ops;
    snapshot->kv.read_only = true;
    snapshot->store = store;
    snapshot->snapshot = rocksdb_create_snapshot(store->db);
    snapshot->options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_snapshot(snapshot->options, snapshot->snapshot);
    rocksdb_readoptions_set_fill_cache(snapshot->options, 0);
    LOCKED(&store->snapshots_lock);
    LIST_INSERT_HEAD(&store->snapshots, snapshot, link);
    *ret_snapshot = &snapshot->kv;
    return 0;
}
