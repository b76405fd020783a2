/* The state and functions that the files of the RocksDB back end share. Only they include this, and
 * rocksdb/c.h. */
#ifndef KINFS_STORE_KV_ROCKSDB_H
#define KINFS_STORE_KV_ROCKSDB_H

#include <dirent.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include <rocksdb/c.h>

#include "store/kv_backend.h"

/* Enough that two threads rarely wait for each other's unrelated keys. */
enum { N_CAS_LOCKS = 64 };

/* "/proc/self/fd/" and a number */
enum { KV_ROCKSDB_PATH_BYTES = 32 };

LIST_HEAD(kv_rocksdb_snapshots, kv_rocksdb_snapshot);

struct kv_rocksdb {
    struct kv kv;
    int directory_fd;                 /* of the database, claimed */
    char path[KV_ROCKSDB_PATH_BYTES]; /* the path by which RocksDB opens it */
    bool damaged;                     /* as of kv_options */
    rocksdb_cache_t *cache;
    rocksdb_options_t *db_options;
    rocksdb_options_t **table_options; /* one a table, then the default column family's */
    const char **column_families;      /* names, in the same order */
    rocksdb_envoptions_t *env_options;
    rocksdb_writeoptions_t *write_options;
    rocksdb_readoptions_t *read_options;
    atomic_ullong n_runs; /* names the files of runs */

    /* Order: a cas lock, in_use, writing. */
    pthread_mutex_t cas_locks[N_CAS_LOCKS];

    /* Read-held by every operation; write-held where db and handles change: by kv_resume(). */
    pthread_rwlock_t in_use;
    rocksdb_t *db; /* NULL after a reopening that failed */
    rocksdb_column_family_handle_t **handles;

    pthread_mutex_t snapshots_lock; /* a leaf, of the list */
    struct kv_rocksdb_snapshots snapshots;

    /* Held over a write to the log. After one that failed RocksDB must not be asked for another:
     * where it is built with its assertions, it would end the process. */
    pthread_mutex_t writing;
    uint64_t unchecked_bytes; /* written since the room on the disk was looked at */
    int64_t noted_ms;         /* the time of the last note in WRITTEN; 0: none since opening */
    atomic_int write_error;   /* every write fails with it until kv_resume() */

    int written_fd;  /* kv_rocksdb_written.c; -1: none */
    uint64_t n_lost; /* rows that a crash took, found at the opening */
};

/* The room that a file system must have for a write to be taken: the write buffers, flushed while
 * as much again comes in. A disk that fills up is so met between two writes, not amid one. */
enum { KV_ROCKSDB_RESERVED_BYTES = 2 * KV_WRITE_BUFFERS_BYTES };

static inline struct kv_rocksdb *kv_rocksdb_of(struct kv *kv)
{
    return (struct kv_rocksdb *)kv;
}

/* RocksDB forms a C++ string or Slice from every pointer it is given: never NULL. */
static inline const char *kv_rocksdb_bytes(struct kv_slice slice)
{
    return slice.data ? slice.data : "";
}

/* True when the filters of a table's files are over its partitions instead of its keys. */
static inline bool kv_rocksdb_filters_partitions(const struct kv_table *table)
{
    return table && table->partitions_sought && table->partition != KV_PARTITION_WHOLE;
}

/* Read-holds in_use until the end of the scope. */
static inline void in_use_end(struct kv_rocksdb **store)
{
    pthread_rwlock_unlock(&(*store)->in_use);
}
static inline struct kv_rocksdb *in_use_begin(struct kv_rocksdb *store)
{
    pthread_rwlock_rdlock(&store->in_use);
    return store;
}
#define IN_USE(store)                                                                              \
    _cleanup_(in_use_end) struct kv_rocksdb *in_use_ __attribute__((unused)) = in_use_begin(store)

/* The error of reads while there is no database: the one its reopening failed with. */
static inline int kv_rocksdb_check_readable(const struct kv_rocksdb *store)
{
    return store->db ? 0 : store->write_error;
}

/* kv_rocksdb_options.c; each gives.
 *
 * cache_bytes  as of kv_options
 * table        NULL: the default column family; store: its cache is there */
rocksdb_cache_t *kv_rocksdb_make_cache(size_t cache_bytes);
rocksdb_options_t *kv_rocksdb_make_db_options(bool create);
rocksdb_options_t *kv_rocksdb_make_table_options(const struct kv_rocksdb *store,
                                                 const struct kv_table *table);

/* kv_rocksdb_error.c: a negative errno for RocksDB's error text (NULL: 0); take frees the text. */
int kv_rocksdb_errno(const char *message);
int kv_rocksdb_take_error(char *message);
/* RocksDB's text, with the paths of directories in place of descriptors; takes and gives (malloc).
 */
char *kv_rocksdb_with_paths(char *message);
/* A line that tells why a store cannot be opened, and the remedy; NULL without memory. */
char *kv_rocksdb_describe(int error, bool create, const char *path, const char *detail);

/* kv_rocksdb_stamp.c: text is what kv_rocksdb_stamp_text() makes of the options. */
enum kv_rocksdb_stamp {
    KV_ROCKSDB_STAMP_NONE,     /* an empty directory */
    KV_ROCKSDB_STAMP_BEGUN,    /* a store that is being made, or whose making was interrupted */
    KV_ROCKSDB_STAMP_FINISHED, /* a store with the tables of text */
    KV_ROCKSDB_STAMP_FOREIGN,  /* anything else */
};
int kv_rocksdb_stamp_text(const struct kv_options *options, char **ret_text);
/* Returns 0, -EPROTO for a store with other tables, -EUCLEAN for one whose stamp is damaged or
 * lost, or an error. */
