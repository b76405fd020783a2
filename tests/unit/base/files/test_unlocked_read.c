#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files/unlocked_read.h"

enum { MAX_BYTES = 300 * 1024 };

/* Without a name, in the directory of the tests, and in memory. */
static int make(int on_disk)
{
    int fd = on_disk ? open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
                     : memfd_create("file", MFD_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/* As far as the kernel can, which keeps what is not written yet. */
static void forget_cached(int fd)
{
    assert_int_equal(fdatasync(fd), 0);
    assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
}

typedef ssize_t (*read_fn)(int fd, void *bytes, size_t n_bytes, off_t offset);
static const read_fn ways[] = {unlocked_read, unlocked_read_sparse};

static void expect_as_pread(read_fn way, int fd, size_t n_bytes, off_t offset, bool is_cached)
{
    static _Alignas(4096) uint8_t expected[MAX_BYTES], found[MAX_BYTES];
    const int flags = fcntl(fd, F_GETFL);
    ssize_t n_expected = pread(fd, expected, n_bytes, offset), n_found = 0, n = 1;
    if (!is_cached)
        forget_cached(fd);
    while (n > 0 && (size_t)n_found < n_bytes) {
        n = way(fd, found + n_found, n_bytes - (size_t)n_found, offset + n_found);
        assert_true(n >= 0);
        n_found += n;
    }
    assert_int_equal(n_found, n_expected);
    assert_memory_equal(found, expected, (size_t)n_found);
    assert_int_equal(fcntl(fd, F_GETFL), flags);
}

static void test_unlocked_read__is_as_pread(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 65536, 200001};
    static const off_t offsets[] = {0, 1, 4095, 4096, 70000, 200000, 200001, 1 << 20};
    static uint8_t bytes[200001];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * i >> 3);
    for (int i = 0; i < 8 * 7 * 8; i++) {
        _cleanup_close_ int fd = make(i & 1);
        const read_fn way = ways[i >> 2 & 1];
        const size_t size_bytes = sizes[i / 8 % 7];
        assert_int_equal(pwrite(fd, bytes, size_bytes, 0), size_bytes);
        for (size_t j = 0; j < 7; j++)
            expect_as_pread(way, fd, sizes[j], offsets[i / 56], i & 2);
        expect_as_pread(way, fd, MAX_BYTES, offsets[i / 56], i & 2);
    }
}

/* A block is there before and after; in memory, too, where a mapping would have made the rest. */
static void test_unlocked_read__a_hole_is_zeros_and_stays(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct stat before, after;
        _cleanup_close_ int fd = make(i & 1);
        assert_int_equal(pwrite(fd, "x", 1, 100000), 1);
        assert_int_equal(ftruncate(fd, 250001), 0);
        forget_cached(fd);
        assert_int_equal(fstat(fd, &before), 0);
        expect_as_pread(ways[i >> 1], fd, MAX_BYTES, 0, false);
        expect_as_pread(ways[i >> 1], fd, MAX_BYTES, 5000, false);
        assert_int_equal(fstat(fd, &after), 0);
        assert_int_equal(after.st_blocks, before.st_blocks);
    }
}

static size_t n_cached(int fd, size_t size_bytes)
{
    const size_t n_pages = size_bytes / (size_t)sysconf(_SC_PAGESIZE);
    _cleanup_free_ unsigned char *pages = malloc(n_pages);
    void *map = mmap(NULL, size_bytes, PROT_READ, MAP_SHARED, fd, 0);
    size_t n = 0;
    assert_true(map != MAP_FAILED && pages);
    assert_int_equal(mincore(map, size_bytes, pages), 0);
    munmap(map, size_bytes);
    for (size_t i = 0; i < n_pages; i++)
        n += pages[i] & 1;
    return n;
}

