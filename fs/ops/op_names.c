#include "fs/ops/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mounts/mount_point.h"
#include "fs/callers/caller.h"
#include "fs/inodes/identity.h"
#include "fs/inodes/inode_path.h"
#include "fs/inodes/notice.h"
#include "fs/views/views.h"

int check_name(struct fs *fs, const struct inode *parent, int parent_fd, const char *name)
{
    struct statx st;
    if (is_own_name(fs, parent, name))
        return -EPERM;
    if (parent != fs->inodes.root || !views_is_root_name(fs, name))
        return 0;
    /* A name that the tree has is the tree's. */
    return mount_point_stat(parent_fd, name, &st) < 0 ? -EPERM : 0;
}

/* The descriptor of a directory in which a name is about to change. */
static int borrow_parent(struct fs *fs, fuse_ino_t parent, const char *name,
                         struct inode_fd *ret_fd)
{
    if (view_of(fs, parent))
        return -EROFS;
    int fd = borrow_fd(fs, inode_of(fs, parent), ret_fd);
    if (fd < 0)
        return fd;
    int r = check_name(fs, inode_of(fs, parent), fd, name);
    return r < 0 ? r : fd;
}

/* The new file at a name is told to the index, and made an entry of. Replaced beside the mount
 * since by what is of another type, it is gone: the kernel would call that an input/output error.
 */
static int made(fuse_req_t req, fuse_ino_t parent, int dirfd, const char *name, mode_t type,
                struct fuse_entry_param *ret_entry)
{
    struct fs *fs = fs_of(req);
    notice_entry(req, inode_of(fs, parent), name);
    int r = make_entry(req, inode_of(fs, parent), dirfd, name, ret_entry);
    if (r == 0 && ((ret_entry->attr.st_mode ^ type) & S_IFMT)) {
        inode_forget(&fs->inodes, inode_of(fs, ret_entry->ino), 1);
        return -ENOENT;
    }
    return make_short(r, ret_entry);
}

static int do_mknod(struct fs *fs, fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
                    dev_t rdev, struct fuse_entry_param *ret_entry)
{
    _cleanup_inode_fd_ struct inode_fd dir = INODE_FD_NONE;
    int dirfd = borrow_parent(fs, parent, name, &dir);
    if (dirfd < 0)
        return dirfd;
    int r = identity_enter(req, inode_of(fs, parent), mode);
    if (r < 0)
        return r;
    r = S_ISDIR(mode) ? mkdirat(dirfd, name, mode & 07777) : mknodat(dirfd, name, mode, rdev);
    identity_leave();
    mode_t type = mode & S_IFMT ? mode & S_IFMT : S_IFREG;
    return r < 0 ? -errno : made(req, parent, dirfd, name, type, ret_entry);
}

void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
    struct fuse_entry_param entry;
    int r = do_mknod(fs_of(req), req, parent, name, mode, rdev, &entry);
    reply_entry(req, r, &entry);
}

void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
    op_mknod(req, parent, name, S_IFDIR | (mode & 07777), 0);
}

static int do_symlink(struct fs *fs, fuse_req_t req, const char *target, fuse_ino_t parent,
                      const char *name, struct fuse_entry_param *ret_entry)
{
    _cleanup_inode_fd_ struct inode_fd dir = INODE_FD_NONE;
    int dirfd = borrow_parent(fs, parent, name, &dir);
    if (dirfd < 0)
        return dirfd;
    int r = identity_enter(req, inode_of(fs, parent), 0);
    if (r < 0)
        return r;
    r = symlinkat(target, dirfd, name);
    identity_leave();
    return r < 0 ? -errno : made(req, parent, dirfd, name, S_IFLNK, ret_entry);
}

void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
    struct fuse_entry_param entry;
    int r = do_symlink(fs_of(req), req, target, parent, name, &entry);
    reply_entry(req, r, &entry);
}

/* By way of /proc, since AT_EMPTY_PATH needs CAP_DAC_READ_SEARCH; what is followed is that link
 * alone, also to a symbolic link. */
static int make_link(const struct change_fds *fds, const void *name, const struct capable_ids *ids)
{
    const struct proc_path path = proc_path_of(fds->fd);
    (void)ids;
    return linkat(AT_FDCWD, path.text, fds->other_fd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* The right to link what belongs to another (fs.protected_hardlinks) was decided by the kernel by
 * the owner and mode that it last knew: it decides once more, by those that the file has. */
static int link_as_caller(fuse_req_t req, const struct inode *file, const struct inode *parent,
                          const struct change_fds *fds, const char *name)
{
    struct stat st;
    if (!identity_can_switch() || !caller_is_restricted(fuse_req_ctx(req)->uid) ||
        identity_is_judged(req, parent)) {
        int r = identity_enter(req, parent, 0);
        if (r == 0)
            r = make_link(fds, name, NULL);
        identity_leave();
        return r;
    }
    if (fstat(fds->fd, &st) < 0)
        return -errno;
    int r = identity_move(req, st.st_uid != fuse_req_ctx(req)->uid, fds, make_link, name);
    return identity_again(req, file, r, fds, make_link, name);
}

static int do_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name,
                   struct fuse_entry_param *ret_entry)
{
    struct fs *fs = fs_of(req);
    _cleanup_inode_fd_ struct inode_fd dir = INODE_FD_NONE;
    _cleanup_inode_fd_ struct inode_fd file = INODE_FD_NONE;
    if (view_of(fs, ino))
        return -EROFS;
    int dirfd = borrow_parent(fs, parent, name, &dir);
    if (dirfd < 0)
        return dirfd;
    int fd = borrow_fd(fs, inode_of(fs, ino), &file);
    if (fd < 0)
        return fd;
    const struct change_fds fds = {.fd = fd, .other_fd = dirfd};
    int r = link_as_caller(req, inode_of(fs, ino), inode_of(fs, parent), &fds, name);
    if (r < 0)
        return r;
    inode_path_linked(&fs->inodes, inode_of(fs, ino));
    return made(req, parent, dirfd, name, inode_of(fs, ino)->type, ret_entry);
}

void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
    struct fuse_entry_param entry;
    int r = do_link(req, ino, parent, name, &entry);
    reply_entry(req, r, &entry);
}

