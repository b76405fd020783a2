/* A table of the inodes of a tree, with file handles and without. Included behind cmocka.h. */
#ifndef KINFS_TESTS_LIB_INODE_FIXTURE_H
#define KINFS_TESTS_LIB_INODE_FIXTURE_H

#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fs/inodes/inode_path.h"

enum { N_FILES = 3000, N_THREADS = 4, N_ROUNDS = 20000 };

static char tree[64];
static struct backing *backing;
static struct inode_table table;

static inline void make_files(size_t n_files)
{
    char name[16];
    for (size_t i = 0; i < n_files; i++) {
        snprintf(name, sizeof(name), "%zu", i);
        close(openat(backing_root_fd(backing), name, O_CREAT | O_WRONLY, 0600));
    }
}

static inline int look_up_at(struct inode *parent, int dirfd, const char *name,
                             struct inode **ret_inode, struct stat *ret_stat)
{
    int fd = inode_open_name(&table, dirfd, name);
    return fd < 0 ? fd : inode_lookup(&table, parent, name, fd, ret_inode, ret_stat);
}

static inline struct inode *look_up_in(struct inode *parent, const char *name)
{
    struct inode *inode = NULL;
    struct stat st;
    struct inode_fd dir = INODE_FD_NONE;
    assert_true(inode_borrow_fd(&table, parent, &dir) >= 0);
    assert_int_equal(look_up_at(parent, dir.fd, name, &inode, &st), 0);
    assert_int_equal(inode->ino, st.st_ino);
    inode_return_fd(&dir);
    return inode;
}

static inline struct inode *look_up(const char *name)
{
    return look_up_in(table.root, name);
}

/* Whether an inode is reached, and is itself. */
static inline int reach(struct inode *inode)
{
    struct stat st;
    struct inode_fd fd = INODE_FD_NONE;
    int r = inode_borrow_fd(&table, inode, &fd);
    if (r >= 0) {
        assert_int_equal(fstat(fd.fd, &st), 0);
        assert_int_equal(st.st_ino, inode->ino);
        assert_int_equal(st.st_mode & S_IFMT, inode->type);
        r = 0;
    }
    inode_return_fd(&fd);
    return r;
}

/* As after many other inodes were used. */
static inline void forget_descriptors(void)
{
    inode_table_shed(&table);
    assert_int_equal(table.path_fds.n_open, 0);
}

static inline void rename_through(struct inode *old_parent, const char *old_name,
                                  struct inode *new_parent, const char *new_name, unsigned flags)
{
    struct inode_change change;
    struct inode_fd from = INODE_FD_NONE, to = INODE_FD_NONE;
    assert_true(inode_borrow_fd(&table, old_parent, &from) >= 0);
    assert_true(inode_borrow_fd(&table, new_parent, &to) >= 0);
    inode_rename_begin(&table, from.fd, old_name, to.fd, new_name, &change);
    int r = renameat2(from.fd, old_name, to.fd, new_name, flags);
    inode_rename_end(&table, &change, old_parent, old_name, new_parent, new_name, flags, r == 0);
    assert_int_equal(r, 0);
    inode_return_fd(&from);
    inode_return_fd(&to);
}

static inline void remove_through(struct inode *parent, const char *name, int flags)
{
    struct inode_change change;
    struct inode_fd dir = INODE_FD_NONE;
    assert_true(inode_borrow_fd(&table, parent, &dir) >= 0);
    inode_removal_begin(&table, dir.fd, name, &change);
    int r = unlinkat(dir.fd, name, flags);
    inode_removal_end(&table, &change, parent, name, r == 0);
    assert_int_equal(r, 0);
    inode_return_fd(&dir);
}

/* Whether this thread may open files by handle; its permitted capabilities stay. */
static inline int allow_handles(bool allowed)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
    const uint32_t bit = 1u << CAP_DAC_READ_SEARCH;
    if (syscall(SYS_capget, &header, caps) < 0)
        return -1;
    if (allowed)
        caps[0].effective |= caps[0].permitted & bit;
    else
        caps[0].effective &= ~bit;
    return (int)syscall(SYS_capset, &header, caps);
}

static inline int set_up(void **state)
{
    (void)state;
    strcpy(tree, "/tmp/test_inode.XXXXXX");
    if (!mkdtemp(tree) || backing_open(tree, &backing) < 0)
        return -1;
    int r = inode_table_init(&table, backing);
    table.path_fds.n_max = 2;
    return r;
}

static inline int set_up_by_name(void **state)
{
    return allow_handles(false) < 0 ? -1 : set_up(state);
}

static inline int tear_down(void **state)
{
    allow_handles(true);
    (void)state;
    char command[100];
    inode_table_done(&table);
    backing_close(backing);
    snprintf(command, sizeof(command), "rm -rf %s", tree);
    return system(command);
}

/* Each with file handles, and without. */
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(test_inode__##name, set_up, tear_down),                        \
    {                                                                                              \
        "test_inode__by_name_" #name, test_inode__##name, set_up_by_name, tear_down, NULL          \
    }

#endif