/* Elsewhere it may be read as any file is. */
static void test_unlocked_read__a_hole_takes_no_memory(void **state)
{
    (void)state;
    enum { SIZE_BYTES = 1 << 20 };
    struct statfs fs;
    _cleanup_close_ int fd = make(true);
    _cleanup_free_ void *bytes = aligned_alloc(4096, SIZE_BYTES);
    assert_int_equal(fstatfs(fd, &fs), 0);
    if (fs.f_type != EXT4_SUPER_MAGIC && fs.f_type != XFS_SUPER_MAGIC)
        skip();
    assert_int_equal(ftruncate(fd, SIZE_BYTES), 0);
    assert_int_equal(unlocked_read_sparse(fd, bytes, SIZE_BYTES, 0), SIZE_BYTES);
    assert_int_equal(n_cached(fd, SIZE_BYTES), 0);
}

struct cutter {
    int fd;
    atomic_bool is_over;
};

/* The file of all x is cut off and made longer again, a thousand times. */
static void *cut(void *user)
{
    struct cutter *cutter = user;
    static uint8_t bytes[MAX_BYTES];
    memset(bytes, 'x', sizeof(bytes));
    for (unsigned i = 0; i < 1000; i++) {
        (void)!pwrite(cutter->fd, bytes, sizeof(bytes), 0);
        if (i % 4 == 0)
            (void)posix_fadvise(cutter->fd, 0, 0, POSIX_FADV_DONTNEED);
        (void)!ftruncate(cutter->fd, i * 7919 % MAX_BYTES);
    }
    atomic_store(&cutter->is_over, true);
    return NULL;
}

/* It may be -EIO for one that is as long as before when that is looked at. */
static void test_unlocked_read__what_is_cut_off_meanwhile_is_no_signal(void **state)
{
    (void)state;
    static uint8_t bytes[MAX_BYTES];
    for (int on_disk = 0; on_disk < 2; on_disk++) {
        struct cutter cutter = {.fd = make(on_disk)};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, cut, &cutter), 0);
        for (unsigned i = 0; !atomic_load(&cutter.is_over); i++) {
            ssize_t n = unlocked_read(cutter.fd, bytes, sizeof(bytes), i * 31 % 9000);
            assert_true(n >= 0 || n == -EIO);
            for (ssize_t j = 0; j < n; j++)
                assert_true(bytes[j] == 'x' || bytes[j] == 0);
        }
        assert_int_equal(pthread_join(thread, NULL), 0);
        close(cutter.fd);
    }
}

static void test_unlocked_read__what_cannot_be_read_is_an_error(void **state)
{
    (void)state;
    char byte;
    int pipe_fds[2];
    _cleanup_close_ int directory = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(pipe(pipe_fds), 0);
    assert_int_equal(unlocked_read(-1, &byte, 1, 0), -EBADF);
    assert_int_equal(unlocked_read(directory, &byte, 1, 0), -EISDIR);
    assert_int_equal(unlocked_read(pipe_fds[0], &byte, 1, 0), -ESPIPE);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

/* Of what tells no size the bytes are read all the same. */
static void test_unlocked_read__what_cannot_be_mapped_is_read(void **state)
{
    (void)state;
    char found[64] = "", expected[64] = "";
    _cleanup_close_ int fd = open("/proc/sys/kernel/ostype", O_RDONLY);
    assert_true(fd >= 0);
    ssize_t n = pread(fd, expected, sizeof(expected), 0);
    assert_true(n > 0);
    assert_int_equal(unlocked_read(fd, found, sizeof(found), 0), n);
    assert_string_equal(found, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unlocked_read__is_as_pread),
        cmocka_unit_test(test_unlocked_read__a_hole_is_zeros_and_stays),
        cmocka_unit_test(test_unlocked_read__a_hole_takes_no_memory),
        cmocka_unit_test(test_unlocked_read__what_is_cut_off_meanwhile_is_no_signal),
        cmocka_unit_test(test_unlocked_read__what_cannot_be_read_is_an_error),
        cmocka_unit_test(test_unlocked_read__what_cannot_be_mapped_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
