#include "fs/ops/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/inodes/identity.h"
#include "fs/inodes/notice.h"
#include "fs/inodes/open_file.h"
#include "fs/inodes/stale.h"
#include "fs/views/views.h"

void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    if (view) {
        views_read(fs, req, view, size, offset, fi);
        return;
    }
    struct fuse_bufvec data = FUSE_BUFVEC_INIT(size);
    data.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
    data.buf[0].fd = open_file_of(fi)->fd;
    data.buf[0].pos = offset;
    /* One that judges may do so of each read, too. */
    int r = identity_enter_judged(req, inode_of(fs, ino));
    if (r < 0)
        fuse_reply_err(req, -r);
    else
        fuse_reply_data(req, &data, 0);
    identity_leave();
}

/* Pages of a mapping belong where they are from; by a descriptor that appends they would go to the
 * end. *ret_own: one that does not, or -1 where the file's own will do. */
static int open_for_pages(struct fs *fs, const struct fuse_file_info *fi, int *ret_own)
{
    const int fd = open_file_of(fi)->fd;
    int own;
    if (!fi->writepage || !(fcntl(fd, F_GETFL) & O_APPEND))
        return 0;
    do
        own = open(proc_path_of(fd).text, O_WRONLY | O_CLOEXEC);
    while (own < 0 && (errno == EMFILE || errno == ENFILE) && inode_table_shed(&fs->inodes));
    if (own < 0)
        return -errno;
    *ret_own = own;
    return 0;
}

/* A process that has the file open may have set or cleared O_APPEND since (fcntl(2)). Of a file
 * that may only be appended to it is not cleared, which the kernel refuses here. */
static void follow_append(int fd, int flags)
{
    const int own = fcntl(fd, F_GETFL);
    if (own >= 0 && (own ^ flags) & O_APPEND)
        fcntl(fd, F_SETFL, own ^ O_APPEND);
}

static int do_fsync(int fd, int datasync)
{
    return (datasync ? fdatasync(fd) : fsync(fd)) < 0 ? -errno : 0;
}

/* One write may be to be on the disk (RWF_DSYNC of pwritev2(2)), which the kernel leaves to us
 * where it keeps no pages. */
static int sync_written(int fd, int flags)
{
    const int wanted = flags & O_SYNC ? flags & O_SYNC & ~fcntl(fd, F_GETFL) : 0;
    return wanted ? do_fsync(fd, wanted == O_DSYNC) : 0;
}

/* A page that was stored to in a mapping is written by the kernel when it likes, as nobody in
 * particular, by a file that was opened for it: of several the one that was mapped last. A file
 * system that judges is asked for that as by the kernel, by root. */
static int enter_writing(fuse_req_t req, const struct fuse_file_info *fi)
{
    const struct open_file *file = open_file_of(fi);
    if (!fi->writepage)
        return identity_enter_transfer(req, file->inode);
    if (inode_judges(&fs_of(req)->inodes, file->inode) == JUDGES_BY_MODE)
        identity_enter_allocation(file->uid);
    return 0;
}

static ssize_t do_write_buf(fuse_req_t req, struct fuse_bufvec *in, off_t offset,
                            const struct fuse_file_info *fi)
{
    _cleanup_close_ int own = -1;
    int r = open_for_pages(fs_of(req), fi, &own);
    if (r < 0)
        return r;
    if (!fi->writepage)
        follow_append(open_file_of(fi)->fd, fi->flags);
    struct fuse_bufvec out = FUSE_BUFVEC_INIT(fuse_buf_size(in));
    out.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
    out.buf[0].fd = own < 0 ? open_file_of(fi)->fd : own;
    out.buf[0].pos = offset;
    r = enter_writing(req, fi);
    ssize_t n_bytes = r < 0 ? r : fuse_buf_copy(&out, in, 0);
    identity_leave();
    if (n_bytes > 0)
        r = sync_written(out.buf[0].fd, fi->flags);
    return r < 0 ? r : n_bytes;
}

void op_write_buf(fuse_req_t req, fuse_ino_t ino, struct fuse_bufvec *in, off_t offset,
                  struct fuse_file_info *fi)
{
    const struct view_node *view = view_of(fs_of(req), ino);
    ssize_t n_bytes =
        view ? views_write(req, view, fi, in, offset) : do_write_buf(req, in, offset, fi);
    if (n_bytes < 0)
        reply(req, (int)n_bytes);
    else
        fuse_reply_write(req, (size_t)n_bytes);
}

void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
    reply(req, view_of(fs_of(req), ino) ? 0 : do_fsync(open_file_of(fi)->fd, datasync));
}

void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
    reply(req, view_of(fs_of(req), ino) ? 0 : do_fsync(dir_handle_fd(fi), datasync));
}

static int do_fallocate(fuse_req_t req, struct open_file *file, int mode, off_t offset,
                        off_t length)
{
    int r = identity_enter_transfer(req, file->inode);
    if (r < 0)
        return r;
    r = fallocate(file->fd, mode, offset, length) < 0 ? -errno : 0;
    identity_leave();
    notice_content(fs_of(req), file->uid, file->inode); /* a failed one may have done a part */
    /* The kernel takes attributes of a file that keeps its size for old, but also a reply asked for
     * before for what is so after (fs/watch/watch_kernel.c). */
    stale_content(fs_of(req), file->inode);
    return r;
}

void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length,
                  struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    reply(req,
          view_of(fs, ino) ? -EROFS : do_fallocate(req, open_file_of(fi), mode, offset, length));
}

