/* Scans of ranges. A question asks for some sixteen short ranges at once, each of one partition:
 * they share an iterator where the table's filters are over partitions, so that most files are not
 * looked into and none is opened sixteen times.
 *
 * Example: for the posting lists of 16 fingerprints, one iterator is put on each list in turn, and
 * a file whose filter does not have the list is passed over.
 */
#include "store/kv_rocksdb.h"

DEFINE_CLEANUP(rocksdb_iterator_t *, rocksdb_iter_destroy);
DEFINE_CLEANUP(rocksdb_readoptions_t *, rocksdb_readoptions_destroy);

/* True when all keys of a range are of one partition, that of its first key: the range ends within
 * it, or with the first key behind it, which has no more bytes and may lack those that are 0. */
static bool is_of_one_partition(const struct kv_table *table, const struct kv_range *range)
{
    enum { PARTITION_MAX_BYTES = 256 };
    const uint8_t *from = range->from.data, *to = range->to.data;
    uint8_t next[PARTITION_MAX_BYTES];

    if (range->from.size_bytes == 0 || !to)
        return false;
    const size_t size =
        table->partition == KV_PARTITION_FIXED ? table->partition_bytes : 1 + (size_t)from[0];
    size_t n = size;
    if (range->from.size_bytes < size)
        return false;
    if (range->to.size_bytes >= size && memcmp(from, to, size) == 0)
        return true;
    memcpy(next, from, size);
    for (size_t i = n; i > 0 && ++next[i - 1] == 0; i--)
        ;
    while (n > 0 && next[n - 1] == 0)
        n--;
    size_t n_to = range->to.size_bytes;
    while (n_to > 0 && to[n_to - 1] == 0)
        n_to--;
    return range->to.size_bytes <= size && n_to == n && memcmp(next, to, n) == 0;
}

static bool is_empty(const struct kv_range *range)
{
    return range->to.data && slice_compare(range->from, range->to) >= 0;
}

static int read_range(rocksdb_iterator_t *iterator, const struct kv_range *range, size_t limit,
                      struct kv_page *ret_page)
{
    _cleanup_(page_builder_done) struct page_builder builder = {0};
    bool more = false;

    for (rocksdb_iter_seek(iterator, kv_rocksdb_bytes(range->from), range->from.size_bytes);
         rocksdb_iter_valid(iterator); rocksdb_iter_next(iterator)) {
        struct kv_slice key, value;
        key.data = rocksdb_iter_key(iterator, &key.size_bytes);
        if (range->to.data && slice_compare(key, range->to) >= 0)
            break;
        value.data = rocksdb_iter_value(iterator, &value.size_bytes);
        int r = page_builder_add(&builder, key, value);
        if (r < 0)
            return r;
        if (page_builder_full(&builder, limit)) { /* behind may be many that were deleted */
            more = true;
            break;
        }
    }
    char *message = NULL;
    rocksdb_iter_get_error(iterator, &message);
    if (message)
        return kv_rocksdb_take_error(message);
    return page_builder_finish(&builder, more, ret_page);
}

static rocksdb_readoptions_t *options_of(const rocksdb_snapshot_t *snapshot)
{
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    if (snapshot) {
        rocksdb_readoptions_set_snapshot(options, snapshot);
        rocksdb_readoptions_set_fill_cache(options, 0);
    }
    return options;
}

/* Scans ranges that are each of one partition. One iterator serves all: it ends with the partition
 * it was put on, and does not walk over entries that were deleted behind a range. */
static int scan_partitions(struct kv_rocksdb *store, const rocksdb_snapshot_t *snapshot,
                           unsigned table, const struct kv_range *ranges, size_t n_ranges,
                           size_t limit, struct kv_page *ret_pages)
{
    _cleanup_(rocksdb_readoptions_destroy_p) rocksdb_readoptions_t *options = options_of(snapshot);
    rocksdb_readoptions_set_prefix_same_as_start(options, 1);
    _cleanup_(rocksdb_iter_destroy_p) rocksdb_iterator_t *iterator =
        rocksdb_create_iterator_cf(store->db, options, store->handles[table]);
    int r = 0;

    for (size_t i = 0; r == 0 && i < n_ranges; i++)
        if (!is_empty(&ranges[i]))
            r = read_range(iterator, &ranges[i], limit, &ret_pages[i]);
    return r;
}

/* Scans a range over any partitions. The upper bound keeps the iterator from walking over entries
 * that were deleted behind the range. */
static int scan_one(struct kv_rocksdb *store, const rocksdb_snapshot_t *snapshot, unsigned table,
                    const struct kv_range *range, size_t limit, struct kv_page *ret_page)
{
    if (is_empty(range))
        return 0;
    _cleanup_(rocksdb_readoptions_destroy_p) rocksdb_readoptions_t *options = options_of(snapshot);
    if (range->to.data)
        rocksdb_readoptions_set_iterate_upper_bound(options, range->to.data, range->to.size_bytes);
    /* Filters over partitions cannot tell anything about a range over several. */
    rocksdb_readoptions_set_total_order_seek(options, 1);
    _cleanup_(rocksdb_iter_destroy_p) rocksdb_iterator_t *iterator =
        rocksdb_create_iterator_cf(store->db, options, store->handles[table]);
    return read_range(iterator, range, limit, ret_page);
}

int kv_rocksdb_multi_scan_in_use(struct kv_rocksdb *store, const rocksdb_snapshot_t *snapshot,
                                 unsigned table, const struct kv_range *ranges, size_t n_ranges,
                                 size_t limit, struct kv_page *ret_pages)
{
    const struct kv_table *shape = &store->kv.tables[table];
    bool of_partitions = kv_rocksdb_filters_partitions(shape);
    int r = kv_rocksdb_check_readable(store);

    for (size_t i = 0; of_partitions && i < n_ranges; i++)
        of_partitions = is_empty(&ranges[i]) || is_of_one_partition(shape, &ranges[i]);
    if (r == 0 && of_partitions)
        return scan_partitions(store, snapshot, table, ranges, n_ranges, limit, ret_pages);
    for (size_t i = 0; r == 0 && i < n_ranges; i++)
        r = scan_one(store, snapshot, table, &ranges[i], limit, &ret_pages[i]);
    return r;
}
