/* Batches: operations in one array, their bytes one after the other in a second. Offsets and not
 * pointers refer to the bytes, as both arrays move when they grow.
 *
 * Example: put(a, xy) and delete(b) have the bytes "axyb", and the operations {at 0, key 1, value
 * 2} and {at 3, key 1, value 0}. Cost: amortised one copy of the bytes. Left out: finding several
 * operations on one key; the last one wins when the batch is applied.
 */
#include "store/kv_backend.h"

#include "base/room.h"

struct stored_op {
    unsigned table;
    bool is_delete;
    size_t key_at, key_bytes, value_bytes; /* the value follows the key */
};

struct kv_batch {
    struct stored_op *ops;
    char *bytes;
    size_t n_ops, ops_allocated, n_bytes, bytes_allocated;
    int error;
};

struct kv_batch *kv_batch_new(void)
{
    return calloc(1, sizeof(struct kv_batch));
}

void kv_batch_free(struct kv_batch *batch)
{
    if (!batch)
        return;
    free(batch->ops);
    free(batch->bytes);
    free(batch);
}

void kv_batch_clear(struct kv_batch *batch)
{
    batch->n_ops = batch->n_bytes = 0;
    batch->error = 0;
}

static int make_room(struct kv_batch *batch, size_t n_bytes)
{
    if (!MAKE_ROOM(batch->ops, batch->ops_allocated, batch->n_ops + 1))
        return -ENOMEM;
    if (!MAKE_ROOM(batch->bytes, batch->bytes_allocated, batch->n_bytes + n_bytes))
        return -ENOMEM;
    return 0;
}

static void append(struct kv_batch *batch, struct kv_slice slice)
{
    if (slice.size_bytes > 0)
        memcpy(batch->bytes + batch->n_bytes, slice.data, slice.size_bytes);
    batch->n_bytes += slice.size_bytes;
}

static void add(struct kv_batch *batch, unsigned table, bool is_delete, struct kv_slice key,
                struct kv_slice value)
{
    if (batch->error == 0)
        batch->error = make_room(batch, key.size_bytes + value.size_bytes);
    if (batch->error < 0)
        return;
    batch->ops[batch->n_ops++] = (struct stored_op){
        .table = table,
        .is_delete = is_delete,
        .key_at = batch->n_bytes,
        .key_bytes = key.size_bytes,
        .value_bytes = value.size_bytes,
    };
    append(batch, key);
    append(batch, value);
}

void kv_batch_put(struct kv_batch *batch, unsigned table, struct kv_slice key,
                  struct kv_slice value)
{
    add(batch, table, false, key, value);
}

void kv_batch_delete(struct kv_batch *batch, unsigned table, struct kv_slice key)
{
    add(batch, table, true, key, (struct kv_slice){0});
}

size_t kv_batch_count(const struct kv_batch *batch)
{
    return batch->n_ops;
}

size_t kv_batch_bytes(const struct kv_batch *batch)
{
    return batch->n_bytes;
}

int kv_batch_error(const struct kv_batch *batch)
{
    return batch->error;
}

struct kv_batch_op kv_batch_op(const struct kv_batch *batch, size_t i)
{
    const struct stored_op *op = &batch->ops[i];
    return (struct kv_batch_op){
        .table = op->table,
        .is_delete = op->is_delete,
        .key = {batch->bytes + op->key_at, op->key_bytes},
        .value = {batch->bytes + op->key_at + op->key_bytes, op->value_bytes},
    };
}
