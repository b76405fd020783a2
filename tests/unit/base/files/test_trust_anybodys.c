/* Ways by directories that may be anybody's, and whose mounts they are in. Whose links and mounts
 * are needs root to say. */
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
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mounts/mount_id.h"
#include "base/mounts/mount_table.h"
#include "base/mounts/mount_user.h"
#include "base/proc_path.h"
#include "tests/lib/fixtures/trust_fixture.h"

static void assert_opens_anybodys(const char *path)
{
    struct stat st, expected;
    _cleanup_free_ char *why = NULL;
    _cleanup_close_ int fd = trust_open_anybodys(path, &why);
    if (fd < 0)
        fail_msg("%s: %d %s", path, fd, why ? why : "");
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(stat(path, &expected), 0);
    assert_int_equal(st.st_ino, expected.st_ino);
    assert_int_equal(st.st_dev, expected.st_dev);
}

static void test_trust__a_directory_of_anybodys_opens_by_links_of_ones_own(void **state)
{
    (void)state;
    _cleanup_free_ char *open_to_all = strdup(made("all", 0777, geteuid()));
    _cleanup_free_ char *inside = strdup(scratch_path(open_to_all, "inside"));
    assert_int_equal(mkdir(inside, 0700), 0);
    assert_int_equal(symlink("all/inside", scratch_path(root, "way")), 0);
    assert_int_equal(symlink("loop", scratch_path(root, "loop")), 0);
    scratch_write(scratch_path(root, "file"), "");
    assert_opens_anybodys(inside);
    assert_opens_anybodys(scratch_path(root, "way/../inside/."));
    assert_opens_anybodys("/");
    assert_opens_anybodys("/proc/self/root");
    assert_int_equal(chdir(inside), 0);
    assert_int_equal(rmdir(inside), 0); /* has no path any more */
    assert_opens_anybodys(".");
    assert_opens_anybodys("/proc/self/cwd/");
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(trust_open_anybodys("", NULL), -ENOENT);
    assert_int_equal(trust_open_anybodys(inside, NULL), -ENOENT);
    assert_int_equal(trust_open_anybodys(scratch_path(root, "way"), NULL), -ENOENT);
    assert_int_equal(trust_open_anybodys(scratch_path(root, "loop"), NULL), -ELOOP);
    assert_int_equal(trust_open_anybodys(scratch_path(root, "file"), NULL), -ENOTDIR);
    assert_int_equal(trust_open_anybodys(scratch_path(root, "file/.."), NULL), -ENOTDIR);
}

/* A way of as many steps as a path can have is walked, one of many times as many through links that
 * are as long as can be is not, as each name of a list could be one. */
static void test_trust__a_way_is_no_longer_than_a_path_can_be(void **state)
{
    (void)state;
    enum { WAYS = 30 };
    char target[PATH_MAX] = "", name[16];
    for (size_t n = 0; n + 16 < sizeof(target); n += 5)
        memcpy(target + n, "d/../", 6);
    assert_int_equal(mkdir(scratch_path(root, "d"), 0755), 0);
    const size_t n = strlen(target);
    for (int i = 0; i < WAYS; i++) {
        snprintf(target + n, sizeof(target) - n, i ? "way%d" : "d", i - 1);
        snprintf(name, sizeof(name), "way%d", i);
        assert_int_equal(symlink(target, scratch_path(root, "%s", name)), 0);
    }
    assert_opens_anybodys(scratch_path(root, "way0"));
    assert_opens_anybodys(scratch_path(root, "way1"));
    assert_int_equal(trust_open_anybodys(scratch_path(root, "way29"), NULL), -ELOOP);
    _cleanup_close_ int anywhere = trust_open_anywhere(scratch_path(root, "way29"), NULL);
    assert_int_equal(anywhere, -ELOOP);
}

