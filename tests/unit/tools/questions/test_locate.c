#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/files/backing.h"
#include "tools/questions/holder.h"
#include "tools/questions/locate.h"
#include "tools/show/message.h"
#include "tools/options/mount_options.h"
#include "tools/mount/mount_plan.h"

/* A scratch directory as KINFS_STATE_DIR, with a tree beside it. */
struct scratch {
    char *root, *state, *tree;
};

static int set_up(void **state)
{
    struct scratch *scratch = calloc(1, sizeof(*scratch));
    char template[] = "/tmp/kinfs-test.XXXXXX";
    _cleanup_free_ char *made = strdup(mkdtemp(template));
    scratch->root = realpath(made, NULL);
    scratch->state = message("%s/state", scratch->root);
    scratch->tree = message("%s/tree of mine", scratch->root);
    _cleanup_free_ char *below = message("%s/a", scratch->tree);
    _cleanup_free_ char *file = message("%s/a/b.txt", scratch->tree);
    mkdir(scratch->state, 0700);
    mkdir(scratch->tree, 0700);
    mkdir(below, 0700);
    FILE *document = fopen(file, "w");
    fclose(document);
    setenv("KINFS_STATE_DIR", scratch->state, 1);
    *state = scratch;
    return 0;
}

static int tear_down(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_free_ char *remove = message("rm -rf '%s'", scratch->root);
    unsetenv("KINFS_STATE_DIR");
    int r = system(remove);
    free(scratch->root);
    free(scratch->state);
    free(scratch->tree);
    free(scratch);
    return r;
}

static void assert_name(const char *source, const char *expected)
{
    _cleanup_free_ char *name = location_store_name(source);
    assert_string_equal(name, expected);
}

static void test_locate__store_names_can_be_read(void **state)
{
    (void)state;
    assert_name("/usr/share/doc", "usr-share-doc");
    assert_name("/home/me/my files", "home-me-my%20files");
    assert_name("/a-b", "a%2db");
    assert_name("/", "-");
    assert_name("/.hidden/x.d", "%2ehidden-x.d");
}

static void test_locate__different_sources_have_different_stores(void **state)
{
    (void)state;
    char long_a[600], long_b[600];
    memset(long_a, 'x', sizeof(long_a));
    long_a[0] = '/';
    long_a[sizeof(long_a) - 1] = '\0';
    strcpy(long_b, long_a);
    long_b[sizeof(long_b) - 2] = 'y';
    const char *sources[] = {"/", "/-", "/a/b", "/a-b", "/a%2fb", "/a%2db", "/a b", long_a, long_b};
    size_t n = sizeof(sources) / sizeof(sources[0]);
    for (size_t i = 0; i < n; i++) {
        _cleanup_free_ char *one = location_store_name(sources[i]);
        assert_true(strlen(one) <= 240);
        assert_null(strchr(one, '/'));
        for (size_t j = 0; j < i; j++) {
            _cleanup_free_ char *other = location_store_name(sources[j]);
            assert_string_not_equal(one, other);
        }
    }
}

static void test_locate__a_path_in_a_source_finds_the_default_store(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *store = NULL, *error = NULL;
    _cleanup_free_ char *file = message("%s/a/../a/b.txt", scratch->tree);
    assert_int_equal(locate(file, NULL, &location, &error), -ENOENT);
    assert_non_null(strstr(error, "kinfs scan"));

    assert_int_equal(location_default_store(scratch->tree, &store, NULL), 0);
    mkdir(store, 0700);
    assert_int_equal(locate(file, NULL, &location, NULL), 0);
    assert_string_equal(location.store, store);
    assert_string_equal(location.source, scratch->tree);
    assert_string_equal(location.base, scratch->tree);
    assert_string_equal(location.path, "a/b.txt");

    location_done(&location);
    assert_int_equal(locate(scratch->tree, NULL, &location, NULL), 0);
    assert_string_equal(location.path, "");
}

