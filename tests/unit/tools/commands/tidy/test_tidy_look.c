/* Two documents are compared whole, with what they have beside their bytes, while they are held. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/lib/scratch.h"
#include "tools/commands/tidy/tidy_look.h"

enum { SIZE = 700000 }; /* several steps, and a part of one */

static const char *root;
static int root_fd;

static void write_file(const char *name, long changed, long size)
{
    FILE *file = fopen(scratch_path(root, "%s", name), "w");
    assert_non_null(file);
    for (long i = 0; i < size; i++)
        putc(i == changed ? 'W' : 'a' + (int)(i % 23), file);
    assert_int_equal(fclose(file), 0);
}

static int compare(const char *a, const char *b)
{
    _cleanup_(tidy_look_done) struct tidy_look look_a = TIDY_LOOK_NONE, look_b = TIDY_LOOK_NONE;
    assert_int_equal(tidy_look_open(root_fd, a, &look_a), 0);
    assert_int_equal(tidy_look_open(root_fd, b, &look_b), 0);
    return tidy_look_compare(&look_a, &look_b);
}

static void test_tidy_look__compares_each_byte(void **state)
{
    (void)state;
    static const long changed[] = {0, 1, 262143, 262144, 262145, SIZE - 1};
    write_file("a", -1, SIZE);
    write_file("b", -1, SIZE);
    assert_int_equal(compare("a", "b"), 0);
    for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++) {
        write_file("b", changed[i], SIZE);
        assert_int_equal(compare("a", "b"), -ESTALE);
    }
    static const long sizes[] = {0, SIZE - 1, SIZE + 1, 524288};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        write_file("b", -1, sizes[i]);
        assert_int_equal(compare("a", "b"), -ESTALE);
        assert_int_equal(compare("b", "a"), -ESTALE);
    }
}

static void test_tidy_look__opens_documents_alone(void **state)
{
    (void)state;
    struct tidy_look look = TIDY_LOOK_NONE;
    struct tidy_state is;
    write_file("document", -1, 10);
    assert_int_equal(symlink("document", scratch_path(root, "link")), 0);
    assert_int_equal(mkfifo(scratch_path(root, "fifo"), 0600), 0);
    assert_int_equal(mkdir(scratch_path(root, "directory"), 0700), 0);
    assert_int_equal(tidy_look_open(root_fd, "link", &look), -EINVAL);
    assert_int_equal(tidy_look_open(root_fd, "fifo", &look), -EINVAL);
    assert_int_equal(tidy_look_open(root_fd, "directory", &look), -EINVAL);
    assert_int_equal(tidy_look_open(root_fd, "none", &look), -ENOENT);
    assert_int_equal(tidy_look_open(root_fd, "none/none", &look), -ENOENT);
    assert_int_equal(look.fd, -1);
    assert_int_equal(tidy_look_at(root_fd, "link", &is), -EINVAL);
    assert_int_equal(tidy_look_at_path(root_fd, "document", &is), 0);
    assert_int_equal(is.size_bytes, 10);
}

