/* Directories are listed straight from the backing tree, at its own offsets, which stay valid while
 * names come and go. Behind its end the root lists the names of the views, unless they are hidden,
 * at offsets no file system uses for its entries.
 */
#include "fs/ops/ops.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mounts/mount_point.h"
#include "fs/inodes/identity.h"
#include "fs/views/views.h"
#include "fs/watch/watch.h"

/* The offset of the listing's tail: the next of view_names[]. Below INT64_MAX, which ext4 uses for
 * the end. */
#define TAIL_OFFSET (INT64_MAX - 64)

static const char *const view_names[] = {"clusters", "contains", "passages", "related",
                                         "similar",  "topics",   "unique",   "within"};
enum { N_VIEW_NAMES = sizeof(view_names) / sizeof(*view_names) };

/* Descriptors of an open directory; the one that is held may be shared. */
enum { DESCRIPTORS = 2 };

/* The kernel lets one thread at a time read an open directory. */
struct dir_handle {
    int fd;
    uid_t payer;   /* who has it of the room for descriptors */
    bool to_owner; /* root or the owner of the mount opened it, who is shown unique/, related/,
                      topics/ */
    struct inode_fd held; /* kept open, so that its attributes are there when it is removed */
    off_t offset;         /* where fd stands; -1: elsewhere */
};

static struct dir_handle *dir_handle_of(const struct fuse_file_info *fi)
{
    return (struct dir_handle *)(uintptr_t)fi->fh;
}

int dir_handle_fd(const struct fuse_file_info *fi)
{
    return dir_handle_of(fi)->fd;
}

static void dir_handle_free(struct fs *fs, struct dir_handle *dir)
{
    inode_close_paid(&fs->inodes, dir->fd, dir->payer, false);
    inode_return_fd_paid(&fs->inodes, &dir->held, dir->payer);
    free(dir);
}

static int do_opendir(fuse_req_t req, struct inode *inode, struct dir_handle **ret_dir)
{
    /* The listing is opened from what is held, which may be removed beside the mount in between. */
    _cleanup_inode_fd_ struct inode_fd held = INODE_FD_NONE;
    struct fs *fs = fs_of(req);
    int held_fd = borrow_fd(fs, inode, &held);
    int r = held_fd < 0 ? held_fd : identity_enter_judged(req, inode);
    if (r < 0)
        return r;
    _cleanup_close_ int fd = inode_reopen(&fs->inodes, inode, held_fd, O_RDONLY | O_DIRECTORY);
    identity_leave();
    if (fd < 0)
        return fd;
    struct dir_handle *dir = malloc(sizeof(*dir));
    if (!dir)
        return -ENOMEM;
    *dir = (struct dir_handle){.fd = TAKE_FD(fd), .held = held};
    held = INODE_FD_NONE;
    *ret_dir = dir;
    return 0;
}

void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    if (view) {
        views_opendir(fs, req, view, fi);
        return;
    }
    struct dir_handle *dir = NULL;
    uid_t payer;
    int r = fs_take_descriptors(req, DESCRIPTORS, &payer);
    if (r == 0) {
        r = do_opendir(req, inode_of(fs, ino), &dir);
        if (r < 0)
            user_room_leave(&fs->inodes.descriptors, payer, DESCRIPTORS);
    }
    if (r < 0) {
        reply(req, r);
        return;
    }
    dir->payer = payer;
    dir->to_owner = !views_unique_refuses(req);
    fi->fh = (uintptr_t)dir;
    /* A kernel that is told of changes may keep the listing too, where it is one for all. */
    fi->cache_readdir = fi->keep_cache =
        watch_entry_timeout_s(fs, inode_of(fs, ino)) > WATCH_SHORT_S &&
        !(inode_of(fs, ino) == fs->inodes.root &&
          (views_is_listed(fs, "unique", true) || views_is_listed(fs, "related", true) ||
           views_is_listed(fs, "topics", true)));
    if (fuse_reply_open(req, fi) == -ENOENT)
        dir_handle_free(fs, dir);
}

void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    if (view) {
        views_releasedir(fs, req, view, fi);
        return;
    }
    dir_handle_free(fs, dir_handle_of(fi));
    reply(req, 0);
}

/* A reply to be filled. */
struct listing {
    fuse_req_t req;
    struct fs *fs;
    char *data, *entries; /* entries: of getdents64(2) */
    size_t size, used;    /* of data; entries has as much room */
    bool plus;            /* entries are looked up */
    bool is_judged;       /* the thread is who asks */
};

/* True: there was room. next_offset: of the entry after this one. */
static bool add_name(struct listing *listing, const char *name, ino_t ino, mode_t type,
                     off_t next_offset)
{
    /* In a readdirplus, node id 0 says that nothing was looked up. */
    struct fuse_entry_param entry = {.attr = {.st_ino = ino, .st_mode = type}};
    char *at = listing->data + listing->used;
    size_t room = listing->size - listing->used;
    size_t needed = listing->plus
                        ? fuse_add_direntry_plus(listing->req, at, room, name, &entry, next_offset)
                        : fuse_add_direntry(listing->req, at, room, name, &entry.attr, next_offset);
    if (needed > room)
        return false;
    listing->used += needed;
    return true;
}

static bool add_looked_up(struct listing *listing, const char *name,
                          const struct fuse_entry_param *entry, off_t next_offset)
{
    size_t room = listing->size - listing->used;
    size_t needed = fuse_add_direntry_plus(listing->req, listing->data + listing->used, room, name,
                                           entry, next_offset);
    if (needed > room) {
        inode_forget(&listing->fs->inodes, inode_of(listing->fs, entry->ino), 1);
        return false;
    }
    listing->used += needed;
    return true;
}

