/* What a directory of a database may not have, and what a forged seal may not say: in each case
 * nothing outside of the directory is touched. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "store/kv.h"
#include "tests/lib/scratch.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static char root[64], db[80];

static const struct kv_table tables[] = {{.name = "numbers", .partition = KV_PARTITION_WHOLE}};
static const struct kv_options options = {.tables = tables, .n_tables = 1, .create = true};
static const struct kv_options reading = {.tables = tables, .n_tables = 1, .read_only = true};

static struct kv *open_here(void)
{
    struct kv *kv = NULL;
    char *error = NULL;
    if (kv_rocksdb_open(db, &options, &kv, &error) < 0)
        fail_msg("%s", error);
    return kv;
}

static void put_one(struct kv *kv)
{
    struct kv_batch *batch = kv_batch_new();
    kv_batch_put(batch, 0, (struct kv_slice){"key", 3}, (struct kv_slice){"value", 5});
    assert_int_equal(kv_apply(kv, batch), 0);
    kv_batch_free(batch);
}

static int setup(void **state)
{
    (void)state;
    scratch_make(root);
    snprintf(db, sizeof(db), "%s/db", root);
    struct kv *kv = open_here();
    put_one(kv);
    kv_close(kv);
    assert_int_equal(mkdir(scratch_path(root, "victim"), 0700), 0);
    scratch_write(scratch_path(root, "victim/file"), "precious");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_remove(root);
    return 0;
}

static void assert_victim_is_as_before(void)
{
    char content[16] = "";
    int fd = open(scratch_path(root, "victim/file"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, content, sizeof(content)), strlen("precious"));
    close(fd);
    assert_string_equal(content, "precious");
    struct stat st;
    assert_int_equal(stat(scratch_path(root, "victim"), &st), 0);
    assert_int_equal(access(scratch_path(root, "victim/made"), F_OK), -1);
    assert_int_equal(access(scratch_path(root, "victim/MANIFEST-9"), F_OK), -1);
}

/* By whoever writes, whoever reads, and whoever mends. */
static void assert_refused(const char *name)
{
    const struct kv_options *const each[] = {&options, &reading};
    for (size_t i = 0; i < N_OF(each); i++) {
        struct kv *kv = NULL;
        _cleanup_free_ char *error = NULL;
        int r = kv_rocksdb_open(db, each[i], &kv, &error);
        if (r != -EPERM)
            fail_msg("%s: %d %s", name, r, error ? error : "");
        assert_non_null(strstr(error, name));
        assert_non_null(strstr(error, db));
        assert_null(strchr(error, '\n'));
    }
    assert_int_equal(kv_rocksdb_restore(db, &options), -EPERM);
    assert_victim_is_as_before();
}

