/* A store of RocksDB lasts, over a kill as well, and takes few files and little room; one process
 * writes to it, and others read beside. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "tests/lib/stores/kv_fixture.h"
#include "tests/lib/stores/rocksdb_store.h"

/* -- another process: this program again, with a task to do -- */

struct child {
    pid_t pid;
    FILE *said;
};

static struct child child_start(const char *task, const char *path)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "test_kv_rocksdb", task, path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return (struct child){pid, fdopen(ends[0], "r")};
}

static void child_kill(struct child *child)
{
    int status;
    assert_int_equal(kill(child->pid, SIGKILL), 0);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    assert_true(WIFSIGNALED(status));
}

static int say(uint64_t n)
{
    return printf("%ju\n", (uintmax_t)n) < 0 || fflush(stdout) < 0;
}

static int task_hold(void)
{
    say(0);
    pause();
    return 0;
}

/* Acknowledges each write on standard output, for ever. */
static int task_write(struct kv *kv)
{
    char value[1000];
    memset(value, 'v', sizeof(value));
    for (uint64_t n = 1;; n++) {
        uint8_t key[8];
        put_be64(key, n);
        if (put_one(kv, T_WHOLE, (struct kv_slice){key, 8},
                    (struct kv_slice){value, sizeof(value)}) < 0 ||
            say(n))
            return 1;
        if (n % 100 == 0) {
            static const char *const run[][2] = {{"a", "1"}, {"b", "2"}};
            if (load_array(kv, T_FIXED, run) < 0)
                return 1;
        }
    }
}

static int run_task(const char *task, const char *path)
{
    struct kv_options options = fixture_options();
    _cleanup_(kv_close_p) struct kv *kv = NULL;
    if (kv_rocksdb_open(path, &options, &kv, NULL) < 0)
        return 1;
    return strcmp(task, "hold") == 0 ? task_hold() : task_write(kv);
}

/* -- lasting -- */