static bool is_hidden(struct fs *fs, const struct inode *parent, int dirfd,
                      const struct dirent64 *entry)
{
    struct file_key key;
    if (is_own_name(fs, parent, entry->d_name))
        return true;
    /* The d_ino of a mount point is that of what lies below it; a store is seldom one. */
    return fs->store_key.size_bytes && entry->d_ino == fs->store_ino &&
           backing_key_at(fs->backing, dirfd, entry->d_name, &key) == 0 &&
           file_key_equal(&key, &fs->store_key);
}

/* True: added or left out; false: no room. */
static bool add_entry(struct listing *listing, struct inode *parent, int dirfd,
                      const struct dirent64 *entry)
{
    const char *name = entry->d_name;
    mode_t type = DTTOIF(entry->d_type);
    ino_t ino = inode_number(parent, entry->d_ino);
    bool is_dot = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    if (is_hidden(listing->fs, parent, dirfd, entry))
        return true;
    /* A file system that judges is asked about each entry when that is looked up. */
    if (!listing->plus || is_dot || listing->is_judged)
        return add_name(listing, name, ino, type, entry->d_off);
    struct fuse_entry_param looked_up;
    int r = make_entry(listing->req, parent, dirfd, name, &looked_up);
    if (r == -ENOENT || r == -ESTALE)
        return true; /* gone since */
    if (r < 0)
        return add_name(listing, name, ino, type, entry->d_off);
    return add_looked_up(listing, name, &looked_up, entry->d_off);
}

/* The names of the views, those the tree has not itself. */
static void add_tail(struct listing *listing, const struct dir_handle *dir, size_t first)
{
    struct statx st;
    for (size_t i = first; i < N_VIEW_NAMES; i++) {
        const char *name = view_names[i];
        if (!views_is_listed(listing->fs, name, dir->to_owner) ||
            mount_point_stat(dir->fd, name, &st) == 0)
            continue;
        if (!add_name(listing, name, views_root_ino(name), S_IFDIR, TAIL_OFFSET + (off_t)i + 1))
            return;
    }
}

/* Reads entries that surely fit into the reply, so that the descriptor need not go back:
 * getdents64(2) gives each 24 bytes at the least, and the reply 8 more at the most, beside what a
 * readdirplus says of it. Where no first one is so short, it has all the room. As getdents64(2), or
 * a negative errno.
 */
static ssize_t read_entries(const struct listing *listing, int fd)
{
    const size_t room = listing->size - listing->used;
    const size_t more = 8 + (listing->plus ? sizeof(struct fuse_entry_out) : 0);
    ssize_t n_bytes = getdents64(fd, listing->entries, room * 24 / (24 + more));
    if (n_bytes < 0 && errno == EINVAL && !listing->used)
        n_bytes = getdents64(fd, listing->entries, room);
    return n_bytes < 0 ? -errno : n_bytes;
}

/* In a directory without a name no place is one that ext4 goes to, though none is a wrong one. */
static int go_to(int fd, off_t offset)
{
    struct stat st;
    if (lseek(fd, offset, SEEK_SET) >= 0)
        return 0;
    const int error = errno;
    return error == EINVAL && fstat(fd, &st) == 0 && st.st_nlink == 0 ? -ENOENT : -error;
}

static int fill(struct listing *listing, struct inode *inode, struct dir_handle *dir, off_t offset)
{
    bool has_tail = inode == listing->fs->inodes.root && views_are_listed(listing->fs);
    if (has_tail && offset >= TAIL_OFFSET && offset <= TAIL_OFFSET + N_VIEW_NAMES) {
        add_tail(listing, dir, (size_t)(offset - TAIL_OFFSET));
        return 0;
    }
    int r = offset != dir->offset ? go_to(dir->fd, offset) : 0;
    if (r < 0)
        return r;
    dir->offset = offset;
    /* For the last few names it is not asked again. */
    while (listing->used <= listing->size / 16 * 15) {
        ssize_t n_bytes = read_entries(listing, dir->fd);
        if (n_bytes < 0)
            return listing->used ? 0 : (int)n_bytes;
        if (n_bytes == 0) {
            if (has_tail)
                add_tail(listing, dir, 0);
            return 0;
        }
        const struct dirent64 *entry;
        for (char *at = listing->entries; at < listing->entries + n_bytes; at += entry->d_reclen) {
            entry = (const struct dirent64 *)at;
            if (!add_entry(listing, inode, dir->fd, entry)) {
                dir->offset = -1;
                return 0;
            }
            dir->offset = entry->d_off;
        }
    }
    return 0;
}

static void list(fuse_req_t req, struct inode *inode, size_t size, off_t offset,
                 const struct fuse_file_info *fi, bool plus)
{
    _cleanup_free_ char *data = malloc(size), *entries = malloc(size);
    struct listing listing = {.req = req,
                              .fs = fs_of(req),
                              .data = data,
                              .entries = entries,
                              .size = size,
                              .plus = plus,
                              .is_judged = identity_is_judged(req, inode)};
    int r = data && entries ? identity_enter_judged(req, inode) : -ENOMEM;
    if (r == 0)
        r = fill(&listing, inode, dir_handle_of(fi), offset);
    identity_leave();
    if (r < 0)
        reply(req, r);
    else
        fuse_reply_buf(req, data, listing.used);
}

void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    if (view)
        views_readdir(fs, req, view, size, offset, fi);
    else
        list(req, inode_of(fs, ino), size, offset, fi, false);
}

void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                    struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    if (view)
        views_readdirplus(fs, req, view, size, offset, fi);
    else
        list(req, inode_of(fs, ino), size, offset, fi, true);
}
