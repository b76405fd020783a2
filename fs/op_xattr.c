#include "fs/ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/cleanup.h"
#include "fs/attributes.h"
#include "fs/identity.h"
#include "fs/views.h"

/* All by way of /proc, whose paths an O_PATH descriptor has too; the last link is not followed
 * further, so a symbolic link's own attributes are meant. */

static bool is_computed(const struct fs *fs, const char *name)
{
    return fs->index && attributes_is_name(name);
}

static bool is_access_list(const char *name)
{
    return strcmp(name, "system.posix_acl_access") == 0 ||
           strcmp(name, "system.posix_acl_default") == 0;
}

/* Whether the file system decides who may see and set it, as NFS does of system.nfs4_acl. Of all
 * others the kernel has decided; access control lists it reads for all, by whoever asks first. */
static bool is_of_file_system(const char *name)
{
    return strncmp(name, "system.", strlen("system.")) == 0 && !is_access_list(name);
}

static int do_getxattr(fuse_req_t req, struct inode *inode, const char *name, char *value,
                       size_t size)
{
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    int fd = borrow_fd(fs_of(req), inode, &borrowed);
    if (fd < 0)
        return fd;
    int r = is_of_file_system(name) ? identity_enter_alone(req) : 0;
    /* Where that cannot be, what is to be said of one that is not there. */
    ssize_t n_bytes = getxattr(proc_path_of(fd).text, name, value, r < 0 ? 0 : size);
    identity_leave();
    return n_bytes < 0 ? -errno : r < 0 ? r : (int)n_bytes;
}

/* Names of trusted attributes are for the privileged, which this process is and a caller need not
 * be. Returns how many bytes are left. */
static size_t drop_trusted(char *names, size_t n_bytes)
{
    size_t left = 0;
    for (size_t at = 0, length; at < n_bytes; at += length) {
        length = strlen(names + at) + 1;
        if (strncmp(names + at, "trusted.", strlen("trusted.")) != 0) {
            memmove(names + left, names + at, length);
            left += length;
        }
    }
    return left;
}

static int do_listxattr(struct fs *fs, struct inode *inode, char *names, size_t size)
{
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    int fd = borrow_fd(fs, inode, &borrowed);
    if (fd < 0)
        return fd;
    ssize_t n_bytes = listxattr(proc_path_of(fd).text, names, size);
    return n_bytes < 0 ? -errno : (int)n_bytes;
}

/* The value, or with size 0 its length. */
static void reply_value(fuse_req_t req, int n_bytes, const char *value, size_t size)
{
    if (n_bytes < 0)
        reply(req, n_bytes);
    else if (size == 0)
        fuse_reply_xattr(req, (size_t)n_bytes);
    else
        fuse_reply_buf(req, value, (size_t)n_bytes);
}

/* A file system without access control lists is to the kernel one where no file has one: told what
 * that file system says it would let nobody but the owner of a file have it. */
static int get_value(fuse_req_t req, struct inode *inode, const char *name, char *value,
                     size_t size)
{
    int r = do_getxattr(req, inode, name, value, size);
    return r == -EOPNOTSUPP && is_access_list(name) ? -ENODATA : r;
}

void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    if (view) {
        views_getxattr(fs, req, view, name, size);
        return;
    }
    if (is_computed(fs, name)) {
        attributes_get(fs, req, inode_of(fs, ino), name, size);
        return;
    }
    _cleanup_free_ char *value = size ? malloc(size) : NULL;
    int r = size && !value ? -ENOMEM : get_value(req, inode_of(fs, ino), name, value, size);
    reply_value(req, r, value, size);
}

void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    if (view) {
        views_listxattr(fs, req, view, size);
        return;
    }
    bool with_computed = fs->index && fs->options.list_xattr;
    bool sees_all = fuse_req_ctx(req)->uid == 0;
    size_t room = with_computed || !sees_all ? XATTR_LIST_MAX : size;
    _cleanup_free_ char *names = room ? malloc(room) : NULL;
    int r = room && !names ? -ENOMEM : do_listxattr(fs, inode_of(fs, ino), names, room);
    if (!sees_all && r > 0)
        r = (int)drop_trusted(names, (size_t)r);
    if (with_computed && r == -EOPNOTSUPP)
        r = 0;
    if (with_computed && r >= 0)
        attributes_list(fs, req, inode_of(fs, ino), names, (size_t)r, size);
    else
        reply_value(req, size && r > (int)size ? -ERANGE : r, names, size);
}

/* Setting an access control list takes away the sgid bit when the caller is not of the group. */
static bool keeps_sgid(fuse_req_t req, int fd, const char *name)
{
    struct stat st;
    return strcmp(name, "system.posix_acl_access") == 0 && fstat(fd, &st) == 0 &&
           identity_keeps_sgid(req, &st);
}

static int enter_change(fuse_req_t req, int fd, const char *name)
{
    return is_of_file_system(name) ? identity_enter_alone(req)
                                   : identity_enter_change(req, fd, false);
}

static int do_setxattr(fuse_req_t req, struct inode *inode, const char *name, const char *value,
                       size_t size, int flags)
{
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    if (is_computed(fs_of(req), name))
        return -EPERM;
    int fd = borrow_fd(fs_of(req), inode, &borrowed);
    if (fd < 0)
        return fd;
    bool raise = keeps_sgid(req, fd, name);
    int r = enter_change(req, fd, name);
    if (r < 0)
        return r;
    if (raise)
        identity_raise_fsetid();
    r = setxattr(proc_path_of(fd).text, name, value, size, flags) < 0 ? -errno : 0;
    if (raise)
        identity_lower_fsetid();
    identity_leave();
    return r;
}

void op_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
                 int flags)
{
    struct fs *fs = fs_of(req);
    reply(req, view_of(fs, ino) ? -EPERM
                                : do_setxattr(req, inode_of(fs, ino), name, value, size, flags));
}

static int do_removexattr(fuse_req_t req, struct inode *inode, const char *name)
{
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    if (is_computed(fs_of(req), name))
        return -EPERM;
    int fd = borrow_fd(fs_of(req), inode, &borrowed);
    if (fd < 0)
        return fd;
    int r = enter_change(req, fd, name);
    if (r < 0)
        return r;
    r = removexattr(proc_path_of(fd).text, name) < 0 ? -errno : 0;
    identity_leave();
    return r;
}

void op_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
    struct fs *fs = fs_of(req);
    reply(req, view_of(fs, ino) ? -EPERM : do_removexattr(req, inode_of(fs, ino), name));
}
