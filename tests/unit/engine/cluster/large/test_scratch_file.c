#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "engine/cluster/large/scratch_file.h"
#include "tests/lib/scratch.h"

static unsigned n_names(const char *directory)
{
    unsigned n = 0;
    DIR *open = opendir(directory);
    assert_non_null(open);
    for (struct dirent *entry; (entry = readdir(open));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(open);
    return n;
}

static void test_scratch_file__gives_back_what_was_written_and_leaves_no_name(void **state)
{
    struct scratch_file file = {0};
    char back[6];
    assert_int_equal(scratch_file_open(*state, &file), 0);
    assert_int_equal(n_names(*state), 0);
    assert_int_equal(scratch_file_reserve(&file, 10), 0);
    uint64_t second = scratch_file_reserve(&file, 6);
    assert_int_equal(second, 10);
    assert_int_equal(scratch_file_write(&file, second, "second", 6), 0);
    assert_int_equal(scratch_file_write(&file, 0, "first", 5), 0);
    assert_int_equal(scratch_file_read(&file, second, back, 6), 0);
    assert_memory_equal(back, "second", 6);
    assert_int_equal(scratch_file_read(&file, second, back, 7), -EIO); /* past its end */
    assert_int_equal(file.written_bytes, 11);
    scratch_file_done(&file);
    scratch_file_done(&file);
    assert_int_equal(n_names(*state), 0);
}

/* Room that is given back is the file system's; what several files took at most is what they had at
 * one time. */
static void test_scratch_file__has_no_more_than_is_wanted(void **state)
{
    enum { SIZE = 1 << 20 };
    struct scratch_use use = {0};
    struct scratch_file files[2] = {{0}};
    struct stat st;
    static char bytes[SIZE];
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(scratch_file_open(*state, &files[i]), 0);
        files[i].use = &use;
    }
    for (unsigned round = 1; round <= 3; round++) {
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(scratch_file_reserve(&files[i], SIZE), 0);
            assert_int_equal(scratch_file_write(&files[i], 0, bytes, SIZE), 0);
            assert_int_equal(use.now_bytes, SIZE);
            assert_int_equal(files[i].written_bytes, round * SIZE);
            scratch_file_give_back(&files[i]);
            assert_int_equal(use.now_bytes, 0);
            assert_int_equal(fstat(files[i].fd, &st), 0);
            assert_int_equal(st.st_size, 0);
            assert_int_equal(st.st_blocks, 0);
        }
    }
    assert_int_equal(use.most_bytes, SIZE);
    for (unsigned i = 0; i < 2; i++)
        scratch_file_done(&files[i]);
}

static void test_scratch_file__says_what_is_wrong_with_the_directory(void **state)
{
    struct scratch_file file = {0};
    assert_int_equal(scratch_file_open(scratch_path(*state, "none"), &file), -ENOENT);
    scratch_write(scratch_path(*state, "file"), "x");
    assert_int_equal(scratch_file_open(scratch_path(*state, "file"), &file), -ENOTDIR);
    assert_int_equal(unlink(scratch_path(*state, "file")), 0);

    const char *closed = scratch_path(*state, "closed");
    assert_int_equal(mkdir(closed, 0500), 0);
    bool root = geteuid() == 0;
    if (root) {
        assert_int_equal(chmod(*state, 0755), 0);
        assert_int_equal(seteuid(65534), 0);
    }
    int r = scratch_file_open(closed, &file);
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(r, -EACCES);
    assert_int_equal(rmdir(closed), 0);
}

static void test_scratch_file__fails_when_it_may_not_grow(void **state)
{
    struct scratch_file file = {0};
    struct rlimit before, small = {4096, 4096};
    assert_int_equal(scratch_file_open(*state, &file), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    static char data[8192];
    int r = scratch_file_write(&file, 0, data, sizeof(data));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(r, -EFBIG);
    scratch_file_done(&file);
}

static void test_scratch_file__fails_on_a_full_disk(void **state)
{
    const char *disk = scratch_path(*state, "disk");
    struct scratch_file file = {0};
    if (!scratch_own_mounts())
        skip();
    assert_int_equal(mkdir(disk, 0755), 0);
    assert_int_equal(mount("small", disk, "tmpfs", 0, "size=64k"), 0);
    static char data[128 << 10];
    assert_int_equal(scratch_file_open(disk, &file), 0);
    assert_int_equal(scratch_file_write(&file, 0, data, sizeof(data)), -ENOSPC);
    scratch_file_done(&file);
    assert_int_equal(umount(disk), 0);
}

static void test_scratch_file__leaves_room_to_others(void **state)
{
    enum { DISK_BYTES = 100 << 20, PIECE_BYTES = 1 << 20 };
    const char *disk = scratch_path(*state, "shared");
    struct scratch_file file = {0};
    struct statvfs fs;
    uint64_t n_bytes = 0;
    int r = 0;
    if (!scratch_own_mounts())
        skip();
    assert_int_equal(mkdir(disk, 0755), 0);
    assert_int_equal(mount("shared", disk, "tmpfs", 0, "size=100m"), 0);
    static char data[PIECE_BYTES];
    assert_int_equal(scratch_file_open(disk, &file), 0);
    for (; r == 0 && n_bytes <= DISK_BYTES; n_bytes += PIECE_BYTES)
        r = scratch_file_write(&file, n_bytes, data, sizeof(data));
    assert_int_equal(r, -ENOSPC);
    assert_int_equal(statvfs(disk, &fs), 0);
    assert_true(fs.f_bavail * fs.f_frsize >= DISK_BYTES / 20);
    assert_true(n_bytes > DISK_BYTES / 2);
    scratch_file_done(&file);
    assert_int_equal(umount(disk), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scratch_file__gives_back_what_was_written_and_leaves_no_name),
        cmocka_unit_test(test_scratch_file__has_no_more_than_is_wanted),
        cmocka_unit_test(test_scratch_file__says_what_is_wrong_with_the_directory),
        cmocka_unit_test(test_scratch_file__fails_when_it_may_not_grow),
        cmocka_unit_test(test_scratch_file__fails_on_a_full_disk),
        cmocka_unit_test(test_scratch_file__leaves_room_to_others),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
