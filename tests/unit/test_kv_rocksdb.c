/* What only the RocksDB store does: last, be refused, be killed, run out of room. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "tests/lib/kv_fixture.h"
#include "tests/lib/scratch.h"

static char directory[32], store_path[64];
static bool seems_roomy; /* a full file system does not look it */

static int set_up(void **state)
{
    (void)state;
    make_directory(directory);
    snprintf(store_path, sizeof(store_path), "%s/store", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    seems_roomy = false;
    umount2(directory, MNT_DETACH); /* where the test mounted something */
    remove_directory(directory);
    return 0;
}

static struct kv *open_here(void)
{
    return open_rocksdb(store_path);
}

/* Opening must fail with error and say each of the words in one line. */
static void assert_refused(const struct kv_options *options, int error, const char *word1,
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

static void write_file(const char *name, const char *content)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/%s", store_path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
}

static bool file_exists(const char *name)
{
    char path[160];
    snprintf(path, sizeof(path), "%s/%s", store_path, name);
    return access(path, F_OK) == 0;
}

static void read_current(char name[33])
{
    char path[96];
    snprintf(path, sizeof(path), "%s/CURRENT", store_path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%31s", name), 1);
    fclose(file);
}

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

/* A run that fills several files. */
struct long_run {
    uint64_t next, n;
    uint8_t key[8];
    uint8_t value[1024];
};

static int long_run_next(void *user, struct kv_entry *ret_entry, bool *ret_delete)
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

static void test_kv_rocksdb__no_store_is_said(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    options.create = false;
    assert_refused(&options, -ENOENT, "no store", store_path);
    assert_int_not_equal(access(store_path, F_OK), 0);
    assert_int_equal(mkdir(store_path, 0700), 0);
    assert_refused(&options, -ENOENT, "no store", store_path);
    options.create = options.read_only = true;
    assert_refused(&options, -ENOENT, "no store", store_path);
    options.shown_path = "what the user said";
    assert_refused(&options, -ENOENT, "no store", "what the user said");
    options = fixture_options();
    snprintf(store_path, sizeof(store_path), "%s/missing/store", directory);
    assert_refused(&options, -ENOENT, "directory above", store_path);
}

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

static void test_kv_rocksdb__other_tables_are_refused_and_left_alone(void **state)
{
    (void)state;
    static const struct kv_table fewer[] = {{.name = "whole"}, {.name = "fixed"}};
    static const struct kv_table more[] = {
        {.name = "whole"},
        {.name = "fixed", .partition = KV_PARTITION_FIXED, .partition_bytes = 2},
        {.name = "prefixed", .partition = KV_PARTITION_PREFIXED},
        {.name = "new"}};
    static const struct kv_table otherwise[] = {
        {.name = "whole"},
        {.name = "fixed", .partition = KV_PARTITION_FIXED, .partition_bytes = 3},
        {.name = "prefixed", .partition = KV_PARTITION_PREFIXED}};
    struct kv *kv = open_here();
    put_one(kv, T_WHOLE, S("k"), S("v"));
    kv_close(kv);
    const struct kv_options cases[] = {
        {.tables = fewer, .n_tables = N_OF(fewer), .create = true},
        {.tables = more, .n_tables = N_OF(more), .create = true},
        {.tables = more, .n_tables = N_OF(more), .read_only = true},
        {.tables = otherwise, .n_tables = N_OF(otherwise)},
    };
    for (size_t i = 0; i < N_OF(cases); i++)
        assert_refused(&cases[i], -EPROTO, "version", store_path);
    kv = open_here();
    assert_table(kv, T_WHOLE, "k=v ");
    kv_close(kv);
}

static void test_kv_rocksdb__somebody_elses_directory_is_left_alone(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    assert_int_equal(mkdir(store_path, 0755), 0);
    write_file("letter.txt", "Dear all");
    assert_refused(&options, -ENOTEMPTY, store_path, "empty");
    assert_false(file_exists("CURRENT"));
    snprintf(store_path, sizeof(store_path), "%s/store/letter.txt", directory);
    assert_refused(&options, -ENOTDIR, store_path, "directory");
}

static void test_kv_rocksdb__an_interrupted_making_goes_on(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    kv_close(open_here());
    char tables[96], unfinished[96];
    snprintf(tables, sizeof(tables), "%s/TABLES", store_path);
    snprintf(unfinished, sizeof(unfinished), "%s/TABLES.new", store_path);
    assert_int_equal(rename(tables, unfinished), 0);
    options.create = false;
    assert_refused(&options, -ENOENT, "no store", store_path);
    struct kv *kv = open_here();
    assert_int_equal(put_one(kv, T_PREFIXED, S("k"), S("v")), 0);
    kv_close(kv);
    assert_true(file_exists("TABLES"));
    assert_false(file_exists("TABLES.new"));
}

static void make_sealed_store(void)
{
    struct kv *kv = open_here();
    struct long_run run = {.n = 2000};
    assert_int_equal(kv_bulk_load(kv, T_WHOLE, long_run_next, &run), 0);
    put_one(kv, T_FIXED, S("k"), S("v"));
    kv_close(kv);
}

/* As after a crash: what RocksDB itself notices. */
static void make_store_with_data(void)
{
    char path[96];
    make_sealed_store();
    snprintf(path, sizeof(path), "%s/SEAL", store_path);
    assert_int_equal(unlink(path), 0);
}

/* The first file whose name fits a shell pattern. */
static void find_file(const char *pattern, char name[64])
{
    char command[160];
    snprintf(command, sizeof(command), "cd %s && ls -S %s", store_path, pattern);
    FILE *list = popen(command, "r");
    assert_int_equal(fscanf(list, "%63s", name), 1);
    pclose(list);
}

static void test_kv_rocksdb__a_file_cut_short_after_a_clean_end_is_damage(void **state)
{
    (void)state;
    static const char *const patterns[] = {"MANIFEST-*", "*.log", "*.sst", "CURRENT"};
    struct kv_options options = fixture_options();
    for (size_t i = 0; i < N_OF(patterns); i++) {
        for (int percent = 0; percent < 100; percent += 33) {
            char name[64], path[160];
            struct stat st;
            make_sealed_store();
            find_file(patterns[i], name);
            snprintf(path, sizeof(path), "%s/%s", store_path, name);
            assert_int_equal(stat(path, &st), 0);
            assert_int_equal(truncate(path, st.st_size * percent / 100), 0);
            assert_refused(&options, -EUCLEAN, "damaged", "kinfs check --repair --store");
            options.read_only = true;
            assert_refused(&options, -EUCLEAN, "damaged", "kinfs check --repair --store");
            options.read_only = false;
            remove_directory(store_path);
        }
    }
}

static void test_kv_rocksdb__the_first_opening_for_writing_breaks_the_seal(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    struct kv *kv;
    make_sealed_store();
    options.read_only = true;
    assert_int_equal(kv_rocksdb_open(store_path, &options, &kv, NULL), 0);
    kv_close(kv);
    assert_true(file_exists("SEAL"));
    kv = open_here();
    assert_false(file_exists("SEAL"));
    kv_close(kv);
    assert_true(file_exists("SEAL"));
}

/* Bytes in the middle of a file. */
static void flip_bytes(const char *pattern)
{
    char name[64], path[160], byte;
    struct stat st;
    find_file(pattern, name);
    snprintf(path, sizeof(path), "%s/%s", store_path, name);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(pread(fd, &byte, 1, st.st_size / 2), 1);
    byte ^= 0x20;
    assert_int_equal(pwrite(fd, &byte, 1, st.st_size / 2), 1);
    close(fd);
}

static void lose_file(const char *pattern)
{
    char name[64], path[160];
    find_file(pattern, name);
    snprintf(path, sizeof(path), "%s/%s", store_path, name);
    assert_int_equal(unlink(path), 0);
}

static void cut_manifest(void)
{
    char name[64], path[160];
    find_file("MANIFEST-*", name);
    snprintf(path, sizeof(path), "%s/%s", store_path, name);
    assert_int_equal(truncate(path, 50), 0);
}

static void assert_has_all(void)
{
    struct kv *kv = open_here();
    assert_value(kv, T_FIXED, S("k"), S("v"));
    struct kv_page page = {0};
    assert_int_equal(kv_scan(kv, T_WHOLE, &(struct kv_range){0}, 5000, &page), 0);
    assert_int_equal(page.n_entries, 2000);
    kv_page_done(&page);
    kv_close(kv);
}

static void test_kv_rocksdb__what_a_sealed_store_says_of_itself_is_put_back(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    options.create = false;
    for (unsigned damage = 1; damage < 64; damage++) {
        if ((damage & 3) == 3 || (damage & 12) == 12 || (damage & 48) == 48)
            continue;
        make_sealed_store();
        assert_int_equal(kv_rocksdb_restore(store_path, &options), 0);
        if (damage & 1)
            lose_file("MANIFEST-*");
        else if (damage & 2)
            flip_bytes("MANIFEST-*");
        if (damage & 4)
            lose_file("CURRENT");
        else if (damage & 8)
            write_file("CURRENT", "MANIFEST-999999\n");
        if (damage & 16)
            lose_file("TABLES");
        else if (damage & 32)
            write_file("TABLES", "garbage");
        assert_true(kv_rocksdb_open(store_path, &options, &(struct kv *){NULL}, NULL) < 0);
        assert_int_equal(kv_rocksdb_restore(store_path, &options), 1);
        assert_has_all();
        assert_int_equal(kv_rocksdb_restore(store_path, &options), 0);
        remove_directory(store_path);
    }
    make_sealed_store();
    cut_manifest();
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 1);
    assert_has_all();

    struct kv *kv = open_here(); /* beside one that is not in use any more */
    write_file("MANIFEST-000001", "old");
    kv_close(kv);
    lose_file("MANIFEST-*");
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 1);
    assert_has_all();
}

