/* The store in RocksDB: how it is opened, and what is said when it cannot be.
 *
 * The directory of a store:
 *   TABLES          which tables it was made with, as text; written last: without it there is no
 *                   store here yet
 *   TABLES.new      the same while the store is being made; a making that was interrupted goes on
 *   runs/           files of sorted runs that are being written; leftovers are removed
 *   the rest        is RocksDB's
 *
 * Memory: the block cache (what a read costs where it is missed is copying its block from the
 * kernel's: 184 us a document between half a million and a million with 64 MiB of it, 150 with
 * 512), KV_WRITE_BUFFERS_BYTES of write buffers over all tables, up to once more
 * of it while they are being flushed, two compactions of a few MiB, and the indexes and filters of
 * all open files, some 30 bytes a document. In the cache they would be bounded, but most gets are
 * of what is absent, which filters answer: at a million documents one took 4 to 10 us when they did
 * not fit, and 1 to 2 us beside it.
 */
#include "store/kv_rocksdb.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/memory.h"

enum {
    /* By default a part of the memory there is: half a GiB from 16 GiB on. */
    CACHE_PART = 32,
    CACHE_LEAST_BYTES = 64 << 20,
    CACHE_MOST_BYTES = 512 << 20,
    CACHE_SHARD_BITS = 2,          /* there are few threads */
    TARGET_FILE_BYTES = 32 << 20,  /* half the default of RocksDB: a compaction is short */
    WRITE_BUFFER_BYTES = 32 << 20, /* of one table; all share KV_WRITE_BUFFERS_BYTES */
    /* Twice RocksDB's 4 KiB: an index half as large. Not where a read finds a few entries. */
    BLOCK_BYTES = 8 << 10,
    HASHED_BLOCK_BYTES = 4 << 10,
    /* A log is kept until every table's part of it is flushed: bounds what an opening replays. */
    MAX_LOGS_BYTES = 64 << 20,
    /* Of the descriptors a process may have, a quarter. Closing a file and opening it again costs
     * a hundred gets; and what keeps files is in 64 parts, of which each closes its own. */
    OPEN_FILES_PART = 4,
    OPEN_FILES_MIN = 256,
    OPEN_FILES_MAX = 4096,
    FILTER_BITS_PER_KEY = 10, /* 1 % false positives; or a partition, where filters are over these:
                                 some 20 bytes a document for its 16 posting lists */
    /* RocksDB insists on a log of what it does. Debian's is built with its assertions, and one of
     * them ends the process when that log meets a full disk: so it gets but its head (about 70 KiB)
     * at every opening, before which the room was looked at. */
    INFO_LOG_LEVEL_FATAL = 4,
    INFO_LOGS = 2,
    COMPACTION_READ_BYTES = 256 << 10, /* for each input file of each compaction */
    /* What a table's part of the write buffers grows by: each has one that is begun. RocksDB's 1
     * MiB in each of a dozen tables would be a third of all. */
    ARENA_BYTES = 128 << 10,
    SORTED_RUNS = 6, /* of a table, from where on some are merged: what a read may look into */
};

/* -- options -- */

static rocksdb_options_t *common_options(void)
{
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_options_set_write_buffer_size(options, WRITE_BUFFER_BYTES);
    rocksdb_options_set_max_write_buffer_number(options, 2);
    rocksdb_options_set_arena_block_size(options, ARENA_BYTES);
    rocksdb_options_set_target_file_size_base(options, TARGET_FILE_BYTES);
    rocksdb_options_set_max_bytes_for_level_base(options, 4 * TARGET_FILE_BYTES);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1);
    return options;
}

/* Keys come from all over most tables with each flush, so that levels would be rewritten from end
 * to end again and again. Runs of one size are merged instead, a few times in all; filters tell
 * which of them a read has to look into. Meanwhile a merge takes as much room again. */
static void merge_runs_of_one_size(rocksdb_options_t *options)
{
    rocksdb_options_set_compaction_style(options, rocksdb_universal_compaction);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 0);
    rocksdb_options_set_level0_file_num_compaction_trigger(options, SORTED_RUNS);
}

static int max_open_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur / OPEN_FILES_PART < OPEN_FILES_MIN)
        return OPEN_FILES_MIN;
    rlim_t n = limit.rlim_cur / OPEN_FILES_PART;
    return n > OPEN_FILES_MAX ? OPEN_FILES_MAX : (int)n;
}

static rocksdb_options_t *make_db_options(bool create)
{
    rocksdb_options_t *options = common_options();
    rocksdb_options_set_create_if_missing(options, create);
    rocksdb_options_set_create_missing_column_families(options, create);
    rocksdb_options_set_db_write_buffer_size(options, KV_WRITE_BUFFERS_BYTES);
    rocksdb_options_set_max_total_wal_size(options, MAX_LOGS_BYTES);
    /* All tables are written at once: without its log a store is as it was at a moment, not each
     * table at another. */
    rocksdb_options_set_atomic_flush(options, 1);
    rocksdb_options_set_max_open_files(options, max_open_files());
    rocksdb_options_set_max_background_jobs(options, 2);
    rocksdb_options_compaction_readahead_size(options, COMPACTION_READ_BYTES);
    rocksdb_options_set_stats_dump_period_sec(options, 0);
    rocksdb_options_set_stats_persist_period_sec(options, 0);
    rocksdb_options_set_info_log_level(options, INFO_LOG_LEVEL_FATAL);
    rocksdb_options_set_keep_log_file_num(options, INFO_LOGS);
    return options;
}

