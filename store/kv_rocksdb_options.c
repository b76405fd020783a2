/* The options of the database and of its tables.
 *
 * Memory: the block cache (a miss costs a copy of the block from the kernel's cache: 184 us a
 * document between half a million and a million with 64 MiB of cache, 150 with 512),
 * KV_WRITE_BUFFERS_BYTES of write buffers over all tables, up to once more of it while they are
 * being flushed, two compactions of a few MiB, and the indexes and filters of all open files, some
 * 30 bytes a document. In the cache these would be bounded, but most gets are of absent keys, which
 * filters answer: at a million documents one took 4 to 10 us when the filters did not fit, and 1 to
 * 2 us with them beside the cache.
 *
 * Left out: a cache of rows, and direct reads. The kernel's page cache has the files anyway, and
 * gives memory back when others need it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "store/kv_rocksdb.h"

enum {
    /* The default cache is a part of the machine's memory: half a GiB from 16 GiB on. */
    CACHE_PART = 32,
    CACHE_LEAST_BYTES = 64 << 20,
    CACHE_MOST_BYTES = 512 << 20,
    CACHE_SHARD_BITS = 2,          /* there are few threads */
    TARGET_FILE_BYTES = 32 << 20,  /* half the default of RocksDB: a compaction is short */
    WRITE_BUFFER_BYTES = 32 << 20, /* of one table; all share KV_WRITE_BUFFERS_BYTES */
    /* Twice RocksDB's 4 KiB, for an index half as large; not in tables whose reads find a few
     * entries. */
    BLOCK_BYTES = 8 << 10,
    HASHED_BLOCK_BYTES = 4 << 10,
    /* A log is kept until every table's part of it is flushed; this bounds the log that an opening
     * replays. */
    MAX_LOGS_BYTES = 64 << 20,
    /* A quarter of the descriptors that a process may have. Closing a file and opening it again
     * costs a hundred gets, and RocksDB's table of files has 64 parts, each of which closes its
     * own.
     */
    OPEN_FILES_PART = 4,
    OPEN_FILES_MIN = 256,
    OPEN_FILES_MAX = 4096,
    /* RocksDB's 16 are started for each table, be it empty: hundreds of threads at each opening,
     * a third of its work, for the first 16 files of a table. */
    FILE_OPENERS = 1,
    FILTER_BITS_PER_KEY = 10, /* 1 % false positives; bits a partition where filters are over these:
                                 some 20 bytes a document for its 16 posting lists */
    /* RocksDB insists on a log of its actions. Debian's is built with its assertions, and one of
     * them ends the process when that log meets a full disk: the log therefore gets only its head
     * (about 70 KiB) at every opening, before which the room was looked at. */
    INFO_LOG_LEVEL_FATAL = 4,
    INFO_LOGS = 2,
    COMPACTION_READ_BYTES = 256 << 10, /* for each input file of each compaction */
    /* The unit by which a table's part of the write buffers grows; each table has begun one.
     * RocksDB's 1 MiB in each of a dozen tables would be a third of all. */
    ARENA_BYTES = 128 << 10,
    SORTED_RUNS = 6, /* of a table, at which some are merged: the most that a read looks into */
};

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

/* Sets universal compaction. Each flush has keys from all over most tables, so that levels would be
 * rewritten from end to end again and again. Runs of one size are merged instead, a few times in
 * all; filters tell which of them a read must look into. A merge takes as much room again while it
 * goes on. */
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

/* RocksDB would reserve room for the full size of each log, 35 MB, and 4 MB for its list of files:
 * many times the size of a small tree's store. The option has no function of its own in C. */
static rocksdb_options_t *without_room_ahead(rocksdb_options_t *base)
{
    char *message = NULL;
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_get_options_from_string(base, "allow_fallocate=false", options, &message);
    if (message) { /* this RocksDB does not know the option */
        rocksdb_free(message);
        rocksdb_options_destroy(options);
        return base;
    }
    rocksdb_options_destroy(base);
    return options;
}

rocksdb_options_t *kv_rocksdb_make_db_options(bool create)
{
    rocksdb_options_t *options = without_room_ahead(common_options());
    rocksdb_options_set_create_if_missing(options, create);
    rocksdb_options_set_create_missing_column_families(options, create);
    rocksdb_options_set_db_write_buffer_size(options, KV_WRITE_BUFFERS_BYTES);
    rocksdb_options_set_max_total_wal_size(options, MAX_LOGS_BYTES);
    /* All tables are flushed at once: without its log a store is as it was at one moment. */
    rocksdb_options_set_atomic_flush(options, 1);
    rocksdb_options_set_max_open_files(options, max_open_files());
    rocksdb_options_set_max_background_jobs(options, 2);
    rocksdb_options_set_max_file_opening_threads(options, FILE_OPENERS);
    rocksdb_options_compaction_readahead_size(options, COMPACTION_READ_BYTES);
    rocksdb_options_set_stats_dump_period_sec(options, 0);
    rocksdb_options_set_stats_persist_period_sec(options, 0);
    rocksdb_options_set_info_log_level(options, INFO_LOG_LEVEL_FATAL);
    rocksdb_options_set_keep_log_file_num(options, INFO_LOGS);
    return options;
}

/* The part of a key that filters over partitions are made of. RocksDB's own function of fixed
 * length must not meet a shorter key. */
struct key_partition {
    struct kv_table table;
    char name[32]; /* stored in the files; files of another name are read without filters */
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

rocksdb_options_t *kv_rocksdb_make_table_options(const struct kv_rocksdb *store,
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

static size_t default_cache_bytes(void)
{
    return memory_within(memory_of_process() / CACHE_PART, CACHE_LEAST_BYTES, CACHE_MOST_BYTES);
}

rocksdb_cache_t *kv_rocksdb_make_cache(size_t cache_bytes)
{
    rocksdb_lru_cache_options_t *options = rocksdb_lru_cache_options_create();
    rocksdb_lru_cache_options_set_capacity(options,
                                           cache_bytes ? cache_bytes : default_cache_bytes());
    rocksdb_lru_cache_options_set_num_shard_bits(options, CACHE_SHARD_BITS);
    rocksdb_cache_t *cache = rocksdb_cache_create_lru_opts(options);
    rocksdb_lru_cache_options_destroy(options);
    return cache;
}