static void test_trust__another_users_link_leads_nowhere(void **state)
{
    (void)state;
    needs_root();
    _cleanup_free_ char *his = strdup(made("his", 0755, ORDINARY));
    _cleanup_free_ char *planted = strdup(scratch_path(his, "link"));
    _cleanup_free_ char *why = NULL, *why_ordinary = NULL;
    assert_int_equal(chmod(root, 0755), 0);
    assert_int_equal(chmod(own, 0755), 0);
    assert_opens_anybodys(his);
    assert_int_equal(symlink(own, planted), 0);
    assert_opens_anybodys(planted);
    assert_int_equal(lchown(planted, ORDINARY, ORDINARY), 0);
    assert_int_equal(trust_open_anybodys(scratch_path(planted, "."), &why), -EPERM);
    assert_line(why, planted, "belongs to user 54321");
    assert_line(why, planted, "without it");
    assert_int_equal(seteuid(ORDINARY), 0);
    int of_owner = trust_open_anybodys(planted, NULL);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(seteuid(STRANGER), 0);
    int of_stranger = trust_open_anybodys(planted, &why_ordinary);
    assert_int_equal(seteuid(0), 0);
    assert_true(of_owner >= 0);
    close(of_owner);
    assert_int_equal(of_stranger, -EPERM);
    assert_line(why_ordinary, planted, "belongs to user 54321");
}

static void test_trust__an_order_is_of_ones_own_or_of_root(void **state)
{
    (void)state;
    needs_root();
    char text[4];
    struct stat st;
    _cleanup_free_ char *why_his = NULL, *why_written = NULL, *why_planted = NULL, *no_why = NULL;
    _cleanup_free_ char *all = strdup(made("of all", 0777, ORDINARY));
    _cleanup_free_ char *order = strdup(scratch_path(all, "order"));
    _cleanup_free_ char *planted = strdup(scratch_path(all, "planted"));
    assert_int_equal(chmod(root, 0755), 0);
    scratch_write(order, "do");
    assert_int_equal(chmod(order, 0644), 0);
    for (int i = 0; i < 3; i++) { /* root's, for root and for another, and one's own */
        assert_int_equal(chown(order, i == 2 ? ORDINARY : 0, 0), 0);
        assert_int_equal(seteuid(i ? ORDINARY : 0), 0);
        _cleanup_close_ int fd = trust_open_order(order, NULL);
        assert_int_equal(seteuid(0), 0);
        assert_true(fd >= 0);
        assert_int_equal(read(fd, text, sizeof(text)), 2);
    }
    assert_int_equal(trust_open_order(order, &why_his), -EPERM);
    assert_line(why_his, order, "belongs to user 54321");
    assert_line(why_his, order, "name a copy");
    assert_int_equal(seteuid(STRANGER), 0);
    int of_stranger = trust_open_order(order, NULL);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(of_stranger, -EPERM);

    assert_int_equal(chown(order, 0, 0), 0);
    assert_int_equal(symlink("order", planted), 0);
    _cleanup_close_ int by_link = trust_open_order(planted, NULL);
    assert_int_equal(fstat(by_link, &st), 0);
    assert_int_equal(st.st_size, 2);
    assert_int_equal(lchown(planted, ORDINARY, ORDINARY), 0);
    assert_int_equal(trust_open_order(planted, &why_planted), -EPERM);
    assert_line(why_planted, planted, "belongs to user 54321");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(chmod(order, i ? 0620 : 0602), 0);
        assert_int_equal(trust_open_order(order, &why_written), -EPERM);
        assert_line(why_written, order, "others can write");
    }
    assert_int_equal(trust_open_order(all, &no_why), -EINVAL);
    assert_int_equal(trust_open_order(scratch_path(all, "none"), &no_why), -ENOENT);
    assert_null(no_why);
}