static void test_tidy_look__compares_attributes(void **state)
{
    (void)state;
    _cleanup_(tidy_look_done) struct tidy_look a = TIDY_LOOK_NONE, b = TIDY_LOOK_NONE,
                                               c = TIDY_LOOK_NONE;
    write_file("a", -1, 10);
    write_file("b", -1, 10);
    assert_int_equal(tidy_look_open(root_fd, "a", &a), 0);
    assert_int_equal(tidy_look_open(root_fd, "b", &b), 0);
    assert_int_equal(tidy_look_compare_attributes(&a, &b), 0);
    if (fsetxattr(a.fd, "user.x", "1", 1, 0) < 0)
        skip(); /* the file system has none */
    assert_int_equal(tidy_look_compare_attributes(&a, &b), -ESTALE);
    assert_int_equal(tidy_look_compare_attributes(&b, &a), -ESTALE);
    assert_int_equal(fsetxattr(b.fd, "user.y", "1", 1, 0), 0);
    assert_int_equal(tidy_look_compare_attributes(&a, &b), -ESTALE);
    assert_int_equal(fremovexattr(b.fd, "user.y"), 0);
    assert_int_equal(fsetxattr(b.fd, "user.x", "2", 1, 0), 0);
    assert_int_equal(tidy_look_compare_attributes(&a, &b), -ESTALE);
    assert_int_equal(fsetxattr(b.fd, "user.x", "1", 2, 0), 0);
    assert_int_equal(tidy_look_compare_attributes(&a, &b), -ESTALE);
    assert_int_equal(tidy_look_copy_attributes(a.fd, b.fd), 0);
    assert_int_equal(tidy_look_compare_attributes(&a, &b), 0);
    /* They are the same in whatever order they came. */
    assert_int_equal(fsetxattr(a.fd, "user.a", "2", 1, 0), 0);
    assert_int_equal(fremovexattr(b.fd, "user.x"), 0);
    assert_int_equal(fsetxattr(b.fd, "user.a", "2", 1, 0), 0);
    assert_int_equal(fsetxattr(b.fd, "user.x", "1", 1, 0), 0);
    assert_int_equal(tidy_look_compare_attributes(&a, &b), 0);
    /* The digest of none is that of nothing. */
    char sha256[TIDY_LOOK_DIGITS + 1];
    write_file("c", -1, 10);
    assert_int_equal(tidy_look_open(root_fd, "c", &c), 0);
    assert_int_equal(tidy_look_digest_attributes(c.fd, sha256), 0);
    assert_string_equal(sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    /* What a mount says of a file is none of it, but that it is to be kept. */
    assert_int_equal(fsetxattr(b.fd, "user.kinfs.similar", "1", 1, 0), 0);
    assert_int_equal(tidy_look_compare_attributes(&a, &b), 0);
    assert_int_equal(fsetxattr(b.fd, "user.kinfs.keep", "", 0, 0), 0);
    assert_int_equal(tidy_look_compare_attributes(&a, &b), -ESTALE);
}

static void test_tidy_look__holds_what_nobody_writes(void **state)
{
    (void)state;
    _cleanup_(tidy_look_done) struct tidy_look look = TIDY_LOOK_NONE, other = TIDY_LOOK_NONE;
    write_file("held", -1, SIZE);
    write_file("other", -1, SIZE);
    const char *path = scratch_path(root, "held");
    signal(SIGIO, SIG_IGN);
    int writer = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(tidy_look_open(root_fd, "held", &look), 0);
    assert_int_equal(tidy_look_open(root_fd, "other", &other), 0);
    assert_int_equal(tidy_look_hold(&look), -ETXTBSY);
    assert_false(look.is_held);
    assert_true(tidy_look_is_free(&look));
    close(writer);
    assert_int_equal(tidy_look_hold(&look), 0);
    assert_true(tidy_look_is_free(&look));
    _cleanup_close_ int reader = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(reader >= 0);
    assert_true(tidy_look_is_free(&look));
    assert_int_equal(tidy_look_compare(&look, &other), 0);
    assert_int_equal(open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC), -1);
    assert_int_equal(errno, EWOULDBLOCK);
    assert_false(tidy_look_is_free(&look));
    assert_int_equal(tidy_look_compare(&look, &other), -ETXTBSY);
    assert_int_equal(tidy_look_compare(&other, &look), -ETXTBSY);
    tidy_look_let_go(&look);
    writer = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(writer >= 0);
    close(writer);
}

static int set_up(void **state)
{
    const int r = scratch_group_make(state);
    root = scratch_group;
    root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return r;
}

static int tear_down(void **state)
{
    close(root_fd);
    return scratch_group_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tidy_look__compares_each_byte),
        cmocka_unit_test(test_tidy_look__opens_documents_alone),
        cmocka_unit_test(test_tidy_look__compares_attributes),
        cmocka_unit_test(test_tidy_look__holds_what_nobody_writes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
