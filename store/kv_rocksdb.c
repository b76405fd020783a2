/* The store in RocksDB: the operations. A table is a column family.
 *
 * Writes go to the log, unsynced, and are therefore safe from a crash of the process at once and
 * from one of the machine after a checkpoint, which syncs the log. RocksDB's own atomicity (a batch
 * over all column families) is more than kv.h promises.
 *
 * Example of a full disk: check_room_for() finds less than 64 MiB free, and writes fail with
 * -ENOSPC before RocksDB sees them, until there is room again. Where a write to the log itself
 * fails, all later ones fail with its error until kv_resume() has opened the database anew.
 *
 * Left out: RocksDB's transactions. kv_cas() locks one of 64 mutexes by a hash of the key instead.
 */
#include "store/kv_rocksdb.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

DEFINE_CLEANUP(rocksdb_writebatch_t *, rocksdb_writebatch_destroy);
DEFINE_CLEANUP(rocksdb_flushoptions_t *, rocksdb_flushoptions_destroy);

/* -- reads -- */

static int kv_rocksdb_get(struct kv *kv, unsigned table, struct kv_slice key,
                          struct kv_buf *ret_value)
{
    IN_USE(kv_rocksdb_of(kv));
    return kv_rocksdb_get_in_use(kv_rocksdb_of(kv), NULL, table, key, ret_value);
}

static int kv_rocksdb_multi_get(struct kv *kv, unsigned table, const struct kv_slice *keys,
                                size_t n_keys, struct kv_buf *ret_values)
{
    IN_USE(kv_rocksdb_of(kv));
    return kv_rocksdb_multi_get_in_use(kv_rocksdb_of(kv), NULL, table, keys, n_keys, ret_values);
}

static int kv_rocksdb_multi_scan(struct kv *kv, unsigned table, const struct kv_range *ranges,
                                 size_t n_ranges, size_t limit, struct kv_page *ret_pages)
{
    IN_USE(kv_rocksdb_of(kv));
    return kv_rocksdb_multi_scan_in_use(kv_rocksdb_of(kv), NULL, table, ranges, n_ranges, limit,
                                        ret_pages);
}

/* -- writes -- */

/* The file system is asked for its room once a MiB (about 1 us here, a message on a network). */
static int check_room_for(struct kv_rocksdb *store, size_t size_bytes)
{
    enum { CHECK_EVERY_BYTES = 1 << 20 };
    store->unchecked_bytes += size_bytes;
    if (store->unchecked_bytes < CHECK_EVERY_BYTES)
        return 0;
    int r = kv_rocksdb_check_room(store);
    if (r == 0)
        store->unchecked_bytes = 0;
    return r;
}

/* Stops all writing after a failure, and returns the error. */
static int stop_writing(struct kv_rocksdb *store, int error)
{
    if (error < 0)
        store->write_error = error;
    return error;
}

static int write_in_use(struct kv_rocksdb *store, rocksdb_writebatch_t *batch)
{
    size_t size_bytes;
    rocksdb_writebatch_data(batch, &size_bytes);
    LOCKED(&store->writing);
    if (store->write_error < 0)
        return store->write_error;
    int r = check_room_for(store, size_bytes);
    if (r < 0)
        return r;
    char *message = NULL;
    rocksdb_write(store->db, store->write_options, batch, &message);
    if (!message)
        kv_rocksdb_note_written(store);
    return stop_writing(store, kv_rocksdb_take_error(message));
}

static void add_operation(struct kv_rocksdb *store, rocksdb_writebatch_t *batch, unsigned table,
                          struct kv_slice key, const struct kv_slice *value)
{
    if (value)
        rocksdb_writebatch_put_cf(batch, store->handles[table], kv_rocksdb_bytes(key),
                                  key.size_bytes, kv_rocksdb_bytes(*value), value->size_bytes);
    else
        rocksdb_writebatch_delete_cf(batch, store->handles[table], kv_rocksdb_bytes(key),
                                     key.size_bytes);
}