static ssize_t do_copy_file_range(fuse_req_t req, struct open_file *in, off_t in_offset,
                                  struct open_file *out, off_t out_offset, size_t size, int flags)
{
    int r = identity_enter_transfer(req, out->inode);
    if (r < 0)
        return r;
    follow_append(out->fd, 0); /* the kernel copies into none that appends */
    ssize_t n_bytes =
        copy_file_range(in->fd, &in_offset, out->fd, &out_offset, size, (unsigned)flags);
    identity_leave();
    if (n_bytes < 0)
        return -errno;
    notice_content(fs_of(req), out->uid, out->inode);
    return n_bytes;
}

void op_copy_file_range(fuse_req_t req, fuse_ino_t in, off_t in_offset,
                        struct fuse_file_info *in_fi, fuse_ino_t out, off_t out_offset,
                        struct fuse_file_info *out_fi, size_t size, int flags)
{
    struct fs *fs = fs_of(req);
    /* EOPNOTSUPP makes the kernel copy by reading and writing. */
    ssize_t n_bytes = view_of(fs, in) || view_of(fs, out)
                          ? -EOPNOTSUPP
                          : do_copy_file_range(req, open_file_of(in_fi), in_offset,
                                               open_file_of(out_fi), out_offset, size, flags);
    if (n_bytes < 0)
        reply(req, (int)n_bytes);
    else
        fuse_reply_write(req, (size_t)n_bytes);
}

/* Without passthrough what was stored in a mapping is where the kernel keeps it until it is
 * written, and to say that there is a hole would make a copy lose it. */
static bool may_have_stores(struct fs *fs, struct inode *inode)
{
    LOCKED(inode_lock(&fs->inodes, inode));
    return inode->n_may_store_here;
}

static off_t do_lseek(struct fs *fs, const struct open_file *file, off_t offset, int whence)
{
    struct stat st;
    bool may_hide_data = whence == SEEK_DATA || whence == SEEK_HOLE;
    if (!may_hide_data || !may_have_stores(fs, file->inode)) {
        off_t found = lseek(file->fd, offset, whence);
        return found < 0 ? -errno : found;
    }
    if (fstat(file->fd, &st) < 0)
        return -errno;
    if (offset < 0 || offset >= st.st_size)
        return -ENXIO;
    return whence == SEEK_DATA ? offset : st.st_size;
}

void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence, struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    if (view_of(fs, ino)) {
        reply(req, -EINVAL);
        return;
    }
    off_t found = do_lseek(fs, open_file_of(fi), offset, whence);
    if (found < 0)
        reply(req, (int)found);
    else
        fuse_reply_lseek(req, found);
}

/* The attributes of lsattr(1) and chattr(1), of which the kernel has checked the caller and whether
 * the mount is read-only, and what else is of one file and changes nothing. */
static const struct control {
    unsigned cmd;
    size_t in_bytes, out_bytes; /* really, whatever size is coded in cmd */
} controls[] = {
    {FS_IOC_GETFLAGS, 0, sizeof(unsigned)},         {FS_IOC_SETFLAGS, sizeof(unsigned), 0},
    {FS_IOC_FSGETXATTR, 0, sizeof(struct fsxattr)}, {FS_IOC_FSSETXATTR, sizeof(struct fsxattr), 0},
    {FS_IOC_GETVERSION, 0, sizeof(unsigned)},       {FS_IOC_GETFSLABEL, 0, FSLABEL_MAX},
};

union control_data {
    char label[FSLABEL_MAX];
    struct fsxattr attributes;
};

struct control_change {
    unsigned cmd;
    const void *in;
};

static int change_control(const struct change_fds *fds, const void *what,
                          const struct capable_ids *ids)
{
    const struct control_change *change = what;
    (void)ids;
    return ioctl(fds->fd, change->cmd, change->in) < 0 ? -errno : 0;
}

/* Everything else is the whole file system's (FITRIM, FS_IOC_SETFSLABEL), of which this is a part,
 * changes a file with no check of the kernel's (FS_IOC_SETVERSION), or would be nobody knows what.
 * Returns how many bytes are in out. */
static int do_ioctl(fuse_req_t req, const struct inode *inode, int fd, unsigned cmd, const void *in,
                    size_t in_bytes, size_t out_bytes, union control_data *out)
{
    const struct control *control = controls,
                         *end = controls + sizeof(controls) / sizeof(*controls);
    while (control < end && control->cmd != cmd)
        control++;
    if (control == end)
        return -ENOTTY;
    if (in_bytes < control->in_bytes || out_bytes < control->out_bytes)
        return -EINVAL;
    if (!control->in_bytes)
        return ioctl(fd, cmd, out) < 0 ? -errno : (int)control->out_bytes;
    const struct change_fds fds = {.fd = fd, .other_fd = -1, .is_open = true};
    const struct control_change change = {.cmd = cmd, .in = in};
    return identity_change(req, inode, &fds, false, false, change_control, &change);
}

void op_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned cmd, void *arg, struct fuse_file_info *fi,
              unsigned flags, const void *in, size_t in_bytes, size_t out_bytes)
{
    struct fs *fs = fs_of(req);
    (void)arg;
    (void)flags;
    if (view_of(fs, ino)) {
        reply(req, -ENOTTY);
        return;
    }
    union control_data out = {0};
    int fd = inode_of(fs, ino)->type == S_IFDIR ? dir_handle_fd(fi) : open_file_of(fi)->fd;
    int n_bytes = do_ioctl(req, inode_of(fs, ino), fd, cmd, in, in_bytes, out_bytes, &out);
    /* The kernel does not know of this change of attributes itself. */
    if (cmd == FS_IOC_SETFLAGS || cmd == FS_IOC_FSSETXATTR)
        fuse_lowlevel_notify_inval_inode(fs->session, ino, -1, 0);
    if (n_bytes < 0)
        reply(req, n_bytes);
    else
        fuse_reply_ioctl(req, 0, &out, (size_t)n_bytes);
}
