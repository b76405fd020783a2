/* The store in RocksDB: opening, and the message when it fails.
 *
 * The directory of a store:
 *   TABLES          the tables that it was made with, as text; written last: without it there is no
 *                   store here yet
 *   TABLES.new      the same while the store is being made; a making that was interrupted goes on
 *   runs/           files of sorted runs that are being written; leftovers are removed
 *   the rest        is RocksDB's
 *
 * An opening claims the directory, reads the stamp, checks the seal, breaks it, and opens the
 * database. Example: after a crash there is no seal, and the log is read up to its last whole
 * record; after a clean end there is one, and a log that ends early is damage.
 */
#include "store/kv_rocksdb.h"

#include <sys/stat.h>

/* -- the struct -- */

void kv_rocksdb_free(struct kv_rocksdb *store)
{
    if (!store)
        return;
    if (store->read_options)
        rocksdb_readoptions_destroy(store->read_options);
    if (store->write_options)
        rocksdb_writeoptions_destroy(store->write_options);
    if (store->env_options)
        rocksdb_envoptions_destroy(store->env_options);
    if (store->db_options)
        rocksdb_options_destroy(store->db_options);
    for (size_t i = 0; store->table_options && i <= store->kv.n_tables; i++)
        if (store->table_options[i])
            rocksdb_options_destroy(store->table_options[i]);
    if (store->cache)
        rocksdb_cache_destroy(store->cache);
    for (size_t i = 0; i < N_CAS_LOCKS; i++)
        pthread_mutex_destroy(&store->cas_locks[i]);
    pthread_rwlock_destroy(&store->in_use);
    pthread_mutex_destroy(&store->writing);
    pthread_mutex_destroy(&store->snapshots_lock);
    if (store->written_fd >= 0)
        close(store->written_fd);
    free(store->table_options);
    free(store->column_families);
    free(store->handles);
    if (store->directory_fd >= 0)
        close(store->directory_fd);
    free(store);
}
DEFINE_CLEANUP(struct kv_rocksdb *, kv_rocksdb_free);

/* Makes the struct, which takes the descriptor; on failure the descriptor stays the caller's. */
static struct kv_rocksdb *kv_rocksdb_new(int *directory_fd, const struct kv_options *options,
                                         bool create)
{
    struct kv_rocksdb *store = calloc(1, sizeof(*store));
    if (!store)
        return NULL;
    kv_init(&store->kv, &kv_rocksdb_ops, options);
    store->written_fd = store->directory_fd = -1;
    for (size_t i = 0; i < N_CAS_LOCKS; i++)
        pthread_mutex_init(&store->cas_locks[i], NULL);
    pthread_mutex_init(&store->writing, NULL);
    pthread_mutex_init(&store->snapshots_lock, NULL);
    LIST_INIT(&store->snapshots);
    /* Writers are preferred, as kv_resume() must not wait for ever behind readers. No operation
     * read-holds the lock twice. */
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&store->in_use, &attributes);
    pthread_rwlockattr_destroy(&attributes);

    size_t n = options->n_tables + 1;
    store->damaged = options->damaged && options->read_only;
    store->table_options = calloc(n, sizeof(*store->table_options));
    store->column_families = calloc(n, sizeof(*store->column_families));
    store->handles = calloc(n, sizeof(*store->handles));
    if (!store->table_options || !store->column_families || !store->handles) {
        kv_rocksdb_free(store);
        return NULL;
    }
    store->cache = kv_rocksdb_make_cache(options->cache_bytes);
    for (size_t i = 0; i < options->n_tables; i++) {
        store->column_families[i] = options->tables[i].name;
        store->table_options[i] = kv_rocksdb_make_table_options(store, &options->tables[i]);
    }
    store->column_families[n - 1] = "default";
    store->table_options[n - 1] = kv_rocksdb_make_table_options(store, NULL);
    store->db_options = kv_rocksdb_make_db_options(create);
    if (store->damaged) { /* files may be missing, and logs may have holes or end early */
        rocksdb_options_set_paranoid_checks(store->db_options, 0);
        rocksdb_options_set_wal_recovery_mode(store->db_options,
                                              rocksdb_skip_any_corrupted_records_recovery);
    }
    store->env_options = rocksdb_envoptions_create();
    store->write_options = rocksdb_writeoptions_create();
    store->read_options = rocksdb_readoptions_create();
    store->directory_fd = TAKE_FD(*directory_fd);
    kv_rocksdb_path_of(store->directory_fd, store->path);
    return store;
}

/* -- the database -- */

static rocksdb_t *open_once(struct kv_rocksdb *store, bool read_only, char **message)
{
    int n = (int)store->kv.n_tables + 1;
    const rocksdb_options_t *const *options =
        (const rocksdb_options_t *const *)store->table_options;
    if (read_only)
        return rocksdb_open_for_read_only_column_families(store->db_options, store->path, n,
                                                          store->column_families, options,
                                                          store->handles, 0, message);
    return rocksdb_open_column_families(store->db_options, store->path, n, store->column_families,
                                        options, store->handles, message);
}

static void set_compression(struct kv_rocksdb *store, int compression)
{
    for (size_t i = 0; i <= store->kv.n_tables; i++) {
        bool hashed = i < store->kv.n_tables && store->kv.tables[i].hashed;
        rocksdb_options_set_compression(store->table_options[i],
                                        hashed ? rocksdb_no_compression : compression);
    }
}

