/* A store of RocksDB in a directory of its own, for a test's set-up and end; what it holds, and
 * ways to damage its files. Included behind cmocka.h. */
#ifndef KINFS_TESTS_LIB_STORES_ROCKSDB_STORE_H
#define KINFS_TESTS_LIB_STORES_ROCKSDB_STORE_H

#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "tests/lib/stores/kv_fixture.h"

static char directory[32], store_path[64];
static bool seems_roomy; /* a full file system does not look it */

static inline int set_up(void **state)
{
    (void)state;
    make_directory(directory);
    snprintf(store_path, sizeof(store_path), "%s/store", directory);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    seems_roomy = false;
    umount2(directory, MNT_DETACH); /* where the test mounted something */
    remove_directory(directory);
    return 0;
}

static inline struct kv *open_here(void)
{
    return open_rocksdb(store_path);
}

/* Opening must fail with error and say each of the words in one line. */
static inline void assert_refused(const struct kv_options *options, int error, const char *word1,
                                  const char *word2)
{
    struct kv *untouched = (struct kv *)store_path;
    char *message = NULL;
    int r = kv_rocksdb_open(store_path, options, &untouched, &message);
    assert_non_null(message);
    if (r != error || !strstr(message, word1) || !strstr(message, word2) || strchr(message, '\n'))
        print_error("%d: %s\n", r, message);
    assert_int_equal(r, error);
    assert_non_null(strstr(message, word1));
    assert_non_null(strstr(message, word2));
    assert_null(strchr(message, '\n'));
    assert_ptr_equal(untouched, store_path);
    free(message);
    assert_int_equal(kv_rocksdb_open(store_path, options, &untouched, NULL), error);
}

static inline void write_file(const char *name, const char *content)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/%s", store_path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
}

static inline bool file_exists(const char *name)
{
    char path[160];
    snprintf(path, sizeof(path), "%s/%s", store_path, name);
    return access(path, F_OK) == 0;
}

static inline void read_current(char name[33])
{
    char path[96];
    snprintf(path, sizeof(path), "%s/CURRENT", store_path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%31s", name), 1);
    fclose(file);
}

/* A run that fills several files. */
struct long_run {
    uint64_t next, n;
    uint8_t key[8];
    uint8_t value[1024];
};

static inline int long_run_next(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct long_run *run = user;
    if (run->next == run->n)
        return 0;
    put_be64(run->key, run->next++);
    for (size_t i = 0; i < sizeof(run->value); i += 8) /* nothing to compress */
        put_be64(run->value + i, (run->next * sizeof(run->value) + i) * 0x9e3779b97f4a7c15u);
    *ret_entry = (struct kv_entry){{run->key, 8}, {run->value, sizeof(run->value)}};
    *ret_delete = false;
    return 1;
}

static inline void make_sealed_store(void)
{
    struct kv *kv = open_here();
    struct long_run run = {.n = 2000};
    assert_int_equal(kv_bulk_load(kv, T_WHOLE, long_run_next, &run), 0);
    put_one(kv, T_FIXED, S("k"), S("v"));
    kv_close(kv);
}

/* As after a crash: what RocksDB itself notices. */
static inline void make_store_with_data(void)
{
    char path[96];
    make_sealed_store();
    snprintf(path, sizeof(path), "%s/SEAL", store_path);
    assert_int_equal(unlink(path), 0);
}

/* The first file whose name fits a shell pattern. */
static inline void find_file(const char *pattern, char name[64])
{
    char command[160];
    snprintf(command, sizeof(command), "cd %s && ls -S %s", store_path, pattern);
    FILE *list = popen(command, "r");
    assert_int_equal(fscanf(list, "%63s", name), 1);
    pclose(list);
}

static inline void lose_file(const char *pattern)
{
    char name[64], path[160];
    find_file(pattern, name);
    snprintf(path, sizeof(path), "%s/%s", store_path, name);
    assert_int_equal(unlink(path), 0);
}

/* What a process that was killed leaves: rows in files of runs, in flushed ones and in the log. */
static inline void crash_with_data(void)
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct kv *kv = open_here();
        struct long_run run = {.n = 2000};
        if (kv_bulk_load(kv, T_WHOLE, long_run_next, &run) == 0 &&
            put_one(kv, T_FIXED, S("k"), S("v")) == 0)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

/* Write numbered entries from *n on until one fails; *n is then the first that was not
 * acknowledged. Returns the error. */
static inline int write_until_error(struct kv *kv, uint64_t *n, uint64_t end)
{
    static uint8_t value[64 << 10];
    for (; *n < end; ++*n) {
        uint8_t key[8];
        put_be64(key, *n);
        for (size_t i = 0; i < sizeof(value); i += 8)
            put_be64(value + i, (*n * sizeof(value) + i) * 0x9e3779b97f4a7c15u);
        int r = put_one(kv, T_WHOLE, (struct kv_slice){key, 8},
                        (struct kv_slice){value, sizeof(value)});
        if (r < 0)
            return r;
    }
    return 0;
}

static inline void assert_entries(struct kv *kv, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint8_t key[8];
        put_be64(key, i);
        _cleanup_(kv_buf_done) struct kv_buf value = {0};
        assert_int_equal(kv_get(kv, T_WHOLE, (struct kv_slice){key, 8}, &value), 0);
        assert_int_equal(get_be64(value.data), i * (64 << 10) * 0x9e3779b97f4a7c15u);
    }
}

#endif
