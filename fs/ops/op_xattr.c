#include "fs/ops/ops.h"

#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/cleanup.h"
#include "fs/views/attribute_text.h"
#include "fs/views/attributes.h"
#include "fs/inodes/identity.h"
#include "fs/inodes/inode_path.h"
#include "fs/views/views.h"

/* All by way of /proc, whose paths an O_PATH descriptor has too; the last link is not followed
 * further, so a symbolic link's own attributes are meant. */

/* True: the daemon's, whatever the tree has. In a mount without an index those of the root alone,
 * which are to say nothing that the tree's owner has set: the commands believe them. */
static bool is_computed(const struct fs *fs, const struct inode *inode, const char *name)
{
    return attributes_is_name(name) && (fs->index || inode == fs->inodes.root);
}

static bool is_access_list(const char *name)
{
    return strcmp(name, "system.posix_acl_access") == 0 ||
           strcmp(name, "system.posix_acl_default") == 0;
}

/* True: the file system decides who may see and set it, as NFS does of system.nfs4_acl. For all
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
    const bool is_judged = identity_is_judged(req, inode) && !is_access_list(name);
    int r = is_judged                 ? identity_enter_judged(req, inode)
            : is_of_file_system(name) ? identity_enter_alone(req)
                                      : 0;
    if (is_judged && r < 0)
        return r;
    /* A caller that cannot be acted as gets the error of an attribute that is not there. */
    ssize_t n_bytes = getxattr(proc_path_of(fd).text, name, value, r < 0 ? 0 : size);
    identity_leave();
    return n_bytes < 0 ? -errno : r < 0 ? r : (int)n_bytes;
}

/* True: the kernel would give a program these rights, which its own mount keeps it from (nosuid);
 * the kernel looks at the flags of kinfs' mount alone. */
static bool is_denied(struct fs *fs, const struct inode *inode, const char *name)
{
    return strcmp(name, "security.capability") == 0 &&
           backing_key_denies(fs->backing, &inode->key) & ST_NOSUID;
}

/* Names of trusted attributes are for the privileged, which this process is and a caller need not
 * be (sees_all); of the daemon's names the tree's say nothing (computed). Returns how many bytes
 * are left. */
static size_t drop_hidden(struct fs *fs, const struct inode *inode, bool sees_all, bool computed,
                          char *names, size_t n_bytes)
{
    size_t left = 0;
    for (size_t at = 0, length; at < n_bytes; at += length) {
        length = strlen(names + at) + 1;
        if ((sees_all || strncmp(names + at, "trusted.", strlen("trusted.")) != 0) &&
            !(computed && attributes_is_name(names + at)) && !is_denied(fs, inode, names + at)) {
            memmove(names + left, names + at, length);
            left += length;
        }
    }
    return left;
}

static int do_listxattr(fuse_req_t req, struct inode *inode, char *names, size_t size)
{
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    int fd = borrow_fd(fs_of(req), inode, &borrowed);
    int r = fd < 0 ? fd : identity_enter_judged(req, inode);
    if (r < 0)
        return r;
    ssize_t n_bytes = listxattr(proc_path_of(fd).text, names, size);
    identity_leave();
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
    if (is_denied(fs_of(req), inode, name))
        return -ENODATA;
    int r = do_getxattr(req, inode, name, value, size);
    return r == -EOPNOTSUPP && is_access_list(name) ? -ENODATA : r;
}

/* True: it was removed beside the mount, and the kernel not told yet; a name that led here may lead
 * to another document by now, for which the kernel is to look. */
static bool is_replaced(struct fs *fs, struct inode *inode)
{
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    struct stat st;
    int fd = borrow_fd(fs, inode, &borrowed);
    if (fd < 0)
        return fd == -ESTALE;
    if (fstat(fd, &st) < 0 || st.st_nlink) {
        gone_over(&fs->inodes.gone);
        return false;
    }
    /* As long as somebody has it open it opens by its key. */
    if (borrowed.file || inode_is_pinned(&fs->inodes, inode) ||
        gone_is_back(&fs->inodes.gone, inode))
        return false;
    gone_tell(&fs->inodes.gone, inode);
    return true;
}

void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    struct inode *inode;
    int found = find_seen(req, ino, &inode);
    if (found < 0) {
        reply(req, found);
        return;
    }
    if (!inode && !is_access_list(name)) {
        views_getxattr(fs, req, view, name, size);
        return;
    }
    if (inode && is_computed(fs, inode, name)) {
        if (view)
            reply(req, -ENODATA); /* what is said of the root is said of the mount's */
        else if (is_replaced(fs, inode))
            reply(req, -ESTALE);
        else
            attributes_get(fs, req, inode, name, size);
        return;
    }
    _cleanup_free_ char *value = size ? malloc(size) : NULL;
    int r;
    if (size && !value)
        r = -ENOMEM;
    else if (!inode)
        r = views_access_list(fs, view, name, value, size);
    else
        r = get_value(req, inode, name, value, size);
    if ((r == -ENODATA || r == -EOPNOTSUPP) && inode && attributes_may_add(fs, inode, name))
        attributes_get(fs, req, inode, name, size);
    else
        reply_value(req, r, value, size);
}

