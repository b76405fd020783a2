#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files/backing.h"
#include "base/mounts/mount_point.h"
#include "tests/lib/scratch.h"

static char dir[64];
static struct backing *backing;

static void make_file(const char *name, const char *content)
{
    int fd = openat(backing_root_fd(backing), name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), strlen(content));
    close(fd);
}

static ino_t ino_of_key(const struct file_key *key, int flags)
{
    struct stat st;
    _cleanup_close_ int fd = backing_open_key(backing, key, flags);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    return st.st_ino;
}

static ino_t ino_of_name(const char *name)
{
    struct stat st;
    assert_int_equal(fstatat(backing_root_fd(backing), name, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st.st_ino;
}

static int set_up(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/test_backing.XXXXXX");
    return mkdtemp(dir) ? backing_open(dir, &backing) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[100];
    backing_close(backing);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

static void test_backing__a_missing_tree_and_a_file_are_refused(void **state)
{
    (void)state;
    struct backing *other = NULL;
    assert_int_equal(backing_open("/nonexistent/tree", &other), -ENOENT);
    assert_int_equal(backing_open("/dev/null", &other), -ENOTDIR);
    assert_null(other);
}

static void test_backing__keys_keep_handles_and_the_order_of_inodes(void **state)
{
    (void)state;
    uint8_t handle[11], back[sizeof(handle)];
    struct file_key before = {0}, key;
    for (size_t n = 0; n <= sizeof(handle); n++) {
        for (size_t i = 0; i < n; i++)
            handle[i] = (uint8_t)(17 * i + n);
        file_key_of_handle(5, 1, handle, n, &key);
        assert_int_equal(key.size_bytes, FILE_KEY_MIN_BYTES + n);
        file_key_handle(&key, back);
        assert_memory_equal(back, handle, n);
    }
    for (uint32_t inode = 250; inode < 260; inode++) { /* as ext4's: inode and generation */
        const uint32_t numbers[] = {inode, inode * 0x9e3779b9u};
        file_key_of_handle(5, 1, numbers, sizeof(numbers), &key);
        assert_true(memcmp(before.bytes, key.bytes, key.size_bytes) < 0);
        before = key;
    }
}

static void test_backing__names_of_one_inode_have_one_key(void **state)
{
    (void)state;
    struct file_key a, b, c, again;
    int root = backing_root_fd(backing);
    make_file("a", "1");
    make_file("c", "1");
    assert_int_equal(linkat(root, "a", root, "b", 0), 0);
    assert_int_equal(backing_key_at(backing, root, "a", &a), 0);
    assert_int_equal(backing_key_at(backing, root, "b", &b), 0);
    assert_int_equal(backing_key_at(backing, root, "c", &c), 0);
    assert_true(file_key_equal(&a, &b));
    assert_false(file_key_equal(&a, &c));
    assert_int_equal(file_key_hash(&a), file_key_hash(&b));

    int fd = openat(root, "a", O_PATH);
    assert_int_equal(backing_key_at(backing, fd, "", &again), 0);
    close(fd);
    assert_true(file_key_equal(&a, &again));
    assert_int_equal(backing_key_at(backing, root, "", &again), 0);
    assert_true(file_key_equal(backing_root_key(backing), &again));
    assert_int_equal(backing_key_at(backing, root, "none", &again), -ENOENT);
}

static void test_backing__a_key_survives_rename_and_rewrite_and_reopening(void **state)
{
    (void)state;
    struct file_key before, after;
    make_file("old", "1");
    assert_int_equal(backing_key_at(backing, backing_root_fd(backing), "old", &before), 0);
    assert_int_equal(renameat(backing_root_fd(backing), "old", backing_root_fd(backing), "new"), 0);
    make_file("new", "22");
    backing_close(backing);
    backing = NULL;
    assert_int_equal(backing_open(dir, &backing), 0);
    assert_int_equal(backing_key_at(backing, backing_root_fd(backing), "new", &after), 0);
    assert_true(file_key_equal(&before, &after));
}

static void test_backing__a_key_opens_its_inode(void **state)
{
    (void)state;
    struct file_key key;
    int root = backing_root_fd(backing);
    assert_int_equal(ino_of_key(backing_root_key(backing), O_RDONLY), ino_of_name("."));
    if (!backing_has_handles(backing)) {
        make_file("f", "1");
        assert_int_equal(backing_key_at(backing, root, "f", &key), 0);
        assert_int_equal(backing_open_key(backing, &key, O_RDONLY), -EOPNOTSUPP);
        assert_false(backing_key_opens(backing, &key));
        skip();
    }
    assert_int_equal(mkdirat(root, "d", 0700), 0);
    make_file("d/f", "1");
    assert_int_equal(symlinkat("nowhere", root, "link"), 0);
    const char *names[] = {"d", "d/f", "link"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(backing_key_at(backing, root, names[i], &key), 0);
        assert_true(backing_key_opens(backing, &key));
        assert_int_equal(ino_of_key(&key, O_PATH | O_NOFOLLOW), ino_of_name(names[i]));
    }
    assert_int_equal(backing_key_at(backing, root, "d/f", &key), 0);
    assert_int_equal(ino_of_key(&key, O_RDWR), ino_of_name("d/f"));
}

static void test_backing__the_key_of_a_deleted_file_is_stale(void **state)
{
    (void)state;
    struct file_key key;
    if (!backing_has_handles(backing))
        skip();
    make_file("f", "1");
    assert_int_equal(backing_key_at(backing, backing_root_fd(backing), "f", &key), 0);
    assert_int_equal(unlinkat(backing_root_fd(backing), "f", 0), 0);
    assert_int_equal(backing_open_key(backing, &key, O_PATH), -ESTALE);
}

static void *use_a_number_again_and_again(void *stop)
{
    while (!atomic_load((atomic_bool *)stop)) {
        make_file("again", "");
        unlinkat(backing_root_fd(backing), "again", 0);
    }
    return NULL;
}

static void test_backing__a_key_is_stale_while_its_number_is_used_again(void **state)
{
    enum { OPENINGS = 100000 };
    (void)state;
    struct file_key key;
    pthread_t other;
    atomic_bool stop = false;
    if (!backing_has_handles(backing))
        skip();
    make_file("a", "");
    assert_int_equal(backing_key_at(backing, backing_root_fd(backing), "a", &key), 0);
    unlinkat(backing_root_fd(backing), "a", 0);
    assert_int_equal(pthread_create(&other, NULL, use_a_number_again_and_again, &stop), 0);
    for (int i = 0; i < OPENINGS; i++)
        assert_int_equal(backing_open_key(backing, &key, O_PATH), -ESTALE);
    atomic_store(&stop, true);
    pthread_join(other, NULL);
}

static void test_backing__bytes_that_are_no_key_are_refused(void **state)
{
    (void)state;
    struct file_key key = {.size_bytes = 3, .bytes = "ab"};
    assert_int_equal(backing_open_key(backing, &key, O_PATH), -EINVAL);
    key = *backing_root_key(backing);
    key.bytes[0] ^= 1;
    int r = backing_open_key(backing, &key, O_PATH);
    assert_true(r == -ESTALE || r == -EOPNOTSUPP);
    key = *backing_root_key(backing);
    key.bytes[key.size_bytes - 1] ^= 0x55;
    if (backing_has_handles(backing))
        assert_true(backing_open_key(backing, &key, O_PATH) < 0);
}

/* A tmpfs on above/inner, in a mount namespace of the test's own; skips where that is not allowed.
 */
static void mount_inside(char path[80])
{
    if (!scratch_own_mounts())
        skip();
    /* The root's descriptor is of the former namespace: open the tree again in this one. */
    backing_close(backing);
    backing = NULL;
    assert_int_equal(backing_open(dir, &backing), 0);
    assert_int_equal(mkdirat(backing_root_fd(backing), "above", 0700), 0);
    assert_int_equal(mkdirat(backing_root_fd(backing), "above/in ner", 0700), 0);
    snprintf(path, 80, "%s/above/in ner", dir);
    if (mount("none", path, "tmpfs", 0, NULL) < 0)
        skip();
    make_file("above/in ner/f", "1");
}

static void test_backing__a_mount_inside_the_tree_is_learnt(void **state)
{
    (void)state;
    char path[80];
    mount_inside(path);
    int root = backing_root_fd(backing);
    struct file_key key, same;
    bool nested = false;
    assert_int_equal(backing_identify(backing, root, "above/in ner/f", &key, &nested), 0);
    assert_true(nested);
    assert_int_equal(backing_identify(backing, root, "above", &same, &nested), 0);
    assert_false(nested);
    assert_memory_not_equal(key.bytes, backing_root_key(backing)->bytes, 8);
    assert_int_equal(backing_key_opens(backing, &key), backing_has_handles(backing));
    if (backing_has_handles(backing)) {
        assert_int_equal(ino_of_key(&key, O_RDONLY), ino_of_name("above/in ner/f"));
        /* The mount moves with the directory it is in. */
        assert_int_equal(renameat(root, "above", root, "renamed"), 0);
        assert_int_equal(ino_of_key(&key, O_RDONLY), ino_of_name("renamed/in ner/f"));
        assert_int_equal(renameat(root, "renamed", root, "above"), 0);
    }
    assert_int_equal(umount2(path, MNT_DETACH), 0);
}

static void test_backing__a_mount_inside_the_tree_can_be_unmounted(void **state)
{
    (void)state;
    char path[80];
    mount_inside(path);
    struct file_key key;
    assert_int_equal(backing_key_at(backing, backing_root_fd(backing), "above/in ner/f", &key), 0);
    if (backing_has_handles(backing))
        assert_int_equal(ino_of_key(&key, O_RDONLY), ino_of_name("above/in ner/f"));
    assert_int_equal(umount2(path, 0), 0);
    assert_int_equal(backing_open_key(backing, &key, O_PATH),
                     backing_has_handles(backing) ? -ESTALE : -EOPNOTSUPP);
    /* What is there now is another file system, though the kernel may use the ids again. */
    struct file_key other;
    assert_int_equal(mount("none", path, "tmpfs", 0, NULL), 0);
    make_file("above/in ner/f", "2");
    assert_int_equal(backing_key_at(backing, backing_root_fd(backing), "above/in ner/f", &other),
                     0);
    assert_false(file_key_equal(&key, &other));
    assert_int_equal(umount2(path, 0), 0);
}

static void
test_backing__a_second_mount_of_the_tree_s_own_file_system_is_reached_by_itself(void **state)
{
    (void)state;
    char path[80], other[80];
    struct file_key key, same;
    bool nested = false;
    mount_inside(path);
    int root = backing_root_fd(backing);
    make_file("own", "1");
    assert_int_equal(mkdirat(root, "bound", 0700), 0);
    snprintf(other, sizeof(other), "%s/bound", dir);
    assert_int_equal(mount(dir, other, NULL, MS_BIND, NULL), 0);
    assert_int_equal(backing_key_at(backing, root, "own", &key), 0);
    assert_int_equal(backing_identify(backing, root, "bound/own", &same, &nested), 0);
    assert_true(nested);
    assert_false(file_key_equal(&key, &same));
    assert_int_equal(mount(NULL, other, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL), 0);
    if (backing_has_handles(backing)) {
        assert_int_equal(ino_of_key(&same, O_RDONLY), ino_of_key(&key, O_RDONLY));
        assert_int_equal(backing_open_key(backing, &same, O_WRONLY), -EROFS);
    }
    assert_int_equal(umount2(other, 0), 0);
    if (backing_has_handles(backing))
        assert_int_equal(backing_open_key(backing, &same, O_PATH), -ESTALE);
    assert_int_equal(umount2(path, 0), 0);
}

/* The kernel uses their ids again, but that another process may take some. */
static void test_backing__mounts_that_are_gone_are_forgotten(void **state)
{
    enum { MOUNTS = 40 };
    (void)state;
    char path[80];
    struct file_key keys[2 * MOUNTS];
    int n_kept = 0;
    mount_inside(path);
    for (int i = 0; i < 2 * MOUNTS; i++) {
        assert_int_equal(mount("none", path, "tmpfs", 0, NULL), 0);
        make_file("above/in ner/f", "1");
        assert_int_equal(
            backing_key_at(backing, backing_root_fd(backing), "above/in ner/f", &keys[i]), 0);
        for (int n = i % MOUNTS; i % MOUNTS == MOUNTS - 1 && n >= 0; n--)
            assert_int_equal(umount2(path, 0), 0);
    }
    for (int i = 0; i < MOUNTS; i++) {
        assert_true(backing_key_is_nested(backing, &keys[i]));
        n_kept += backing_key_opens(backing, &keys[i]);
    }
    assert_in_range(n_kept, 0, MOUNTS * 3 / 4); /* all, where none is forgotten */
    assert_int_equal(umount2(path, 0), 0);
}

static enum judges judges_at(const char *name)
{
    struct file_key key;
    assert_int_equal(backing_key_at(backing, backing_root_fd(backing), name, &key), 0);
    return backing_key_judges(backing, &key);
}

static void test_backing__what_is_mounted_in_the_place_of_another_judges_as_it_does(void **state)
{
    (void)state;
    char path[80];
    mount_inside(path);
    const enum judges of_tree = judges_at("above");
    assert_int_equal(judges_at("above/in ner/f"), JUDGES_BY_MODE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(umount2(path, 0), 0);
        assert_int_equal(mount("none", path, "proc", 0, NULL), 0);
        assert_int_equal(judges_at("above/in ner/version"), JUDGES_BY_OWNER);
        assert_int_equal(umount2(path, 0), 0);
        assert_int_equal(mount("none", path, "tmpfs", 0, NULL), 0);
        assert_int_equal(judges_at("above/in ner"), JUDGES_BY_MODE);
    }
    assert_int_equal(judges_at("above"), of_tree);
    struct file_key key = *backing_root_key(backing);
    key.bytes[0] ^= 1;
    assert_int_equal(backing_key_judges(backing, &key), JUDGES_BY_OWNER);
    assert_int_equal(umount2(path, 0), 0);
}

/* A ramfs has no handles. */
static void test_backing__where_a_key_is_a_number_alone_the_caller_is_judged(void **state)
{
    (void)state;
    char path[80];
    struct file_key key;
    mount_inside(path);
    assert_int_equal(umount2(path, 0), 0);
    if (mount("none", path, "ramfs", 0, NULL) < 0)
        skip();
    make_file("above/in ner/f", "1");
    assert_int_equal(judges_at("above/in ner/f"), JUDGES_BY_CALLER);
    assert_int_equal(backing_key_at(backing, backing_root_fd(backing), "above/in ner/f", &key), 0);
    assert_int_equal(backing_key_recurs(&key), KEY_RECURS);
    assert_int_equal(umount2(path, 0), 0);
}

/* Its server answers nothing, so that who asks it anything stays here. */
static void test_backing__another_user_s_mount_is_asked_nothing(void **state)
{
    (void)state;
    char path[80], options[96];
    struct file_key key = {0};
    mount_inside(path);
    _cleanup_close_ int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=54321,group_id=0,allow_other",
             device);
    if (device < 0 || mount("none", path, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
        skip();
    struct statx st;
    assert_int_equal(backing_key_at(backing, backing_root_fd(backing), "above/in ner", &key),
                     -EACCES);
    assert_int_equal(mount_point_stat(backing_root_fd(backing), "above/in ner", &st), 0);
    assert_true(S_ISDIR(st.stx_mode));
    assert_int_equal(umount2(path, MNT_DETACH), 0);
    assert_int_equal(backing_key_at(backing, backing_root_fd(backing), "above/in ner/f", &key), 0);
    assert_int_equal(umount2(path, 0), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_backing__##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_missing_tree_and_a_file_are_refused),
        TEST(keys_keep_handles_and_the_order_of_inodes),
        TEST(names_of_one_inode_have_one_key),
        TEST(a_key_survives_rename_and_rewrite_and_reopening),
        TEST(a_key_opens_its_inode),
        TEST(the_key_of_a_deleted_file_is_stale),
        TEST(a_key_is_stale_while_its_number_is_used_again),
        TEST(bytes_that_are_no_key_are_refused),
        TEST(a_mount_inside_the_tree_is_learnt),
        TEST(a_mount_inside_the_tree_can_be_unmounted),
        TEST(mounts_that_are_gone_are_forgotten),
        TEST(what_is_mounted_in_the_place_of_another_judges_as_it_does),
        TEST(where_a_key_is_a_number_alone_the_caller_is_judged),
        TEST(another_user_s_mount_is_asked_nothing),
        TEST(a_second_mount_of_the_tree_s_own_file_system_is_reached_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