/* What filters over partitions are made of: RocksDB's own of fixed length must not meet a shorter
 * key. */
struct key_partition {
    struct kv_table table;
    char name[32]; /* in the files: with filters of another one they are read without */
};

static char *key_partition_cut(void *state, const char *key, size_t size_bytes, size_t *ret_size)
{
    const struct key_partition *partition = state;
    *ret_size = kv_partition_of(&partition->table, (struct kv_slice){key, size_bytes}).size_bytes;
    return (char *)key;
}

static unsigned char key_partition_is_for(void *state, const char *key, size_t size_bytes)
{
    (void)state, (void)key, (void)size_bytes;
    return 1;
}

static unsigned char key_partition_is_one(void *state, const char *key, size_t size_bytes)
{
    size_t size;
    key_partition_cut(state, key, size_bytes, &size);
    return size == size_bytes;
}

static const char *key_partition_name(void *state)
{
    return ((const struct key_partition *)state)->name;
}

static rocksdb_slicetransform_t *partition_of_keys(const struct kv_table *table)
{
    struct key_partition *partition = calloc(1, sizeof(*partition));
    if (!partition)
        return NULL; /* without filters */
    partition->table = *table;
    if (table->partition == KV_PARTITION_FIXED)
        snprintf(partition->name, sizeof(partition->name), "kinfs.partition.%u",
                 table->partition_bytes);
    else
        snprintf(partition->name, sizeof(partition->name), "kinfs.partition.prefixed");
    return rocksdb_slicetransform_create(partition, free, key_partition_cut, key_partition_is_for,
                                         key_partition_is_one, key_partition_name);
}

/* table NULL: the default column family. */
static rocksdb_options_t *make_table_options(const struct kv_rocksdb *store,
                                             const struct kv_table *table)
{
    bool by_partition = kv_rocksdb_filters_partitions(table);
    rocksdb_block_based_table_options_t *blocks = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_cache(blocks, store->cache);
    rocksdb_block_based_options_set_block_size(blocks, table && table->hashed ? HASHED_BLOCK_BYTES
                                                                              : BLOCK_BYTES);
    if (by_partition || (table && !table->scans_only))
        rocksdb_block_based_options_set_filter_policy(
            blocks, rocksdb_filterpolicy_create_bloom_full(FILTER_BITS_PER_KEY));
    rocksdb_block_based_options_set_whole_key_filtering(blocks, !by_partition);
    rocksdb_options_t *options = common_options();
    if (table && !table->ascending)
        merge_runs_of_one_size(options);
    if (by_partition)
        rocksdb_options_set_prefix_extractor(options, partition_of_keys(table));
    rocksdb_options_set_block_based_table_factory(options, blocks);
    rocksdb_block_based_options_destroy(blocks);
    return options;
}

static void set_compression(struct kv_rocksdb *store, int compression)
{
    for (size_t i = 0; i <= store->kv.n_tables; i++) {
        bool hashed = i < store->kv.n_tables && store->kv.tables[i].hashed;
        rocksdb_options_set_compression(store->table_options[i],
                                        hashed ? rocksdb_no_compression : compression);
    }
}

static size_t default_cache_bytes(void)
{
    uint64_t bytes = memory_of_process() / CACHE_PART;
    if (bytes < CACHE_LEAST_BYTES)
        return CACHE_LEAST_BYTES;
    return bytes < CACHE_MOST_BYTES ? (size_t)bytes : CACHE_MOST_BYTES;
}

static rocksdb_cache_t *make_cache(size_t cache_bytes)
{
    rocksdb_lru_cache_options_t *options = rocksdb_lru_cache_options_create();
    rocksdb_lru_cache_options_set_capacity(options,
                                           cache_bytes ? cache_bytes : default_cache_bytes());
    rocksdb_lru_cache_options_set_num_shard_bits(options, CACHE_SHARD_BITS);
    rocksdb_cache_t *cache = rocksdb_cache_create_lru_opts(options);
    rocksdb_lru_cache_options_destroy(options);
    return cache;
}

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
    free(store->path);
    free(store);
}
DEFINE_CLEANUP(struct kv_rocksdb *, kv_rocksdb_free);

