#include "fs/ops/ops.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "fs/inodes/identity.h"
#include "fs/views/views.h"
#include "fs/watch/watch.h"

double lasting_s(double timeout_s, mode_t mode)
{
    return S_ISREG(mode) && mode & (S_ISUID | S_ISGID) ? 0 : timeout_s;
}

void hide_denied(struct fs *fs, const struct inode *inode, struct stat *st)
{
    const unsigned long denied = backing_key_denies(fs->backing, &inode->key);
    st->st_mode = mode_told(denied, st->st_mode);
    if (denied & ST_NODEV)
        st->st_rdev = 0;
}

static int fill_entry(struct fs *fs, struct inode *parent, struct inode *inode,
                      const struct stat *st, struct fuse_entry_param *ret_entry)
{
    if (fs->store_key.size_bytes && st->st_ino == fs->store_ino &&
        file_key_equal(&inode->key, &fs->store_key)) {
        inode_forget(&fs->inodes, inode, 1);
        return -ENOENT;
    }
    inode_tell_entry(&fs->inodes, inode, parent, st);
    *ret_entry = (struct fuse_entry_param){
        .ino = ino_of(fs, inode),
        .attr = *st,
        .attr_timeout = lasting_s(watch_attr_timeout_s(fs, inode), st->st_mode),
        .entry_timeout = watch_entry_timeout_s(fs, parent)};
    ret_entry->attr.st_ino = inode_number(inode, st->st_ino);
    hide_denied(fs, inode, &ret_entry->attr);
    return 0;
}

int make_entry(fuse_req_t req, struct inode *parent, int dirfd, const char *name,
               struct fuse_entry_param *ret_entry)
{
    struct fs *fs = fs_of(req);
    struct inode *inode;
    struct stat st;
    int r = identity_enter_judged(req, parent);
    int fd = r < 0 ? r : inode_open_name(&fs->inodes, dirfd, name);
    identity_leave();
    r = fd < 0 ? fd : inode_lookup(&fs->inodes, parent, name, fd, &inode, &st);
    return r < 0 ? r : fill_entry(fs, parent, inode, &st, ret_entry);
}

int make_entry_fd(struct fs *fs, struct inode *parent, const char *name, int fd,
                  struct fuse_entry_param *ret_entry)
{
    struct inode *inode;
    struct stat st;
    int r = inode_lookup_fd(&fs->inodes, parent, name, fd, &inode, &st);
    return r < 0 ? r : fill_entry(fs, parent, inode, &st, ret_entry);
}

int make_short(int r, struct fuse_entry_param *entry)
{
    if (r == 0)
        entry->attr_timeout = lasting_s(WATCH_SHORT_S, entry->attr.st_mode);
    return r;
}

void reply_entry(fuse_req_t req, int r, const struct fuse_entry_param *entry)
{
    struct fs *fs = fs_of(req);
    if (r < 0)
        reply(req, r);
    else if (fuse_reply_entry(req, entry) == -ENOENT)
        inode_forget(&fs->inodes, inode_of(fs, entry->ino), 1);
}

static int do_lookup(fuse_req_t req, struct inode *parent, const char *name,
                     struct fuse_entry_param *ret_entry)
{
    _cleanup_inode_fd_ struct inode_fd dir = INODE_FD_NONE;
    /* Only an NFS server asks for these, which we do not support; ".." of the root would be a
     * directory outside of the tree. */
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return -ESTALE;
    int dirfd = borrow_fd(fs_of(req), parent, &dir);
    return dirfd < 0 ? dirfd : make_entry(req, parent, dirfd, name, ret_entry);
}

/* That there is no such name may be kept, too: compilers and git ask for many. */
static void reply_nothing(fuse_req_t req, double timeout_s)
{
    const struct fuse_entry_param nothing = {.entry_timeout = timeout_s};
    fuse_reply_entry(req, &nothing);
}

static void lookup_unique(fuse_req_t req, struct view_node *parent, struct inode *dir,
                          const char *name)
{
    struct fuse_entry_param entry;
    gone_ask_name(name);
    int r = is_own_name(fs_of(req), dir, name) ? -ENOENT : do_lookup(req, dir, name, &entry);
    if (r < 0)
        reply(req, r);
    else
        views_unique_reply(fs_of(req), req, parent, name, &entry);
}

void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, parent);
    struct inode *dir;
    int r = find_seen(req, parent, &dir);
    if (r < 0) {
        reply(req, r);
        return;
    }
    if (view && dir && !views_unique_is_own(view, name)) {
        lookup_unique(req, view, dir, name);
        return;
    }
    if (view) {
        views_lookup(fs, req, view, name);
        return;
    }
    gone_ask_name(name);
    bool is_own = is_own_name(fs, dir, name);
    bool is_view_name = is_own || (dir == fs->inodes.root && views_is_root_name(fs, name));
    struct fuse_entry_param entry;
    double timeout_s = watch_entry_timeout_s(fs, dir);
    r = -ENOENT;
    if (!is_own)
        r = do_lookup(req, dir, name, &entry);
    if (r == -ENOENT && is_view_name)
        views_lookup_root(fs, req, name);
    else if (r == -ENOENT && timeout_s > WATCH_SHORT_S)
        reply_nothing(req, timeout_s);
    else
        reply_entry(req, r, &entry);
}

static void forget(struct fs *fs, fuse_ino_t ino, uint64_t n_lookups)
{
    struct view_node *view = view_of(fs, ino);
    if (view)
        views_forget(fs, view, n_lookups);
    else
        inode_forget(&fs->inodes, inode_of(fs, ino), n_lookups);
}

void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n_lookups)
{
    forget(fs_of(req), ino, n_lookups);
    fuse_reply_none(req);
}

void op_forget_multi(fuse_req_t req, size_t n_forgets, struct fuse_forget_data *forgets)
{
    for (size_t i = 0; i < n_forgets; i++)
        forget(fs_of(req), forgets[i].ino, forgets[i].nlookup);
    fuse_reply_none(req);
}