static void test_locate__the_nearest_tree_wins(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *inner = message("%s/a", scratch->tree), *store = NULL;
    _cleanup_free_ char *file = message("%s/a/b.txt", scratch->tree);
    assert_int_equal(location_default_store(inner, &store, NULL), 0);
    mkdir(store, 0700);
    assert_int_equal(locate(file, NULL, &location, NULL), 0);
    assert_string_equal(location.source, inner);
    assert_string_equal(location.path, "b.txt");
    rmdir(store);
}

static void test_locate__a_store_says_whose_it_is(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *store = message("%s/elsewhere", scratch->root), *error = NULL;
    _cleanup_free_ char *file = message("%s/a/b.txt", scratch->tree);
    assert_int_equal(locate(NULL, store, &location, &error), -ENOENT);
    free(TAKE_PTR(error));

    mkdir(store, 0700);
    int fd = -1;
    assert_int_equal(holder_hold(store, "scan", scratch->tree, NULL, &fd), 0);
    assert_int_equal(locate(file, store, &location, NULL), 0);
    assert_string_equal(location.source, scratch->tree);
    assert_string_equal(location.path, "a/b.txt");
    location_done(&location);

    assert_int_equal(locate(NULL, store, &location, NULL), 0);
    assert_null(location.path);
    location_done(&location);
    assert_int_equal(locate(scratch->state, store, &location, &error), -ENOENT);

    struct holder holder;
    assert_int_equal(holder_read(store, &holder), 0);
    assert_true(holder.alive);
    assert_int_equal(holder.pid, getpid());
    holder_done(&holder);
    assert_int_equal(holder_wait(store, 0), -ETIMEDOUT);
    close(fd);
    assert_int_equal(holder_wait(store, 0), 0);
}

/* A bound on the size of files stands for a disk that is full amid a write. */
static void test_holder__what_it_said_stays_where_it_cannot_be_written(void **state)
{
    struct scratch *scratch = *state;
    const struct rlimit none = {4, RLIM_INFINITY};
    _cleanup_free_ char *store = message("%s/full", scratch->root);
    _cleanup_free_ char *new = message("%s/holder.new", store);
    struct rlimit before;
    int fd = -1;
    mkdir(store, 0700);
    assert_int_equal(holder_hold(store, "scan", "/first", NULL, &fd), 0);
    close(fd);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &none);
    int r = holder_hold(store, "mount", "/second", "/mnt", &fd);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(r, -ENOSPC);
    assert_int_equal(access(new, F_OK), -1);

    _cleanup_(holder_done) struct holder holder = {0};
    assert_int_equal(holder_read(store, &holder), 0);
    assert_string_equal(holder.source, "/first");
    assert_false(holder.alive);
}

static void assert_plan(const char *source, const char *mountpoint, const char *store, int code,
                        const char *says)
{
    _cleanup_(mount_plan_done) struct mount_plan plan = MOUNT_PLAN_NONE;
    _cleanup_free_ char *error = NULL;
    int r = mount_plan_make(source, mountpoint, store, true, NULL, &plan, &error);
    assert_int_equal(r, code);
    if (code == 0)
        return;
    assert_non_null(strstr(error, says));
    assert_null(strchr(error, '\n'));
}

static void test_mount_plan__refuses_what_would_mount_into_itself(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_free_ char *inside = message("%s/a", scratch->tree);
    _cleanup_free_ char *file = message("%s/a/b.txt", scratch->tree);
    _cleanup_free_ char *missing = message("%s/missing", scratch->root);
    _cleanup_free_ char *store_inside = message("%s/x/y", scratch->tree);
    _cleanup_free_ char *sibling = message("%s2", scratch->tree);
    mkdir(sibling, 0700);

    assert_plan(missing, scratch->state, NULL, -ENOENT, "no such source");
    assert_plan(file, scratch->state, NULL, -ENOTDIR, "not a directory");
    assert_plan(scratch->tree, missing, NULL, -ENOENT, "no such mount point");
    assert_plan(scratch->tree, inside, NULL, -EINVAL, "inside the source");
    assert_plan(inside, scratch->tree, NULL, -EINVAL, "hide its own source");
    assert_plan(scratch->tree, sibling, sibling, -EINVAL, "inside the mount");
    assert_plan(scratch->tree, NULL, store_inside, -EINVAL, "inside the mount");
    /* A name that merely begins alike is another directory. */
    assert_plan(scratch->tree, sibling, NULL, 0, NULL);
    assert_plan(scratch->tree, NULL, NULL, 0, NULL);
    /* In the tree a store is left out of the mount; only the mount itself must not be on its way.
     */
    assert_plan(scratch->tree, sibling, store_inside, 0, NULL);
}