/* Whether a path leads where the kernel has it lead, or ends as it does there. */
static void assert_leads_as_ever(const char *path)
{
    static struct trusted_mount trusted; /* that what is known of mounts is no matter */
    struct stat st, expected;
    const bool is_there = stat(path, &expected) == 0;
    const int error = errno;
    _cleanup_close_ int fd = trust_open_anywhere(path, &trusted);
    _cleanup_close_ int point = trust_open_mount_point(path);
    if (!is_there) {
        assert_int_equal(fd, -error);
        assert_int_equal(point, -error);
        return;
    }
    const int fds[] = {fd, point};
    for (size_t i = 0; i < 2; i++) {
        if (fds[i] < 0 || fstat(fds[i], &st) < 0)
            fail_msg("%s: %d", path, fds[i]);
        assert_int_equal(st.st_ino, expected.st_ino);
        assert_int_equal(st.st_dev, expected.st_dev);
    }
    _cleanup_free_ char *real = NULL, *expected_real = realpath(path, NULL);
    int r = proc_path_real(fd, &real);
    assert_int_equal(r, expected_real ? 0 : -ENOENT);
    if (expected_real)
        assert_string_equal(real, expected_real);
}

static void test_trust__by_anybodys_links_a_path_leads_where_it_does(void **state)
{
    (void)state;
    _cleanup_free_ char *open_to_all = strdup(made("all", 0777, geteuid()));
    _cleanup_free_ char *inside = strdup(scratch_path(open_to_all, "inside"));
    _cleanup_free_ char *removed = strdup(scratch_path(open_to_all, "file (deleted)"));
    static const char *const ends[] = {"",       "/",       "/.",           "//./",     "/..",
                                       "/up",    "/up/all", "/back/inside", "/missing", "/dangling",
                                       "/loop",  "/file",   "/file/",       "/file/..", "/to-file",
                                       "/none/", "/empty",  "/to-file/",    "/long"};
    char long_name[NAME_MAX + 2];
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    assert_int_equal(mkdir(inside, 0700), 0);
    assert_int_equal(symlink("all/inside", scratch_path(root, "way")), 0);
    assert_int_equal(symlink("..", scratch_path(inside, "back")), 0);
    assert_int_equal(symlink(root, scratch_path(inside, "up")), 0);
    assert_int_equal(symlink("missing", scratch_path(inside, "dangling")), 0);
    assert_int_equal(symlink("loop", scratch_path(inside, "loop")), 0);
    assert_int_equal(symlink(long_name, scratch_path(inside, "long")), 0);
    assert_int_equal(symlink("./file", scratch_path(inside, "to-file")), 0);
    scratch_write(scratch_path(inside, "file"), "");
    scratch_write(removed, "");
    assert_int_equal(mkfifo(scratch_path(inside, "empty"), 0600), 0);
    if (geteuid() == 0) {
        assert_int_equal(lchown(scratch_path(root, "way"), STRANGER, STRANGER), 0);
        assert_int_equal(lchown(scratch_path(inside, "up"), ORDINARY, ORDINARY), 0);
    }
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "%s%s", inside, ends[i]);
        assert_leads_as_ever(path);
        snprintf(path, sizeof(path), "%s/way%s", root, ends[i]);
        assert_leads_as_ever(path);
        assert_int_equal(chdir(inside), 0);
        snprintf(path, sizeof(path), ".%s", ends[i]);
        assert_leads_as_ever(path);
    }
    assert_leads_as_ever(removed);
    assert_leads_as_ever("");
    assert_leads_as_ever("/");
    assert_leads_as_ever("/proc/self/root/proc/self/");
    assert_leads_as_ever("/proc/self/fd/0");
    assert_leads_as_ever("/proc/mounts");
    int streams[4];
    assert_int_equal(pipe(streams), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, streams + 2), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_leads_as_ever(proc_path_of(streams[i]).text);
        close(streams[i]);
    }
    _cleanup_close_ int fd = open(removed, O_RDONLY | O_CLOEXEC);
    assert_int_equal(unlink(removed), 0);
    _cleanup_free_ char *real = NULL;
    assert_int_equal(proc_path_real(fd, &real), -ENOENT);
    assert_leads_as_ever(proc_path_of(fd).text);
    assert_int_equal(chdir("/"), 0);
}