static int kv_rocksdb_apply(struct kv *kv, const struct kv_batch *batch)
{
    struct kv_rocksdb *store = kv_rocksdb_of(kv);
    _cleanup_(rocksdb_writebatch_destroy_p) rocksdb_writebatch_t *operations =
        rocksdb_writebatch_create();
    IN_USE(store);
    if (store->write_error < 0) /* the handles may be gone with the database */
        return store->write_error;
    for (size_t i = 0; i < kv_batch_count(batch); i++) {
        struct kv_batch_op op = kv_batch_op(batch, i);
        add_operation(store, operations, op.table, op.key, op.is_delete ? NULL : &op.value);
    }
    return write_in_use(store, operations);
}

static pthread_mutex_t *cas_lock(struct kv_rocksdb *store, unsigned table, struct kv_slice key)
{
    /* FNV-1a, which spreads keys that differ in a counter's last byte; no more is needed */
    uint64_t h = 0xcbf29ce484222325u ^ table;
    for (size_t i = 0; i < key.size_bytes; i++)
        h = (h ^ ((const uint8_t *)key.data)[i]) * 0x100000001b3u;
    return &store->cas_locks[(h ^ h >> 32) % N_CAS_LOCKS];
}

static int kv_rocksdb_cas(struct kv *kv, unsigned table, struct kv_slice key,
                          const struct kv_slice *expected, const struct kv_slice *desired)
{
    struct kv_rocksdb *store = kv_rocksdb_of(kv);
    _cleanup_(kv_buf_done) struct kv_buf present = {0};
    _cleanup_(rocksdb_writebatch_destroy_p) rocksdb_writebatch_t *operation =
        rocksdb_writebatch_create();
    LOCKED(cas_lock(store, table, key));
    IN_USE(store);
    int r = kv_rocksdb_get_in_use(store, NULL, table, key, &present);
    if (r < 0 && r != -ENOENT)
        return r;
    struct kv_slice value = kv_buf_slice(&present);
    if (!slice_is_expected(r == 0 ? &value : NULL, expected))
        return -ECANCELED;
    add_operation(store, operation, table, key, desired);
    return write_in_use(store, operation);
}

static int checkpoint_in_use(struct kv_rocksdb *store)
{
    char *message = NULL;
    if (store->write_error < 0)
        return store->write_error;
    rocksdb_flush_wal(store->db, 1, &message);
    return stop_writing(store, kv_rocksdb_take_error(message));
}

static int kv_rocksdb_checkpoint(struct kv *kv)
{
    IN_USE(kv_rocksdb_of(kv));
    return checkpoint_in_use(kv_rocksdb_of(kv));
}

/* -- after a full disk -- */

/* Tries a write, to the log and to the disk. Returns 0 or the error. The key is of the default
 * column family, which no table uses. */
static int try_to_write(struct kv_rocksdb *store)
{
    _cleanup_(rocksdb_writebatch_destroy_p) rocksdb_writebatch_t *operation =
        rocksdb_writebatch_create();
    add_operation(store, operation, (unsigned)store->kv.n_tables, (struct kv_slice){"resume", 6},
                  &(struct kv_slice){"", 0});
    int r = write_in_use(store, operation);
    return r < 0 ? r : checkpoint_in_use(store);
}

/* Opens the database again: after a failed write to its log RocksDB takes no other until then, and
 * its C interface has no other way. Where that fails it is opened for reading, as reads must go on.
 */
static int reopen(struct kv_rocksdb *store)
{
    kv_rocksdb_close_db(store);
    int r = kv_rocksdb_open_db(store, false, NULL);
    if (r < 0)
        kv_rocksdb_open_db(store, true, NULL);
    store->write_error = r;
    return r;
}

static int kv_rocksdb_resume(struct kv *kv)
{
    struct kv_rocksdb *store = kv_rocksdb_of(kv);
    int r = kv_rocksdb_check_room(store);
    if (r < 0)
        return r;
    {
        IN_USE(store);
        if (store->write_error == 0)
            r = try_to_write(store);
        if (store->write_error == 0)
            return r;
    }
    pthread_rwlock_wrlock(&store->in_use);
    r = store->write_error < 0 ? reopen(store) : 0; /* another thread may have done it meanwhile */
    pthread_rwlock_unlock(&store->in_use);
    return r;
}

