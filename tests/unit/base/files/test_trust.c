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
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/mount_table.h"
#include "base/mounts/mount_user.h"
#include "base/proc_path.h"
#include "tests/lib/scratch.h"

enum { ORDINARY = 54321, STRANGER = 54322 };

static char root[64], own[80];
static mode_t old_umask;

static int setup(void **state)
{
    (void)state;
    old_umask = umask(022);
    scratch_make(root);
    snprintf(own, sizeof(own), "%s/own", root);
    assert_int_equal(mkdir(own, 0700), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    umask(old_umask);
    scratch_remove(root);
    return 0;
}

static void needs_root(void)
{
    if (geteuid() != 0)
        skip();
}

static void assert_opens(const char *path)
{
    char *why = NULL;
    int fd = trust_open_directory(path, &why);
    if (fd < 0)
        fail_msg("%s: %d %s", path, fd, why ? why : "");
    assert_null(why);
    close(fd);
}

/* In one line, which names a path and says one of the words. */
static void assert_line(const char *why, const char *named, const char *advice)
{
    assert_non_null(why);
    if (!strstr(why, named) || !strstr(why, advice) || strchr(why, '\n'))
        fail_msg("'%s' has no '%s' or no '%s'", why, named, advice);
}

static void assert_refused(const char *path, const char *named, const char *advice)
{
    _cleanup_free_ char *why = NULL;
    assert_int_equal(trust_open_directory(path, &why), -EPERM);
    assert_line(why, named, advice);
    assert_int_equal(trust_open_directory(path, NULL), -EPERM);
}

static const char *made(const char *name, mode_t mode, uid_t uid)
{
    const char *path = scratch_path(root, "%s", name);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(chmod(path, mode), 0);
    if (uid != geteuid())
        assert_int_equal(chown(path, uid, uid), 0);
    return path;
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

static void expect_apart(int (*work)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(work());
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static void test_trust__a_mount_that_is_not_in_the_table_is_not_trusted(void **state)
{
    (void)state;
    expect_apart(open_detached);
}

static void test_trust__a_mount_that_is_trusted_keeps_its_number(void **state)
{
    (void)state;
    expect_apart(open_one_after_another);
}

static void test_trust__a_changed_root_is_trusted_though_its_mount_is_outside_of_it(void **state)
{
    (void)state;
    expect_apart(open_in_changed_root);
}

static void test_mount_user__is_what_the_kernel_wrote_last(void **state)
{
    (void)state;
    uid_t uid = 7;
    assert_int_equal(mount_user_of_options("fuse.kinfs", "rw,user_id=1000,group_id=5\n", &uid), 0);
    assert_int_equal(uid, 1000);
    assert_int_equal(mount_user_of_options("fuse", "rw,context=a,user_id=0,user_id=54322", &uid),
                     0);
    assert_int_equal(uid, 54322);
    assert_int_equal(mount_user_of_options("fuseblk", "rw,user_id=0", &uid), 0);
    assert_int_equal(mount_user_of_options("fuseblk.a", "rw,user_id=7", &uid), 0);
    assert_int_equal(uid, 7);
    assert_int_equal(mount_user_of_options("fusectl", "rw,user_id=7", &uid), 0);
    assert_int_equal(uid, 0);
    uid = 7;
    assert_int_equal(mount_user_of_options("ext4", "rw,user_id=9", &uid), 0);
    assert_int_equal(uid, 0);
    static const char *const none[] = {
        "",           "rw",         "rw,user_id=",        "user_id=-1",
        "user_id=1x", "xuser_id=1", "user_id=4294967295", "user_id=99999999999"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_int_equal(mount_user_of_options("fuse.kinfs", none[i], &uid), -ENOENT);
    assert_int_equal(mount_user_of_id(UINT64_MAX, &uid), -ENOENT);
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
        CASE(test_trust__a_directory_of_anybodys_opens_by_links_of_ones_own),
        CASE(test_trust__by_anybodys_links_a_path_leads_where_it_does),
        CASE(test_trust__another_users_link_leads_nowhere),
        CASE(test_trust__a_mount_that_is_not_in_the_table_is_not_trusted),
        CASE(test_trust__a_mount_that_is_trusted_keeps_its_number),
        CASE(test_trust__a_changed_root_is_trusted_though_its_mount_is_outside_of_it),
        cmocka_unit_test(test_mount_user__is_what_the_kernel_wrote_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
