/* An ordered key-value store: the engine knows no more than this of the place of its data.
 *
 * A store holds a fixed set of *tables*; a table maps binary keys, ordered bytewise, to binary
 * values. The first component of every key is its *partition* (see struct kv_table): the unit of
 * atomicity, and of placement when a distributed store stands behind this header.
 *
 * Every back end guarantees:
 *   - a write that returned 0 is seen by every later read of any thread or process;
 *   - the writes of one kv_apply() that fall in one partition happen all or not at all; across
 *     partitions there is neither atomicity nor order;
 *   - every call may take milliseconds and may fail with -EAGAIN (nothing happened) or -ETIMEDOUT
 *     (it may have happened): both are transient and the caller repeats, so writes must be
 *     idempotent;
 *   - writes that were acknowledged survive a crash of this process; those that preceded the last
 *     kv_checkpoint() survive a crash of the machine, too.
 *
 * Other errors: -ENOSPC (no room), -EUCLEAN (stored data are damaged), -EIO, -ENOMEM, -EROFS
 * (opened read-only). A write that failed with one of these may have happened, or some partitions
 * of it; once kv_resume() has returned 0, reads tell for good. All functions may be called by any
 * thread at any time; none keeps a pointer into the caller's memory after it returns. A caller does
 * not hold a lock over a call when another thread's reply to a user waits for that lock.
 */
#ifndef KINFS_STORE_KV_H
#define KINFS_STORE_KV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct kv;

/* Bytes that are borrowed. */
struct kv_slice {
    const void *data;
    size_t size_bytes;
};

/* Bytes on the heap that belong to the holder; data is NULL when there is no value. */
struct kv_buf {
    void *data;
    size_t size_bytes;
};

static inline void kv_buf_done(struct kv_buf *buf)
{
    free(buf->data);
    *buf = (struct kv_buf){0};
}

static inline struct kv_slice kv_buf_slice(const struct kv_buf *buf)
{
    return (struct kv_slice){buf->data, buf->size_bytes};
}

/* The partition of a key, by the table. */
enum kv_partition {
    KV_PARTITION_WHOLE,    /* the whole key is the partition */
    KV_PARTITION_FIXED,    /* the first partition_bytes bytes (the whole key if shorter) */
    KV_PARTITION_PREFIXED, /* the first byte n, and the n bytes after it */
};

struct kv_table {
    const char *name; /* [a-z_]+, unique; part of the stored format */
    enum kv_partition partition;
    uint8_t partition_bytes; /* for KV_PARTITION_FIXED, 1 to 32 */
    bool scans_only;         /* hint: point lookups are rare (no filter worth its memory) */
    bool partitions_sought; /* hint: scans are mostly within one partition, and there are very many,
                               of a few entries each (not KV_PARTITION_WHOLE) */
    bool hashed;    /* hint: entries are hardly more than keys, and keys are hashes for the most
                       part: they do not compress, and neighbours are rarely read together */
    bool ascending; /* hint: new keys come after all others; else they come anywhere */
};

/* Options a store is opened with; everything borrowed, until kv_close(). */
struct kv_options {
    const struct kv_table *tables; /* a table is named in calls by its place in this array */
    size_t n_tables;
    bool create;        /* make the store where there is none; else -ENOENT */
    bool read_only;     /* no write reaches the store; needs no exclusive hold of it */
    bool damaged;       /* with read_only: open as much as can be read of a store that is refused
                           otherwise; the tables may be of different moments */
    size_t cache_bytes; /* bound of the cache of data that was read; 0: the back end's default,
                           by the memory there is */
    const char *shown_path; /* the path in messages, where the user named another than `path`; NULL:
                               `path` */
};

/* Keys have 1 to KV_MAX_KEY_BYTES bytes, values 0 to KV_MAX_VALUE_BYTES, the keys and values of a
 * batch together at most KV_MAX_BATCH_BYTES. A key may hold a path (PATH_MAX). A batch is in memory
 * three times (caller, log buffer, write buffer), so it is kept well below the bound of all write
 * buffers; a value is at most half a batch, so that it never travels alone. */
enum {
    KV_MAX_KEY_BYTES = 4096,
    KV_MAX_VALUE_BYTES = 4 << 20,
    KV_MAX_BATCH_BYTES = 8 << 20,
};

