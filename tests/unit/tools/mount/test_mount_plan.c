#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/files/backing.h"
#include "tools/mount/mount_plan.h"
#include "tools/options/mount_options.h"
#include "tools/questions/locate.h"
#include "tests/unit/tools/state_scratch.h"

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

static void test_mount_plan__an_unmount_leaves_another_mount_in_the_same_place(void **state)
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
        cmocka_unit_test(test_mount_plan__refuses_what_would_mount_into_itself),
        cmocka_unit_test(test_mount_plan__without_sketching_there_is_a_place_for_every_mount_point),
        cmocka_unit_test(test_mount_plan__makes_paths_absolute),
        cmocka_unit_test(test_mount_plan__an_unmount_leaves_another_mount_in_the_same_place),
        cmocka_unit_test(test_mount_plan__what_is_served_is_what_was_looked_at),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