static void test_kv_rocksdb__a_store_lasts(void **state)
{
    (void)state;
    static const char *const run[][2] = {{"a", NULL}, {"b", "loaded"}};
    struct kv *kv = open_here();
    put_one(kv, T_FIXED, S("a"), S("1"));
    put_one(kv, T_WHOLE, S("\0\xff"), S("2"));
    assert_int_equal(load_array(kv, T_FIXED, run), 0);
    kv_close(kv);
    for (int i = 0; i < 3; i++) {
        kv = open_here();
        assert_table(kv, T_FIXED, "b=loaded ");
        assert_value(kv, T_WHOLE, S("\0\xff"), S("2"));
        assert_table(kv, T_PREFIXED, "");
        kv_close(kv);
    }
    struct stat st;
    assert_int_equal(stat(store_path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

static void test_kv_rocksdb__what_was_acknowledged_survives_kill(void **state)
{
    (void)state;
    uint64_t acknowledged = 0;
    for (int round = 0; round < 3; round++) {
        struct child child = child_start("write", store_path);
        uintmax_t n = 0;
        for (int lines = 0; lines < 700 * (round + 1); lines++)
            assert_int_equal(fscanf(child.said, "%ju", &n), 1);
        child_kill(&child);
        while (fscanf(child.said, "%ju", &n) == 1) /* what was said before the kill was read */
            ;
        fclose(child.said);
        acknowledged = n > acknowledged ? n : acknowledged;
        struct kv *kv = open_here();
        for (uint64_t i = 1; i <= acknowledged; i++) {
            uint8_t key[8];
            put_be64(key, i);
            _cleanup_(kv_buf_done) struct kv_buf value = {0};
            assert_int_equal(kv_get(kv, T_WHOLE, (struct kv_slice){key, 8}, &value), 0);
            assert_int_equal(value.size_bytes, 1000);
        }
        assert_table(kv, T_FIXED, "a=1 b=2 ");
        kv_close(kv);
    }
}

static void test_kv_rocksdb__a_relative_path_outlives_a_change_of_directory(void **state)
{
    (void)state;
    _cleanup_free_ char *before = getcwd(NULL, 0);
    struct kv_options options = fixture_options();
    struct kv *kv = NULL;
    static const char *const run[][2] = {{"a", "1"}};
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(kv_rocksdb_open("store", &options, &kv, NULL), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(load_array(kv, T_FIXED, run), 0);
    kv_close(kv);
    assert_int_equal(chdir(before), 0);
    kv = open_here();
    assert_table(kv, T_FIXED, "a=1 ");
    kv_close(kv);
}

static void test_kv_rocksdb__leftover_runs_are_removed(void **state)
{
    (void)state;
    static const char *const down[][2] = {{"b", "1"}, {"a", "2"}};
    struct kv *kv = open_here();
    assert_int_equal(load_array(kv, T_FIXED, down), -EINVAL);
    assert_false(file_exists("runs/0.sst"));
    write_file("runs/99.sst", "cut short");
    kv_close(kv);
    kv = open_here();
    assert_false(file_exists("runs/99.sst"));
    kv_close(kv);
}

static void test_kv_rocksdb__a_run_longer_than_a_file_is_loaded_whole(void **state)
{
    (void)state;
    struct kv *kv = open_here();
    struct long_run run = {.n = 80 * 1024};
    put_one(kv, T_WHOLE, S("\0\0\0\0\0\0\0\0"), S("overridden"));
    assert_int_equal(kv_bulk_load(kv, T_WHOLE, long_run_next, &run), 0);
    uint8_t key[8];
    for (uint64_t i = 0; i < run.n; i += 4095) {
        put_be64(key, i);
        _cleanup_(kv_buf_done) struct kv_buf value = {0};
        assert_int_equal(kv_get(kv, T_WHOLE, (struct kv_slice){key, 8}, &value), 0);
        assert_int_equal(value.size_bytes, sizeof(run.value));
        assert_int_equal(get_be64(value.data), ((i + 1) * 1024) * 0x9e3779b97f4a7c15u);
    }
    uint64_t size_bytes = 0;
    assert_int_equal(kv_usage(kv, &size_bytes), 0);
    assert_true(size_bytes > 80u << 20);
    kv_close(kv);
}

static void test_kv_rocksdb__a_store_with_little_in_it_takes_little_room(void **state)
{
    (void)state;
    struct kv *kv = open_here();
    uint64_t size_bytes = 0;
    for (int i = 0; i < 200; i++) {
        uint8_t key[8], value[1024] = {0};
        put_be64(key, (uint64_t)i);
        put_one(kv, T_WHOLE, (struct kv_slice){key, 8}, (struct kv_slice){value, sizeof(value)});
    }
    assert_int_equal(kv_usage(kv, &size_bytes), 0);
    assert_in_range(size_bytes, 200u << 10, 2u << 20);
    kv_close(kv);
}

/* -- being refused -- */

static void test_kv_rocksdb__a_store_in_use_is_said(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    struct child child = child_start("hold", store_path);
    uintmax_t ready;
    assert_int_equal(fscanf(child.said, "%ju", &ready), 1);
    assert_refused(&options, -EBUSY, "in use", "unmount");
    child_kill(&child);
    fclose(child.said);
    struct kv *kv = open_here();
    assert_refused(&options, -EBUSY, "in use", "unmount"); /* also by this process itself */
    kv_close(kv);
}

/* -- reading only -- */

static ino_t log_inode(void)
{
    struct stat st;
    char path[96];
    snprintf(path, sizeof(path), "%s/LOG", store_path);
    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

static void test_kv_rocksdb__a_reader_beside_the_writer_changes_nothing(void **state)
{
    (void)state;
    static const char *const run[][2] = {{"a", "1"}};
    struct kv_options options = fixture_options();
    options.read_only = true;
    options.create = false;
    struct kv *writer = open_here(), *reader = NULL;
    put_one(writer, T_WHOLE, S("k"), S("v"));
    ino_t log_before = log_inode();
    assert_int_equal(kv_rocksdb_open(store_path, &options, &reader, NULL), 0);
    assert_value(reader, T_WHOLE, S("k"), S("v"));
    assert_int_equal(put_one(reader, T_WHOLE, S("k"), S("w")), -EROFS);
    assert_int_equal(kv_cas(reader, T_WHOLE, S("k"), NULL, NULL), -EROFS);
    assert_int_equal(load_array(reader, T_FIXED, run), -EROFS);
    assert_int_equal(kv_checkpoint(reader), 0);
    assert_int_equal(kv_resume(reader), 0);
    assert_int_equal(log_inode(), log_before); /* not moved aside */
    put_one(writer, T_WHOLE, S("k"), S("later"));
    kv_close(reader);
    assert_int_equal(kv_rocksdb_open(store_path, &options, &reader, NULL), 0);
    assert_value(reader, T_WHOLE, S("k"), S("later"));
    kv_close(reader);
    kv_close(writer);
}

/* -- files -- */

static void test_kv_rocksdb__few_files_are_open(void **state)
{
    (void)state;
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){512, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    struct kv *kv = open_here();
    for (unsigned i = 0; i < 600; i++) {
        struct long_run run = {.next = 10 * i, .n = 10 * i + 10};
        assert_int_equal(kv_bulk_load(kv, T_WHOLE, long_run_next, &run), 0);
    }
    for (uint64_t i = 0; i < 6000; i += 7) {
        uint8_t key[8];
        put_be64(key, i);
        _cleanup_(kv_buf_done) struct kv_buf value = {0};
        assert_int_equal(kv_get(kv, T_WHOLE, (struct kv_slice){key, 8}, &value), 0);
    }
    kv_close(kv);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return run_task(argv[1], argv[2]);
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_kv_rocksdb__a_store_lasts),
        CASE(test_kv_rocksdb__what_was_acknowledged_survives_kill),
        CASE(test_kv_rocksdb__a_relative_path_outlives_a_change_of_directory),
        CASE(test_kv_rocksdb__leftover_runs_are_removed),
        CASE(test_kv_rocksdb__a_run_longer_than_a_file_is_loaded_whole),
        CASE(test_kv_rocksdb__a_store_in_use_is_said),
        CASE(test_kv_rocksdb__a_reader_beside_the_writer_changes_nothing),
        CASE(test_kv_rocksdb__few_files_are_open),
        CASE(test_kv_rocksdb__a_store_with_little_in_it_takes_little_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