/* 0: as it should be; 77: cannot be tested; else 1. Each in a process of its own. */
static int open_detached(void)
{
    char gone[96];
    snprintf(gone, sizeof(gone), "%s/gone", root);
    if (!scratch_own_mounts() || mkdir(gone, 0700) < 0 ||
        mount("kinfs-test", gone, "tmpfs", 0, NULL) < 0)
        return 77;
    int fd = open(gone, O_PATH | O_CLOEXEC);
    if (fd < 0 || umount2(gone, MNT_DETACH) < 0)
        return 77;
    const char *path = proc_path_of(fd).text;
    return trust_open_anywhere(path, NULL) != -EXDEV || trust_open_anybodys(path, NULL) != -EPERM;
}

/* The number of a mount that is gone is soon another's; the other's server answers nothing. */
static int open_one_after_another(void)
{
    _cleanup_(trusted_mount_done) struct trusted_mount trusted = {0};
    char place[96], options[96];
    snprintf(place, sizeof(place), "%s/place", root);
    if (!scratch_own_mounts() || mkdir(place, 0700) < 0)
        return 77;
    int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=54321,group_id=0,allow_other",
             device);
    for (int i = 0; i < 20; i++) {
        if (mount("kinfs-test", place, "tmpfs", 0, NULL) < 0)
            return 77;
        int fd = trust_open_anywhere(place, &trusted);
        if (fd < 0 || !trusted.id)
            return 1;
        close(fd);
        if (umount2(place, MNT_DETACH) < 0)
            return 1;
    }
    if (device < 0 || mount("none", place, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
        return 77;
    int fd = trust_open_anywhere(place, &trusted);
    return umount2(place, MNT_DETACH) < 0 || fd != -EXDEV;
}

static int open_in_changed_root(void)
{
    _cleanup_(mount_table_done) struct mount_table table = {0};
    struct mount_id own_mount;
    struct mount_row row;
    char proc[96];
    snprintf(proc, sizeof(proc), "%s/proc", root);
    if (!scratch_own_mounts() || mkdir(proc, 0700) < 0 ||
        mount("/proc", proc, NULL, MS_BIND, NULL) < 0 || chroot(root) < 0 || chdir("/") < 0)
        return 77;
    return mount_id_find(AT_FDCWD, "own", &own_mount) < 0 ||
           mount_table_find(&table, NULL, own_mount.id, &row) != -ENOENT ||
           mount_is_anothers(own_mount.id) || trust_open_directory("/own", NULL) < 0 ||
           trust_open_anybodys("own", NULL) < 0 || trust_open_anywhere("/own", NULL) < 0;
}

static void test_trust__a_mount_that_is_not_in_the_table_is_not_trusted(void **state)
{
    (void)state;
    scratch_expect_apart(open_detached);
}

static void test_trust__a_mount_that_is_trusted_keeps_its_number(void **state)
{
    (void)state;
    scratch_expect_apart(open_one_after_another);
}

static void test_trust__a_changed_root_is_trusted_though_its_mount_is_outside_of_it(void **state)
{
    (void)state;
    scratch_expect_apart(open_in_changed_root);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_trust__a_directory_of_anybodys_opens_by_links_of_ones_own),
        CASE(test_trust__by_anybodys_links_a_path_leads_where_it_does),
        CASE(test_trust__a_way_is_no_longer_than_a_path_can_be),
        CASE(test_trust__another_users_link_leads_nowhere),
        CASE(test_trust__an_order_is_of_ones_own_or_of_root),
        CASE(test_trust__a_mount_that_is_not_in_the_table_is_not_trusted),
        CASE(test_trust__a_mount_that_is_trusted_keeps_its_number),
        CASE(test_trust__a_changed_root_is_trusted_though_its_mount_is_outside_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
