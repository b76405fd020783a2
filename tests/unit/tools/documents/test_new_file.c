/* A file has its name when it is whole, and no other loses its own by that. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/sha.h>

#include "base/cleanup.h"
#include "tests/lib/scratch.h"
#include "tools/documents/new_file.h"

enum { SIZE = 300000, HOLE = 100000 };

/* Bytes, a hole of zeroes, and bytes again; with the digest that OpenSSL has of all at once. */
static int make_source(const char *root, char ret_digits[NEW_FILE_DIGITS + 1])
{
    static unsigned char bytes[SIZE];
    unsigned char digest[SHA256_DIGEST_LENGTH];
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = i >= HOLE && i < (size_t)2 * HOLE ? 0 : (unsigned char)(i * 7 + i / 251);
    SHA256(bytes, SIZE, digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(ret_digits + 2 * i, 3, "%02x", digest[i]);
    int fd = open(scratch_path(root, "source"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, bytes, SIZE), SIZE);
    return fd;
}

static void test_new_file__is_a_copy_with_a_name_at_the_end(void **state)
{
    const char *root = *state;
    char expected[NEW_FILE_DIGITS + 1], digits[NEW_FILE_DIGITS + 1], again[NEW_FILE_DIGITS + 1];
    char temporary[NEW_FILE_NAME_BYTES];
    bool cannot_write = true;
    struct stat st;
    _cleanup_close_ int directory_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _cleanup_close_ int from = make_source(root, expected);
    _cleanup_close_ int to = new_file_make(directory_fd, ".made-", temporary);
    assert_true(to >= 0);
    assert_int_equal(new_file_copy(from, to, SIZE, digits, &cannot_write), 0);
    assert_false(cannot_write);
    assert_string_equal(digits, expected);
    assert_int_equal(access(scratch_path(root, "copy"), F_OK), -1);
    assert_int_equal(new_file_link(to, directory_fd, "copy"), 0);
    if (*temporary)
        assert_int_equal(unlinkat(directory_fd, temporary, 0), 0);
    _cleanup_close_ int copy = open(scratch_path(root, "copy"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(fstat(copy, &st), 0);
    assert_int_equal(st.st_size, SIZE);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_nlink, 1);
    assert_int_equal(new_file_copy(copy, -1, SIZE, again, &cannot_write), 0);
    assert_string_equal(again, expected);
    /* A name that is there is nobody's to take. */
    assert_int_equal(new_file_link(copy, directory_fd, "source"), -EEXIST);
    assert_int_equal(new_file_copy(from, -1, SIZE, again, &cannot_write), 0);
}

static void test_new_file__tells_reading_from_writing(void **state)
{
    const char *root = *state;
    char expected[NEW_FILE_DIGITS + 1], digits[NEW_FILE_DIGITS + 1] = "untouched";
    bool cannot_write;
    _cleanup_close_ int from = make_source(root, expected);
    assert_int_equal(new_file_copy(from, -1, SIZE + 1, digits, &cannot_write), -ESTALE);
    assert_false(cannot_write);
    _cleanup_close_ int to = open(scratch_path(root, "source"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(new_file_copy(from, to, SIZE, digits, &cannot_write), -EBADF);
    assert_true(cannot_write);
    assert_string_equal(digits, "untouched");
}

static void test_new_file__has_another_name_each_time(void **state)
{
    (void)state;
    char a[NEW_FILE_NAME_BYTES], b[NEW_FILE_NAME_BYTES];
    assert_int_equal(new_file_name(".made-", a), 0);
    assert_int_equal(new_file_name(".made-", b), 0);
    assert_int_equal(strncmp(a, ".made-", 6), 0);
    assert_int_equal(strlen(a), 6 + 16);
    assert_string_not_equal(a, b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_file__is_a_copy_with_a_name_at_the_end),
        cmocka_unit_test(test_new_file__tells_reading_from_writing),
        cmocka_unit_test(test_new_file__has_another_name_each_time),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