int kv_rocksdb_stamp_check(int directory_fd, const char *text, enum kv_rocksdb_stamp *ret_stamp);
int kv_rocksdb_stamp_begin(int directory_fd, const char *text);
int kv_rocksdb_stamp_finish(int directory_fd, const char *text);

/* kv_rocksdb_open.c: on failure db is NULL and RocksDB's text is given in ret_message (may be
 * NULL). */
int kv_rocksdb_open_db(struct kv_rocksdb *store, bool read_only, char **ret_message);
void kv_rocksdb_close_db(struct kv_rocksdb *store);
void kv_rocksdb_free(struct kv_rocksdb *store); /* the database is closed */

/* kv_rocksdb_get.c: with in_use held. options NULL: the present state. */
int kv_rocksdb_get_in_use(struct kv_rocksdb *store, const rocksdb_readoptions_t *options,
                          unsigned table, struct kv_slice key, struct kv_buf *ret_value);
int kv_rocksdb_multi_get_in_use(struct kv_rocksdb *store, const rocksdb_readoptions_t *options,
                                unsigned table, const struct kv_slice *keys, size_t n_keys,
                                struct kv_buf *ret_values);

/* kv_rocksdb_scan.c. snapshot NULL: the present state. */
int kv_rocksdb_multi_scan_in_use(struct kv_rocksdb *store, const rocksdb_snapshot_t *snapshot,
                                 unsigned table, const struct kv_range *ranges, size_t n_ranges,
                                 size_t limit, struct kv_page *ret_pages);

/* kv_rocksdb_snapshot.c */
int kv_rocksdb_take_snapshot(struct kv *kv, struct kv **ret_snapshot);
/* Releases RocksDB's snapshots before the database is closed. No operation is under way. */
void kv_rocksdb_release_snapshots(struct kv_rocksdb *store);

/* kv_rocksdb_run.c */
int kv_rocksdb_bulk_load(struct kv *kv, unsigned table, kv_run_next_fn next, void *user);
/* Removes what runs interrupted by a crash left behind. */
int kv_rocksdb_clear_runs(int directory_fd);

extern const struct kv_ops kv_rocksdb_ops; /* kv_rocksdb.c */

/* Directory of a store that holds the files of runs until they become the database's. */
#define KV_ROCKSDB_RUNS_DIR "runs"

/* -- kv_rocksdb_claim.c -- */

/* Open the directory of a database, and check that all in it is one's own; make it (0700) where it
 * is missing and create is set; lock it, unless for reading alone. Returns a descriptor, -EPERM
 * with a line in *ret_why (as trust.h has it), -EBUSY, or an error. */
int kv_rocksdb_claim(const char *path, bool create, bool read_only, char **ret_why);
/* The name under which RocksDB finds the directory as long as it is open, whatever becomes of its
 * path. In messages kv_rocksdb_error.c puts the path back. */
void kv_rocksdb_path_of(int directory_fd, char ret_path[KV_ROCKSDB_PATH_BYTES]);

/* -- kv_rocksdb_files.c -- */

/* CURRENT names the manifest, which lists the files of the database. */
#define KV_ROCKSDB_CURRENT "CURRENT"
enum { KV_ROCKSDB_NAME_BYTES = 64 };

int kv_rocksdb_list(int directory_fd, DIR **ret_directory); /* 0 or a negative errno */
bool kv_rocksdb_is_manifest(const char *name);              /* MANIFEST- and digits */
/* True for the name of a data file: a manifest, CURRENT, or digits and .sst, .log or .blob. No
 * other name is read from a file, or written to one. */
bool kv_rocksdb_is_data_file(const char *name);
/* The name of the manifest that CURRENT names, which may not be there; false where CURRENT is
 * missing or damaged. */
bool kv_rocksdb_read_current(int directory_fd, char ret_name[KV_ROCKSDB_NAME_BYTES]);
int kv_rocksdb_write_all(int fd, const void *bytes, size_t n); /* 0 or a negative errno */
/* Renames a complete file, `fd`, from `from` to `to`, after a sync: it appears under its name
 * completely or not at all. 0 or a negative errno. */
int kv_rocksdb_end_file(int directory_fd, int fd, const char *from, const char *to);
/* 0, or -ENOSPC where the file system has less room than is reserved. */
int kv_rocksdb_check_room(const struct kv_rocksdb *store);

/* -- kv_rocksdb_live.c: the manifest by a second name, while the database is open -- */
void kv_rocksdb_follow_manifest(int directory_fd); /* once it is open; may fail */
void kv_rocksdb_drop_live(int directory_fd);
/* 1 where the manifest was lost and is there again, 0, or a negative errno. */
int kv_rocksdb_restore_live(int directory_fd);

/* -- kv_rocksdb_written.c: the last row that was written, to compare the log of a crash with -- */
/* Called once the database is open for writing. */
void kv_rocksdb_open_written(struct kv_rocksdb *store, int directory_fd, bool crashed);
void kv_rocksdb_note_written(struct kv_rocksdb *store); /* writing is held; mostly 10 ns */

/* -- kv_rocksdb_seal.c: the files of the database when it was closed -- */
int kv_rocksdb_seal(int directory_fd); /* after a clean end; 0 or a negative errno */
/* 1 where all is as it was sealed, 0 without a seal, or -EUCLEAN when a file is gone or has another
 * size, with *ret_message. */
int kv_rocksdb_check_seal(int directory_fd, char **ret_message);
int kv_rocksdb_break_seal(int directory_fd); /* before the first change */
/* Puts the sealed manifest back, where it is lost or has another content by now; ret_name: its
 * name,
 * "" without a seal. Returns 1 when it was put back, 0, or an error. */
int kv_rocksdb_restore_manifest(int directory_fd, char ret_name[KV_ROCKSDB_NAME_BYTES]);

#endif
