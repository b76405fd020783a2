/* statx(2) of a time of birth, which a GETATTR cannot carry: the kernel asks here when somebody
 * wants it and it does not know it yet. libfuse has the operation since 3.18; without it the kernel
 * says that there is no time of birth.
 */
#include "fs/ops/ops.h"

#ifdef KINFS_HAVE_STATX

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "fs/inodes/identity.h"
#include "fs/inodes/open_file.h"
#include "fs/views/views.h"
#include "fs/watch/watch.h"

static struct statx_timestamp to_statx(struct timespec time)
{
    return (struct statx_timestamp){.tv_sec = time.tv_sec, .tv_nsec = (uint32_t)time.tv_nsec};
}

/* The statx of a node that is made up, and was never born. */
static int view_statx(struct fs *fs, struct view_node *view, struct statx *ret_statx)
{
    struct stat st;
    int r = views_stat(fs, view, &st);
    if (r < 0)
        return r;
    *ret_statx = (struct statx){.stx_mask = STATX_BASIC_STATS,
                                .stx_blksize = (uint32_t)st.st_blksize,
                                .stx_nlink = (uint32_t)st.st_nlink,
                                .stx_uid = st.st_uid,
                                .stx_gid = st.st_gid,
                                .stx_mode = (uint16_t)st.st_mode,
                                .stx_ino = st.st_ino,
                                .stx_size = (uint64_t)st.st_size,
                                .stx_blocks = (uint64_t)st.st_blocks,
                                .stx_atime = to_statx(st.st_atim),
                                .stx_ctime = to_statx(st.st_ctim),
                                .stx_mtime = to_statx(st.st_mtim)};
    return 0;
}

static int do_statx(fuse_req_t req, struct inode *inode, int flags, int mask,
                    const struct fuse_file_info *fi, struct statx *ret_statx)
{
    struct fs *fs = fs_of(req);
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    int fd = borrow_attributes_fd(fs, inode, fi, &borrowed);
    int r = fd < 0 ? fd : identity_enter_judged(req, inode);
    if (r < 0)
        return r;
    flags &= AT_STATX_SYNC_TYPE;
    r = statx(fd, "", flags | AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, (unsigned)mask, ret_statx);
    identity_leave();
    if (r < 0)
        return -errno;
    struct stat told = stat_told(ret_statx);
    inode_tell(&fs->inodes, inode, &told);
    ret_statx->stx_ino = inode_number(inode, ret_statx->stx_ino);
    const unsigned long denied = backing_key_denies(fs->backing, &inode->key);
    ret_statx->stx_mode = (uint16_t)mode_told(denied, ret_statx->stx_mode);
    if (denied & ST_NODEV)
        ret_statx->stx_rdev_major = ret_statx->stx_rdev_minor = 0;
    return 0;
}

void op_statx(fuse_req_t req, fuse_ino_t ino, int flags, int mask, struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    struct inode *inode;
    struct statx st;
    int r = find_seen(req, ino, &inode);
    double timeout_s = view ? 0 : watch_attr_timeout_s(fs, inode);
    if (r == 0)
        r = inode ? do_statx(req, inode, flags, mask, view ? NULL : fi, &st)
                  : view_statx(fs, view, &st);
    if (r == 0 && inode && view) {
        struct stat told = {.st_ino = st.stx_ino};
        views_unique_stat(view, &told);
        st.stx_ino = told.st_ino;
    }
    if (r < 0)
        reply(req, r);
    else
        fuse_reply_statx(req, 0, &st, lasting_s(timeout_s, st.stx_mode));
}

#else

typedef int op_statx_needs_libfuse_3_18; /* an empty file is none in ISO C */

#endif