/* A copy that is damaged itself, or of another moment, is none; nor are tables given a stamp that
 * is not theirs. After a crash there is no copy that counts. */
static void test_kv_rocksdb__what_is_not_certain_is_not_put_back(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    make_sealed_store();
    flip_bytes("SEAL.manifest");
    assert_has_all();
    flip_bytes("SEAL.manifest");
    lose_file("MANIFEST-*");
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 0);
    remove_directory(store_path);

    make_store_with_data();
    lose_file("CURRENT");
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 1);
    assert_has_all();
    lose_file("SEAL");
    lose_file("MANIFEST-*");
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 0);
    remove_directory(store_path);

    make_sealed_store();
    lose_file("TABLES");
    options.n_tables--;
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 0);
    assert_false(file_exists("TABLES"));
    remove_directory(store_path);
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 0); /* there is none */
}

/* -- after a crash -- */

/* What a process that was killed leaves: rows in files of runs, in flushed ones and in the log. */
static void crash_with_data(void)
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

static bool is_one_file(const char *name, const char *other)
{
    struct stat a, b;
    char path[160], other_path[160];
    snprintf(path, sizeof(path), "%s/%s", store_path, name);
    snprintf(other_path, sizeof(other_path), "%s/%s", store_path, other);
    return stat(path, &a) == 0 && stat(other_path, &b) == 0 && a.st_ino == b.st_ino;
}

