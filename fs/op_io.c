#include "fs/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fs/notice.h"
#include "fs/open_file.h"
#include "fs/views.h"

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
    fuse_reply_data(req, &data, 0);
}

void op_write_buf(fuse_req_t req, fuse_ino_t ino, struct fuse_bufvec *in, off_t offset,
                  struct fuse_file_info *fi)
{
    if (view_of(fs_of(req), ino)) {
        reply(req, -EROFS);
        return;
    }
    struct fuse_bufvec out = FUSE_BUFVEC_INIT(fuse_buf_size(in));
    out.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
    out.buf[0].fd = open_file_of(fi)->fd;
    out.buf[0].pos = offset;
    ssize_t n_bytes = fuse_buf_copy(&out, in, 0);
    if (n_bytes < 0)
        reply(req, (int)n_bytes);
    else
        fuse_reply_write(req, (size_t)n_bytes);
}

static int do_fsync(int fd, int datasync)
{
    return (datasync ? fdatasync(fd) : fsync(fd)) < 0 ? -errno : 0;
}

void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
    reply(req, view_of(fs_of(req), ino) ? 0 : do_fsync(open_file_of(fi)->fd, datasync));
}

void op_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
    reply(req, view_of(fs_of(req), ino) ? 0 : do_fsync(dir_handle_fd(fi), datasync));
}

static int do_fallocate(struct fs *fs, struct open_file *file, int mode, off_t offset, off_t length)
{
    if (fallocate(file->fd, mode, offset, length) < 0)
        return -errno;
    notice_content(fs, file->inode);
    return 0;
}

void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length,
                  struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    reply(req,
          view_of(fs, ino) ? -EROFS : do_fallocate(fs, open_file_of(fi), mode, offset, length));
}

static ssize_t do_copy_file_range(struct fs *fs, struct open_file *in, off_t in_offset,
                                  struct open_file *out, off_t out_offset, size_t size, int flags)
{
    ssize_t n_bytes =
        copy_file_range(in->fd, &in_offset, out->fd, &out_offset, size, (unsigned)flags);
    if (n_bytes < 0)
        return -errno;
    notice_content(fs, out->inode);
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
                          : do_copy_file_range(fs, open_file_of(in_fi), in_offset,
                                               open_file_of(out_fi), out_offset, size, flags);
    if (n_bytes < 0)
        reply(req, (int)n_bytes);
    else
        fuse_reply_write(req, (size_t)n_bytes);
}

void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence, struct fuse_file_info *fi)
{
    if (view_of(fs_of(req), ino)) {
        reply(req, -EINVAL);
        return;
    }
    off_t found = lseek(open_file_of(fi)->fd, offset, whence);
    if (found < 0)
        reply(req, -errno);
    else
        fuse_reply_lseek(req, found);
}

/* The attributes of lsattr(1) and chattr(1). The kernel has checked the caller. */
static int do_ioctl(int fd, unsigned cmd, const void *in, size_t in_bytes, size_t out_bytes,
                    struct fsxattr *out)
{
    switch (cmd) {
    case FS_IOC_GETFLAGS:
        if (out_bytes < sizeof(unsigned))
            return -EINVAL;
        return ioctl(fd, cmd, out) < 0 ? -errno : (int)sizeof(unsigned);
    case FS_IOC_FSGETXATTR:
        if (out_bytes < sizeof(*out))
            return -EINVAL;
        return ioctl(fd, cmd, out) < 0 ? -errno : (int)sizeof(*out);
    case FS_IOC_SETFLAGS:
    case FS_IOC_FSSETXATTR:
        if (in_bytes < (cmd == FS_IOC_SETFLAGS ? sizeof(unsigned) : sizeof(*out)))
            return -EINVAL;
        return ioctl(fd, cmd, in) < 0 ? -errno : 0;
    default: return -ENOTTY;
    }
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
    struct fsxattr out = {0};
    int fd = inode_of(fs, ino)->type == S_IFDIR ? dir_handle_fd(fi) : open_file_of(fi)->fd;
    int n_bytes = do_ioctl(fd, cmd, in, in_bytes, out_bytes, &out);
    if (n_bytes < 0)
        reply(req, n_bytes);
    else
        fuse_reply_ioctl(req, 0, &out, (size_t)n_bytes);
}