static void test_mount_plan__without_sketching_there_is_a_place_for_every_mount_point(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_free_ char *sibling = message("%s2", scratch->tree);
    _cleanup_(mount_plan_done) struct mount_plan over = MOUNT_PLAN_NONE, beside = MOUNT_PLAN_NONE;
    _cleanup_free_ char *error = NULL, *store = NULL;
    mkdir(sibling, 0700);
    assert_int_equal(mount_plan_make(scratch->tree, NULL, NULL, false, NULL, &over, NULL), 0);
    assert_int_equal(mount_plan_make(scratch->tree, sibling, NULL, false, NULL, &beside, NULL), 0);
    assert_string_not_equal(over.store, beside.store);
    assert_int_equal(location_default_store(scratch->tree, &store, NULL), 0);
    assert_string_not_equal(over.store, store);
    assert_memory_equal(over.store, scratch->state, strlen(scratch->state));

    struct mount_plan none = MOUNT_PLAN_NONE;
    _cleanup_free_ char *inside = message("%s/a", scratch->tree);
    setenv("KINFS_STATE_DIR", inside, 1);
    assert_int_equal(mount_plan_make(scratch->tree, NULL, NULL, false, NULL, &none, &error),
                     -EINVAL);
    setenv("KINFS_STATE_DIR", scratch->state, 1);
    assert_non_null(strstr(error, "elsewhere with KINFS_STATE_DIR"));
}

static void test_holder__a_place_made_is_one_mounts_at_a_time_and_goes(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_free_ char *place = message("%s/place", scratch->state);
    _cleanup_free_ char *file = message("%s/holder", place), *gone = message("%s.gone", place);
    struct stat st;
    for (int i = 0; i < 2; i++) { /* the name can be used again */
        _cleanup_close_ int fd = -1, second = -1;
        assert_int_equal(holder_make(place, scratch->tree, "/m", &fd), 0);
        assert_int_equal(stat(place, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0700);
        assert_int_equal(holder_make(place, scratch->tree, "/m", &second), -EBUSY);
        holder_remove(place);
        assert_int_equal(stat(place, &st), -1);
        assert_int_equal(stat(gone, &st), -1);
    }
    /* What a killed one left is taken over. */
    _cleanup_close_ int fd = -1;
    assert_int_equal(holder_make(place, scratch->tree, "/m", &fd), 0);
    close(TAKE_FD(fd));
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(holder_make(place, scratch->tree, "/m", &fd), 0);
    holder_remove(NULL);
}

static void test_mount_plan__makes_paths_absolute(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_(mount_plan_done) struct mount_plan plan = MOUNT_PLAN_NONE;
    _cleanup_free_ char *crooked = message("%s/a/..//./", scratch->tree);
    _cleanup_free_ char *store = message("%s/../new/store/", scratch->state);
    _cleanup_free_ char *straight = message("%s/new/store", scratch->root);
    assert_int_equal(mount_plan_make(crooked, NULL, store, true, NULL, &plan, NULL), 0);
    assert_string_equal(plan.source, scratch->tree);
    assert_string_equal(plan.mountpoint, scratch->tree);
    assert_string_equal(plan.store, straight);
}

static int mount_tmpfs(const char *point)
{
    return mount("kinfs-test", point, "tmpfs", 0, NULL);
}

/* 0: as it should be; 77: cannot be tested; else 1. */
static int unmount_moved(const char *root)
{
    struct mounts mounts = {0};
    const struct mount *found = NULL;
    _cleanup_free_ char *above = message("%s/above", root), *moved = message("%s/moved", root);
    _cleanup_free_ char *point = message("%s/point", above), *there = message("%s/point", moved);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount_tmpfs(point) < 0)
        return 77;
    if (mounts_read(NULL, &mounts) < 0 || !(found = mounts_at(&mounts, point)))
        return 1;
    if (rename(above, moved) < 0 || mkdir(above, 0700) < 0 || mkdir(point, 0700) < 0 ||
        mount_tmpfs(point) < 0)
        return 1;
    for (int i = 0; i < 2; i++)
        if (unmount(found, i ? MNT_DETACH : 0) != -ENOENT)
            return 1;
    struct mounts now = {0};
    if (mounts_read(NULL, &now) < 0 || !mounts_at(&now, point) || !mounts_at(&now, there))
        return 1;
    if (unmount(mounts_at(&now, there), 0) != 0 || unmount(mounts_at(&now, point), MNT_DETACH) != 0)
        return 1;
    mounts_done(&now);
    mounts_done(&mounts);
    return 0;
}

