/* Mount points and stores in every place to a source; what cannot be seen of it is no answer. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/placement.h"
#include "tests/lib/scratch.h"

static char root[64];

static int setup(void **state)
{
    (void)state;
    static const char *const names[] = {"tree", "tree/a", "tree/a/b", "his", "his/mnt", "store"};
    scratch_make(root);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (mkdir(scratch_path(root, "%s", names[i]), 0700) < 0)
            return -1;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_remove(root);
    return 0;
}

/* A file system that is about to be mounted, of directories below root. */
struct placed {
    struct fs fs;
    char source[96], mountpoint[96], store[96];
    int mountpoint_fd;
    char *error;
};

static void placed_done(struct placed *placed)
{
    backing_close(placed->fs.backing);
    close(placed->mountpoint_fd);
    free(placed->error);
}

static void place(struct placed *placed, const char *source, const char *mountpoint,
                  const char *store)
{
    memset(placed, 0, sizeof(*placed));
    snprintf(placed->source, sizeof(placed->source), "%s/%s", root, source);
    snprintf(placed->mountpoint, sizeof(placed->mountpoint), "%s/%s", root, mountpoint);
    snprintf(placed->store, sizeof(placed->store), "%s/%s", root, store);
    placed->fs.options = (struct fs_options){
        .source = placed->source, .mountpoint = placed->mountpoint, .store_path = placed->store};
    placed->mountpoint_fd = open(placed->mountpoint, O_PATH | O_DIRECTORY | O_CLOEXEC);
    placed->fs.options.mountpoint_fd = placed->mountpoint_fd;
    if (placed->mountpoint_fd < 0 || backing_open(placed->source, &placed->fs.backing) < 0)
        abort();
}

static int check(struct placed *placed)
{
    return placement_check(&placed->fs, &placed->error);
}

static bool says(const struct placed *placed, const char *directory, const char *words)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/%s", root, directory);
    if (placed->error && strstr(placed->error, path) && strstr(placed->error, words))
        return true;
    fprintf(stderr, "%s\n", placed->error ? placed->error : "no error");
    return false;
}

static void test_placement__is_found_from_below(void **state)
{
    (void)state;
    static const struct {
        const char *source, *mountpoint, *store;
        int r;
        bool over_itself, store_is_shown;
    } cases[] = {
        {"tree", "his/mnt", "store", 0, false, true},
        {"tree", "tree", "store", 0, true, true},
        {"tree", "his/mnt", "tree/a", 0, false, false},
        {"tree", "tree/a", "store", -EINVAL, false, true},
        {"tree", "tree/a/b", "store", -EINVAL, false, true},
        {"tree/a", "tree", "store", 0, false, true},
        {"tree", "his", "his/mnt", -EINVAL, false, true},
        {"tree", "his/mnt", "his/mnt", -EINVAL, false, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct placed placed;
        place(&placed, cases[i].source, cases[i].mountpoint, cases[i].store);
        assert_int_equal(check(&placed), cases[i].r);
        assert_int_equal(placed.fs.over_itself, cases[i].over_itself);
        assert_int_equal(placed.fs.store_ino == 0, cases[i].store_is_shown);
        assert_int_equal(placed.error != NULL, cases[i].r < 0);
        placed_done(&placed);
    }
}

/* 0: as it should be; 77: cannot be tested; else 1. Each in a process of its own. */
static int cover_what_is_above(void)
{
    struct placed elsewhere, itself;
    char options[96];
    int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0 || !scratch_own_mounts())
        return 77;
    place(&elsewhere, "tree", "his/mnt", "store");
    place(&itself, "his/mnt", "his/mnt", "store");
    snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=54321,group_id=0,allow_other",
             device);
    if (mount("none", scratch_path(root, "his"), "fuse", MS_NOSUID | MS_NODEV, options) < 0)
        return 77;
    int r = check(&elsewhere), r_itself = check(&itself);
    umount2(scratch_path(root, "his"), MNT_DETACH);
    return r != -EXDEV || !says(&elsewhere, "his/mnt", "another user") || r_itself != 0;
}

/* A directory mounted on one inside of it: its own inode is above it. */
static int bind_inside(void)
{
    struct placed placed;
    char his[96];
    snprintf(his, sizeof(his), "%s/his", root);
    if (!scratch_own_mounts() || mount(his, scratch_path(his, "mnt"), NULL, MS_BIND, NULL) < 0)
        return 77;
    place(&placed, "", "his/mnt/mnt", "store");
    return check(&placed) != -EINVAL || !says(&placed, "his/mnt/mnt", "inside the source");
}

static int change_root(void)
{
    struct placed placed;
    if (!scratch_own_mounts() || mkdir(scratch_path(root, "proc"), 0700) < 0 ||
        mount("/proc", scratch_path(root, "proc"), NULL, MS_BIND, NULL) < 0 ||
        mount("none", scratch_path(root, "his"), "tmpfs", 0, NULL) < 0 ||
        mkdir(scratch_path(root, "his/mnt"), 0700) < 0 || chroot(root) < 0 || chdir("/") < 0)
        return 77;
    root[0] = '\0';
    place(&placed, "tree", "his/mnt", "store");
    int r = check(&placed);
    placed_done(&placed);
    place(&placed, "", "his/mnt", "store");
    return r != 0 || check(&placed) != -EINVAL || !says(&placed, "his/mnt", "inside the source");
}

static void test_placement__is_no_answer_where_another_user_covers_what_is_above(void **state)
{
    (void)state;
    scratch_expect_apart(cover_what_is_above);
}

static void test_placement__is_found_through_a_mount_inside_of_itself(void **state)
{
    (void)state;
    scratch_expect_apart(bind_inside);
}

static void test_placement__is_found_up_to_a_changed_root(void **state)
{
    (void)state;
    scratch_expect_apart(change_root);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_placement__is_found_from_below),
        CASE(test_placement__is_no_answer_where_another_user_covers_what_is_above),
        CASE(test_placement__is_found_through_a_mount_inside_of_itself),
        CASE(test_placement__is_found_up_to_a_changed_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