static struct kv_rocksdb *kv_rocksdb_new(const char *path, const struct kv_options *options,
                                         bool create)
{
    struct kv_rocksdb *store = calloc(1, sizeof(*store));
    if (!store)
        return NULL;
    kv_init(&store->kv, &kv_rocksdb_ops, options);
    store->written_fd = -1;
    for (size_t i = 0; i < N_CAS_LOCKS; i++)
        pthread_mutex_init(&store->cas_locks[i], NULL);
    pthread_mutex_init(&store->writing, NULL);
    pthread_mutex_init(&store->snapshots_lock, NULL);
    LIST_INIT(&store->snapshots);
    /* kv_resume() must not wait for ever behind readers. No operation read-holds it twice. */
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&store->in_use, &attributes);
    pthread_rwlockattr_destroy(&attributes);

    size_t n = options->n_tables + 1;
    store->damaged = options->damaged && options->read_only;
    store->path = strdup(path);
    store->table_options = calloc(n, sizeof(*store->table_options));
    store->column_families = calloc(n, sizeof(*store->column_families));
    store->handles = calloc(n, sizeof(*store->handles));
    if (!store->path || !store->table_options || !store->column_families || !store->handles) {
        kv_rocksdb_free(store);
        return NULL;
    }
    store->cache = make_cache(options->cache_bytes);
    for (size_t i = 0; i < options->n_tables; i++) {
        store->column_families[i] = options->tables[i].name;
        store->table_options[i] = make_table_options(store, &options->tables[i]);
    }
    store->column_families[n - 1] = "default";
    store->table_options[n - 1] = make_table_options(store, NULL);
    store->db_options = make_db_options(create);
    if (store->damaged) { /* files may be missing, and logs end or resume anywhere */
        rocksdb_options_set_paranoid_checks(store->db_options, 0);
        rocksdb_options_set_wal_recovery_mode(store->db_options,
                                              rocksdb_skip_any_corrupted_records_recovery);
    }
    store->env_options = rocksdb_envoptions_create();
    store->write_options = rocksdb_writeoptions_create();
    store->read_options = rocksdb_readoptions_create();
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

int kv_rocksdb_open_db(struct kv_rocksdb *store, bool read_only, char **ret_message)
{
    /* Fast rather than small: keys are mostly hashes, and do not shrink. */
    static const int compressions[] = {rocksdb_lz4_compression, rocksdb_no_compression};
    char *message = NULL;
    /* A reader goes without a log where none can be made; it would move the writer's aside. */
    rocksdb_options_set_db_log_dir(store->db_options, read_only ? "/dev/null/none" : "");
    for (size_t i = 0; i < sizeof(compressions) / sizeof(compressions[0]); i++) {
        set_compression(store, compressions[i]);
        store->db = open_once(store, read_only, &message);
        if (!message && !read_only)
            kv_rocksdb_follow_manifest(store->path);
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
    *ret_message = message;
    return kv_rocksdb_errno(message);
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

/* Open the database of a store, in place or with its making finished first. ret_message may be
 * given with an error. */
static int open_stamped(struct kv_rocksdb *store, int directory_fd, enum kv_rocksdb_stamp stamp,
                        const char *text, char **ret_message)
{
    bool read_only = store->kv.read_only;
    /* Beside a writer a file may vanish between reading of it and opening it. */
    int r, tries = read_only ? 3 : 1;
    do {
        rocksdb_free(*ret_message);
        *ret_message = NULL;
        r = kv_rocksdb_open_db(store, read_only, ret_message);
    } while (r < 0 && --tries > 0);
    /* The stamp says that there is a database with these tables: what is not found is damage. */
    if (r == -EINVAL || (r == -EIO && strstr(*ret_message, strerror(ENOENT))))
        return -EUCLEAN;
    if (r < 0 || read_only)
        return r;
    if (stamp != KV_ROCKSDB_STAMP_FINISHED)
        r = kv_rocksdb_stamp_finish(directory_fd, text);
    rocksdb_options_set_create_if_missing(store->db_options, 0);
    rocksdb_options_set_create_missing_column_families(store->db_options, 0);
    return r < 0 ? r : kv_rocksdb_clear_runs(store->path);
}

static int open_store(const char *path, const struct kv_options *options, struct kv **ret_kv,
                      char **ret_message)
{
    bool create = options->create && !options->read_only;
    if (create && mkdir(path, 0700) < 0 && errno != EEXIST)
        return -errno;
    _cleanup_close_ int directory_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory_fd < 0)
        return -errno;
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
    _cleanup_free_ char *real_path = realpath(path, NULL); /* the caller may change directory */
    if (!real_path)
        return -errno;
    _cleanup_(kv_rocksdb_free_p) struct kv_rocksdb *store =
        kv_rocksdb_new(real_path, options, stamp != KV_ROCKSDB_STAMP_FINISHED);
    if (!store)
        return -ENOMEM;
    r = options->read_only ? 0 : kv_rocksdb_check_room(store);
    if (r == 0 && !store->damaged)
        r = kv_rocksdb_check_seal(directory_fd, ret_message);
    const bool sealed = r > 0;
    if (r > 0) /* a log that does not read to its end is no crash's */
        rocksdb_options_set_wal_recovery_mode(store->db_options,
                                              rocksdb_absolute_consistency_recovery);
    if (r >= 0 && !options->read_only)
        r = kv_rocksdb_break_seal(directory_fd);
    if (r >= 0)
        r = open_stamped(store, directory_fd, stamp, text, ret_message);
    if (!store->damaged) /* from here on one may be */
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
