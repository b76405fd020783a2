/* Directories and files that others could have made or changed. Whose they are needs root to say:
 * for that the effective user is changed, which is all that is looked at. */
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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/lib/fixtures/trust_fixture.h"

static void assert_opens(const char *path)
{
    char *why = NULL;
    int fd = trust_open_directory(path, &why);
    if (fd < 0)
        fail_msg("%s: %d %s", path, fd, why ? why : "");
    assert_null(why);
    close(fd);
}

static void assert_refused(const char *path, const char *named, const char *advice)
{
    _cleanup_free_ char *why = NULL;
    assert_int_equal(trust_open_directory(path, &why), -EPERM);
    assert_line(why, named, advice);
    assert_int_equal(trust_open_directory(path, NULL), -EPERM);
}

static void test_trust__ones_own_directory_opens(void **state)
{
    (void)state;
    assert_opens(own);
    assert_int_equal(chmod(own, 0755), 0); /* others may read */
    assert_opens(own);
    assert_int_equal(symlink("own", scratch_path(root, "link")), 0);
    assert_opens(scratch_path(root, "link"));
    assert_opens(scratch_path(root, "link/../own/./"));
    assert_int_equal(chdir(root), 0);
    assert_opens("own");
    assert_int_equal(chdir("/"), 0);
}

static void test_trust__what_cannot_be_reached_is_told_from_what_is_refused(void **state)
{
    (void)state;
    scratch_write(scratch_path(root, "file"), "");
    assert_int_equal(symlink("loop", scratch_path(root, "loop")), 0);
    assert_int_equal(trust_open_directory("", NULL), -ENOENT);
    assert_int_equal(trust_open_directory(scratch_path(root, "none"), NULL), -ENOENT);
    assert_int_equal(trust_open_directory(scratch_path(root, "none/none"), NULL), -ENOENT);
    assert_int_equal(trust_open_directory(scratch_path(root, "file"), NULL), -ENOTDIR);
    assert_int_equal(trust_open_directory(scratch_path(root, "loop"), NULL), -ELOOP);
}

static void test_trust__a_directory_that_others_can_write_is_refused(void **state)
{
    (void)state;
    static const mode_t modes[] = {0720, 0702, 0777, 01777};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(chmod(own, modes[i]), 0);
        assert_refused(own, own, "chmod go-w");
    }
}

static void test_trust__every_directory_above_is_looked_at(void **state)
{
    (void)state;
    const char *above = made("above", 0700, geteuid()), *deep = scratch_path(above, "a");
    const char *store = scratch_path(deep, "store");
    assert_int_equal(mkdir(deep, 0700), 0);
    assert_int_equal(mkdir(store, 0700), 0);
    assert_opens(store);
    assert_int_equal(chmod(above, 0770), 0);
    assert_refused(store, above, "chmod go-w");
    /* As a home directory under umask 002: by its mode alone the group is anybody's. */
    assert_int_equal(chmod(above, 0775), 0);
    assert_refused(store, above, "chmod go-w");
    assert_int_equal(chmod(above, 0755), 0); /* as it says */
    assert_opens(store);
    assert_int_equal(chmod(above, 01777), 0); /* nobody can replace what is another's */
    assert_opens(store);
}

static void test_trust__what_another_user_owns_is_refused(void **state)
{
    (void)state;
    needs_root();
    const char *others = made("others", 0755, STRANGER), *inside = scratch_path(others, "store");
    assert_refused(others, others, "belongs to user 54322");
    assert_int_equal(mkdir(inside, 0700), 0);
    assert_refused(inside, others, "belongs to user 54322");
    const char *sticky = made("sticky", 01777, 0), *planted = scratch_path(sticky, "store");
    assert_int_equal(symlink(own, planted), 0);
    assert_opens(planted);
    assert_int_equal(lchown(planted, STRANGER, STRANGER), 0);
    assert_refused(planted, planted, "symbolic link");
}

static void test_trust__nobody_is_told_to_chown_what_another_user_made(void **state)
{
    (void)state;
    needs_root();
    _cleanup_free_ char *why = NULL, *why_own = NULL;
    const char *others = made("others", 0755, STRANGER), *inside = scratch_path(others, "store");
    assert_int_equal(mkdir(inside, 0700), 0);
    assert_int_equal(trust_open_directory(inside, &why), -EPERM);
    assert_line(why, others, "a new one");
    assert_null(strstr(why, "chown"));
    assert_int_equal(trust_open_directory(others, &why_own), -EPERM);
    assert_null(strstr(why_own, "chown"));
}