/* Every opening writes another manifest, and it is that one. A clean end takes the name away. */
static void test_kv_rocksdb__an_open_store_has_its_manifest_by_two_names(void **state)
{
    (void)state;
    char name[64], live[64], before[64] = "";
    for (unsigned i = 0; i < 3; i++) {
        struct kv *kv = open_here();
        find_file("MANIFEST-*", name);
        find_file("LIVE.*", live);
        assert_true(is_one_file(name, live));
        assert_string_equal(live + strlen("LIVE."), name);
        assert_string_not_equal(name, before);
        snprintf(before, sizeof(before), "%s", name);
        kv_close(kv);
        assert_false(file_exists(live));
    }
}

static void test_kv_rocksdb__a_manifest_lost_after_a_crash_is_put_back(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    options.create = false;
    for (unsigned tables_too = 0; tables_too < 2; tables_too++) {
        crash_with_data();
        lose_file("MANIFEST-*");
        if (tables_too)
            lose_file("TABLES");
        assert_refused(&options, -EUCLEAN, "damaged", "kinfs check --repair --store");
        assert_int_equal(kv_rocksdb_restore(store_path, &options), 1);
        assert_int_equal(kv_rocksdb_restore(store_path, &options), 0);
        assert_has_all();
        remove_directory(store_path);
    }
    crash_with_data();
    crash_with_data(); /* the one of before leaves no name */
    lose_file("MANIFEST-*");
    assert_int_equal(kv_rocksdb_restore(store_path, &options), 1);
    assert_has_all();
}

