#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/inodes/inode_path.h"

enum { N_FILES = 3000, N_THREADS = 4, N_ROUNDS = 20000 };

static char tree[64];
static struct backing *backing;
static struct inode_table table;

static void make_files(size_t n_files)
{
    char name[16];
    for (size_t i = 0; i < n_files; i++) {
        snprintf(name, sizeof(name), "%zu", i);
        close(openat(backing_root_fd(backing), name, O_CREAT | O_WRONLY, 0600));
    }
}

static int look_up_at(struct inode *parent, int dirfd, const char *name, struct inode **ret_inode,
                      struct stat *ret_stat)
{
    int fd = inode_open_name(&table, dirfd, name);
    return fd < 0 ? fd : inode_lookup(&table, parent, name, fd, ret_inode, ret_stat);
}

static struct inode *look_up_in(struct inode *parent, const char *name)
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

static struct inode *look_up(const char *name)
{
    return look_up_in(table.root, name);
}

/* Whether an inode is reached, and is itself. */
static int reach(struct inode *inode)
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
static void forget_descriptors(void)
{
    inode_table_shed(&table);
    assert_int_equal(table.path_fds.n_open, 0);
}

static void rename_through(struct inode *old_parent, const char *old_name, struct inode *new_parent,
                           const char *new_name, unsigned flags)
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

static void remove_through(struct inode *parent, const char *name, int flags)
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
static int allow_handles(bool allowed)
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

static int set_up(void **state)
{
    (void)state;
    strcpy(tree, "/tmp/test_inode.XXXXXX");
    if (!mkdtemp(tree) || backing_open(tree, &backing) < 0)
        return -1;
    int r = inode_table_init(&table, backing);
    table.path_fds.n_max = 2;
    return r;
}

static int set_up_by_name(void **state)
{
    return allow_handles(false) < 0 ? -1 : set_up(state);
}

static int tear_down(void **state)
{
    allow_handles(true);
    (void)state;
    char command[100];
    inode_table_done(&table);
    backing_close(backing);
    snprintf(command, sizeof(command), "rm -rf %s", tree);
    return system(command);
}