int kv_rocksdb_open_db(struct kv_rocksdb *store, bool read_only, char **ret_message)
{
    /* LZ4 is fast rather than small: keys are mostly hashes, and do not shrink. */
    static const int compressions[] = {rocksdb_lz4_compression, rocksdb_no_compression};
    char *message = NULL;
    /* A reader gets a directory where no log can be made, as it would move the writer's aside. */
    rocksdb_options_set_db_log_dir(store->db_options, read_only ? "/dev/null/none" : "");
    for (size_t i = 0; i < sizeof(compressions) / sizeof(compressions[0]); i++) {
        set_compression(store, compressions[i]);
        store->db = open_once(store, read_only, &message);
        if (!message && !read_only)
            kv_rocksdb_follow_manifest(store->directory_fd);
        if (!message)
            return 0;
        if (!strstr(message, "is not linked with the binary"))
            break;
        if (i + 1 < sizeof(compressions) / sizeof(compressions[0])) {
            rocksdb_free(message);
            message = NULL;
        }
    }
    store->db = NULL;
    if (!ret_message)
        return kv_rocksdb_take_error(message);
    int r = kv_rocksdb_errno(message);
    *ret_message = kv_rocksdb_with_paths(message);
    return r;
}

void kv_rocksdb_close_db(struct kv_rocksdb *store)
{
    if (!store->db)
        return;
    kv_rocksdb_release_snapshots(store);
    for (size_t i = 0; i <= store->kv.n_tables; i++)
        rocksdb_column_family_handle_destroy(store->handles[i]);
    rocksdb_close(store->db);
    store->db = NULL;
}

/* -- kv_rocksdb_open() -- */

/* Opens the database of a store, or finishes its making first. ret_message may be given with an
 * error. */
static int open_stamped(struct kv_rocksdb *store, int directory_fd, enum kv_rocksdb_stamp stamp,
                        const char *text, char **ret_message)
{
    bool read_only = store->kv.read_only;
    /* Beside a writer a file may vanish after it was read about and before it is opened. */
    int r, tries = read_only ? 3 : 1;
    do {
        rocksdb_free(*ret_message);
        *ret_message = NULL;
        r = kv_rocksdb_open_db(store, read_only, ret_message);
    } while (r < 0 && --tries > 0);
    /* By the stamp there is a database with these tables: a missing file is damage. */
    if (r == -EINVAL || (r == -EIO && strstr(*ret_message, strerror(ENOENT))))
        return -EUCLEAN;
    if (r < 0 || read_only)
        return r;
    if (stamp != KV_ROCKSDB_STAMP_FINISHED)
        r = kv_rocksdb_stamp_finish(directory_fd, text);
    rocksdb_options_set_create_if_missing(store->db_options, 0);
    rocksdb_options_set_create_missing_column_families(store->db_options, 0);
    return r < 0 ? r : kv_rocksdb_clear_runs(store->directory_fd);
}

static int open_store(const char *path, const struct kv_options *options, struct kv **ret_kv,
                      char **ret_message)
{
    bool create = options->create && !options->read_only;
    _cleanup_close_ int claimed_fd =
        kv_rocksdb_claim(path, create, options->read_only, ret_message);
    if (claimed_fd < 0)
        return claimed_fd;
    const int directory_fd = claimed_fd;
    _cleanup_free_ char *text = NULL;
    enum kv_rocksdb_stamp stamp = KV_ROCKSDB_STAMP_NONE;
    int r = kv_rocksdb_stamp_text(options, &text);
    if (r == 0)
        r = kv_rocksdb_stamp_check(directory_fd, text, &stamp);
    if (r == -EUCLEAN)
        *ret_message = strdup("its file TABLES is damaged or lost");
    if (r < 0)
        return r;
    if (stamp != KV_ROCKSDB_STAMP_FINISHED && !create)
        return -ENOENT;
    if (stamp == KV_ROCKSDB_STAMP_FOREIGN)
        return -ENOTEMPTY;
    if (stamp == KV_ROCKSDB_STAMP_NONE)
        r = kv_rocksdb_stamp_begin(directory_fd, text);
    if (r < 0)
        return r;
    _cleanup_(kv_rocksdb_free_p) struct kv_rocksdb *store =
        kv_rocksdb_new(&claimed_fd, options, stamp != KV_ROCKSDB_STAMP_FINISHED);
    if (!store)
        return -ENOMEM;
    r = options->read_only ? 0 : kv_rocksdb_check_room(store);
    if (r == 0 && !store->damaged)
        r = kv_rocksdb_check_seal(directory_fd, ret_message);
    const bool sealed = r > 0;
    if (r > 0) /* after a clean end a log that does not read to its end is damaged */
        rocksdb_options_set_wal_recovery_mode(store->db_options,
                                              rocksdb_absolute_consistency_recovery);
    if (r >= 0 && !options->read_only)
        r = kv_rocksdb_break_seal(directory_fd);
    if (r >= 0)
        r = open_stamped(store, directory_fd, stamp, text, ret_message);
    if (!store->damaged) /* a later reopening may meet the log of a crash */
        rocksdb_options_set_wal_recovery_mode(store->db_options, rocksdb_point_in_time_recovery);
    if (r < 0) {
        kv_rocksdb_close_db(store);
        return r;
    }
    if (!options->read_only)
        kv_rocksdb_open_written(store, directory_fd, !sealed);
    *ret_kv = &TAKE_PTR(store)->kv;
    return 0;
}

int kv_rocksdb_open(const char *path, const struct kv_options *options, struct kv **ret_kv,
                    char **ret_error)
{
    char *message = NULL;
    int r = open_store(path, options, ret_kv, &message);
    if (r < 0 && ret_error)
        *ret_error = kv_rocksdb_describe(r, options->create && !options->read_only,
                                         options->shown_path ? options->shown_path : path,
                                         message ? message : strerror(-r));
    rocksdb_free(message);
    return r;
}
