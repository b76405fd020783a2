#include "fs/fs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/connection.h"
#include "fs/inodes/identity.h"
#include "fs/ops/ops.h"
#include "fs/placement.h"
#include "fs/serve.h"
#include "fs/views/views.h"
#include "fs/inodes/waiter.h"
#include "fs/watch/watch.h"

static const struct fuse_lowlevel_ops operations = {
    .init = op_init,
    .lookup = op_lookup,
    .forget = op_forget,
    .forget_multi = op_forget_multi,
    .getattr = op_getattr,
#ifdef KINFS_HAVE_STATX
    .statx = op_statx,
#endif
    .setattr = op_setattr,
    .readlink = op_readlink,
    .statfs = op_statfs,
    .mknod = op_mknod,
    .mkdir = op_mkdir,
    .symlink = op_symlink,
    .link = op_link,
    .unlink = op_unlink,
    .rmdir = op_rmdir,
    .rename = op_rename,
    .create = op_create,
    .tmpfile = op_tmpfile,
    .open = op_open,
    .flush = op_flush,
    .release = op_release,
    .read = op_read,
    .write_buf = op_write_buf,
    .fsync = op_fsync,
    .fallocate = op_fallocate,
    .copy_file_range = op_copy_file_range,
    .lseek = op_lseek,
    .ioctl = op_ioctl,
    .opendir = op_opendir,
    .readdir = op_readdir,
    .readdirplus = op_readdirplus,
    .releasedir = op_releasedir,
    .fsyncdir = op_fsyncdir,
    .setxattr = op_setxattr,
    .getxattr = op_getxattr,
    .listxattr = op_listxattr,
    .removexattr = op_removexattr,
    .getlk = op_getlk,
    .setlk = op_setlk,
    .flock = op_flock,
};

/* The messages of libfuse, sometimes in pieces, go into the error of fs_open(); later they are of
 * use to nobody. */
static _Thread_local char last_words[256];

static void keep_last_words(enum fuse_log_level level, const char *format, va_list args)
{
    size_t used = strlen(last_words);
    if (level <= FUSE_LOG_ERR)
        vsnprintf(last_words + used, sizeof(last_words) - used, format, args);
}

static const char *tell_last_words(void)
{
    last_words[strcspn(last_words, "\n")] = '\0';
    return strncmp(last_words, "fuse: ", 6) == 0 ? last_words + 6 : last_words;
}

static int copy_options(struct fs *fs, const struct fs_options *options)
{
    fs->options = *options;
    fs->options.source = strdup(options->source ? options->source : "kinfs");
    fs->options.mountpoint = strdup(options->mountpoint);
    fs->options.store_path = options->store_path ? strdup(options->store_path) : NULL;
    fs->options.extra = options->extra ? strdup(options->extra) : NULL;
    bool complete = fs->options.source && fs->options.mountpoint &&
                    !fs->options.store_path == !options->store_path &&
                    !fs->options.extra == !options->extra;
    return complete ? 0 : -ENOMEM;
}

static int make_session(struct fs *fs)
{
    const struct fs_options *options = &fs->options;
    struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
    _cleanup_free_ char *fsname = NULL, *escaped = NULL;
    /* Permissions are the kernel's to check, who knows all groups of the caller. */
    int r = fuse_opt_add_arg(&args, "kinfs") < 0 ||
            fuse_opt_add_arg(&args, "-odefault_permissions,subtype=kinfs") < 0 ||
            asprintf(&fsname, "fsname=%s", options->source) < 0 ||
            fuse_opt_add_opt_escaped(&escaped, fsname) < 0 || fuse_opt_add_arg(&args, "-o") < 0 ||
            fuse_opt_add_arg(&args, escaped) < 0 ||
            (options->allow_other && fuse_opt_add_arg(&args, "-oallow_other") < 0) ||
            (options->debug && fuse_opt_add_arg(&args, "-odebug") < 0) ||
            (options->extra && *options->extra &&
             (fuse_opt_add_arg(&args, "-o") < 0 || fuse_opt_add_arg(&args, options->extra) < 0));
    if (r == 0)
        fs->session = fuse_session_new(&args, &operations, sizeof(operations), fs);
    fuse_opt_free_args(&args);
    return r ? -ENOMEM : fs->session ? 0 : -EINVAL;
}