/* The default back end, in a directory of this machine.
 *
 * path       borrowed; a directory that exists or, with create, whose parent does
 * ret_error  on failure gives one line, without newline, that names the path, the error and the
 *            remedy; may be NULL. Untouched on success
 *
 * The directory and all in it is the effective user's own (base/files/trust.h), which is looked at
 * before anything is touched, and which keeps a descriptor; RocksDB knows the directory by that.
 *
 * Returns 0, -ENOENT (no store there; with create, no directory above it), -EBUSY (another process
 * has it open), -EPERM (not one's own, or others can change it), -EUCLEAN (damaged), -EPROTO (made
 * with other tables), -ENOTEMPTY (a directory with other things in it), -ENOTDIR, -EACCES, -EROFS,
 * -ENOSPC (also while less than 64 MiB are free: then no write is taken either), -ENOMEM, -EIO. A
 * store opened read_only beside its writer shows what was there at that moment, and fails with -EIO
 * when the writer has removed a file since.
 */
int kv_rocksdb_open(const char *path, const struct kv_options *options, struct kv **ret_kv,
                    char **ret_error);

/* Sets a function that gets a line when the default back end ends the process, which it does for
 * want of memory or of threads; the exit code then is KV_TERMINATED. It is set for the process,
 * before the first store is opened, and called once by the thread that fails. */
enum { KV_TERMINATED = 3 };
void kv_set_last_words(void (*say)(void *user, const char *line), void *user);

/* The number of rows that a crash took from a store that is opened for writing: rows that had been
 * written last and are not in its log any more, because it is lost, cut or damaged, or because the
 * machine ended before it was on the disk. Rows of the last tenth of a second are not counted. */
uint64_t kv_rocksdb_n_lost(struct kv *kv);

/* True when a directory is a store of this back end: finished, damaged or with its making
 * interrupted. Touches nothing. */
bool kv_rocksdb_is_store(const char *path);

/* Returns 0 when kv_rocksdb_remove() can remove the entry of this name in a directory of one's own,
 * or there is none; -EPERM with a line in *ret_why (as trust.h has it) when it is not one's own or
 * has directories that no store has; or another error. Touches nothing. */
int kv_rocksdb_check_removable(int directory_fd, const char *name, char **ret_why);

/* Remove a store of this back end that nobody uses, complete or not. A store with a directory in it
 * that no store has stays as it is. Returns 0, also where there is none, or as above. */
int kv_rocksdb_remove(int directory_fd, const char *name);

/* Put back files in which a store of this back end describes itself, and which it lost: those that
 * list its files and its tables; never data. Called when the store could not be opened, and while
 * nobody else has it. Returns 1 when something was put back, 0, -EPERM or -EBUSY as
 * kv_rocksdb_open(), or another error. */
int kv_rocksdb_restore(const char *path, const struct kv_options *options);

/* Flushes and ends; NULL is allowed. No call may be in progress. */
void kv_close(struct kv *kv);
DEFINE_CLEANUP(struct kv *, kv_close);

/* Read one value. Returns 0, -ENOENT when the key is absent, or an error; ret_value gives. */
int kv_get(struct kv *kv, unsigned table, struct kv_slice key, struct kv_buf *ret_value);

/* Read many values of one table at once, in any key order; ret_values[i].data is NULL where keys[i]
 * is absent (an empty value has a non-NULL data). On failure every ret_values[i] is empty.
 * Returns how many are present, or an error.
 */
int kv_multi_get(struct kv *kv, unsigned table, const struct kv_slice *keys, size_t n_keys,
                 struct kv_buf *ret_values);

/* Keys from (inclusive) to to (exclusive); to.data NULL means up to the end of the table. */
struct kv_range {
    struct kv_slice from, to;
};

struct kv_entry {
    struct kv_slice key, value; /* into the page's own memory */
};

/* A piece of a range, in key order. */
struct kv_page {
    struct kv_entry *entries;
    size_t n_entries;
    bool more; /* the range may hold entries after the last one */
    void *memory;
};

void kv_page_done(struct kv_page *page);

/* Read the first entries of a range, at most limit (1 or more) of them. A back end may return
 * fewer, with more set; it is set, too, where there are as many, and what is behind them, perhaps
 * very many that were deleted, is not looked at. The entries of one partition in a page are of one
 * moment; the next page is of a later one. To go on, start at kv_page_cursor(). Returns 0 or an
 * error; ret_page gives.
 */
int kv_scan(struct kv *kv, unsigned table, const struct kv_range *range, size_t limit,
            struct kv_page *ret_page);

/* Many short ranges of one table at once: a distributed store answers them in parallel. As
 * kv_scan() with one limit for each; on failure every page is empty.
 */
int kv_multi_scan(struct kv *kv, unsigned table, const struct kv_range *ranges, size_t n_ranges,
                  size_t limit, struct kv_page *ret_pages);

/* The smallest key after the page's last: the from of the next kv_scan(). Gives the bytes.
 * Returns 0 or -ENOMEM; -ENODATA for an empty page.
 */