static void test_unmount__another_mount_in_the_same_place_stays(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_free_ char *above = message("%s/above", scratch->root);
    _cleanup_free_ char *point = message("%s/point", above);
    mkdir(above, 0700);
    mkdir(point, 0700);
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(unmount_moved(scratch->root));
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) != 77)
        assert_int_equal(status, 0);
}

/* As unmount_moved(): another user's directory above a medium becomes a link after the plan. */
static int serve_exchanged(const char *root)
{
    struct mount_plan plan = MOUNT_PLAN_NONE;
    struct mount_options options;
    struct backing *backing = NULL;
    struct stat medium, served;
    const struct access_times times = {.not_of_directories = true};
    _cleanup_free_ char *his = message("%s/his", root), *away = message("%s/away", root);
    _cleanup_free_ char *tree = message("%s/tree", his), *other = message("%s/other", root);
    _cleanup_free_ char *other_tree = message("%s/tree", other), *error = NULL;
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mkdir(his, 0700) < 0 || mkdir(tree, 0700) < 0 || mkdir(other, 0700) < 0 ||
        mkdir(other_tree, 0700) < 0 ||
        mount("kinfs-test", tree, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NODIRATIME, NULL) <
            0)
        return 77;
    if (stat(tree, &medium) < 0 || mount_plan_make(tree, NULL, NULL, true, NULL, &plan, &error) < 0)
        return 1;
    if (rename(his, away) < 0 || symlink(other, his) < 0)
        return 1;
    mount_options_init(&options);
    if (access_times_check(&times, plan.source_fd, plan.source, &error) < 0 ||
        mount_options_deny_as(&options, plan.source_fd, plan.source, &error) < 0 ||
        strcmp(options.extra, "nosuid,nodev,noexec") != 0)
        return 1;
    if (backing_open_at(plan.source_fd, &backing) < 0 ||
        fstat(backing_root_fd(backing), &served) < 0 || served.st_dev != medium.st_dev)
        return 1;
    backing_close(backing);
    mount_options_done(&options);
    mount_plan_done(&plan);
    return 0;
}

static void test_mount_plan__what_is_served_is_what_was_looked_at(void **state)
{
    struct scratch *scratch = *state;
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(serve_exchanged(scratch->root));
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) != 77)
        assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_locate__store_names_can_be_read),
        cmocka_unit_test(test_locate__different_sources_have_different_stores),
        cmocka_unit_test(test_locate__a_path_in_a_source_finds_the_default_store),
        cmocka_unit_test(test_locate__the_nearest_tree_wins),
        cmocka_unit_test(test_locate__a_store_says_whose_it_is),
        cmocka_unit_test(test_holder__what_it_said_stays_where_it_cannot_be_written),
        cmocka_unit_test(test_mount_plan__refuses_what_would_mount_into_itself),
        cmocka_unit_test(test_holder__a_place_made_is_one_mounts_at_a_time_and_goes),
        cmocka_unit_test(test_mount_plan__makes_paths_absolute),
        cmocka_unit_test(test_mount_plan__what_is_served_is_what_was_looked_at),
        cmocka_unit_test(test_unmount__another_mount_in_the_same_place_stays),
        cmocka_unit_test(test_mount_plan__without_sketching_there_is_a_place_for_every_mount_point),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