static int mount_session(struct fs *fs, char **ret_error)
{
    _cleanup_free_ char *warning = NULL;
    last_words[0] = '\0';
    int r = make_session(fs);
    if (r == 0) {
        r = own_mount_make(&fs->own, fs->session, fs->options.mountpoint_fd,
                           fs->options.mountpoint);
        if (r < 0) {
            fuse_session_destroy(fs->session);
            fs->session = NULL;
        }
    }
    if (r > 0) {
        if (asprintf(&warning,
                     "%s: the mount was moved or covered as soon as it was made; when kinfs has "
                     "ended, unmount it with umount -l where it is",
                     fs->options.mountpoint) < 0)
            warning = NULL;
        fs->options.log(fs->options.log_user, INDEX_LOG_WARNING,
                        warning ? warning : strerror(ENOMEM));
    }
    if (r >= 0)
        return 0;
    const char *why = tell_last_words(), *remedy = "";
    if (!*why && r == -EIO && geteuid() != 0)
        why = "fusermount3 refused, and said above why";
    if (access("/dev/fuse", R_OK | W_OK) < 0)
        remedy = errno == EACCES ? "; root opens it to all with chmod 666 /dev/fuse"
                                 : "; root loads the module with modprobe fuse";
    if (asprintf(ret_error, "cannot mount on %s: %s%s", fs->options.mountpoint,
                 *why ? why : strerror(-r), remedy) < 0)
        *ret_error = NULL;
    return r;
}

static int find_path(void *index, const struct file_key *key, char **ret_path)
{
    return index_path(index, key, ret_path);
}

DEFINE_CLEANUP(struct fs *, fs_close);

int fs_open(const struct fs_options *options, struct fs **ret_fs, char **ret_error)
{
    *ret_error = NULL;
    _cleanup_(fs_close_p) struct fs *fs = calloc(1, sizeof(*fs));
    if (!fs)
        return -ENOMEM;
    pthread_mutex_init(&fs->status_lock, NULL);
    sem_init(&fs->end, 0, 0);
    fs->backing = options->backing;
    fs->index = options->index;
    if (!options->debug)
        fuse_set_log_func(keep_last_words);
    int r = copy_options(fs, options);
    if (r == 0)
        r = node_secret_draw();
    if (r == 0)
        r = inode_table_init(&fs->inodes, fs->backing);
    fs->inodes.find_path = fs->index ? find_path : NULL;
    fs->inodes.find_user = fs->index;
    if (r == 0)
        r = waiters_new(&fs->waiters);
    if (r == 0)
        r = placement_check(fs, ret_error);
    if (r == 0)
        r = mount_session(fs, ret_error);
    if (r == 0)
        r = watch_start(fs, ret_error);
    if (r < 0)
        return r;
    *ret_fs = TAKE_PTR(fs);
    return 0;
}

char *fs_describe_limits(const struct fs *fs)
{
    const struct identity_limits limits = identity_get_limits();
    char *text = NULL;
    if (!limits.no_passthrough && !limits.no_others && !limits.no_owners)
        return NULL;
    const char *others =
        fs->options.allow_other
            ? "what other users make is yours, and they are shown no views"
            : "other users are not served (allow_other, which fusermount3 grants where "
              "/etc/fuse.conf says user_allow_other)";
    int n = asprintf(&text, "%s%s%s%s%s",
                     limits.no_passthrough ? "reads and writes pass through the daemon" : "",
                     limits.no_passthrough && limits.no_others ? "; " : "",
                     limits.no_others ? others : "",
                     limits.no_owners && (limits.no_passthrough || limits.no_others) ? "; " : "",
                     limits.no_owners ? "owners cannot be changed" : "");
    return n < 0 ? NULL : text;
}

int fs_serve(struct fs *fs, void (*begun)(void *user), void (*ended)(void *user), void *user)
{
    identity_begin_serving();
    int r = fs->index ? views_new(fs, &fs->views) : 0;
    if (r == 0)
        r = serve(fs, begun, ended, user);
    waiters_end(fs->waiters);
    views_free(fs->views);
    fs->views = NULL;
    identity_end_serving();
    return r;
}

void fs_exit(struct fs *fs)
{
    fuse_session_exit(fs->session);
    sem_post(&fs->end);
}

void fs_close(struct fs *fs)
{
    if (!fs)
        return;
    watch_stop(fs); /* not sooner: the control socket goes as soon as nothing is served */
    if (fs->session) {
        own_mount_end(&fs->own, fs->session);
        fuse_session_destroy(fs->session);
    }
    inode_table_done(&fs->inodes);
    waiters_free(fs->waiters);
    free((char *)fs->options.source);
    free((char *)fs->options.mountpoint);
    free((char *)fs->options.store_path);
    free((char *)fs->options.extra);
    sem_destroy(&fs->end);
    pthread_mutex_destroy(&fs->status_lock);
    free(fs);
}

void fs_get_status(struct fs *fs, struct fs_status *ret_status)
{
    LOCKED(&fs->status_lock);
    *ret_status = fs->status;
    watch_get_status(fs, ret_status);
}