int kv_page_cursor(const struct kv_page *page, struct kv_buf *ret_from);

/* The range of all keys that begin with prefix; ret_to gives the bytes range.to points into.
 * Returns 0 or -ENOMEM.
 */
int kv_prefix_range(struct kv_slice prefix, struct kv_range *ret_range, struct kv_buf *ret_to);

/* A list of puts and deletes, in order; the last one to a key wins. Keys and values are copied. An
 * allocation failure is remembered and returned by kv_apply(), so that adding needs no check.
 */
struct kv_batch;
struct kv_batch *kv_batch_new(void); /* NULL without memory */
void kv_batch_free(struct kv_batch *batch);
DEFINE_CLEANUP(struct kv_batch *, kv_batch_free);
void kv_batch_put(struct kv_batch *batch, unsigned table, struct kv_slice key,
                  struct kv_slice value);
void kv_batch_delete(struct kv_batch *batch, unsigned table, struct kv_slice key);
void kv_batch_clear(struct kv_batch *batch);
size_t kv_batch_count(const struct kv_batch *batch);
size_t kv_batch_bytes(const struct kv_batch *batch);

/* Carry out a batch; it is unchanged and may be applied again. Returns 0, -E2BIG past
 * KV_MAX_BATCH_BYTES, -EINVAL for an empty key or a key or value past its limit, or an error.
 */
int kv_apply(struct kv *kv, const struct kv_batch *batch);

/* Replace the value of a key if it is the expected one: expected NULL means absent, desired NULL
 * means delete. Returns 0, -ECANCELED when the present value differs, or an error. Atomic
 * among kv_cas() calls; a kv_apply() of the same key at the same time may fall in between.
 */
int kv_cas(struct kv *kv, unsigned table, struct kv_slice key, const struct kv_slice *expected,
           const struct kv_slice *desired);

/* A source of entries in strictly ascending key order for kv_bulk_load(). Returns 1 with *ret_entry
 * (valid until the next call) and *ret_delete filled, 0 at the end, or an error.
 */
typedef int (*kv_run_next_fn)(void *user, struct kv_entry *ret_entry, bool *ret_delete);

/* Write a sorted run of puts and deletes, far cheaper than batches when it is large; overrides
 * older entries of the same keys. Not atomic: after a failure or a crash any part of it may be
 * there. Returns 0, -EINVAL when the order is violated, what next returned, or an error.
 */
int kv_bulk_load(struct kv *kv, unsigned table, kv_run_next_fn next, void *user);

/* Everything acknowledged before this call survives a crash of the machine when it returns 0. */
int kv_checkpoint(struct kv *kv);

/* The process ends at once, with threads in it that may read still: another one may open the store
 * from now on, and finds it as after a kill. Nothing is written any more, by anybody, and
 * kv_close() is not called. */
void kv_let_go(struct kv *kv);

/* After a write or checkpoint failed with -ENOSPC, -EIO or another error that is not transient,
 * writes may go on failing with it until this call, also when its cause is gone. Reads go on, but
 * wait for this call, which may take as long as an opening. Returns 0 when the store takes writes
 * again, or the error that stands; call again later.
 */
int kv_resume(struct kv *kv);

/* The store as it is now, all tables at one moment, for reading alone, however long that takes
 * while others write: entries that are deleted meanwhile stay on the disk as long as it is open.
 * kv_close() it, before the store. Once kv_resume() had to open the store anew its reads fail with
 * -ESTALE. Reading it leaves the cache to the store's own readers. Returns 0, -ENOMEM or an error;
 * ret_snapshot gives. Takes microseconds.
 */
int kv_snapshot(struct kv *kv, struct kv **ret_snapshot);

/* From now on calls that fail with -EAGAIN or -ETIMEDOUT are repeated, with growing pauses, for
 * about two seconds before the error is passed on. Right for all that is idempotent, as every write
 * is; kv_cas() is repeated after -EAGAIN only, kv_bulk_load() not at all (its source is used up).
 * Before others have the store. */
void kv_be_patient(struct kv *kv);

/* For a caller that repeats a call itself: returns true, after a pause, when it should be repeated
 * after this result. n_tries is the caller's, 0 at first; it gives up after about two seconds. Not
 * called with a lock held. */
bool kv_retry_wanted(int result, unsigned *n_tries);

/* The text of the back end for the last call that failed, of this thread and of any store: one line
 * that names the file in question where one is known, or "". Borrowed until the thread's next call.
 */
const char *kv_last_error(void);

/* Bytes the store occupies, about; for reports. Returns 0 or an error. */
int kv_usage(struct kv *kv, uint64_t *ret_size_bytes);

#endif