void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    struct inode *inode;
    int found = find_seen(req, ino, &inode);
    if (found < 0) {
        reply(req, found);
        return;
    }
    if (!inode) {
        views_listxattr(fs, req, view, size);
        return;
    }
    bool with_computed = !view && fs->index && fs->options.list_xattr;
    bool sees_all = fuse_req_ctx(req)->uid == 0,
         without_computed = is_computed(fs, inode, ATTRIBUTE_PREFIX);
    bool hides =
        !sees_all || without_computed || backing_key_denies(fs->backing, &inode->key) & ST_NOSUID;
    size_t room = with_computed || hides ? XATTR_LIST_MAX : size;
    _cleanup_free_ char *names = room ? malloc(room) : NULL;
    int r = room && !names ? -ENOMEM : do_listxattr(req, inode, names, room);
    if (hides && r > 0)
        r = (int)drop_hidden(fs, inode, sees_all, without_computed, names, (size_t)r);
    if (with_computed && r == -EOPNOTSUPP)
        r = 0;
    if (with_computed && r >= 0)
        attributes_list(fs, req, inode, names, (size_t)r, size);
    else
        reply_value(req, size && r > (int)size ? -ERANGE : r, names, size);
}

/* Setting an access control list takes away the sgid bit when the caller is not of the group. */
static bool may_lose_sgid(int fd, const char *name)
{
    struct stat st;
    return strcmp(name, "system.posix_acl_access") == 0 && fstat(fd, &st) == 0 &&
           st.st_mode & S_ISGID;
}

struct xattr_change {
    struct change_fds fds;
    const char *name, *value;
    size_t size;
    int flags;
};

/* One as the caller, of whom a file system that decides by itself is to see no capability. */
static int change_as_caller(fuse_req_t req, const struct inode *inode, bool with_sgid,
                            change_fn *make, const struct xattr_change *change)
{
    if (!is_of_file_system(change->name) || identity_is_judged(req, inode))
        return identity_change(req, inode, &change->fds, false, with_sgid, make, change);
    int r = identity_enter_alone(req);
    if (r < 0)
        return r;
    r = make(&change->fds, change, NULL);
    identity_leave();
    return r;
}

/* An access control list with the ids of a namespace; the kernel has bounded it by a page. */
struct access_list {
    struct posix_acl_xattr_header header;
    struct posix_acl_xattr_entry entries[4096 / sizeof(struct posix_acl_xattr_entry)];
};

static int translate(const struct xattr_change *change, const struct capable_ids *ids,
                     struct access_list *ret_list)
{
    const size_t header_bytes = sizeof(ret_list->header);
    if (change->size > sizeof(*ret_list))
        return -E2BIG;
    if (change->size < header_bytes)
        return -EINVAL;
    memcpy(ret_list, change->value, change->size);
    struct posix_acl_xattr_entry *entry = ret_list->entries,
                                 *end = entry + (change->size - header_bytes) / sizeof(*entry);
    for (; entry < end; entry++) {
        const uint16_t tag = le16toh(entry->e_tag);
        if (tag != ACL_USER && tag != ACL_GROUP)
            continue;
        const uint32_t id = le32toh(entry->e_id),
                       there = tag == ACL_USER ? capable_uid(ids, id) : capable_gid(ids, id);
        if (there == (uint32_t)-1)
            return -EINVAL;
        entry->e_id = htole32(there);
    }
    return 0;
}

static int set(const struct change_fds *fds, const void *what, const struct capable_ids *ids)
{
    const struct xattr_change *change = what;
    const struct proc_path path = proc_path_of(fds->fd);
    const void *value = change->value;
    struct access_list list;
    int r = 0;
    if (ids && is_access_list(change->name)) {
        r = translate(change, ids, &list);
        value = &list;
    }
    if (r == 0 && setxattr(path.text, change->name, value, change->size, change->flags) < 0)
        r = -errno;
    return r;
}

static int do_setxattr(fuse_req_t req, struct inode *inode, const char *name, const char *value,
                       size_t size, int flags)
{
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    if (is_computed(fs_of(req), inode, name))
        return -EPERM;
    int fd = borrow_fd(fs_of(req), inode, &borrowed);
    if (fd < 0)
        return fd;
    const struct xattr_change change = {
        .fds = change_of(fd), .name = name, .value = value, .size = size, .flags = flags};
    return change_as_caller(req, inode, may_lose_sgid(fd, name), set, &change);
}

void op_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
                 int flags)
{
    struct fs *fs = fs_of(req);
    reply(req, view_of(fs, ino) ? -EPERM
                                : do_setxattr(req, inode_of(fs, ino), name, value, size, flags));
}

static int remove_one(const struct change_fds *fds, const void *what, const struct capable_ids *ids)
{
    const struct xattr_change *change = what;
    (void)ids;
    return removexattr(proc_path_of(fds->fd).text, change->name) < 0 ? -errno : 0;
}

static int do_removexattr(fuse_req_t req, struct inode *inode, const char *name)
{
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    if (is_computed(fs_of(req), inode, name))
        return -EPERM;
    int fd = borrow_fd(fs_of(req), inode, &borrowed);
    if (fd < 0)
        return fd;
    const struct xattr_change change = {.fds = change_of(fd), .name = name};
    return change_as_caller(req, inode, false, remove_one, &change);
}

void op_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
    struct fs *fs = fs_of(req);
    reply(req, view_of(fs, ino) ? -EPERM : do_removexattr(req, inode_of(fs, ino), name));
}