/* Only what CURRENT names is known to be the last one; and damage has both names. */
static void test_kv_rocksdb__after_a_crash_no_other_manifest_is_put_back(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    options.create = false;
    for (unsigned damage = 0; damage < 4; damage++) {
        crash_with_data();
        if (damage == 3)
            flip_bytes("MANIFEST-*");
        else
            lose_file("MANIFEST-*");
        if (damage == 0)
            lose_file("CURRENT");
        else if (damage == 1)
            write_file("CURRENT", "MANIFEST-999999\n");
        else if (damage == 2)
            lose_file("LIVE.*");
        assert_int_equal(kv_rocksdb_restore(store_path, &options), 0);
        remove_directory(store_path);
    }
}

static void test_kv_rocksdb__garbage_in_current_is_damage(void **state)
{
    (void)state;
    static const char *const contents[] = {"", "garbage", "MANIFEST-999999\n", "\n"};
    struct kv_options options = fixture_options();
    for (size_t i = 0; i < N_OF(contents); i++) {
        make_store_with_data();
        write_file("CURRENT", contents[i]);
        assert_refused(&options, -EUCLEAN, "damaged", "kinfs check --repair --store");
        options.read_only = true;
        assert_refused(&options, -EUCLEAN, "damaged", "kinfs check --repair --store");
        options.read_only = false;
        remove_directory(store_path);
    }
}

static void test_kv_rocksdb__a_missing_current_is_damage_and_no_reason_to_begin_anew(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    make_store_with_data();
    char path[96];
    snprintf(path, sizeof(path), "%s/CURRENT", store_path);
    assert_int_equal(unlink(path), 0);
    assert_refused(&options, -EUCLEAN, "damaged", "kinfs check --repair --store");
    assert_false(file_exists("CURRENT"));
}