static void test_trust__an_ordinary_user_trusts_root_above_but_not_its_directory(void **state)
{
    (void)state;
    needs_root();
    assert_int_equal(chmod(root, 0755), 0);
    const char *his = made("his", 0700, ORDINARY);
    assert_int_equal(seteuid(ORDINARY), 0);
    int opened = trust_open_directory(his, NULL), roots = trust_open_directory(root, NULL);
    assert_int_equal(seteuid(0), 0);
    assert_true(opened >= 0);
    close(opened);
    assert_int_equal(roots, -EPERM);
    assert_refused(his, his, "belongs to user 54321, not to root");
}

static void test_trust__what_is_made_is_for_its_owner_alone(void **state)
{
    (void)state;
    struct stat st;
    bool was_made = false;
    umask(0);
    const char *new = scratch_path(own, "a/b/new");
    assert_int_equal(trust_make_directory(new, &was_made, NULL), -ENOENT);
    assert_int_equal(trust_make_parents(new, NULL), 0);
    assert_int_equal(trust_open_directory(new, NULL), -ENOENT); /* the last one is not made */
    _cleanup_close_ int fd = trust_make_directory(new, &was_made, NULL);
    assert_true(fd >= 0 && was_made);
    _cleanup_close_ int file = trust_open_file(fd, "file", O_RDWR | O_CREAT, NULL);
    assert_true(file >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(fstat(file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    was_made = false;
    _cleanup_close_ int again = trust_make_directory(new, &was_made, NULL);
    assert_true(again >= 0 && !was_made);
}

static void test_trust__nothing_is_made_where_others_can_write(void **state)
{
    (void)state;
    _cleanup_free_ char *why = NULL;
    assert_int_equal(chmod(own, 0777), 0);
    assert_int_equal(trust_make_directory(scratch_path(own, "new"), NULL, &why), -EPERM);
    assert_line(why, own, "chmod go-w");
    assert_int_equal(trust_make_parents(scratch_path(own, "a/b"), NULL), -EPERM);
    assert_int_equal(rmdir(own), 0); /* it is empty */
    assert_int_equal(mkdir(own, 0700), 0);
}

static void test_trust__a_file_is_a_file_and_one_alone(void **state)
{
    (void)state;
    static const struct {
        const char *name, *advice;
    } cases[] = {{"link", "symbolic link"}, {"dangling", "symbolic link"}, {"fifo", "FIFO"},
                 {"socket", "a socket"},    {"directory", "a directory"},  {"second", "hard link"},
                 {"open", "chmod go-w"}};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", own);
    _cleanup_close_ int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    scratch_write(scratch_path(root, "victim"), "precious");
    scratch_write(scratch_path(own, "open"), "");
    assert_int_equal(chmod(scratch_path(own, "open"), 0666), 0);
    assert_int_equal(symlink("../victim", scratch_path(own, "link")), 0);
    assert_int_equal(symlink("../new", scratch_path(own, "dangling")), 0);
    assert_int_equal(mkfifo(scratch_path(own, "fifo"), 0600), 0);
    assert_int_equal(mkdir(scratch_path(own, "directory"), 0700), 0);
    assert_int_equal(link(scratch_path(root, "victim"), scratch_path(own, "second")), 0);
    assert_int_equal(chmod(own, 0711), 0);
    _cleanup_close_ int fd = trust_open_directory(own, NULL);
    static const int flags[] = {O_RDONLY, O_RDWR | O_CREAT, O_WRONLY | O_CREAT | O_TRUNC};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (size_t k = 0; k < sizeof(flags) / sizeof(flags[0]); k++) {
            _cleanup_free_ char *why = NULL;
            assert_int_equal(trust_open_file(fd, cases[i].name, flags[k], &why), -EPERM);
            assert_line(why, scratch_path(own, "%s", cases[i].name), cases[i].advice);
        }
    assert_int_equal(chmod(own, 0700), 0); /* nobody else gets at it */
    _cleanup_close_ int open_fd = trust_open_file(fd, "open", O_RDONLY, NULL);
    assert_true(open_fd >= 0);
    struct stat st;
    assert_int_equal(stat(scratch_path(root, "victim"), &st), 0);
    assert_int_equal(st.st_size, strlen("precious"));
    assert_int_equal(access(scratch_path(root, "new"), F_OK), -1);
    _cleanup_free_ char *why = NULL;
    assert_int_equal(trust_open_directory_at(fd, "link", &why), -EPERM);
    assert_line(why, scratch_path(own, "link"), "no directory");
}

static void test_trust__a_file_is_opened_as_a_stream(void **state)
{
    (void)state;
    FILE *stream;
    char line[8];
    _cleanup_close_ int fd = trust_open_directory(own, NULL);
    assert_int_equal(trust_open_stream(fd, "stream", O_RDONLY, &stream), -ENOENT);
    assert_int_equal(trust_open_stream(fd, "stream", O_WRONLY | O_CREAT, &stream), 0);
    fputs("text", stream);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(trust_open_stream(fd, "stream", O_RDONLY, &stream), 0);
    assert_string_equal(fgets(line, sizeof(line), stream), "text");
    fclose(stream);
    assert_int_equal(symlink("stream", scratch_path(own, "link")), 0);
    assert_int_equal(trust_open_stream(fd, "link", O_RDONLY, &stream), -EPERM);
}

static void test_trust__a_file_is_emptied_only_when_it_is_ones_own(void **state)
{
    (void)state;
    struct stat st;
    _cleanup_close_ int fd = trust_open_directory(own, NULL);
    scratch_write(scratch_path(own, "file"), "before");
    _cleanup_close_ int file = trust_open_file(fd, "file", O_WRONLY | O_CREAT | O_TRUNC, NULL);
    assert_true(file >= 0);
    assert_int_equal(fstat(file, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(trust_open_file(fd, "none", O_RDONLY, NULL), -ENOENT);
    if (geteuid() != 0)
        return;
    scratch_write(scratch_path(own, "his"), "before");
    assert_int_equal(chown(scratch_path(own, "his"), STRANGER, STRANGER), 0);
    assert_int_equal(trust_open_file(fd, "his", O_WRONLY | O_CREAT | O_TRUNC, NULL), -EPERM);
    assert_int_equal(stat(scratch_path(own, "his"), &st), 0);
    assert_int_equal(st.st_size, strlen("before"));
}

static void test_trust__a_line_is_one_whatever_a_name_has(void **state)
{
    (void)state;
    const char *path = made("a\nb\x1b[2J", 0777, geteuid());
    _cleanup_free_ char *why = NULL;
    assert_int_equal(trust_open_directory(path, &why), -EPERM);
    assert_line(why, "a?b?[2J", "chmod go-w");
}

static void assert_resolves(const char *path, const char *expected)
{
    _cleanup_free_ char *real = NULL, *why = NULL;
    int r = trust_resolve(path, &real, &why);
    if (r < 0)
        fail_msg("%s: %d %s", path, r, why ? why : "");
    assert_string_equal(real, expected);
}

static void test_trust__what_is_missing_of_a_path_stays_as_it_is_named(void **state)
{
    (void)state;
    _cleanup_free_ char *real = NULL, *why = NULL;
    _cleanup_free_ char *link = strdup(scratch_path(root, "link"));
    assert_int_equal(symlink(own, link), 0);
    _cleanup_free_ char *a = strdup(scratch_path(own, "a"));
    _cleanup_free_ char *a_b = strdup(scratch_path(own, "a/b"));
    assert_resolves(own, own);
    assert_resolves(link, own);
    assert_resolves(scratch_path(link, "a"), a);
    assert_resolves(scratch_path(link, ".//../own/./a//b/."), a_b);
    assert_resolves("/missing/a", "/missing/a");
    assert_int_equal(trust_resolve(scratch_path(own, "a/../b"), &real, &why), -ENOENT);
    assert_int_equal(trust_resolve("", &real, &why), -ENOENT);
    assert_null(real);
    assert_null(why);
    /* A link that leads to what is missing: its name is what is missing. */
    _cleanup_free_ char *dangling = strdup(scratch_path(root, "dangling"));
    assert_int_equal(symlink(a, dangling), 0);
    assert_resolves(scratch_path(dangling, "b"), a_b);
    if (geteuid() == 0) {
        assert_int_equal(lchown(dangling, STRANGER, STRANGER), 0);
        assert_int_equal(trust_resolve(dangling, &real, &why), -EPERM);
        assert_line(why, dangling, "belongs to user");
    }
    assert_int_equal(unlink(dangling), 0);
    assert_int_equal(unlink(link), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_trust__ones_own_directory_opens),
        CASE(test_trust__what_cannot_be_reached_is_told_from_what_is_refused),
        CASE(test_trust__a_directory_that_others_can_write_is_refused),
        CASE(test_trust__every_directory_above_is_looked_at),
        CASE(test_trust__what_another_user_owns_is_refused),
        CASE(test_trust__nobody_is_told_to_chown_what_another_user_made),
        CASE(test_trust__an_ordinary_user_trusts_root_above_but_not_its_directory),
        CASE(test_trust__what_is_made_is_for_its_owner_alone),
        CASE(test_trust__nothing_is_made_where_others_can_write),
        CASE(test_trust__a_file_is_a_file_and_one_alone),
        CASE(test_trust__a_file_is_opened_as_a_stream),
        CASE(test_trust__a_file_is_emptied_only_when_it_is_ones_own),
        CASE(test_trust__a_line_is_one_whatever_a_name_has),
        CASE(test_trust__what_is_missing_of_a_path_stays_as_it_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
