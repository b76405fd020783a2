/* The operations of a back end of kv.h. Only the files of store/ include this.
 *
 * kv.c checks and shapes before it calls: tables exist, keys and values of writes are within the
 * limits, a run's order holds, results start out empty and are emptied again after a failure. An
 * operation below need not check any of this.
 */
#ifndef KINFS_STORE_KV_BACKEND_H
#define KINFS_STORE_KV_BACKEND_H

#include <string.h>

#include "store/kv.h"

struct kv_ops {
    void (*close)(struct kv *kv);
    int (*get)(struct kv *kv, unsigned table, struct kv_slice key, struct kv_buf *ret_value);
    /* ret_values and ret_pages are zeroed, and may be left half filled on failure. */
    int (*multi_get)(struct kv *kv, unsigned table, const struct kv_slice *keys, size_t n_keys,
                     struct kv_buf *ret_values);
    int (*multi_scan)(struct kv *kv, unsigned table, const struct kv_range *ranges, size_t n_ranges,
                      size_t limit, struct kv_page *ret_pages);
    int (*apply)(struct kv *kv, const struct kv_batch *batch);
    int (*cas)(struct kv *kv, unsigned table, struct kv_slice key, const struct kv_slice *expected,
               const struct kv_slice *desired);
    int (*bulk_load)(struct kv *kv, unsigned table, kv_run_next_fn next, void *user);
    int (*checkpoint)(struct kv *kv);
    void (*let_go)(struct kv *kv); /* NULL: it keeps nobody out */
    int (*resume)(struct kv *kv);
    int (*usage)(struct kv *kv, uint64_t *ret_size_bytes);
    int (*snapshot)(struct kv *kv, struct kv **ret_snapshot);
};

/* Every back end's struct begins with this. */
struct kv {
    const struct kv_ops *ops;
    const struct kv_table *tables; /* borrowed */
    size_t n_tables;
    bool read_only, patient;
};

enum { KV_WRITE_BUFFERS_BYTES = 32 << 20 }; /* of all; KV_MAX_BATCH_BYTES is well below it */

/* Sets the text of kv_last_error(); control characters become blanks. */
void kv_set_last_error(const char *text);

void kv_init(struct kv *kv, const struct kv_ops *ops, const struct kv_options *options);

static inline int slice_compare(struct kv_slice a, struct kv_slice b)
{
    size_t n = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = n > 0 ? memcmp(a.data, b.data, n) : 0;
    if (order != 0)
        return order;
    return (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

/* A copy with non-NULL data, however short. */
int slice_copy(struct kv_slice slice, struct kv_buf *ret_copy);

/* True when a present value (NULL: absent) is the expected one (NULL: absent). */
static inline bool slice_is_expected(const struct kv_slice *present,
                                     const struct kv_slice *expected)
{
    if (!present || !expected)
        return !present && !expected;
    return slice_compare(*present, *expected) == 0;
}

/* The partition a key belongs to: a piece of the key. */
struct kv_slice kv_partition_of(const struct kv_table *table, struct kv_slice key);

/* -- batches, looked into -- */

struct kv_batch_op {
    unsigned table;
    bool is_delete;
    struct kv_slice key, value; /* into the batch, valid while it is unchanged */
};

/* The error of an addition that failed for want of memory, or 0. */
int kv_batch_error(const struct kv_batch *batch);
struct kv_batch_op kv_batch_op(const struct kv_batch *batch, size_t i);

/* -- pages, filled -- */

/* A page being filled; zeroed to begin with. */
struct page_builder {
    struct page_item {
        size_t key_at, key_bytes, value_bytes;
    } * items;
    char *bytes;
    size_t n_items, items_allocated, n_bytes, bytes_allocated;
};

/* Bytes after which a page is ended early, so that a limit in entries also bounds memory. */
enum { PAGE_FULL_BYTES = 4 << 20 };

int page_builder_add(struct page_builder *builder, struct kv_slice key, struct kv_slice value);
static inline bool page_builder_full(const struct page_builder *builder, size_t limit)
{
    return builder->n_items >= limit || builder->n_bytes >= PAGE_FULL_BYTES;
}
/* Gives the page and leaves the builder empty. Returns 0 or -ENOMEM. */
int page_builder_finish(struct page_builder *builder, bool more, struct kv_page *ret_page);
void page_builder_done(struct page_builder *builder);

#endif