static void flip_byte(const char *name, off_t at)
{
    char path[96];
    uint8_t byte;
    snprintf(path, sizeof(path), "%s/%s", store_path, name);
    _cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0x40;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

static void test_kv_rocksdb__a_flipped_bit_in_the_manifest_is_damage(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    for (off_t at = 0; at < 64; at += 13) {
        char manifest[33];
        make_store_with_data();
        read_current(manifest);
        flip_byte(manifest, at);
        assert_refused(&options, -EUCLEAN, "damaged", "kinfs check --repair --store");
        remove_directory(store_path);
    }
}

static void test_kv_rocksdb__a_flipped_bit_in_data_is_an_error_and_no_answer(void **state)
{
    (void)state;
    make_store_with_data();
    char name[64];
    find_file("*.sst", name);
    for (off_t at = 100; at < 1000000; at += 4096)
        flip_byte(name, at);
    struct kv *kv = open_here();
    int n_damaged = 0;
    for (uint64_t i = 0; i < 2000; i += 10) {
        uint8_t key[8];
        put_be64(key, i);
        _cleanup_(kv_buf_done) struct kv_buf value = {0};
        int r = kv_get(kv, T_WHOLE, (struct kv_slice){key, 8}, &value);
        assert_true(r == 0 || r == -EUCLEAN);
        if (r == 0)
            assert_int_equal(get_be64(value.data), ((i + 1) * 1024) * 0x9e3779b97f4a7c15u);
        n_damaged += r == -EUCLEAN;
    }
    assert_true(n_damaged > 0);
    struct kv_page page = {0};
    assert_int_equal(kv_scan(kv, T_WHOLE, &(struct kv_range){0}, 2000, &page), -EUCLEAN);
    assert_null(page.entries);
    assert_value(kv, T_FIXED, S("k"), S("v"));
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

/* -- running out of room -- */

/* Stands in front of the C library's. */
int statvfs(const char *path, struct statvfs *ret_fs)
{
    struct statfs fs;
    if (statfs(path, &fs) < 0)
        return -1;
    *ret_fs = (struct statvfs){.f_bsize = (unsigned long)fs.f_bsize,
                               .f_frsize = (unsigned long)fs.f_frsize,
                               .f_blocks = fs.f_blocks,
                               .f_bfree = fs.f_bfree,
                               .f_bavail = seems_roomy ? fs.f_blocks : fs.f_bavail};
    return 0;
}

/* Whether this process has its own table of mounts: what a failing test leaves mounted then goes
 * with it. */
static bool own_mounts;

/* Mounts a small file system over the parent of the store, or skips the test. */
static void mount_small(size_t size_mib)
{
    if (!own_mounts)
        skip();
    char options[32];
    snprintf(options, sizeof(options), "size=%zum", size_mib);
    if (mount("none", directory, "tmpfs", 0, options) < 0)
        skip();
}

static void fill(const char *name)
{
    char path[64], block[4096] = {0};
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    while (fwrite(block, sizeof(block), 1, file) == 1 && fflush(file) == 0)
        ;
    fclose(file);
}

static void test_kv_rocksdb__no_room_to_begin_is_said(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    mount_small(100);
    make_store_with_data();
    fill("filler");
    assert_refused(&options, -ENOSPC, "no room", store_path);
    snprintf(store_path, sizeof(store_path), "%s/other", directory);
    assert_refused(&options, -ENOSPC, "no room", store_path);
    snprintf(store_path, sizeof(store_path), "%s/store", directory);
    char filler[64];
    snprintf(filler, sizeof(filler), "%s/filler", directory);
    assert_int_equal(unlink(filler), 0);
    struct kv *kv = open_here();
    assert_value(kv, T_FIXED, S("k"), S("v"));
    kv_close(kv);
}

static void test_kv_rocksdb__a_read_only_file_system_is_said(void **state)
{
    (void)state;
    struct kv_options options = fixture_options();
    mount_small(100);
    make_store_with_data();
    assert_int_equal(mount("none", directory, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    assert_refused(&options, -EROFS, "read-only", store_path);
    options.read_only = true;
    struct kv *kv = NULL;
    assert_int_equal(kv_rocksdb_open(store_path, &options, &kv, NULL), 0);
    assert_value(kv, T_FIXED, S("k"), S("v"));
    kv_close(kv);
}

/* Write numbered entries from *n on until one fails; *n is then the first that was not
 * acknowledged. Returns the error. */
static int write_until_error(struct kv *kv, uint64_t *n, uint64_t end)
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

static void assert_entries(struct kv *kv, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint8_t key[8];
        put_be64(key, i);
        _cleanup_(kv_buf_done) struct kv_buf value = {0};
        assert_int_equal(kv_get(kv, T_WHOLE, (struct kv_slice){key, 8}, &value), 0);
        assert_int_equal(get_be64(value.data), i * (64 << 10) * 0x9e3779b97f4a7c15u);
    }
}

static void assert_goes_on(struct kv *kv, uint64_t n)
{
    struct long_run run = {.n = 1000};
    assert_int_equal(kv_resume(kv), 0);
    assert_entries(kv, n);
    assert_int_equal(write_until_error(kv, &n, n + 200), 0);
    assert_entries(kv, n);
    assert_int_equal(kv_checkpoint(kv), 0);
    assert_int_equal(kv_bulk_load(kv, T_FIXED, long_run_next, &run), 0);
    kv_close(kv);
    kv = open_here();
    assert_entries(kv, n);
    kv_close(kv);
}

static void test_kv_rocksdb__after_a_full_disk_it_goes_on(void **state)
{
    (void)state;
    mount_small(200);
    struct kv *kv = open_here();
    uint64_t n = 0;
    assert_int_equal(write_until_error(kv, &n, 10000), -ENOSPC);
    assert_true(n > 500);
    fill("filler");
    assert_entries(kv, n); /* reading goes on */
    assert_int_equal(kv_resume(kv), -ENOSPC);
    assert_int_equal(write_until_error(kv, &n, n + 100), -ENOSPC);
    struct long_run run = {.n = 1000};
    assert_int_equal(kv_bulk_load(kv, T_FIXED, long_run_next, &run), -ENOSPC);
    assert_entries(kv, n);
    assert_int_equal(mount("none", directory, NULL, MS_REMOUNT, "size=800m"), 0);
    assert_goes_on(kv, n);
}

/* As when another process takes the room between the look at it and the write: RocksDB meets the
 * end of the disk, in its log or while it flushes, and must be opened again. */
static void test_kv_rocksdb__after_a_write_that_failed_it_goes_on(void **state)
{
    (void)state;
    mount_small(200);
    struct kv *kv = open_here();
    uint64_t n = 0;
    seems_roomy = true;
    assert_int_equal(write_until_error(kv, &n, 10000), -ENOSPC);
    assert_true(n > 500);
    assert_int_equal(write_until_error(kv, &n, n + 1), -ENOSPC);
    assert_int_equal(kv_checkpoint(kv), -ENOSPC);
    struct long_run run = {.n = 1000};
    assert_int_equal(kv_bulk_load(kv, T_FIXED, long_run_next, &run), -ENOSPC);
    assert_entries(kv, n);
    seems_roomy = false;
    assert_int_equal(kv_resume(kv), -ENOSPC);

    /* It cannot be opened for writing, but for reading. */
    assert_int_equal(mount("none", directory, NULL, MS_REMOUNT, "size=800m"), 0);
    char lock[96];
    snprintf(lock, sizeof(lock), "%s/LOCK", store_path);
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(mkdir(lock, 0700), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kv_resume(kv), -EIO);
        assert_int_equal(write_until_error(kv, &n, n + 1), -EIO);
        assert_entries(kv, n);
    }
    assert_int_equal(rmdir(lock), 0);

    /* Nor for reading. */
    char current[33];
    read_current(current);
    write_file("CURRENT", "garbage");
    assert_int_equal(kv_resume(kv), -EUCLEAN);
    struct kv_buf value;
    struct kv_page page;
    struct kv_slice key = S("k");
    assert_int_equal(kv_get(kv, T_WHOLE, key, &value), -EUCLEAN);
    assert_int_equal(kv_multi_get(kv, T_WHOLE, &key, 1, &value), -EUCLEAN);
    assert_int_equal(kv_scan(kv, T_WHOLE, &(struct kv_range){0}, 1, &page), -EUCLEAN);
    assert_int_equal(kv_cas(kv, T_WHOLE, key, NULL, NULL), -EUCLEAN);
    assert_int_equal(put_one(kv, T_WHOLE, key, key), -EUCLEAN);
    strcat(current, "\n");
    write_file("CURRENT", current);
    assert_goes_on(kv, n);
}

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
enum { N_BETWEEN = 16000 }; /* of 4 KiB: twice what all tables may have in memory */

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

/* Another process takes the room: what was acknowledged is in the log still. */
static void test_kv_rocksdb__an_end_on_a_full_disk_loses_nothing(void **state)
{
    (void)state;
    mount_small(200);
    struct kv *kv = open_here();
    uint64_t n = 0;
    assert_int_equal(write_until_error(kv, &n, 100), 0);
    seems_roomy = true;
    fill("filler");
    kv_close(kv);
    seems_roomy = false;
    assert_int_equal(mount("none", directory, NULL, MS_REMOUNT, "size=800m"), 0);
    kv = open_here();
    assert_goes_on(kv, n);
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
    /* Before there are threads: the back end's must see the same mounts. */
    own_mounts = scratch_own_mounts();
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        /* First: what it forks needs threads of RocksDB, which a process that has some would have
         * left behind. */
        CASE(test_kv_rocksdb__without_its_log_a_store_is_of_one_moment),
        CASE(test_kv_rocksdb__a_store_lasts),
        CASE(test_kv_rocksdb__what_was_acknowledged_survives_kill),
        CASE(test_kv_rocksdb__a_relative_path_outlives_a_change_of_directory),
        CASE(test_kv_rocksdb__leftover_runs_are_removed),
        CASE(test_kv_rocksdb__a_run_longer_than_a_file_is_loaded_whole),
        CASE(test_kv_rocksdb__no_store_is_said),
        CASE(test_kv_rocksdb__a_store_in_use_is_said),
        CASE(test_kv_rocksdb__other_tables_are_refused_and_left_alone),
        CASE(test_kv_rocksdb__somebody_elses_directory_is_left_alone),
        CASE(test_kv_rocksdb__an_interrupted_making_goes_on),
        CASE(test_kv_rocksdb__garbage_in_current_is_damage),
        CASE(test_kv_rocksdb__a_missing_current_is_damage_and_no_reason_to_begin_anew),
        CASE(test_kv_rocksdb__a_file_cut_short_after_a_clean_end_is_damage),
        CASE(test_kv_rocksdb__the_first_opening_for_writing_breaks_the_seal),
        CASE(test_kv_rocksdb__what_a_sealed_store_says_of_itself_is_put_back),
        CASE(test_kv_rocksdb__an_open_store_has_its_manifest_by_two_names),
        CASE(test_kv_rocksdb__a_manifest_lost_after_a_crash_is_put_back),
        CASE(test_kv_rocksdb__after_a_crash_no_other_manifest_is_put_back),
        CASE(test_kv_rocksdb__what_is_not_certain_is_not_put_back),
        CASE(test_kv_rocksdb__a_flipped_bit_in_the_manifest_is_damage),
        CASE(test_kv_rocksdb__a_flipped_bit_in_data_is_an_error_and_no_answer),
        CASE(test_kv_rocksdb__a_reader_beside_the_writer_changes_nothing),
        CASE(test_kv_rocksdb__no_room_to_begin_is_said),
        CASE(test_kv_rocksdb__a_read_only_file_system_is_said),
        CASE(test_kv_rocksdb__after_a_full_disk_it_goes_on),
        CASE(test_kv_rocksdb__after_a_write_that_failed_it_goes_on),
        CASE(test_kv_rocksdb__a_log_that_is_lost_or_cut_is_told),
        CASE(test_kv_rocksdb__a_clean_end_leaves_no_long_log),
        CASE(test_kv_rocksdb__an_end_on_a_full_disk_loses_nothing),
        CASE(test_kv_rocksdb__few_files_are_open),
        CASE(test_kv_rocksdb__a_store_with_little_in_it_takes_little_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
