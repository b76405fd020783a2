/* Sorted runs as table files (SST) that RocksDB takes over whole: no log, no write buffer, no
 * sorting. A run is written to the store's directory of runs, as several files when it is long, and
 * ingested by one call.
 *
 * The log is synced before, so that a run never survives a crash of the machine that took a write
 * acknowledged before it.
 *
 * Example: a run of 100 MiB is four files of 32 MiB at most in runs/, which one call moves into the
 * database. A crash before that call leaves files in runs/, which the next opening removes.
 */
#include "store/kv_rocksdb.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/files/trust.h"

/* The size of a run's files is the target size of compacted ones. */
enum { RUN_FILE_BYTES = 32 << 20 };

struct run {
    struct kv_rocksdb *store;
    unsigned table;
    rocksdb_sstfilewriter_t *writer; /* of the last file; NULL between files */
    char **files;
    size_t n_files;
};

static void run_done(struct run *run)
{
    if (run->writer)
        rocksdb_sstfilewriter_destroy(run->writer);
    for (size_t i = 0; i < run->n_files; i++) {
        unlink(run->files[i]); /* ingested files are gone from this directory already */
        free(run->files[i]);
    }
    free(run->files);
}

static int run_begin_file(struct run *run)
{
    struct kv_rocksdb *store = run->store;
    char **files = reallocarray(run->files, run->n_files + 1, sizeof(*files));
    if (!files)
        return -ENOMEM;
    run->files = files;
    char *file;
    if (asprintf(&file, "%s/" KV_ROCKSDB_RUNS_DIR "/%llu.sst", store->path, store->n_runs++) < 0)
        return -ENOMEM;
    run->files[run->n_files++] = file;
    char *message = NULL;
    run->writer =
        rocksdb_sstfilewriter_create(store->env_options, store->table_options[run->table]);
    rocksdb_sstfilewriter_open(run->writer, file, &message);
    return kv_rocksdb_take_error(message);
}

static int run_end_file(struct run *run)
{
    char *message = NULL;
    rocksdb_sstfilewriter_finish(run->writer, &message);
    rocksdb_sstfilewriter_destroy(run->writer);
    run->writer = NULL;
    return kv_rocksdb_take_error(message);
}

static int run_add(struct run *run, const struct kv_entry *entry, bool is_delete)
{
    int r = run->writer ? 0 : run_begin_file(run);
    if (r < 0)
        return r;
    char *message = NULL;
    if (is_delete)
        rocksdb_sstfilewriter_delete(run->writer, entry->key.data, entry->key.size_bytes, &message);
    else
        rocksdb_sstfilewriter_put(run->writer, entry->key.data, entry->key.size_bytes,
                                  entry->value.data ? entry->value.data : "",
                                  entry->value.size_bytes, &message);
    if (message)
        return kv_rocksdb_take_error(message);
    uint64_t size_bytes = 0;
    rocksdb_sstfilewriter_file_size(run->writer, &size_bytes);
    if (size_bytes < RUN_FILE_BYTES)
        return 0;
    r = run_end_file(run);
    return r < 0 ? r : kv_rocksdb_check_room(run->store);
}

static int run_ingest(struct run *run)
{
    struct kv_rocksdb *store = run->store;
    char *message = NULL;
    int r = kv_checkpoint(&store->kv);
    if (r < 0)
        return r;
    rocksdb_ingestexternalfileoptions_t *options = rocksdb_ingestexternalfileoptions_create();
    rocksdb_ingestexternalfileoptions_set_move_files(options, 1);
    {
        IN_USE(store);
        r = store->write_error;
        if (r == 0)
            rocksdb_ingest_external_file_cf(store->db, store->handles[run->table],
                                            (const char *const *)run->files, run->n_files, options,
                                            &message);
    }
    rocksdb_ingestexternalfileoptions_destroy(options);
    return r < 0 ? r : kv_rocksdb_take_error(message);
}

int kv_rocksdb_bulk_load(struct kv *kv, unsigned table, kv_run_next_fn next, void *user)
{
    _cleanup_(run_done) struct run run = {.store = kv_rocksdb_of(kv), .table = table};
    struct kv_entry entry;
    bool is_delete;
    int r = kv_rocksdb_check_room(run.store);
    if (r < 0)
        return r;
    while ((r = next(user, &entry, &is_delete)) > 0) {
        r = run_add(&run, &entry, is_delete);
        if (r < 0)
            return r;
    }
    if (r == 0 && run.writer)
        r = run_end_file(&run);
    return r < 0 || run.n_files == 0 ? r : run_ingest(&run);
}

int kv_rocksdb_clear_runs(int directory_fd)
{
    if (mkdirat(directory_fd, KV_ROCKSDB_RUNS_DIR, 0700) < 0 && errno != EEXIST)
        return -errno;
    _cleanup_close_ int runs = trust_open_directory_at(directory_fd, KV_ROCKSDB_RUNS_DIR, NULL);
    if (runs < 0)
        return runs;
    _cleanup_closedir_ DIR *directory = NULL;
    int r = kv_rocksdb_list(runs, &directory);
    if (r < 0)
        return r;
    const struct dirent *entry;
    while ((entry = readdir(directory)))
        if (entry->d_name[0] != '.' && unlinkat(dirfd(directory), entry->d_name, 0) < 0)
            return -errno;
    return 0;
}