/* -- the rest -- */

struct usage {
    uint64_t size_bytes;      /* on the disk */
    uint64_t logs_size_bytes; /* of the logs' content; their files take room ahead */
};

static bool is_log(const char *name)
{
    const char *suffix = strrchr(name, '.');
    return suffix && strcmp(suffix, ".log") == 0;
}

static int directory_usage(int parent_fd, const char *name, struct usage *usage)
{
    int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    _cleanup_closedir_ DIR *directory = fdopendir(fd);
    if (!directory) {
        int r = -errno;
        close(fd);
        return r;
    }
    const struct dirent *entry;
    while ((entry = readdir(directory))) {
        struct stat st;
        if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
            continue;
        usage->size_bytes += (uint64_t)st.st_blocks * 512;
        usage->logs_size_bytes += is_log(entry->d_name) ? (uint64_t)st.st_size : 0;
    }
    return 0;
}

static int kv_rocksdb_usage(struct kv *kv, uint64_t *ret_size_bytes)
{
    struct kv_rocksdb *store = kv_rocksdb_of(kv);
    struct usage usage = {0};
    int r = directory_usage(store->directory_fd, ".", &usage);
    if (r == 0)
        r = directory_usage(store->directory_fd, KV_ROCKSDB_RUNS_DIR, &usage);
    if (r < 0 && r != -ENOENT)
        return r;
    *ret_size_bytes = usage.size_bytes;
    return 0;
}

/* Writes the tables before the end where the logs are long: the next opening reads the logs, which
 * after a scan takes longer than to write the tables now. Short logs stay, as each table would get
 * a small file. */
static void flush_long_logs(struct kv_rocksdb *store)
{
    enum { LEFT_BYTES = 4 << 20 };
    struct usage usage = {0};
    if (directory_usage(store->directory_fd, ".", &usage) < 0 ||
        usage.logs_size_bytes < LEFT_BYTES || kv_rocksdb_check_room(store) < 0)
        return;
    _cleanup_(rocksdb_flushoptions_destroy_p) rocksdb_flushoptions_t *options =
        rocksdb_flushoptions_create();
    for (size_t i = 0; i <= store->kv.n_tables && store->write_error == 0; i++) {
        char *message = NULL;
        rocksdb_flush_cf(store->db, options, store->handles[i], &message);
        stop_writing(store, kv_rocksdb_take_error(message));
    }
}

static void kv_rocksdb_close(struct kv *kv)
{
    struct kv_rocksdb *store = kv_rocksdb_of(kv);
    bool written = store->db && !kv->read_only;
    /* A failure of the following calls breaks no guarantee. */
    if (written && kv_rocksdb_checkpoint(kv) == 0)
        flush_long_logs(store);
    kv_rocksdb_close_db(store);
    if (written)
        kv_rocksdb_seal(store->directory_fd); /* without one, damage is found later or not at all */
    kv_rocksdb_free(store);
}

/* RocksDB's own lock is one of fcntl(2), which any descriptor of the file gives up for the process.
 */
static void kv_rocksdb_let_go(struct kv *kv)
{
    struct kv_rocksdb *store = kv_rocksdb_of(kv);
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    if (store->db)
        rocksdb_cancel_all_background_work(store->db, 1);
    _cleanup_close_ int fd =
        openat(store->directory_fd, "LOCK", O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        fcntl(fd, F_SETLK, &lock);
    flock(store->directory_fd, LOCK_UN);
}

const struct kv_ops kv_rocksdb_ops = {
    .close = kv_rocksdb_close,
    .get = kv_rocksdb_get,
    .multi_get = kv_rocksdb_multi_get,
    .multi_scan = kv_rocksdb_multi_scan,
    .apply = kv_rocksdb_apply,
    .cas = kv_rocksdb_cas,
    .bulk_load = kv_rocksdb_bulk_load,
    .checkpoint = kv_rocksdb_checkpoint,
    .let_go = kv_rocksdb_let_go,
    .resume = kv_rocksdb_resume,
    .usage = kv_rocksdb_usage,
    .snapshot = kv_rocksdb_take_snapshot,
};
