/* The log of a store: lost or cut after a crash, and short after a clean end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>

#include "tests/lib/stores/kv_fixture.h"
#include "tests/lib/stores/rocksdb_store.h"

/* -- a log that is lost or cut after a crash -- */

static uint64_t n_lost_now(void)
{
    struct kv *kv = open_here();
    const uint64_t n = kv_rocksdb_n_lost(kv);
    kv_close(kv);
    return n;
}

static void for_each_log(int (*damage)(const char *path))
{
    char pattern[128];
    glob_t logs;
    snprintf(pattern, sizeof(pattern), "%s/*.log", store_path);
    assert_int_equal(glob(pattern, 0, NULL, &logs), 0);
    for (size_t i = 0; i < logs.gl_pathc; i++)
        assert_int_equal(damage(logs.gl_pathv[i]), 0);
    globfree(&logs);
}

static int empty(const char *path)
{
    return truncate(path, 0);
}

static int garble(const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && pwrite(fd, "garbage", 7, 9) == 7; /* behind the head of a row */
    if (fd >= 0)
        close(fd);
    return done ? 0 : -1;
}

/* One table fills up and is written to files long before the other. */
/* Rows of 4 KiB: twice what all tables may have in memory. Before the last of them the writer waits
 * for longer than a number that was written may be behind (store/kv_rocksdb_written.c), so that
 * some of the rows are in files and the number of the last but one is noted. */
enum { N_BETWEEN = 16000, WAIT_US = 200000 };

static void crash_between_tables(void)
{
    enum { VALUE_BYTES = 4096 };
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        static char large[VALUE_BYTES];
        struct kv *kv = open_here();
        for (uint32_t i = 0; i < N_BETWEEN; i++) {
            struct kv_batch *batch = kv_batch_new();
            char key[16];
            if (i == N_BETWEEN - 1)
                usleep(WAIT_US);
            snprintf(key, sizeof(key), "%08u", i);
            for (size_t k = 0; k < sizeof(large); k++) /* as good as random */
                large[k] = (char)((i * 2654435761u + k * 40503u) >> 13);
            struct kv_slice name = {key, 8}, small = {"", 0};
            kv_batch_put(batch, T_WHOLE, name, (struct kv_slice){large, sizeof(large)});
            kv_batch_put(batch, T_FIXED, name, small);
            if (kv_apply(kv, batch) < 0)
                _exit(1);
            kv_batch_free(batch);
        }
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

static size_t count_rows(struct kv *kv, unsigned table)
{
    struct kv_range all = {0};
    uint8_t after[64] = {0};
    size_t n = 0;
    for (bool more = true; more;) {
        struct kv_page page;
        assert_int_equal(kv_scan(kv, table, &all, 1000, &page), 0);
        n += page.n_entries;
        more = page.more && page.n_entries > 0;
        if (more) {
            const struct kv_slice *last = &page.entries[page.n_entries - 1].key;
            memcpy(after, last->data, last->size_bytes);
            after[last->size_bytes] = 0;
            all.from = (struct kv_slice){after, last->size_bytes + 1};
        }
        kv_page_done(&page);
    }
    return n;
}

/* What was written together is there together, or not, also where the log is lost: each table alone
 * would be of another moment, and nobody would know. */
static void test_kv_rocksdb__without_its_log_a_store_is_of_one_moment(void **state)
{
    (void)state;
    crash_between_tables();
    for_each_log(unlink);
    struct kv *kv = open_here();
    const size_t n = count_rows(kv, T_WHOLE);
    assert_in_range(n, 1, N_BETWEEN - 1); /* some of it was in files */
    assert_int_equal(count_rows(kv, T_FIXED), n);
    assert_in_range(kv_rocksdb_n_lost(kv), 1, 2 * (N_BETWEEN - n));
    kv_close(kv);
    remove_directory(store_path);
}

/* It opens with what it has, and says that there was more, once. */
static void test_kv_rocksdb__a_log_that_is_lost_or_cut_is_told(void **state)
{
    (void)state;
    int (*const damages[])(const char *path) = {unlink, empty, garble};
    char garbage[] = "0123456789abcdef";
    assert_int_equal(n_lost_now(), 0);
    for (size_t i = 0; i < N_OF(damages); i++) {
        crash_with_data();
        assert_int_equal(n_lost_now(), 0); /* all is there */
        assert_int_equal(n_lost_now(), 0); /* nor after a clean end */
        crash_with_data();
        for_each_log(damages[i]);
        struct kv *reader;
        struct kv_options options = fixture_options();
        options.read_only = true;
        assert_int_equal(kv_rocksdb_open(store_path, &options, &reader, NULL), 0);
        assert_int_equal(kv_rocksdb_n_lost(reader), 0); /* the next writer is told */
        kv_close(reader);
        assert_int_equal(n_lost_now(), 1);
        assert_int_equal(n_lost_now(), 0);
        lose_file("SEAL"); /* another crash */
        assert_int_equal(n_lost_now(), 0);
        remove_directory(store_path);
    }
    /* Without the number, or with one that is damaged, nothing is said. */
    for (unsigned i = 0; i < 2; i++) {
        crash_with_data();
        for_each_log(unlink);
        lose_file("WRITTEN");
        if (i)
            write_file("WRITTEN", garbage);
        assert_int_equal(n_lost_now(), 0);
        remove_directory(store_path);
    }
}

/* -- the end -- */

static uint64_t logs_size_bytes(void)
{
    uint64_t size_bytes = 0;
    char path[128], pattern[128];
    glob_t logs;
    snprintf(pattern, sizeof(pattern), "%s/*.log", store_path);
    if (glob(pattern, 0, NULL, &logs) != 0)
        return 0;
    for (size_t i = 0; i < logs.gl_pathc; i++) {
        struct stat st;
        snprintf(path, sizeof(path), "%s", logs.gl_pathv[i]);
        assert_int_equal(stat(path, &st), 0);
        size_bytes += (uint64_t)st.st_size;
    }
    globfree(&logs);
    return size_bytes;
}

static void test_kv_rocksdb__a_clean_end_leaves_no_long_log(void **state)
{
    /* Of 64 KiB: together less than a write buffer, which the store empties at a time of its own,
     * and the many more than may be left. */
    enum { N_FEW = 20, N_MANY = 100 };
    (void)state;
    uint64_t n = 0;
    struct kv *kv = open_here();
    assert_int_equal(write_until_error(kv, &n, N_FEW), 0);
    assert_int_equal(put_one(kv, T_FIXED, S("ab"), S("1")), 0);
    kv_close(kv);
    assert_true(logs_size_bytes() >= (uint64_t)N_FEW << 16); /* a short one stays */
    kv = open_here();
    assert_int_equal(write_until_error(kv, &n, N_MANY), 0);
    assert_int_equal(put_one(kv, T_FIXED, S("cd"), S("2")), 0);
    kv_close(kv);
    assert_true(logs_size_bytes() < 1 << 16);
    kv = open_here();
    assert_entries(kv, n);
    assert_table(kv, T_FIXED, "ab=1 cd=2 ");
    kv_close(kv);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        /* First: what it forks needs threads of RocksDB, which a process that has some would have
         * left behind. */
        CASE(test_kv_rocksdb__without_its_log_a_store_is_of_one_moment),
        CASE(test_kv_rocksdb__a_log_that_is_lost_or_cut_is_told),
        CASE(test_kv_rocksdb__a_clean_end_leaves_no_long_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