static void test_kv_rocksdb_hostile__only_files_of_ones_own_are_in_it(void **state)
{
    (void)state;
    static const char *const names[] = {"LOCK",         "SEAL.new", "WRITTEN.new", "000099.sst",
                                        "000099.dbtmp", "archive",  "LOG.old.1"};
    static const char *const targets[] = {"../victim", "../victim/file", "../victim/made"};
    for (size_t i = 0; i < N_OF(names); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", db, names[i]);
        unlink(path);
        for (size_t k = 0; k < N_OF(targets); k++) {
            assert_int_equal(symlink(targets[k], path), 0);
            assert_refused(names[i]);
            assert_int_equal(unlink(path), 0);
        }
        assert_int_equal(mkfifo(path, 0600), 0);
        assert_refused(names[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(mkdir(scratch_path(db, "MANIFEST-"), 0700), 0);
    assert_refused("MANIFEST-");
    assert_int_equal(rmdir(scratch_path(db, "MANIFEST-")), 0);
    assert_int_equal(mkdir(scratch_path(db, "lost+found"), 0700), 0);
    assert_refused("lost+found");
    assert_int_equal(rmdir(scratch_path(db, "lost+found")), 0);
    kv_close(open_here());
}

static void test_kv_rocksdb_hostile__runs_are_those_of_the_directory(void **state)
{
    (void)state;
    char runs[96];
    snprintf(runs, sizeof(runs), "%s/runs", db);
    assert_int_equal(rmdir(runs), 0);
    assert_int_equal(symlink("../victim", runs), 0);
    assert_refused("runs");
    assert_int_equal(unlink(runs), 0);
    assert_int_equal(mkdir(runs, 0700), 0);
    assert_int_equal(symlink("../../victim/file", scratch_path(runs, "0.sst")), 0);
    assert_refused("0.sst");
    assert_int_equal(unlink(scratch_path(runs, "0.sst")), 0);
    kv_close(open_here());
}

/* A second name is one of another file's where it is elsewhere; here it is a crash's. */
static void test_kv_rocksdb_hostile__a_second_name_is_in_it_too(void **state)
{
    (void)state;
    const char *file = scratch_path(db, "runs/0.sst");
    scratch_write(file, "left by a crash");
    assert_int_equal(link(file, scratch_path(db, "000077.sst")), 0);
    kv_close(open_here());
    assert_int_equal(access(file, F_OK), -1);
    const char *other = scratch_path(db, "000099.dbtmp");
    assert_int_equal(link(scratch_path(root, "victim/file"), other), 0);
    struct kv *kv = NULL;
    _cleanup_free_ char *error = NULL;
    assert_int_equal(kv_rocksdb_open(db, &options, &kv, &error), -EPERM);
    assert_non_null(strstr(error, "hard link"));
    assert_victim_is_as_before();
}

static void test_kv_rocksdb_hostile__it_is_opened_once_by_whatever_name(void **state)
{
    (void)state;
    struct kv *first = open_here(), *second = NULL;
    char link[80];
    snprintf(link, sizeof(link), "%s/link", root);
    assert_int_equal(symlink("db", link), 0);
    assert_int_equal(kv_rocksdb_open(db, &options, &second, NULL), -EBUSY);
    assert_int_equal(kv_rocksdb_open(link, &options, &second, NULL), -EBUSY);
    put_one(first);
    kv_close(first);
    assert_int_equal(kv_rocksdb_open(link, &options, &second, NULL), 0);
    kv_close(second);
}

/* The path is gone from under it: it goes on in the directory that it opened. */
/* Who can open it could lock it. */
static void test_kv_rocksdb_hostile__it_is_taken_from_others(void **state)
{
    (void)state;
    struct stat st;
    assert_int_equal(chmod(db, 0755), 0);
    kv_close(open_here());
    assert_int_equal(stat(db, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
}

static void test_kv_rocksdb_hostile__another_directory_in_its_place_is_not_used(void **state)
{
    (void)state;
    struct kv *kv = open_here();
    assert_int_equal(rename(db, scratch_path(root, "moved")), 0);
    assert_int_equal(mkdir(db, 0700), 0);
    put_one(kv);
    kv_close(kv);
    assert_int_equal(rmdir(db), 0); /* nothing was made in it */
    assert_int_equal(rename(scratch_path(root, "moved"), db), 0);
    kv_close(open_here());
}

static void test_kv_rocksdb_hostile__messages_have_its_path(void **state)
{
    (void)state;
    struct kv *kv = NULL;
    _cleanup_free_ char *error = NULL;
    assert_int_equal(unlink(scratch_path(db, "SEAL")), 0);
    assert_int_equal(unlink(scratch_path(db, "CURRENT")), 0);
    assert_true(kv_rocksdb_open(db, &options, &kv, &error) < 0);
    assert_non_null(strstr(error, db));
    assert_null(strstr(error, "/proc/self"));
}

static void test_kv_rocksdb_hostile__a_path_may_look_as_a_descriptors(void **state)
{
    (void)state;
    char at_first[sizeof(db)], expected[sizeof(db) + 16];
    strcpy(at_first, db);
    assert_int_equal(mkdir(scratch_path(root, "proc"), 0700), 0);
    assert_int_equal(mkdir(scratch_path(root, "proc/self"), 0700), 0);
    assert_int_equal(mkdir(scratch_path(root, "proc/self/fd"), 0700), 0);
    assert_int_equal(unlink(scratch_path(db, "SEAL")), 0);
    assert_int_equal(unlink(scratch_path(db, "CURRENT")), 0);
    for (int i = 0; i < 16; i++) {
        struct kv *kv = NULL;
        _cleanup_free_ char *error = NULL;
        snprintf(db, sizeof(db), "%s/proc/self/fd/%d", root, i);
        snprintf(expected, sizeof(expected), "%s/CURRENT", db);
        assert_int_equal(rename(at_first, db), 0);
        strcpy(at_first, db);
        assert_true(kv_rocksdb_open(db, &options, &kv, &error) < 0);
        if (!strstr(error, expected))
            fail_msg("%s", error);
    }
}

/* -- forged seals -- */

static void forge(const char *seal, const char *manifest)
{
    uint8_t sum[8];
    scratch_write(scratch_path(db, "SEAL"), seal);
    put_be64(sum, XXH3_64bits(manifest, strlen(manifest)));
    int fd =
        open(scratch_path(db, "SEAL.manifest"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, manifest, strlen(manifest)), (ssize_t)strlen(manifest));
    assert_int_equal(write(fd, sum, sizeof(sum)), sizeof(sum));
    close(fd);
}

static void test_kv_rocksdb_hostile__a_seal_names_files_of_the_directory_alone(void **state)
{
    (void)state;
    static const char *const lines[] = {"MANIFEST-/../../victim/file 5\n",
                                        "MANIFEST-/../../victim/made 5\n",
                                        "../victim/MANIFEST-9 5\n",
                                        "/tmp/MANIFEST-9 5\n",
                                        "MANIFEST-9x 5\n",
                                        "MANIFEST- 5\n",
                                        ".. 5\n",
                                        ". 5\n",
                                        "SEAL 5\n",
                                        "x.sst 5\n",
                                        "000001.sst/../x.log 5\n",
                                        ".sst 5\n",
                                        "000001.sst 5",
                                        "000001.sst\n",
                                        "000001.sst  5\n",
                                        "000001.sst -5\n",
                                        "000001.sst +5\n",
                                        "000001.sst 5 \n",
                                        "000001.sst 0x5\n",
                                        "000001.sst 99999999999999999999\n",
                                        "MANIFEST-9 5 5\n",
                                        "\n",
                                        " 5\n",
                                        "no seal at all"};
    for (size_t i = 0; i < N_OF(lines); i++) {
        struct kv *kv = NULL;
        _cleanup_free_ char *error = NULL;
        forge(lines[i], "forge");
        int r = kv_rocksdb_open(db, &options, &kv, &error);
        if (r != -EUCLEAN || !strstr(error, "damaged (its file SEAL is damaged)") ||
            !strstr(error, "kinfs check --repair"))
            fail_msg("'%s': %d %s", lines[i], r, error ? error : "");
        assert_int_equal(kv_rocksdb_restore(db, &options), 0);
        assert_victim_is_as_before();
        assert_int_equal(access(scratch_path(db, "MANIFEST-9"), F_OK), -1);
    }
    assert_int_equal(unlink(scratch_path(db, "SEAL")), 0);
    kv_close(open_here()); /* the database was not touched */
}

static void test_kv_rocksdb_hostile__a_long_line_is_no_seal(void **state)
{
    (void)state;
    struct kv *kv = NULL;
    char *line = calloc(1, 100001);
    memset(line, '1', 100000);
    forge(line, "forge");
    free(line);
    assert_int_equal(kv_rocksdb_open(db, &options, &kv, NULL), -EUCLEAN);
    assert_int_equal(kv_rocksdb_restore(db, &options), 0);
}

/* With the directory that the old name led through: neither by name nor by place. */
static void test_kv_rocksdb_hostile__a_forged_manifest_goes_nowhere(void **state)
{
    (void)state;
    assert_int_equal(mkdir(scratch_path(db, "MANIFEST-"), 0700), 0);
    forge("MANIFEST-/../../victim/file 5\n", "forge");
    assert_int_equal(kv_rocksdb_restore(db, &options), -EPERM);
    assert_victim_is_as_before();
    assert_int_equal(rmdir(scratch_path(db, "MANIFEST-")), 0);
    assert_int_equal(symlink("../victim/file", scratch_path(db, "SEAL.restored")), 0);
    forge("MANIFEST-9 5\n", "forge");
    assert_int_equal(kv_rocksdb_restore(db, &options), -EPERM);
    assert_victim_is_as_before();
}

/* Of a copy that is not what its sum says nothing is put back. */
static void test_kv_rocksdb_hostile__a_manifest_is_put_back_whole_or_not_at_all(void **state)
{
    (void)state;
    forge("MANIFEST-9 5\n", "forge");
    int fd = open(scratch_path(db, "SEAL.manifest"), O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "F", 1, 0), 1);
    assert_int_equal(kv_rocksdb_restore(db, &options), 0);
    assert_int_equal(ftruncate(fd, 12), 0);
    assert_int_equal(kv_rocksdb_restore(db, &options), 0);
    close(fd);
    assert_int_equal(access(scratch_path(db, "MANIFEST-9"), F_OK), -1);
    assert_int_equal(access(scratch_path(db, "SEAL.restored"), F_OK), -1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_kv_rocksdb_hostile__only_files_of_ones_own_are_in_it),
        CASE(test_kv_rocksdb_hostile__runs_are_those_of_the_directory),
        CASE(test_kv_rocksdb_hostile__a_second_name_is_in_it_too),
        CASE(test_kv_rocksdb_hostile__it_is_opened_once_by_whatever_name),
        CASE(test_kv_rocksdb_hostile__it_is_taken_from_others),
        CASE(test_kv_rocksdb_hostile__another_directory_in_its_place_is_not_used),
        CASE(test_kv_rocksdb_hostile__messages_have_its_path),
        CASE(test_kv_rocksdb_hostile__a_path_may_look_as_a_descriptors),
        CASE(test_kv_rocksdb_hostile__a_seal_names_files_of_the_directory_alone),
        CASE(test_kv_rocksdb_hostile__a_long_line_is_no_seal),
        CASE(test_kv_rocksdb_hostile__a_forged_manifest_goes_nowhere),
        CASE(test_kv_rocksdb_hostile__a_manifest_is_put_back_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
