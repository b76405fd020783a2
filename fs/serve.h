/* The threads that take requests from the kernel and answer them, each its own: one where requests
 * are answered quickly, as many as it takes where they are not. */
#ifndef KINFS_FS_SERVE_H
#define KINFS_FS_SERVE_H

#include "fs/state.h"

/* Serve until the file system is unmounted, or fuse_session_exit() was called and fs->end posted.
 * begun(user): called in this thread once there are threads.
 *
 * Returns 0, -ENOMEM or -EAGAIN: no thread could be started, or the errno of the device. */
int serve(struct fs *fs, void (*begun)(void *user), void (*ended)(void *user), void *user);

#endif
