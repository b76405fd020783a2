/* The operations of the mount, by noun, one function for each of struct fuse_lowlevel_ops.
 *
 * Each does exactly one reply. What is asked of a node of the views is handed to them; what would
 * change one is refused (EROFS, of attributes EPERM). An operation is reply_*(req, do_x(...)).
 */
#ifndef KINFS_FS_OPS_OPS_H
#define KINFS_FS_OPS_OPS_H

#include <string.h>
#include <sys/statvfs.h>

#include "fs/state.h"
#include "fs/views/views.h"

/* lookups, and their end: fs/ops/op_lookup.c */
void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t n_lookups);
void op_forget_multi(fuse_req_t req, size_t n_forgets, struct fuse_forget_data *forgets);

/* attributes of inodes: fs/ops/op_attr.c; fs/ops/op_statx.c, where libfuse has it
 * (KINFS_HAVE_STATX) */
void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
                struct fuse_file_info *fi);
void op_statx(fuse_req_t req, fuse_ino_t ino, int flags, int mask, struct fuse_file_info *fi);
void op_readlink(fuse_req_t req, fuse_ino_t ino);
void op_statfs(fuse_req_t req, fuse_ino_t ino);

/* names: fs/ops/op_names.c */
void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev);
void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name);
void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name);
void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name);
void op_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name);
void op_rename(fuse_req_t req, fuse_ino_t old_parent, const char *old_name, fuse_ino_t new_parent,
               const char *new_name, unsigned flags);

/* files: fs/ops/op_file.c (open and close), fs/ops/op_io.c */
void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
               struct fuse_file_info *fi);
void op_tmpfile(fuse_req_t req, fuse_ino_t parent, mode_t mode, struct fuse_file_info *fi);
void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);
void op_write_buf(fuse_req_t req, fuse_ino_t ino, struct fuse_bufvec *in, off_t offset,
                  struct fuse_file_info *fi);
void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);
void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length,
                  struct fuse_file_info *fi);
void op_copy_file_range(fuse_req_t req, fuse_ino_t in, off_t in_offset,
                        struct fuse_file_info *in_fi, fuse_ino_t out, off_t out_offset,
                        struct fuse_file_info *out_fi, size_t size, int flags);
void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence, struct fuse_file_info *fi);
void op_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned cmd, void *arg, struct fuse_file_info *fi,
              unsigned flags, const void *in, size_t in_bytes, size_t out_bytes);

/* directories: fs/ops/op_dir.c */
void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                struct fuse_file_info *fi);
void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                    struct fuse_file_info *fi);
void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);
int dir_handle_fd(const struct fuse_file_info *fi);

/* extended attributes: fs/ops/op_xattr.c */
void op_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
                 int flags);
void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);
void op_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name);

/* locks: fs/ops/op_lock.c */
void op_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock);
void op_setlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock,
              int sleep);
void op_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int op);

/* Shared by them. */

/* The view node a request is about, or NULL: it is of the tree. */
static inline struct view_node *view_of(struct fs *fs, fuse_ino_t ino)
{
    struct node *node = node_of(fs, ino);
    return node->kind == NODE_VIEW ? node_to_view(node) : NULL;
}

static inline struct inode *inode_of(struct fs *fs, fuse_ino_t ino)
{
    return node_to_inode(node_of(fs, ino));
}

/* The inode that a request which only looks is about: of the tree, or the directory that is shown
 * in unique/; NULL: a node that is made up. Returns 0, or -EACCES of who may not look into unique/.
 */
static inline int find_seen(fuse_req_t req, fuse_ino_t ino, struct inode **ret_inode)
{
    const struct view_node *view = view_of(fs_of(req), ino);
    *ret_inode = view ? views_unique_directory(view) : inode_of(fs_of(req), ino);
    return view && *ret_inode && views_unique_refuses(req) ? -EACCES : 0;
}

/* Success or a negative errno: here its sign flips. */
static inline void reply(fuse_req_t req, int r)
{
    fuse_reply_err(req, r < 0 ? -of_daemon(r) : 0);
}

/* As inode_open(), for who asks where its file system judges. */
int open_as_caller(fuse_req_t req, struct inode *inode, int flags);

/* The part of statx(2) that the kernel is told: see inode_tell(). The rest is 0. */
static inline struct stat stat_told(const struct statx *stx)
{
    return (struct stat){
        .st_size = (off_t)stx->stx_size,
        .st_mtim = {.tv_sec = stx->stx_mtime.tv_sec, .tv_nsec = stx->stx_mtime.tv_nsec},
        .st_ctim = {.tv_sec = stx->stx_ctime.tv_sec, .tv_nsec = stx->stx_ctime.tv_nsec}};
}

/* The mode to tell of a file that its own mount keeps from these: backing_key_denies(). */
static inline mode_t mode_told(unsigned long denied, mode_t mode)
{
    return S_ISREG(mode) && denied & ST_NOSUID ? mode & ~(mode_t)(S_ISUID | S_ISGID) : mode;
}

/* The descriptor that attributes are asked of; given back as a borrowed one. */
int borrow_attributes_fd(struct fs *fs, struct inode *inode, const struct fuse_file_info *fi,
                         struct inode_fd *ret_fd);

/* A name of a directory as an entry for the kernel, which then counts as looked up. -ENOENT also
 * for what is not to be seen. And what is open, of a name (parent NULL: none). */
int make_entry(fuse_req_t req, struct inode *parent, int dirfd, const char *name,
               struct fuse_entry_param *ret_entry);
int make_entry_fd(struct fs *fs, struct inode *parent, const char *name, int fd,
                  struct fuse_entry_param *ret_entry);
/* For how long the kernel may keep attributes that it could keep for timeout_s: those of a file
 * with suid or sgid bits not at all. Writing takes these away, and the kernel, which asks for size
 * and times after a write, would show and execute the file with the mode it had. */
double lasting_s(double timeout_s, mode_t mode);
/* The mount of a file may keep it from what the kernel would let it, since it looks at the flags of
 * kinfs' mount alone; then it is not told of it. */
void hide_denied(struct fs *fs, const struct inode *inode, struct stat *st);
/* In a reply to what made or changed it the kernel takes the attributes for true whatever it was
 * told since: they are not kept. Returns r. */
int make_short(int r, struct fuse_entry_param *entry);
/* Replies with the entry; undoes the lookup when there is nobody to hear it. */
void reply_entry(fuse_req_t req, int r, const struct fuse_entry_param *entry);

/* True: the daemon's name, in a mount without an index too. Who finds it there asks and tells the
 * daemon, so what the tree has of that name, or who has mounted something on it, is never seen. */
static inline bool is_own_name(const struct fs *fs, const struct inode *dir, const char *name)
{
    return dir == fs->inodes.root && strcmp(name, ".kinfs") == 0;
}

/* -EPERM for a name of the root that is the daemon's or belongs to the views. */
int check_name(struct fs *fs, const struct inode *parent, int parent_fd, const char *name);

#endif