static void test_inode__all_names_of_a_file_are_one_inode(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(2);
    assert_int_equal(linkat(root, "0", root, "other", 0), 0);
    struct inode *a = look_up("0"), *b = look_up("other"), *c = look_up("1");
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_int_equal(a->n_lookups, 2);
    assert_int_equal(table.n_inodes, 2);
    inode_forget(&table, a, 1);
    assert_int_equal(table.n_inodes, 2);
    inode_forget(&table, a, 1);
    inode_forget(&table, c, 1);
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__the_root_is_never_forgotten(void **state)
{
    (void)state;
    inode_forget(&table, table.root, 1000);
    struct inode_fd fd = INODE_FD_NONE;
    assert_true(inode_borrow_fd(&table, table.root, &fd) >= 0);
    inode_return_fd(&fd);
}

static void test_inode__it_is_reached_after_a_rename_and_not_after_the_last_unlink(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(1);
    struct inode *inode = look_up("0");
    forget_descriptors();
    assert_int_equal(renameat(root, "0", root, "elsewhere"), 0);
    assert_int_equal(reach(inode), 0);
    _cleanup_close_ int own = inode_open(&table, inode, O_RDWR);
    assert_true(own >= 0);

    close_p(&own);
    own = -1;
    /* Not through a descriptor either that is still there: it would be of no use to anybody. */
    assert_int_equal(unlinkat(root, "elsewhere", 0), 0);
    assert_int_equal(reach(inode), -ESTALE);
    assert_int_equal(reach(inode), -ESTALE);
    inode_forget(&table, inode, 1);
}

/* A thread of its own does it (fs/inodes/late_close.h). */
static bool is_closed_soon(int fd)
{
    for (int i = 0; i < 10000; i++) {
        if (fcntl(fd, F_GETFD) < 0)
            return true;
        usleep(1000);
    }
    return false;
}

static void test_inode__what_lost_its_last_name_is_reached_until_it_is_forgotten(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(1);
    assert_int_equal(mkdirat(root, "d", 0700), 0);
    assert_int_equal(linkat(root, "0", root, "other", 0), 0);
    struct inode *file = look_up("0"), *dir = look_up("d");
    remove_through(table.root, "0", 0);
    forget_descriptors();
    if (!file->by_name)
        assert_int_equal(file->path->fd.fd, -1); /* it has another name */
    look_up("other");
    remove_through(table.root, "other", 0);
    remove_through(table.root, "d", AT_REMOVEDIR);
    forget_descriptors();
    assert_int_equal(reach(file), 0);
    assert_int_equal(reach(dir), 0);
    int file_fd = file->path->fd.fd, dir_fd = dir->path->fd.fd;
    inode_forget(&table, file, 2);
    inode_forget(&table, dir, 1);
    assert_true(is_closed_soon(file_fd));
    assert_true(is_closed_soon(dir_fd));
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__what_was_replaced_by_a_rename_is_reached(void **state)
{
    (void)state;
    make_files(2);
    struct inode *a = look_up("0"), *b = look_up("1");
    rename_through(table.root, "0", table.root, "1", 0);
    forget_descriptors();
    assert_int_equal(reach(a), 0);
    assert_int_equal(reach(b), 0);
    inode_forget(&table, b, 1);
    assert_ptr_equal(look_up("1"), a);
    inode_forget(&table, a, 2);
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__a_file_made_without_a_name_is_pinned_until_it_has_one(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    _cleanup_close_ int fd = openat(root, ".", O_TMPFILE | O_RDWR, 0600);
    if (fd < 0)
        skip();
    struct inode *inode;
    struct stat st;
    assert_int_equal(inode_lookup_fd(&table, NULL, NULL, fd, &inode, &st), 0);
    inode_pin(&table, inode, fd);
    forget_descriptors();
    assert_int_equal(reach(inode), 0);
    assert_true(inode->path->fd.pinned);
    assert_int_equal(linkat(AT_FDCWD, proc_path_of(fd).text, root, "name", AT_SYMLINK_FOLLOW), 0);
    inode_path_linked(&table, inode);
    assert_ptr_equal(look_up("name"), inode);
    assert_false(inode->path->fd.pinned);
    forget_descriptors();
    assert_int_equal(reach(inode), 0);
    inode_forget(&table, inode, 2);
}

static void test_inode__no_more_are_pinned_than_may_be(void **state)
{
    (void)state;
    make_files(2);
    table.path_fds.n_pinned_max = 1;
    struct inode *a = look_up("0"), *b = look_up("1");
    remove_through(table.root, "0", 0);
    remove_through(table.root, "1", 0);
    forget_descriptors();
    assert_int_equal(table.path_fds.n_pinned, 1);
    assert_int_equal(reach(a), 0);
    assert_int_equal(reach(b), -ESTALE);
    inode_forget(&table, a, 1);
    inode_forget(&table, b, 1);
    assert_int_equal(table.path_fds.n_pinned, 0);
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__names_that_change_through_the_mount_are_followed(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(1);
    assert_int_equal(mkdirat(root, "a", 0700), 0);
    assert_int_equal(mkdirat(root, "a/b", 0700), 0);
    assert_int_equal(mkdirat(root, "c", 0700), 0);
    assert_int_equal(mkdirat(root, "e", 0700), 0);
    assert_int_equal(linkat(root, "0", root, "a/b/f", 0), 0);
    struct inode *a = look_up("a"), *b = look_up_in(a, "b"), *c = look_up("c"), *e = look_up("e");
    struct inode *f = look_up_in(b, "f");
    assert_ptr_equal(look_up("0"), f);
    /* The kernel forgets directories before what is in them. */
    inode_forget(&table, b, 1);
    forget_descriptors();
    assert_int_equal(reach(f), 0);

    remove_through(table.root, "0", 0); /* the name seen last */
    rename_through(table.root, "a", c, "moved", 0);
    forget_descriptors();
    assert_int_equal(reach(f), 0);
    rename_through(c, "moved", table.root, "e", RENAME_EXCHANGE);
    forget_descriptors();
    assert_int_equal(reach(f), 0);
    forget_descriptors();
    assert_int_equal(reach(e), 0);
    rename_through(a, "b", table.root, "b", RENAME_NOREPLACE);
    forget_descriptors();
    assert_int_equal(reach(f), 0);

    inode_forget(&table, f, 2);
    inode_forget(&table, a, 1);
    inode_forget(&table, c, 1);
    inode_forget(&table, e, 1);
    assert_int_equal(table.n_inodes, 0);
}

static char told[32];

static int tell_path(void *user, const struct file_key *key, char **ret_path)
{
    (void)user;
    (void)key;
    *ret_path = strdup(told);
    return 0;
}

static void test_inode__what_moved_beside_the_mount_is_found(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(2);
    assert_int_equal(mkdirat(root, "a", 0700), 0);
    assert_int_equal(mkdirat(root, "a/b", 0700), 0);
    assert_int_equal(renameat(root, "0", root, "a/b/f"), 0);
    struct inode *a = look_up("a"), *b = look_up_in(a, "b"), *f = look_up_in(b, "f");

    /* In the same directories. */
    assert_int_equal(renameat(root, "a", root, "x"), 0);
    assert_int_equal(renameat(root, "x/b", root, "x/y"), 0);
    assert_int_equal(renameat(root, "x/y/f", root, "x/y/g"), 0);
    forget_descriptors();
    assert_int_equal(reach(f), 0);

    /* By another name it was seen under. */
    assert_int_equal(linkat(root, "x/y/g", root, "link", 0), 0);
    assert_ptr_equal(look_up("link"), f);
    assert_int_equal(unlinkat(root, "link", 0), 0);
    forget_descriptors();
    assert_int_equal(reach(f), 0);

    /* Elsewhere, as the index says; something else has the name. */
    assert_int_equal(renameat(root, "x/y", root, "z"), 0);
    assert_int_equal(mkdirat(root, "x/y", 0700), 0);
    forget_descriptors();
    const int expected = f->by_name ? -ESTALE : 0;
    assert_int_equal(reach(f), expected);
    table.find_path = tell_path;
    strcpy(told, "z");
    assert_int_equal(reach(f), 0);
    forget_descriptors();
    strcpy(told, "1"); /* what is told is another file */
    assert_int_equal(reach(f), expected);
    strcpy(told, "/");
    assert_int_equal(reach(f), expected);

    /* Back again. */
    assert_int_equal(unlinkat(root, "x/y", AT_REMOVEDIR), 0);
    assert_int_equal(renameat(root, "z", root, "x/b"), 0);
    assert_int_equal(reach(f), 0);
    inode_forget(&table, f, 2);
    inode_forget(&table, b, 1);
    inode_forget(&table, a, 1);
    assert_int_equal(table.n_inodes, 0);
}

/* It is called when a directory is listed next, once. */
static void (*at_next_listing)(void);

/* Stands before the C library's. */
DIR *fdopendir(int fd)
{
    DIR *(*real)(int) = (DIR * (*)(int)) dlsym(RTLD_NEXT, "fdopendir");
    void (*call)(void) = at_next_listing;
    at_next_listing = NULL;
    if (call)
        call();
    return real(fd);
}

/* The file is in home, which is renamed x beside the mount. */
static struct inode *led_file, *led_home, *led_away;

static void see_led_file(struct inode *parent, const char *dir, const char *name)
{
    struct inode *seen = NULL;
    struct stat st;
    _cleanup_close_ int dirfd = openat(backing_root_fd(backing), dir, O_PATH | O_DIRECTORY);
    assert_int_equal(look_up_at(parent, dirfd, name, &seen, &st), 0);
    assert_ptr_equal(seen, led_file);
}

static void forget_where_it_was_last(void)
{
    int root = backing_root_fd(backing);
    assert_int_equal(unlinkat(root, "away/f", 0), 0);
    see_led_file(led_home, "x", "g"); /* the only name there is */
    inode_forget(&table, led_away, 1);
}

static void see_it_elsewhere(void)
{
    int root = backing_root_fd(backing);
    assert_int_equal(linkat(root, "x/f", root, "away/f", 0), 0);
    see_led_file(led_away, "away", "f");
    assert_int_equal(renameat(root, "x/f", root, "x/g"), 0);
    at_next_listing = forget_where_it_was_last;
}

/* Lookups do not wait for a search, and one may see the file in another directory, which then goes.
 */
static void test_inode__what_is_searched_for_is_in_the_directory_searched(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(1);
    assert_int_equal(mkdirat(root, "home", 0700), 0);
    assert_int_equal(mkdirat(root, "away", 0700), 0);
    assert_int_equal(renameat(root, "0", root, "home/f"), 0);
    led_away = look_up("away");
    led_home = look_up("home");
    led_file = look_up_in(led_home, "f");
    assert_int_equal(renameat(root, "home", root, "x"), 0);
    forget_descriptors();
    at_next_listing = see_it_elsewhere;
    assert_int_equal(reach(led_file), 0);
    assert_null(at_next_listing);
    assert_int_equal(table.n_inodes, 2);
    assert_ptr_equal(led_file->path->places->parent, led_home);
    assert_string_equal(led_file->path->places->name, "g");
    assert_null(led_file->path->places->next);
    inode_forget(&table, led_file, led_file->n_lookups);
    inode_forget(&table, led_home, 1);
    assert_int_equal(table.n_inodes, 0);
}

static void *remove_another(void *user)
{
    remove_through(table.root, "1", 0);
    return user;
}

static void remove_another_meanwhile(void)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, remove_another, NULL), 0);
    pthread_join(thread, NULL);
}

/* A directory may be as large as its owner likes. */
static void test_inode__others_remove_while_one_is_searched_for(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(2);
    struct inode *file = look_up("0");
    assert_int_equal(renameat(root, "0", root, "moved"), 0);
    forget_descriptors();
    at_next_listing = remove_another_meanwhile;
    assert_int_equal(reach(file), 0);
    assert_null(at_next_listing);
    assert_int_equal(faccessat(root, "1", F_OK, 0), -1);
    inode_forget(&table, file, 1);
    assert_int_equal(table.n_inodes, 0);
}

/* A file system below may take as long as it likes to rename something. */
static void test_inode__what_is_being_renamed_is_reached_as_is_what_has_to_be_found(void **state)
{
    (void)state;
    struct inode_change change;
    int root = backing_root_fd(backing);
    make_files(2);
    assert_int_equal(mkdirat(root, "a", 0700), 0);
    assert_int_equal(mkdirat(root, "b", 0700), 0);
    assert_int_equal(linkat(root, "1", root, "a/f", 0), 0);
    struct inode *lost = look_up("0"), *a = look_up("a"), *b = look_up("b");
    struct inode *f = look_up_in(a, "f");
    assert_ptr_equal(look_up("1"), f);
    assert_ptr_equal(look_up_in(a, "f"), f); /* the place that is tried first */
    assert_int_equal(renameat(root, "0", root, "moved"), 0);
    forget_descriptors();

    struct inode_fd to = INODE_FD_NONE;
    assert_true(inode_borrow_fd(&table, b, &to) >= 0);
    inode_rename_begin(&table, root, "a", to.fd, "c", &change);
    assert_int_equal(reach(lost), 0);
    assert_int_equal(reach(f), 0);
    assert_int_equal(renameat(root, "a", to.fd, "c"), 0);
    inode_table_shed(&table);
    assert_int_equal(reach(lost), 0);
    assert_int_equal(reach(a), 0);
    assert_int_equal(reach(f), 0);
    inode_rename_end(&table, &change, table.root, "a", b, "c", 0, true);
    inode_return_fd(&to);
    assert_int_equal(unlinkat(root, "1", 0), 0); /* it is left only where a was moved to */
    forget_descriptors();
    assert_int_equal(reach(f), 0);

    inode_forget(&table, f, 3);
    inode_forget(&table, a, 1);
    inode_forget(&table, b, 1);
    inode_forget(&table, lost, 1);
    assert_int_equal(table.n_inodes, 0);
}

static struct inode_change led_change;

static void begin_to_rename_led_file(void)
{
    int root = backing_root_fd(backing);
    _cleanup_close_ int from = openat(root, "home", O_PATH), to = openat(root, "away", O_PATH);
    assert_int_equal(renameat(from, "g", from, "f"), 0); /* the name that was tried in vain */
    inode_rename_begin(&table, from, "f", to, "f", &led_change);
    assert_int_equal(renameat(from, "f", to, "f"), 0);
}

static void end_to_rename_led_file(void)
{
    inode_rename_end(&table, &led_change, led_home, "f", led_away, "f", 0, true);
    inode_table_shed(&table);
}

static void rename_led_file(void)
{
    begin_to_rename_led_file();
    end_to_rename_led_file();
}

static void reach_led_file_while(void (*renamed)(void))
{
    int root = backing_root_fd(backing);
    make_files(1);
    assert_int_equal(renameat(root, "0", root, "home/f"), 0);
    led_file = look_up_in(led_home, "f");
    assert_int_equal(renameat(root, "home/f", root, "home/g"), 0);
    forget_descriptors();
    at_next_listing = renamed;
    assert_int_equal(reach(led_file), 0);
    assert_null(at_next_listing);
}

/* The search comes too late, and the new place is not taken for wrong. */
static void test_inode__what_is_renamed_while_it_is_searched_for_is_reached(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    assert_int_equal(mkdirat(root, "home", 0700), 0);
    assert_int_equal(mkdirat(root, "away", 0700), 0);
    led_away = look_up("away");
    led_home = look_up("home");
    reach_led_file_while(rename_led_file);
    inode_forget(&table, led_file, 1);
    reach_led_file_while(begin_to_rename_led_file);
    end_to_rename_led_file();
    inode_forget(&table, led_file, 1);
    inode_forget(&table, led_home, 1);
    inode_forget(&table, led_away, 1);
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__directories_moved_into_each_other_make_no_circle(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    assert_int_equal(mkdirat(root, "a", 0700), 0);
    assert_int_equal(mkdirat(root, "a/b", 0700), 0);
    struct inode *a = look_up("a"), *b = look_up_in(a, "b");
    assert_int_equal(renameat(root, "a/b", root, "b"), 0);
    assert_int_equal(renameat(root, "a", root, "b/a"), 0);
    assert_ptr_equal(look_up_in(b, "a"), a); /* b's place is in a still */
    forget_descriptors();
    const int expected = a->by_name ? -ELOOP : 0;
    assert_int_equal(reach(a), expected);
    assert_ptr_equal(look_up("b"), b);
    forget_descriptors();
    assert_int_equal(reach(a), 0);
    inode_forget(&table, a, 2);
    inode_forget(&table, b, 2);
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__one_deeper_than_any_path_is_reached_and_forgotten(void **state)
{
    (void)state;
    enum { DEPTH = 3000 };
    static struct inode *inodes[DEPTH];
    struct inode *parent = table.root;
    for (size_t i = 0; i < DEPTH; i++) {
        struct inode_fd dir = INODE_FD_NONE;
        assert_true(inode_borrow_fd(&table, parent, &dir) >= 0);
        assert_int_equal(mkdirat(dir.fd, "d", 0700), 0);
        inode_return_fd(&dir);
        parent = inodes[i] = look_up_in(parent, "d");
    }
    forget_descriptors();
    assert_int_equal(reach(parent), 0);
    for (size_t i = 0; i < DEPTH; i++)
        inode_forget(&table, inodes[i], 1);
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__the_kernel_is_known_to_be_told_until_the_file_changes(void **state)
{
    (void)state;
    make_files(1);
    struct inode *inode = look_up("0");
    struct stat st;
    assert_int_equal(fstatat(backing_root_fd(backing), "0", &st, 0), 0);
    inode_tell(&table, inode, &st);
    assert_true(inode_is_told(inode, &st));
    st.st_size++;
    assert_false(inode_is_told(inode, &st));
    st.st_size--;
    st.st_mtim.tv_nsec ^= 1;
    assert_false(inode_is_told(inode, &st));
    inode_forget(&table, inode, 1);
}

static void test_inode__a_reply_that_tells_of_a_change_may_be_under_way(void **state)
{
    (void)state;
    make_files(1);
    struct inode *inode = look_up("0");
    struct stat st;
    assert_int_equal(fstatat(backing_root_fd(backing), "0", &st, 0), 0);
    inode_tell(&table, inode, &st); /* the first: the kernel kept nothing before */
    assert_true(inode_is_surely_told(inode, &st));
    st.st_size++;
    st.st_ctim.tv_nsec ^= 1;
    assert_false(inode_is_surely_told(inode, &st));
    inode_tell(&table, inode, &st);
    assert_true(inode_is_told(inode, &st));
    assert_false(inode_is_surely_told(inode, &st));
    inode_note_closed(&table, inode, &st); /* written through the mount: the kernel knows */
    assert_true(inode_is_surely_told(inode, &st));
    st.st_ctim.tv_nsec ^= 1;
    assert_false(inode_is_surely_told(inode, &st));
    inode_tell_asking(inode, &st);
    assert_true(inode_is_surely_told(inode, &st));
    inode_tell(&table, inode, &st); /* the same again */
    assert_true(inode_is_surely_told(inode, &st));
    inode_forget(&table, inode, 1);
}

static void test_inode__what_a_reply_told_of_a_change_holds_until_anything_changes(void **state)
{
    (void)state;
    make_files(1);
    int dirfd = backing_root_fd(backing);
    struct inode *inode = look_up("0");
    struct stat st, now;
    assert_int_equal(fstatat(dirfd, "0", &st, 0), 0);
    assert_false(inode_is_changed_as(&table, inode, &st));
    inode_changed(&table, inode, &st);
    assert_true(inode_is_changed_as(&table, inode, &st));
    /* A mode seen to differ within one tick of a coarse clock; and what leaves a ctime only. */
    now = st;
    now.st_mode ^= S_IRGRP;
    assert_false(inode_is_changed_as(&table, inode, &now));
    do {
        assert_int_equal(fchmodat(dirfd, "0", st.st_mode & 07777, 0), 0);
        assert_int_equal(fstatat(dirfd, "0", &now, 0), 0);
    } while (now.st_ctim.tv_sec == st.st_ctim.tv_sec && now.st_ctim.tv_nsec == st.st_ctim.tv_nsec);
    assert_false(inode_is_changed_as(&table, inode, &now));
    inode_forget(&table, inode, 1);
}

/* The kernel asks about what it was told of only when it has the reply that told of it. */
static void test_inode__the_reply_that_made_it_has_arrived_when_another_is_told(void **state)
{
    (void)state;
    int dirfd = backing_root_fd(backing);
    _cleanup_close_ int fd = openat(dirfd, "made", O_CREAT | O_EXCL | O_WRONLY, 0600);
    struct inode *inode;
    struct stat st;
    assert_int_equal(inode_lookup_fd(&table, table.root, "made", fd, &inode, &st), 0);
    inode_tell(&table, inode, &st);
    assert_true(inode->changed_ms > 0);
    inode_tell(&table, inode, &st);
    assert_int_equal(inode->changed_ms, 0);
    /* Not so of a change of what is known: who asks may have asked before it. */
    inode_change_begin(&table, inode, NULL);
    for (int i = 0; i < 3; i++)
        inode_tell(&table, inode, &st);
    assert_true(inode->changed_ms > 0);
    inode_forget(&table, inode, 1);
}

static void test_inode__the_reply_that_made_it_may_be_late_for_another_name(void **state)
{
    (void)state;
    int dirfd = backing_root_fd(backing);
    assert_int_equal(mkdirat(dirfd, "directory", 0700), 0);
    struct inode *directory = look_up("directory"), *inode, *again;
    struct stat st;
    _cleanup_close_ int fd = openat(dirfd, "made", O_CREAT | O_EXCL | O_WRONLY, 0600);
    assert_int_equal(inode_lookup_fd(&table, table.root, "made", fd, &inode, &st), 0);
    inode_tell_entry(&table, inode, table.root, &st);
    inode_tell_entry(&table, inode, directory, &st);
    for (int i = 0; i < 3; i++)
        inode_tell(&table, inode, &st);
    assert_true(inode->changed_ms > 0);
    /* Known by another name before it was told to have been made. */
    assert_int_equal(inode_lookup_fd(&table, table.root, "made", fd, &again, &st), 0);
    assert_ptr_equal(inode, again);
    for (int i = 0; i < 3; i++)
        inode_tell_entry(&table, inode, table.root, &st);
    assert_true(inode->changed_ms > 0);
    inode_forget(&table, inode, 2);
    inode_forget(&table, directory, 1);
}

static void *look_up_and_forget(void *user)
{
    unsigned seed = (unsigned)(uintptr_t)user;
    char name[16];
    uintptr_t wrong = 0;
    for (int i = 0; i < N_ROUNDS; i++) {
        struct inode *inode;
        struct stat st;
        struct inode_fd fd = INODE_FD_NONE;
        /* Few names, so that a lookup often meets the last forget of the same inode. */
        snprintf(name, sizeof(name), "%d", rand_r(&seed) % 3);
        if (look_up_at(table.root, backing_root_fd(backing), name, &inode, &st) < 0) {
            wrong++;
            continue;
        }
        wrong += inode->ino != st.st_ino;
        wrong += inode_borrow_fd(&table, inode, &fd) < 0 || fstat(fd.fd, &st) < 0 ||
                 inode->ino != st.st_ino;
        inode_return_fd(&fd);
        inode_forget(&table, inode, 1);
    }
    return (void *)wrong;
}

static void test_inode__threads_that_look_up_and_forget_leave_nothing(void **state)
{
    (void)state;
    pthread_t threads[N_THREADS];
    make_files(3);
    for (uintptr_t i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_up_and_forget, (void *)(i + 1)), 0);
    for (size_t i = 0; i < N_THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_int_equal(table.n_inodes, 0);
}

/* Directories that take each other's place while what is in them is reached. */
static void *exchange(void *user)
{
    (void)user;
    uintptr_t wrong = 0;
    for (int i = 0; i < N_ROUNDS / 10; i++) {
        struct inode_change change;
        int root = backing_root_fd(backing);
        inode_rename_begin(&table, root, "a", root, "b", &change);
        int r = renameat2(root, "a", root, "b", RENAME_EXCHANGE);
        inode_rename_end(&table, &change, table.root, "a", table.root, "b", RENAME_EXCHANGE,
                         r == 0);
        wrong += r != 0;
        if (i % 16 == 0)
            inode_table_shed(&table);
    }
    return (void *)wrong;
}

static void *reach_files(void *user)
{
    struct inode *const *files = user;
    uintptr_t wrong = 0;
    for (int i = 0; i < N_ROUNDS / 10; i++) {
        struct inode_fd fd = INODE_FD_NONE;
        wrong += inode_borrow_fd(&table, files[i % 2], &fd) < 0;
        inode_return_fd(&fd);
        inode_table_shed(&table);
    }
    return (void *)wrong;
}

static void test_inode__threads_reach_what_others_rename(void **state)
{
    (void)state;
    int root = backing_root_fd(backing);
    make_files(2);
    assert_int_equal(mkdirat(root, "a", 0700), 0);
    assert_int_equal(mkdirat(root, "b", 0700), 0);
    assert_int_equal(renameat(root, "0", root, "a/f"), 0);
    assert_int_equal(renameat(root, "1", root, "b/g"), 0);
    struct inode *dirs[2] = {look_up("a"), look_up("b")};
    struct inode *files[2] = {look_up_in(dirs[0], "f"), look_up_in(dirs[1], "g")};
    pthread_t threads[3];
    assert_int_equal(pthread_create(&threads[0], NULL, exchange, NULL), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, reach_files, files), 0);
    assert_int_equal(pthread_create(&threads[2], NULL, reach_files, files), 0);
    for (size_t i = 0; i < 3; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    for (size_t i = 0; i < 2; i++) {
        inode_forget(&table, files[i], 1);
        inode_forget(&table, dirs[i], 1);
    }
    assert_int_equal(table.n_inodes, 0);
}

static void test_inode__many_are_found_again_and_take_no_descriptors(void **state)
{
    (void)state;
    static struct inode *inodes[N_FILES];
    char name[16];
    make_files(N_FILES);
    for (size_t i = 0; i < N_FILES; i++) {
        snprintf(name, sizeof(name), "%zu", i);
        inodes[i] = look_up(name);
    }
    assert_int_equal(table.n_inodes, N_FILES);
    _cleanup_close_ int lowest = open("/dev/null", O_RDONLY);
    assert_true(lowest < 100);
    for (size_t i = 0; i < N_FILES; i++) {
        snprintf(name, sizeof(name), "%zu", i);
        assert_ptr_equal(look_up(name), inodes[i]);
        inode_forget(&table, inodes[i], 2);
    }
    assert_int_equal(table.n_inodes, 0);
}

/* Each with file handles, and without. */
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(test_inode__##name, set_up, tear_down),                        \
    {                                                                                              \
        "test_inode__by_name_" #name, test_inode__##name, set_up_by_name, tear_down, NULL          \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_names_of_a_file_are_one_inode),
        TEST(the_root_is_never_forgotten),
        TEST(it_is_reached_after_a_rename_and_not_after_the_last_unlink),
        TEST(what_lost_its_last_name_is_reached_until_it_is_forgotten),
        TEST(what_was_replaced_by_a_rename_is_reached),
        TEST(a_file_made_without_a_name_is_pinned_until_it_has_one),
        TEST(no_more_are_pinned_than_may_be),
        TEST(names_that_change_through_the_mount_are_followed),
        TEST(what_moved_beside_the_mount_is_found),
        cmocka_unit_test_setup_teardown(
            test_inode__what_is_searched_for_is_in_the_directory_searched, set_up_by_name,
            tear_down),
        cmocka_unit_test_setup_teardown(test_inode__others_remove_while_one_is_searched_for,
                                        set_up_by_name, tear_down),
        TEST(what_is_being_renamed_is_reached_as_is_what_has_to_be_found),
        cmocka_unit_test_setup_teardown(
            test_inode__what_is_renamed_while_it_is_searched_for_is_reached, set_up_by_name,
            tear_down),
        TEST(directories_moved_into_each_other_make_no_circle),
        TEST(one_deeper_than_any_path_is_reached_and_forgotten),
        TEST(the_kernel_is_known_to_be_told_until_the_file_changes),
        TEST(a_reply_that_tells_of_a_change_may_be_under_way),
        TEST(what_a_reply_told_of_a_change_holds_until_anything_changes),
        TEST(the_reply_that_made_it_has_arrived_when_another_is_told),
        TEST(the_reply_that_made_it_may_be_late_for_another_name),
        TEST(threads_that_look_up_and_forget_leave_nothing),
        TEST(threads_reach_what_others_rename),
        TEST(many_are_found_again_and_take_no_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