struct removal {
    const char *name;
    int flags;
};

static int remove_name(const struct change_fds *fds, const void *what,
                       const struct capable_ids *ids)
{
    const struct removal *removal = what;
    (void)ids;
    return unlinkat(fds->fd, removal->name, removal->flags) < 0 ? -errno : 0;
}

static int do_unlink(fuse_req_t req, fuse_ino_t parent, const char *name, int flags)
{
    struct fs *fs = fs_of(req);
    _cleanup_inode_fd_ struct inode_fd dir = INODE_FD_NONE;
    int dirfd = borrow_parent(fs, parent, name, &dir);
    if (dirfd < 0)
        return dirfd;
    struct inode_change change;
    inode_removal_begin(&fs->inodes, dirfd, name, &change);
    const struct change_fds fds = change_of(dirfd);
    const struct removal removal = {.name = name, .flags = flags};
    int r = identity_enter_removal(req, inode_of(fs, parent), dirfd, dirfd);
    if (r == 0)
        r = remove_name(&fds, &removal, NULL);
    identity_leave();
    r = identity_again(req, inode_of(fs, parent), r, &fds, remove_name, &removal);
    inode_removal_end(&fs->inodes, &change, inode_of(fs, parent), name, r == 0);
    if (r < 0)
        return r;
    notice_entry(req, inode_of(fs, parent), name);
    return 0;
}

void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    reply(req, do_unlink(req, parent, name, 0));
}

void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    reply(req, do_unlink(req, parent, name, AT_REMOVEDIR));
}

struct renaming {
    const struct inode *old_parent;
    struct change_fds fds; /* of the old and the new directory */
    const char *old_name, *new_name;
    unsigned flags;
};

static int rename_name(const struct change_fds *fds, const void *what,
                       const struct capable_ids *ids)
{
    const struct renaming *name = what;
    (void)ids;
    int r = renameat2(fds->fd, name->old_name, fds->other_fd, name->new_name, name->flags);
    return r < 0 ? -errno : 0;
}

static int rename_in_place(fuse_req_t req, const struct renaming *renaming)
{
    int r =
        identity_enter_removal(req, renaming->old_parent, renaming->fds.fd, renaming->fds.other_fd);
    if (r == 0)
        r = rename_name(&renaming->fds, renaming, NULL);
    identity_leave();
    return r;
}

/* A name is of a directory, but not the caller's. */
static bool is_others_directory(fuse_req_t req, int dirfd, const char *name)
{
    struct statx st;
    return mount_point_stat(dirfd, name, &st) == 0 && S_ISDIR(st.stx_mode) &&
           st.stx_uid != fuse_req_ctx(req)->uid;
}

/* A process that cannot act as others moves no directory for them. */
static int rename_between(fuse_req_t req, const struct renaming *renaming)
{
    if (!caller_is_restricted(fuse_req_ctx(req)->uid) ||
        identity_is_judged(req, renaming->old_parent))
        return rename_in_place(req, renaming);
    bool is_others = is_others_directory(req, renaming->fds.fd, renaming->old_name) ||
                     (renaming->flags & RENAME_EXCHANGE &&
                      is_others_directory(req, renaming->fds.other_fd, renaming->new_name));
    return is_others || identity_can_switch()
               ? identity_move(req, is_others, &renaming->fds, rename_name, renaming)
               : rename_in_place(req, renaming);
}

static int do_rename(struct fs *fs, fuse_req_t req, fuse_ino_t old_parent, const char *old_name,
                     fuse_ino_t new_parent, const char *new_name, unsigned flags)
{
    _cleanup_inode_fd_ struct inode_fd old_dir = INODE_FD_NONE;
    _cleanup_inode_fd_ struct inode_fd new_dir = INODE_FD_NONE;
    int old_fd = borrow_parent(fs, old_parent, old_name, &old_dir);
    if (old_fd < 0)
        return old_fd;
    int new_fd = borrow_parent(fs, new_parent, new_name, &new_dir);
    if (new_fd < 0)
        return new_fd;
    struct inode_change change;
    inode_rename_begin(&fs->inodes, old_fd, old_name, new_fd, new_name, &change);
    const struct renaming renaming = {.old_parent = inode_of(fs, old_parent),
                                      .fds = {.fd = old_fd, .other_fd = new_fd},
                                      .old_name = old_name,
                                      .new_name = new_name,
                                      .flags = flags};
    int r =
        old_parent == new_parent ? rename_in_place(req, &renaming) : rename_between(req, &renaming);
    r = identity_again(req, inode_of(fs, old_parent), r, &renaming.fds, rename_name, &renaming);
    inode_rename_end(&fs->inodes, &change, inode_of(fs, old_parent), old_name,
                     inode_of(fs, new_parent), new_name, flags, r == 0);
    if (r < 0)
        return r;
    notice_rename(req, inode_of(fs, old_parent), old_name, inode_of(fs, new_parent), new_name);
    return 0;
}

void op_rename(fuse_req_t req, fuse_ino_t old_parent, const char *old_name, fuse_ino_t new_parent,
               const char *new_name, unsigned flags)
{
    reply(req, do_rename(fs_of(req), req, old_parent, old_name, new_parent, new_name, flags));
}
